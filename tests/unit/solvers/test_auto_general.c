/* Auto against every solver by itself on lists of the second version: pools, lives, pairs, staging, linked costs; small ones
 * of every kind, and large ones of many parts or of one; with and without limits of work. */
#include "unstable.h"
#include "support/problem_builder.h"
#include "support/random_v2.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST = 1600 };

static int64_t address[MOST];
static int32_t pool[MOST];

/* What an answer is worth, no answer being worse than any; for fit how many are left out. */
static int64_t worth(const struct lx_problem *p, const struct lx_solver *solver, int64_t work,
                     struct lx_answer *a)
{
    struct lx_run run = {.seed = 2, .work_limit = work};
    int64_t left = 0;
    lx_status st;
    *a = (struct lx_answer){.address = address, .pool = pool};
    if (!lx_problem_solve(p, solver, &run, a, &st)) fail_msg("%s: %s", solver->name, st.text);
    if (a->status == LX_INFEASIBLE || a->status == LX_ERROR) return INT64_MAX;
    if (p->objective != LX_FIT) return a->objective;
    for (int32_t i = 0; i < p->count; i++) left += address[i] < 0 && !p->buffers[i].reason;
    return a->status == LX_LIMIT ? left + 1 : 0;
}

static void never_worse(const struct lx_problem *p, int64_t work, int round)
{
    const struct lx_solver *of_auto = lx_solver_find("auto");
    struct lx_answer mine, theirs;
    int64_t best = worth(p, of_auto, work, &mine);
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
        if (*s == of_auto || (lx_problem_needs(p) & ~(*s)->caps)) continue;
        int64_t other = worth(p, *s, work, &theirs);
        if (p->objective == LX_FIT && best && other) continue; /* neither fits */
        if (best > other || (mine.status == LX_INFEASIBLE && other < INT64_MAX))
            fail_msg("round %d: auto %lld, %s %lld", round, (long long)best, (*s)->name, (long long)other);
        assert_true(mine.status == LX_INFEASIBLE || other == INT64_MAX || p->objective == LX_FIT ||
                    mine.bound <= other);
    }
}

static void test_everything(void **state)
{
    (void)state;
    static const int64_t limits[] = {0, 3, 40, 1000};
    struct rng rng = rng_seed(74);
    for (int round = 0; round < OFTEN(2000); round++) {
        struct v2_problem v;
        lx_status st;
        random_v2(&v, &rng, V2_MOST);
        if (lx_problem_validate(&v.p, &st)) never_worse(&v.p, limits[round % 4], round);
    }
}

/* `count` buffers in stretches of `together`, each of eight ticks for every six of them. */
static struct problem_builder large(struct rng *r, int32_t count, int32_t together)
{
    static const struct lx_pool pools[] = {{.name = "near", .capacity = 11}, {.name = "far", .capacity = 9}};
    struct problem_builder list = problem_begin(LX_SPILL, 20, 1);
    struct lx_bonds *bonds = &list.problem.bonds;
    struct lx_pair *apart = arena_array(&list.memory, (size_t)count, sizeof *apart),
                   *staging = arena_array(&list.memory, (size_t)count, sizeof *staging);
    list.problem.pools = pools;
    list.problem.pool_count = 2;
    bonds->apart = apart;
    bonds->staging = staging;
    int64_t span = 4 + together * 4 / 3;
    for (int32_t i = 0; i < count; i++) {
        int64_t start = i / together * (span + 12) + rng_between(r, 0, span - 1),
                end = start + rng_between(r, 1, 4);
        bool two = v2_chance(r, 20);
        struct lx_life lives[] = {{start, end}, {end + 1, end + rng_between(r, 2, 6)}};
        int64_t costs[] = {0, rng_between(r, 0, 6)}, size = rng_between(r, 1, 8);
        struct lx_buffer *b =
            problem_add(&list, size, start, two ? lives[1].end : end, rng_between(r, 1, 60));
        b->on_costs = arena_copy_array(&list.memory, costs, 2, sizeof *costs);
        b->pool_count = 2;
        if (two) b->lives = arena_copy_array(&list.memory, lives, 2, sizeof *lives), b->life_count = 2;
        if (i % together == 5) apart[bonds->apart_count++] = (struct lx_pair){i - 3, i};
        if (i % together != 7) continue;
        staging[bonds->staging_count++] = (struct lx_pair){i, i - 1};
        b->spill_cost = 0;
        b->size = 1;
    }
    return list;
}

/* More buffers than exact search is given at once, in parts that it settles; and parts that it does not. */
static void test_large(void **state)
{
    (void)state;
    static const struct {
        int32_t count, together;
        int64_t work;
    } cases[] = {{60, 60, 0},         {300, 20, 0},  {1600, 8, 0},
                 {1400, 1400, 20000}, {60, 60, 100}, {300, 20, 5000}};
    struct rng rng = rng_seed(75);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct problem_builder list = large(&rng, cases[k].count, cases[k].together);
        never_worse(&list.problem, cases[k].work, (int)k);
        problem_end(&list);
    }
}

/* A limit of steps is a limit: no part goes on for a multiple of it. */
static void test_limits_hold(void **state)
{
    (void)state;
    struct rng rng = rng_seed(76);
    struct problem_builder list = large(&rng, 400, 400);
    for (int64_t work = 2000; work <= 200000; work *= 10) {
        struct lx_answer a;
        worth(&list.problem, lx_solver_find("exact"), work, &a);
        if (a.steps > 3 * work + 20000) fail_msg("%lld steps for %lld", (long long)a.steps, (long long)work);
    }
    problem_end(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
