/* Plans of other makers lack what the documentation lets them leave out. Of each kind of plan here every key that
 * is checked or claimed is taken out of all its records, one key at a time and then all: the plan is as legal as
 * before. */
#include "unstable.h"
#include "base/memory.h"
#include "planfile/plan_fields.h"
#include "support/other_sizes.h"
#include "team/team_fields.h"

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
    const char *preset; /* NULL: the file's device */
} kinds[] = {
    {PATTERNS "graphs/rms_norm.json", LX_ASK_BALANCED, 0, {0}, 0, NULL},
    {PATTERNS "graphs/softmax_512x1024.json", LX_ASK_TIME, 0, {0}, 0, NULL},
    {PATTERNS "graphs/gq_attention.json", LX_ASK_HEIGHT, 0, {.tile = LX_TILE_NONE}, 0, NULL},
    {PATTERNS "graphs/mlp_small.json", LX_ASK_TRAFFIC, 16384, {0}, 0, NULL},
    {PATTERNS "targets/simple_eviction.json", LX_ASK_TRAFFIC, 0, {.evict = 1}, 0, NULL},
    {PATTERNS "targets/staircase.json", LX_ASK_FIT, 0, {.tile = LX_TILE_NONE}, 0, NULL},
    {PATTERNS "targets/staircase.json", LX_ASK_HEIGHT, 0, {.tile = LX_TILE_NONE}, 0, NULL},
    {NULL, LX_ASK_HEIGHT, 0, {0}, 0, NULL},
    {PATTERNS "lists/staging.json", LX_ASK_OWN, 0, {0}, 0, NULL},
    {PATTERNS "lists/store_once.json", LX_ASK_OWN, 0, {0}, 0, NULL},
    {PATTERNS "targets/needs_moves.json", LX_ASK_TRAFFIC, 0, {.move = 1}, 0, NULL},
    {PATTERNS "targets/eviction_reallocation.json", LX_ASK_TRAFFIC, 0, {.move = 1, .evict = 1}, 0, NULL},
    {PATTERNS "graphs/attention_small.json", LX_ASK_BALANCED, 16384, {0}, 0, "tenstorrent"},
    {PATTERNS "graphs/rms_norm.json", LX_ASK_BALANCED, 0, {0}, 0, "h200"},
    {PATTERNS "team/mlp_rows.json", LX_ASK_OWN, 0, {0}, 2, NULL},
    {PATTERNS "team/uneven_44.json", LX_ASK_TIME, 0, {0}, 3, NULL},
    {PATTERNS "team/slice_misses.json", LX_ASK_OWN, 0, {0}, 2, NULL},
};

static cJSON *plan_of_kind(size_t k)
{
    lx_status st = {0};
    size_t length;
    struct lx_plan_options how = {
        .solver = lx_solver_find("greedy"), .objective = kinds[k].objective, .passes = kinds[k].passes};
    const struct lx_graph *g = kinds[k].file ? lx_graph_read(kinds[k].file, &st)
                                             : lx_graph_of_text("pools", pools, strlen(pools), &st);
    if (g && kinds[k].preset) {
        struct lx_device device;
        assert_true(lx_device_preset(kinds[k].preset, &device));
        g = with_device(g, &device);
    }
    if (g && kinds[k].lx) {
        const struct lx_graph *sized = lx_graph_with_capacity(g, kinds[k].lx, &st);
        lx_graph_free(g);
        g = sized;
    }
    if (!g) fail_msg("%s", st.text);
    if (g->list || kinds[k].objective == LX_ASK_FIT) how.solver = lx_solver_find("exact");
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

/* The records of the sections; NULL: the object itself. Those of a team are in its file, the others in the plan of
 * a device. */
#define PLACE(table, section, object, array)                                                                 \
    {                                                                                                        \
        &table[section].fields, &table[section].count, object, array                                         \
    }
static const struct {
    const struct field *const *fields;
    const size_t *count;
    const char *object, *array;
} places[] = {PLACE(plan_sections, PLAN_ROOT, NULL, NULL),
              PLACE(plan_sections, PLAN_GRAPH, "graph", NULL),
              PLACE(plan_sections, PLAN_TENSOR, "graph", "tensors"),
              PLACE(plan_sections, PLAN_OP, "graph", "ops"),
              PLACE(plan_sections, PLAN_NEST, "graph", "nests"),
              PLACE(plan_sections, PLAN_BUNDLE, "graph", "bundles"),
              PLACE(plan_sections, PLAN_LAUNCH, "graph", "launches"),
              PLACE(plan_sections, PLAN_BUFFER, NULL, "buffers"),
              PLACE(plan_sections, PLAN_TRANSFER, "graph", "transfers"),
              PLACE(team_sections, TEAM_FILE_ROOT, NULL, NULL),
              PLACE(team_sections, TEAM_FILE_TENSOR, NULL, "tensors"),
              PLACE(team_sections, TEAM_FILE_OP, NULL, "ops"),
              PLACE(team_sections, TEAM_FILE_EXCHANGE, NULL, "exchanges"),
              PLACE(team_sections, TEAM_FILE_GROUP, NULL, "groups"),
              PLACE(team_sections, TEAM_FILE_STEP, NULL, "steps")};
enum { PLACES = sizeof places / sizeof *places, OF_TEAM = 9 };

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

/* Of a team from the plan of each device. */
static int take_out_of_all(cJSON *plan, size_t place, const char *key)
{
    cJSON *devices = cJSON_GetObjectItem(plan, "plans"), *one;
    if (place >= OF_TEAM) return devices ? take_out(plan, place, key) : 0;
    if (!devices) return take_out(plan, place, key);
    int found = 0;
    cJSON_ArrayForEach(one, devices) found += cJSON_IsObject(one) ? take_out(one, place, key) : 0;
    return found;
}

/* Checked or claimed; or a statement that is found again where it is absent. */
static bool may_be_absent(const struct field *f)
{
    return f->standing == FIELD_CHECKED || f->standing == FIELD_CLAIMED || strcmp(f->key, "syncs") == 0 ||
           strcmp(f->key, "pool_at") == 0;
}

static void test_keys_taken_out(void **state)
{
    lx_status st;
    int tried = 0, refused = 0;
    const char *why;
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        cJSON *plan = plan_of_kind(k), *bare = cJSON_Duplicate(plan, true);
        if (why_refused(plan, kinds[k].devices, &st)) fail_msg("kind %d itself: %s", (int)k, st.text);
        for (size_t p = 0; p < PLACES; p++)
            for (size_t i = 0; i < *places[p].count; i++) {
                const struct field *f = &(*places[p].fields)[i];
                if (!may_be_absent(f)) continue;
                cJSON *copy = cJSON_Duplicate(plan, true);
                take_out_of_all(bare, p, f->key);
                if (take_out_of_all(copy, p, f->key)) {
                    tried++;
                    if ((why = why_refused(copy, kinds[k].devices, &st)))
                        print_message("kind %d without %s: %s\n", (int)k, f->key, why), refused++;
                }
                cJSON_Delete(copy);
            }
        if ((why = why_refused(bare, kinds[k].devices, &st)))
            print_message("kind %d without all: %s\n", (int)k, why), refused++;
        cJSON_Delete(bare);
        cJSON_Delete(plan);
    }
    print_message("%d keys taken out of %d kinds\n", tried, (int)(sizeof kinds / sizeof *kinds));
    assert_true(tried > 400);
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
