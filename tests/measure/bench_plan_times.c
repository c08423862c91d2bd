/* How long plans of large graphs take: seconds of processor time with nests and without, and what is moved.
 *
 *     build/bin/bench_plan_times [TEXT]
 *
 * Only rows whose words, as they are printed, have TEXT in them: the graph, a colon, KiB of scratchpad. Graphs of the generators at real sizes and with small scratchpads, and patterns of
 * this repository; with the solver, passes and effort that a plan has by itself. Asked for: at most 1 s for 300 ops. */
#include "unstable.h"
#include "support/bench_clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `of`: a pattern, or a generator and its options. */
static const struct row {
    const char *of;
    int64_t kib; /* of scratchpad; 0: the device's */
} rows[] = {
    {"block_2048.json", 0},
    {"block_4096_long.json", 0},
    {"block_4096_long.json", 512},
    {"block layers=1 d_model=4096 heads=32 seq=2048", 64},
    {"block layers=1 d_model=4096 heads=32 seq=2048", 512},
    {"block layers=10 d_model=4096 heads=32 seq=2048", 0},
    {"block layers=10 d_model=4096 heads=32 seq=2048", 64},
    {"block layers=10 d_model=4096 heads=32 seq=2048", 512},
    {"block layers=10 d_model=4096 heads=32 seq=2048", 1024},
    {"block layers=10", 0},
    {"flash q=1024 kv=8192 ops=300", 0},
    {"flash q=4096 kv=16384 d=128 heads=8 ops=300", 0},
    {"flash q=2048 kv=8192 d=128 heads=16 ops=300", 0},
    {"flash ops=4000", 0},
    {"decode ops=304", 0},
    {"decode ops=304", 16},
    {"decode ops=304", 64},
};

static bool is_asked(const struct row *r, const char *text)
{
    char words[200];
    snprintf(words, sizeof words, "%s:%" PRId64, r->of, r->kib);
    return strstr(words, text);
}

static void fail(const lx_status *st)
{
    printf("%s\n", st->text);
    exit(1);
}

/* NAME=VALUE, one after the other, into the options of a generator. */
static const struct lx_graph *generate(char *words, lx_status *st)
{
    const struct lx_generator *g = lx_generator_find(strtok(words, " "));
    int64_t values[64];
    lx_values_default(g->options, g->option_count, values);
    for (char *name = strtok(NULL, " "); name; name = strtok(NULL, " ")) {
        char *text = strchr(name, '=');
        *text++ = 0;
        if (!lx_values_set(g->name, g->options, g->option_count, name, text, values, st)) fail(st);
    }
    return g->build(values, st);
}

static const struct lx_graph *make(const struct row *r)
{
    char words[200];
    lx_status st = {0};
    bool file = strstr(r->of, ".json");
    snprintf(words, sizeof words, file ? SOURCE_DIR "/patterns/graphs/%s" : "%s", r->of);
    const struct lx_graph *g = file ? lx_graph_read(words, &st) : generate(words, &st);
    if (!g) fail(&st);
    if (!r->kib) return g;
    const struct lx_graph *sized = lx_graph_with_capacity(g, r->kib * 1024, &st);
    if (!sized) fail(&st);
    lx_graph_free(g);
    return sized;
}

static int64_t plan(const struct lx_graph *g, bool nests, double *seconds)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("auto"),
                                  .quick_solver = lx_solver_find("bestfit"),
                                  .passes = {.tile = nests ? LX_TILE_AUTO : LX_TILE_NONE}};
    double begin = now_by(CLOCK_PROCESS_CPUTIME_ID);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail(&st);
    *seconds = now_by(CLOCK_PROCESS_CPUTIME_ID) - begin;
    int64_t bytes = p->figures.hbm_bytes;
    lx_plan_free(p);
    return bytes;
}

int main(int count, char **words)
{
    printf("%-50s %7s %5s  %8s %12s  %8s %12s\n", "graph", "lx KiB", "ops", "s", "MB", "nests: s", "MB");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double without, with;
        if (count > 1 && !is_asked(&rows[i], words[1])) continue;
        const struct lx_graph *g = make(&rows[i]);
        int64_t plain = plan(g, false, &without), nested = plan(g, true, &with);
        printf("%-50s %7" PRId64 " %5" PRId32 "  %8.2f %12.2f  %8.2f %12.2f\n", rows[i].of, rows[i].kib,
               g->op_count, without, (double)plain / 1e6, with, (double)nested / 1e6);
        fflush(stdout);
        lx_graph_free(g);
    }
    return 0;
}
