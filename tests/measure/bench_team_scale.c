/* A transformer on teams of growing size, from plans alone: predicted time, exchanged bytes and efficiency.
 *
 *     build/bin/bench_team_scale [LAYERS [MEMBERS ...]]
 *
 * A row per size, by least time: the best grid, predicted time, what no plan on it goes below, efficiency, bytes that all
 * exchange, HBM traffic of the member with most, plans that differ; then seconds of processor time: the search for cuts on
 * that grid alone, and all of it (every grid of that size searched, the best two planned). Without arguments 32 layers of
 * 4096 with 32 heads and 2048 tokens on 1 to 64 members. */
#include "lxplan.h"
#include "unstable.h"
#include "support/bench_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double cpu(void)
{
    return now_by(CLOCK_PROCESS_CPUTIME_ID);
}

static const struct lx_graph *transformer(int64_t layers)
{
    const struct {
        const char *name;
        int64_t value;
    } set[] = {{"layers", layers}, {"d_model", 4096}, {"heads", 32}, {"seq", 2048}};
    const struct lx_generator *gen = lx_generator_find("block");
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    lx_status st = {0};
    lx_values_default(gen->options, gen->option_count, values);
    for (int i = 0; i < gen->option_count; i++)
        for (size_t k = 0; k < sizeof set / sizeof *set; k++)
            if (strcmp(gen->options[i].name, set[k].name) == 0) values[i] = set[k].value;
    const struct lx_graph *g = gen->build(values, &st);
    if (!g) fprintf(stderr, "bench_team_scale: %s\n", st.text);
    return g;
}

/* Seconds of the search for cuts on a grid. */
static double search_seconds(const struct lx_graph *g, const struct lx_team_grid *grid)
{
    struct lx_team_options how = {.grid = *grid, .by_time = true};
    double begin = cpu();
    lx_team_free(lx_team_make(g, &how, NULL));
    return cpu() - begin;
}

/* False: it cannot be planned. */
static bool put_row(const struct lx_graph *g, const struct lx_plan_options *plan, int members, double *one_us)
{
    struct lx_team_options how = {.devices = members, .by_time = true};
    struct lx_team_point p;
    lx_status st = {0};
    double begin = cpu();
    if (!lx_team_predict(g, &how, plan, &p, &st)) return fprintf(stderr, "%d: %s\n", members, st.text), false;
    double all = cpu() - begin;
    if (*one_us <= 0) *one_us = p.us * members;
    printf("| %d | %d", members, p.grid.size[0]);
    for (int a = 1; a < p.grid.axes; a++) printf("x%d", p.grid.size[a]);
    printf(" | %.1f ms | %.1f ms | %.1f %% | %.2f GB | %.2f GB | %d | %.1f | %.1f |\n", p.us / 1e3,
           p.bound_us / 1e3, 100 * *one_us / (p.us * members), (double)p.bytes / 1e9,
           (double)p.hbm_bytes / 1e9, p.shapes, search_seconds(g, &p.grid), all);
    fflush(stdout);
    return true;
}

int main(int argc, char **argv)
{
    static const int usual[] = {1, 2, 4, 8, 16, 32, 64};
    const struct lx_graph *g = transformer(argc > 1 ? atoi(argv[1]) : 32);
    struct lx_settings settings = {.solvers = lx_solvers()};
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    lx_status st = {0};
    double one_us = 0;
    bool ok = g && lx_settings_plan(&settings, NULL, &plan, values, &st);
    int count = argc > 2 ? argc - 2 : (int)(sizeof usual / sizeof *usual);
    puts("| members | grid | predicted | at least | efficiency | exchanged | HBM per member | plans | search "
         "s | all s |");
    puts("|---|---|---|---|---|---|---|---|---|---|");
    for (int i = 0; ok && i < count; i++)
        ok = put_row(g, &plan, argc > 2 ? atoi(argv[2 + i]) : usual[i], &one_us);
    lx_graph_free(g);
    return ok ? 0 : 1;
}
