/* run_cases [-v] FILE.json …: checks the cases of each file and ends with "N passed, M failed".
 *
 * Exit: 0 all passed, 1 some failed or there were none,
 * 2 a file that cannot be read or has an unknown form. */
#include "cases/cases.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct case_form *const forms[] = {
    &form_patterns, &form_solver, &form_workdiv,     &form_partition, &form_loops,
    &form_einsum,   &form_team,   &form_constraints, &form_tiling,    &form_models};

enum { FORM_COUNT = sizeof forms / sizeof *forms };

void case_begin(struct cases *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->name, sizeof c->name, format, args);
    va_end(args);
    c->checks = c->broken = 0;
}

bool case_expect(struct cases *c, bool holds, const char *format, ...)
{
    c->checks++;
    if (holds) return true;
    if (c->broken++ == 0) {
        va_list args;
        va_start(args, format);
        vsnprintf(c->complaint, sizeof c->complaint, format, args);
        va_end(args);
    }
    return false;
}

void case_skip(struct cases *c, const char *reason)
{
    c->skipped++;
    printf("skipped: %s (%s)\n", c->name, reason);
}

static void expect_all_read(struct cases *c, const cJSON *one)
{
    const cJSON *unread = words_only(one) ? NULL : case_unread(one, c->remarks);
    if (!unread) return;
    char *shown = cJSON_PrintUnformatted(unread);
    case_expect(c, false, "data that is not understood: \"%s\": %.200s", unread->string ? unread->string : "",
                shown ? shown : "");
    cJSON_free(shown);
}

void case_end(struct cases *c, const cJSON *one)
{
    if (c->checks == 0 && (!one || words_only(one))) {
        case_skip(c, "words only, none of which can be checked");
        return;
    }
    if (c->checks == 0) case_expect(c, false, "data that is not understood: nothing in it was checked");
    if (c->broken == 0 && one) expect_all_read(c, one);
    if (c->broken > 0) {
        c->failed++;
        printf("failed: %s: %s: %s", c->file, c->name, c->complaint);
        if (c->broken > 1) printf(" (and %d more)", c->broken - 1);
        putchar('\n');
    } else {
        c->passed++;
        if (c->verbose) printf("passed: %s\n", c->name);
    }
}

static const struct case_form *form_of(const cJSON *root)
{
    for (int i = 0; i < FORM_COUNT; i++)
        if (forms[i]->fits(root)) return forms[i];
    return NULL;
}

/* Lists of cases that no part of the form looks at: each fails by its name. `heads`: what files say of
 * themselves. */
static void expect_sections_read(struct cases *c, const cJSON *root)
{
    static const char *const heads[] = {"meta", "source", "semantics", "version_history", NULL};
    const cJSON *v;
    cJSON_ArrayForEach(v, root)
    {
        bool head = false;
        for (int i = 0; heads[i]; i++) head |= v->string && strcmp(v->string, heads[i]) == 0;
        if (head || words_only(v) || case_is_looked(v)) continue;
        case_begin(c, "%s", v->string ? v->string : "");
        case_expect(c, false, "data that is not understood: no form has a section of this name");
        case_end(c, NULL);
    }
}

static bool run_text(struct cases *c, const char *text, size_t length)
{
    struct json strict; /* says what is wrong, and where, of a text that cJSON might take */
    lx_status st;
    char words[1200];
    if (!json_parse(&strict, c->file, text, length, &st)) {
        fprintf(stderr, "run_cases: %s\n", lx_status_describe(&st, words, sizeof words));
        return false;
    }
    json_free(&strict);
    cJSON *root = cJSON_ParseWithLength(text, length);
    const struct case_form *form = form_of(root);
    looked_forget();
    if (form) {
        c->remarks = form->remarks;
        form->run(c, root);
        expect_sections_read(c, root);
    } else {
        fprintf(stderr, "run_cases: %s: its keys are of no known form; known:", c->file);
        for (int i = 0; i < FORM_COUNT; i++) fprintf(stderr, "%s %s", i ? "," : "", forms[i]->name);
        fputc('\n', stderr);
    }
    looked_forget();
    cJSON_Delete(root);
    return form != NULL;
}

static bool run_file(struct cases *c, const char *path)
{
    lx_status st;
    size_t length;
    char words[1200];
    char *text = file_read(path, &length, &st);
    if (!text) {
        fprintf(stderr, "run_cases: %s\n", lx_status_describe(&st, words, sizeof words));
        return false;
    }
    c->file = path;
    bool ok = run_text(c, text, length);
    mem_free(text);
    return ok;
}

int main(int argc, char **argv)
{
    static const char usage[] = "usage: run_cases [-v] FILE.json ...\n"
                                "Checks the cases of each file; the form is told by its content.\n"
                                "  -v, --verbose  name the cases that pass, too\n";
    struct cases c = {0};
    int files = 0;
    cjson_find = case_find;
    bool readable = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0 || strcmp(argv[i], "--verbose") == 0) {
            c.verbose = true;
        } else if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            return 0;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            fprintf(stderr, "run_cases: unknown option %s\n%s", argv[i], usage);
            return 2;
        }
    }
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1]) continue;
        files++;
        readable &= run_file(&c, argv[i]);
    }
    if (files == 0) {
        fputs(usage, stderr);
        return 2;
    }
    printf("%d passed, %d failed", c.passed, c.failed);
    if (c.skipped) printf(", %d skipped", c.skipped);
    putchar('\n');
    if (!readable) return 2;
    return c.failed == 0 && c.passed > 0 ? 0 : 1;
}
