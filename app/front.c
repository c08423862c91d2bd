/* lxplan without a command: what each solver makes of the bundled patterns. */
#include "command.h"
#include "base/vec.h"
#include "table.h"
#include "words.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SOLVERS = 16, DEEPEST = 4 };

typedef VEC(char *) paths;

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* Every .json below a folder; entries in order of their names, so that the table never changes by itself. */
static void gather(const char *folder, int depth, paths *found)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        char *path = NULL;
        struct stat info;
        if (name[0] != '.' && asprintf(&path, "%s/%s", folder, name) >= 0) {
            bool known = stat(path, &info) == 0, kept = false;
            if (known && S_ISDIR(info.st_mode) && depth < DEEPEST)
                gather(path, depth + 1, found);
            else if (known && S_ISREG(info.st_mode) && ends_with(name, ".json"))
                kept = VEC_PUSH(found, path);
            if (!kept) free(path);
        }
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

/* In the working directory; else beside the build, else where `install` puts them. malloc'ed, or NULL. */
static char *find_patterns(void)
{
    static const char *const beside_program[] = {"../../patterns", "../share/lxplan/patterns"};
    struct stat info;
    if (stat("patterns", &info) == 0 && S_ISDIR(info.st_mode)) return strdup("patterns");
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0) return NULL;
    program[n] = 0;
    char *slash = strrchr(program, '/');
    if (!slash) return NULL;
    *slash = 0;
    for (size_t i = 0; i < sizeof beside_program / sizeof *beside_program; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", program, beside_program[i]) < 0) return NULL;
        if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return path;
        free(path);
    }
    return NULL;
}

/* One cell: the traffic of the solver's plan, `*` where it is proved best, `!` where the target is missed. */
static void add_result(struct table *t, const char *path, const struct lx_solver *s)
{
    lx_status st;
    struct lx_graph *g = lx_graph_read(path, &st);
    struct lx_plan_options how = {.solver = s, .objective = -1, .run = {.time_limit = 5}};
    struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
    if (!p)
        table_cell(t, PAINT_DIM, "-");
    else if (!lx_plan_check(p, &st))
        table_cell(t, PAINT_BAD, "none");
    else {
        bool best = p->answer.status == LX_OPTIMAL, missed = !lx_plan_meets_target(p);
        table_cell(t,
                   missed ? PAINT_BAD
                   : best ? PAINT_GOOD
                          : PAINT_PLAIN,
                   "%s%s%s", grouped(p->problem.objective == LX_HEIGHT ? p->height_bytes : p->hbm_bytes).at,
                   missed ? "!" : " ", best ? "*" : " ");
    }
    lx_plan_free(p);
}

static void add_pattern(struct table *t, const char *path, const char *shown)
{
    lx_status st;
    struct lx_graph *g = lx_graph_read(path, &st);
    if (g && !g->expect_stage) { /* a pattern that must be refused has nothing to compare */
        table_name(t, shown);
        if (g->target_hbm_bytes >= 0)
            table_cell(t, PAINT_PLAIN, "%s", grouped(g->target_hbm_bytes).at);
        else
            table_cell(t, PAINT_PLAIN, "%s", "");
        for (int i = 0; i < t->column_count - 2; i++) add_result(t, path, lx_solvers()[i]);
    }
    lx_graph_free(g);
}

bool front_page(struct text *out)
{
    char *folder = find_patterns();
    paths found = {0};
    if (folder) gather(folder, 0, &found);
    struct column columns[MOST_SOLVERS + 2] = {{"pattern", false}, {"target", true}};
    struct table t = {.columns = columns, .column_count = 2};
    for (int i = 0; i < MOST_SOLVERS && lx_solvers()[i]; i++)
        columns[t.column_count++] = (struct column){lx_solvers()[i]->name, true};
    for (size_t i = 0; i < found.count; i++) {
        add_pattern(&t, found.at[i], found.at[i] + strlen(folder) + 1);
        free(found.at[i]);
    }
    bool any = t.cells.count > 0;
    if (any)
        text_add(out, "Bytes of HBM traffic by solver; * proved best, ! above the target. `lxplan --help` "
                      "for more.\n\n");
    struct text nowhere = {0};
    table_write(&t, any ? out : &nowhere);
    text_free(&nowhere);
    VEC_FREE(&found);
    free(folder);
    return any;
}
