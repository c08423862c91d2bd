/* Plans under pressure: each graph with 14 sizes of scratchpad below the one in which everything fits; how many are
 * proved to be the least, and how far above the proven least the others are.
 *
 *     bench_pressure [-s SOLVER] [-v] FILE ...
 *
 * -v prints every plan. The sizes are k / 15 of the size that a plan without limit needs, in whole sticks. */
#include "unstable.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZES = 14 };

struct tally {
    int plans, proved;
    double worst, seconds;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct lx_plan *plan_with(const struct lx_graph *g, int64_t lx, const struct lx_plan_options *how)
{
    lx_status st = {0};
    const struct lx_graph *sized = lx_graph_with_capacity(g, lx, &st);
    struct lx_plan *p = sized ? lx_plan_make(sized, how, &st) : NULL;
    lx_graph_free(sized);
    if (!p) fprintf(stderr, "%s\n", st.text);
    return p;
}

/* Bytes per core with which nothing has to be left out. */
static int64_t enough_for(const struct lx_graph *g, const struct lx_plan_options *how)
{
    struct lx_plan *p = plan_with(g, INT64_C(1) << 40, how);
    int64_t bytes = p ? p->figures.height_bytes : 0;
    lx_plan_free(p);
    return bytes;
}

static bool measure(const struct lx_graph *g, int64_t lx, const struct lx_plan_options *how, bool wordy,
                    struct tally *sum)
{
    double start = now();
    struct lx_plan *p = plan_with(g, lx, how);
    if (!p) return false;
    double seconds = now() - start, gap = lx_plan_gap(p);
    bool proved = p->answer.status == LX_OPTIMAL;
    sum->plans++;
    sum->proved += proved;
    sum->worst = fmax(sum->worst, gap);
    sum->seconds += seconds;
    if (wordy)
        printf("  %-24s %10" PRId64 " B  HBM %12" PRId64 "  least %12" PRId64 "  %6.2f %%  %8.1f ms  %s\n",
               g->name, lx, lx_plan_value(p), lx_plan_least(p), 100 * gap, 1e3 * seconds,
               p->unproved ? p->unproved : "proved");
    lx_plan_free(p);
    return true;
}

static void print_tally(const char *name, const struct tally *t)
{
    printf("%-24s %3d of %3d proved, worst gap %6.2f %%, %8.1f ms\n", name, t->proved, t->plans,
           100 * t->worst, 1e3 * t->seconds);
}

static bool measure_graph(const char *path, const struct lx_plan_options *how, bool wordy, struct tally *all)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(path, &st);
    struct tally own = {0};
    if (!g) {
        fprintf(stderr, "%s\n", st.text);
        return false;
    }
    int64_t enough = enough_for(g, how), last = 0;
    for (int k = 1; k <= SIZES; k++) {
        int64_t lx = enough * k / (SIZES + 1) / 128 * 128;
        if (lx > last && !measure(g, lx, how, wordy, &own)) break;
        last = lx;
    }
    print_tally(g->name, &own);
    all->plans += own.plans;
    all->proved += own.proved;
    all->worst = fmax(all->worst, own.worst);
    all->seconds += own.seconds;
    lx_graph_free(g);
    return true;
}

int main(int argc, char **argv)
{
    struct lx_plan_options how = {.solver = lx_solver_find("auto"),
                                  .quick_solver = lx_solver_find("bestfit")};
    struct tally all = {0};
    bool wordy = false, ok = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0)
            wordy = true;
        else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc)
            how.solver = lx_solver_find(argv[++i]);
        else
            ok = how.solver && measure_graph(argv[i], &how, wordy, &all) && ok;
    }
    print_tally("all", &all);
    return ok && all.plans > 0 ? 0 : 2;
}
