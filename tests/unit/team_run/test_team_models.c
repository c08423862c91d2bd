/* Models that say how devices share their work: on the grid that they state they are planned, checked and run as they say;
 * without a team they are the program of one device, as ever. */
#include "unstable.h"
#include "solvers.h"
#include "base/file.h"
#include "base/memory.h"
#include "import/model_import.h"

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
              {"every_collective.mlir", {2, {1, 4}}, 0},
              /* caches changed in place, tables, two results, a position that each device has for itself */
              {"two_layers.mlir", {2, {2, 2}}, 26},
              {"two_layers.hlo", {2, {2, 2}}, 27}};
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
    mem_free(text);
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

/* An op of several devices, in line 14 of a program of one of four. */
static const char *program_with(const char *op)
{
    static char text[1024];
    snprintf(text, sizeof text,
             "HloModule m, num_partitions=4\n"
             "%%add (a: f32[], b: f32[]) -> f32[] {\n"
             "  %%a = f32[] parameter(0)\n"
             "  %%b = f32[] parameter(1)\n"
             "  ROOT %%sum = f32[] add(%%a, %%b)\n"
             "}\n"
             "%%less (c: f32[], d: f32[]) -> f32[] {\n"
             "  %%c = f32[] parameter(0)\n"
             "  %%d = f32[] parameter(1)\n"
             "  ROOT %%difference = f32[] subtract(%%c, %%d)\n"
             "}\n"
             "ENTRY %%main (x: f32[8,12]) -> %.*s {\n"
             "  %%x = f32[8,12]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}\n"
             "  ROOT %%r = %s\n"
             "}\n",
             (int)strcspn(op, "{"), op, op);
    return text;
}

static const struct lx_graph *import_op(const char *op, bool team, lx_status *st)
{
    struct lx_import_options how = {.branch = -1, .team = team};
    const char *text = program_with(op);
    return lx_model_import("m.hlo", text, strlen(text), &how, NULL, st);
}

/* Groups that no axis of a grid makes: a team is refused, with the place and what helps; one device is planned as ever. */
static void expect_refused(const char *op)
{
    lx_status st = {0};
    const struct lx_graph *g = import_op(op, true, &st);
    if (g) fail_msg("%s is taken", op);
    if (st.code != LX_E_UNSUPPORTED || st.line != 14 || !strstr(st.text, "leave --team out"))
        fail_msg("%s: %s", op, st.text);
    g = import_op(op, false, &st);
    if (!g) fail_msg("%s: %s", op, st.text);
    lx_graph_free(g);
}

#define REDUCED "f32[8,12]{1,0} all-reduce(%x), channel_id=1, to_apply=%add, replica_groups="
#define SENT    "f32[8,12]{1,0} collective-permute(%x), channel_id=1, source_target_pairs="

static void test_other_groups(void **state)
{
    (void)state;
    static const char *const refused[] = {
        REDUCED "{{0,1,2},{3}}", /* of two sizes */
        REDUCED "{{0},{1,2,3}}",
        REDUCED "{{0,1,2,4}}", /* one that is not there */
        REDUCED "{{0,1},{4,5}}",
        REDUCED "{{0,1}}", /* not all of them */
        REDUCED "{{0,1},{0,1}}",
        "f32[8,12]{1,0} ragged-all-to-all(%x, %x, %x, %x, %x, %x), channel_id=1, replica_groups={}",
        SENT "{{0,2},{2,0},{1,3}}", /* one does not send */
        SENT "{{0,1},{1,2}}",
        SENT "{{0,1},{1,2},{2,0},{3,3}}", /* rings of several lengths */
        SENT "{{0,1},{0,1},{1,2},{2,3}}", /* one sends twice */
    };
    expect_refused("f32[8,12]{1,0} all-reduce(%x), channel_id=1, to_apply=%less, replica_groups={}");
    static const char *const taken[] = {
        REDUCED "{}",
        REDUCED "{{0,1,2,3}}",
        REDUCED "{{2,3},{0,1}}",
        REDUCED "{{0,2},{1,3}}",
        SENT "{{3,0},{0,1},{1,2},{2,3}}",
        REDUCED "{{0,3},{1,2}}", /* devices in another order than their numbers have */
        REDUCED "{{3,2,1,0}}",
        "f32[8,24]{1,0} all-gather(%x), channel_id=1, dimensions={1}, replica_groups={{2,0},{3,1}}",
        "f32[8,6]{1,0} reduce-scatter(%x), channel_id=1, dimensions={1}, to_apply=%add, "
        "replica_groups={{0,3},{1,2}}",
        SENT "{{0,3},{3,0},{1,2},{2,1}}",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) expect_refused(refused[i]);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        lx_status st = {0};
        const struct lx_graph *g = import_op(taken[i], true, &st);
        if (!g) fail_msg("%s: %s", taken[i], st.text);
        assert_int_equal(g->ops[g->op_count - 1].params->group_count, i < 2 ? g->grid_axes : 1);
        lx_graph_free(g);
    }
}

/* What mesh_shard shares out is whole, stated or not: devices take their parts, and nothing is exchanged. */
static void test_shared_out(void **state)
{
    (void)state;
    static const char text[] =
        "module @m attributes {ttcore.meshes = #ttcore.meshes<[<\"mesh\" = 1x4>]>} {\n"
        "func.func @main(%arg0: tensor<16x64xf32>) -> tensor<16x16xf32> {\n"
        "%0 = \"ttir.mesh_shard\"(%arg0) <{shard_dims = array<i64: -1, 1>, shard_direction = "
        "#ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 4>, shard_type = "
        "#ttcore.shard_type<devices>}> : (tensor<16x64xf32>) -> tensor<16x16xf32>\n"
        "return %0 : tensor<16x16xf32>\n} }\n";
    lx_status st = {0};
    const struct lx_graph *g = import("m.mlir", text, sizeof text - 1, true);
    struct lx_team_options how = {.grid = {2, {1, 4}}};
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    assert_int_equal(p->graph->tensors[0].rank, 3); /* [16, 4, 16], and no dimension for devices */
    assert_int_equal(p->bytes + p->combine_bytes, 0);
    lx_team_free(p);
    lx_graph_free(g);
}

/* Round a ring each device gets what one other has, and nothing of those between. */
static void test_rings(void **state)
{
    (void)state;
    static const char *const rings[] = {SENT "{{3,0},{0,1},{1,2},{2,3}}", SENT "{{2,0},{3,1},{0,2},{1,3}}",
                                        SENT "{{1,0},{2,1},{3,2},{0,3}}"};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        lx_status st = {0};
        struct lx_team_options how = {.grid = {1, {4}}};
        const struct lx_graph *g = import_op(rings[i], true, &st);
        struct lx_team_plan *p = g ? lx_team_make(g, &how, &st) : NULL;
        if (!p) fail_msg("%s: %s", rings[i], st.text);
        assert_int_equal(p->bytes, 4 * 8 * 12 * 4);
        for (int32_t e = 0; e < p->exchange_count; e++)
            for (int m = 0; m < 4; m++) assert_in_range(p->exchanges[e].received[m], 0, 8 * 12 * 4);
        lx_team_free(p);
        lx_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models),  cmocka_unit_test(test_one_device),
                                       cmocka_unit_test(test_meaning), cmocka_unit_test(test_other_groups),
                                       cmocka_unit_test(test_rings),   cmocka_unit_test(test_shared_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
