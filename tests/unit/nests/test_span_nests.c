/* Ops whose spans no division keeps within the limit are planned in nests; where there are none, they are refused. */
#include "unstable.h"
#include "base/memory.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static const struct lx_graph *limited(const char *path, int64_t cores, int64_t span)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) fail_msg("%s", st.text);
    struct lx_device device = g->device;
    device.cores = cores;
    device.span_bytes = span;
    const struct lx_graph *out = lx_graph_with_device(g, &device);
    assert_non_null(out);
    lx_graph_free(g);
    return out;
}

/* Each op as divided, tiles of nests counted, keeps to the limit; the plan's file is legal, and it can be run. */
static void within_limit(const struct lx_plan *p, bool run)
{
    lx_status st = {0};
    size_t length;
    for (int32_t o = 0; o < p->divisions->count; o++)
        for (int i = 0; i < p->divisions->at[o].operand_count; i++)
            assert_true(p->divisions->at[o].operands[i].bytes <= p->layouts->graph->device.span_bytes);
    assert_true(p->answer.status == LX_ERROR || lx_plan_least(p) <= p->figures.hbm_bytes);
    char *text = lx_plan_to_json(p, &length);
    struct lx_plan *read = lx_plan_of_text("plan", text, length, &st);
    if (!read || !lx_plan_check(read, &st)) fail_msg("%s", st.text);
    lx_plan_free(read);
    mem_free(text);
    if (!run) return;
    struct lx_device_options how = {.verify = LX_VERIFY_FULL};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r || !r->ok) fail_msg("%s", r && r->fault_count ? r->faults[0].text : st.text);
    lx_run_result_free(r);
}

static void planned_in_nests(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t cores, span;
        bool run;
    } cases[] = {
        {"lm_head", 1, 256 << 20, false}, {"lm_head", 3, 256 << 20, false},
        {"lm_head", 4, 256 << 20, false}, {"rms_norm", 1, 65536, true},
        {"mlp_small", 2, 16384, true},    {"softmax_512x1024", 4, 65536, true},
    };
    static const enum lx_ask asks[] = {LX_ASK_TRAFFIC, LX_ASK_TIME, LX_ASK_BALANCED, LX_ASK_FIT};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = i % 3; k < sizeof asks / sizeof *asks; k += SAMPLED ? 3 : 1) {
            char path[200];
            snprintf(path, sizeof path, SOURCE_DIR "/patterns/graphs/%s.json", cases[i].name);
            const struct lx_graph *g = limited(path, cases[i].cores, cases[i].span);
            struct lx_plan_options how = {.solver = lx_solver_find("auto"), .objective = asks[k]};
            lx_status st = {0};
            struct lx_plan *p = lx_plan_make(g, &how, &st);
            if (!p) fail_msg("%s, %s: %s", cases[i].name, lx_ask_word(asks[k]), st.text);
            if (p->nest_count == 0) fail_msg("%s, %s: no nests", cases[i].name, lx_ask_word(asks[k]));
            within_limit(p, cases[i].run && k == 0);
            lx_plan_free(p);
            how.passes.tile = LX_TILE_NONE;
            assert_null(lx_plan_make(g, &how, &st));
            assert_int_equal(st.code, LX_E_SPAN);
            lx_graph_free(g);
        }
}

/* The last stick of the one dimension is not full: neither splits nor tiles cut it. */
static void refused(void **state)
{
    (void)state;
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", "
        "\"device\": {\"preset\": \"spyre\", \"cores\": 1, \"span_bytes\": 4096}, "
        "\"tensors\": [{\"name\": \"x\", \"shape\": [6399], \"dtype\": \"fp16\", \"role\": \"input\"}, "
        "{\"name\": \"y\", \"shape\": [6399], \"dtype\": \"fp16\", \"role\": \"output\"}], "
        "\"ops\": [{\"name\": \"half\", \"kind\": \"relu\", \"inputs\": [\"x\"], \"output\": \"y\"}]}";
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    if (!g) fail_msg("%s", st.text);
    assert_null(lx_plan_make(g, &how, &st));
    assert_int_equal(st.code, LX_E_SPAN);
    assert_non_null(strstr(st.text, "op half"));
    lx_graph_free(g);
}

/* Nests of two levels, which move far more than the op would without a limit. */
static void of_any_size(void **state)
{
    (void)state;
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"device\": \"spyre\", "
        "\"tensors\": [{\"name\": \"x\", \"shape\": [262144, 262144], \"dtype\": \"fp16\", \"role\": "
        "\"input\"}, "
        "{\"name\": \"w\", \"shape\": [262144, 262144], \"dtype\": \"fp16\", \"role\": \"weight\"}, "
        "{\"name\": \"y\", \"shape\": [262144, 262144], \"dtype\": \"fp16\", \"role\": \"output\"}], "
        "\"ops\": [{\"name\": \"o\", \"kind\": \"matmul\", \"inputs\": [\"x\", \"w\"], \"output\": \"y\", "
        "\"einsum\": \"mk,kn->mn\"}]}";
    static const enum lx_ask asks[] = {LX_ASK_TRAFFIC, LX_ASK_TIME, LX_ASK_BALANCED};
    for (size_t k = 0; k < sizeof asks / sizeof *asks; k++) {
        lx_status st = {0};
        const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
        struct lx_plan_options how = {.solver = lx_solver_find("auto"), .objective = asks[k]};
        struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
        if (!p) fail_msg("%s", st.text);
        assert_int_equal(p->nest_count, 1);
        assert_int_equal(p->nests[0].level_count, 2);
        within_limit(p, false);
        lx_plan_free(p);
        lx_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(planned_in_nests), cmocka_unit_test(refused),
                                       cmocka_unit_test(of_any_size)};
    return cmocka_run_group_tests_name("span_nests", tests, NULL, NULL);
}
