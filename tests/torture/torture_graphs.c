/* Tiny graphs against brute force of their traffic. Evictions, orders and moves: every choice of what stays between which
 * uses, in every packing and order (support/keep_oracle.h). Nests: every run of ops, along each variable, in every number of
 * tiles, one nest or two, planned as it is forced, and the bound of the plan that searches is above none of them. Of all plans: legal,
 * never worse than without the passes. All is asked about one graph, whose plan without passes is made once. */
#include "plan/options.h"
#include "support/tiny_plan.h"
#include "torture/torture.h"

enum { USUAL = 120, MOST_OPS = 6, MOST_ORDERED = 5, EVERY_LONG = 8 };

static void judge_pass(struct torture *t, const struct lx_graph *g, const struct lx_plan *plain,
                       const char *passes)
{
    struct tiny_result r;
    if (!tiny_judge(g, plain, tiny_passes(passes), &r)) return;
    t->count[TORTURE_QUESTIONS]++;
    t->count[TORTURE_JUDGED]++;
    t->count[TORTURE_BEST] += r.plan == r.best;
    if (!r.legal) torture_fault(t, TORTURE_REFUSED, "%s: a plan that is not legal", passes);
    if (r.bound > r.best)
        torture_fault(t, TORTURE_FALSE, "%s: a bound of %" PRId64 ", but %" PRId64 " is possible", passes,
                      r.bound, r.best);
    if (r.plan > r.plain)
        torture_fault(t, TORTURE_DISAGREE, "%s: %" PRId64 " with the pass, %" PRId64 " without", passes,
                      r.plan, r.plain);
}

/* Those of which brute force ends soon: orders of few ops, and of many ops no packings. */
static void judge_passes(struct torture *t, const struct lx_graph *g, const struct lx_plan *plain)
{
    static const char *const what[] = {"move", "evict_move", "evict", "reorder", "both", "all"};
    int count = g->op_count > MOST_OPS ? 2 : g->op_count > MOST_ORDERED ? 3 : 6;
    for (int i = 0; i < count; i++) judge_pass(t, g, plain, what[i]);
}

/* What nests may not go below, and who was it. */
struct searched {
    const struct lx_graph *g;
    int64_t traffic, bound, least;
};

/* False: there is no such nest. */
static bool judge_forced(struct torture *t, struct searched *s, const char *nests)
{
    struct lx_plan_options how = {.solver = lx_solver_find("exact"),
                                  .quick_solver = lx_solver_find("greedy"),
                                  .passes = {.undivided = true}};
    lx_status st = {0};
    snprintf(how.nests, sizeof how.nests, "%s", nests);
    struct lx_plan *p = lx_plan_make(s->g, &how, &st);
    if (!p) return false;
    t->count[TORTURE_JUDGED]++;
    if (!lx_plan_check(p, &st)) torture_fault(t, TORTURE_REFUSED, "%s: %s", nests, st.text);
    if (p->figures.hbm_bytes < s->bound)
        torture_fault(t, TORTURE_FALSE, "a bound of %" PRId64 ", but %s gives %" PRId64, s->bound, nests,
                      p->figures.hbm_bytes);
    if (p->figures.hbm_bytes < s->least) s->least = p->figures.hbm_bytes;
    lx_plan_free(p);
    return true;
}

/* Rows of what an op reads: what tiles divide, as a row is one stick. */
static int64_t rows_of(const struct lx_graph *g, int op)
{
    const struct lx_tensor *t = &g->tensors[g->ops[op].inputs[0]];
    return t->rank == 2 ? t->shape[0] : 1;
}

/* Every nest of ops first to last, alone and behind `before`. */
static void each_nest(struct torture *t, struct searched *s, int first, int last, const char *before)
{
    for (int tiles = 2; tiles <= 4; tiles++) {
        char nests[LX_NESTS_TEXT], more[LX_NESTS_TEXT + 2];
        if (rows_of(s->g, first) % tiles != 0) continue;
        snprintf(nests, sizeof nests, "%s%d-%d:a/%d", before, first, last, tiles);
        if (!judge_forced(t, s, nests)) continue;
        snprintf(more, sizeof more, "%s;", nests);
        for (int k = last + 1; !*before && k + 1 < s->g->op_count; k++) each_nest(t, s, k, k + 1, more);
    }
}

static void judge_nests(struct torture *t, const struct lx_graph *g, const struct lx_plan *plain)
{
    lx_status st = {0};
    struct lx_passes on = {.undivided = true};
    struct lx_plan *p = tiny_plan(g, on, "exact");
    if (!p) return;
    struct searched s = {g, p->figures.hbm_bytes, lx_plan_least(p), p->figures.hbm_bytes};
    t->count[TORTURE_QUESTIONS]++;
    if (!lx_plan_check(p, &st)) torture_fault(t, TORTURE_REFUSED, "nests: %s", st.text);
    if (p->figures.hbm_bytes > plain->figures.hbm_bytes)
        torture_fault(t, TORTURE_DISAGREE, "%" PRId64 " with nests, %" PRId64 " without",
                      p->figures.hbm_bytes, plain->figures.hbm_bytes);
    for (int first = 0; first < g->op_count; first++)
        for (int last = first + 1; last < g->op_count; last++) each_nest(t, &s, first, last, "");
    t->count[TORTURE_BEST] += s.least == s.traffic;
    lx_plan_free(p);
}

/* One graph, its plan without passes, and all that is asked about it. */
static void one(struct torture *t)
{
    struct rng r = rng_seed(t->seed);
    struct lx_passes off = {.undivided = true, .tile = LX_TILE_NONE};
    lx_status st = {0};
    bool is_long = t->seed % EVERY_LONG == 0;
    const struct lx_graph *g = tiny_graph(&r, 3 + (int)rng_below(&r, MOST_OPS - 2), is_long, &st);
    struct lx_plan *plain = g ? tiny_plan(g, off, "exact") : NULL;
    if (plain) judge_passes(t, g, plain);
    if (plain && !is_long) judge_nests(t, g, plain);
    lx_plan_free(plain);
    lx_graph_free(g);
}

int main(int argc, char **argv)
{
    return torture_all(argc, argv, "graphs", USUAL, one);
}
