/* Are nests ever worse, or a bound with them too high? Graphs with 16 sizes of scratchpad each and random graphs, with and
 * without nests, over combinations of passes (support/nest_monotone.h).
 *
 *     bench_nest_sweep STEP FILE ...
 *     bench_nest_sweep single|choosing FILE ...
 *     bench_nest_sweep STEP --random FROM COUNT [time]
 *
 * STEP n takes every n-th combination only; `single`: the passes as they are by themselves, with each value of each pass that
 * is not its default, and with all that search at once; those that choose divisions, which take longest, with every
 * fourth size. `choosing`: only those, with the other sizes. Exit code 1: something was worse, below a bound or refused. */
#include "support/nest_monotone.h"
#include "support/random_graph.h"

#include <string.h>

static enum lx_ask objective;
static bool only_choosing;

static const struct lx_graph *sized(const struct lx_graph *g, int64_t lx)
{
    lx_status st = {0};
    const struct lx_graph *s = g ? lx_graph_with_capacity(g, lx, &st) : NULL;
    if (!s) printf("%s\n", st.text), abort();
    return s;
}

/* Passes by number, and in words. */
struct passes_row {
    struct lx_passes passes;
    char words[60];
};
enum { MOST_ROWS = 40 };

/* By themselves, with one value changed each, and with all that search. */
static int single_passes(struct passes_row rows[MOST_ROWS])
{
    int count = 1;
    rows[0] = (struct passes_row){.words = "none"};
    for (const struct lx_pass *row = lx_passes(); row->name; row++) {
        if (strcmp(row->name, "tile") == 0 || strcmp(row->name, "stage") == 0) continue;
        int values = row->words ? 0 : 2;
        while (row->words && row->words[values]) values++;
        for (int v = 1; v < values; v++, count++) {
            rows[count] = (struct passes_row){{0}, ""};
            lx_pass_set(&rows[count].passes, row, v);
            snprintf(rows[count].words, sizeof rows[count].words, "%s %s", row->name,
                     row->words ? row->words[v] : "on");
        }
    }
    rows[count++] = (struct passes_row){
        {.reorder = true, .evict = true, .move = true, .cooptimise = LX_COOPTIMISE_FULL}, "all that search"};
    return count;
}

/* With the size of number `size`. */
static void sweep_single(const struct lx_graph *g, int size, struct nest_monotone *m)
{
    struct passes_row rows[MOST_ROWS];
    int count = single_passes(rows);
    for (int i = 0; i < count; i++)
        if (rows[i].passes.cooptimise == LX_COOPTIMISE_NONE ? !only_choosing
                                                            : (size % 4 == 2) != only_choosing)
            nest_monotone_passes(g, "auto", rows[i].passes, rows[i].words, objective, m);
}

static void sweep(const char *path, int step, struct nest_monotone *m)
{
    static const int64_t kib[16] = {4, 8, 16, 20, 32, 48, 64, 100, 128, 192, 256, 400, 512, 768, 1024, 1536};
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) printf("%s\n", st.text), abort();
    for (int k = 0; k < 16; k++) {
        const struct lx_graph *s = sized(g, kib[k] * 1024);
        if (!step) sweep_single(s, k, m);
        for (int i = step ? k % step : NEST_PASSES; i < NEST_PASSES; i += step)
            nest_monotone_pair(s, "auto", i, objective, m);
        lx_graph_free(s);
    }
    printf("%-20s ", g->name);
    nest_monotone_say(m);
    fflush(stdout);
    lx_graph_free(g);
}

static void at_random(uint64_t seed, int step, struct nest_monotone *m)
{
    static const int64_t sizes[] = {128, 512, 2048, 4096, 10000, 20000}, cores[] = {1, 2, 4, 32};
    static const char *const solvers[] = {"auto", "greedy", "exact", "bestfit"};
    struct rng r = rng_seed(seed + 91000);
    struct random_graph_shape shape = {.ops = 3 + (int)rng_below(&r, 10),
                                       .with_views = rng_below(&r, 3) == 0,
                                       .with_externs = rng_below(&r, 4) == 0,
                                       .again = rng_below(&r, 3) == 0,
                                       .cores = cores[rng_below(&r, 4)]};
    lx_status st = {0};
    const struct lx_graph *g = random_graph(&r, &shape, &st), *s = sized(g, sizes[rng_below(&r, 6)]);
    const char *solver = solvers[rng_below(&r, 4)];
    int before = m->worse + m->below + m->refused;
    for (int i = (int)(seed % (uint64_t)step); i < NEST_PASSES; i += step)
        nest_monotone_pair(s, solver, i, objective, m);
    if (m->worse + m->below + m->refused > before) printf("  that was seed %" PRIu64 "\n", seed);
    lx_graph_free(s);
    lx_graph_free(g);
}

int main(int argc, char **argv)
{
    struct nest_monotone m = {0};
    int step = argc > 1 ? atoi(argv[1]) : 0;
    only_choosing = argc > 1 && strcmp(argv[1], "choosing") == 0;
    if (step < 1 && (argc < 2 || (strcmp(argv[1], "single") != 0 && !only_choosing)))
        return fprintf(stderr,
                       "usage: bench_nest_sweep STEP|single|choosing FILE ... | STEP --random FROM COUNT\n"),
               2;
    if (argc > 5 && strcmp(argv[5], "time") == 0) objective = LX_ASK_TIME;
    if (step > 0 && argc > 4 && strcmp(argv[2], "--random") == 0)
        for (int i = 0; i < atoi(argv[4]); i++) at_random((uint64_t)(atoi(argv[3]) + i), step, &m);
    else
        for (int i = 2; i < argc; i++) sweep(argv[i], step, &m);
    nest_monotone_say(&m);
    return m.worse + m.below + m.refused > 0;
}
