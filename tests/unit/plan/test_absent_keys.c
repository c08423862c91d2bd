/* Plans of other makers lack what the documentation lets them leave out. Of each kind of plan here every key that
 * is checked or claimed is taken out of all its records, one key at a time: the plan is as legal as before. */
#include "unstable.h"
#include "base/memory.h"
#include "planfile/plan_fields.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define PATTERNS SOURCE_DIR "/patterns/"

static const char pools[] =
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"pools\", \"alignment\": 1, \"objective\": \"height\","
    "\"pools\": [{\"name\": \"near\", \"capacity\": 512}, {\"name\": \"far\", \"capacity\": 512}],"
    "\"buffers\": [{\"name\": \"a\", \"size\": 256, \"live\": [[0, 4]], \"pools\": [\"near\"]},"
    "{\"name\": \"b\", \"size\": 384, \"live\": [[2, 6]], \"pools\": [\"far\"]}]}";

static const struct {
    const char *file; /* NULL: the list above */
    enum lx_ask objective;
    int64_t lx; /* 0: the device's */
    struct lx_passes passes;
    int devices;
} kinds[] = {
    {PATTERNS "graphs/rms_norm.json", LX_ASK_BALANCED, 0, {0}, 0},
    {PATTERNS "graphs/softmax_512x1024.json", LX_ASK_TIME, 0, {0}, 0},
    {PATTERNS "graphs/gq_attention.json", LX_ASK_HEIGHT, 0, {.tile = LX_TILE_NONE}, 0},
    {PATTERNS "graphs/mlp_small.json", LX_ASK_TRAFFIC, 16384, {0}, 0},
    {PATTERNS "targets/simple_eviction.json", LX_ASK_TRAFFIC, 0, {.evict = 1}, 0},
    {PATTERNS "targets/staircase.json", LX_ASK_FIT, 0, {.tile = LX_TILE_NONE}, 0},
    {PATTERNS "targets/staircase.json", LX_ASK_HEIGHT, 0, {.tile = LX_TILE_NONE}, 0},
    {NULL, LX_ASK_HEIGHT, 0, {0}, 0},
    {PATTERNS "team/mlp_rows.json", LX_ASK_OWN, 0, {0}, 2},
    {PATTERNS "team/slice_misses.json", LX_ASK_OWN, 0, {0}, 2},
};

static cJSON *plan_of_kind(size_t k)
{
    lx_status st = {0};
    size_t length;
    struct lx_plan_options how = {
        .solver = lx_solver_find("greedy"), .objective = kinds[k].objective, .passes = kinds[k].passes};
    const struct lx_graph *g = kinds[k].file ? lx_graph_read(kinds[k].file, &st)
                                             : lx_graph_of_text("pools", pools, strlen(pools), &st);
    if (g && kinds[k].lx) {
        const struct lx_graph *sized = lx_graph_with_capacity(g, kinds[k].lx, &st);
        lx_graph_free(g);
        g = sized;
    }
    if (!g) fail_msg("%s", st.text);
    if (!kinds[k].file || kinds[k].objective == LX_ASK_FIT) how.solver = lx_solver_find("exact");
    char *text = NULL;
    if (kinds[k].devices) {
        struct lx_team_options team = {.devices = kinds[k].devices};
        struct lx_team_plans *p = lx_team_plans_choose(g, &team, &how, &st);
        if (p) text = lx_team_plans_to_json(p, &length);
        lx_team_plans_free(p);
    } else {
        struct lx_plan *p = lx_plan_make(g, &how, &st);
        if (p) text = lx_plan_to_json(p, &length);
        lx_plan_free(p);
    }
    if (!text) fail_msg("kind %d: %s", (int)k, st.text);
    cJSON *plan = cJSON_Parse(text);
    mem_free(text);
    lx_graph_free(g);
    return plan;
}

static const char *why_refused(const cJSON *plan, bool team, lx_status *st)
{
    char *text = cJSON_PrintUnformatted(plan);
    size_t length = strlen(text);
    bool ok;
    *st = (lx_status){0};
    if (team) {
        struct lx_team_plans *p = lx_team_plans_parse("team", text, length, st);
        ok = p && lx_team_plans_check(p, st);
        lx_team_plans_free(p);
    } else {
        struct lx_plan *p = lx_plan_of_text("plan", text, length, st);
        ok = p && lx_plan_check(p, st);
        lx_plan_free(p);
    }
    cJSON_free(text);
    return ok ? NULL : st->text;
}

/* The records of the sections; NULL: the object itself. */
static const struct {
    enum plan_section_id section;
    const char *object, *array;
} places[] = {{PLAN_ROOT, NULL, NULL},           {PLAN_GRAPH, "graph", NULL},
              {PLAN_TENSOR, "graph", "tensors"}, {PLAN_OP, "graph", "ops"},
              {PLAN_BUNDLE, "graph", "bundles"}, {PLAN_LAUNCH, "graph", "launches"},
              {PLAN_BUFFER, NULL, "buffers"},    {PLAN_TRANSFER, "graph", "transfers"}};

/* Takes the key out of all records; how many had it. */
static int take_out(cJSON *plan, size_t place, const char *key)
{
    cJSON *at = places[place].object ? cJSON_GetObjectItem(plan, places[place].object) : plan, *record;
    int found = 0;
    if (at && places[place].array) cJSON_ArrayForEach(record, cJSON_GetObjectItem(at, places[place].array))
        {
            found += cJSON_HasObjectItem(record, key);
            cJSON_DeleteItemFromObject(record, key);
        }
    else if (at && cJSON_HasObjectItem(at, key))
        cJSON_DeleteItemFromObject(at, key), found++;
    return found;
}

/* Of a team also those of each device's plan. */
static int take_out_of_all(cJSON *plan, size_t place, const char *key)
{
    cJSON *devices = cJSON_GetObjectItem(plan, "plans"), *one;
    if (!devices) return take_out(plan, place, key);
    int found = place == 0 ? take_out(plan, place, key) : 0;
    cJSON_ArrayForEach(one, devices) found += cJSON_IsObject(one) ? take_out(one, place, key) : 0;
    return found;
}

static void test_keys_taken_out(void **state)
{
    lx_status st;
    int tried = 0, refused = 0;
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        cJSON *plan = plan_of_kind(k);
        if (why_refused(plan, kinds[k].devices, &st)) fail_msg("kind %d itself: %s", (int)k, st.text);
        for (size_t p = 0; p < sizeof places / sizeof *places; p++)
            for (size_t i = 0; i < plan_sections[places[p].section].count; i++) {
                const struct field *f = &plan_sections[places[p].section].fields[i];
                if (f->standing != FIELD_CHECKED && f->standing != FIELD_CLAIMED) continue;
                cJSON *copy = cJSON_Duplicate(plan, true);
                if (take_out_of_all(copy, p, f->key)) {
                    const char *why = why_refused(copy, kinds[k].devices, &st);
                    tried++;
                    if (why) print_message("kind %d without %s: %s\n", (int)k, f->key, why), refused++;
                }
                cJSON_Delete(copy);
            }
        static const char *const of_team[] = {"predicted_us", "bound_us", "plain_bytes", "combine_bytes"};
        for (size_t i = 0; kinds[k].devices && i < sizeof of_team / sizeof *of_team; i++) {
            cJSON *copy = cJSON_Duplicate(plan, true);
            cJSON_DeleteItemFromObject(copy, of_team[i]);
            const char *why = why_refused(copy, true, &st);
            tried++;
            if (why) print_message("kind %d without %s: %s\n", (int)k, of_team[i], why), refused++;
            cJSON_Delete(copy);
        }
        cJSON_Delete(plan);
    }
    assert_true(tried > 200);
    assert_int_equal(refused, 0);
}

/* A false figure is refused, also where the one that it would be compared with is absent. */
static void test_false_figures(void **state)
{
    lx_status st;
    int falsified = 0;
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (kinds[k].devices) continue;
        static const double gaps[] = {-0.5, 1e9};
        cJSON *plan = plan_of_kind(k), *buffer;
        for (int i = 0; i < 2; i++) {
            cJSON *copy = cJSON_Duplicate(plan, true);
            take_out(copy, 0, "bound_bytes"), take_out(copy, 0, "gap"), take_out(copy, 1, "bound_us");
            assert_null(why_refused(copy, false, &st));
            cJSON_AddNumberToObject(copy, "gap", gaps[i]);
            if (!why_refused(copy, false, &st)) fail_msg("kind %d: a gap of %g is taken", (int)k, gaps[i]);
            cJSON_Delete(copy);
        }
        cJSON_ArrayForEach(buffer, cJSON_GetObjectItem(plan, "buffers"))
        {
            const cJSON *address = cJSON_GetObjectItem(buffer, "address");
            cJSON *cost = cJSON_GetObjectItem(buffer, "cost");
            bool placed = cJSON_IsNumber(address) && address->valuedouble >= 0;
            if (!cJSON_HasObjectItem(plan, "graph") || !placed || !cost || cost->valuedouble == 0) continue;
            cJSON_SetNumberValue(cost, 0);
            if (!why_refused(plan, false, &st)) fail_msg("kind %d: a cost of 0 is taken", (int)k);
            falsified++;
            break;
        }
        cJSON_Delete(plan);
    }
    assert_true(falsified >= 3);
}

/* The rows of a launch have their cores' numbers, so their order says nothing. */
static void test_rows_swapped(void **state)
{
    lx_status st = {0};
    (void)state;
    cJSON *plan = plan_of_kind(3), *launch;
    int swapped = 0;
    cJSON_ArrayForEach(launch, cJSON_GetObjectItem(cJSON_GetObjectItem(plan, "graph"), "launches"))
    {
        cJSON *cores = cJSON_GetObjectItem(launch, "cores");
        if (cJSON_GetArraySize(cores) < 2) continue;
        cJSON *second = cJSON_DetachItemFromArray(cores, 1);
        cJSON_InsertItemInArray(cores, 0, second);
        swapped++;
    }
    assert_true(swapped > 0);
    char *text = cJSON_PrintUnformatted(plan);
    const struct lx_plan *p = lx_plan_of_text("plan", text, strlen(text), &st);
    if (!p || !lx_plan_check(p, &st)) fail_msg("%s", st.text);
    struct lx_run_result *r = lx_device_run(p, &(struct lx_device_options){0}, &st);
    assert_true(r && r->ok);
    lx_run_result_free(r);
    lx_plan_free(p);
    cJSON_free(text);
    cJSON_Delete(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys_taken_out),
                                       cmocka_unit_test(test_false_figures),
                                       cmocka_unit_test(test_rows_swapped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
