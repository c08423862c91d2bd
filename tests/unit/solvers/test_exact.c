/* solvers/exact: against brute force on small problems of every kind, and on larger ones against itself. */
#include "exact/exact.h"
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
static void network(struct lx_buffer *b, int64_t uses[][2], int32_t *parents, int32_t n, struct rng *r)
{
    for (int32_t i = 0; i < n; i++) {
        int64_t start = i / 2, life = rng_below(r, 10) ? rng_between(r, 2, 6) : rng_between(r, 10, n / 2);
        b[i] = (struct lx_buffer){.name = "b",
                                  .start = start,
                                  .end = start + life,
                                  .fixed = -1,
                                  .size = 128 * rng_between(r, 1, 4) * rng_between(r, 1, 4),
                                  .uses = uses[i],
                                  .use_count = 2};
        b[i].spill_cost = b[i].size * rng_between(r, 1, 4);
        uses[i][0] = b[i].start;
        uses[i][1] = b[i].end - 1;
        for (int32_t k = 0; k < i && b[i].parent_count == 0; k++)
            if (b[k].end == b[i].start + 1 && b[k].size >= b[i].size) {
                parents[i] = k;
                b[i].parents = &parents[i];
                b[i].parent_count = 1;
            }
    }
}

/* The same seed and work limit give the same answer; a tiny limit still gives a legal one. */
static void repeatable_and_anytime(void **state)
{
    (void)state;
    static struct lx_buffer b[MANY];
    static int64_t uses[MANY][2], first[MANY], second[MANY];
    static int32_t parents[MANY];
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct rng r = rng_seed(seed);
        network(b, uses, parents, MANY, &r);
        struct lx_problem p = {.objective = LX_SPILL,
                               .capacity = 128 * rng_between(&r, 10, 30),
                               .alignment = 128,
                               .count = MANY,
                               .buffers = b};
        struct lx_answer one = {.address = first}, two = {.address = second};
        for (int64_t limit = 1; limit <= 10000; limit *= 100) {
            struct lx_run run = {.seed = seed, .work_limit = limit};
            solve(&p, &run, &one);
            solve(&p, &run, &two);
            assert_int_equal(one.objective, two.objective);
            assert_int_equal(one.bound, two.bound);
            assert_int_equal(one.steps, two.steps);
            assert_memory_equal(first, second, sizeof first);
            assert_true(one.bound <= one.objective);
        }
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
    static struct lx_buffer b[MANY];
    static int64_t uses[MANY][2], address[MANY];
    static int32_t parents[MANY];
    int64_t answers = 0, seeds = SAMPLED ? 4 : 10;
    for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++) {
        struct rng r = rng_seed(seed);
        network(b, uses, parents, MANY, &r);
        struct lx_problem p = {.objective = LX_SPILL,
                               .capacity = 128 * rng_between(&r, 10, 30),
                               .alignment = 128,
                               .count = MANY,
                               .buffers = b};
        struct heard h = {.p = &p, .objective = INT64_MAX};
        struct lx_answer answer = {.address = address};
        struct lx_run run = {.seed = seed, .work_limit = 100000, .progress = hear, .context = &h};
        solve(&p, &run, &answer);
        assert_true(h.answers > 0 && h.objective == answer.objective);
        answers += h.answers;
    }
    assert_true(answers > seeds);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

static void stops_when_told(void **state)
{
    (void)state;
    static struct lx_buffer b[MANY];
    static int64_t uses[MANY][2], address[MANY];
    static int32_t parents[MANY];
    struct rng r = rng_seed(3);
    network(b, uses, parents, MANY, &r);
    struct lx_problem p = {
        .objective = LX_SPILL, .capacity = 128 * 12, .alignment = 128, .count = MANY, .buffers = b};
    struct lx_answer answer = {.address = address};
    struct lx_run run = {.seed = 1, .stop = stop_at_once};
    solve(&p, &run, &answer);
    assert_true(answer.objective > 0 && answer.bound <= answer.objective);
}

/* More room never costs more; both answers are proved. */
static void monotone_in_capacity(void **state)
{
    (void)state;
    static struct lx_buffer b[MANY];
    static int64_t uses[MANY][2], address[MANY];
    static int32_t parents[MANY];
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct rng r = rng_seed(seed);
        network(b, uses, parents, 60, &r);
        int64_t before = INT64_MAX;
        for (int64_t units = 8; units <= 40; units += 8) {
            struct lx_problem p = {
                .objective = LX_SPILL, .capacity = 128 * units, .alignment = 128, .count = 60, .buffers = b};
            struct lx_answer answer = {.address = address};
            solve(&p, &(struct lx_run){.seed = seed}, &answer);
            assert_true(answer.bound <= before);
            before = answer.objective;
        }
    }
}

static void nothing_and_nearly_nothing(void **state)
{
    (void)state;
    int64_t address[2];
    struct lx_answer answer = {.address = address};
    struct lx_buffer b[2] = {{.name = "a", .end = 1, .fixed = -1, .size = 0, .spill_cost = 5},
                             {.name = "b", .end = 1, .fixed = -1, .size = 1, .spill_cost = 7}};
    struct lx_problem p = {.objective = LX_SPILL, .capacity = 0, .alignment = 1, .count = 0, .buffers = b};
    solve(&p, &(struct lx_run){0}, &answer);
    assert_int_equal(answer.status, LX_OPTIMAL);
    p.count = 2;
    solve(&p, &(struct lx_run){0}, &answer);
    assert_int_equal(answer.status, LX_OPTIMAL);
    assert_int_equal(answer.objective, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spill_equals_brute_force),  cmocka_unit_test(fit_equals_brute_force),
        cmocka_unit_test(height_equals_brute_force), cmocka_unit_test(repeatable_and_anytime),
        cmocka_unit_test(stops_when_told),           cmocka_unit_test(tells_what_it_finds),
        cmocka_unit_test(monotone_in_capacity),      cmocka_unit_test(nothing_and_nearly_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
