/* The lines of a sweep and their values: tasks to plan, finished tasks, and the words for them. */
#include "sweep/sweep_lines.h"
#include "base/words/words.h"
#include "export/nest_words.h"

LX_WORDS(sweep_state_word, enum sweep_state, SWEEP_STATES)

static bool sweep_lines_add_line(struct sweep *s, const struct lx_settings *how, int64_t cores, lx_status *st)
{
    struct sweep_line l = {.how = *how, .cores = cores ? cores : s->graph->device.cores};
    enum lx_objective own = lx_graph_objective(s->graph);
    char word[24];
    l.how.usual = LX_ASK_OWN; /* many plans: by bytes, as long as nothing else is asked for */
    snprintf(word, sizeof word, "%lld", (long long)cores);
    if (cores && !lx_settings_set_row(&l.how, LX_OPTION_CORES, word, st)) return false;
    snprintf(l.solver, sizeof l.solver, "%s",
             lx_settings_solver(&l.how, lx_asked(lx_settings_ask(&l.how), own))->name);
    l.at = mem_zeroed(s->sizes.count, sizeof *l.at);
    for (size_t i = 0; i < s->sizes.count; i++) l.at[i].lx = s->sizes.at[i];
    VEC_PUSH(&s->lines, l);
    return true;
}

bool sweep_begin(struct sweep *s, const struct lx_graph *g, const struct lx_settings *solvers,
                 int solver_count, const sweep_numbers *sizes, const sweep_numbers *cores, lx_status *st)
{
    *s = (struct sweep){.graph = lx_graph_ref(g), .solver_count = solver_count};
    for (size_t i = 0; i < sizes->count; i++) VEC_PUSH(&s->sizes, sizes->at[i]);
    for (size_t i = 0; i < cores->count; i++) VEC_PUSH(&s->cores, cores->at[i]);
    bool ok = true;
    if (s->cores.count == 0) { /* the device's own number */
        SCOPED(graph_free_at) const struct lx_graph *sized = lx_settings_graph(solvers, g, st);
        VEC_PUSH(&s->cores, sized ? sized->device.cores : g->device.cores);
    }
    for (size_t c = 0; ok && c < s->cores.count; c++)
        for (int k = 0; ok && k < solver_count; k++) {
            ok = sweep_lines_add_line(s, &solvers[k], cores->count ? s->cores.at[c] : 0, st);
            if (ok) s->lines.at[s->lines.count - 1].cores = s->cores.at[c];
        }
    if (!ok) sweep_free(s);
    return ok;
}

void sweep_free(struct sweep *s)
{
    for (size_t i = 0; i < s->lines.count; i++) mem_free(s->lines.at[i].at);
    VEC_FREE(&s->lines);
    VEC_FREE(&s->sizes);
    VEC_FREE(&s->cores);
    lx_graph_free(s->graph);
    *s = (struct sweep){0};
}

/* Least time up to the limit, then least bytes. */
static bool sweep_is_better(const struct sweep_value *a, const struct sweep_value *b, double limit_us)
{
    double x = fmax(a->us, limit_us), y = fmax(b->us, limit_us);
    return x != y ? x < y : a->hbm < b->hbm;
}

/* Bounds are of one size. */
static void sweep_take_over(struct sweep_value *to, const struct sweep_value *from)
{
    struct sweep_value own = *to;
    *to = *from;
    to->lx = own.lx;
    to->least = own.least;
    to->spill = from->hbm - (own.hbm - own.spill);
    to->least_us = own.least_us;
    to->limit_us = own.limit_us;
    to->proved = own.proved && own.hbm == from->hbm && own.us == from->us;
}

/* Plans go from known sizes to larger ones, bounds to smaller ones. */
static void sweep_hand_up(struct sweep *s, struct sweep_line *l)
{
    const struct sweep_value *from = NULL;
    if (lx_asked(lx_settings_ask(&l->how), lx_graph_objective(s->graph)) == LX_HEIGHT) return;
    for (size_t i = 0; i < s->sizes.count; i++) {
        struct sweep_value *to = &l->at[i];
        if (to->state != SWEEP_PLANNED) continue;
        if (from) to->limit_us = fmin(to->limit_us, from->limit_us);
        if (from && sweep_is_better(from, to, to->limit_us)) sweep_take_over(to, from);
        from = to;
    }
    for (size_t i = s->sizes.count; i > 0; i--) {
        struct sweep_value *to = &l->at[i - 1];
        if (to->state != SWEEP_PLANNED) continue;
        to->least = max_i64(to->least, from->least);
        to->least_us = fmax(to->least_us, from->least_us);
        to->proved |= from->proved && to->hbm == from->hbm && to->us == from->us;
        from = to;
    }
}

/* Times count where they are shown, or limit the plans. */
static bool sweep_is_like(const struct sweep *s, const struct sweep_value *a, const struct sweep_value *b)
{
    bool times = s->by_time || !isinf(a->limit_us);
    return a->state == b->state && a->hbm == b->hbm && (!times || a->us == b->us);
}

/* Are bytes all that counts of the plan? */
static bool sweep_by_bytes(const struct sweep *s, const struct sweep_value *v)
{
    return v->state == SWEEP_PLANNED && !s->by_time && isinf(v->limit_us) && !s->graph->list;
}

/* The plan of the smaller end is as good as that of the larger one, so it is the plan of all sizes between. */
static void sweep_fill(struct sweep_line *l, size_t from, size_t to)
{
    for (size_t i = from + 1; i < to; i++) {
        struct sweep_value *v = &l->at[i];
        int64_t lx = v->lx;
        *v = l->at[from];
        v->lx = lx;
        v->least = l->at[to].least;
        v->least_us = l->at[to].least_us;
        v->limit_us = fmin(v->limit_us, l->at[to].limit_us);
        v->proved = l->at[to].proved;
    }
}

/* Sizes at which the line has to be planned next: both ends, then the middle of each gap whose ends differ. */
static void sweep_next_of_line(struct sweep *s, int32_t line, sweep_tasks *out)
{
    struct sweep_line *l = &s->lines.at[line];
    const size_t last = s->sizes.count - 1;
    bool rises = lx_asked(lx_settings_ask(&l->how), lx_graph_objective(s->graph)) == LX_HEIGHT;
    size_t from = 0;
    for (size_t i = 0; i <= last; i++) {
        bool open = l->at[i].state == SWEEP_UNKNOWN, end = i == 0 || i == last || rises, between = false;
        size_t at = i;
        if (open && !end) continue;
        if (!open && i > from + 1 && l->at[from].state != SWEEP_UNKNOWN) {
            open = !sweep_is_like(s, &l->at[from], &l->at[i]);
            if (!open) sweep_fill(l, from, i);
            at = from + (i - from) / 2;
            between = sweep_by_bytes(s, &l->at[from]) && sweep_by_bytes(s, &l->at[i]);
        }
        if (open)
            VEC_PUSH(out, ((struct sweep_task){.line = line,
                                               .find = SWEEP_POINT,
                                               .size = (int32_t)at,
                                               .lx = s->sizes.at[at],
                                               .more = between ? l->at[from].hbm : 0,
                                               .less = between ? l->at[i].hbm : 0}));
        from = i;
    }
}

void sweep_next(struct sweep *s, sweep_tasks *out)
{
    for (size_t l = 0; l < s->lines.count; l++) {
        sweep_hand_up(s, &s->lines.at[l]);
        sweep_next_of_line(s, (int32_t)l, out);
    }
}

/* Between the last size without the property and the first from which on all have it. */
void sweep_searches(const struct sweep *s, sweep_tasks *out)
{
    for (size_t i = 0; i < s->lines.count * FIND_COUNT; i++) {
        const struct sweep_value *at = s->lines.at[i / FIND_COUNT].at;
        int find = (int)(i % FIND_COUNT);
        size_t first = s->sizes.count;
        while (first > 0 && at[first - 1].state == SWEEP_PLANNED && (find == FIND_PLAN || at[first - 1].fits))
            first--;
        if (first == s->sizes.count || first == 0 || at[first - 1].state == SWEEP_UNKNOWN) continue;
        VEC_PUSH(out, (struct sweep_task){.line = (int32_t)(i / FIND_COUNT),
                                          .find = find,
                                          .size = (int32_t)first,
                                          .lx = s->sizes.at[first],
                                          .below = s->sizes.at[first - 1]});
    }
}

void sweep_keep(struct sweep *s, const struct sweep_task *t, const struct sweep_value *v)
{
    struct sweep_line *l = &s->lines.at[t->line];
    if (t->find == SWEEP_POINT)
        l->at[t->size] = *v;
    else
        l->found[t->find] = *v;
}

double sweep_shown(const struct sweep *s, const struct sweep_value *v)
{
    if (v->state != SWEEP_PLANNED) return NAN;
    return s->by_time ? v->us : (double)v->hbm;
}

double sweep_least(const struct sweep *s, int64_t cores, size_t size)
{
    double most = NAN, least = NAN, value = INFINITY;
    for (size_t i = 0; i < s->lines.count; i++) {
        const struct sweep_value *v = &s->lines.at[i].at[size];
        if (s->lines.at[i].cores != cores || v->state != SWEEP_PLANNED) continue;
        double bound = s->by_time ? v->least_us : (double)v->least;
        if (s->by_time && bound <= 0) continue;
        if (!(bound <= most)) most = bound;
        if (!(bound >= least)) least = bound;
        if (sweep_shown(s, v) < value) value = sweep_shown(s, v);
    }
    /* A bound above another line's plan is one of other divisions: then only the weakest holds for all. */
    return most <= value ? most : least;
}

int sweep_twin(const struct sweep *s, int line)
{
    const struct sweep_line *b = &s->lines.at[line];
    for (int i = 0; i < line; i++) {
        const struct sweep_line *a = &s->lines.at[i];
        bool same = a->cores == b->cores, any = false;
        for (size_t k = 0; same && k < s->sizes.count; k++) {
            double x = sweep_shown(s, &a->at[k]), y = sweep_shown(s, &b->at[k]);
            same = x == y || (isnan(x) && isnan(y));
            any |= same && !isnan(x);
        }
        if (same && any) return i;
    }
    return -1;
}

/* One task of a sweep: a plan with a size of scratchpad, or the search for the least size that is enough. */

/* A plan of one size. The old `like` gives way to it, so that the next one finds layouts and divisions
 * made. */
static void sweep_plan_with(const struct sweep *s, const struct sweep_task *t, int64_t lx,
                            const struct lx_run *run, const struct lx_plan **like, struct sweep_value *out)
{
    struct lx_settings how = s->lines.at[t->line].how;
    struct lx_plan_options options = {
        .run = *run, .like = *like, .rival_bytes = t->more, .enough_bytes = t->less};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    lx_status st = {0};
    char word[24];
    *out = (struct sweep_value){.lx = lx};
    snprintf(word, sizeof word, "%lld", (long long)lx);
    SCOPED(graph_free_at)
    const struct lx_graph *g =
        lx_settings_set_row(&how, LX_OPTION_LX, word, &st) ? lx_settings_graph(&how, s->graph, &st) : NULL;
    const struct lx_plan *p = NULL;
    if (g && lx_settings_plan(&how, g, &options, values, &st)) p = lx_plan_make(g, &options, &st);
    if (p && lx_plan_check(p, &st)) {
        const struct lx_figures *f = &p->figures;
        out->state = SWEEP_PLANNED;
        out->hbm = f->hbm_bytes;
        out->least = lx_plan_least(p);
        out->spill = f->spill_bytes;
        out->height = f->height_bytes;
        out->nests = p->nest_count;
        out->iterations = plan_iterations(p);
        out->us = f->end_to_end_us;
        out->least_us = p->asks_time ? f->bound_us : 0;
        out->limit_us = p->asks_time ? 0 : p->balanced ? p->limit_us : INFINITY;
        out->proved = p->answer.status == LX_OPTIMAL;
        out->fits = f->spill_bytes == 0;
        for (int32_t i = 0; p->graph->list && out->fits && i < p->problem.count; i++)
            out->fits = p->answer.address[i] >= 0 || p->problem.buffers[i].reason;
    } else {
        out->state = SWEEP_REFUSED;
        out->code = (int32_t)st.code;
        snprintf(out->why, sizeof out->why, "%.*s", (int)sizeof out->why - 1, st.text);
    }
    if (!p) return;
    lx_plan_free(*like);
    *like = p;
}

static bool sweep_plan_has(const struct sweep_value *v, enum sweep_find find)
{
    return v->state == SWEEP_PLANNED && (find == FIND_PLAN || v->fits);
}

void sweep_do(const struct sweep *s, const struct sweep_task *t, const struct lx_run *run,
              const struct lx_plan **like, struct sweep_value *out)
{
    struct sweep_value best, now;
    sweep_plan_with(s, t, t->lx, run, like, &best);
    *out = best;
    if (t->find == SWEEP_POINT) return;
    int64_t below = t->below, grain = s->graph->list ? 1 : s->graph->device.stick_bytes;
    bool tried_less = false;
    while (sweep_plan_has(&best, (enum sweep_find)t->find) && best.lx - below > grain &&
           (!run->stop || !run->stop(run->context))) {
        /* A plan in which nothing spills says itself how much of the scratchpad it needs: first that is
         * tried, then a stick less, and only then the middle. */
        bool fit = t->find == FIND_FIT;
        int64_t lx = fit && best.height > below && best.height < best.lx ? best.height
                     : fit && best.height == best.lx && !tried_less
                         ? best.lx - grain
                         : below + max_i64(1, (best.lx - below) / 2 / grain) * grain;
        sweep_plan_with(s, t, lx, run, like, &now);
        tried_less = lx == best.lx - grain || tried_less;
        if (sweep_plan_has(&now, (enum sweep_find)t->find))
            best = now, tried_less = false;
        else if (lx == best.height && best.height < best.lx)
            below = lx, best.height = best.lx; /* it does not find it there: look between */
        else
            below = lx;
    }
    *out = best;
}

/* A sweep in words: the size from which on nothing spills, and the size below which there is no plan. */

static bool is_fit(const struct sweep *s)
{
    return s->graph->list &&
           lx_asked(lx_settings_ask(&s->lines.at[0].how), s->graph->list->objective) == LX_FIT;
}

const char *sweep_value_name(const struct sweep *s)
{
    return s->by_time ? "time from end to end" : s->graph->list ? "cost of what is off chip" : "HBM bytes";
}

static struct words size_words(int64_t n, bool briefly)
{
    return briefly ? in_enough(n, true) : in_bytes(n);
}

void sweep_say_fit(const struct sweep *s, const struct sweep_line *l, bool briefly, struct text *out)
{
    const struct sweep_value *first = &l->at[0], *last = &l->at[s->sizes.count - 1],
                             *found = &l->found[FIND_FIT];
    const char *what = is_fit(s) ? "everything fits" : "nothing spills";
    if (found->state == SWEEP_PLANNED)
        text_format(out, "from %s %s", in_enough(found->lx, briefly).at, what);
    else if (last->state == SWEEP_PLANNED && !last->fits && is_fit(s))
        text_format(out, "not everything fits with %s", size_words(last->lx, briefly).at);
    else if (last->state == SWEEP_PLANNED && !last->fits)
        text_format(out, "with %s still %s spill", size_words(last->lx, briefly).at,
                    size_words(last->spill, briefly).at);
    else if (first->state == SWEEP_PLANNED && first->fits && last->state == SWEEP_PLANNED)
        text_format(out, briefly ? "%s from %s on" : "%s with %s or more, the least that was tried", what,
                    in_enough(first->lx, briefly).at);
}

void sweep_say(const struct sweep *s, const struct sweep_line *l, bool briefly, struct text *out)
{
    const struct sweep_value *last = &l->at[s->sizes.count - 1], *found = &l->found[FIND_PLAN];
    size_t before = out->length;
    sweep_say_fit(s, l, briefly, out);
    const char *between = out->length > before ? "; " : "";
    if (found->state == SWEEP_PLANNED && !is_fit(s)) /* else the same in other words */
        text_format(out, "%sbelow %s it cannot be planned", between, in_enough(found->lx, briefly).at);
    else if (found->state != SWEEP_PLANNED && last->state == SWEEP_REFUSED) {
        text_format(out, "%scannot be planned: ", between);
        add_printable(out, last->why, 0);
    }
}
