/* Random small placement problems, every solver and the bound against brute force.
 *
 * Problems of up to 7 buffers with everything mixed that one may ask for (support/random_v2.h), and lists with alignments
 * that do not divide each other, fixed and barred buffers, in-place chains (support/small_problem.h), about cost, fit and height.
 * Every answer must pass the checker and be no better than the optimum by enumeration; what is claimed optimal or infeasible
 * must be; neither the solver's bound nor lx_bound is above the optimum. */
#include "support/random_v2.h"
#include "support/small_problem.h"
#include "support/v2_oracle.h"
#include "torture/torture.h"
#include "support/sampled.h"

enum {
    USUAL = SAMPLED ? 800 : 2000,
    MOST_BUFFERS = 7,
    MOST_TRIES = 300000,
    STEPS = 3000,
    SHARE_OF_LISTS = 3
};

static struct {
    struct oracle oracle;
    struct v2_problem v;
    struct small list;
    const struct lx_problem *p;
} now;

static void judge_bound(struct torture *t, const char *who, int64_t bound)
{
    const struct oracle *o = &now.oracle;
    if (!o->found) return;
    if (now.p->objective == LX_FIT ? bound == INT64_MAX : bound > o->best)
        torture_fault(t, TORTURE_FALSE, "%s: a bound of %" PRId64 ", but the optimum is %" PRId64, who, bound,
                      o->best);
}

static void judge(struct torture *t, const char *who, const struct lx_answer *a)
{
    const struct oracle *o = &now.oracle;
    int64_t value = 0;
    enum lx_rule rule;
    lx_status why = {0};
    bool legal = lx_check_places(now.p, a->pool, a->address, &value, &rule, &why);
    t->count[TORTURE_JUDGED]++;
    if (a->status == LX_ERROR) torture_fault(t, TORTURE_REFUSED, "%s: %s", who, a->message);
    if (a->status == LX_INFEASIBLE) {
        if (o->found) torture_fault(t, TORTURE_FALSE, "%s: infeasible, but %" PRId64 " exists", who, o->best);
        return;
    }
    judge_bound(t, who, a->bound);
    if (!legal && a->status != LX_LIMIT && a->status != LX_ERROR)
        torture_fault(t, TORTURE_REFUSED, "%s: %s", who, why.text);
    if (!legal) return;
    if (now.p->objective != LX_FIT && a->objective != value)
        torture_fault(t, TORTURE_REFUSED, "%s: said to be %" PRId64 ", is %" PRId64, who, a->objective,
                      value);
    if (!o->found || value < o->best)
        torture_fault(t, TORTURE_DISAGREE, "%s: %" PRId64 " is better than the optimum %" PRId64, who, value,
                      o->best);
    if (a->status == LX_OPTIMAL && value != o->best)
        torture_fault(t, TORTURE_FALSE, "%s: %" PRId64 " is called optimal, %" PRId64 " exists", who, value,
                      o->best);
    t->count[TORTURE_BEST] += value == o->best;
}

static void ask(struct torture *t, const struct lx_solver *s)
{
    int64_t address[V2_MOST];
    int32_t pool[V2_MOST];
    struct lx_answer a = {.address = address, .pool = pool};
    struct lx_run run = {.seed = t->seed, .work_limit = STEPS};
    lx_status st = {0};
    if (lx_problem_solve(now.p, s, &run, &a, &st))
        judge(t, s->name, &a);
    else if (st.code != LX_E_USAGE) /* which says that it does not take such problems */
        torture_fault(t, TORTURE_REFUSED, "%s: %s", s->name, st.text);
}

static void make(uint64_t seed)
{
    struct rng r = rng_seed(seed);
    if (seed % SHARE_OF_LISTS == 0) {
        small_random(&now.list, &r, 1 + (int32_t)rng_below(&r, MOST_BUFFERS),
                     (enum lx_objective)rng_below(&r, 3));
        now.p = &now.list.problem;
    } else {
        random_v2(&now.v, &r, MOST_BUFFERS);
        now.p = &now.v.p;
    }
}

static void one(struct torture *t)
{
    lx_status st = {0};
    make(t->seed);
    if (!lx_problem_validate(now.p, &st) || !oracle_solve(&now.oracle, now.p, MOST_TRIES)) return;
    t->count[TORTURE_QUESTIONS]++;
    judge_bound(t, "lx_bound", lx_bound(now.p));
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++) ask(t, *s);
}

int main(int argc, char **argv)
{
    return torture_all(argc, argv, "problems", USUAL, one);
}
