/* Tiny graphs against brute force of their traffic. Evictions, orders and moves: every choice of what stays between which
 * uses, in every packing and order (support/keep_oracle.h). Nests: every run of ops, along each variable, in every number of
 * tiles, one nest or two, planned as it is forced, and the bound of the plan that searches is above none of them. Of all plans: legal,
 * never worse than without the passes. */
#include "plan/options.h"
#include "support/tiny_plan.h"
#include "torture/torture.h"

enum { USUAL = 60, MOST_OPS = 6 };

static void judge_passes(struct torture *t)
{
    static const char *const what[] = {"evict", "reorder", "both", "move", "evict_move", "all"};
    struct tiny_result r;
    const char *passes = what[t->seed % (sizeof what / sizeof *what)];
    if (!tiny_try(t->seed, tiny_passes(passes), &r)) return;
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

/* What nests may not go below, and who was it. */
struct searched {
    const struct lx_graph *g;
    int64_t traffic, bound, least;
};

static void judge_forced(struct torture *t, struct searched *s, const char *nests)
{
    struct lx_plan_options how = {.solver = lx_solver_find("exact"),
                                  .quick_solver = lx_solver_find("greedy"),
                                  .passes = {.undivided = true}};
    lx_status st = {0};
    snprintf(how.nests, sizeof how.nests, "%s", nests);
    struct lx_plan *p = lx_plan_make(s->g, &how, &st);
    if (!p) return; /* there is no such nest */
    t->count[TORTURE_JUDGED]++;
    if (!lx_plan_check(p, &st)) torture_fault(t, TORTURE_REFUSED, "%s: %s", nests, st.text);
    if (p->figures.hbm_bytes < s->bound)
        torture_fault(t, TORTURE_FALSE, "a bound of %" PRId64 ", but %s gives %" PRId64, s->bound, nests,
                      p->figures.hbm_bytes);
    if (p->figures.hbm_bytes < s->least) s->least = p->figures.hbm_bytes;
    lx_plan_free(p);
}

/* Every nest of ops first to last, alone and behind `before`. */
static void each_nest(struct torture *t, struct searched *s, int first, int last, const char *before)
{
    for (int var = 'a'; var <= 'b'; var++)
        for (int tiles = 2; tiles <= 4; tiles++) {
            char nests[LX_NESTS_TEXT];
            snprintf(nests, sizeof nests, "%s%d-%d:%c/%d", before, first, last, var, tiles);
            judge_forced(t, s, nests);
            for (int k = last + 1; !*before && tiles == 2 && k + 1 < s->g->op_count; k++) {
                char more[LX_NESTS_TEXT + 2];
                snprintf(more, sizeof more, "%s;", nests);
                each_nest(t, s, k, k + 1, more);
            }
        }
}

static void judge_nests(struct torture *t)
{
    struct rng r = rng_seed(t->seed);
    lx_status st = {0};
    const struct lx_graph *g = tiny_graph(&r, 3 + (int)rng_below(&r, MOST_OPS - 2), false, &st);
    struct lx_passes off = {.undivided = true, .tile = LX_TILE_NONE}, on = {.undivided = true};
    struct lx_plan *plain = g ? tiny_plan(g, off, "exact") : NULL,
                   *p = plain ? tiny_plan(g, on, "exact") : NULL;
    if (p) {
        struct searched s = {g, p->figures.hbm_bytes, lx_plan_least(p), p->figures.hbm_bytes};
        t->count[TORTURE_QUESTIONS]++;
        if (!lx_plan_check(p, &st)) torture_fault(t, TORTURE_REFUSED, "nests: %s", st.text);
        if (p->figures.hbm_bytes > plain->figures.hbm_bytes)
            torture_fault(t, TORTURE_DISAGREE, "%" PRId64 " with nests, %" PRId64 " without",
                          p->figures.hbm_bytes, plain->figures.hbm_bytes);
        for (int first = 0; first < g->op_count; first++)
            for (int last = first + 1; last < g->op_count; last++) each_nest(t, &s, first, last, "");
        t->count[TORTURE_BEST] += s.least == s.traffic;
    }
    lx_plan_free(p);
    lx_plan_free(plain);
    lx_graph_free(g);
}

static void one(struct torture *t)
{
    judge_passes(t);
    judge_nests(t);
}

int main(int argc, char **argv)
{
    return torture_all(argc, argv, "graphs", USUAL, one);
}
