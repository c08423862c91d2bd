/* Answers damaged at random, two checkers: the library's, and the words of the specification as support/v2_oracle.h has
 * them, which shares nothing with it. Both say the same of every answer, and of a legal one the same value.
 *
 * Of each problem the best answer by enumeration, answers of a solver, and both with addresses, pools and whole buffers
 * changed: moved by little, moved far, put on one another, taken off, put on. */
#include "support/random_v2.h"
#include "support/v2_oracle.h"
#include "torture/torture.h"

enum { USUAL = 3000, MOST_BUFFERS = 9, MOST_TRIES = 20000, EACH = 40 };

static struct {
    struct oracle oracle;
    struct v2_problem v;
    int64_t address[V2_MOST], good[V2_MOST];
    int32_t pool[V2_MOST], good_pool[V2_MOST];
} now;

static void compare(struct torture *t)
{
    const struct lx_problem *p = &now.v.p;
    int64_t value = 0, said = 0;
    enum lx_rule rule;
    lx_status why = {0};
    bool legal = lx_check_places(p, now.pool, now.address, &value, &rule, &why);
    bool agreed = oracle_judges(&now.oracle, p, now.pool, now.address, &said);
    t->count[TORTURE_JUDGED]++;
    t->count[TORTURE_BEST] += legal;
    if (legal != agreed)
        torture_fault(t, TORTURE_DISAGREE, "the library says %s (%s), the specification the opposite",
                      legal ? "legal" : "not legal", why.text);
    else if (legal && value != said)
        torture_fault(t, TORTURE_DISAGREE, "worth %" PRId64 " or %" PRId64, value, said);
}

static void damage(struct rng *r)
{
    const struct lx_problem *p = &now.v.p;
    int32_t i = v2_any(r, &now.v), k = v2_any(r, &now.v);
    int64_t *at = &now.address[i];
    switch (rng_below(r, 8)) {
    case 0: *at = *at < 0 ? 0 : -1; break;
    case 1: *at = now.address[k]; break;
    case 2: now.pool[i] = (int32_t)rng_below(r, (uint64_t)p->pool_count); break;
    case 3: *at = rng_between(r, 0, 12); break;
    case 4: *at = *at < 0 ? rng_between(r, 0, 5) : *at + rng_between(r, 0, 1) * 2 - 1; break;
    case 5: *at = INT64_C(1) << rng_between(r, 3, 50); break;
    case 6: now.pool[i] = now.pool[k], *at = now.address[k]; break;
    default: *at = *at < 0 ? rng_between(r, 0, 3) : *at ^ 1; break;
    }
    if (*at < -1) *at = -1;
}

static void use_good(void)
{
    memcpy(now.address, now.good, sizeof now.good);
    memcpy(now.pool, now.good_pool, sizeof now.good_pool);
}

/* The best one where enumeration ends soon, else a solver's. */
static void make_good(uint64_t seed)
{
    struct lx_answer a = {.address = now.good, .pool = now.good_pool};
    struct lx_run run = {.seed = seed, .work_limit = 200};
    lx_status st = {0};
    for (int i = 0; i < V2_MOST; i++) now.good[i] = -1, now.good_pool[i] = 0;
    if (oracle_solve(&now.oracle, &now.v.p, MOST_TRIES) && now.oracle.found) {
        memcpy(now.good, now.oracle.best_address, sizeof now.good);
        memcpy(now.good_pool, now.oracle.best_pool, sizeof now.good_pool);
    } else if (!lx_problem_solve(&now.v.p, lx_solver_find("greedy"), &run, &a, &st)) {
        for (int i = 0; i < V2_MOST; i++) now.good[i] = -1;
    }
}

static void one(struct torture *t)
{
    struct rng r = rng_seed(t->seed);
    lx_status st = {0};
    random_v2(&now.v, &r, MOST_BUFFERS);
    if (!lx_problem_validate(&now.v.p, &st)) return;
    t->count[TORTURE_QUESTIONS]++;
    make_good(t->seed);
    use_good();
    compare(t);
    for (int i = 0; i < EACH; i++) {
        if (i % 4 == 0) use_good();
        damage(&r);
        compare(t);
    }
}

int main(int argc, char **argv)
{
    return torture_all(argc, argv, "answers", USUAL, one);
}
