/* Linked costs in the provers: linked costs, groups, musts and costs of being placed, against brute force. */
#include "exact/exact.h"
#include "solvers.h"
#include "support/linked_problem.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static void call(const struct lx_solver *solver, const struct lx_problem *p, uint64_t seed,
                 struct lx_answer *answer)
{
    for (int32_t i = 0; i < p->count; i++) answer->address[i] = LX_OFF_CHIP;
    assert_true(solver->solve(p, &(struct lx_run){.seed = seed}, answer));
}

/* No two that are placed and alive together share bytes, but for handovers. */
static bool is_packed(const struct lx_problem *p, const int64_t *address)
{
    struct brute t = {.p = p};
    memcpy(t.address, address, (size_t)p->count * sizeof *address);
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (address[i] < 0) continue;
        if (b->reason || address[i] + b->size > p->capacity || address[i] % lx_alignment_of(p, b))
            return false;
        if (b->fixed >= 0 && b->fixed != address[i]) return false;
        for (int32_t k = 0; k < i; k++)
            if (brute_clash(&t, i, k)) return false;
    }
    return true;
}

/* Where everything fits and nothing is linked, the claim is left to the caller's bound. */
static bool is_done(const struct lx_problem *p, const struct lx_answer *answer)
{
    return answer->status == LX_OPTIMAL || (answer->status == LX_FEASIBLE && lx_problem_needs(p) == 0);
}

static void compare(const struct lx_solver *solver, uint64_t from, uint64_t to, int32_t most)
{
    int none = 0;
    for (uint64_t seed = from; seed <= to; seed++) {
        struct rng r = rng_seed(seed);
        struct linked l;
        int64_t address[SMALL_MAX];
        struct lx_answer answer = {.address = address};
        linked_random(&l, &r, (int32_t)rng_between(&r, 1, most));
        const struct lx_problem *p = &l.small.problem;
        call(solver, p, seed, &answer);
        int64_t optimum = linked_optimum(p), value = linked_value(p, address);
        bool right = optimum == INT64_MAX ? answer.status == LX_INFEASIBLE
                                          : is_done(p, &answer) && value == optimum &&
                                                answer.bound <= optimum && is_packed(p, address);
        if (!right)
            fail_msg("seed %llu: %s %lld, bound %lld, brute force %lld", (unsigned long long)seed,
                     lx_verdict_word(answer.status), (long long)value, (long long)answer.bound,
                     (long long)optimum);
        none += optimum == INT64_MAX;
    }
    assert_in_range(none, (to - from) / 100, (to - from) / 3);
}

static void exact_equals_brute_force(void **state)
{
    (void)state;
    compare(&lx_solver_exact, 1, OFTEN(12000), 6);
}

static void ilp_equals_brute_force(void **state)
{
    (void)state;
    compare(&lx_solver_ilp, 1, OFTEN(1500), 6);
}

/* With hardly any work the answer is legal or all off chip, and the bound holds. */
static void bounds_hold_under_limits(void **state)
{
    (void)state;
    static const int64_t hasty[] = {1, 1, 1};
    for (uint64_t seed = 1; seed <= OFTEN(3000); seed++) {
        struct rng r = rng_seed(seed);
        struct linked l;
        int64_t address[SMALL_MAX];
        struct lx_answer answer = {.address = address};
        linked_random(&l, &r, (int32_t)rng_between(&r, 4, 7));
        const struct lx_problem *p = &l.small.problem;
        for (int32_t i = 0; i < p->count; i++) address[i] = LX_OFF_CHIP;
        struct lx_run run = {
            .seed = seed, .options = hasty, .work_limit = seed % 2 ? rng_between(&r, 1, 60) : 0};
        assert_true(lx_solver_exact.solve(p, &run, &answer));
        int64_t optimum = linked_optimum(p), value = linked_value(p, address);
        bool claims = answer.status == LX_OPTIMAL && value != optimum;
        bool denies = answer.status == LX_INFEASIBLE && optimum != INT64_MAX;
        if (claims || denies || !is_packed(p, address) || (optimum < INT64_MAX && answer.bound > optimum))
            fail_msg("seed %llu: %s %lld, bound %lld, brute force %lld", (unsigned long long)seed,
                     lx_verdict_word(answer.status), (long long)value, (long long)answer.bound,
                     (long long)optimum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_equals_brute_force),
                                       cmocka_unit_test(ilp_equals_brute_force),
                                       cmocka_unit_test(bounds_hold_under_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
