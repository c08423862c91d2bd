/* Ops with several results: one op and one tick on the whole way from the file to the device. What each result costs is
 * counted by hand, results that nobody wants are not made, and what is no such op is refused with its place. */
#include "device/device.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PATTERN(tensors, ops)                                                                                \
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\",\n\"tensors\": [" tensors "],\n\"ops\": [" ops   \
    "]}"
#define X "{\"name\": \"x\", \"shape\": [64, 128], \"role\": \"input\"}"
#define TOP                                                                                                  \
    "{\"name\": \"top\", \"kind\": \"topk\", \"inputs\": [\"x\"], \"outputs\": [\"best\", \"who\"], "        \
    "\"axis\": 1, \"k\": 8, \"einsum\": \"mn->mk\"}"

static const struct lx_graph *graph_of(const char *text)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

static struct lx_plan *plan_of(const struct lx_graph *g, const struct lx_passes *passes)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    if (passes) how.passes = *passes;
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p || !lx_plan_check(p, &st)) fail_msg("%s", st.text);
    return p;
}

static void runs(const struct lx_plan *p)
{
    lx_status st = {0};
    struct lx_device_options how = {.verify = LX_VERIFY_FULL};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r) fail_msg("%s", st.text);
    if (!r->ok) fail_msg("%s", r->fault_count ? r->faults[0].text : "not as judged or counted");
    for (int32_t o = 0; o < r->op_count; o++) assert_true(r->ops[o].verified);
    lx_run_result_free(r);
}

/* As a file, and read back from it. */
static void comes_back(const struct lx_plan *p)
{
    size_t length;
    lx_status st = {0};
    char *text = lx_plan_to_json(p, &length);
    struct lx_plan *again = lx_plan_of_text("t", text, length, &st);
    if (!again || !lx_plan_check(again, &st)) fail_msg("%s", st.text);
    size_t second;
    char *same = lx_plan_to_json(again, &second);
    assert_string_equal(text, same);
    runs(again);
    lx_plan_free(again);
    mem_free(text);
    mem_free(same);
}

static int32_t tensor_named(const struct lx_graph *g, const char *name)
{
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (strcmp(g->tensors[t].name, name) == 0) return t;
    return -1;
}

static int64_t bytes_of(const struct lx_plan *p, const char *name)
{
    return lx_layout_bytes(&p->layouts->layouts[tensor_named(p->layouts->graph, name)]);
}

static const char *const top_and_more =
    PATTERN(X ",{\"name\": \"best\", \"shape\": [64, 8]}, {\"name\": \"who\", \"shape\": [64, 8], \"dtype\": "
              "\"int32\"}, {\"name\": \"y\", \"shape\": [64, 8]}",
            TOP ",{\"name\": \"neg\", \"kind\": \"neg\", \"inputs\": [\"best\"], \"output\": \"y\"}");

/* Two ops of two ticks, the same graph when it is written and read; what is read is read once. */
static void one_op_is_one_tick(void **state)
{
    (void)state;
    const struct lx_graph *g = graph_of(top_and_more), *again;
    lx_status st = {0};
    size_t length;
    char *json = lx_graph_to_json(g, &length);
    again = lx_graph_of_text("t", json, length, &st);
    assert_non_null(again);
    assert_true(again->hash == g->hash && g->op_count == 2 && g->ops[0].output_count == 2);
    assert_string_equal(g->tensors[g->ops[0].outputs[1]].name, "who");
    struct lx_passes off = {.stage = 1};
    for (int staged = 0; staged < 2; staged++) {
        struct lx_plan *p = plan_of(g, staged ? &off : NULL);
        const struct lx_op_traffic *t = &p->traffic[0];
        bool kept = lx_plan_place(p, 0, 1) >= 0;
        assert_int_equal(p->layouts->graph->op_count, 2);
        assert_int_equal(p->access_at[1], 3);
        assert_int_equal(t->hbm_read, bytes_of(p, "x"));
        assert_int_equal(t->hbm_written, bytes_of(p, "who") + (kept ? 0 : bytes_of(p, "best")));
        char *loop = lx_op_launch_loop(&p->launches[0], p->layouts->graph);
        assert_non_null(strstr(loop, "best[m0:m1, k0:k1], who[m0:m1, k0:k1] = topk(x["));
        mem_free(loop);
        runs(p);
        comes_back(p);
        lx_plan_free(p);
    }
    lx_graph_free(again);
    lx_graph_free(g);
    mem_free(json);
}

/* Of two results one is an intermediate that nobody reads: the op that is left has one, of either. */
static void what_nobody_wants_is_not_made(void **state)
{
    (void)state;
    static const char *const dead[] = {"best", "who"}, *const left[] = {"topk_index", "topk"};
    for (int i = 0; i < 2; i++) {
        char text[900];
        snprintf(text, sizeof text,
                 PATTERN(X ",{\"name\": \"best\", \"shape\": [64, 8], \"role\": \"%s\"}, {\"name\": \"who\", "
                           "\"shape\": [64, 8], \"dtype\": \"int32\", \"role\": \"%s\"}",
                         TOP),
                 i == 0 ? "intermediate" : "output", i == 1 ? "intermediate" : "output");
        const struct lx_graph *g = graph_of(text);
        struct lx_plan *p = plan_of(g, NULL);
        const struct lx_op *op = &p->layouts->graph->ops[0];
        assert_int_equal(op->output_count, 1);
        assert_string_equal(op->kind->name, left[i]);
        assert_int_equal(tensor_named(p->layouts->graph, dead[i]), -1);
        runs(p);
        comes_back(p);
        lx_plan_free(p);
        lx_graph_free(g);
    }
}

/* Three results of which the middle one is dead; the first takes the place of the input that ends with the op. */
static void only_the_first_takes_a_place(void **state)
{
    (void)state;
    const struct lx_graph *g = graph_of(PATTERN(
        "{\"name\": \"x\", \"bytes\": 4096}, {\"name\": \"y\", \"bytes\": 4096}, {\"name\": \"a\", "
        "\"bytes\": 4096}, "
        "{\"name\": \"b\", \"bytes\": 4096, \"role\": \"intermediate\"}, {\"name\": \"c\", \"bytes\": 4096}, "
        "{\"name\": \"z\", \"bytes\": 4096}",
        "{\"name\": \"make\", \"kind\": \"generic\", \"inputs\": [\"x\"], \"output\": \"y\"},"
        "{\"name\": \"part\", \"kind\": \"generic\", \"inputs\": [\"y\"], \"outputs\": [\"a\", \"b\", "
        "\"c\"]},"
        "{\"name\": \"join\", \"kind\": \"generic\", \"inputs\": [\"a\", \"c\"], \"output\": \"z\"}"));
    struct lx_plan *p = plan_of(g, NULL);
    int32_t first = p->accesses[p->access_at[1] + 1].stay, second = p->accesses[p->access_at[1] + 2].stay;
    assert_int_equal(p->layouts->graph->ops[1].output_count, 2);
    assert_true(first >= 0 && second >= 0 && p->answer.address[first] >= 0 && p->answer.address[second] >= 0);
    assert_int_equal(p->took_slot_of[first], p->accesses[p->access_at[1]].stay);
    assert_int_equal(p->took_slot_of[second], -1);
    runs(p);
    comes_back(p);
    lx_plan_free(p);
    lx_graph_free(g);
}

/* Little room: the op is walked in tiles with its neighbours, and both results are cut along. */
static void both_results_are_walked_in_tiles(void **state)
{
    (void)state;
    const struct lx_graph *g = graph_of(PATTERN(
        "{\"name\": \"x\", \"shape\": [512, 128]}, {\"name\": \"e\", \"shape\": [512, 128]}, {\"name\": "
        "\"m\", \"shape\": [512]}, {\"name\": \"i\", \"shape\": [512], \"dtype\": \"int32\"}, {\"name\": "
        "\"y\", \"shape\": [512, 128]}",
        "{\"name\": \"exp\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"e\"},"
        "{\"name\": \"max\", \"kind\": \"max\", \"inputs\": [\"e\"], \"outputs\": [\"m\", \"i\"], "
        "\"einsum\": \"ab->a\"},"
        "{\"name\": \"sub\", \"kind\": \"sub\", \"inputs\": [\"e\", \"m\"], \"output\": \"y\", "
        "\"einsum\": \"ab,a->ab\"}"));
    lx_status st = {0};
    const struct lx_graph *small = lx_graph_with_capacity(g, 3072, &st);
    struct lx_passes tiled = {.tile = LX_TILE_AUTO}, plain = {.tile = LX_TILE_NONE};
    struct lx_plan *p = plan_of(small, &tiled), *q = plan_of(small, &plain);
    assert_true(p->nest_count == 1 && p->nests[0].first == 0 && p->nests[0].last == 2);
    assert_true(p->figures.hbm_bytes < q->figures.hbm_bytes);
    assert_int_equal(p->figures.hbm_bytes, bytes_of(p, "x") + bytes_of(p, "y") + bytes_of(p, "i"));
    runs(p);
    runs(q);
    comes_back(p);
    lx_plan_free(p);
    lx_plan_free(q);
    lx_graph_free(small);
    lx_graph_free(g);
}

static void refused(const char *text, enum lx_code code, const char *words)
{
    lx_status st = {0};
    assert_null(lx_graph_of_text("t", text, strlen(text), &st));
    if (st.code != code || !strstr(st.text, words)) fail_msg("%s", st.text);
    assert_int_equal(st.line, 3);
}

#define BEST "{\"name\": \"best\", \"shape\": [64, 8]}"
#define MAX(einsum, inputs)                                                                                  \
    "{\"name\": \"m\", \"kind\": \"max\", \"inputs\": " inputs ", \"outputs\": [\"best\", \"who\"], "        \
    "\"einsum\": \"" einsum "\"}"

static void what_is_no_such_op_is_refused(void **state)
{
    (void)state;
    refused(PATTERN(X "," BEST, "{\"name\": \"top\", \"kind\": \"topk\", \"inputs\": [\"x\"], \"outputs\": "
                                "[\"best\", \"best\"], \"axis\": 1, \"k\": 8, \"einsum\": \"mn->mk\"}"),
            LX_E_SCHEMA, "writes best twice");
    refused(PATTERN(X "," BEST ",{\"name\": \"who\", \"shape\": [64, 9], \"dtype\": \"int32\"}", TOP),
            LX_E_SHAPE, "'k' is 9 long in who");
    refused(
        PATTERN(
            X "," BEST ",{\"name\": \"who\", \"shape\": [64, 128]}",
            "{\"name\": \"n\", \"kind\": \"neg\", \"inputs\": [\"x\"], \"outputs\": [\"best\", \"who\"]}"),
        LX_E_SCHEMA, "neg has not 2 results");
    refused(PATTERN(X
                    ",{\"name\": \"best\", \"shape\": [64, 128]}, {\"name\": \"who\", \"shape\": [64, 128], "
                    "\"dtype\": \"int32\"}",
                    MAX("mn,mn->mn", "[\"x\", \"x\"]")),
            LX_E_EINSUM, "leave the other out");
    refused(PATTERN(X ",{\"name\": \"best\", \"shape\": [64]}, {\"name\": \"who\", \"shape\": [64]}",
                    MAX("mn->m", "[\"x\"]")),
            LX_E_SHAPE, "make it int32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_op_is_one_tick),
        cmocka_unit_test(what_nobody_wants_is_not_made),
        cmocka_unit_test(only_the_first_takes_a_place),
        cmocka_unit_test(both_results_are_walked_in_tiles),
        cmocka_unit_test(what_is_no_such_op_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
