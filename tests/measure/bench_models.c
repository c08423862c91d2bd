/* Models on their whole way: read, planned without nests and with them, checked.
 *
 *     build/bin/bench_models [--cases MODELS.json] [--preset NAME] [--nests-only] FILE|FOLDER ...
 *
 * A row a file and preset: ops of the graph, seconds of processor time of import, of both plans and of the check, peak
 * memory, and HBM megabytes with all off chip, as planned without nests, with them, and the least that is proved (or
 * must cross). Each row is made by a process of its own, so that its memory is its own and a crash is a row. --cases has
 * the extents and values that ONNX files need; --nests-only leaves the plans without out. */
#include "unstable.h"
#include "base/file.h"
#include "base/memory.h"
#include "support/cjson_find.h"
#include "support/bench_clock.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_BINDINGS = 32, PATH_ROOM = 4096 };

struct asked {
    cJSON *cases;
    const char *preset; /* NULL: both */
    bool nests_only;
};

static double cpu(void)
{
    return now_by(CLOCK_PROCESS_CPUTIME_ID);
}

static int bindings_of(const cJSON *object, struct lx_model_binding *out)
{
    const cJSON *v;
    int n = 0;
    cJSON_ArrayForEach(v, object) if (n < MOST_BINDINGS) out[n++] =
        (struct lx_model_binding){v->string, (int64_t)v->valuedouble};
    return n;
}

/* The case whose file is the end of the path. */
static const cJSON *case_of(const struct asked *how, const char *path)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cjson_find(how->cases, "files"))
    {
        const cJSON *file = cjson_find(one, "file");
        size_t most = strlen(path), n = file ? strlen(file->valuestring) : most + 1;
        if (n <= most && strcmp(path + most - n, file->valuestring) == 0) return one;
    }
    return NULL;
}

static const struct lx_graph *import(const struct asked *how, const char *path, lx_status *st)
{
    struct lx_model_binding dims[MOST_BINDINGS], fixed[MOST_BINDINGS];
    const cJSON *one = case_of(how, path);
    struct lx_import_options options = {.model = {.dims = dims, .fixed = fixed}, .branch = -1};
    size_t length;
    char *text = file_read(path, &length, st);
    options.model.dim_count = bindings_of(cjson_find(one, "dims"), dims);
    options.model.fixed_count = bindings_of(cjson_find(one, "values"), fixed);
    const struct lx_graph *g = text ? lx_model_import(path, text, length, &options, NULL, st) : NULL;
    mem_free(text);
    return g;
}

static const struct lx_graph *on_preset(const struct lx_graph *g, const char *preset)
{
    struct lx_device device = g->device;
    return lx_device_preset(preset, &device) ? lx_graph_with_device(g, &device) : NULL;
}

static struct lx_plan *plan(const struct lx_graph *g, bool nests, double *seconds, lx_status *st)
{
    struct lx_plan_options options = {.solver = lx_solver_find("auto"),
                                      .quick_solver = lx_solver_find("bestfit")};
    double begin = cpu();
    options.passes.tile = nests ? LX_TILE_AUTO : LX_TILE_NONE;
    struct lx_plan *p = lx_plan_make(g, &options, st);
    *seconds = cpu() - begin;
    return p;
}

static double mega(int64_t bytes)
{
    return (double)bytes / 1e6;
}

static double peak_mega(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_maxrss / 1e3;
}

/* As `lxplan check` does: written, read and checked. */
static bool checks(const struct lx_plan *p, lx_status *st)
{
    size_t length;
    char *text = lx_plan_to_json(p, &length);
    struct lx_plan *again = text ? lx_plan_of_text("plan", text, length, st) : NULL;
    bool ok = again && lx_plan_check(again, st);
    lx_plan_free(again);
    mem_free(text);
    return ok;
}

static bool measure(const struct asked *how, const char *path, const char *preset, lx_status *st)
{
    double begin = cpu(), plain_s = 0, nest_s, check_s;
    const struct lx_graph *read = import(how, path, st), *g = read ? on_preset(read, preset) : NULL;
    double import_s = cpu() - begin;
    struct lx_plan *plain = g && !how->nests_only ? plan(g, false, &plain_s, st) : NULL;
    struct lx_plan *p = g && (plain || how->nests_only) ? plan(g, true, &nest_s, st) : NULL;
    begin = cpu();
    bool ok = p && checks(p, st);
    check_s = cpu() - begin;
    if (p)
        printf("%6d ops %6.2f %6.2f %6.2f %6.2f s %6.0f MB  %10.1f %10.1f %10.1f %10.1f MB  %s\n",
               (int)g->op_count, import_s, plain_s, nest_s, check_s, peak_mega(),
               mega(p->figures.baseline_hbm_bytes), plain ? mega(plain->figures.hbm_bytes) : 0.0,
               mega(p->figures.hbm_bytes), mega(p->figures.perfect_hbm_bytes + p->figures.bound_bytes),
               ok ? "ok" : "REFUSED");
    lx_plan_free(p);
    lx_plan_free(plain);
    lx_graph_free(g);
    lx_graph_free(read);
    return ok;
}

static int row(const struct asked *how, const char *path, const char *preset)
{
    const char *slash = strrchr(path, '/');
    int state = 0;
    printf("%-40s %-11s ", slash ? slash + 1 : path, preset);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        lx_status st = {0};
        char words[1200];
        bool ok = measure(how, path, preset, &st);
        if (!ok) printf("%s\n", lx_status_describe(&st, words, sizeof words));
        fflush(stdout);
        _exit(ok ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &state, 0) < 0) return 1;
    if (WIFSIGNALED(state)) printf("ended by signal %d\n", WTERMSIG(state));
    return state != 0;
}

static int rows(const struct asked *how, const char *path)
{
    static const char *const presets[] = {"spyre", "tenstorrent"};
    int failed = 0;
    for (int i = 0; i < 2; i++)
        if (!how->preset || strcmp(how->preset, presets[i]) == 0) failed |= row(how, path, presets[i]);
    return failed;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* A file, or the files of a folder in order of their names. */
static int visit(const struct asked *how, const char *path)
{
    struct dirent **names = NULL;
    struct stat is;
    char inner[PATH_ROOM];
    int failed = 0, count;
    if (stat(path, &is) != 0 || !S_ISDIR(is.st_mode)) return rows(how, path);
    count = scandir(path, &names, visible, alphasort);
    for (int i = 0; i < count; i++) {
        if (snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name) < (int)sizeof inner &&
            stat(inner, &is) == 0 && S_ISREG(is.st_mode))
            failed |= rows(how, inner);
        free(names[i]);
    }
    free(names);
    return failed | (count < 0);
}

static bool read_cases(struct asked *how, const char *path)
{
    lx_status st = {0};
    size_t length;
    char *text = file_read(path, &length, &st);
    how->cases = text ? cJSON_ParseWithLength(text, length) : NULL;
    bool ok = how->cases;
    if (!ok) fprintf(stderr, "%s: %s\n", path, text ? "not JSON" : st.text);
    mem_free(text);
    return ok;
}

int main(int argc, char **argv)
{
    struct asked how = {.preset = NULL};
    int failed = 0;
    printf("%-40s %-11s %10s %6s %6s %6s %6s %11s  %10s %10s %10s %10s\n", "file", "preset", "", "import",
           "plain", "nests", "check", "peak", "all off", "plain", "nests", "least");
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--cases") == 0 && i + 1 < argc)
            failed |= !read_cases(&how, argv[++i]);
        else if (strcmp(argv[i], "--preset") == 0 && i + 1 < argc)
            how.preset = argv[++i];
        else if (strcmp(argv[i], "--nests-only") == 0)
            how.nests_only = true;
        else
            failed |= visit(&how, argv[i]);
    cJSON_Delete(how.cases);
    return failed;
}
