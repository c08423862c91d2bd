/* Syncs of plans of random graphs. A plan runs right under every skew of its cores; without any one of its
 * syncs the checker refuses it, and the device finds a core that is early under some skew (best). Where two
 * ops deal out all tiles, by chance alike, or cores meet to add up a sum in between, the device may find
 * nothing. */
#include "unstable.h"
#include "base/memory.h"
#include "support/other_sizes.h"
#include "support/random_graph.h"
#include "torture/torture.h"
#include "support/sampled.h"

enum { USUAL = SAMPLED ? 6 : 12, SKEWS = 20 };

/* Skews under which the device finds a fault, up to the first; SKEWS: none. */
static int first_fault(struct torture *t, const struct lx_plan *p, char *text, size_t room)
{
    for (int k = 0; k < SKEWS; k++) {
        struct lx_device_options how = {
            .verify = LX_VERIFY_NONE, .threads = 1, .skew = t->seed * SKEWS + (uint64_t)k + 1};
        lx_status st = {0};
        struct lx_run_result *r = lx_device_run(p, &how, &st);
        bool fault = r && r->fault_count > 0;
        if (fault) snprintf(text, room, "%s", r->faults[0].text);
        lx_run_result_free(r);
        if (fault) return k;
    }
    return SKEWS;
}

/* May the device find nothing: does an op deal out all tiles, or add up parts of sums, where cores meet? */
static bool may_hide(const struct lx_plan *p)
{
    bool some = false;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
        const struct lx_launch *l = p->launches[o].launch;
        some |= p->launches[o].k_slices > 1 || (l && l->mode == LX_PARTITION_GLOBAL && l->core_count > 1);
    }
    return some;
}

static void judge_without(struct torture *t, const struct lx_plan *p, int32_t sync)
{
    struct lx_plan cut = *p;
    struct lx_sync *rest = mem_alloc((size_t)p->sync_count * sizeof *rest);
    lx_status st = {0};
    char text[400] = "";
    cut.syncs = rest;
    cut.sync_count = 0;
    for (int32_t i = 0; i < p->sync_count; i++)
        if (i != sync) rest[cut.sync_count++] = p->syncs[i];
    cut.figures.sync_times -=
        p->syncs[sync].in_loop ? nest_runs(p->nests, p->nest_count, p->syncs[sync].before) : 1;
    t->count[TORTURE_QUESTIONS]++;
    t->count[TORTURE_JUDGED]++;
    if (lx_plan_check(&cut, &st))
        torture_fault(t, TORTURE_ACCEPTED, "legal without the sync before tick %d",
                      (int)p->syncs[sync].before);
    bool found = first_fault(t, &cut, text, sizeof text) < SKEWS;
    t->count[TORTURE_BEST] += found;
    if (!found && !may_hide(p))
        torture_fault(t, TORTURE_DISAGREE, "no skew shows the sync before tick %d, but %s",
                      (int)p->syncs[sync].before, st.text);
    mem_free(rest);
}

static void judge_graph(struct torture *t)
{
    static const int64_t cores[] = {2, 4, 8, 32};
    static const char *const solvers[] = {"bestfit", "greedy", "auto"};
    struct rng r = rng_seed(t->seed);
    struct random_graph_shape shape = {.ops = (int)rng_between(&r, 3, 14),
                                       .with_views = rng_below(&r, 2),
                                       .with_externs = rng_below(&r, 4) == 0,
                                       .again = rng_below(&r, 2),
                                       .with_results = rng_below(&r, 4) == 0,
                                       .cores = cores[rng_below(&r, 4)]};
    lx_status st = {0};
    char text[400] = "";
    const struct lx_graph *g = random_graph(&r, &shape, &st);
    if (!g) return;
    if (rng_below(&r, 2)) g = with_capacity(g, (int64_t)rng_between(&r, 8, 200) * 128);
    struct lx_plan_options how = {.solver = lx_solver_find(solvers[rng_below(&r, 8) ? rng_below(&r, 2) : 2]),
                                  .quick_solver = lx_solver_find("bestfit")};
    how.passes.no_ring = rng_below(&r, 4) == 0;
    how.passes.evict = rng_below(&r, 2);
    how.passes.move = rng_below(&r, 4) == 0;
    how.passes.tile = rng_below(&r, 3) == 0 ? LX_TILE_NONE : LX_TILE_AUTO;
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    if (!p) return;
    t->count[TORTURE_JUDGED]++;
    if (!lx_plan_check(p, &st)) torture_fault(t, TORTURE_REFUSED, "%s", st.text);
    if (first_fault(t, p, text, sizeof text) < SKEWS) torture_fault(t, TORTURE_FALSE, "%s", text);
    for (int32_t i = 0; i < p->sync_count; i++) judge_without(t, p, i);
    lx_plan_free(p);
}

int main(int argc, char **argv)
{
    return torture_all(argc, argv, "syncs", USUAL, judge_graph);
}
