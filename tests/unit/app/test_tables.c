/* Every table of the program: its columns are sound, and none is missing from the list. And the fields of a line of
 * results: what is written is what is read. */
#include "all_columns.h"
#include "base/arena.h"
#include "bench/bench.h"
#include "support/columns_fault.h"
#include "text/table.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define ROW(name) {#name, &name},
static const struct {
    const char *variable;
    const struct columns *is;
} all[] = {ALL_COLUMNS(ROW)};
#undef ROW

static void test_columns_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *fault = columns_fault(all[i].is);
        if (fault) fail_msg("%s: column \"%s\"", all[i].is->name, fault);
        assert_true(all[i].is->count > 0);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(all[i].is->name, all[k].is->name);
    }
}

/* Whoever adds a table adds it to the list: the sources are asked. */
static void test_list_is_complete(void **state)
{
    (void)state;
    char line[300];
    size_t found = 0;
    FILE *sources =
        popen("grep -rhE '^(static )?const struct columns [a-z_]+ = COLUMNS' " SOURCE_DIR "/app", "r");
    assert_non_null(sources);
    while (fgets(line, sizeof line, sources)) {
        char variable[100];
        assert_int_equal(sscanf(strstr(line, "columns ") + strlen("columns "), "%99s", variable), 1);
        bool listed = false;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            listed |= strcmp(all[i].variable, variable) == 0;
        if (!listed) fail_msg("%s is not in app/all_columns.h", variable);
        found++;
    }
    assert_int_equal(pclose(sources), 0);
    assert_int_equal(found, sizeof all / sizeof *all);
}

struct narrow_row {
    const char *name;
    int64_t a, b;
};

/* On a terminal the columns that matter least are left out until a table fits, and only those that say so. */
static void test_columns_are_dropped(void **state)
{
    static const struct column columns[] = {
        {.key = "name", .heading = "name", .kind = VALUE_WORDS, MEMBER(struct narrow_row, name)},
        {.key = "a", .heading = "least", .kind = VALUE_COUNT, MEMBER(struct narrow_row, a), .from = 20},
        {.key = "b", .heading = "more", .kind = VALUE_COUNT, MEMBER(struct narrow_row, b), .from = 10},
    };
    static const struct {
        int fits;
        const char *text;
    } cases[] = {{0, "  name  least  more\n  x         7     8\n"},
                 {19, "  name  least  more\n  x         7     8\n"},
                 {18, "  name  more\n  x        8\n"},
                 {5, "  name\n  x\n"}};
    const struct narrow_row only[] = {{"x", 7, 8}};
    struct table t = TABLE(((struct columns)COLUMNS("narrow", columns)), only, 1);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text out = {0};
        table_fit(cases[i].fits);
        table_add_text(&t, &out);
        assert_string_equal(out.at, cases[i].text);
        text_free(&out);
    }
    table_fit(0);
}

/* A row in which every field differs from every other and from 0. */
static struct row filled(struct arena *memory)
{
    struct row r = {.outcome = OUTCOME_FEASIBLE,
                    .has_value = true,
                    .has_bound = true,
                    .has_seconds = true,
                    .has_clocks = true,
                    .has_measured = true,
                    .has_known = true,
                    .has_known_bound = true,
                    .has_limit = true};
    int n = 1;
    for (const struct row_field *f = row_fields; f->key; f++, n++) {
        char *at = (char *)&r + f->at;
        if (f->kind == FIELD_OBJECT)
            *field_text(&r, f) = "{\"nodes\":7}";
        else if (field_is_text(f))
            *field_text(&r, f) = arena_format(memory, "text %d", n);
        else if (field_is_whole(f))
            memcpy(at, &(int64_t){1000 + n}, sizeof(int64_t));
        else if (f->kind == FIELD_SECONDS || f->kind == FIELD_MICROS)
            memcpy(at, &(double){n + 0.5}, sizeof(double));
    }
    return r;
}

static void same_field(const struct row *a, const struct row *b, const struct row_field *f)
{
    const char *x = (const char *)a + f->at, *y = (const char *)b + f->at;
    if (field_is_text(f))
        assert_string_equal(*(const char *const *)x, *(const char *const *)y);
    else if (field_is_whole(f) || f->kind == FIELD_SECONDS || f->kind == FIELD_MICROS)
        assert_memory_equal(x, y, 8);
    else if (f->kind == FIELD_OUTCOME)
        assert_memory_equal(x, y, sizeof(enum outcome));
    assert_int_equal(field_is_known(a, f), field_is_known(b, f));
}

static struct row written_and_read(struct arena *memory, const struct row *r)
{
    struct text line = {0};
    struct row back = {0};
    lx_status st = {0};
    row_write(r, &line);
    assert_true(line.length > 0 && line.at[line.length - 1] == '\n');
    assert_true(row_read(memory, "results", line.at, line.length - 1, &back, &st));
    text_free(&line);
    return back;
}

static void test_fields_survive(void **state)
{
    (void)state;
    struct arena memory = {0};
    struct row r = filled(&memory), back = written_and_read(&memory, &r);
    for (const struct row_field *f = row_fields; f->key; f++) same_field(&r, &back, f);
    r.has_value = r.has_bound = r.has_seconds = r.has_clocks = r.has_measured = false;
    r.has_known = r.has_known_bound = r.has_limit = false;
    r.known = r.known_bound = 0, r.time_limit = 0, r.class = r.known_status = r.answer = "";
    r.measured_us = 0, r.value = r.bound = r.asked_bytes = 0, r.seconds = r.device_us = r.end_to_end_us = 0;
    back = written_and_read(&memory, &r);
    for (const struct row_field *f = row_fields; f->key; f++) same_field(&r, &back, f);
    arena_free(&memory);
}

/* A line without one of its keys is refused, but for those that are not read or may be anything. */
static void test_keys_are_needed(void **state)
{
    (void)state;
    struct arena memory = {0};
    struct row r = filled(&memory);
    for (const struct row_field *f = row_fields; f->key; f++) {
        struct text line = {0};
        struct row back = {0};
        lx_status st = {0};
        row_write(&r, &line);
        cJSON *json = cJSON_Parse(line.at);
        assert_non_null(json);
        assert_non_null(cJSON_GetObjectItemCaseSensitive(json, f->key));
        cJSON_DeleteItemFromObjectCaseSensitive(json, f->key);
        char *without = cJSON_PrintUnformatted(json);
        bool may_lack = f->kind == FIELD_GAP || f->kind == FIELD_OBJECT || f->kind == FIELD_MICROS ||
                        f->kind == FIELD_BYTES || f->kind == FIELD_NOTE;
        assert_int_equal(row_read(&memory, "results", without, strlen(without), &back, &st), may_lack);
        cJSON_free(without);
        cJSON_Delete(json);
        text_free(&line);
    }
    arena_free(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_sound), cmocka_unit_test(test_columns_are_dropped),
        cmocka_unit_test(test_list_is_complete),  cmocka_unit_test(test_fields_survive),
        cmocka_unit_test(test_keys_are_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
