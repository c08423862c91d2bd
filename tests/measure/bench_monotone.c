/* Are more choices ever worse? Graphs with 16 sizes of scratchpad each, and random graphs, every solver, combination of
 * passes and search compared with what it contains (support/monotone.h).
 *
 *     bench_monotone [STEP] FILE ...
 *     bench_monotone [STEP] --random COUNT
 *
 * STEP n takes every n-th combination of passes only. Exit code 1: something was worse, or below a bound. */
#include "support/monotone.h"
#include "support/random_graph.h"

static const struct lx_graph *sized(const struct lx_graph *g, int64_t lx)
{
    lx_status st = {0};
    const struct lx_graph *s = g ? lx_graph_with_capacity(g, lx, &st) : NULL;
    if (!s) printf("%s\n", st.text), abort();
    return s;
}

static int64_t enough_for(const struct lx_graph *g)
{
    struct lx_passes all = {0};
    const struct lx_graph *unlimited = sized(g, INT64_C(1) << 40);
    struct lx_plan *p = monotone_plan(unlimited, "bestfit", &all);
    int64_t bytes = p->figures.height_bytes;
    lx_plan_free(p);
    lx_graph_free(unlimited);
    return bytes;
}

static void sweep(const char *path, int step, struct monotone *all)
{
    enum { SIZES = 16 };
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) printf("%s\n", st.text), abort();
    struct monotone m = {.print = true};
    int64_t enough = enough_for(g);
    for (int k = 1; k <= SIZES; k++) {
        const struct lx_graph *s = sized(g, enough * k / SIZES / 128 * 128);
        monotone_point(s, step, false, &m);
        lx_graph_free(s);
    }
    printf("%-20s %d sizes, %d plans compared, %d worse, %d below a bound\n", g->name, m.points, m.plans,
           m.worse, m.below);
    fflush(stdout);
    all->points += m.points, all->plans += m.plans, all->worse += m.worse, all->below += m.below;
    lx_graph_free(g);
}

static void at_random(uint64_t seed, int step, struct monotone *m)
{
    static const int64_t sizes[] = {512, 2048, 4096, 10000, 20000, 100000}, cores[] = {1, 2, 4, 32};
    struct rng r = rng_seed(seed);
    struct random_graph_shape shape = {.ops = 4 + (int)rng_below(&r, 16),
                                       .with_views = rng_below(&r, 2),
                                       .with_externs = rng_below(&r, 3) == 0,
                                       .again = rng_below(&r, 2),
                                       .cores = cores[rng_below(&r, 4)]};
    int64_t lx = sizes[rng_below(&r, 6)];
    lx_status st = {0};
    const struct lx_graph *g = random_graph(&r, &shape, &st), *s = sized(g, lx);
    int before = m->worse + m->below;
    monotone_point(s, step, true, m);
    if (m->worse + m->below > before) printf("  that was seed %" PRIu64 "\n", seed);
    lx_graph_free(s);
    lx_graph_free(g);
}

int main(int argc, char **argv)
{
    struct monotone all = {.print = true};
    int first = 1, step = argc > 1 ? atoi(argv[1]) : 0;
    if (step > 0)
        first++;
    else
        step = 1;
    if (first + 1 < argc && strcmp(argv[first], "--random") == 0)
        for (int i = 0; i < atoi(argv[first + 1]); i++) at_random((uint64_t)i, step, &all);
    else
        for (int i = first; i < argc; i++) sweep(argv[i], step, &all);
    printf("%d points, %d plans compared, %d worse, %d below a bound\n", all.points, all.plans, all.worse,
           all.below);
    return all.points == 0 ? 2 : all.worse + all.below > 0;
}
