#include "support/pass_bounds.h"

static const char *const pass_solvers[PASS_SOLVERS] = {"exact", "firstfit", "anneal"};

static bool pass_plan(const struct lx_graph *g, int bits, int solver, struct pass_plans *out, lx_status *st)
{
    struct lx_plan_options how = {.solver = lx_solver_find(pass_solvers[solver]),
                                  .run = {.work_limit = 20000}};
    how.passes.tile = LX_TILE_NONE;
    how.passes.evict = bits & PASS_EVICT;
    how.passes.reorder = bits & PASS_REORDER;
    how.passes.move = bits & PASS_MOVE;
    struct lx_plan *p = lx_plan_make(g, &how, st);
    bool ok = p && lx_plan_check(p, st);
    if (ok) {
        out->hbm[bits][solver] = p->figures.hbm_bytes;
        out->bound[bits][solver] = p->figures.bound_bytes + p->figures.perfect_hbm_bytes;
        out->plans++;
        for (int32_t i = 0; i < p->transfer_count; i++) out->moves += p->transfers[i].kind == LX_MOVE;
        out->proved += out->hbm[bits][solver] == out->bound[bits][solver];
    }
    lx_plan_free(p);
    return ok;
}

/* A random graph with little room on chip; NULL: none could be made. */
static const struct lx_graph *pass_graph(uint64_t seed, lx_status *st)
{
    struct rng r = rng_seed(seed);
    static const int64_t cores[] = {1, 4, 32};
    struct random_graph_shape shape = {.ops = 3 + (int)rng_below(&r, 14),
                                       .with_views = rng_below(&r, 3) == 0,
                                       .with_externs = rng_below(&r, 4) == 0,
                                       .again = rng_below(&r, 3) == 0,
                                       .with_results = seed % 3 == 0,
                                       .cores = cores[rng_below(&r, 3)]};
    const struct lx_graph *g = random_graph(&r, &shape, st);
    int64_t largest = 256;
    for (int32_t t = 0; g && t < g->tensor_count; t++)
        if (g->tensors[t].bytes > largest) largest = g->tensors[t].bytes;
    int64_t room = (int64_t)rng_below(&r, (uint64_t)(3 * largest / shape.cores / 128 + 4)) * 128 + 128;
    const struct lx_graph *small = g ? lx_graph_with_capacity(g, room, st) : NULL;
    lx_graph_free(g);
    return small;
}

const char *pass_contradiction(const struct pass_plans *p, char *text, size_t room)
{
    for (int bits = 0; bits < PASS_BITS; bits++)
        for (int fewer = 0; fewer <= bits; fewer++)
            for (int k = 0; (fewer & ~bits) == 0 && k < PASS_SOLVERS * PASS_SOLVERS; k++) {
                int a = k / PASS_SOLVERS, b = k % PASS_SOLVERS;
                const char *wrong = p->bound[bits][a] > p->hbm[fewer][b]           ? "bound above a plan"
                                    : a == b && p->hbm[bits][a] > p->hbm[fewer][a] ? "worse than without"
                                                                                   : NULL;
                if (!wrong) continue;
                snprintf(text, room, "%s: passes %d %s %lld (bound %lld), passes %d %s %lld", wrong, bits,
                         pass_solvers[a], (long long)p->hbm[bits][a], (long long)p->bound[bits][a], fewer,
                         pass_solvers[b], (long long)p->hbm[fewer][b]);
                return text;
            }
    return NULL;
}

bool pass_try(uint64_t seed, struct pass_plans *out, lx_status *st)
{
    const struct lx_graph *g = pass_graph(seed, st);
    bool ok = g;
    for (int k = 0; ok && k < PASS_BITS * PASS_SOLVERS; k++)
        ok = pass_plan(g, k / PASS_SOLVERS, k % PASS_SOLVERS, out, st);
    lx_graph_free(g);
    return ok;
}
