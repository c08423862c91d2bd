/* Columns and the writers that walk them: one table in four formats, and how it is fitted to a screen. */
#include "support/columns_fault.h"
#include "text/table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

struct fruit {
    const char *name;
    int64_t bytes;
    double share;
    bool ripe;
};

static void name_value(const void *row, const struct column *c, struct value *v)
{
    (void)c;
    v->words = ((const struct fruit *)row)->name;
}

static void bytes_value(const void *row, const struct column *c, struct value *v)
{
    const struct fruit *f = row;
    (void)c;
    if (f->bytes >= 0)
        value_whole(v, f->bytes);
    else
        value_format(v, "%s", "off chip");
}

static void share_value(const void *row, const struct column *c, struct value *v)
{
    (void)c;
    v->number = ((const struct fruit *)row)->share;
}

static void ripe_value(const void *row, const struct column *c, struct value *v)
{
    (void)c;
    v->number = ((const struct fruit *)row)->ripe;
}

static void words_value(const void *row, const struct column *c, struct value *v)
{
    const struct fruit *f = row;
    value_format(v, "%s", f->name);
    value_format(v, " and %d", c->argument);
}

static void nothing_value(const void *row, const struct column *c, struct value *v)
{
    (void)row, (void)c;
    v->number = 0;
}

/* clang-format off */
static const struct column array[] = {
    {.key = "name",   .heading = "fruit",  .kind = VALUE_NAME,  .width = 9, .value = name_value},
    {.key = "bytes",  .heading = "bytes",  .kind = VALUE_BYTES, .width = 10, .from = 30, .value = bytes_value},
    {.key = "share",  .heading = "share",  .kind = VALUE_SHARE, .width = 6, .from = 40, .value = share_value},
    {.key = "zero",   .heading = "zero",   .kind = VALUE_COUNT, .width = 4, .from = 90, .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK,
     .value = nothing_value},
    {.key = "ripe",   .kind = VALUE_BOOL,  .value = ripe_value},
    {.key = "words",  .heading = "words",  .kind = VALUE_WORDS, .flags = COLUMN_PEOPLE, .argument = 7, .value = words_value},
};
/* clang-format on */

static const struct columns columns = COLUMNS("fruits", array);
static const struct fruit fruits[] = {{"pear", 1234567, 0.125, true},
                                      {"a|long, name", -1, NAN, false},
                                      {"plum", INT64_C(9223372036854775807), 1.0 / 3, false}};

static void written(const char *format, const char *expected)
{
    struct table t = TABLE(columns, fruits, 3);
    struct text out = {0};
    t.key = "fruits", t.title = "Fruits", t.notes = "A note.\n";
    const struct exporter *e = exporter_find(format);
    assert_non_null(e);
    text_add(&out, e->begin);
    e->add(&t, &out);
    if (e->end) e->end(&out);
    assert_string_equal(out.at, expected);
    text_free(&out);
}

static void test_text(void **state)
{
    (void)state;
    written("text", "Fruits\n\n"
                    "  fruit                          bytes   share  words\n"
                    "  pear                       1,234,567  12.5 %  pear and 7\n"
                    "  a|lo~name                   off chip       -  a|long, name and 7\n"
                    "  plum       9,223,372,036,854,775,807  33.3 %  plum and 7\n"
                    "\nA note.\n");
}

static void test_markdown(void **state)
{
    (void)state;
    written("md", "## Fruits\n\n"
                  "| fruit | bytes | share | words |\n"
                  "| --- | ---: | ---: | --- |\n"
                  "| pear | 1,234,567 | 12.5 % | pear and 7 |\n"
                  "| a\\|lo~name | off chip | - | a\\|long, name and 7 |\n"
                  "| plum | 9,223,372,036,854,775,807 | 33.3 % | plum and 7 |\n"
                  "\nA note.\n");
}

static void test_csv(void **state)
{
    (void)state;
    written("csv", "name,bytes,share,zero,ripe\n"
                   "pear,1234567,0.125,0,1\n"
                   "\"a|long, name\",,,0,0\n"
                   "plum,9223372036854775807,0.333333333333333,0,0\n");
}

static void test_json(void **state)
{
    (void)state;
    written("json",
            "{\"lxplan\": 1, \"kind\": \"report\",\n\"fruits\": [\n"
            "  {\"name\": \"pear\", \"bytes\": 1234567, \"share\": 0.125, \"ripe\": true},\n"
            "  {\"name\": \"a|long, name\", \"bytes\": null, \"share\": null, \"ripe\": false},\n"
            "  {\"name\": \"plum\", \"bytes\": 9223372036854775807, \"share\": 0.333333333333333, \"ripe\": "
            "false}]}\n");
}

/* What is left goes to the column without a width, and columns go one by one as the room shrinks. */
static void test_fit(void **state)
{
    (void)state;
    enum { N = sizeof array / sizeof *array };
    struct column_place at[N];
    assert_int_equal(columns_fit(&columns, 50, at), 50);
    assert_int_equal(at[1].at, 10);
    assert_int_equal(at[2].at, 21);
    assert_int_equal(at[3].width, 0); /* it needs 90 */
    assert_int_equal(at[4].width, 0); /* people do not see it */
    assert_int_equal(at[5].at, 28);
    assert_int_equal(at[5].width, 22);
    assert_int_equal(columns_fit(&columns, 39, at), 39);
    assert_int_equal(at[2].width, 0);
    assert_int_equal(at[5].at, 21);
    assert_int_equal(columns_fit(&columns, 12, at), 12);
    assert_int_equal(at[5].width, 2);
    assert_int_equal(columns_fit(&columns, 4, at), 9); /* what has a width keeps it: the screen cuts it off */
    struct column wide[N];
    memcpy(wide, array, sizeof array);
    wide[1].gap = 2, wide[5].most = 5;
    assert_int_equal(columns_fit(&(struct columns)COLUMNS("wide", wide), 50, at), 35);
    assert_int_equal(at[1].at, 12);
    assert_int_equal(at[5].at, 30);
}

static void test_faults(void **state)
{
    (void)state;
    assert_null(columns_fault(&columns));
    struct column bad[2] = {array[0], array[1]};
    struct columns of_bad = COLUMNS("bad", bad);
    bad[1].key = "name";
    assert_string_equal(columns_fault(&of_bad), "name");
    bad[1] = array[1], bad[1].value = NULL;
    assert_string_equal(columns_fault(&of_bad), "bytes");
    bad[1] = array[5], bad[1].heading = NULL;
    assert_string_equal(columns_fault(&of_bad), "words");
    bad[1] = array[1], bad[1].key = NULL;
    assert_string_equal(columns_fault(&of_bad), "");
}

/* By values, unknown ones last both ways; equal ones in their own order. */
static void ratios_have_no_powers_of_ten(void **state)
{
    (void)state;
    static const struct {
        double ratio;
        const char *words;
    } cases[] = {{1.25, "1.25"}, {0.5, "0.5"}, {999.4, "999"}, {999.6, "1,000"}, {123456, "123,456"}};
    static const struct column ratio = {.kind = VALUE_RATIO};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct value v = {.number = cases[i].ratio};
        assert_string_equal(column_words(&ratio, &v), cases[i].words);
        value_free(&v);
    }
}

static void rows_are_sorted_by_a_column(void **state)
{
    static const struct fruit basket[] = {{"pear", 30, 0.5, true},
                                          {"banana_2", -1, NAN, false},
                                          {"banana_10", 7, -2, true},
                                          {"apple", 30, 0.25, true},
                                          {"pear", 1000, 0, false}};
    static const struct column by_name = {.kind = VALUE_NAME, .value = name_value},
                               by_bytes = {.kind = VALUE_BYTES, .value = bytes_value},
                               by_share = {.kind = VALUE_SHARE, .value = share_value};
    static const struct {
        const struct column *by;
        bool descending;
        int32_t order[5];
    } rows[] = {{&by_name, false, {3, 2, 1, 0, 4}},  {&by_name, true, {0, 4, 1, 2, 3}},
                {&by_bytes, false, {2, 0, 3, 4, 1}}, {&by_bytes, true, {4, 0, 3, 2, 1}},
                {&by_share, false, {2, 4, 3, 0, 1}}, {&by_share, true, {0, 3, 4, 2, 1}}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t order[] = {0, 1, 2, 3, 4};
        sort_rows(rows[i].by, basket, sizeof *basket, rows[i].descending, order, 5);
        assert_memory_equal(order, rows[i].order, sizeof order);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratios_have_no_powers_of_ten),
        cmocka_unit_test(rows_are_sorted_by_a_column),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
