#include "support/joint_bounds.h"

struct lx_passes random_passes(struct rng *r)
{
    return (struct lx_passes){.no_ring = rng_below(r, 2),
                              .evict = rng_below(r, 3) == 0,
                              .reorder = rng_below(r, 4) == 0,
                              .no_dump = rng_below(r, 3) == 0,
                              .no_outputs = rng_below(r, 3) == 0,
                              .no_in_place = rng_below(r, 3) == 0,
                              .clone = (int)rng_below(r, LX_CLONE_COUNT)};
}

/* A random division of each op, often the old one; the model of it all is left with that choice alone. */
static bool random_divisions(struct rng *r, const struct least_traffic *s, struct chain_model *only,
                             struct arena *memory, const struct lx_division **divided, lx_status *st)
{
    uint64_t often = rng_below(r, 4);
    for (int32_t o = 0; o < only->op_count; o++) {
        struct chain_op *op = &only->ops[o];
        const struct op_menu *menu = &s->menus.at[s->menus.of_op[o]];
        int32_t c = rng_below(r, 4) < often ? 0 : (int32_t)rng_below(r, (uint64_t)op->choice_count);
        struct lx_division *v = arena_alloc(memory, sizeof *v);
        if (menu->split_count > 0) {
            if (!lx_division_with(s->d, o, &menu->splits[(int64_t)op->origin[c] * menu->split_count], memory,
                                  v, st))
                return false;
            divided[o] = v;
        }
        int32_t kept = 0; /* it may stand there several times, with operands that do not fit left out */
        for (int32_t i = 0, origin = op->origin[c]; i < op->choice_count; i++) {
            if (op->origin[i] != origin) continue;
            op->origin[kept] = origin;
            for (int32_t t = 0; t < op->touch_count; t++)
                memmove(&op->touch[t].label[kept * op->touch[t].access_count],
                        &op->touch[t].label[i * op->touch[t].access_count],
                        (size_t)op->touch[t].access_count * sizeof *op->touch[t].label);
            kept++;
        }
        op->choice_count = kept;
    }
    return true;
}

static int32_t random_cuts(struct rng *r, const struct draft *x, struct cut *cuts, int32_t room)
{
    int32_t count = 0;
    for (int32_t t = 0; t < x->graph->tensor_count; t++)
        for (int32_t k = x->tensor_at[t] + 1; k < x->tensor_at[t + 1] && count < room; k++) {
            int32_t here = x->access_op[x->tensor_access[k]], before = x->access_op[x->tensor_access[k - 1]];
            if (here != before && rng_below(r, 3) == 0) cuts[count++] = (struct cut){t, here};
        }
    return count;
}

/* Swaps of neighbours that leave every op what it read. */
static void random_order(struct rng *r, const struct lx_graph *g, int32_t *order)
{
    for (int32_t o = 0; o < g->op_count; o++) order[o] = o;
    for (int32_t k = 0; k < 8 * g->op_count && g->op_count > 1; k++) {
        int32_t at = (int32_t)rng_below(r, (uint64_t)g->op_count - 1), one = order[at];
        order[at] = order[at + 1], order[at + 1] = one;
        if (!reorder_legal(g, order)) order[at + 1] = order[at], order[at] = one;
    }
}

/* One draft against the bounds. */
static void try_draft(struct rng *r, const struct draft *plain, struct least_traffic *s, int64_t bound,
                      uint64_t seed, struct joint_bounds *out)
{
    static const char *const solvers[] = {"exact", "firstfit", "bestfit"};
    struct arena memory = {0};
    struct chain_model only;
    struct draft x;
    struct cut cuts[256];
    lx_status st = {0};
    int32_t n = plain->graph->op_count, *order = arena_array(&memory, (size_t)n, sizeof *order);
    struct decisions how = {.passes = plain->how.passes};
    const struct lx_division **divided = arena_array(&memory, (size_t)n, sizeof *divided);
    chain_model_make(&only, plain, &s->menus, false, &memory);
    bool ok = random_divisions(r, s, &only, &memory, divided, &st);
    how.divided = divided;
    how.cuts = cuts;
    if (how.passes.evict) how.cut_count = random_cuts(r, plain, cuts, 256);
    if (how.passes.reorder) random_order(r, plain->graph, order), how.order = order, how.cut_count = 0;
    int64_t moved, own = 0, steps = 0;
    if (!ok || !draft_make(plain->divided, &how, &memory, &x, &st)) {
        printf("seed %" PRIu64 ": %s\n", seed, st.text);
        abort();
    }
    struct lx_run run = {0};
    struct lx_answer a = {.address = arena_array(&memory, (size_t)x.problem.count, sizeof *a.address)};
    const struct lx_solver *solver = lx_solver_find(solvers[rng_below(r, 3)]);
    if (lx_problem_solve(&x.problem, solver, &run, &a, &st) && traffic_count(&x, a.address, &moved)) {
        struct chain_beam_options beam = {.width = 256,
                                          .answers = 1,
                                          .capacity = only.room.capacity,
                                          .cut = NETWORK_HOPELESS,
                                          .step_limit = 1000000,
                                          .run = &run};
        int64_t none = 0;
        struct chain_beam_result got = {.bytes = &none, .choice = order};
        out->drafts++;
        own = chain_messages(&only, &steps);
        chain_beam(&only, &beam, &got);
        own = how.passes.reorder ? 0 : own > got.bound ? own : got.bound;
        out->above_all += bound > moved;
        out->above_fixed += own > moved;
        out->met_fixed += own == moved;
        if ((bound > moved || own > moved) && out->print)
            printf("seed %" PRIu64 ": %" PRId64 " moved, bounds %" PRId64 " %" PRId64 "\n", seed, moved,
                   bound, own);
    }
    draft_free(&x);
    arena_free(&memory);
}

void try_graph(uint64_t seed, int drafts, struct joint_bounds *out)
{
    static const int64_t sizes[] = {0, 512, 4096, 20000, 100000}, cores[] = {1, 2, 4, 32};
    struct rng r = rng_seed(seed);
    struct random_graph_shape shape = {.ops = 2 + (int)rng_below(&r, 14),
                                       .with_views = rng_below(&r, 2),
                                       .with_externs = rng_below(&r, 3) == 0,
                                       .again = rng_below(&r, 2),
                                       .with_results = seed % 3 == 0,
                                       .cores = cores[rng_below(&r, 4)]};
    struct decisions how = {.passes = random_passes(&r)};
    int64_t lx = sizes[rng_below(&r, 5)];
    lx_status st = {0};
    struct arena memory = {0};
    struct draft plain;
    struct least_traffic s;
    struct lx_run run = {0};
    const struct lx_graph *g = random_graph(&r, &shape, &st);
    const struct lx_graph *whole = g;
    if (g && lx) g = lx_graph_with_capacity(whole, lx, &st), lx_graph_free(whole);
    struct lx_layouts *l = g ? lx_layouts_make(g, LX_WEIGHTS_FREE, &st) : NULL;
    struct lx_divisions *d = l ? lx_divide(l, NULL, &st) : NULL;
    if (d && draft_make(d, &how, &memory, &plain, &st)) {
        bool ok = least_traffic_open(&s, &plain, &run, &st);
        while (ok && !s.done) least_traffic_round(&s, NETWORK_HOPELESS);
        out->graphs++;
        for (int k = 0; ok && k < drafts; k++) try_draft(&r, &plain, &s, s.bound, seed, out);
        arena_free(&s.memory);
        draft_free(&plain);
    }
    arena_free(&memory);
    lx_divisions_free(d);
    lx_layouts_free(l);
    lx_graph_free(g);
}
