/* Plans out of the solve cache, beside those that are made: patterns and models, each planned twice.
 *
 *     build/bin/bench_cache [--cases MODELS.json] FOLDER-OF-THE-CACHE FILE|FOLDER ...
 *
 * A row per file: ops (or buffers), milliseconds of processor time of reading or importing it, of planning it the first
 * time and the second, the least of five, and whether both plan files are the same bytes; then of asking for it again in the
 * same words, as `lxplan plan FILE --cache DIR -o PLAN` does: from the bytes of the file to the plan file, written. Ends with
 * how many of either took less than 5 ms. --cases has the extents and values that ONNX files need. */
#include "unstable.h"
#include "base/file.h"
#include "base/json.h"
#include "support/bench_clock.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BINDINGS = 32, PATH_ROOM = 4096, TIMES = 5 };

struct asked {
    struct json cases;
    const char *cache;
    int files, quick, same, asked, failed;
};

static double cpu(void)
{
    return now_by(CLOCK_PROCESS_CPUTIME_ID) * 1e3;
}

static int bindings_of(const struct json_value *object, struct lx_model_binding *out)
{
    const struct json_value *v;
    int n = 0;
    json_for_each(v, object)
        if (n < MOST_BINDINGS) out[n++] = (struct lx_model_binding){v->key, (int64_t)v->number};
    return n;
}

/* The case whose file is the end of the path. */
static const struct json_value *case_of(const struct asked *how, const char *path)
{
    const struct json_value *one;
    json_for_each(one, json_find(how->cases.root, "files")) {
        const struct json_value *file = json_find(one, "file");
        size_t most = strlen(path), n = file ? strlen(file->text) : most + 1;
        if (n <= most && strcmp(path + most - n, file->text) == 0) return one;
    }
    return NULL;
}

static const struct lx_graph *read_any(const struct asked *how, const char *path, lx_status *st)
{
    struct lx_model_binding dims[MOST_BINDINGS], fixed[MOST_BINDINGS];
    const struct json_value *one = case_of(how, path);
    if (!one) return lx_graph_read(path, st);
    struct lx_import_options options = {.model = {.dims = dims, .fixed = fixed}, .branch = -1};
    size_t length;
    char *text = file_read(path, &length, st);
    options.model.dim_count = bindings_of(json_find(one, "dims"), dims);
    options.model.fixed_count = bindings_of(json_find(one, "values"), fixed);
    const struct lx_graph *g = text ? lx_model_import(path, text, length, &options, NULL, st) : NULL;
    free(text);
    return g;
}

static void tell(void *context, const char *words)
{
    (void)context;
    printf("%s\n", words);
}

/* Planned once; its file, and milliseconds. NULL: none was made. */
static char *plan(const struct asked *how, const char *path, const struct lx_graph *g, double *ms,
                  bool *cached, size_t *length, lx_status *st)
{
    struct lx_plan_options options = {
        .solver = lx_solver_find("auto"), .quick_solver = lx_solver_find("bestfit"), .tell = tell};
    snprintf(options.cache, sizeof options.cache, "%s", how->cache);
    double begin = cpu();
    struct lx_plan *p = lx_plan_make(g, &options, st);
    *ms = cpu() - begin;
    *cached = p && p->cached;
    char *text = p ? lx_plan_to_json(p, length) : NULL;
    if (p && p->kept_as) (void)lx_cache_remember(how->cache, path, p, "", 0, st);
    lx_plan_free(p);
    return text;
}

/* The answer by the file's bytes, into a file; milliseconds, -1: none, or another. */
static double ask_again(const struct asked *how, const char *path, const char *plan, size_t length)
{
    lx_status st = {0};
    struct lx_recalled r = {0};
    char sum[33], out[PATH_ROOM];
    size_t bytes;
    snprintf(out, sizeof out, "%s/written.json", how->cache);
    unlink(out);
    double begin = cpu();
    char *text = file_read(path, &bytes, &st);
    if (text) lx_cache_sum(text, bytes, sum);
    bool ok = text && lx_cache_recall(how->cache, path, false, &r, &st) &&
              file_write_again(out, r.plan, r.plan_length, &st);
    double ms = cpu() - begin;
    ok = ok && r.plan_length == length && memcmp(r.plan, plan, length) == 0;
    free(text);
    lx_recalled_free(&r);
    unlink(out);
    return ok ? ms : -1;
}

static void row(struct asked *how, const char *path)
{
    const char *slash = strrchr(path, '/');
    lx_status st = {0};
    double begin = cpu(), first, again, least = 1e9;
    const struct lx_graph *g = read_any(how, path, &st);
    double read = cpu() - begin;
    size_t one = 0, two = 0;
    bool cached = false, same = true, was;
    if (!g || g->expect_stage) {
        lx_graph_free(g);
        return;
    }
    char *a = plan(how, path, g, &first, &was, &one, &st);
    for (int i = 0; a && i < TIMES; i++) {
        char *b = plan(how, path, g, &again, &cached, &two, &st);
        if (again < least) least = again;
        same = same && b && cached && one == two && memcmp(a, b, one) == 0;
        free(b);
    }
    double asked = -1;
    for (int i = 0; a && i < TIMES; i++) {
        double ms = ask_again(how, path, a, one);
        if (asked < 0 || (ms >= 0 && ms < asked)) asked = ms;
    }
    how->files++;
    how->asked += asked >= 0 && asked < 5;
    how->same += a && same;
    how->quick += a && same && least < 5;
    printf("%-44.44s %6d %9.2f %10.2f%s %8.2f ms %s %8.2f ms\n", slash ? slash + 1 : path,
           (int)(g->is_list ? g->buffer_count : g->op_count), read, first, was ? "*" : " ", a ? least : -1.0,
           a ? same ? "same" : "OTHER" : st.text, asked);
    fflush(stdout);
    free(a);
    lx_graph_free(g);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void visit(struct asked *how, const char *path)
{
    struct dirent **names = NULL;
    struct stat is;
    char inner[PATH_ROOM];
    if (stat(path, &is) != 0 || !S_ISDIR(is.st_mode)) {
        row(how, path);
        return;
    }
    int count = scandir(path, &names, visible, alphasort);
    for (int i = 0; i < count; i++) {
        if (snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name) < (int)sizeof inner)
            visit(how, inner);
        free(names[i]);
    }
    free(names);
}

static bool read_cases(struct asked *how, const char *path)
{
    lx_status st = {0};
    size_t length;
    char *text = file_read(path, &length, &st);
    bool ok = text && json_parse(&how->cases, path, text, length, &st);
    if (!ok) fprintf(stderr, "%s: %s\n", path, st.text);
    free(text);
    return ok;
}

int main(int argc, char **argv)
{
    struct asked how = {.cache = NULL};
    printf("%-44s %6s %9s %10s  %8s %16s\n", "file", "ops", "read", "planned", "again", "asked");
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--cases") == 0 && i + 1 < argc)
            how.failed |= !read_cases(&how, argv[++i]);
        else if (!how.cache)
            how.cache = argv[i];
        else
            visit(&how, argv[i]);
    printf("%d files, %d the same again, %d of these in less than 5 ms; asked in the same words %d\n",
           how.files, how.same, how.quick, how.asked);
    json_free(&how.cases);
    return how.failed || how.same < how.files;
}
