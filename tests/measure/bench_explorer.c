/* How fast the explorer is: from the start to the first picture, and from a key to its picture at 200 x 60 on
 * problems of 1,000 to 100,000 buffers and a graph of thousands of ops. Prints a table; nothing here is a
 * test. */
#include "support/bench_clock.h"
#include "tui/core/explorer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "planning/graph_files.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEYS = 400 };

/* Milliseconds: of the wall, or of this thread, which other programs do not disturb. */
static double wall_ms(void)
{
    return now() * 1e3;
}

static double own_ms(void)
{
    return now_by(CLOCK_THREAD_CPUTIME_ID) * 1e3;
}

static char *write_problem(int count, int capacity)
{
    struct text t = {0};
    struct rng rng = rng_seed(1);
    lx_status st;

    text_add(&t, "id,lower,upper,size\n");
    for (int i = 0; i < count; i++) {
        int64_t start = (int64_t)rng_below(&rng, (uint64_t)count), length = 1 + (int64_t)rng_below(&rng, 40);
        text_format(&t, "buffer_%d,%lld,%lld,%lld\n", i, (long long)start, (long long)(start + length),
                    (long long)(128 * (1 + rng_below(&rng, 400))));
    }
    char *path = mem_format("/tmp/lxplan_bench_%d_%d.%d.csv", (int)getpid(), count, capacity);
    if (!file_write(path, t.at, t.length, &st)) exit(3);
    text_free(&t);
    return path;
}

static char *write_graph(void)
{
    const struct lx_generator *flash = lx_generator_find("flash");
    int64_t values[32];
    lx_status st;
    size_t length;
    if (!flash) return NULL;
    lx_values_default(flash->options, flash->option_count, values);
    const struct lx_graph *g = flash->build(values, &st);
    char *json = g ? lx_graph_to_json(g, &length) : NULL;
    char *path = mem_format("/tmp/lxplan_bench_%d.json", (int)getpid());
    if (!json || !file_write(path, json, length, &st)) exit(3);
    mem_free(json);
    lx_graph_free(g);
    return path;
}

/* Milliseconds of a key and its picture: median and most. */
static void measure(struct explorer *x, const char *what, enum view_id view, const char *keys)
{
    static double times[KEYS], worked[KEYS];
    x->overlay = view < PAGE_COUNT ? VIEW_COUNT : view;
    if (view < PAGE_COUNT) x->view = view;
    explorer_draw(x);
    const char *at = keys;
    char worst[16] = "";
    double most = 0;
    for (int i = 0; i < KEYS; i++) {
        struct key k;
        lx_status st;
        if (!key_parse(&at, &k, &st)) {
            at = keys;
            key_parse(&at, &k, &st);
        }
        double began = wall_ms(), start = own_ms();
        explorer_key(x, k);
        explorer_draw(x);
        times[i] = wall_ms() - began;
        worked[i] = own_ms() - start;
        if (worked[i] > most) name_of_key(k.code, worst);
        most = fmax(most, worked[i]);
    }
    printf("  %-22s %-8s median %7.3f ms, slowest %7.3f ms; of CPU median %.3f ms, slowest %.3f ms (%s)\n",
           what, all_views[view]->name, quantile(times, KEYS, 0.5), quantile(times, KEYS, 1),
           quantile(worked, KEYS, 0.5), most, worst);
}

static void measure_file(const char *path, const char *what)
{
    struct what_if how;
    struct explorer x;
    lx_status st;
    settings_default(&how);
    settings_set(&how, SET_SOLVER, "firstfit", &st);
    double began = wall_ms();
    if (!explorer_begin(&x, &how, 60, 200) || !session_add(&x.session, path, &st)) exit(3);
    x.theme = theme_find("dark");
    session_open(&x.session, 0);
    explorer_key(&x, (struct key){.code = AT_WAIT});
    printf("%s: read and planned in %.0f ms\n", what, wall_ms() - began);
    measure(&x, what, VIEW_MAP, "lkjh]o+ll--HLJKv-z[PdV");
    measure(&x, what, VIEW_BUFFERS, "jjk<PageDown>Gg<PageUp>jjjjjjjjj");
    measure(&x, what, VIEW_BUFFERS, ">jr"); /* each sorts anew */
    measure(&x, what, VIEW_BUFFERS, "fb_99<Enter>/r_77<Enter>n<Esc>");
    if (outcome_graph(&x.session.shown)) {
        measure(&x, what, VIEW_GRAPH, "jjjk<PageDown>Gg<Space>");
        measure(&x, what, VIEW_CORES, "l]<Space>j[");
        measure(&x, what, VIEW_LOOPS, "j]jkl");
    }
    measure(&x, what, VIEW_COMPARE, "jk]");
    measure(&x, what, VIEW_WHY, "jjk>");
    measure(&x, what, VIEW_PARETO, "jjk>");
    measure(&x, what, VIEW_PROOF, "jjk<PageDown>Gg");
    measure(&x, what, VIEW_TIMELINE, "llh]><lt>");
    explorer_end(&x);
}

/* What somebody waits for who opens a file: to read it, then a first plan by a heuristic. */
static void measure_first(const char *path, const char *what)
{
    struct what_if how;
    struct outcome o;
    struct pattern_source *source = source_new(path, NULL);
    settings_default(&how);
    double began = own_ms();
    struct source_content from = source_read(source);
    double was_read = own_ms();
    bool ok = from.graph && outcome_make_hastily(&from, &how, NULL, NULL, &o);
    double planned = own_ms();
    printf("  %-36s read %6.1f ms, first plan %6.1f ms%s\n", what, was_read - began, planned - was_read,
           ok ? "" : " (none)");
    if (ok) outcome_free(&o);
    source_content_free(&from);
    source_free(source);
}

/* Of all files below a folder but those that are to be refused. */
static void measure_folder(const char *folder)
{
    struct paths found = {0};
    gather_patterns(folder, &found);
    for (size_t i = 0; i < found.count; i++) {
        if (!strstr(found.at[i], "/errors/")) measure_first(found.at[i], found.at[i] + strlen(folder) + 1);
        mem_free(found.at[i]);
    }
    VEC_FREE(&found);
}

static void measure_start(void)
{
    char *bundled = bundled_patterns();
    struct what_if how;
    struct explorer x;
    lx_status st;
    settings_default(&how);
    if (!bundled) return;
    double began = wall_ms();
    if (!explorer_begin(&x, &how, 60, 200) || !session_add(&x.session, bundled, &st)) exit(3);
    explorer_draw(&x);
    double first = wall_ms() - began;
    explorer_key(&x, (struct key){.code = AT_WAIT});
    explorer_draw(&x);
    printf("start on the bundled patterns: first picture after %.1f ms, all %d patterns read after %.1f ms\n",
           first, (int)x.session.patterns.count, wall_ms() - began);
    explorer_end(&x);
    mem_free(bundled);
}

int main(int argc, char **argv)
{
    static const struct {
        int count, capacity;
    } sizes[] = {{1000, 1048576}, {10000, 1048576}, {100000, 1048576}, {100000, 131072}};
    setlocale(LC_CTYPE, "C.UTF-8");
    for (int i = 1; i < argc; i++) { /* files and folders: only their first plans */
        struct stat info;
        if (stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode))
            measure_folder(argv[i]);
        else
            measure_first(argv[i], argv[i]);
    }
    if (argc > 1) return 0;
    measure_start();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *path = write_problem(sizes[i].count, sizes[i].capacity), what[60];
        snprintf(what, sizeof what, "%d buffers%s", sizes[i].count, i == 3 ? ", tight" : "");
        measure_file(path, what);
        unlink(path);
        mem_free(path);
    }
    char *graph = getenv("G") ? write_graph() : NULL;
    if (graph) {
        measure_file(graph, "generated flash graph");
        unlink(graph);
        mem_free(graph);
    }
    return 0;
}
