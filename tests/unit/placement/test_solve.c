/* Solvers that lie: whatever they say, what lx_problem_solve lets out is legal and no more than proved. */
#include "unstable.h"
#include "support/problem_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static bool says_illegal(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *a)
{
    (void)run;
    for (int32_t i = 0; i < p->count; i++) a->address[i] = 0;
    a->status = LX_OPTIMAL;
    return true;
}

static bool says_optimal(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *a)
{
    (void)run;
    for (int32_t i = 0; i < p->count; i++)
        a->address[i] = i == 0 && p->objective != LX_HEIGHT ? LX_OFF_CHIP : 1000 * i;
    a->objective = 0;
    a->status = LX_OPTIMAL;
    return true;
}

static bool says_bound(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *a)
{
    says_optimal(p, run, a);
    a->bound = 999999;
    return true;
}

/* The bound that would make its own answer optimal. */
static bool says_proved(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *a)
{
    says_optimal(p, run, a);
    a->bound = p->objective == LX_HEIGHT ? 2100 : 10;
    return true;
}

static bool says_infeasible(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *a)
{
    (void)p;
    (void)run;
    a->status = LX_INFEASIBLE;
    a->stat_count = 1000;
    memset(a->message, 'x', sizeof a->message);
    return true;
}

static bool says_nothing(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *a)
{
    says_illegal(p, run, a);
    return false;
}

static bool says_elsewhere(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *a)
{
    static int64_t own[8];
    (void)p;
    (void)run;
    a->address = own;
    a->status = (enum lx_verdict)77;
    return true;
}

/* What comes out is legal, its objective real, its bound no higher,
 * and nothing optimal that is not proved. */
static void liars_are_found_out(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_SPILL, 5000, 1);
    struct lx_problem *p = &list.problem;
    for (int i = 0; i < 3; i++) problem_add(&list, 100, 0, 2, 10);
    static bool (*const lies[])(const struct lx_problem *, const struct lx_run *, struct lx_answer *) = {
        says_illegal, says_optimal, says_bound, says_infeasible, says_nothing, says_elsewhere, says_proved};
    for (size_t k = 0; k < sizeof lies / sizeof *lies; k++)
        for (int objective = LX_SPILL; objective <= LX_HEIGHT; objective++)
            for (unsigned proves = 0; proves < 2; proves++) {
                struct lx_solver liar = {.abi = LX_SOLVER_ABI,
                                         .name = "liar",
                                         .solve = lies[k],
                                         .caps = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT |
                                                 (proves ? LX_CAN_PROVE : 0)};
                p->objective = (enum lx_objective)objective;
                int64_t address[3], real, bound;
                struct lx_answer a = {.address = address};
                struct lx_run run = {0};
                lx_status st;
                bool solved = lx_problem_solve(p, &liar, &run, &a, &st);
                if (lies[k] == says_nothing) { /* which is how a solver says that memory is out */
                    assert_true(!solved && st.code == LX_E_MEMORY);
                    continue;
                }
                assert_true(solved);
                bound = lx_bound(p);
                assert_ptr_equal(a.address, address);
                assert_true(memchr(a.message, 0, sizeof a.message) && a.stat_count >= 0 &&
                            a.stat_count <= LX_MAX_STATS);
                assert_true((unsigned)a.status < LX_VERDICT_COUNT);
                bool complete = address[0] >= 0 && address[1] >= 0 && address[2] >= 0;
                if (objective == LX_HEIGHT && !complete) {
                    assert_true(a.status == LX_ERROR && a.objective == INT64_MAX);
                    continue;
                }
                assert_true(lx_problem_check(p, address, &real, &st));
                assert_true(real == a.objective && a.bound <= real && a.bound >= bound);
                if (lies[k] == says_proved && proves)
                    continue; /* a proof cannot be checked, only who may give one */
                if (a.status == LX_OPTIMAL)
                    assert_true(objective == LX_FIT ? complete : a.bound == real && bound == real);
                if (a.status == LX_INFEASIBLE) assert_true(proves && objective == LX_FIT && !complete);
                if (k == 0 || (k == 2 && proves)) assert_int_equal(a.status, LX_ERROR);
            }
    struct lx_solver old = {
        .abi = LX_SOLVER_ABI + 1, .name = "old", .solve = says_optimal, .caps = LX_CAN_SPILL};
    p->objective = LX_SPILL;
    int64_t address[3];
    struct lx_answer a = {.address = address};
    struct lx_run run = {0};
    lx_status st;
    assert_false(lx_problem_solve(p, &old, &run, &a, &st));
    assert_int_equal(st.code, LX_E_INTERNAL);
    old.abi = LX_SOLVER_ABI;
    p->objective = LX_FIT;
    assert_false(lx_problem_solve(p, &old, &run, &a, &st));
    assert_int_equal(st.code, LX_E_USAGE);
    problem_end(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(liars_are_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
