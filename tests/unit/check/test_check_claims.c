/* What the checker says is a fact and what is a claim; and plans that say no more than they must. */
#include "support/device_plans.h"
#include "planfile/plan_fields.h"
#include "base/memory.h"

#include <stdlib.h>
#include <cjson/cJSON.h>
#include <math.h>

static cJSON *plan_tree(const char *pattern, const char *solver, int64_t capacity, int64_t cores)
{
    struct lx_passes passes = {0};
    const struct lx_graph *g = device_test_graph(pattern);
    if (cores) g = with_cores(g, cores);
    if (capacity) g = with_capacity(g, capacity);
    struct lx_plan *p = plan_graph(g, solver, &passes);
    size_t length;
    char *text = lx_plan_to_json(p, &length);
    cJSON *tree = cJSON_Parse(text);
    assert_non_null(tree);
    mem_free(text);
    lx_plan_free(p);
    return tree;
}

static struct lx_plan *read_tree(const cJSON *tree, lx_status *st)
{
    char *text = cJSON_PrintUnformatted(tree);
    struct lx_plan *p = lx_plan_of_text("tree", text, strlen(text), st);
    free(text);
    return p;
}

static bool report_of(const cJSON *tree, struct lx_check_report *out, lx_status *st)
{
    struct lx_plan *p = read_tree(tree, st);
    bool ok = p && lx_plan_check_report(p, out, st);
    lx_plan_free(p);
    return ok;
}

static void set(cJSON *object, const char *key, double value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    cJSON_AddNumberToObject(object, key, value);
}

/* A plan that moves more than it must, by its own word the best there is. */
static void optimality_that_is_only_said(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_check_report r;
    cJSON *plan = plan_tree("targets/moe_mlp.json", "greedy", 850 * 1024, 0);
    double spill = cJSON_GetObjectItem(plan, "spill_bytes")->valuedouble;
    assert_true(spill > 0);
    set(plan, "bound_bytes", spill);
    set(plan, "gap", 0);
    cJSON_ReplaceItemInObject(plan, "status", cJSON_CreateString("optimal"));
    if (!report_of(plan, &r, &st)) fail_msg("%s", st.text);
    assert_int_equal(r.optimality, LX_BOUND_CLAIMED);
    assert_int_equal(r.bound, LX_BOUND_CLAIMED);
    assert_true(r.compulsory_bytes < r.hbm_bytes);
    set(plan, "bound_bytes", spill + 1);
    cJSON_DeleteItemFromObject(plan, "gap");
    assert_false(report_of(plan, &r, &st));
    assert_non_null(strstr(st.text, "above its own objective"));
    cJSON_Delete(plan);
}

/* What a spill counts from is a claim like any other: with it forged, all off chip looks like the best there is. */
static void a_base_that_is_only_said(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_check_report r;
    cJSON *plan = plan_tree("targets/moe_mlp.json", "greedy", 850 * 1024, 0);
    double traffic = cJSON_GetObjectItem(plan, "hbm_bytes")->valuedouble;
    set(cJSON_GetObjectItem(plan, "graph"), "perfect_hbm_bytes", traffic);
    set(plan, "spill_bytes", 0);
    set(plan, "bound_bytes", 0);
    set(plan, "gap", 0);
    cJSON_ReplaceItemInObject(plan, "status", cJSON_CreateString("optimal"));
    bool legal = report_of(plan, &r, &st);
    assert_true(!legal || (r.optimality == LX_BOUND_CLAIMED && r.compulsory_bytes < r.hbm_bytes));
    cJSON_Delete(plan);
}

static void must_refuse(cJSON *plan, const char *says)
{
    lx_status st = {0};
    struct lx_check_report r;
    assert_false(report_of(plan, &r, &st));
    if (!strstr(st.text, says)) fail_msg("\"%s\" does not say \"%s\"", st.text, says);
    cJSON_Delete(plan);
}

/* A buffer in whose place another was written has nothing that could be stored. */
static void a_store_of_what_was_overwritten(void **state)
{
    (void)state;
    cJSON *plan = plan_tree("graphs/rms_norm.json", "auto", 0, 4),
          *graph = cJSON_GetObjectItem(plan, "graph"), *b;
    int number = 0, parent = -1, tick = 0;
    cJSON_ArrayForEach(b, cJSON_GetObjectItem(plan, "buffers"))
    {
        const cJSON *of = cJSON_GetObjectItem(b, "in_place_of");
        if (of) parent = of->valueint, tick = cJSON_GetObjectItem(b, "start")->valueint;
        number++;
    }
    assert_true(number > 0 && parent >= 0);
    cJSON *store = cJSON_CreateObject();
    cJSON_AddStringToObject(store, "kind", "store");
    set(store, "tick", tick);
    set(store, "buffer", parent);
    cJSON_AddItemToArray(cJSON_GetObjectItem(graph, "transfers"), store);
    must_refuse(plan, "does not have its value");
}

/* Tiles of a core end with its part, and two parts in one stick would be written by two cores. */
static void parts_within_a_stick(void **state)
{
    (void)state;
    cJSON *plan = plan_tree("graphs/mlp.json", "auto", 1, 2);
    cJSON *launch =
        cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetObjectItem(plan, "graph"), "launches"), 1);
    cJSON *edit = cJSON_Parse(
        "{\"mode\": \"local_shard\", \"order\": \"match_shard\", \"dims\": "
        "[[128,128,1,128],[3072,3072,2,1568]], \"cores\": [[0,0,0,0,1,0,0,0],[1,0,1,0,1,0,1,0]]}");
    assert_true(launch && edit);
    while (edit->child) {
        cJSON *item = cJSON_DetachItemViaPointer(edit, edit->child);
        cJSON_DeleteItemFromObject(launch, item->string);
        assert_true(cJSON_AddItemToObject(launch, item->string, item));
    }
    cJSON_Delete(edit);
    must_refuse(plan, "tiles end within sticks of the output");
}

/* Everything that moves must move. */
static void optimality_that_is_a_fact(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_check_report r;
    cJSON *plan = plan_tree("graphs/moe_mlp.json", "auto", 0, 0);
    set(plan, "bound_bytes", 0);
    cJSON_ReplaceItemInObject(plan, "status", cJSON_CreateString("feasible"));
    cJSON_DeleteItemFromObject(plan, "gap");
    if (!report_of(plan, &r, &st)) fail_msg("%s", st.text);
    assert_int_equal(r.optimality, LX_BOUND_VERIFIED);
    assert_int_equal(r.hbm_bytes, r.compulsory_bytes);
    cJSON_Delete(plan);
}

static void strip(cJSON *record, enum plan_section_id section)
{
    for (size_t i = 0; record && i < plan_sections[section].count; i++) {
        const struct field *f = &plan_sections[section].fields[i];
        if (f->standing != FIELD_STATED) cJSON_DeleteItemFromObjectCaseSensitive(record, f->key);
    }
}

static void strip_all(cJSON *plan)
{
    static const struct {
        enum plan_section_id section;
        const char *array;
    } arrays[] = {{PLAN_TENSOR, "tensors"},
                  {PLAN_OP, "ops"},
                  {PLAN_LAUNCH, "launches"},
                  {PLAN_BUNDLE, "bundles"},
                  {PLAN_TRANSFER, "transfers"}};
    cJSON *graph = cJSON_GetObjectItem(plan, "graph"), *one;
    strip(plan, PLAN_ROOT);
    strip(graph, PLAN_GRAPH);
    cJSON_DeleteItemFromObject(plan, "solver");
    cJSON_DeleteItemFromObject(plan, "stats");
    cJSON_DeleteItemFromObject(graph, "passes");
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        cJSON_ArrayForEach(one, cJSON_GetObjectItem(graph, arrays[i].array)) strip(one, arrays[i].section);
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(plan, "buffers")) strip(one, PLAN_BUFFER);
}

static void same_figures(const struct lx_plan *a, const struct lx_plan *b)
{
    assert_int_equal(a->figures.hbm_bytes, b->figures.hbm_bytes);
    assert_int_equal(a->figures.baseline_hbm_bytes, b->figures.baseline_hbm_bytes);
    assert_int_equal(a->figures.height_bytes, b->figures.height_bytes);
    assert_int_equal(a->figures.ring_bytes, b->figures.ring_bytes);
    assert_true(fabs(a->figures.end_to_end_us - b->figures.end_to_end_us) < 1e-6 * b->figures.end_to_end_us);
    assert_int_equal(a->segment_bytes, b->segment_bytes);
    for (int32_t o = 0; o < a->layouts->graph->op_count; o++) {
        assert_int_equal(a->traffic[o].lx_read, b->traffic[o].lx_read);
        assert_int_equal(a->traffic[o].reduce_ring, b->traffic[o].reduce_ring);
    }
}

/* What follows from the rest, and what is only claimed, may all be left out. */
static void plans_that_say_what_they_must(void **state)
{
    (void)state;
    static const char *const patterns[] = {"graphs/rms_norm.json", "graphs/mha_4h.json",
                                           "targets/moe_mlp.json", "targets/simple_eviction.json",
                                           "graphs/stencil_star.json"};
    for (size_t i = 0; i < 2 * sizeof patterns / sizeof *patterns; i++) {
        lx_status st = {0};
        cJSON *tree = plan_tree(patterns[i / 2], "bestfit", i % 2 ? 0 : 256 * 1024, i % 2 ? 4 : 0);
        struct lx_plan *whole = read_tree(tree, &st);
        assert_non_null(whole);
        strip_all(tree);
        struct lx_plan *bare = read_tree(tree, &st);
        if (!bare || !lx_plan_check(bare, &st)) fail_msg("%s: %s", patterns[i / 2], st.text);
        same_figures(bare, whole);
        cJSON *graph = cJSON_GetObjectItem(tree, "graph");
        cJSON_DeleteItemFromObject(graph, "launches");
        cJSON_DeleteItemFromObject(graph, "bundles");
        lx_plan_free(bare);
        bare = read_tree(tree, &st);
        if (!bare || !lx_plan_check(bare, &st)) fail_msg("%s: %s", patterns[i / 2], st.text);
        same_figures(bare, whole);
        lx_plan_free(bare);
        lx_plan_free(whole);
        cJSON_Delete(tree);
    }
}

/* The bound of a list is known to the checker itself. */
static void bounds_of_lists(void **state)
{
    (void)state;
    lx_status st = {0};
    struct lx_check_report r;
    cJSON *plan = plan_tree("targets/staircase.json", "firstfit", 0, 0);
    if (!report_of(plan, &r, &st)) fail_msg("%s", st.text);
    assert_int_equal(r.bound, LX_BOUND_VERIFIED);
    assert_string_equal(lx_bound_word(r.optimality), "verified");
    cJSON_Delete(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimality_that_is_only_said),
        cmocka_unit_test(a_base_that_is_only_said),
        cmocka_unit_test(a_store_of_what_was_overwritten),
        cmocka_unit_test(parts_within_a_stick),
        cmocka_unit_test(optimality_that_is_a_fact),
        cmocka_unit_test(plans_that_say_what_they_must),
        cmocka_unit_test(bounds_of_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
