/* Divisions and placement of graphs together: never worse than before, legal, repeatable; and the attention
 * graph that the published search cannot bring on chip. */
#include "unstable.h"
#include "base/memory.h"
#include "cooptimise/cooptimise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const struct lx_graph *graph;
    struct lx_layouts *layouts;
    struct lx_divisions *divisions;
    struct lx_cooptimised result;
};

static struct lx_cooptimise_options options(enum lx_joint_mode mode, enum lx_cooptimise_goal goal)
{
    return (struct lx_cooptimise_options){.mode = mode,
                                          .goal = goal,
                                          .solver = lx_solver_find("auto"),
                                          .clone_inputs = true,
                                          .outputs_on_chip = true};
}

/* Takes the graph over. */
static struct run run_graph(const struct lx_graph *g, const struct lx_cooptimise_options *how, int64_t cores)
{
    struct run r = {.graph = g};
    lx_status st = {0};
    struct lx_divide_options divide = {.cores = cores};
    r.layouts = lx_layouts_make(g, LX_WEIGHTS_FREE, &st);
    if (!r.layouts) fail_msg("%s", st.text);
    r.divisions = lx_divide(r.layouts, &divide, &st);
    if (!r.divisions) fail_msg("%s", st.text);
    if (!lx_cooptimise(r.divisions, how, &r.result, &st)) fail_msg("%s: %s", g->name, st.text);
    for (int32_t o = 0; o < r.divisions->count; o++)
        if (r.result.divided[o]) r.divisions->at[o] = *r.result.divided[o];
    return r;
}

static void run_free(struct run *r)
{
    lx_cooptimised_free(&r->result);
    lx_divisions_free(r->divisions);
    lx_layouts_free(r->layouts);
    lx_graph_free(r->graph);
}

static const struct lx_graph *bundled(const char *name)
{
    char path[600];
    lx_status st;
    snprintf(path, sizeof path, "%s/patterns/graphs/%s.json", SOURCE_DIR, name);
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

static const struct lx_graph *generated(const char *name, const char *option, int64_t value)
{
    const struct lx_generator *k = lx_generator_find(name);
    int64_t values[32];
    lx_status st;
    for (int i = 0; i < k->option_count; i++)
        values[i] = strcmp(k->options[i].name, option) == 0 ? value : k->options[i].def;
    const struct lx_graph *g = k->build(values, &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

static int32_t op_named(const struct lx_graph *g, const char *name)
{
    for (int32_t o = 0; o < g->op_count; o++)
        if (strcmp(g->ops[o].name, name) == 0) return o;
    fail_msg("no op %s", name);
    return -1;
}

static int32_t operand(const struct lx_op *op, int i)
{
    return i < op->input_count ? op->inputs[i] : op->output;
}

/* By the divisions that were left behind: whoever touches what is on chip sees it alike, and it fits. */
static void expect_agreement(const struct run *r)
{
    const struct lx_graph *g = r->layouts->graph;
    int32_t *first = mem_alloc(((size_t)g->tensor_count + 1) * sizeof *first);
    assert_non_null(first);
    for (int32_t t = 0; t < g->tensor_count; t++) first[t] = -1;
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < op_operand_count(&g->ops[o]); i++) {
            int32_t t = operand(&g->ops[o], i);
            if (r->result.address[t] < 0) continue;
            if (first[t] < 0) first[t] = o;
            assert_false(lx_core_div_mismatch(r->divisions, first[t], o, t));
            assert_true(r->result.address[t] + r->divisions->at[o].operands[i].core_bytes <=
                        lx_device_usable(&g->device));
        }
    mem_free(first);
}

static void expect_no_worse(const struct run *r, const struct lx_cooptimise_options *how)
{
    const struct lx_cooptimised *c = &r->result;
    expect_agreement(r);
    if (how->goal == LX_GOAL_TRAFFIC) {
        assert_true(c->now.traffic_bytes <= c->seed.traffic_bytes);
        assert_true(c->bound_bytes <= c->now.traffic_bytes);
        if (!how->any_pace) assert_true(c->now.time_us <= c->seed.time_us);
    } else {
        assert_true(c->now.time_us <= c->seed.time_us);
        assert_true(c->bound_us <= c->now.time_us * (1 + 1e-12));
    }
}

static void every_bundled_graph(void **unused)
{
    (void)unused;
    static const char *const names[] = {"gq_attention",
                                        "layernorm",
                                        "lm_head",
                                        "mha_4h",
                                        "mlp",
                                        "moe_mlp",
                                        "rms_norm",
                                        "sdpa",
                                        "stencil_star",
                                        "swiglu",
                                        "softmax_1024x2048",
                                        "softmax_512x1024",
                                        "transformer_block"};
    static const int64_t cores[] = {1, 6, 32};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        for (unsigned k = 0; k < 3; k++)
            for (int goal = 0; goal < LX_GOAL_COUNT; goal++) {
                struct lx_cooptimise_options how = options(LX_JOINT_FULL, (enum lx_cooptimise_goal)goal);
                /* The vocabulary is beyond what few cores may address. */
                if (cores[k] < 32 && strcmp(names[i], "lm_head") == 0) continue;
                how.clone_inputs = how.outputs_on_chip = i % 2 == 0;
                struct run r = run_graph(bundled(names[i]), &how, cores[k]);
                expect_no_worse(&r, &how);
                run_free(&r);
            }
}

/* Both matmuls and the chain between them: one cut, all of it on chip. */
static void attention_on_one_division(void **unused)
{
    (void)unused;
    static const char *const chain[] = {"scores", "scaled", "max", "sub", "exp", "sum", "p", "mixed"};
    for (int goal = 0; goal < LX_GOAL_COUNT; goal++) {
        struct lx_cooptimise_options full = options(LX_JOINT_FULL, (enum lx_cooptimise_goal)goal);
        struct lx_cooptimise_options flip = options(LX_JOINT_FLIP, (enum lx_cooptimise_goal)goal);
        struct run r = run_graph(bundled("mha_4h"), &full, 32), f = run_graph(bundled("mha_4h"), &flip, 32);
        const struct lx_graph *g = r.layouts->graph;
        expect_no_worse(&r, &full);
        assert_true(r.result.now.traffic_bytes < f.result.now.traffic_bytes);
        for (unsigned i = 0; i + 1 < sizeof chain / sizeof *chain; i++) {
            int32_t o = op_named(g, chain[i]), next = op_named(g, chain[i + 1]);
            assert_true(r.result.address[g->ops[o].output] >= 0);
            assert_true(r.divisions->at[o].cores_used > 1);
            assert_int_equal(r.divisions->at[next].cores_used, r.divisions->at[o].cores_used);
        }
        run_free(&r);
        run_free(&f);
    }
}

static void expect_same(const struct run *a, const struct run *b)
{
    const struct lx_graph *g = a->layouts->graph;
    assert_int_equal(a->result.steps, b->result.steps);
    assert_memory_equal(a->result.address, b->result.address,
                        (size_t)g->tensor_count * sizeof *a->result.address);
    for (int32_t o = 0; o < g->op_count; o++)
        for (int i = 0; i < a->divisions->at[o].split_count; i++)
            assert_int_equal(a->divisions->at[o].splits[i].split, b->divisions->at[o].splits[i].split);
}

static void large_graphs_repeat(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        struct lx_cooptimise_options how = options(LX_JOINT_FULL, i ? LX_GOAL_TRAFFIC : LX_GOAL_TIME);
        how.run.work_limit = 300000;
        for (int k = 0; k < 2; k++) {
            struct run a =
                run_graph(k ? generated("flash", "kv", 2048) : generated("decode", "ops", 304), &how, 32);
            struct run b =
                run_graph(k ? generated("flash", "kv", 2048) : generated("decode", "ops", 304), &how, 32);
            expect_no_worse(&a, &how);
            expect_same(&a, &b);
            run_free(&a);
            run_free(&b);
        }
    }
}

static bool stop_at_once(void *context)
{
    return ++*(int *)context > 0;
}

static void stopped_at_once(void **unused)
{
    (void)unused;
    int asked = 0;
    for (int goal = 0; goal < LX_GOAL_COUNT; goal++) {
        struct lx_cooptimise_options how = options(LX_JOINT_FULL, (enum lx_cooptimise_goal)goal);
        how.solver = lx_solver_find("greedy");
        how.run.stop = stop_at_once;
        how.run.context = &asked;
        struct run r = run_graph(bundled("transformer_block"), &how, 32);
        expect_no_worse(&r, &how);
        run_free(&r);
    }
    assert_true(asked > 0);
}

/* Extern ops and tensors without a shape stay where they are. */
static void opaque_ops(void **unused)
{
    (void)unused;
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"opaque\", \"tensors\": ["
        "{\"name\": \"x\", \"shape\": [64, 256], \"dtype\": \"fp16\", \"role\": \"input\"},"
        "{\"name\": \"a\", \"shape\": [64, 256], \"dtype\": \"fp16\"},"
        "{\"name\": \"b\", \"shape\": [64, 256], \"dtype\": \"fp16\"},"
        "{\"name\": \"y\", \"shape\": [64, 256], \"dtype\": \"fp16\", \"role\": \"output\"}], \"ops\": ["
        "{\"name\": \"one\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"a\"},"
        "{\"name\": \"two\", \"kind\": \"extern\", \"inputs\": [\"a\"], \"output\": \"b\"},"
        "{\"name\": \"three\", \"kind\": \"exp\", \"inputs\": [\"b\"], \"output\": \"y\"}]}";
    lx_status st;
    const struct lx_graph *g = lx_graph_of_text("opaque", text, sizeof text - 1, &st);
    if (!g) fail_msg("%s", st.text);
    struct lx_cooptimise_options how = options(LX_JOINT_FULL, LX_GOAL_TIME);
    struct run r = run_graph(g, &how, 32);
    expect_no_worse(&r, &how);
    assert_int_equal(r.result.now.on_chip, 0);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bundled_graph), cmocka_unit_test(attention_on_one_division),
        cmocka_unit_test(large_graphs_repeat), cmocka_unit_test(stopped_at_once),
        cmocka_unit_test(opaque_ops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
