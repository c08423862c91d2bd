/* The rows of plan files: complete, and the same as the tables in lib/plan-format.md. Run with --print, the program
 * writes the tables as they must stand there. */
#include "support/field_tables.h"
#include "planfile/plan_fields.h"
#include "base/file.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void tables_are_documented(void **state)
{
    (void)state;
    lx_status st;
    size_t length;
    char *readme = file_read(SOURCE_DIR "/lib/plan-format.md", &length, &st);
    assert_non_null(readme);
    for (int i = 0; i < PLAN_SECTION_COUNT; i++) {
        struct text t = {0};
        describe_fields(plan_sections[i].heading, plan_sections[i].fields, plan_sections[i].count, &t);
        if (!strstr(readme, t.at))
            fail_msg("lib/plan-format.md lacks this (test_plan_fields --print writes all):\n%s", t.at);
        text_free(&t);
    }
    mem_free(readme);
}

/* No key twice, none without a meaning, and rows as wide as they say. */
static void rows_are_whole(void **state)
{
    (void)state;
    for (int i = 0; i < PLAN_SECTION_COUNT; i++) {
        const struct plan_section *s = &plan_sections[i];
        assert_true(s->count > 0);
        for (size_t k = 0; k < s->count; k++) {
            assert_true(strlen(s->fields[k].help) > 5);
            assert_true((s->fields[k].kind == FIELD_ROWS) == (s->fields[k].width > 1));
            for (size_t n = 0; n < k; n++) assert_string_not_equal(s->fields[n].key, s->fields[k].key);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_are_documented),
                                       cmocka_unit_test(rows_are_whole)};
    if (argc == 2 && strcmp(argv[1], "--print") == 0) {
        struct text t = {0};
        for (int i = 0; i < PLAN_SECTION_COUNT; i++)
            describe_fields(plan_sections[i].heading, plan_sections[i].fields, plan_sections[i].count, &t);
        fputs(t.at, stdout);
        text_free(&t);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
