/* All solvers on long random lists: value, bound and time.
 *
 *     build/bin/bench_scale [SECONDS [SIZE...]]
 *
 * Lists of the `random` generator with 1,000, 3,000, 10,000 and 100,000 buffers (or the given sizes), three seeds each.
 * A solver that has not ended by itself after SECONDS (60) is stopped, and its best so far counts. Seconds are those of
 * the processor, so that a busy machine does not matter. At the end: on how many lists auto is worse than a solver that
 * took no longer. */
#include "unstable.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SEEDS = 3, MOST_SOLVERS = 32 };

static void set(const struct lx_generator *g, int64_t *values, const char *name, int64_t value)
{
    for (int i = 0; i < g->option_count; i++)
        if (strcmp(g->options[i].name, name) == 0) values[i] = value;
}

static const struct lx_graph *random_list(int64_t buffers, int64_t seed, lx_status *st)
{
    const struct lx_generator *g = lx_generator_find("random");
    int64_t *values = mem_alloc(sizeof *values * (size_t)(g->option_count + 1));
    if (!values) return NULL;
    lx_values_default(g->options, g->option_count, values);
    set(g, values, "buffers", buffers);
    set(g, values, "seed", seed);
    const struct lx_graph *list = g->build(values, st);
    mem_free(values);
    return list;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool is_over(void *end)
{
    return cpu_seconds() > *(double *)end;
}

/* The objective, or -1. */
static int64_t measure(const struct lx_problem *p, const struct lx_solver *solver, double seconds,
                       double *took, lx_status *st)
{
    double start = cpu_seconds(), end = start + seconds;
    struct lx_run run = {.stop = is_over, .context = &end};
    struct lx_answer answer = {.address = mem_alloc(((size_t)p->count + 1) * sizeof *answer.address)};
    bool ok = answer.address && lx_problem_solve(p, solver, &run, &answer, st);
    *took = cpu_seconds() - start;
    if (ok)
        printf("  %-9s %-9s %15lld  %15lld  %6.1f %%  %8.2f s\n", solver->name,
               lx_verdict_word(answer.status), (long long)answer.objective, (long long)answer.bound,
               100 * lx_gap(answer.objective, answer.bound), *took);
    mem_free(answer.address);
    return ok ? answer.objective : -1;
}

static bool measure_list(int64_t buffers, int64_t seed, double seconds, int *worse)
{
    lx_status st = {0};
    int64_t value[MOST_SOLVERS], of_auto = INT64_MAX;
    double time[MOST_SOLVERS], took, time_of_auto = 0;
    int count = 0;
    const struct lx_graph *list = random_list(buffers, seed, &st);
    struct lx_plan_options how = {0};
    struct lx_question *q = list ? lx_problem_of(list, &how, &st) : NULL;
    printf("%lld buffers, seed %lld\n", (long long)buffers, (long long)seed);
    for (const struct lx_solver *const *s = lx_solvers(); q && *s; s++) {
        int64_t objective = measure(&q->problem, *s, seconds, &took, &st);
        if (objective < 0) {
            printf("  %-9s %s\n", (*s)->name, st.text);
            continue;
        }
        bool is_auto = strcmp((*s)->name, "auto") == 0;
        if (is_auto) {
            of_auto = objective;
            time_of_auto = took;
        } else if (count < MOST_SOLVERS) {
            value[count] = objective;
            time[count++] = took;
        }
        fflush(stdout);
    }
    bool beaten = false;
    for (int i = 0; i < count; i++) beaten |= value[i] < of_auto && time[i] <= time_of_auto;
    *worse += beaten;
    bool ok = q != NULL;
    lx_question_free(q);
    lx_graph_free(list);
    if (!ok) fprintf(stderr, "bench_scale: %s\n", st.text);
    return ok;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"1000", "3000", "10000", "100000"};
    double seconds = argc > 1 ? atof(argv[1]) : 60;
    int sizes = argc > 2 ? argc - 2 : 4, worse = 0;
    printf("  %-9s %-9s %15s  %15s  %8s  %10s\n", "solver", "status", "value", "bound", "gap", "time");
    for (int i = 0; i < sizes; i++)
        for (int64_t seed = 1; seed <= SEEDS; seed++)
            if (!measure_list(atoll(argc > 2 ? argv[i + 2] : usual[i]), seed, seconds, &worse)) return 3;
    printf("auto is worse than a solver that took no longer on %d of %d lists\n", worse, sizes * SEEDS);
    return 0;
}
