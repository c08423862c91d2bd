/* Parts of sums that last: linear ops work on them, and only what is read otherwise is joined. What members compute is what one
 * device does but for rounding, and a plan that takes parts for what they are not is refused. */
#include "unstable.h"
#include "base/memory.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct lx_team_grid grids[] = {{1, {2}}, {1, {3}}, {2, {1, 4}}, {2, {2, 2}}, {3, {2, 1, 2}}};
enum { GRIDS = sizeof grids / sizeof *grids };

/* x is cut along its columns by the last axis, a and b along their rows: u and v are parts. Apostrophes stand for quotation
 * marks. */
#define START                                                                                                \
    "{'name': 'x', 'shape': [8, 24], 'dtype': 'fp32'}, {'name': 'a', 'shape': [24, 12], 'dtype': 'fp32', "   \
    "'role': 'weight'}, {'name': 'b', 'shape': [24, 12], 'dtype': 'fp32', 'role': 'weight'}, {'name': 'u', " \
    "'shape': [8, 12], 'dtype': 'fp32'}, {'name': 'v', 'shape': [8, 12], 'dtype': 'fp32'}, "
#define PARTS                                                                                                \
    "{'name': 'u', 'kind': 'matmul', 'inputs': ['x', 'a'], 'output': 'u', 'einsum': 'mk,kn->mn'}, {'name': " \
    "'v', 'kind': 'matmul', 'inputs': ['x', 'b'], 'output': 'v', 'einsum': 'mk,kn->mn'}, "
#define END "{'name': 'y', 'kind': 'tanh', 'inputs': ['s'], 'output': 'y'}"

static const struct row {
    const char *tensors, *ops;
    int parts,
        joins; /* ops whose result stays in parts; results that are joined: where one axis cuts the sum */
} rows[] = {
    /* a sum, and a difference of which a multiple is taken */
    {"{'name': 's', 'shape': [8, 12], 'dtype': 'fp32'}, {'name': 'y', 'shape': [8, 12], 'dtype': 'fp32', "
     "'role': 'output'}",
     "{'name': 's', 'kind': 'add', 'inputs': ['u', 'v'], 'output': 's'}, " END, 2, 1},
    {"{'name': 'd', 'shape': [8, 12], 'dtype': 'fp32'}, {'name': 's', 'shape': [8], 'dtype': 'fp32'}, "
     "{'name': 'y', 'shape': [8], 'dtype': 'fp32', 'role': 'output'}",
     "{'name': 'd', 'kind': 'sub', 'inputs': ['u', 'v'], 'output': 'd'}, {'name': 's', 'kind': 'sum', "
     "'inputs': ['d'], 'output': 's', 'einsum': 'mn->m'}, " END,
     3, 1},
    /* a product with what is whole, then a mean */
    {"{'name': 'c', 'shape': [12, 5], 'dtype': 'fp32', 'role': 'weight'}, {'name': 'p', 'shape': [8, 5], "
     "'dtype': 'fp32'}, {'name': 'q', 'shape': [8, 12], 'dtype': 'fp32'}, {'name': 'w', 'shape': [8], "
     "'dtype': "
     "'fp32'}, {'name': 'z', 'shape': [8], 'dtype': 'fp32'}, {'name': 's', 'shape': [8], 'dtype': 'fp32'}, "
     "{'name': 'y', 'shape': [8], 'dtype': 'fp32', 'role': 'output'}",
     "{'name': 'p', 'kind': 'matmul', 'inputs': ['u', 'c'], 'output': 'p', 'einsum': 'mk,kn->mn'}, {'name': "
     "'q', 'kind': 'mul', 'inputs': ['v'], 'output': 'q', 'value': -0.25}, {'name': 'w', 'kind': 'mean', "
     "'inputs': ['p'], 'output': 'w', 'einsum': 'mn->m'}, {'name': 'z', 'kind': 'mean', 'inputs': ['q'], "
     "'output': 'z', 'einsum': 'mn->m'}, {'name': 's', 'kind': 'sub', 'inputs': ['w', 'z'], 'output': "
     "'s'}, " END,
     6, 1},
    /* moved: a transpose, columns of it, neighbours, one behind the other; v is a result */
    {"{'name': 't', 'shape': [12, 8], 'dtype': 'fp32'}, {'name': 'l', 'shape': [4, 8], 'dtype': 'fp32'}, "
     "{'name': 'n', 'shape': [4, 8], 'dtype': 'fp32'}, {'name': 'k', 'shape': [4, 16], 'dtype': 'fp32'}, "
     "{'name': 's', 'shape': [16], 'dtype': 'fp32'}, {'name': 'y', 'shape': [16], 'dtype': 'fp32', 'role': "
     "'output'}",
     "{'name': 't', 'kind': 'clone', 'inputs': ['u'], 'output': 't', 'einsum': 'mn->nm'}, {'name': 'l', "
     "'kind': 'slice', 'inputs': ['t'], 'output': 'l', 'offset': [3, 0], 'stride': [2, 1]}, {'name': 'n', "
     "'kind': 'shift', 'inputs': ['l'], 'output': 'n', 'offset': [1, 0]}, {'name': 'k', 'kind': 'concat', "
     "'inputs': ['l', 'n'], 'output': 'k', 'einsum': 'mn,mn->mn', 'axis': 1}, {'name': 's', 'kind': 'sum', "
     "'inputs': ['k'], 'output': 's', 'einsum': 'mn->n'}, " END,
     5, 2},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct lx_graph *graph_of(const struct row *row)
{
    char text[4096];
    lx_status st = {0};
    int n = snprintf(text, sizeof text,
                     "{'lxplan': 1, 'kind': 'pattern', 'name': 'parts', 'tensors': [" START
                     "%s], 'ops': [" PARTS "%s]}",
                     row->tensors, row->ops);
    assert_in_range(n, 1, sizeof text - 1);
    for (int i = 0; i < n; i++)
        if (text[i] == '\'') text[i] = '"';
    const struct lx_graph *g = lx_graph_of_text("parts", text, (size_t)n, &st);
    if (!g) fail_msg("%s\n%s", st.text, text);
    return g;
}

static struct lx_team_plan *plan_of(const struct lx_graph *g, const struct lx_team_grid *grid)
{
    lx_status st = {0};
    struct lx_team_choice choices[] = {
        {"x", {-1, -1, -1}}, {"a", {-1, -1, -1}}, {"b", {-1, -1, -1}}, {"y", {-1, -1, -1}}};
    choices[0].shard[grid->axes - 1] = 1;
    choices[1].shard[grid->axes - 1] = choices[2].shard[grid->axes - 1] = 0;
    struct lx_team_options how = {.grid = *grid, .choices = choices, .choice_count = 4};
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (!p || !lx_team_check(p, &st)) fail_msg("%s", st.text);
    return p;
}

static void run(const struct lx_team_plan *p)
{
    lx_status st = {0};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    struct lx_team_run_options how = {.seed = 5, .plan = &plan, .timeout_ms = 60000};
    struct lx_team_result r;
    if (!lx_team_run(p, &how, &r, &st)) fail_msg("%s", st.text);
    assert_true(r.ok && r.worst <= 1e-5 * r.largest && r.elements > 0);
    assert_int_equal(r.total.combine_bytes, p->combine_bytes);
    assert_int_equal(r.total.verified_ops, r.total.device_ops); /* each within its bound */
    lx_team_result_free(&r);
}

static int modes(const struct lx_team_plan *p, enum lx_team_mode mode)
{
    int count = 0;
    for (int32_t o = 0; o < p->graph->op_count; o++) count += p->ops[o].mode == mode;
    return count;
}

static void test_last(void **state)
{
    (void)state;
    for (int n = 0; n < ROWS * GRIDS; n++) {
        const struct row *row = &rows[n / GRIDS];
        const struct lx_graph *g = graph_of(row);
        struct lx_team_plan *p = plan_of(g, &grids[n % GRIDS]);
        if (modes(p, LX_TEAM_KEPT_PARTIAL) < 2 || modes(p, LX_TEAM_COMBINE) != row->joins)
            fail_msg("row %d on grid %d: %d stay in parts, %d are joined", n / GRIDS, n % GRIDS,
                     modes(p, LX_TEAM_KEPT_PARTIAL), modes(p, LX_TEAM_COMBINE));
        if (n % GRIDS == 0) assert_int_equal(modes(p, LX_TEAM_KEPT_PARTIAL), row->parts);
        run(p);
        lx_team_free(p);
        lx_graph_free(g);
    }
}

/* The text with the first of one thing behind another changed; is it a plan that passes? */
static bool passes(const char *text, const char *behind, const char *from, const char *to)
{
    lx_status st = {0};
    char *copy = mem_alloc(strlen(text) + 100);
    const char *at = strstr(text, behind);
    at = at ? strstr(at, from) : NULL;
    if (!at) fail_msg("there is no %s behind %s in\n%s", from, behind, text);
    assert_non_null(copy);
    sprintf(copy, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    struct lx_team_plans *plans = lx_team_plans_parse("plan", copy, strlen(copy), &st);
    bool ok = plans && lx_team_plans_check(plans, &st);
    lx_team_plans_free(plans);
    mem_free(copy);
    return ok;
}

static void test_refused(void **state)
{
    (void)state;
    lx_status st = {0};
    size_t length;
    const struct lx_graph *g = graph_of(&rows[0]);
    struct lx_team_plan *p = plan_of(g, &grids[3]);
    struct lx_plan_options how = {.solver = lx_solver_find("greedy")};
    struct lx_team_plans *plans = lx_team_plans_make(p, &how, &st);
    char *text = plans ? lx_team_plans_to_json(plans, &length) : NULL;
    if (!text) fail_msg("%s", st.text);
    assert_true(passes(text, "\"tensors\"", "\"name\"", "\"name\""));
    /* parts that are taken for the whole, or joined though they stay; a sum that stays though it is joined, or is never */
    assert_false(passes(text, "{\"name\": \"u\"", "-2", "-1"));
    assert_false(passes(text, "\"ops\"", "\"parts\"", "\"combine\""));
    assert_false(passes(text, "\"ops\"", "\"combine\"", "\"parts\""));
    assert_false(
        passes(text, "\"steps\"", "\"step\": \"combine\", \"op\": 2", "\"step\": \"combine\", \"op\": 1"));
    /* read as if there were no parts */
    assert_false(passes(text, "{\"name\": \"s\", \"mode\"", "-2", "-1"));
    mem_free(text);
    lx_team_plans_free(plans);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_last), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
