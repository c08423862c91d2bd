/* Models that say how devices share their work: on the grid that they state they are planned, checked and run as they say;
 * without a team they are the program of one device, as ever. */
#include "unstable.h"
#include "solvers.h"
#include "base/file.h"
#include "graph/import/model_import.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *file;
    struct lx_team_grid grid;
    int stated; /* tensors whose cuts the model states */
} models[] = {{"mlp_partitioned.hlo", {2, {2, 2}}, 3},
              {"every_collective.hlo", {1, {4}}, 1},
              {"mlp_sharded.hlo", {2, {2, 2}}, 3},
              {"mlp_on_a_mesh.mlir", {2, {2, 2}}, 3},
              {"every_collective.mlir", {2, {1, 4}}, 0}};
enum { MODELS = sizeof models / sizeof *models };

static char *text_of(const char *name, size_t *length)
{
    char path[512];
    lx_status st = {0};
    snprintf(path, sizeof path, SOURCE_DIR "/tests/data/team_models/%s", name);
    char *text = file_read(path, length, &st);
    if (!text) fail_msg("%s", st.text);
    return text;
}

static const struct lx_graph *import(const char *name, const char *text, size_t length, bool team)
{
    lx_status st = {0};
    struct lx_import_options how = {.branch = -1, .team = team};
    const struct lx_graph *g = lx_model_import(name, text, length, &how, NULL, &st);
    if (!g) fail_msg("%s: %s", name, st.text);
    return g;
}

static const struct lx_graph *import_file(const char *name, bool team)
{
    size_t length;
    char *text = text_of(name, &length);
    const struct lx_graph *g = import(name, text, length, team);
    free(text);
    return g;
}

static int stated_cuts(const struct lx_graph *g)
{
    int n = 0;
    for (int32_t t = 0; t < g->tensor_count; t++) n += g->tensors[t].cut_stated;
    return n;
}

static void expect_runs(const struct lx_team_plan *p)
{
    lx_status st = {0};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    struct lx_team_run_options run = {.seed = 3, .plan = &plan, .timeout_ms = 60000};
    struct lx_team_result r;
    if (!lx_team_run(p, &run, &r, &st)) fail_msg("%s: %s", p->graph->file, st.text);
    if (!r.ok) fail_msg("%s: other results than one device's", p->graph->file);
    lx_team_result_free(&r);
}

static void test_models(void **state)
{
    (void)state;
    for (int i = 0; i < MODELS; i++) {
        lx_status st = {0};
        const struct lx_graph *g = import_file(models[i].file, true);
        struct lx_team_options how = {.grid = models[i].grid}, row = {.grid = {1, {3}}};
        assert_int_equal(g->grid_axes, models[i].grid.axes);
        for (int a = 0; a < g->grid_axes; a++) assert_int_equal(g->grid[a], models[i].grid.size[a]);
        assert_int_equal(stated_cuts(g), models[i].stated);
        struct lx_team_plan *p = lx_team_make(g, &how, &st);
        if (!p || !lx_team_check(p, &st)) fail_msg("%s: %s", models[i].file, st.text);
        expect_runs(p);
        lx_team_free(p);
        assert_null(lx_team_make(g, &row, &st)); /* another team than the model is for */
        assert_int_equal(st.code, LX_E_USAGE);
        lx_graph_free(g);
    }
}

/* One device's program says nothing of a grid. */
static void test_one_device(void **state)
{
    (void)state;
    for (int i = 0; i < MODELS; i++) {
        const struct lx_graph *g = import_file(models[i].file, false);
        assert_int_equal(g->grid_axes, 0);
        assert_int_equal(stated_cuts(g), 0);
        for (int32_t o = 0; o < g->op_count; o++)
            assert_true(!g->ops[o].params || g->ops[o].params->group_count == 0);
        lx_graph_free(g);
    }
}

struct data {
    const struct lx_graph *g;
    float y[2048];
};

/* The same numbers for an argument of the same size, whatever its shape. */
static void give(void *context, int32_t tensor, void *items)
{
    struct data *d = context;
    const struct lx_tensor *t = &d->g->tensors[tensor];
    float *to = items;
    for (int64_t i = 0; i < t->bytes / 4; i++) to[i] = (float)((i * 7 + t->bytes / 512) % 13) - 6;
}

static void take(void *context, int32_t tensor, const void *items)
{
    struct data *d = context;
    assert_true((size_t)d->g->tensors[tensor].bytes <= sizeof d->y);
    memcpy(d->y, items, (size_t)d->g->tensors[tensor].bytes);
}

static void run(const struct lx_graph *g, struct data *d)
{
    lx_status st = {0};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    struct lx_device_options how = {.verify = LX_VERIFY_OPS, .input = give, .output = take, .context = d};
    struct lx_plan *p = lx_plan_make(g, &plan, &st);
    d->g = g;
    struct lx_run_result *r = p ? lx_device_run(p, &how, &st) : NULL;
    if (!r || !r->ok) fail_msg("%s", st.text);
    lx_run_result_free(r);
    lx_plan_free(p);
}

/* Arguments that are shared out over a mesh, and the result put together again: what the model computes on one device. */
static void test_meaning(void **state)
{
    (void)state;
    static const char whole[] =
        "module { func.func @main(%arg0: tensor<16x64xf32>, %arg1: tensor<64x128xf32>, %arg2: "
        "tensor<128x64xf32>) -> "
        "tensor<16x64xf32> {\n"
        "%0 = \"ttir.matmul\"(%arg0, %arg1) : (tensor<16x64xf32>, tensor<64x128xf32>) -> tensor<16x128xf32>\n"
        "%1 = \"ttir.relu\"(%0) : (tensor<16x128xf32>) -> tensor<16x128xf32>\n"
        "%2 = \"ttir.matmul\"(%1, %arg2) : (tensor<16x128xf32>, tensor<128x64xf32>) -> tensor<16x64xf32>\n"
        "return %2 : tensor<16x64xf32>\n} }\n";
    static struct data one, many;
    lx_status st = {0};
    const struct lx_graph *g = import("whole", whole, sizeof whole - 1, false),
                          *member = import_file("mlp_on_a_mesh.mlir", true);
    struct lx_team_options how = {.grid = {2, {2, 2}}};
    struct lx_team_plan *p = lx_team_make(member, &how, &st);
    if (!p) fail_msg("%s", st.text);
    run(g, &one);
    run(p->graph, &many);
    for (int i = 0; i < 1024; i++)
        if (one.y[i] != many.y[i]) fail_msg("element %d is %g instead of %g", i, many.y[i], one.y[i]);
    lx_team_free(p);
    lx_graph_free(g);
    lx_graph_free(member);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models), cmocka_unit_test(test_one_device),
                                       cmocka_unit_test(test_meaning)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
