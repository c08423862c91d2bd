/* exact on lists of a few large buffers among hundreds of small ones (solvers/exact/levels.c, strip.c): answers are legal, the same each
 * time, not below their bound and not worse than those of the heuristics. */
#include "unstable.h"
#include "base/rng.h"
#include "support/problem_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { COUNT = 240, TICKS = 80 };

/* One in `rare` is large; lives are short but for some. */
static void draw(struct rng *r, int rare, int64_t large, int64_t small, struct problem_builder *list)
{
    for (int32_t i = 0; i < COUNT; i++) {
        int64_t start = (int64_t)rng_below(r, TICKS - 2),
                life = rng_between(r, 1, rng_below(r, 8) ? TICKS / 8 : TICKS / 2),
                end = start + life < TICKS ? start + life + 1 : TICKS;
        bool is_large = rng_below(r, (uint64_t)rare) == 0;
        int64_t size = is_large ? rng_between(r, large / 3, large) : rng_between(r, 1, small);
        problem_add(list, size, start, end, size * rng_between(r, 1, 5));
        problem_uses(list, i, start, end - 1);
    }
}

/* With fit_nodes = `nodes` (0: as usual). */
static void solve(const struct lx_problem *p, const char *name, int64_t limit, const char *nodes,
                  struct lx_answer *answer)
{
    const struct lx_solver *solver = lx_solver_find(name);
    int64_t values[16];
    lx_status st = {0};
    struct lx_run run = {.seed = 1, .work_limit = limit, .options = nodes ? values : NULL};
    lx_values_default(solver->options, solver->option_count, values);
    if (nodes)
        assert_true(
            lx_values_set(name, solver->options, solver->option_count, "fit_nodes", nodes, values, &st));
    if (!lx_problem_solve(p, solver, &run, answer, &st)) fail_msg("%s: %s", name, st.text);
    if (answer->status == LX_ERROR || answer->status == LX_INFEASIBLE)
        fail_msg("%s: %s", name, lx_verdict_word(answer->status));
}

static void try_list(uint64_t seed, int rare, int64_t large, int64_t small, int64_t capacity,
                     const char *nodes)
{
    static int64_t first[COUNT], second[COUNT], other[COUNT];
    struct lx_answer one = {.address = first}, two = {.address = second}, quick = {.address = other};
    struct rng r = rng_seed(seed);
    struct problem_builder list = problem_begin(LX_SPILL, capacity, 1);
    draw(&r, rare, large, small, &list);
    solve(&list.problem, "exact", 3000, nodes, &one);
    solve(&list.problem, "exact", 3000, nodes, &two);
    solve(&list.problem, "greedy", 0, NULL, &quick);
    assert_int_equal(one.objective, two.objective);
    assert_memory_equal(first, second, sizeof first);
    assert_true(one.bound <= one.objective && one.objective <= quick.objective);
    problem_end(&list);
}

/* Where the whole choice cannot be packed soon, the large ones are, and the small ones fill what they leave. */
static void large_ones_first(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1; seed++) try_list(seed, 4, 400000, 900, 1000000, "20");
}

/* All small ones together are a thousandth of the memory. */
static void a_strip_of_small_ones(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1; seed++) try_list(seed, 3, 40000000, 900, 100000000, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_ones_first),
                                       cmocka_unit_test(a_strip_of_small_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
