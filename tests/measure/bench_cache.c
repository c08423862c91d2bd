/* Plans out of the solve cache, beside those that are made: patterns and models, each planned twice.
 *
 *     build/bin/bench_cache [--cases MODELS.json] FOLDER-OF-THE-CACHE FILE|FOLDER ...
 *
 * A row per file: ops (or buffers), and milliseconds of processor time of reading or importing it and of planning it the
 * first time; then of the second plan, the least of five, as plan in memory (lx_plan_make), by lx_plan of its graph and by
 * lx_plan of the file, both to the bytes of the plan file (with ops and objective, which is asked first), and as `lxplan plan
 * FILE --cache DIR -o PLAN` does it, to the plan file. "-": a file that says too little by itself, as --cases has extents and
 * values that ONNX files need. Ends with how many of each took less than 5 ms and gave the same bytes. */
#include "lxplan.h"
#include "unstable.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "support/bench_clock.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BINDINGS = 32, PATH_ROOM = 4096, TIMES = 5 };

enum { IN_MEMORY, BY_GRAPH, BY_FILE, BY_WORDS, WAYS };

struct asked {
    struct json cases;
    const char *cache;
    int files, same, failed, quick[WAYS], tried[WAYS];
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

static bool says_too_little(const struct asked *how, const char *path)
{
    const struct json_value *one = case_of(how, path);
    return json_first(json_find(one, "dims")) || json_first(json_find(one, "values"));
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
    mem_free(text);
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
    if (p && p->kept_as) (void)lx_cache_remember(how->cache, path, p->kept_as, "", 0, st);
    lx_plan_free(p);
    return text;
}

struct plan_text {
    const char *at;
    size_t length;
};

static bool is_same(const struct plan_text *a, const void *data, size_t length)
{
    return a->length == length && memcmp(a->at, data, length) == 0;
}

/* The answer by the file's bytes, into a file; milliseconds, -1: none, or another. */
static double by_words(const struct asked *how, const char *path, const struct plan_text *plan)
{
    lx_status st = {0};
    struct lx_recalled r = {0};
    struct text question = {0};
    char out[PATH_ROOM];
    size_t bytes;
    snprintf(out, sizeof out, "%s/written.json", how->cache);
    unlink(out);
    double begin = cpu();
    char *text = file_read(path, &bytes, &st);
    bool ok = text && lx_question_file(path, text, bytes, &question) &&
              lx_cache_recall(how->cache, path, false, &r, &st) &&
              file_write_again(out, r.plan, r.plan_length, &st);
    double ms = cpu() - begin;
    ok = ok && is_same(plan, r.plan, r.plan_length);
    mem_free(text);
    text_free(&question);
    lx_recalled_free(&r);
    unlink(out);
    return ok ? ms : -1;
}

/* By lx_plan of the graph, or of the file where that is NULL. */
static double by_library(const struct asked *how, const char *path, const struct lx_graph *g,
                         const struct plan_text *plan)
{
    lx_options *o = lx_options_new();
    double cached = 0, objective, begin = cpu();
    if (lx_options_set(o, "cache", how->cache, NULL) != 0 || lx_options_set(o, "file", path, NULL) != 0)
        return lx_options_free(o), -1;
    lx_result *r = lx_plan(g, o, NULL);
    lx_result_number(r, "objective", &objective);
    lx_text *text = r ? lx_result_write(r, "plan", NULL, NULL) : NULL;
    double ms = cpu() - begin;
    lx_result_number(r, "cached", &cached);
    bool ok = text && cached > 0 && is_same(plan, lx_text_data(text), (size_t)lx_text_size(text));
    lx_text_free(text);
    lx_result_free(r);
    lx_options_free(o);
    return ok ? ms : -1;
}

static double in_memory(const struct asked *how, const char *path, const struct lx_graph *g,
                        const struct plan_text *plan_before)
{
    lx_status st = {0};
    size_t length;
    double ms;
    bool cached;
    char *text = plan(how, path, g, &ms, &cached, &length, &st);
    bool ok = text && cached && is_same(plan_before, text, length);
    mem_free(text);
    return ok ? ms : -1;
}

static double once(int way, const struct asked *how, const char *path, const struct lx_graph *g,
                   const struct plan_text *plan)
{
    if (way == IN_MEMORY) return in_memory(how, path, g, plan);
    if (way == BY_WORDS) return by_words(how, path, plan);
    return by_library(how, path, way == BY_GRAPH ? g : NULL, plan);
}

/* The least of some times; -1: not once, or not always the same. The first of a way may be the one that is kept. */
static double least_of(int way, const struct asked *how, const char *path, const struct lx_graph *g,
                       const struct plan_text *plan)
{
    double least = 1e9;
    (void)once(way, how, path, g, plan);
    for (int i = 0; i < TIMES; i++) {
        double ms = once(way, how, path, g, plan);
        if (ms < 0) return -1;
        if (ms < least) least = ms;
    }
    return least;
}

static void row(struct asked *how, const char *path)
{
    const char *slash = strrchr(path, '/');
    lx_status st = {0};
    double begin = cpu(), first;
    const struct lx_graph *g = read_any(how, path, &st);
    double read = cpu() - begin;
    struct plan_text made = {0};
    bool was;
    if (!g || g->expect_stage) {
        lx_graph_free(g);
        return;
    }
    char *text = plan(how, path, g, &first, &was, &made.length, &st);
    made.at = text;
    printf("%-40.40s %6d %9.2f %10.2f%s", slash ? slash + 1 : path,
           (int)(g->is_list ? g->buffer_count : g->op_count), read, first, was ? "*" : " ");
    bool same = text != NULL;
    for (int way = 0; text && way < WAYS; way++) {
        if (way == BY_FILE && says_too_little(how, path)) {
            printf(" %9s", "-");
            continue;
        }
        double ms = least_of(way, how, path, g, &made);
        how->tried[way]++;
        how->quick[way] += ms >= 0 && ms < 5;
        same = same && ms >= 0;
        printf(" %9.3f", ms);
    }
    how->files++;
    how->same += same;
    printf(" %s\n", text ? same ? "same" : "OTHER" : st.text);
    fflush(stdout);
    mem_free(text);
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
        mem_free(names[i]);
    }
    mem_free(names);
}

static bool read_cases(struct asked *how, const char *path)
{
    lx_status st = {0};
    size_t length;
    char *text = file_read(path, &length, &st);
    bool ok = text && json_parse(&how->cases, path, text, length, &st);
    if (!ok) fprintf(stderr, "%s: %s\n", path, st.text);
    mem_free(text);
    return ok;
}

int main(int argc, char **argv)
{
    struct asked how = {.cache = NULL};
    printf("%-40s %6s %9s %10s  %9s %9s %9s %9s\n", "file", "ops", "read", "planned", "in memory", "by graph",
           "by file", "by words");
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--cases") == 0 && i + 1 < argc)
            how.failed |= !read_cases(&how, argv[++i]);
        else if (!how.cache)
            how.cache = argv[i];
        else
            visit(&how, argv[i]);
    printf("%d files, %d the same again; in less than 5 ms: in memory %d of %d, by graph %d of %d, by file "
           "%d of %d, "
           "by words %d of %d\n",
           how.files, how.same, how.quick[IN_MEMORY], how.tried[IN_MEMORY], how.quick[BY_GRAPH],
           how.tried[BY_GRAPH], how.quick[BY_FILE], how.tried[BY_FILE], how.quick[BY_WORDS],
           how.tried[BY_WORDS]);
    json_free(&how.cases);
    return how.failed || how.same < how.files;
}
