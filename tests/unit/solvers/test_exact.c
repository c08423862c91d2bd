/* solvers/exact: against brute force on small problems of every kind, and on larger ones against itself. */
#include "exact/exact.h"
#include "support/problem_builder.h"
#include "support/small_problem.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static void solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    lx_status st;
    if (!lx_problem_solve(p, &lx_solver_exact, run, answer, &st)) fail_msg("%s", st.text);
    if (answer->status == LX_ERROR) fail_msg("%s", answer->message);
}

static void spill_equals_brute_force(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= OFTEN(20000); seed++) {
        struct rng r = rng_seed(seed);
        struct small s;
        int64_t address[SMALL_MAX];
        struct lx_answer answer = {.address = address};
        small_random(&s, &r, (int32_t)rng_between(&r, 1, seed % 20 ? 7 : 8), LX_SPILL);
        solve(&s.problem, &(struct lx_run){.seed = seed}, &answer);
        int64_t optimum = small_optimum(&s.problem);
        if (answer.status != LX_OPTIMAL || answer.objective != optimum)
            fail_msg("seed %llu: %s %lld, brute force %lld", (unsigned long long)seed,
                     lx_verdict_word(answer.status), (long long)answer.objective, (long long)optimum);
    }
}

static void fit_equals_brute_force(void **state)
{
    (void)state;
    int fits = 0;
    for (uint64_t seed = 1; seed <= OFTEN(10000); seed++) {
        struct rng r = rng_seed(seed);
        struct small s;
        int64_t address[SMALL_MAX];
        struct lx_answer answer = {.address = address};
        small_random(&s, &r, (int32_t)rng_between(&r, 1, 7), LX_FIT);
        solve(&s.problem, &(struct lx_run){.seed = seed}, &answer);
        bool fit = small_optimum(&s.problem) == 0;
        if (answer.status != (fit ? LX_OPTIMAL : LX_INFEASIBLE))
            fail_msg("seed %llu: %s, brute force %s", (unsigned long long)seed,
                     lx_verdict_word(answer.status), fit ? "fits" : "does not fit");
        fits += fit;
    }
    assert_in_range(fits, OFTEN(10000) / 10 * 3, OFTEN(10000) / 10 * 7);
}

static void height_equals_brute_force(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= OFTEN(2000); seed++) {
        struct rng r = rng_seed(seed);
        struct small s;
        int64_t address[SMALL_MAX];
        struct lx_answer answer = {.address = address};
        small_random(&s, &r, (int32_t)rng_between(&r, 1, 5), LX_HEIGHT);
        int64_t optimum = small_optimum(&s.problem);
        if (optimum == INT64_MAX) continue; /* fixed addresses collide */
        solve(&s.problem, &(struct lx_run){.seed = seed}, &answer);
        if (answer.status != LX_OPTIMAL || answer.objective != optimum)
            fail_msg("seed %llu: %s %lld, brute force %lld", (unsigned long long)seed,
                     lx_verdict_word(answer.status), (long long)answer.objective, (long long)optimum);
    }
}

enum { MANY = 120 };

/* Tensors of a network: short lives, a few long ones, sizes of few kinds, chains of handovers. */
static struct problem_builder network(struct rng *r, int32_t n)
{
    struct problem_builder list = problem_begin(LX_SPILL, 0, 128);
    for (int32_t i = 0; i < n; i++) {
        int64_t start = i / 2, life = rng_below(r, 10) ? rng_between(r, 2, 6) : rng_between(r, 10, n / 2);
        int64_t size = 128 * rng_between(r, 1, 4) * rng_between(r, 1, 4);
        const struct lx_buffer *b =
            problem_add(&list, size, start, start + life, size * rng_between(r, 1, 4));
        problem_uses(&list, i, start, start + life - 1);
        for (int32_t k = 0; k < i && b->parent_count == 0; k++)
            if (list.buffers[k].end == start + 1 && list.buffers[k].size >= size) problem_parent(&list, i, k);
    }
    list.problem.capacity = 128 * rng_between(r, 10, 30);
    return list;
}

/* The same seed and work limit give the same answer; a tiny limit still gives a legal one. */
static void repeatable_and_anytime(void **state)
{
    (void)state;
    static int64_t first[MANY], second[MANY];
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct rng r = rng_seed(seed);
        struct problem_builder list = network(&r, MANY);
        struct lx_answer one = {.address = first}, two = {.address = second};
        for (int64_t limit = 1; limit <= 10000; limit *= 100) {
            struct lx_run run = {.seed = seed, .work_limit = limit};
            solve(&list.problem, &run, &one);
            solve(&list.problem, &run, &two);
            assert_int_equal(one.objective, two.objective);
            assert_int_equal(one.bound, two.bound);
            assert_int_equal(one.steps, two.steps);
            assert_memory_equal(first, second, sizeof first);
            assert_true(one.bound <= one.objective);
        }
        problem_end(&list);
    }
}

struct heard {
    const struct lx_problem *p;
    int64_t objective, bound, answers;
};

/* What is told on the way is legal, worth what it says, and gets better. */
static void hear(void *context, const struct lx_progress *so_far)
{
    struct heard *h = context;
    assert_true(so_far->bound <= so_far->objective && so_far->objective <= h->objective);
    if (so_far->address) {
        int64_t value;
        lx_status st;
        if (!lx_problem_check(h->p, so_far->address, &value, &st)) fail_msg("%s", st.text);
        assert_int_equal(value, so_far->objective);
        h->answers++;
    }
    h->objective = so_far->objective;
    h->bound = so_far->bound;
}

static void tells_what_it_finds(void **state)
{
    (void)state;
    static int64_t address[MANY];
    int64_t answers = 0, seeds = SAMPLED ? 4 : 10;
    for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++) {
        struct rng r = rng_seed(seed);
        struct problem_builder list = network(&r, MANY);
        struct heard h = {.p = &list.problem, .objective = INT64_MAX};
        struct lx_answer answer = {.address = address};
        struct lx_run run = {.seed = seed, .work_limit = 100000, .progress = hear, .context = &h};
        solve(&list.problem, &run, &answer);
        assert_true(h.answers > 0 && h.objective == answer.objective);
        answers += h.answers;
        problem_end(&list);
    }
    assert_true(answers > seeds);
}

/* Few of the buffers fit at once: the sweep over time proves in thousands of steps what branching does not in
 * a hundred thousand. */
static void large_buffers_are_proved(void **state)
{
    (void)state;
    enum { BUFFERS = 250, STEPS = 50000 };
    static int64_t address[BUFFERS];
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct rng r = rng_seed(seed);
        static struct lx_buffer buffers[BUFFERS];
        for (int32_t i = 0; i < BUFFERS; i++) {
            int64_t start = rng_between(&r, 0, 89), size = rng_between(&r, 20, 150);
            buffers[i] = (struct lx_buffer){.name = "b",
                                            .start = start,
                                            .end = start + rng_between(&r, 1, 8),
                                            .size = size,
                                            .spill_cost = size * rng_between(&r, 1, 7),
                                            .fixed = -1};
        }
        struct lx_problem p = {.capacity = 200, .alignment = 1, .count = BUFFERS, .buffers = buffers};
        struct lx_answer answer = {.address = address};
        solve(&p, &(struct lx_run){.work_limit = STEPS}, &answer);
        assert_int_equal(answer.status, LX_OPTIMAL);
    }
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

static void stops_when_told(void **state)
{
    (void)state;
    static int64_t address[MANY];
    struct rng r = rng_seed(3);
    struct problem_builder list = network(&r, MANY);
    list.problem.capacity = 128 * 12;
    struct lx_answer answer = {.address = address};
    struct lx_run run = {.seed = 1, .stop = stop_at_once};
    solve(&list.problem, &run, &answer);
    assert_true(answer.objective > 0 && answer.bound <= answer.objective);
    problem_end(&list);
}

/* More room never costs more; both answers are proved. */
static void monotone_in_capacity(void **state)
{
    (void)state;
    static int64_t address[MANY];
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct rng r = rng_seed(seed);
        struct problem_builder list = network(&r, 60);
        int64_t before = INT64_MAX;
        for (int64_t units = 8; units <= 40; units += 8) {
            struct lx_answer answer = {.address = address};
            list.problem.capacity = 128 * units;
            solve(&list.problem, &(struct lx_run){.seed = seed}, &answer);
            assert_true(answer.bound <= before);
            before = answer.objective;
        }
        problem_end(&list);
    }
}

static void nothing_and_nearly_nothing(void **state)
{
    (void)state;
    int64_t address[2];
    struct lx_answer answer = {.address = address};
    struct problem_builder list = problem_begin(LX_SPILL, 0, 1);
    solve(&list.problem, &(struct lx_run){0}, &answer);
    assert_int_equal(answer.status, LX_OPTIMAL);
    problem_add(&list, 0, 0, 1, 5);
    problem_add(&list, 1, 0, 1, 7);
    solve(&list.problem, &(struct lx_run){0}, &answer);
    assert_int_equal(answer.status, LX_OPTIMAL);
    assert_int_equal(answer.objective, 7);
    problem_end(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spill_equals_brute_force),   cmocka_unit_test(fit_equals_brute_force),
        cmocka_unit_test(height_equals_brute_force),  cmocka_unit_test(repeatable_and_anytime),
        cmocka_unit_test(large_buffers_are_proved),   cmocka_unit_test(stops_when_told),
        cmocka_unit_test(tells_what_it_finds),        cmocka_unit_test(monotone_in_capacity),
        cmocka_unit_test(nothing_and_nearly_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
