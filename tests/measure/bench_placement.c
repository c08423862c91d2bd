/* How the time of the heuristics and of the bound grows with the number of buffers.
 *
 *     build/bin/bench_placement [LARGEST]
 *
 * Problems of the `random` generator, from 1,000 buffers up; each figure is the median of repeated solves
 * in one run, so that the rows can be compared with each other whatever else the machine is doing. */
#include "support/bench_clock.h"
#include "base/memory.h"
#include "unstable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 5 };

static const struct lx_graph *random_list(int64_t buffers, lx_status *st)
{
    const struct lx_generator *g = lx_generator_find("random");
    int64_t *values = mem_alloc(sizeof *values * (size_t)(g->option_count + 1));
    if (!values) return NULL;
    lx_values_default(g->options, g->option_count, values);
    for (int i = 0; i < g->option_count; i++)
        if (strcmp(g->options[i].name, "buffers") == 0) values[i] = buffers;
    const struct lx_graph *list = g->build(values, st);
    mem_free(values);
    return list;
}

/* Nanoseconds per buffer: the median solve. */
static double measure(const struct lx_problem *p, const struct lx_solver *solver, int64_t *address)
{
    double seconds[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        struct lx_run run = {0};
        struct lx_answer answer = {.address = address};
        for (int32_t k = 0; k < p->count; k++) address[k] = LX_OFF_CHIP;
        double start = now();
        bool ok = solver ? solver->solve(p, &run, &answer) : lx_bound(p) >= 0;
        seconds[i] = now() - start;
        if (!ok) return -1;
    }
    return quantile(seconds, REPEATS, 0.5) / (double)p->count * 1e9;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"greedy", "firstfit", "bestfit", NULL};
    int64_t largest = argc > 1 ? atoll(argv[1]) : 100000;
    printf("ns per buffer, median of %d\n%10s", REPEATS, "buffers");
    for (int s = 0; names[s]; s++) printf("%10s", names[s]);
    printf("%10s\n", "bound");
    for (int64_t n = 1000; n <= largest; n *= 10) {
        lx_status st;
        const struct lx_graph *list = random_list(n, &st);
        if (!list) {
            fprintf(stderr, "bench_placement: %s\n", st.text);
            return 3;
        }
        struct lx_problem p = {.objective = LX_SPILL,
                               .capacity = list->list->capacity,
                               .alignment = list->list->alignment,
                               .count = list->list->buffer_count,
                               .buffers = list->list->buffers};
        if (p.capacity < 0) p.capacity = lx_device_usable(&list->device);
        int64_t *address = mem_alloc(sizeof *address * (size_t)n);
        if (!address) return 3;
        printf("%10lld", (long long)n);
        for (int s = 0; names[s]; s++) printf("%10.0f", measure(&p, lx_solver_find(names[s]), address));
        printf("%10.0f\n", measure(&p, NULL, address));
        mem_free(address);
        lx_graph_free(list);
    }
    return 0;
}
