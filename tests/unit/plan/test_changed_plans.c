/* Every value of a plan file, changed by itself: what follows from the rest must be found wrong, and so must what is
 * decided, because figures that follow from it stand beside it. Reading or lx_plan_check may say so. The few
 * fields that may have another value without any consequence are listed with the reason, and each of them must
 * be seen to have one: a row that is not needed fails.
 *
 * The plans have copies that layout added, padded and cut sums, relayouts over the ring, loads, stores, a call off
 * the device, handovers, relayouts through HBM and stays that were cut; some 1500 changes in all. */
#include "unstable.h"
#include "base/file.h"
#include "planfile/plan_fields.h"
#include "base/memory.h"
#include "support/changed_plan.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define RICH(lx)                                                                                             \
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"rich\", \"target_hbm_bytes\": 100000000,"            \
    "\"device\": {\"preset\": \"spyre\", \"cores\": 4, \"lx_usable_bytes\": " #lx "}, \"tensors\": ["        \
    "{\"name\": \"x\", \"shape\": [128, 100], \"role\": \"input\"},"                                         \
    "{\"name\": \"w\", \"shape\": [100, 128], \"role\": \"weight\"},"                                        \
    "{\"name\": \"a\", \"shape\": [128, 128]}, {\"name\": \"top\", \"shape\": [128]},"                       \
    "{\"name\": \"low\", \"shape\": [128, 128]}, {\"name\": \"e\", \"shape\": [128, 128]},"                  \
    "{\"name\": \"call\", \"shape\": [64]}, {\"name\": \"t\", \"shape\": [128, 128]},"                       \
    "{\"name\": \"u\", \"shape\": [128, 128]}, {\"name\": \"half\", \"shape\": [64, 128]},"                  \
    "{\"name\": \"all\", \"shape\": [128, 128]},"                                                            \
    "{\"name\": \"v\", \"shape\": [128, 128], \"role\": \"output\"},"                                        \
    "{\"name\": \"z\", \"shape\": [128, 128], \"role\": \"output\"}], \"ops\": ["                            \
    "{\"name\": \"mm\", \"kind\": \"matmul\", \"einsum\": \"mk,kn->mn\", \"inputs\": [\"x\", \"w\"], "       \
    "\"output\": \"a\"},"                                                                                    \
    "{\"name\": \"top\", \"kind\": \"max\", \"einsum\": \"mn->m\", \"inputs\": [\"a\"], \"output\": "        \
    "\"top\"},"                                                                                              \
    "{\"name\": \"low\", \"kind\": \"sub\", \"einsum\": \"mn,m->mn\", \"inputs\": [\"a\", \"top\"], "        \
    "\"output\": \"low\"},"                                                                                  \
    "{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"low\"], \"output\": \"e\"},"                        \
    "{\"name\": \"t\", \"kind\": \"matmul\", \"einsum\": \"mk,nk->mn\", \"inputs\": [\"e\", \"a\"], "        \
    "\"output\": \"t\"},"                                                                                    \
    "{\"name\": \"call\", \"kind\": \"extern\", \"inputs\": [\"top\"], \"output\": \"call\"},"               \
    "{\"name\": \"u\", \"kind\": \"matmul\", \"einsum\": \"km,kn->mn\", \"inputs\": [\"t\", \"e\"], "        \
    "\"output\": \"u\"},"                                                                                    \
    "{\"name\": \"half\", \"kind\": \"slice\", \"offset\": [32, 0], \"stride\": [1, 1], "                    \
    "\"inputs\": [\"u\"], \"output\": \"half\"},"                                                            \
    "{\"name\": \"all\", \"kind\": \"clone\", \"inputs\": [\"t\"], \"output\": \"all\"},"                    \
    "{\"name\": \"put\", \"kind\": \"insert\", \"offset\": [64, 0], \"stride\": [1, 1], "                    \
    "\"inputs\": [\"half\"], \"output\": \"all\"},"                                                          \
    "{\"name\": \"v\", \"kind\": \"add\", \"inputs\": [\"all\", \"low\"], \"output\": \"v\"},"               \
    "{\"name\": \"z\", \"kind\": \"mul\", \"inputs\": [\"v\", \"e\"], \"output\": \"z\"}]}"

/* What else than claims may differ without a consequence: the plan is as legal as before, and moves the same bytes. */
static struct {
    enum plan_section_id section;
    const char *key, *how;
    const char *reason;
    bool seen;
} free_to_change[] = {
    {PLAN_GRAPH, "pool_at", "absent", "where the first intermediate stands", 0},
    {PLAN_GRAPH, "syncs", "absent", "the least that it needs, as they were", 0},
    {PLAN_ROOT, "objective", "absent", "it is spill then, as it was", 0},
    {PLAN_LAUNCH, "dims", "changed", "a longer tile, of which there are as many", 0},
    {PLAN_LAUNCH, "inner", "added", "the same tiles, which a core goes over in smaller ones", 0},
    {PLAN_TRANSFER, "", "behind the next", "two loads of one tick", 0},
    {PLAN_BUFFER, "view_op", "changed", "another op sees the same parts", 0},
    {PLAN_BUFFER, "view_op", "absent", "as the first op that it serves", 0},
    {PLAN_BUFFER, "name", "changed", "the tensor's, without its number", 0},
    {PLAN_BUFFER, "parents", "added", "one that it may take the place of", 0},
};

/* A claim may be anything; what is checked may be left out. */
static bool standing_allows(enum plan_section_id section, const char *key, const char *how)
{
    for (size_t i = 0; i < plan_sections[section].count; i++) {
        const struct field *f = &plan_sections[section].fields[i];
        if (strcmp(f->key, key) != 0) continue;
        return f->standing == FIELD_CLAIMED || (f->standing == FIELD_CHECKED && strcmp(how, "absent") == 0);
    }
    return false;
}

static bool *freedom(enum plan_section_id section, const char *key, const char *how)
{
    for (size_t i = 0; i < sizeof free_to_change / sizeof *free_to_change; i++)
        if (free_to_change[i].section == section && strcmp(free_to_change[i].key, key) == 0 &&
            strcmp(free_to_change[i].how, how) == 0)
            return &free_to_change[i].seen;
    return NULL;
}

/* The records of the sections; NULL: the object itself. Those of `solver` say who made the plan and how: words
 * and numbers without consequence, all of them. */
static const struct {
    enum plan_section_id section;
    const char *object, *array;
} places[] = {{PLAN_ROOT, NULL, NULL},
              {PLAN_GRAPH, "graph", NULL},
              {PLAN_TENSOR, "graph", "tensors"},
              {PLAN_OP, "graph", "ops"},
              {PLAN_NEST, "graph", "nests"},
              {PLAN_BUNDLE, "graph", "bundles"},
              {PLAN_LAUNCH, "graph", "launches"},
              {PLAN_TRANSFER, "graph", "transfers"},
              {PLAN_BUFFER, NULL, "buffers"}};

static cJSON *plan_of(const char *pattern, const struct lx_passes *passes)
{
    lx_status st = {0};
    size_t length;
    const struct lx_graph *g = lx_graph_of_text("pattern", pattern, strlen(pattern), &st);
    struct lx_plan_options how = {.solver = lx_solver_find("greedy"), .passes = *passes};
    how.passes.tile = LX_TILE_NONE; /* nests are damaged in test_nest_damage.c */
    struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
    if (!p) fail_msg("%s", st.text);
    char *json = lx_plan_to_json(p, &length);
    cJSON *plan = cJSON_Parse(json);
    assert_non_null(plan);
    mem_free(json);
    lx_plan_free(p);
    lx_graph_free(g);
    return plan;
}

/* Another word that this field has in a sibling, so that it is no mistake of spelling; else one that nobody has. */
static const char *other_word(const cJSON *record, const char *key, const char *word)
{
    const cJSON *first = record;
    while (first->prev && first->prev->next) first = first->prev;
    for (const cJSON *r = first; r; r = r->next) {
        const char *other = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(r, key));
        if (other && (!word || strcmp(other, word) != 0)) return other;
    }
    return word && strcmp(word, "feasible") == 0 ? "limit" : "feasible";
}

/* One number of a list, another one each time. */
static cJSON *changed_list(const cJSON *value, int turn)
{
    cJSON *list = cJSON_Duplicate(value, true);
    cJSON *at = cJSON_GetArrayItem(list, turn % cJSON_GetArraySize(list));
    if (cJSON_IsArray(at)) at = cJSON_GetArrayItem(at, turn % cJSON_GetArraySize(at));
    cJSON_SetNumberValue(at, at->valuedouble + 1);
    return list;
}

static cJSON *new_list(const struct field *f)
{
    cJSON *list = cJSON_CreateArray(), *row = f->kind == FIELD_ROWS ? cJSON_CreateArray() : list;
    for (int i = 0; i < (f->kind == FIELD_ROWS ? f->width : 1); i++)
        cJSON_AddItemToArray(row, cJSON_CreateNumber(1));
    if (row != list) cJSON_AddItemToArray(list, row);
    return list;
}

static cJSON *changed(const struct field *f, const cJSON *record, const cJSON *value, int turn)
{
    switch (f->kind) {
    case FIELD_INT: return cJSON_CreateNumber(value ? value->valuedouble + 1 : (double)f->absent + 1);
    case FIELD_REAL: return cJSON_CreateNumber(value ? value->valuedouble + 0.01 : 1);
    case FIELD_BOOL: return cJSON_CreateBool(!value || cJSON_IsFalse(value));
    case FIELD_TEXT: return cJSON_CreateString(other_word(record, f->key, cJSON_GetStringValue(value)));
    case FIELD_INTS:
    case FIELD_ROWS: return value ? changed_list(value, turn) : new_list(f);
    }
    return NULL;
}

struct walk {
    cJSON *plan;
    int changes, wrong;
};

static void judge(struct walk *w, enum plan_section_id section, const char *key, int number, const char *how)
{
    w->changes++;
    if (!plan_accepted(w->plan) || standing_allows(section, key, how)) return;
    bool *free_one = freedom(section, key, how);
    if (free_one) {
        *free_one = true;
        return;
    }
    print_message("%s %d: %s may be %s\n", plan_sections[section].what, number, key, how);
    w->wrong++;
}

/* The field with another value, and without any if that may be; then as it was. */
static void change_field(struct walk *w, enum plan_section_id section, cJSON *record, int number,
                         const struct field *f)
{
    cJSON *old = cJSON_DetachItemFromObjectCaseSensitive(record, f->key);
    if (old && f->need == FIELD_OPTIONAL) judge(w, section, f->key, number, "absent");
    /* Of a list two numbers, whichever are next. */
    for (int k = 0; k < (cJSON_IsArray(old) ? 2 : 1); k++) {
        cJSON_AddItemToObject(record, f->key, changed(f, record, old, w->changes));
        judge(w, section, f->key, number, old ? "changed" : "added");
        cJSON_DeleteItemFromObjectCaseSensitive(record, f->key);
    }
    if (old) cJSON_AddItemToObject(record, f->key, old);
}

static void change_record(struct walk *w, enum plan_section_id section, cJSON *record, int number)
{
    for (size_t i = 0; i < plan_sections[section].count; i++)
        change_field(w, section, record, number, &plan_sections[section].fields[i]);
}

static void change_all(struct walk *w)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        cJSON *object = places[i].object ? cJSON_GetObjectItem(w->plan, places[i].object) : w->plan, *record;
        int number = 0;
        if (!object) continue;
        if (!places[i].array) {
            change_record(w, places[i].section, object, 0);
            continue;
        }
        cJSON_ArrayForEach(record, cJSON_GetObjectItem(object, places[i].array))
            change_record(w, places[i].section, record, number++);
    }
}

static void exchange(cJSON *a, cJSON *b)
{
    cJSON *keys = a->child;
    a->child = b->child;
    b->child = keys;
}

/* Two neighbours that have changed places, and the last element twice or left out. */
static void change_array(struct walk *w, enum plan_section_id section, cJSON *array)
{
    int n = cJSON_GetArraySize(array), number = 0;
    cJSON *one;
    if (n == 0) return;
    for (one = array->child; one->next; one = one->next) {
        exchange(one, one->next);
        judge(w, section, "", number++, "behind the next");
        exchange(one, one->next);
    }
    cJSON_AddItemToArray(array, cJSON_Duplicate(one, true));
    judge(w, section, "", number, "there twice");
    cJSON_DeleteItemFromArray(array, n);
    one = cJSON_DetachItemFromArray(array, n - 1);
    judge(w, section, "", number, "left out");
    cJSON_AddItemToArray(array, one);
}

static void change_arrays(struct walk *w)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        cJSON *object = places[i].object ? cJSON_GetObjectItem(w->plan, places[i].object) : w->plan;
        if (places[i].array) change_array(w, places[i].section, cJSON_GetObjectItem(object, places[i].array));
    }
}

/* `has`: what the plan is there for. `whole`: not only the decisions that stand in `graph` itself. */
static void every_change_is_found_in(const char *pattern, const struct lx_passes *passes, const char *has,
                                     bool whole)
{
    struct walk w = {.plan = plan_of(pattern, passes)};
    char *text = cJSON_PrintUnformatted(w.plan);
    if (!strstr(text, has)) fail_msg("the plan has no %s: another is needed", has);
    free(text);
    assert_true(plan_accepted(w.plan));
    if (whole) {
        change_all(&w);
        change_arrays(&w);
    } else
        change_record(&w, PLAN_GRAPH, cJSON_GetObjectItem(w.plan, "graph"), 0);
    assert_true(plan_accepted(w.plan)); /* all is as it was: the changes were what was refused */
    assert_true(w.changes > (whole ? 300 : 5));
    assert_int_equal(w.wrong, 0);
    cJSON_Delete(w.plan);
}

static void relayouts_loads_and_copies(void **state)
{
    (void)state;
    every_change_is_found_in(RICH(14336), &(struct lx_passes){.evict = true}, "\"ring\"", true);
}

static void relayouts_through_hbm(void **state)
{
    (void)state;
    every_change_is_found_in(RICH(12288), &(struct lx_passes){.evict = true, .reorder = true}, "\"loaded\"",
                             false);
}

static void cut_stays(void **state)
{
    (void)state;
    lx_status st;
    size_t length;
    char *text = file_read(SOURCE_DIR "/patterns/targets/simple_eviction.json", &length, &st);
    assert_non_null(text);
    every_change_is_found_in(text, &(struct lx_passes){.evict = true}, "\"cuts\"", true);
    mem_free(text);
}

static void every_freedom_is_needed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof free_to_change / sizeof *free_to_change; i++)
        if (!free_to_change[i].seen) fail_msg("%s is never free to change", free_to_change[i].key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relayouts_loads_and_copies),
        cmocka_unit_test(relayouts_through_hbm),
        cmocka_unit_test(cut_stays),
        cmocka_unit_test(every_freedom_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
