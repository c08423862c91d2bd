/* Shardings of what ops make, and devices in another order than their numbers have: kept, at the least that is exchanged. */
#include "unstable.h"
#include "base/memory.h"
#include "solvers.h"
#include "import/model_import.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define MODEL(devices) "HloModule m, num_partitions=" devices "\n"
#define SUM                                                                                                  \
    "%sum (c: f32[], d: f32[]) -> f32[] {\n"                                                                 \
    "  %c = f32[] parameter(0)\n  %d = f32[] parameter(1)\n  ROOT %l = f32[] add(%c, %d)\n}\n"
#define CALLED "custom_call_target=\"Sharding\", sharding="
#define DOT    "lhs_contracting_dims={1}, rhs_contracting_dims={0}"

static const struct {
    const char *text, *tensor;
    struct lx_team_grid grid;
    int cut[LX_TEAM_AXES];
    int64_t least; /* bytes that all members receive */
} kept[] = {
    /* Columns, then rows, of a mesh whose devices are 0 1 / 3 2: one sum of y, in two pairs. */
    {MODEL("4") "ENTRY %main (x: f32[16,64], u: f32[64,128], d: f32[128,64]) -> f32[16,64] {\n"
                "  %x = f32[16,64] parameter(0), sharding={devices=[2,1,2]0,1,3,2 last_tile_dim_replicate}\n"
                "  %u = f32[64,128] parameter(1), sharding={devices=[1,2,2]0,3,1,2 last_tile_dim_replicate}\n"
                "  %d = f32[128,64] parameter(2), sharding={devices=[2,1,2]0,3,1,2 last_tile_dim_replicate}\n"
                "  %h = f32[16,128] dot(%x, %u), " DOT "\n"
                "  %s = f32[16,128] custom-call(%h), " CALLED "{devices=[2,2]0,1,3,2}\n"
                "  %t = f32[16,128] tanh(%s)\n"
                "  %y = f32[16,64] dot(%t, %d), " DOT "\n"
                "  ROOT %z = f32[16,64] custom-call(%y), " CALLED
                "{devices=[2,1,2]0,1,3,2 last_tile_dim_replicate}\n}\n",
     "h",
     {2, {2, 2}},
     {0, 1, -1},
     2 * 2 * 8 * 64 * 4},
    /* An argument that is said to lie otherwise is copied: everybody gets the three quarters that it lacks. */
    {MODEL("4") "ENTRY %main (x: f32[16,64]) -> f32[16,64] {\n"
                "  %x = f32[16,64] parameter(0), sharding={devices=[4,1]<=[4]}\n"
                "  %s = f32[16,64] custom-call(%x), " CALLED "{replicated}\n"
                "  ROOT %y = f32[16,64] exponential(%s), sharding={devices=[1,4]<=[4]}\n}\n",
     "s",
     {1, {4}},
     {-1, -1, -1},
     4 * 12 * 64 * 4},
    /* Parts of a sum could be joined and scattered so; what is stated has none, and the result is copied. */
    {MODEL(
         "2") "ENTRY %main (x: f32[8,4], w: f32[4,6]) -> f32[16,6] {\n"
              "  %x = f32[8,4] parameter(0), sharding={devices=[1,2]<=[2]}\n"
              "  %w = f32[4,6] parameter(1), sharding={devices=[2,1]<=[2]}\n"
              "  %h = f32[8,6] dot(%x, %w), " DOT ", sharding={devices=[1,2]<=[2]}\n"
              "  ROOT %y = f32[16,6] concatenate(%h, %h), dimensions={0}, sharding={devices=[2,1]<=[2]}\n}\n",
     "y",
     {1, {2}},
     {0, -1, -1},
     2 * (8 * 2 + 2 * 3 + 8 * 3) * 4},
    /* Fewer rows than devices, of which nobody says that the result has them so: it is cut as it can be. */
    {MODEL("3") "ENTRY %main (x: f32[2,3]) -> f32[3,2] {\n"
                "  %x = f32[2,3] parameter(0), sharding={devices=[3,1]<=[3]}\n"
                "  ROOT %y = f32[3,2] transpose(%x), dimensions={1,0}\n}\n",
     "x",
     {1, {3}},
     {0, -1, -1},
     4 * 4},
    /* Parts of a tuple, one of them transposed: it lies in the other's storage, whose columns are its rows. */
    {MODEL("2") "ENTRY %main (x: f32[16,64]) -> (f32[16,64], f32[64,16]) {\n"
                "  %x = f32[16,64] parameter(0), sharding={devices=[2,1]<=[2]}\n"
                "  %y = f32[16,64] exponential(%x)\n"
                "  %t = f32[64,16] transpose(%y), dimensions={1,0}\n"
                "  ROOT %r = (f32[16,64], f32[64,16]) tuple(%y, %t), sharding={{devices=[2,1]<=[2]}, "
                "{devices=[1,2]<=[2]}}\n}\n",
     "t",
     {1, {2}},
     {1, -1, -1},
     0},
    /* Two axes, of which the second has the larger parts: the devices are renumbered. */
    {MODEL("4") "ENTRY %main (x: f32[16,64], w: f32[16,64]) -> f32[16,64] {\n"
                "  %x = f32[16,64] parameter(0), sharding={devices=[4,1]<=[2,2]T(1,0)}\n"
                "  %w = f32[16,64] parameter(1), sharding={devices=[4,1]0,2,1,3}\n"
                "  ROOT %y = f32[16,64] add(%x, %w), sharding={devices=[4,1]<=[2,2]T(1,0)}\n}\n",
     "y",
     {1, {4}},
     {0, -1, -1},
     0},
    /* A program of one device in the middle, of an argument and to a result that lie so: one sum of [4, 32], round a ring. */
    {MODEL("4") SUM "%body (p: f32[4,64], q: f32[64,32]) -> f32[4,32] {\n"
                    "  %p = f32[4,64] parameter(0)\n"
                    "  %q = f32[64,32] parameter(1)\n"
                    "  %d = f32[4,32] dot(%p, %q), " DOT "\n"
                    "  %r = f32[4,32] all-reduce(%d), replica_groups={{0,1,2,3}}, to_apply=%sum\n"
                    "  ROOT %e = f32[4,32] subtract(%d, %r)\n}\n"
                    "ENTRY %main (x: f32[16,64], w: f32[64,32]) -> f32[16,32] {\n"
                    "  %x = f32[16,64] parameter(0), sharding={devices=[4,1]<=[4]}\n"
                    "  %w = f32[64,32] parameter(1), sharding={replicated}\n"
                    "  %a = f32[16,64] custom-call(%x), " CALLED "{devices=[4,1]<=[4]}\n"
                    "  %b = f32[4,64] custom-call(%a), custom_call_target=\"SPMDFullToShardShape\", "
                    "sharding={manual}\n"
                    "  %c = f32[4,32] call(%b, %w), to_apply=%body\n"
                    "  ROOT %y = f32[16,32] custom-call(%c), custom_call_target=\"SPMDShardToFullShape\", "
                    "sharding={devices=[4,1]<=[4]}\n}\n",
     "x",
     {1, {4}},
     {0, -1, -1},
     4 * 2 * 3 * 32 * 4},
    /* The same of what is not an argument alone: the whole is there, and parts of it are put together. */
    {MODEL("4") "ENTRY %main (x: f32[16,64]) -> f32[16,64] {\n"
                "  %x = f32[16,64] parameter(0)\n"
                "  %e = f32[16,64] exponential(%x)\n"
                "  %a = f32[16,64] custom-call(%e), " CALLED "{devices=[2,2]<=[2,2]T(1,0)}\n"
                "  %b = f32[8,32] custom-call(%a), custom_call_target=\"SPMDFullToShardShape\", "
                "sharding={manual}\n"
                "  %c = f32[16,64] custom-call(%b), custom_call_target=\"SPMDShardToFullShape\", "
                "sharding={devices=[2,2]<=[2,2]T(1,0)}\n"
                "  ROOT %y = f32[16,64] add(%c, %e)\n}\n",
     "x",
     {2, {2, 2}},
     {-1, -1, -1},
     4 * 3 * 8 * 32 * 4},
    /* An operand for each device: three of four rows go to others. */
    {MODEL("4") "ENTRY %main_spmd (x: f32[16], z: f32[16]) -> (f32[16], f32[16], f32[16], f32[16]) {\n"
                "  %x = f32[16] parameter(0), sharding={devices=[4]<=[4]}\n"
                "  %z = f32[16] parameter(1), sharding={devices=[4]<=[4]}\n"
                "  ROOT %a = (f32[16], f32[16], f32[16], f32[16]) all-to-all(%x, %z, %x, %z), "
                "replica_groups={{0,1,2,3}}\n}\n",
     "x",
     {1, {4}},
     {0, -1, -1},
     4 * 3 * 16 * 4},
    /* TTIR, of which devices have their parts already and keep them: one sum in two pairs. */
    {"module @m attributes {ttcore.meshes = #ttcore.meshes<[<\"mesh\" = 2x2>]>} {\n"
     "func.func @main(%arg0: tensor<64x64xf32> {ttcore.shard_status = #ttcore.shard_status<presharded>}) -> "
     "tensor<64x32xf32> {\n"
     "%0 = \"ttir.mesh_shard\"(%arg0) <{shard_dims = array<i64: 0, 1>, shard_direction = "
     "#ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 2>, shard_type = "
     "#ttcore.shard_type<identity>}> : (tensor<64x64xf32>) -> tensor<32x32xf32>\n"
     "%1 = \"ttir.all_reduce\"(%0) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : "
     "(tensor<32x32xf32>) -> tensor<32x32xf32>\n"
     "%2 = \"ttir.mesh_shard\"(%1) <{shard_dims = array<i64: 0, -1>, shard_direction = "
     "#ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 2, 1>, shard_type = "
     "#ttcore.shard_type<identity>}> : (tensor<32x32xf32>) -> tensor<64x32xf32>\n"
     "return %2 : tensor<64x32xf32>\n} }\n",
     "arg0",
     {2, {2, 2}},
     {0, 1, -1},
     2 * 2 * 32 * 32 * 4},
};

static const struct lx_graph *import(const char *text, char **report)
{
    lx_status st = {0};
    struct lx_import_options how = {.branch = -1, .team = true};
    const struct lx_graph *g = lx_model_import("m.hlo", text, strlen(text), &how, report, &st);
    if (!g) fail_msg("%s: %s", text, st.text);
    return g;
}

static int32_t find(const struct lx_graph *g, const char *name)
{
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (strcmp(g->tensors[t].name, name) == 0) return t;
    fail_msg("no tensor %s", name);
    return -1;
}

static void expect_runs(const struct lx_team_plan *p)
{
    lx_status st = {0};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    struct lx_team_run_options run = {.seed = 5, .plan = &plan, .timeout_ms = 60000};
    struct lx_team_result r;
    if (!lx_team_check(p, &st) || !lx_team_run(p, &run, &r, &st)) fail_msg("%s", st.text);
    if (!r.ok) fail_msg("other results than one device's");
    lx_team_result_free(&r);
}

static void test_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        lx_status st = {0};
        char *report = NULL;
        struct lx_team_options how = {.grid = kept[i].grid};
        const struct lx_graph *g = import(kept[i].text, &report);
        if (strstr(report, "not kept")) fail_msg("%s%s", kept[i].text, strstr(report, "\"notes\""));
        struct lx_team_plan *p = lx_team_make(g, &how, &st);
        if (!p) fail_msg("%s%s", kept[i].text, st.text);
        int32_t t = find(p->graph, kept[i].tensor);
        assert_true(p->graph->tensors[t].cut_stated);
        for (int a = 0; a < LX_TEAM_AXES; a++) assert_int_equal(p->tensors[t].shard[a], kept[i].cut[a]);
        if (p->bytes + p->combine_bytes != kept[i].least)
            fail_msg("%s%lld B", kept[i].text, (long long)(p->bytes + p->combine_bytes));
        expect_runs(p);
        lx_team_free(p);
        lx_graph_free(g);
        mem_free(report);
    }
}

struct data {
    const struct lx_graph *g;
    float x[96], y[96];
};

static void give(void *context, int32_t tensor, void *items)
{
    struct data *d = context;
    assert_int_equal(d->g->tensors[tensor].bytes, sizeof d->x);
    memcpy(items, d->x, sizeof d->x);
}

static void take(void *context, int32_t tensor, const void *items)
{
    struct data *d = context;
    assert_int_equal(d->g->tensors[tensor].bytes, sizeof d->y);
    memcpy(d->y, items, sizeof d->y);
}

/* Parts that are gathered in the order in which they were shared out are the whole again, whatever numbers devices have. */
static void test_order(void **state)
{
    (void)state;
    static const char text[] =
        MODEL("4") "ENTRY %main_spmd (x: f32[2,12]) -> f32[8,12] {\n"
                   "  %x = f32[2,12] parameter(0), sharding={devices=[4,1]3,1,0,2}\n"
                   "  ROOT %y = f32[8,12] all-gather(%x), dimensions={0}, replica_groups={{3,1,0,2}}\n}\n";
    static struct data d;
    lx_status st = {0};
    const struct lx_graph *g = import(text, NULL);
    struct lx_team_options how = {.grid = {1, {4}}};
    struct lx_plan_options plan = {.solver = lx_solver_find("greedy")};
    struct lx_device_options run = {.verify = LX_VERIFY_OPS, .input = give, .output = take, .context = &d};
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    d.g = p->graph;
    for (int i = 0; i < 96; i++) d.x[i] = (float)i;
    struct lx_plan *one = lx_plan_make(p->graph, &plan, &st);
    struct lx_run_result *r = one ? lx_device_run(one, &run, &st) : NULL;
    if (!r || !r->ok) fail_msg("%s", st.text);
    assert_memory_equal(d.x, d.y, sizeof d.x);
    lx_run_result_free(r);
    lx_plan_free(one);
    lx_team_free(p);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
