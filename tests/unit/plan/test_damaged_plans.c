/* Plan files with one thing wrong each, and what must be said of it: tests/data/damaged_plans.json has them as
 * edits of a good plan that is made here. An error of reading stands where the edit's `at` points; what only the
 * checker finds has no place. Plans of earlier releases (tests/data/old) must read, pass, and read the same
 * after they have been written anew. */
#include "unstable.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "support/json_patch.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char graph_text[] =
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"good\", \"target_hbm_bytes\": 1000000, \"tensors\": ["
    "{\"name\": \"x\", \"shape\": [64, 128], \"role\": \"input\"}, {\"name\": \"y\", \"shape\": [64, 128]},"
    "{\"name\": \"z\", \"shape\": [64, 128]}, {\"name\": \"w\", \"shape\": [64, 128], \"role\": \"output\"}],"
    "\"ops\": [{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"y\"},"
    "{\"name\": \"f\", \"kind\": \"exp\", \"inputs\": [\"y\"], \"output\": \"z\"},"
    "{\"name\": \"h\", \"kind\": \"exp\", \"inputs\": [\"z\"], \"output\": \"w\"}]}";

static const char list_text[] =
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"good\", \"capacity\": 1024, \"alignment\": 128, "
    "\"buffers\": ["
    "{\"name\": \"a\", \"size\": 256, \"uses\": [0, 1]},"
    "{\"name\": \"b\", \"size\": 256, \"uses\": [1, 2], \"in_place_parents\": [\"a\"]}]}";

static cJSON *good_plan(const char *text)
{
    lx_status st;
    size_t length;
    const struct lx_graph *g = lx_graph_of_text("good", text, strlen(text), &st);
    struct lx_plan_options how = {.solver = lx_solver_find("greedy")};
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

/* A plan that release 0.1 wrote. */
static cJSON *old_plan(void)
{
    lx_status st;
    size_t length;
    char *text = file_read(SOURCE_DIR "/tests/data/old/plan_0.1_rms_norm.json", &length, &st);
    assert_non_null(text);
    cJSON *plan = cJSON_Parse(text);
    assert_non_null(plan);
    mem_free(text);
    return plan;
}

static cJSON *base_plan(const char *base)
{
    if (strcmp(base, "old") == 0) return old_plan();
    return good_plan(strcmp(base, "list") == 0 ? list_text : graph_text);
}

static const char *string_of(const cJSON *edit, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItem(edit, key));
}

/* What a pointer as in json_patch.h leads to, in the tree that knows places; or NULL. */
static const struct json_value *value_at(const struct json_value *at, const char *pointer)
{
    char key[100];
    while (at && *pointer == '/') {
        size_t n = strcspn(++pointer, "/");
        snprintf(key, sizeof key, "%.*s", (int)n, pointer);
        at = json_is_array(at) ? json_item(at, atoi(key)) : json_find(at, key);
        pointer += n;
    }
    return at;
}

/* Does the error stand at the value that `at` points to? */
static bool stands_at(const char *text, const char *at, const lx_status *st)
{
    struct json j;
    lx_status ignored;
    if (!at) return st->line == 0;
    if (!json_parse(&j, "plan", text, strlen(text), &ignored)) return false;
    const struct json_value *value = value_at(j.root, at);
    struct json_place place = value ? value->place : (struct json_place){-1, -1, 0};
    json_free(&j);
    return place.line == st->line && place.column == st->column;
}

static bool judge(const cJSON *edit, const char *text)
{
    lx_status st = {0};
    struct lx_plan *p = lx_plan_of_text("plan", text, strlen(text), &st);
    bool accepted = p && lx_plan_check(p, &st);
    lx_plan_free(p);
    const char *code = string_of(edit, "code");
    if (accepted)
        print_message("%s: accepted\n", string_of(edit, "name"));
    else if (strcmp(code, "any") != 0 &&
             (strcmp(lx_code_word(st.code), code) != 0 || !strstr(st.text, string_of(edit, "says")) ||
              !stands_at(text, string_of(edit, "at"), &st)))
        print_message("%s: gave\n  %s at %d:%d %s\n  and not\n  %s at %s %s\n", string_of(edit, "name"),
                      lx_code_word(st.code), st.line, st.column, st.text, code,
                      string_of(edit, "at") ? string_of(edit, "at") : "-", string_of(edit, "says"));
    else
        return true;
    return false;
}

static void every_edit_is_found(void **state)
{
    (void)state;
    lx_status st;
    size_t length;
    char *text = file_read(SOURCE_DIR "/tests/data/damaged_plans.json", &length, &st);
    assert_non_null(text);
    cJSON *file = cJSON_Parse(text), *edit;
    assert_non_null(file);
    int wrong = 0, edits = 0;
    cJSON_ArrayForEach(edit, cJSON_GetObjectItem(file, "edits"))
    {
        cJSON *plan = base_plan(string_of(edit, "base"));
        if (!json_patch(plan, cJSON_GetObjectItem(edit, "patch")))
            fail_msg("%s: the patch does not apply", string_of(edit, "name"));
        char *damaged = cJSON_Print(plan);
        wrong += !judge(edit, damaged);
        edits++;
        free(damaged);
        cJSON_Delete(plan);
    }
    cJSON_Delete(file);
    mem_free(text);
    assert_true(edits >= 40);
    assert_int_equal(wrong, 0);
}

/* The errors come from the edits and not from the way: the same plans without them are good, and keys that a
 * later version may add are passed over. */
static void good_plans_are_accepted(void **state)
{
    (void)state;
    static const char *const texts[] = {graph_text, list_text};
    for (int i = 0; i < 2; i++) {
        cJSON *plan = good_plan(texts[i]);
        cJSON_AddStringToObject(plan, "of_a_later_version", "ignored");
        cJSON_AddNumberToObject(cJSON_GetArrayItem(cJSON_GetObjectItem(plan, "buffers"), 0), "colour", 3);
        char *text = cJSON_Print(plan);
        lx_status st = {0};
        struct lx_plan *p = lx_plan_of_text("plan", text, strlen(text), &st);
        if (!p || !lx_plan_check(p, &st)) fail_msg("%s", st.text);
        lx_plan_free(p);
        free(text);
        cJSON_Delete(plan);
    }
}

static char *written(const struct lx_plan *p)
{
    size_t length;
    char *text = lx_plan_to_json(p, &length);
    assert_non_null(text);
    return text;
}

static void plans_of_earlier_releases_read(void **state)
{
    (void)state;
    DIR *d = opendir(SOURCE_DIR "/tests/data/old");
    int plans = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[600];
        lx_status st = {0};
        if (strncmp(e->d_name, "plan_", 5) != 0) continue;
        snprintf(path, sizeof path, SOURCE_DIR "/tests/data/old/%s", e->d_name);
        struct lx_plan *p = lx_plan_read(path, &st);
        if (!p || !lx_plan_check(p, &st)) fail_msg("%s: %s", e->d_name, st.text);
        char *once = written(p), *twice;
        struct lx_plan *again = lx_plan_of_text("again", once, strlen(once), &st);
        if (!again || !lx_plan_check(again, &st)) fail_msg("%s: %s", e->d_name, st.text);
        assert_string_equal(once, twice = written(again));
        lx_plan_free(p);
        lx_plan_free(again);
        mem_free(once);
        mem_free(twice);
        plans++;
    }
    closedir(d);
    assert_true(plans >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_edit_is_found),
        cmocka_unit_test(good_plans_are_accepted),
        cmocka_unit_test(plans_of_earlier_releases_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
