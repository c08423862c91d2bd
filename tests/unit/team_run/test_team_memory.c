/* Every allocation of a team's run fails in turn, in whichever thread asks for it: the run says that memory is out, or does
 * what it does without the fault, and holds nothing afterwards that it did not hold before. */
#include "unstable.h"
#include "base/border.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "support/failing_allocator.h"

static const char text[] =
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"two\", \"device\": \"spyre\", \"tensors\": ["
    "{\"name\": \"x\", \"shape\": [16, 64], \"dtype\": \"fp32\", \"role\": \"input\"},"
    "{\"name\": \"h\", \"shape\": [16, 64], \"dtype\": \"fp32\", \"role\": \"output\"},"
    "{\"name\": \"y\", \"shape\": [16, 64], \"dtype\": \"fp32\", \"role\": \"output\"}], \"ops\": ["
    "{\"name\": \"h\", \"kind\": \"gelu\", \"inputs\": [\"x\"], \"output\": \"h\"},"
    "{\"name\": \"y\", \"kind\": \"gelu\", \"inputs\": [\"h\"], \"output\": \"y\"}]}";

/* Of two devices, two that plan for them, and their workers: the C library keeps a block for each. */
enum { THREADS = 6 };

struct asked {
    const struct lx_graph *g;
    struct lx_plan_options plan;
    struct lx_team_plan *team;
};

/* The run in a border of its own, as of a caller; allocation `n` fails, 0: none. How many there were. */
static long run(const struct asked *a, long n, bool *ok)
{
    struct border border;
    struct lx_team_run_options how = {.seed = 7, .plan = &a->plan, .timeout_ms = 60000};
    lx_status st = {0};
    struct lx_team_result r;
    *ok = false;
    allocations_begin(n, n);
    if (border_begin(&border) == 0) {
        *ok = lx_team_run(a->team, &how, &r, &st);
        border_end(&border);
        if (*ok) assert_true(r.ok && r.compared);
        if (!*ok && st.code != LX_E_MEMORY) fail_msg("allocation %ld: %s", n, st.text);
        if (*ok) lx_team_result_free(&r);
    }
    return allocations_end();
}

static void test_every_allocation(void **state)
{
    (void)state;
    lx_status st = {0};
    struct asked a = {.plan = {.solver = lx_solver_find("greedy")}};
    a.g = lx_graph_of_text("two", text, sizeof text - 1, &st);
    a.team = a.g ? lx_team_make(a.g, &(struct lx_team_options){.devices = 2}, &st) : NULL;
    if (!a.team) fail_msg("%s", st.text);
    bool ok;
    run(&a, 0, &ok); /* what is made once is made */
    long count = run(&a, 0, &ok), failed = 0;
    assert_true(ok);
    long before = atomic_load(&allocator.held);
    for (long n = 1; n <= count; n++) {
        run(&a, n, &ok);
        failed += !ok;
    }
    long lost = atomic_load(&allocator.held) - before;
    if (lost > THREADS) fail_msg("%ld blocks are lost", lost);
    assert_true(failed > count / 2);
    lx_team_free(a.team);
    lx_graph_free(a.g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
