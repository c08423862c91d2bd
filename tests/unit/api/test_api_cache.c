/* Results out of the option cache: whatever is asked of them, in whatever order, is what planning said. */
#include "lxplan.h"
#include "base/file.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "support/api_results.h"
#include "support/cache_files.h"

static const char *const files[] = {SOURCE_DIR "/patterns/graphs/rms_norm.json",
                                    SOURCE_DIR "/patterns/team/stencil_3_steps.json",
                                    SOURCE_DIR "/patterns/lists/two_pools.json"};
enum { FILES = sizeof files / sizeof *files };

static int set_up(void **state)
{
    return folder_set_up(state, FOLDER_ROOM);
}

static lx_options *options_with(const char *folder, const char *name, const char *value)
{
    lx_error *e = lx_error_new();
    lx_options *o = lx_options_new();
    if (folder) assert_int_equal(lx_options_set(o, "cache", folder, e), 0);
    if (name && lx_options_set(o, name, value, e) != 0) fail_msg("%s", lx_error_text(e));
    lx_error_free(e);
    return o;
}

static lx_graph *read_graph(const char *path)
{
    lx_status st = {0};
    size_t length;
    char *text = file_read(path, &length, &st);
    lx_graph *g = text ? lx_graph_parse(text, (int64_t)length, NULL, NULL) : NULL;
    assert_non_null(g);
    mem_free(text);
    return g;
}

/* By graph, or by file; with one option more. */
static lx_result *plan_as(const char *folder, const char *path, bool by_file, const char *name,
                          const char *value)
{
    lx_error *e = lx_error_new();
    lx_options *o = options_with(folder, name, value);
    if (by_file) assert_int_equal(lx_options_set(o, "file", path, e), 0);
    lx_graph *g = by_file ? NULL : read_graph(path);
    lx_result *r = lx_plan(g, o, e);
    if (!r) fail_msg("%s: %s", path, lx_error_text(e));
    lx_graph_free(g);
    lx_options_free(o);
    lx_error_free(e);
    return r;
}

static void same_text(const lx_result *a, const lx_result *b, const char *format)
{
    lx_text *x = lx_result_write(a, format, NULL, NULL), *y = lx_result_write(b, format, NULL, NULL);
    assert_true(x && y && lx_text_size(x) == lx_text_size(y));
    assert_memory_equal(lx_text_data(x), lx_text_data(y), (size_t)lx_text_size(x));
    lx_text_free(x);
    lx_text_free(y);
}

static void same_numbers(const lx_result *a, const lx_result *b)
{
    static const char *const names[] = {"objective",   "bound",  "gap",        "steps",     "hbm_bytes",
                                        "spill_bytes", "height", "ring_bytes", "device_us", "us"};
    static const char *const words[] = {"status",  "solver",   "options",  "name",
                                        "message", "unproved", "objective"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double x = 0, y = 0;
        assert_int_equal(lx_result_number(a, names[i], &x), lx_result_number(b, names[i], &y));
        same(x, y);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_string_equal(lx_result_word(a, words[i]), lx_result_word(b, words[i]));
}

static void same_lists(const lx_result *a, const lx_result *b)
{
    static const char *const lists[] = {"buffers", "ops", "transfers"};
    for (int k = 0; k < 3; k++) {
        int64_t n = lx_result_count(a, lists[k]);
        assert_int_equal(n, lx_result_count(b, lists[k]));
        for (int64_t i = 0; i < n && k < 2; i++)
            assert_string_equal(lx_result_item_word(a, lists[k], i, "name"),
                                lx_result_item_word(b, lists[k], i, "name"));
    }
    int64_t places[2][400];
    int32_t pools[2][400], n = lx_result_places(a, pools[0], places[0], 400);
    assert_int_equal(n, lx_result_places(b, pools[1], places[1], 400));
    if (n > 400) n = 400;
    assert_memory_equal(places[0], places[1], (size_t)n * sizeof **places);
    assert_memory_equal(pools[0], pools[1], (size_t)n * sizeof **pools);
}

static void found_is_what_was_made(void **state)
{
    const char *folder = *state;
    for (int i = 0; i < FILES; i++)
        for (int by_file = 0; by_file < 2; by_file++) {
            lx_result *made = plan_as(NULL, files[i], by_file, NULL, NULL);
            lx_result *first = plan_as(folder, files[i], by_file, NULL, NULL);
            lx_result *second = plan_as(folder, files[i], by_file, NULL, NULL);
            same(number(made, "cached"), 0);
            same(number(first, "cached"), by_file); /* the graph is known by then */
            same(number(second, "cached"), 1);
            assert_string_equal(lx_result_word(second, "notes"), "");
            same_numbers(made, second);
            same_text(made, second, NULL);
            same_lists(made, second); /* now it has its plan */
            same_numbers(made, second);
            same_text(made, second, "plan");
            same_text(made, second, "explain");
            same(number(second, "cached"), 1);
            assert_int_equal(lx_result_check(second, NULL), lx_result_check(made, NULL));
            assert_int_equal(lx_result_number(second, "no such", NULL), -1);
            assert_null(lx_result_word(second, "no such"));
            lx_result_free(made), lx_result_free(first), lx_result_free(second);
        }
}

/* Each of these is the first thing that is wanted of a result. */
static void plans_come_when_they_are_wanted(void **state)
{
    const char *folder = *state, *path = files[0];
    lx_result_free(plan_as(folder, path, false, NULL, NULL));
    for (int by_file = 0; by_file < 2; by_file++) {
        lx_result *r[5];
        for (int i = 0; i < 5; i++) r[i] = plan_as(folder, path, by_file, NULL, NULL);
        lx_result *run = lx_run(r[0], NULL, NULL);
        assert_non_null(run);
        assert_string_equal(lx_result_word(run, "status"), "ok");
        assert_int_equal(lx_result_check(r[1], NULL), 1);
        assert_true(lx_result_places(r[2], NULL, NULL, 0) > 0);
        lx_text *page = lx_result_write(r[3], "html", NULL, NULL),
                *diff = lx_result_write(r[0], "diff", r[4], NULL);
        assert_true(page && diff && strstr(lx_text_data(diff), "0 buffers differ"));
        lx_text_free(page), lx_text_free(diff), lx_result_free(run);
        for (int i = 0; i < 5; i++) lx_result_free(r[i]);
    }
}

/* A text outlives the result that it was written of, and the folder may be gone before the plan is wanted. */
static void what_was_found_stays(void **state)
{
    const char *folder = *state;
    char line[120];
    lx_result *made = plan_as(folder, files[1], false, NULL, NULL);
    lx_result *found = plan_as(folder, files[1], false, NULL, NULL);
    lx_result *by_file = plan_as(folder, files[1], true, NULL, NULL);
    snprintf(line, sizeof line, "rm -f '%s'/*", folder);
    assert_int_equal(system(line), 0);
    same_lists(made, found);
    same_lists(made, by_file);
    assert_string_equal(lx_result_word(made, "unproved"), lx_result_word(found, "unproved"));
    lx_text *kept = lx_result_write(found, "plan", NULL, NULL);
    lx_text *again = lx_result_write(found, "plan", NULL, NULL);
    lx_result_free(found), lx_text_free(again);
    lx_text *plain = lx_result_write(made, "plan", NULL, NULL);
    assert_int_equal(lx_text_size(kept), lx_text_size(plain));
    assert_memory_equal(lx_text_data(kept), lx_text_data(plain), (size_t)lx_text_size(plain));
    lx_text_free(kept), lx_text_free(plain);
    lx_result_free(made), lx_result_free(by_file);
}

/* What changes a plan is another question. */
static void other_questions_get_their_own(void **state)
{
    static const char *const options[][2] = {
        {"solver", "greedy"}, {"seed", "3"}, {"lx", "50%"}, {"clone", "none"}, {"cores", "16"}};
    const char *folder = *state, *path = files[0];
    for (int by_file = 0; by_file < 2; by_file++) {
        lx_result_free(plan_as(folder, path, by_file, NULL, NULL));
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            lx_result *own = plan_as(folder, path, by_file, options[i][0], options[i][1]);
            same(number(own, "cached"), by_file);
            lx_result *found = plan_as(folder, path, by_file, options[i][0], options[i][1]);
            same(number(found, "cached"), 1);
            same_text(own, found, "plan");
            same_lists(own, found);
            lx_result_free(own), lx_result_free(found);
        }
    }
}

/* The name is no part of a graph's hash, but it is one of its plan. */
static void names_are_in_the_question(void **state)
{
    const char *folder = *state;
    lx_status st = {0};
    size_t length;
    char *text = file_read(files[0], &length, &st), path[100];
    char *name = strstr(text, "\"name\": \"");
    assert_non_null(name);
    name[9] = 'X';
    snprintf(path, sizeof path, "%s/renamed.json", folder);
    assert_true(file_write(path, text, length, &st));
    lx_result *one = plan_as(folder, files[0], false, NULL, NULL);
    lx_result *two = plan_as(folder, path, false, NULL, NULL),
              *three = plan_as(NULL, path, false, NULL, NULL);
    assert_string_not_equal(lx_result_word(one, "name"), lx_result_word(two, "name"));
    same_text(two, three, "plan");
    lx_result_free(one), lx_result_free(two), lx_result_free(three);
    mem_free(text);
}

static void files_that_are_not_there(void **state)
{
    lx_error *e = lx_error_new();
    lx_options *o = options_with(*state, "file", "/nowhere/at/all.json");
    assert_null(lx_plan(NULL, o, e));
    assert_string_equal(lx_error_code(e), "io");
    assert_string_equal(lx_error_place(e, NULL, NULL), "/nowhere/at/all.json");
    assert_int_equal(lx_options_set(o, "file", "", e), 0);
    assert_null(lx_plan(NULL, o, e));
    assert_string_equal(lx_error_code(e), "usage");
    lx_options_free(o);
    lx_error_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(found_is_what_was_made, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(plans_come_when_they_are_wanted, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(what_was_found_stays, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(other_questions_get_their_own, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(names_are_in_the_question, set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(files_that_are_not_there, set_up, folder_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
