/* Files as graphs, whatever format they have: for the commands, and for the explorer, which has no command
 * line. */
#include "planning/graph_files.h"
#include "base/file.h"
#include "base/json/json.h"
#include "text/format.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

const struct lx_graph *graph_of_text(const struct model_options *how, const char *file, const char *text,
                                     size_t length, char **report, lx_status *st)
{
    if (suite_graph && json_is_kind(text, length, "instance")) return suite_graph(file, text, length, st);
    if (!how || !(how->given || (how->import.team && lx_model_sniff(text, length))))
        return lx_graph_of_text(file, text, length, st);
    if (lx_model_sniff(text, length)) return lx_model_import(file, text, length, &how->import, report, st);
    if (how->folders) return lx_graph_of_text(file, text, length, st);
    status_set_at(st, LX_E_USAGE, file, 0, 0,
                  "--%s says how a model (TTIR, HLO or ONNX) is imported, and this is none; leave it out",
                  how->given);
    return NULL;
}

const struct lx_graph *graph_of_file(const struct model_options *how, const char *path, char **report,
                                     lx_status *st)
{
    size_t length;
    OWNED char *text = file_read(path, &length, st);
    if (!text) return NULL;
    const char *file = strcmp(path, "-") == 0 ? "standard input" : path;
    const struct lx_graph *g = graph_of_text(how, file, text, length, report, st);
    return g;
}

/* Patterns found on the disk: below a folder, at most DEEPEST folders down, in order of their names; and the
 * folder of the bundled ones: `patterns` here, else in the source tree of the build or where it was
 * installed. */

enum { DEEPEST = 4 };

static void bundled_gather(const char *folder, int depth, struct paths *found)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        struct stat info;
        if (name[0] != '.') {
            char *path = mem_format("%s/%s", folder, name);
            bool known = stat(path, &info) == 0,
                 kept = known && S_ISREG(info.st_mode) && lx_format_ending(name);
            if (known && S_ISDIR(info.st_mode) && depth < DEEPEST) bundled_gather(path, depth + 1, found);
            if (kept)
                VEC_PUSH(found, path);
            else
                mem_free(path);
        }
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

void gather_patterns(const char *folder, struct paths *found)
{
    bundled_gather(folder, 0, found);
}

void add_endings(struct text *out)
{
    size_t from = out->length;
    for (const struct lx_format *f = lx_formats(); f->name; f++)
        for (int i = 0; i < LX_MAX_ENDINGS && f->endings[i]; i++)
            if (out->length == from || !strstr(out->at + from, f->endings[i]))
                text_format(out, "%s%s", out->length == from ? "" : ", ", f->endings[i]);
}

char *beside_program(const char *path)
{
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n < 0 ? 0 : n] = 0;
    char *slash = strrchr(program, '/');
    char *whole = slash ? mem_format("%.*s/%s", (int)(slash - program), program, path) : NULL;
    if (!whole || access(whole, F_OK) == 0) return whole;
    mem_free(whole);
    return NULL;
}

char *bundled_patterns(void)
{
    if (access("patterns/.", F_OK) == 0) return mem_string("patterns");
    char *path = beside_program("../../patterns/.");
    return path ? path : beside_program("../share/lxplan/patterns/.");
}

/* Looks every name of `expect` up among the solvers; the nearest one there is goes into the error. */

enum { MOST_NAMES = 64 };

bool expectations_known(const struct lx_graph *g, lx_status *st)
{
    for (int i = 0; i < g->expect_count; i++)
        /* A build without GLPK has no ilp; patterns may still name it in "expect". */
        if (!lx_solver_find(g->expects[i].solver) && strcmp(g->expects[i].solver, "ilp") != 0) {
            const char *names[MOST_NAMES + 1] = {0};
            for (int k = 0; k < MOST_NAMES && lx_solver_at(k, "name"); k++)
                names[k] = lx_solver_at(k, "name");
            const char *near = nearest(g->expects[i].solver, names);
            return status_set_at(
                st, LX_E_UNKNOWN_NAME, g->file, g->expects[i].line, g->expects[i].column,
                "\"expect\" names a solver \"%.40s\", which there is not%s%s%s `lxplan solvers` lists them",
                g->expects[i].solver, near ? "; did you mean \"" : ";", near ? near : "", near ? "\"?" : "");
        }
    return true;
}

bool expected_error_of(const char *file, const char *text, size_t length, struct expected_error *e)
{
    struct json j;
    lx_status ignored;
    if (lx_is_plan(text, length) || !json_parse(&j, file, text, length, &ignored)) return false;
    const struct json_value *expect = json_is_object(j.root) ? json_find(j.root, "expect") : NULL;
    const struct json_value *error = json_is_object(expect) ? json_find(expect, "error") : NULL;
    const struct json_value *stage = json_is_object(error) ? json_find(error, "stage") : NULL;
    const struct json_value *code = json_is_object(error) ? json_find(error, "code") : NULL;
    bool found = json_is_string(stage) && json_is_string(code) && strlen(stage->text) < sizeof e->stage &&
                 strlen(code->text) < sizeof e->code;
    if (found) {
        strcpy(e->stage, stage->text);
        strcpy(e->code, code->text);
    }
    json_free(&j);
    return found;
}
