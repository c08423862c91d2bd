/* Crowds, in which each buffer has thousands of others to get around: every solver looks at its stop all the time, whatever it
 * is doing, and what it answers when it is stopped at any look is legal. Looks are counted, not timed. */
#include "solvers.h"
#include "unstable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

enum { CROWD = 2500 };

struct looks {
    int64_t count, most; /* told to stop from the look `most` on */
};

static bool counted_stop(void *context)
{
    struct looks *l = context;
    return l->count++ >= l->most;
}

static void fill(struct lx_buffer *b, int32_t i, bool nested)
{
    *b = (struct lx_buffer){.name = "b",
                            .size = 64 + (int64_t)i * 37 % 100,
                            .start = nested ? i : 0,
                            .end = nested ? 2 * CROWD - i : 1,
                            .fixed = i % 50 ? -1 : 10000 + (int64_t)i * 40,
                            .spill_cost = 1 + (int64_t)i * 7919 % 1000};
}

static void solve(struct lx_problem *p, const struct lx_solver *s, struct looks *looks)
{
    static int64_t address[CROWD];
    struct lx_run run = {.stop = counted_stop, .context = looks};
    struct lx_answer answer = {.address = address};
    lx_status st = {0};
    int64_t objective;
    looks->count = 0;
    assert_true(lx_problem_solve(p, s, &run, &answer, &st));
    if (answer.status == LX_ERROR)
        fail_msg("%s, %s: %s", s->name, lx_objective_word(p->objective), answer.message);
    if (answer.status != LX_INFEASIBLE && !lx_problem_check(p, address, &objective, &st))
        fail_msg("%s, %s, stopped at look %lld: %s", s->name, lx_objective_word(p->objective),
                 (long long)looks->most, st.text);
}

static void stopped_anywhere(void **state)
{
    static struct lx_buffer buffer[CROWD];
    (void)state;
    for (int shape = 0; shape < 2; shape++) {
        for (int32_t i = 0; i < CROWD; i++) fill(&buffer[i], i, shape == 1);
        for (int question = 0; question < LX_OBJECTIVE_COUNT; question++)
            for (const struct lx_solver *const *s = lx_solvers(); *s; s++)
                for (int64_t most = 0; most < 100; most = most * 4 + 1) {
                    struct lx_problem p = {.objective = (enum lx_objective)question, .alignment = 1};
                    p.capacity = CROWD * 40;
                    p.buffers = buffer;
                    p.count = CROWD;
                    struct looks looks = {.most = most};
                    if (lx_can(*s, p.objective)) solve(&p, *s, &looks);
                }
    }
}

/* A crowd takes anneal, and who asks it for a first answer, tens of millions of steps before anything is placed. */
static void looks_all_the_time(void **state)
{
    static struct lx_buffer buffer[CROWD];
    static const struct lx_solver *const slow[] = {&lx_solver_anneal, &lx_solver_exact, &lx_solver_greedy};
    (void)state;
    for (int32_t i = 0; i < CROWD; i++) fill(&buffer[i], i, false);
    for (size_t k = 0; k < sizeof slow / sizeof *slow; k++) {
        struct lx_problem p = {.alignment = 1, .capacity = CROWD * 40, .buffers = buffer, .count = CROWD};
        struct looks looks = {.most = 20};
        solve(&p, slow[k], &looks);
        assert_true(looks.count >= 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stopped_anywhere),
                                       cmocka_unit_test(looks_all_the_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
