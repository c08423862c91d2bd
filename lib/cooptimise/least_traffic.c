/* Rounds: a narrow beam guided by messages; then prices for room; then wider beams, until one drops nothing,
 * nothing is found or proved for a while, or the steps are used up. The clock is only a safeguard. */
#include "cooptimise/least_traffic.h"

enum {
    PRICE_ROUNDS = 48,
    MOST_CELLS = 4000000, /* limit on choices x states of a sweep; above it, labels are not told apart */
};

/* Beam width, and the share of the scratchpads to plan for, in 64ths: a full one may have no addresses. */
static const struct {
    int32_t width, share;
    bool by_time;
} rounds[] = {{16, 64, true},  {64, 64, false},  {64, 60, true},  {64, 60, false},   {64, 54, false},
              {512, 64, true}, {512, 57, false}, {64, 48, false}, {4096, 64, false}, {32768, 64, false}};
enum { ROUNDS = sizeof rounds / sizeof *rounds, LARGE = 1000, FEW_ROUNDS = 5 };
static const int64_t most_steps = 40000000, steps_without_news = 500000;

/* The widest beam takes seconds: it follows only if the last one found an answer, or raised the bound so much
 * that REACH times as much closes the gap. */
enum { WIDEST = 32768, REACH = 4 };

static bool may_hold(const struct draft *x, const struct op_menus *menus, int32_t access)
{
    int32_t o = x->access_op[access], tensor = x->accesses[access].tensor;
    const struct op_menu *m = &menus->at[menus->of_op[o]];
    const struct lx_core_view *v = &m->view[(int64_t)(access - x->access_at[o]) * m->count];
    if (x->graph->ops[o].kind->traits & LX_EXTERN) return false;
    for (int32_t c = 0; c < m->count; c++)
        if (view_holds(&x->layouts->layouts[tensor], &v[c], !x->how.passes.no_ring) &&
            view_part_bytes(x->layouts, tensor, &v[c]) <= x->problem.capacity)
            return true;
    return false;
}

/* Lower bound on a tensor's bytes in any order of ops: accesses that cannot be on chip; one load of a given
 * tensor, or its reads; one store of a tensor that HBM needs, or its write. */
static int64_t least_of_tensor(const struct draft *x, const struct op_menus *menus, int32_t t)
{
    int64_t off = 0, read = 0, written = 0, whole = tensor_bytes(x->layouts, t);
    int writes = 0;
    bool needed = lx_role_leaves(x->graph->tensors[t].role);
    bool given = lx_role_arrives(x->graph->tensors[t].role);
    const char *text;
    bool barred = exclusion_of_tensor(x->layouts, &x->how.passes, t, &text);
    for (int32_t k = x->tensor_at[t]; k < x->tensor_at[t + 1]; k++) {
        const struct lx_access *a = &x->accesses[x->tensor_access[k]];
        bool on = !barred && may_hold(x, menus, x->tensor_access[k]);
        writes += a->writes;
        if (!on) off += a->bytes;
        if (!on && !a->writes) needed = true;
        if (on && a->writes) written = a->bytes;
        if (on && !a->writes) read += a->bytes;
    }
    if (writes > 1) return off;
    return off + (needed ? min_i64(written, whole) : 0) + (given ? min_i64(read, whole) : 0);
}

bool least_traffic_open(struct least_traffic *s, const struct draft *x, const struct lx_run *run,
                        lx_status *st)
{
    *s = (struct least_traffic){.d = x->divided,
                                .run = run,
                                .with_nests = x->how.passes.tile != LX_TILE_NONE,
                                .any_order = x->how.passes.reorder};
    if (run->time_limit > 0) s->deadline = clock_seconds() + run->time_limit;
    if (!op_menus_make(x->divided, &s->memory, &s->menus, st)) return false;
    chain_model_make(&s->model, x, &s->menus, false, &s->memory);
    if (s->model.cells > MOST_CELLS) chain_model_make(&s->model, x, &s->menus, true, &s->memory);
    s->step_limit = most_steps;
    size_t ops = (size_t)x->graph->op_count;
    s->choice = arena_array(&s->memory, ops * LEAST_ANSWERS, sizeof *s->choice);
    for (int32_t t = 0; s->any_order && t < x->graph->tensor_count; t++)
        s->bound += least_of_tensor(x, &s->menus, t);
    return true;
}

static void least_traffic_prove(struct least_traffic *s, int64_t bound)
{
    if (s->any_order || bound <= s->bound) return;
    s->bound = bound;
    s->news_at = s->steps;
}

static void beam_round(struct least_traffic *s, int64_t best)
{
    int64_t share = rounds[s->round].share, capacity = s->model.room.capacity;
    struct chain_beam_options how = {.width = rounds[s->round].width,
                                     .capacity = capacity / 64 * share + capacity % 64 * share / 64,
                                     .of_a_kind = 1,
                                     .by_time = rounds[s->round].by_time,
                                     .answers = LEAST_ANSWERS,
                                     .cut = best,
                                     .step_limit = s->step_limit - s->steps,
                                     .run = s->run,
                                     .deadline = s->deadline};
    struct chain_beam_result r = {.choice = s->choice, .bytes = s->bytes};
    chain_beam(&s->model, &how, &r);
    s->found = r.found;
    s->steps += r.steps;
    if (r.found) s->news_at = s->steps;
    least_traffic_prove(s, r.bound);
    if (share == 64) s->solved = r.exact || (r.found && r.bytes[0] <= r.bound);
    s->done = r.stopped || s->steps >= s->step_limit || s->steps - s->news_at >= steps_without_news;
    LOG(cooptimise,
        "beam %d: %" PRId64 " steps, %d answers, the best %" PRId64 "; no division below %" PRId64,
        (int)how.width, r.steps, (int)r.found, r.found ? r.bytes[0] : -1, s->bound);
    struct lx_progress now = {.steps = s->steps, .objective = best, .bound = s->bound};
    if (s->run->progress) s->run->progress(s->run->context, &now);
}

void least_traffic_round(struct least_traffic *s, int64_t best)
{
    s->found = 0;
    if (s->round == 0) least_traffic_prove(s, chain_messages(&s->model, &s->steps));
    if (s->round == 1)
        least_traffic_prove(s, chain_price(&s->model, best, PRICE_ROUNDS, s->step_limit / 4, &s->steps));
    if ((s->done |= s->bound >= best)) return;
    int64_t before = s->bound;
    beam_round(s, best);
    bool hopeless = s->with_nests && s->found == 0 && (best - s->bound) / REACH > s->bound - before;
    /* Skip wider full-share beams once the minimum of the chain model is known. */
    do s->round++;
    while (s->solved && s->round < ROUNDS && rounds[s->round].share == 64 && rounds[s->round].width > 64);
    s->done |= s->round >= (s->model.op_count > LARGE ? FEW_ROUNDS : ROUNDS) ||
               (hopeless && rounds[s->round].width == WIDEST);
}

bool least_traffic_divisions(const struct least_traffic *s, int32_t k, struct arena *memory,
                             const struct lx_division ***out, int32_t *changed, lx_status *st)
{
    int32_t n = s->model.op_count;
    *out = arena_array(memory, (size_t)n, sizeof **out);
    *changed = 0;
    for (int32_t o = 0; o < n; o++) {
        const struct op_menu *m = &s->menus.at[s->menus.of_op[o]];
        int32_t origin = s->model.ops[o].origin[s->choice[(int64_t)k * n + o]];
        if (origin == m->seed) continue;
        struct lx_division *chosen = arena_alloc(memory, sizeof *chosen);
        (*out)[o] = chosen;
        ++*changed;
        if (!lx_division_with(s->d, o, &m->splits[(int64_t)origin * m->split_count], memory, chosen, st))
            return false;
    }
    return true;
}
