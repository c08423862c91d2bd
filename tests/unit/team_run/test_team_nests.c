/* Teams whose members have little room: their plans have nests, and what they compute together is what one device does. */
#include "unstable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static const char attention[] =
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"attention\", \"tensors\": ["
    "{\"name\": \"q\", \"shape\": [4, 128, 64], \"role\": \"input\"},"
    "{\"name\": \"k\", \"shape\": [4, 128, 64], \"role\": \"input\"},"
    "{\"name\": \"v\", \"shape\": [4, 128, 64], \"role\": \"input\"},"
    "{\"name\": \"s\", \"shape\": [4, 128, 128]}, {\"name\": \"m\", \"shape\": [4, 128]},"
    "{\"name\": \"d\", \"shape\": [4, 128, 128]}, {\"name\": \"e\", \"shape\": [4, 128, 128]},"
    "{\"name\": \"t\", \"shape\": [4, 128]}, {\"name\": \"p\", \"shape\": [4, 128, 128]},"
    "{\"name\": \"o\", \"shape\": [4, 128, 64], \"role\": \"output\"}], \"ops\": ["
    "{\"name\": \"s\", \"kind\": \"matmul\", \"einsum\": \"hsd,htd->hst\", \"inputs\": [\"q\", \"k\"], "
    "\"output\": \"s\"},"
    "{\"name\": \"m\", \"kind\": \"max\", \"einsum\": \"hst->hs\", \"inputs\": [\"s\"], \"output\": \"m\"},"
    "{\"name\": \"d\", \"kind\": \"sub\", \"einsum\": \"hst,hs->hst\", \"inputs\": [\"s\", \"m\"], "
    "\"output\": \"d\"},"
    "{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"d\"], \"output\": \"e\"},"
    "{\"name\": \"t\", \"kind\": \"sum\", \"einsum\": \"hst->hs\", \"inputs\": [\"e\"], \"output\": \"t\"},"
    "{\"name\": \"p\", \"kind\": \"div\", \"einsum\": \"hst,hs->hst\", \"inputs\": [\"e\", \"t\"], "
    "\"output\": \"p\"},"
    "{\"name\": \"o\", \"kind\": \"matmul\", \"einsum\": \"hst,htd->hsd\", \"inputs\": [\"p\", \"v\"], "
    "\"output\": \"o\"}]}";

/* HBM bytes of all members. */
static int64_t run_team(const struct lx_graph *g, int members, int tile)
{
    lx_status st = {0};
    struct lx_team_options cut = {.devices = members};
    struct lx_team_plan *p = lx_team_make(g, &cut, &st);
    struct lx_plan_options plan = {.solver = lx_solver_find("auto"), .passes = {.tile = tile}};
    struct lx_team_run_options how = {.seed = 7, .plan = &plan, .timeout_ms = 60000};
    struct lx_team_result r;
    if (!p || !lx_team_run(p, &how, &r, &st)) fail_msg("%s", st.text);
    for (int m = 0; m < r.device_count; m++)
        if (!r.devices[m].ok) fail_msg("device %d of %d: %s", m, members, r.devices[m].why);
    if (!r.ok) fail_msg("%lld of %lld differ", (long long)r.differing, (long long)r.elements);
    int64_t bytes = r.total.counted.hbm_read + r.total.counted.hbm_written;
    lx_team_result_free(&r);
    lx_team_free(p);
    return bytes;
}

static void members_run_nests(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *whole = lx_graph_of_text("attention", attention, strlen(attention), &st);
    if (!whole) fail_msg("%s", st.text);
    const struct lx_graph *g = lx_graph_with_capacity(whole, 2048, &st);
    for (int members = 2; members <= 4; members++) {
        int64_t tiled = run_team(g, members, LX_TILE_AUTO), plain = run_team(g, members, LX_TILE_NONE);
        print_message("%d devices: %lld bytes with nests, %lld without\n", members, (long long)tiled,
                      (long long)plain);
        assert_true(members < 4 ? tiled < plain : tiled <= plain); /* four have room for all */
    }
    lx_graph_free(g);
    lx_graph_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(members_run_nests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
