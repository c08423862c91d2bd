/* What must hold of whatever graph a reader gives, and of whatever plan is made or read: shared by the targets whose readers
 * end there. What would take long (large graphs, many bytes to move) is read and written only; nests are searched for in few ops. */
#ifndef LX_TESTS_FUZZ_WHOLE_ROAD_H
#define LX_TESTS_FUZZ_WHOLE_ROAD_H

#include "fuzz/fuzz_target.h"
#include "unstable.h"

enum {
    FUZZ_MOST_OPS = 24,
    FUZZ_NEST_OPS = 6,
    FUZZ_MOST_BUFFERS = 200,
    FUZZ_STEPS = 200,
    FUZZ_MOST_BYTES = 1 << 16
};

/* The plan's file gives the plan again, byte for byte, and as legal. */
static inline void fuzz_plan_again(const struct lx_plan *p)
{
    size_t n, m;
    lx_status st = {0};
    char *file = lx_plan_to_json(p, &n);
    fuzz_must(file != NULL, "a plan cannot be written", NULL);
    struct lx_plan *again = lx_plan_of_text("again", file, n, &st);
    fuzz_must(again != NULL, "a plan that was written cannot be read", &st);
    fuzz_must(lx_plan_check(again, &st), "a plan is legal, and read again it is not", &st);
    char *second = lx_plan_to_json(again, &m);
    fuzz_same(file, n, second, m, "a plan that was read is written as another");
    lx_plan_free(again);
}

/* Is it little that is moved and computed? */
static inline bool fuzz_is_small(const struct lx_graph *g)
{
    int64_t sum = 0;
    for (int32_t t = 0; t < g->tensor_count && sum < FUZZ_MOST_BYTES; t++)
        sum += g->tensors[t].bytes < FUZZ_MOST_BYTES ? g->tensors[t].bytes : FUZZ_MOST_BYTES;
    return sum < FUZZ_MOST_BYTES && g->op_count <= FUZZ_MOST_OPS;
}

/* A legal plan runs, and what it moves is what it says. */
static inline void fuzz_run(const struct lx_plan *p)
{
    struct lx_device_options how = {.verify = LX_VERIFY_OPS};
    lx_status st = {0};
    if (p->graph->op_count == 0 || !fuzz_is_small(p->layouts->graph)) return;
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r) fuzz_refused(&st);
    fuzz_must(!r || r->ok, "a legal plan runs otherwise",
              r && r->fault_count ? &(lx_status){.code = LX_E_NO} : NULL);
    lx_run_result_free(r);
}

static inline void fuzz_plan(const struct lx_graph *g, const char *solver)
{
    struct lx_plan_options how = {
        .solver = lx_solver_find(solver),
        .run = {.work_limit = FUZZ_STEPS},
        .passes = {.tile = g->op_count > FUZZ_NEST_OPS ? LX_TILE_NONE : LX_TILE_AUTO}};
    lx_status st = {0};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) {
        fuzz_refused(&st);
        return;
    }
    /* Where there is no answer, or none was found in so few steps, the plan says so and is none. */
    if (!lx_plan_check(p, &st)) {
        fuzz_must(p->answer.status == LX_INFEASIBLE || p->answer.status == LX_LIMIT, "a plan is not legal",
                  &st);
        lx_plan_free(p);
        return;
    }
    fuzz_must(lx_plan_value(p) >= lx_plan_least(p), "a bound is above its plan", NULL);
    fuzz_plan_again(p);
    fuzz_run(p);
    lx_plan_free(p);
}

/* Written and read again it is the same. */
static inline void fuzz_graph_again(const struct lx_graph *g)
{
    size_t n, m;
    lx_status st = {0};
    char *file = lx_graph_to_json(g, &n);
    fuzz_must(file != NULL, "a graph cannot be written", NULL);
    const struct lx_graph *again = lx_graph_of_text("again", file, n, &st);
    fuzz_must(again != NULL, "a graph that was written cannot be read", &st);
    char *second = lx_graph_to_json(again, &m);
    fuzz_same(file, n, second, m, "a graph that was read is written as another");
    lx_graph_free(again);
}

static inline void fuzz_graph(const struct lx_graph *g)
{
    fuzz_graph_again(g);
    if (g->op_count <= FUZZ_MOST_OPS && (!g->list || g->list->buffer_count <= FUZZ_MOST_BUFFERS))
        fuzz_plan(g, g->op_count ? "bestfit" : "auto");
}

#endif
