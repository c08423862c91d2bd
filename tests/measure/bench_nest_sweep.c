/* Are nests ever worse, or a bound with them too high? Graphs with 16 sizes of scratchpad each and random graphs, with and
 * without nests, over combinations of passes (support/nest_monotone.h).
 *
 *     bench_nest_sweep STEP FILE ...
 *     bench_nest_sweep STEP --random FROM COUNT [time]
 *
 * STEP n takes every n-th combination only. Exit code 1: something was worse, below a bound or refused. */
#include "support/nest_monotone.h"
#include "support/random_graph.h"

#include <string.h>

static enum lx_ask objective;

static const struct lx_graph *sized(const struct lx_graph *g, int64_t lx)
{
    lx_status st = {0};
    const struct lx_graph *s = g ? lx_graph_with_capacity(g, lx, &st) : NULL;
    if (!s) printf("%s\n", st.text), abort();
    return s;
}

static void sweep(const char *path, int step, struct nest_monotone *m)
{
    static const int64_t kib[16] = {4, 8, 16, 20, 32, 48, 64, 100, 128, 192, 256, 400, 512, 768, 1024, 1536};
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) printf("%s\n", st.text), abort();
    for (int k = 0; k < 16; k++) {
        const struct lx_graph *s = sized(g, kib[k] * 1024);
        for (int i = k % step; i < NEST_PASSES; i += step) nest_monotone_pair(s, "auto", i, objective, m);
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
    if (step < 1) return fprintf(stderr, "usage: bench_nest_sweep STEP FILE ... | --random FROM COUNT\n"), 2;
    if (argc > 5 && strcmp(argv[5], "time") == 0) objective = LX_ASK_TIME;
    if (argc > 4 && strcmp(argv[2], "--random") == 0)
        for (int i = 0; i < atoi(argv[4]); i++) at_random((uint64_t)(atoi(argv[3]) + i), step, &m);
    else
        for (int i = 2; i < argc; i++) sweep(argv[i], step, &m);
    nest_monotone_say(&m);
    return m.worse + m.below + m.refused > 0;
}
