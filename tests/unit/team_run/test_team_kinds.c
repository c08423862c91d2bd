/* Ops of every sort on grids: several results, what is changed in place, chosen, ordered, under windows and at other places.
 * Each graph is cut along the dimensions that its ops do not take as a whole, and has one device's bits. */
#include "unstable.h"
#include "support/sampled.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct lx_team_grid grids[] = {{1, {2}}, {1, {4}}, {2, {2, 2}}, {2, {2, 4}}};
enum { GRIDS = sizeof grids / sizeof *grids, MOST = 3 };

/* Apostrophes stand for quotation marks. */
struct row {
    const char *tensors, *ops;
    struct lx_team_choice choices[MOST]; /* what is cut, beside what follows from it */
    bool exact;                          /* nothing is added up */
};

static const struct row rows[] = {
    /* two results of an order, then rows by one of them, then a change of what is there */
    {"{'name': 'x', 'shape': [8, 12]}, {'name': 'best', 'shape': [8, 2]}, {'name': 'who', 'shape': [8, 2], "
     "'dtype': 'int32'}, {'name': 'table', 'shape': [12, 6], 'role': 'weight'}, {'name': 'rows', 'shape': "
     "[8, 2, 6]}, {'name': 'y', 'shape': [8, 2, 6], 'role': 'output'}",
     "{'name': 'route', 'kind': 'topk', 'inputs': ['x'], 'outputs': ['best', 'who'], 'einsum': 'te->tk', "
     "'axis': 1, 'k': 2}, {'name': 'rows', 'kind': 'gather', 'inputs': ['table', 'who'], 'output': 'rows', "
     "'einsum': 'ed,tk->tkd', 'axis': 0}, {'name': 'y', 'kind': 'mul', 'inputs': ['rows', 'best'], "
     "'output': 'y', 'einsum': 'tkd,tk->tkd'}",
     {{"x", {0, -1, -1}}, {"y", {0, 2, -1}}},
     true},
    /* a cache cut by heads, and by sequences */
    {"{'name': 'k', 'shape': [4, 8, 5]}, {'name': 'pos', 'shape': [1], 'dtype': 'int32'}, {'name': 'cache', "
     "'shape': [4, 8, 16, 5], 'role': 'state'}, {'name': 'y', 'shape': [4, 8, 16, 5], 'role': 'output'}",
     "{'name': 'put', 'kind': 'dynamic_insert', 'inputs': ['cache', 'k', 'pos'], 'output': 'cache', "
     "'inplace': 0, 'einsum': 'bhsd,bhd,i->bhsd', 'axes': [2]}, {'name': 'y', 'kind': 'tanh', 'inputs': "
     "['cache'], 'output': 'y'}",
     {{"cache", {1, 0, -1}}, {"k", {1, 0, -1}}},
     true},
    /* rows of a table changed, columns cut */
    {"{'name': 's', 'shape': [9, 16], 'role': 'state'}, {'name': 'i', 'shape': [4], 'dtype': 'int32'}, "
     "{'name': 'p', 'shape': [4, 16]}, {'name': 'y', 'shape': [9, 16], 'role': 'output'}",
     "{'name': 'put', 'kind': 'scatter', 'inputs': ['s', 'i', 'p'], 'output': 's', 'inplace': 0, 'einsum': "
     "'vd,b,bd->vd', 'axis': 0}, {'name': 'y', 'kind': 'tanh', 'inputs': ['s'], 'output': 'y'}",
     {{"s", {1, 1, -1}}, {"i", {-1, -1, -1}}},
     true},
    /* a cache that is read before it is changed */
    {"{'name': 'k', 'shape': [4, 8, 5]}, {'name': 'pos', 'shape': [1], 'dtype': 'int32'}, {'name': 'cache', "
     "'shape': [4, 8, 16, 5], 'role': 'state'}, {'name': 'was', 'shape': [4, 8, 16, 5]}, {'name': 'y', "
     "'shape': [4, 8, 16, 5], 'role': 'output'}",
     "{'name': 'was', 'kind': 'tanh', 'inputs': ['cache'], 'output': 'was'}, {'name': 'put', 'kind': "
     "'dynamic_insert', 'inputs': ['cache', 'k', 'pos'], 'output': 'cache', 'inplace': 0, 'einsum': "
     "'bhsd,bhd,i->bhsd', 'axes': [2]}, {'name': 'y', 'kind': 'mul', 'inputs': ['cache', 'was'], 'output': "
     "'y'}",
     {{"cache", {1, 0, -1}}, {"k", {1, 0, -1}}},
     true},
    /* the largest and its place, and an order of rows */
    {"{'name': 'x', 'shape': [8, 16]}, {'name': 'm', 'shape': [8], 'role': 'output'}, {'name': 'at', "
     "'shape': [8], 'dtype': 'int32', 'role': 'output'}, {'name': 'sorted', 'shape': [8, 16], 'role': "
     "'output'}",
     "{'name': 'm', 'kind': 'max', 'inputs': ['x'], 'outputs': ['m', 'at'], 'einsum': 'mn->m'}, {'name': "
     "'sorted', 'kind': 'sort', 'inputs': ['x'], 'output': 'sorted', 'einsum': 'mn->mn', 'axis': 1}",
     {{"x", {0, 1, -1}}},
     true},
    /* windows: rows and columns of neighbours, with corners; strides; what lies outside */
    {"{'name': 'x', 'shape': [16, 17, 3]}, {'name': 'pool', 'shape': [8, 9, 3]}, {'name': 'y', 'shape': [8, "
     "9, 3], 'role': 'output'}",
     "{'name': 'pool', 'kind': 'max', 'inputs': ['x'], 'output': 'pool', 'einsum': 'hwc->pqc', 'windows': "
     "[{'in': 'h', 'out': 'p', 'tap': 'k', 'size': 3, 'stride': 2, 'dilation': 1, 'pad': 1}, {'in': 'w', "
     "'out': 'q', 'tap': 'l', 'size': 3, 'stride': 2, 'dilation': 1, 'pad': 1}]}, {'name': 'y', 'kind': "
     "'min', 'inputs': ['pool'], 'output': 'y', 'einsum': 'hwc->pqc', 'windows': [{'in': 'h', 'out': 'p', "
     "'tap': 'k', 'size': 2, 'stride': 1, 'dilation': 3, 'pad': 2}, {'in': 'w', 'out': 'q', 'tap': 'l', "
     "'size': 3, 'stride': 1, 'dilation': -1, 'pad': -1}]}",
     {{"x", {0, 1, -1}}, {"pool", {0, 1, -1}}, {"y", {0, 1, -1}}},
     true},
    /* a convolution, of which channels are summed */
    {"{'name': 'x', 'shape': [12, 10, 8]}, {'name': 'w', 'shape': [3, 3, 8, 4], 'role': 'weight'}, {'name': "
     "'y', 'shape': [12, 10, 4], 'role': 'output'}",
     "{'name': 'y', 'kind': 'matmul', 'inputs': ['x', 'w'], 'output': 'y', 'einsum': 'hwc,klco->pqo', "
     "'windows': [{'in': 'h', 'out': 'p', 'tap': 'k', 'stride': 1, 'dilation': 1, 'pad': 1}, {'in': 'w', "
     "'out': 'q', 'tap': 'l', 'stride': 1, 'dilation': 1, 'pad': 1}]}",
     {{"x", {0, 2, -1}}, {"y", {0, -1, -1}}},
     false},
    /* views: a part of each operand, backwards too, and one part behind the other */
    {"{'name': 'a', 'shape': [24, 8]}, {'name': 'b', 'shape': [12, 12]}, {'name': 'c', 'shape': [8, 12]}, "
     "{'name': 's', 'shape': [8, 8]}, "
     "{'name': 'y', 'shape': [8, 20], 'role': 'output'}",
     "{'name': 's', 'kind': 'add', 'inputs': ['a', 'b'], 'output': 's', 'einsum': 'mn,mn->mn', 'views': "
     "[{'offset': [3, 7], 'stride': [2, -1]}, {'offset': [1, 2]}]}, {'name': 'y', 'kind': 'concat', "
     "'inputs': ['s', 'c'], 'output': 'y', 'einsum': 'mn,mn->mn', 'axis': 1}",
     {{"a", {0, -1, -1}}, {"s", {0, -1, -1}}},
     true},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct lx_graph *graph_of(const struct row *row)
{
    char text[4096];
    lx_status st = {0};
    int n = snprintf(text, sizeof text,
                     "{'lxplan': 1, 'kind': 'pattern', 'name': 'kinds', 'tensors': [%s], 'ops': [%s]}",
                     row->tensors, row->ops);
    assert_in_range(n, 1, sizeof text - 1);
    for (int i = 0; i < n; i++)
        if (text[i] == '\'') text[i] = '"';
    const struct lx_graph *g = lx_graph_of_text("kinds", text, (size_t)n, &st);
    if (!g) fail_msg("%s\n%s", st.text, text);
    return g;
}

static void run(const struct lx_team_plan *p, bool exact)
{
    lx_status st = {0};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    struct lx_team_run_options how = {.seed = 11, .plan = &plan, .timeout_ms = 60000};
    struct lx_team_result r;
    if (!lx_team_run(p, &how, &r, &st)) fail_msg("%s", st.text);
    if (!r.ok) fail_msg("%lld of %lld elements differ", (long long)r.differing, (long long)r.elements);
    if (exact) assert_int_equal(r.differing, 0);
    assert_true(r.elements > 0 && r.worst <= 1e-2 * (r.largest > 0 ? r.largest : 1));
    assert_int_equal(r.total.bytes, p->bytes);
    lx_team_result_free(&r);
}

/* Something is cut: no member has all of the first op to do. */
static bool shared_out(const struct lx_team_plan *p)
{
    for (int32_t o = 0; o < p->graph->op_count; o++)
        if (p->ops[o].mode == LX_TEAM_REPLICATED) return false;
    return true;
}

static void test_kinds(void **state)
{
    (void)state;
    for (int n = 0; n < ROWS * GRIDS; n++) {
        const struct row *row = &rows[n / GRIDS];
        const struct lx_graph *g = graph_of(row);
        struct lx_team_options how = {.grid = grids[n % GRIDS], .choices = row->choices};
        lx_status st = {0};
        while (how.choice_count < MOST && row->choices[how.choice_count].tensor) how.choice_count++;
        struct lx_team_plan *p = lx_team_make(g, &how, &st);
        if (!p || !lx_team_check(p, &st)) fail_msg("row %d: %s", n / GRIDS, st.text);
        if (!shared_out(p)) fail_msg("row %d on grid %d: an op is computed by all", n / GRIDS, n % GRIDS);
        run(p, row->exact);
        lx_team_free(p);
        lx_graph_free(g);
    }
}

/* Every graph that comes with the program is shared out over every grid (sampled: over one of them), and every member has its
 * part. */
static void share_out(const struct lx_graph *g, int grid)
{
    lx_status st = {0};
    struct lx_team_options how = {.grid = grids[grid], .by_time = grid % 2};
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (!p || !lx_team_check(p, &st)) fail_msg("%s on grid %d: %s", g->name, grid, st.text);
    for (int m = 0; m < p->devices; m++) {
        struct lx_team_device *member = lx_team_device_make(p, m, &st);
        if (!member) fail_msg("%s on grid %d, device %d: %s", g->name, grid, m, st.text);
        lx_team_device_free(member);
    }
    lx_team_free(p);
}

static void test_patterns(void **state)
{
    (void)state;
    int seen = 0;
    DIR *folder = opendir(SOURCE_DIR "/patterns/graphs");
    assert_non_null(folder);
    for (struct dirent *e; (e = readdir(folder));) {
        char path[512];
        lx_status st = {0};
        snprintf(path, sizeof path, SOURCE_DIR "/patterns/graphs/%s", e->d_name);
        const struct lx_graph *g = strstr(e->d_name, ".json") ? lx_graph_read(path, &st) : NULL;
        if (!g) continue;
        for (int grid = 0; grid < GRIDS; grid++)
            if (!SAMPLED || grid == seen % GRIDS) share_out(g, grid);
        lx_graph_free(g);
        seen++;
    }
    closedir(folder);
    assert_true(seen >= 20);
}

/* The same ops in the program of one of 2x2 devices, whichever of the tensors differ between them. */
static const struct lx_graph *program_of(const struct row *row, int n)
{
    static const char *const cuts[] = {"-1, -1", "0, -1", "-1, 0", "0, 0"};
    char text[4096];
    lx_status st = {0};
    int at = snprintf(text, sizeof text,
                      "{'lxplan': 1, 'kind': 'pattern', 'name': 'kinds', 'grid': [2, 2], 'tensors': "
                      "[{'name': 'me', 'shape': [], 'dtype': 'int32', 'role': 'output'}, ");
    const char *from = row->tensors;
    for (const char *next; (next = strstr(from, "'shape'")); from = next + 1, n = n / 4 + n % 4 * 16)
        at += snprintf(text + at, sizeof text - (size_t)at, "%.*s'cut': [%s], '", (int)(next - from), from,
                       cuts[n % 4]);
    at += snprintf(
        text + at, sizeof text - (size_t)at,
        "%s], 'ops': [{'name': 'me', 'kind': 'device_id', 'inputs': [], 'output': 'me', 'group': [0]}, %s]}",
        from, row->ops);
    assert_in_range(at, 1, sizeof text - 1);
    for (int i = 0; i < at; i++)
        if (text[i] == '\'') text[i] = '"';
    const struct lx_graph *g = lx_graph_of_text("kinds", text, (size_t)at, &st);
    if (!g) fail_msg("%s\n%s", st.text, text);
    return g;
}

static void test_programs(void **state)
{
    (void)state;
    for (int n = 0; n < ROWS * 64; n += 3) {
        const struct lx_graph *g = program_of(&rows[n / 64], n % 64);
        struct lx_team_options how = {.grid = {2, {2, 2}}};
        lx_status st = {0};
        struct lx_team_plan *p = lx_team_make(g, &how, &st);
        if (!p || !lx_team_check(p, &st)) fail_msg("row %d, contents %d: %s", n / 64, n % 64, st.text);
        if (n % 16 == 5) run(p, false);
        lx_team_free(p);
        lx_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_programs),
                                       cmocka_unit_test(test_patterns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
