/* Early loads: issued before they are due, so that they overlap with the ops between.
 *
 * The life of a stay may begin earlier as long as its bytes are free. Two stays that share bytes live one
 * after the other, and lives only begin earlier, so the issue ticks of a load do not depend on the other
 * loads. A slice that a nest loads again and again may have stages, slots for the next slices, if there is
 * room while the nest runs. On small plans the clock times all combinations. On larger plans all loads step
 * back together by powers of two; then load after load takes its best tick, round by round. Buffers keep
 * their addresses. If a buffer has no room before its life, the draft with longer lives is solved once more,
 * and the faster plan is kept. The bytes through HBM do not change. */
#include "search/search_steps.h"
#include "search/time.h"

/* A load and its possible issues, ascending from 0: ticks ahead of its due tick; fills ahead for a slice that
 * a nest loads again and again. */
struct early_load {
    int32_t transfer;
    int32_t *ahead, count;
    int32_t chosen;
    bool staged;
    bool cramped; /* without its neighbours in the scratchpads it could be issued earlier */
};

struct prefetch {
    struct search *search;
    const struct draft *x;
    const int64_t *address;
    bool freely;            /* as if the scratchpads were empty */
    struct traffic traffic; /* under trial, like stages and lives below: `ahead` of its transfers */
    struct lx_stay *stays;
    struct lx_buffer *buffers;
    VEC(struct early_load) loads;
    double us;
    int64_t tries;
    struct arena memory;
};

static void prefetch_apply(struct prefetch *f, const struct early_load *l)
{
    const struct draft *x = f->x;
    struct lx_transfer *t = &f->traffic.transfers[l->transfer];
    struct lx_buffer *b = &f->buffers[t->stay];
    int32_t ahead = l->ahead[l->chosen];
    *b = x->problem.buffers[t->stay];
    if (!l->staged) {
        t->ahead = ahead;
        b->start = min_i64(b->start, t->tick - ahead);
        return;
    }
    const struct lx_nest *n = &x->how.nests[nest_of_op(x->how.nests, x->how.nest_count, t->tick)];
    f->stays[t->stay].stages = 1 + ahead;
    b->size = b->size / lx_stages(&x->stays[t->stay]) * (1 + ahead);
    if (ahead > 0) b->start = n->first, b->end = n->last + 1;
}

/* Does a load have room beside the stages and lives under trial? */
static bool prefetch_fits(const struct prefetch *f, const struct early_load *l)
{
    int32_t stay = f->traffic.transfers[l->transfer].stay;
    const struct lx_buffer *b = &f->buffers[stay], *old = f->x->problem.buffers;
    const int64_t *at = f->address;
    if (f->freely) return b->size <= f->x->problem.capacity;
    if (at[stay] + b->size > f->x->problem.capacity) return false;
    for (int32_t i = 0; i < f->x->problem.count; i++) {
        const struct lx_buffer *o = &f->buffers[i];
        bool handover = !l->staged && old[i].start < old[stay].end && old[stay].start < old[i].end;
        if (i != stay && at[i] >= 0 && !handover && at[i] < at[stay] + b->size &&
            at[stay] < at[i] + o->size && o->start < b->end && b->start < o->end)
            return false;
    }
    return true;
}

/* The time of the plan with the chosen issues; infinite where stages take others' room. */
static double prefetch_time(struct prefetch *f)
{
    bool stages = false, fits = true;
    for (size_t i = 0; i < f->loads.count; i++) {
        prefetch_apply(f, &f->loads.at[i]);
        stages |= f->loads.at[i].staged && f->loads.at[i].chosen > 0;
    }
    for (size_t i = 0; stages && fits && i < f->loads.count; i++)
        fits = f->loads.at[i].chosen == 0 || prefetch_fits(f, &f->loads.at[i]);
    if (!fits) return INFINITY;
    struct plan_program p =
        plan_program_of_draft(f->x, f->address, f->traffic.transfers, f->traffic.transfer_count);
    p.stays = f->stays;
    p.buffers = f->buffers;
    f->tries--;
    return program_us(p);
}

static bool prefetch_is_faster(double us, double than)
{
    return us < than * (1 - 1e-9);
}

/* ---- issue ticks ---- */

/* The first tick at which HBM has the value that is loaded at `due`, in the bundle of `due`. */
int32_t load_source_ready(const struct draft *x, int32_t tensor, int32_t due)
{
    int32_t first = due, nest;
    while (first > 0 && x->bundle_of[first - 1] == x->bundle_of[due]) first--;
    for (int32_t k = x->tensor_at[tensor]; k < x->tensor_at[tensor + 1]; k++) {
        int32_t a = x->tensor_access[k], o = x->access_op[a];
        if (!x->accesses[a].writes || o >= due) continue;
        nest = nest_of_op(x->how.nests, x->how.nest_count, o);
        first = (int32_t)max_i64(first, (nest >= 0 ? x->how.nests[nest].last : o) + 1);
    }
    return first;
}

/* The first tick from which on the bytes of a stay are free up to its life. */
static int64_t prefetch_bytes_free(const struct prefetch *f, int32_t stay)
{
    const struct lx_buffer *b = f->x->problem.buffers;
    int64_t at = f->address[stay], first = 0;
    for (int32_t i = 0; i < f->x->problem.count; i++)
        if (i != stay && f->address[i] >= 0 && b[i].end <= b[stay].start && b[i].end > first &&
            f->address[i] < at + b[stay].size && at < f->address[i] + b[i].size)
            first = b[i].end;
    return first;
}

/* A copy is issued between ops, or before a nest. */
bool load_may_issue(const struct draft *x, int32_t tick)
{
    int32_t nest = nest_of_op(x->how.nests, x->how.nest_count, tick);
    return nest < 0 || x->how.nests[nest].first == tick;
}

/* A relayout whose source is off chip is loaded, but may be filled from it wherever the buffers are then. */
static bool prefetch_may_load(const struct prefetch *f, const struct lx_transfer *t, bool freely)
{
    const struct lx_stay *s = &f->x->stays[t->stay];
    return t->kind == LX_LOAD && t->tick == s->first && s->hold == 0 && !s->begins_written &&
           (s->ring_source < 0 || !freely) && s->moved_from < 0;
}

/* It has a place on chip only to be loaded early (stream_loads.c). */
static bool prefetch_streamed(const struct prefetch *f, const struct lx_transfer *t)
{
    const struct early *e = early_find(&f->x->how, f->x->stays[t->stay].tensor, t->tick);
    return e && e->streamed;
}

static void prefetch_list_ticks(struct prefetch *f, int32_t transfer)
{
    const struct lx_transfer *t = &f->traffic.transfers[transfer];
    int32_t ready = load_source_ready(f->x, f->x->stays[t->stay].tensor, t->tick);
    int64_t first = max_i64(ready, f->freely ? 0 : prefetch_bytes_free(f, t->stay));
    struct early_load l = {.transfer = transfer, .cramped = first > ready};
    l.ahead = arena_array(&f->memory, (size_t)max_i64(t->tick - first, 0) + 1, sizeof *l.ahead);
    l.ahead[l.count++] = 0;
    for (int32_t tick = t->tick - 1; tick >= first; tick--)
        if (load_may_issue(f->x, tick)) l.ahead[l.count++] = t->tick - tick;
    for (int32_t k = 0; k < l.count; k++)
        if (l.ahead[k] <= t->ahead) l.chosen = k;
    if (l.count > 1 || l.cramped || prefetch_streamed(f, t)) VEC_PUSH(&f->loads, l);
}

/* A slice that its nest loads by one copy, and whose tensor the nest only reads. */
static bool prefetch_may_stage(const struct prefetch *f, const struct lx_transfer *t)
{
    const struct draft *x = f->x;
    const struct lx_stay *s = &x->stays[t->stay];
    int32_t nest = nest_of_op(x->how.nests, x->how.nest_count, t->tick);
    if (t->kind != LX_LOAD || s->hold == 0 || nest < 0 || t->tick != s->first || s->begins_written ||
        s->ring_source >= 0 || s->moved_from >= 0)
        return false;
    const struct lx_nest *n = &x->how.nests[nest];
    for (int32_t k = x->tensor_at[s->tensor]; k < x->tensor_at[s->tensor + 1]; k++) {
        int32_t a = x->tensor_access[k];
        if (x->accesses[a].writes && x->access_op[a] >= n->first && x->access_op[a] <= n->last) return false;
    }
    for (int32_t i = 0; i < f->traffic.transfer_count; i++) {
        const struct lx_transfer *o = &f->traffic.transfers[i];
        bool inside = o->tick >= n->first && o->tick <= n->last;
        if (o->source == t->stay || (o != t && o->stay == t->stay) ||
            (inside && o->kind == LX_STORE && x->stays[o->stay].tensor == s->tensor))
            return false;
    }
    return stay_fills(x, t->stay) > 1;
}

static void prefetch_list_stages(struct prefetch *f, int32_t transfer)
{
    const struct lx_transfer *t = &f->traffic.transfers[transfer];
    struct early_load l = {.transfer = transfer, .staged = true};
    l.ahead = arena_array(&f->memory, LX_MOST_STAGES, sizeof *l.ahead);
    for (int k = 0; k < LX_MOST_STAGES; k++) l.ahead[k] = k;
    for (l.count = 1; l.count < LX_MOST_STAGES; l.count++) {
        l.chosen = l.count;
        prefetch_apply(f, &l);
        if (!prefetch_fits(f, &l)) break;
    }
    l.cramped = l.count < LX_MOST_STAGES;
    l.chosen = lx_stages(&f->x->stays[t->stay]) - 1;
    prefetch_apply(f, &l);
    VEC_PUSH(&f->loads, l);
}

static void prefetch_list(struct prefetch *f)
{
    f->loads.count = 0;
    for (int32_t i = 0; i < f->traffic.transfer_count; i++) {
        if (prefetch_may_load(f, &f->traffic.transfers[i], f->freely)) prefetch_list_ticks(f, i);
        if (prefetch_may_stage(f, &f->traffic.transfers[i])) prefetch_list_stages(f, i);
    }
}

/* ---- the choice ---- */

/* All combinations, the latest issues first. */
static void prefetch_try_all(struct prefetch *f)
{
    int32_t *best = arena_array(&f->memory, f->loads.count, sizeof *best);
    size_t i = 0;
    for (size_t k = 0; k < f->loads.count; k++) best[k] = f->loads.at[k].chosen, f->loads.at[k].chosen = 0;
    do {
        double us = prefetch_time(f);
        if (prefetch_is_faster(us, f->us)) {
            f->us = us;
            for (size_t k = 0; k < f->loads.count; k++) best[k] = f->loads.at[k].chosen;
        }
        for (i = 0; i < f->loads.count && ++f->loads.at[i].chosen == f->loads.at[i].count; i++)
            f->loads.at[i].chosen = 0;
    } while (i < f->loads.count);
    for (size_t k = 0; k < f->loads.count; k++) f->loads.at[k].chosen = best[k];
}

/* All loads by the same number of issues ahead, or as far as they may. */
static void prefetch_step_back(struct prefetch *f)
{
    int32_t *best = arena_array(&f->memory, f->loads.count, sizeof *best), most = 1;
    for (size_t k = 0; k < f->loads.count; k++) {
        best[k] = f->loads.at[k].chosen;
        most = (int32_t)max_i64(most, f->loads.at[k].count);
    }
    for (int32_t step = 1; step < 2 * most && f->tries > 0; step *= 2) {
        for (size_t k = 0; k < f->loads.count; k++)
            f->loads.at[k].chosen = (int32_t)min_i64(step, f->loads.at[k].count - 1);
        double us = prefetch_time(f);
        if (!prefetch_is_faster(us, f->us)) continue;
        f->us = us;
        for (size_t k = 0; k < f->loads.count; k++) best[k] = f->loads.at[k].chosen;
    }
    for (size_t k = 0; k < f->loads.count; k++) f->loads.at[k].chosen = best[k];
}

/* The best issue of one load; of the ticks far away each second, fourth, and so on. */
static bool prefetch_improve(struct prefetch *f, struct early_load *l)
{
    int32_t best = l->chosen, before = l->chosen;
    for (int32_t k = 0; k < l->count && f->tries > 0;
         k = k < 4 ? k + 1 : (int32_t)min_i64(2 * (int64_t)k, INT32_MAX)) {
        if (k == before) continue;
        l->chosen = k;
        double us = prefetch_time(f);
        if (!prefetch_is_faster(us, f->us)) continue;
        f->us = us;
        best = k;
    }
    l->chosen = best;
    return best != before;
}

static void prefetch_choose(struct prefetch *f)
{
    enum { COMBINATIONS = 1024, ROUNDS = 4 };
    int64_t all = 1;
    for (size_t k = 0; k < f->loads.count && all <= COMBINATIONS; k++) all *= f->loads.at[k].count;
    if (all <= COMBINATIONS) {
        if (all > 1) prefetch_try_all(f);
        return;
    }
    prefetch_step_back(f);
    bool better = true;
    for (int round = 0; better && round < ROUNDS; round++) {
        better = false;
        for (size_t k = 0; k < f->loads.count && f->tries > 0 && !search_is_over(f->search); k++)
            better |= prefetch_improve(f, &f->loads.at[k]);
    }
}

/* ---- plans ---- */

/* The decisions of the draft with the chosen issues. */
static struct decisions prefetch_decisions(struct prefetch *f)
{
    struct decisions how = f->x->how;
    struct early *early = arena_array(&f->memory, f->loads.count, sizeof *early);
    how.early_count = 0;
    for (size_t k = 0; k < f->loads.count; k++) {
        const struct early_load *l = &f->loads.at[k];
        const struct lx_transfer *t = &f->traffic.transfers[l->transfer];
        bool streamed = prefetch_streamed(f, t);
        int32_t ahead = l->ahead[l->chosen]; /* stages, or ticks */
        if (ahead == 0 && !streamed) continue;
        early[how.early_count++] =
            (struct early){f->x->stays[t->stay].tensor, t->tick, t->tick - (l->staged ? 0 : ahead),
                           1 + (l->staged ? ahead : 0), streamed};
    }
    if (how.early_count > 1) qsort(early, (size_t)how.early_count, sizeof *early, early_compare);
    how.early = early;
    return how;
}

static void prefetch_begin(struct search *search, struct attempt *of, struct prefetch *f)
{
    draft_weigh(&of->draft);
    draft_rings(&of->draft);
    *f = (struct prefetch){.search = search, .x = &of->draft, .address = of->answer.address};
    struct lx_op_traffic *ops = arena_array(&f->memory, (size_t)of->draft.graph->op_count, sizeof *ops);
    traffic_list(f->x, f->address, &f->memory, &f->traffic, ops);
    f->stays = arena_copy_array(&f->memory, f->x->stays, (size_t)f->x->problem.count, sizeof *f->stays);
    f->buffers =
        arena_copy_array(&f->memory, f->x->problem.buffers, (size_t)f->x->problem.count, sizeof *f->buffers);
    f->tries = max_i64(32, 200000 / (of->draft.graph->op_count + 1));
    f->us = draft_times(f->x, f->address, NULL).end_to_end_us;
}

static void prefetch_end(struct prefetch *f)
{
    VEC_FREE(&f->loads);
    arena_free(&f->memory);
}

/* Gives the attempt's loads their best issues where its buffers are. */
static bool prefetch_settle(struct search *search, struct attempt *attempt, double *us, bool *cramped)
{
    struct prefetch f;
    prefetch_begin(search, attempt, &f);
    double before = f.us;
    prefetch_list(&f);
    *cramped = false;
    for (size_t k = 0; k < f.loads.count; k++) *cramped |= f.loads.at[k].cramped;
    prefetch_choose(&f);
    bool ok = true;
    *us = f.us;
    struct attempt from = *attempt, next;
    from.draft.how = prefetch_decisions(&f);
    if (f.us < before || from.draft.how.early_count != attempt->draft.how.early_count) {
        ok = attempt_copy(search, &from, &next);
        if (ok && asks_time(search)) next.us = attempt_us(search, &next.draft, next.answer.address, INFINITY);
        if (ok) attempt_free(attempt), *attempt = next;
    }
    LOG(attempt, "%d loads, %.3f us instead of %.3f", (int)f.loads.count, *us, before);
    prefetch_end(&f);
    return ok;
}

/* Solves once more with the issues that would be best with empty scratchpads, but none is more than `most`
 * before its load is due. `*promises`: they would be faster. */
static bool prefetch_place_again(struct search *search, int32_t most, double *us, bool *promises)
{
    struct prefetch f;
    struct effort effort = search->effort;
    struct attempt next = {0};
    bool cramped, ok = true;
    prefetch_begin(search, &search->best, &f);
    f.freely = true;
    prefetch_list(&f);
    prefetch_choose(&f);
    for (size_t k = 0; k < f.loads.count; k++)
        f.loads.at[k].chosen = (int32_t)min_i64(most, f.loads.at[k].chosen);
    *promises = f.loads.count > 0 && prefetch_is_faster(prefetch_time(&f), *us);
    struct decisions how = prefetch_decisions(&f);
    effort.drafts = DRAFTS_AS_DECIDED;
    if (*promises)
        ok = try_decisions(search, &how, &effort, (struct limit){INFINITY, search->best.hbm_bytes}, &next);
    prefetch_end(&f);
    if (!ok || !next.memory) return ok;
    double next_us = INFINITY;
    next.perfect_bytes = search->best.perfect_bytes;
    next.bound = search->best.bound;
    ok = next.hbm_bytes != search->best.hbm_bytes || prefetch_settle(search, &next, &next_us, &cramped);
    if (!ok || !prefetch_is_faster(next_us, *us)) return attempt_free(&next), ok;
    replace_best(search, &next);
    *us = next_us;
    return true;
}

/* Gives the best attempt early loads; `*us`: its time with them. */
static bool prefetch_best(struct search *search, double *us)
{
    static const int32_t most[] = {INT32_MAX, 2, 1};
    bool cramped, ok = prefetch_settle(search, &search->best, us, &cramped), promises = ok && cramped;
    for (int i = 0;
         i < 3 && ok && promises && search->divided->count <= RUNNERS_MOST_OPS && !search_is_over(search);
         i++)
        ok = prefetch_place_again(search, most[i], us, &promises);
    double before = *us;
    ok = ok && stream_loads(search, us);
    return ok && *us < before ? prefetch_settle(search, &search->best, us, &cramped) : ok;
}

/* Does the best attempt, which takes `us`, beat the other? */
static bool prefetch_beats(const struct search *search, double us, const struct attempt *other,
                           double other_us)
{
    double fast_us = search->request->fast_us;
    us = fmax(us, fast_us);
    other_us = fmax(other_us, fast_us);
    return prefetch_is_faster(us, other_us) || (us <= other_us && search->best.hbm_bytes < other->hbm_bytes);
}

/* Gives a runner early loads; it becomes the best attempt if it then beats that one, which takes `*us`. */
static bool prefetch_runner(struct search *search, struct attempt *runner, double *us)
{
    struct attempt best = search->best;
    double other_us;
    search->best = *runner;
    *runner = (struct attempt){0};
    bool ok = prefetch_best(search, &other_us), better = ok && prefetch_beats(search, other_us, &best, *us);
    LOG(attempt, "runner: %.3f us against %.3f", other_us, *us);
    if (better) *us = other_us;
    attempt_free(better ? &best : &search->best);
    if (!better) search->best = best;
    return ok;
}

/* Gives early loads to the best attempt, and to the runners, which were little slower without. */
bool prefetch_search(struct search *search)
{
    double us;
    struct runners *r = search->runners;
    bool ok = prefetch_best(search, &us);
    for (int i = 0; ok && r && i < RUNNER_LEVELS * RUNNERS && !search_is_over(search); i++) {
        struct attempt *runner = &r->at[i / RUNNERS][i % RUNNERS];
        if (runner->memory) ok = prefetch_runner(search, runner, &us);
    }
    return ok;
}
