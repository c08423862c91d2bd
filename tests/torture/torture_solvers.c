/* Solvers against each other on problems that are too large for brute force: up to 12 buffers with everything mixed, and
 * lists, most of them of up to 20 buffers and with few steps, so that many are asked, some of up to 60. `ilp`, which takes longer than all
 * others together, is asked about some. Every answer passes the checker; none is below anybody's bound; what one calls optimal nobody beats;
 * what one calls infeasible nobody solves. The same solver, asked again, gives the same. */
#include "support/random_problem.h"
#include "support/random_v2.h"
#include "torture/torture.h"
#include "support/sampled.h"

enum {
    USUAL = SAMPLED ? 600 : 1500,
    MOST_SOLVERS = 16,
    MOST_LIST = 60,
    USUAL_LIST = 20,
    STEPS = 2000,
    FEW_STEPS = 60
};

/* Of so many seeds one has a long list and many steps; one asks `ilp`; one asks twice. */
enum { EVERY_LONG = 256, EVERY_SLOW = 64, EVERY_TWICE = 9 };

struct opinion {
    const char *who;
    enum lx_verdict status;
    bool legal;
    int64_t value, bound;
};

static struct {
    struct v2_problem v;
    struct arena memory;
    struct lx_problem list;
    const struct lx_problem *p;
    struct opinion said[MOST_SOLVERS];
    int count;
} now;

static bool is_long(uint64_t seed)
{
    return seed % EVERY_LONG < 2; /* a list, and one with everything mixed */
}

static void make(uint64_t seed)
{
    static const int64_t alignments[] = {1, 1, 2, 3, 32, 48};
    struct rng r = rng_seed(seed);
    if (seed % 2) {
        random_v2(&now.v, &r, V2_MOST);
        now.p = &now.v.p;
        return;
    }
    struct problem_shape shape = {.count =
                                      (int32_t)rng_between(&r, 8, is_long(seed) ? MOST_LIST : USUAL_LIST),
                                  .ticks = rng_between(&r, 4, 40),
                                  .size_units = rng_between(&r, 2, 12),
                                  .capacity_units = rng_between(&r, 4, 40),
                                  .alignment = alignments[rng_below(&r, 6)],
                                  .fixed_percent = random_chance(&r, 30) ? 10 : 0,
                                  .barred_percent = random_chance(&r, 30) ? 10 : 0};
    now.list = random_problem(&r, &shape, (enum lx_objective)rng_below(&r, 3), &now.memory);
    now.p = &now.list;
}

static void hear(struct torture *t, const struct lx_solver *s)
{
    int64_t address[2][MOST_LIST];
    int32_t pool[2][MOST_LIST];
    struct lx_answer a[2] = {{.address = address[0], .pool = pool[0]},
                             {.address = address[1], .pool = pool[1]}};
    struct lx_run run = {.seed = t->seed, .work_limit = is_long(t->seed) ? STEPS : FEW_STEPS};
    struct opinion *o = &now.said[now.count];
    enum lx_rule rule;
    lx_status st = {0}, why = {0};
    bool again = t->seed % EVERY_TWICE == 0;
    for (int i = 0; i <= again; i++)
        if (!lx_problem_solve(now.p, s, &run, &a[i], &st)) {
            if (st.code != LX_E_USAGE) torture_fault(t, TORTURE_REFUSED, "%s: %s", s->name, st.text);
            return;
        }
    if (again && memcmp(address[0], address[1], sizeof **address * (size_t)now.p->count) != 0)
        torture_fault(t, TORTURE_DISAGREE, "%s: another answer the second time", s->name);
    *o = (struct opinion){.who = s->name, .status = a[0].status, .bound = a[0].bound};
    o->legal = lx_check_places(now.p, a[0].pool, a[0].address, &o->value, &rule, &why);
    now.count++;
    t->count[TORTURE_JUDGED]++;
    bool none = a[0].status == LX_LIMIT || a[0].status == LX_INFEASIBLE;
    if (!o->legal && !none) torture_fault(t, TORTURE_REFUSED, "%s: %s", s->name, why.text);
}

static bool is_slow(const struct lx_solver *s)
{
    return strcmp(s->name, "ilp") == 0;
}

/* Of all pairs: what one has proved, and what the other has found. */
static void contradict(struct torture *t, const struct opinion *proof, const struct opinion *found)
{
    if (!found->legal) return;
    if (proof->status == LX_INFEASIBLE)
        torture_fault(t, TORTURE_FALSE, "%s: infeasible, but %s has %" PRId64, proof->who, found->who,
                      found->value);
    else if (now.p->objective != LX_FIT && proof->bound > found->value)
        torture_fault(t, TORTURE_FALSE, "%s: a bound of %" PRId64 ", but %s has %" PRId64, proof->who,
                      proof->bound, found->who, found->value);
    else if (proof->status == LX_OPTIMAL && proof->legal && proof->value > found->value)
        torture_fault(t, TORTURE_FALSE, "%s: %" PRId64 " is called optimal, but %s has %" PRId64, proof->who,
                      proof->value, found->who, found->value);
}

static void one(struct torture *t)
{
    int64_t bound = 0, least = INT64_MAX;
    lx_status st = {0};
    now.count = 0;
    make(t->seed);
    if (lx_problem_validate(now.p, &st)) {
        t->count[TORTURE_QUESTIONS]++;
        for (const struct lx_solver *const *s = lx_solvers(); *s; s++)
            if (!is_slow(*s) || t->seed / 2 % EVERY_SLOW == 0) hear(t, *s);
        bound = lx_bound(now.p);
        now.said[now.count++] = (struct opinion){
            .who = "lx_bound", .status = bound == INT64_MAX ? LX_INFEASIBLE : LX_FEASIBLE, .bound = bound};
    }
    for (int i = 0; i < now.count; i++)
        for (int k = 0; k < now.count; k++) contradict(t, &now.said[i], &now.said[k]);
    for (int i = 0; i < now.count; i++)
        if (now.said[i].legal && now.said[i].value < least) least = now.said[i].value;
    for (int i = 0; i < now.count; i++)
        t->count[TORTURE_BEST] += now.said[i].legal && now.said[i].value == least;
    arena_free(&now.memory);
    now.memory = (struct arena){0};
}

int main(int argc, char **argv)
{
    return torture_all(argc, argv, "solvers", USUAL, one);
}
