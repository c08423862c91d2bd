/* Files with one mistake each, and the error that its author must see.
 *
 * tests/data/malformed/expected.tsv has a line for every file of the folder: file, code word, line, column,
 * and words that the text must have. A file that can be read must be refused when it is planned. Plans have their
 * own mistakes in unit/damaged_plans. */
#include "unstable.h"
#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FOLDER SOURCE_DIR "/tests/data/malformed/"

struct row {
    char *file, *code, *says;
    int line, column;
    bool seen;
};

static char *table;
static struct row rows[400];
static size_t row_count;

static int read_table(void **state)
{
    (void)state;
    lx_status st;
    size_t length;
    table = file_read(FOLDER "expected.tsv", &length, &st);
    if (!table) return -1;
    char *rest = table;
    for (char *line; (line = strsep(&rest, "\n")) && row_count < sizeof rows / sizeof *rows;) {
        if (!*line) continue;
        struct row *r = &rows[row_count++];
        char *number, *fields = line;
        r->file = strsep(&fields, "\t");
        r->code = strsep(&fields, "\t");
        if (!(number = strsep(&fields, "\t"))) return -1;
        r->line = atoi(number);
        if (!(number = strsep(&fields, "\t"))) return -1;
        r->column = atoi(number);
        r->says = fields;
        if (!r->says || !*r->says) return -1;
    }
    return 0;
}

static int free_table(void **state)
{
    (void)state;
    mem_free(table);
    return 0;
}

/* What reading, then planning, says of the file. True: nothing. */
static bool accepted(const char *path, lx_status *st)
{
    *st = (lx_status){0};
    struct lx_plan_options how = {.solver = lx_solver_find("greedy")};
    const struct lx_graph *g = lx_graph_read(path, st);
    struct lx_plan *p = g ? lx_plan_make(g, &how, st) : NULL;
    lx_graph_free(g);
    lx_plan_free(p);
    return p != NULL;
}

static void every_file_gives_its_error(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < row_count; i++) {
        struct row *r = &rows[i];
        char path[600];
        lx_status st;
        snprintf(path, sizeof path, "%s%s", FOLDER, r->file);
        if (accepted(path, &st)) {
            print_message("%s: accepted, though it should give \"%s\"\n", r->file, r->says);
            wrong++;
        } else if (strcmp(lx_code_word(st.code), r->code) != 0 || st.line != r->line ||
                   st.column != r->column || !strstr(st.text, r->says)) {
            print_message("%s gave\n  %s:%d:%d %s\n  and not\n  %s:%d:%d %s\n", r->file,
                          lx_code_word(st.code), st.line, st.column, st.text, r->code, r->line, r->column,
                          r->says);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* Each names its file, fits a line, and has words enough to say what is wrong or what is allowed. */
static void every_error_can_be_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        char path[600], shown[1200];
        lx_status st;
        snprintf(path, sizeof path, "%s%s", FOLDER, rows[i].file);
        accepted(path, &st);
        size_t words = 1;
        for (const char *s = st.text; *s; s++) {
            assert_true((unsigned char)*s >= 0x20 && *s != 0x7f);
            words += *s == ' ';
        }
        if (words < 5) fail_msg("%s: \"%s\" says too little", rows[i].file, st.text);
        lx_status_describe(&st, shown, sizeof shown);
        if (st.code != LX_E_NO) { /* a plan that was read and judged has a verdict, not a place */
            assert_string_equal(st.file, path);
            assert_int_equal(strncmp(shown, path, strlen(path)), 0);
        }
        assert_int_equal(lx_code_exit(st.code), st.code == LX_E_NO ? 1 : 2);
    }
}

static void table_and_folder_agree(void **state)
{
    (void)state;
    DIR *d = opendir(FOLDER);
    int missing = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.' || strcmp(e->d_name, "expected.tsv") == 0) continue;
        size_t i = 0;
        while (i < row_count && strcmp(rows[i].file, e->d_name) != 0) i++;
        if (i == row_count) {
            print_message("%s is not in expected.tsv\n", e->d_name);
            missing++;
        } else
            rows[i].seen = true;
    }
    closedir(d);
    assert_int_equal(missing, 0);
    for (size_t i = 0; i < row_count; i++)
        if (!rows[i].seen) fail_msg("%s is in expected.tsv twice, or not in the folder", rows[i].file);
    assert_true(row_count >= 70 && row_count < sizeof rows / sizeof *rows);
}

/* The errors come from the mistakes and not from the reader: the same files without them are good. */
static void a_good_file_is_accepted(void **state)
{
    (void)state;
    static const char pattern[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"good\", \"capacity\": 1024, \"alignment\": 128, "
        "\"buffers\": ["
        "{\"name\": \"a\", \"size\": 256, \"uses\": [0, 1]},"
        "{\"name\": \"b\", \"size\": 256, \"uses\": [1, 2], \"in_place_parents\": [\"a\"]}]}";
    static const char csv[] = "\xef\xbb\xbfid,lower,upper,size\r\na,0,1,16\r\n\r\n\"b,\"\"c\"\"\",1,2,16";
    lx_status st;
    const struct lx_graph *g = lx_graph_of_text("good.json", pattern, sizeof pattern - 1, &st);
    assert_non_null(g);
    struct lx_plan_options how = {.solver = lx_solver_find("greedy")};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    assert_non_null(p);
    assert_true(lx_plan_check(p, &st));
    assert_int_equal(p->took_slot_of[1], 0);
    lx_plan_free(p);
    g = lx_graph_of_text("good.csv", csv, sizeof csv - 1, &st);
    assert_non_null(g);
    assert_int_equal(g->list->buffer_count, 2);
    assert_string_equal(g->list->buffers[1].name, "b,\"c\"");
    assert_int_equal(g->list->buffers[1].line, 4);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_gives_its_error),
        cmocka_unit_test(every_error_can_be_read),
        cmocka_unit_test(table_and_folder_agree),
        cmocka_unit_test(a_good_file_is_accepted),
    };
    return cmocka_run_group_tests(tests, read_table, free_table);
}
