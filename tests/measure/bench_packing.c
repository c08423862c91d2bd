/* Packing: how long until all buffers of a list fit its capacity, over many variants of the list; and how low
 * long lists are packed, in which time.
 *
 *     build/bin/bench_packing fit VARIANTS FILE...
 *     build/bin/bench_packing height [FILE...]
 *
 * A variant has the same answer: buffers in another order, time backwards, sizes and capacity times a number, a
 * few buffers less, another seed. Its first one is the file itself. Without files, `height` makes lists like
 * those of training steps: weights, activations that wait for their backward step, temporaries. Times are those
 * of the processor, not of the clock on the wall. */
#include "base/rng.h"
#include "support/bench_clock.h"
#include "lxplan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
    struct lx_problem p;
    struct lx_buffer *buffers;
};

enum { MOST_VARIANTS = 1000 };

static bool list_new(struct list *l, int32_t count)
{
    l->buffers = calloc((size_t)count + 1, sizeof *l->buffers);
    l->p = (struct lx_problem){.alignment = 1, .count = count, .buffers = l->buffers};
    return l->buffers != NULL;
}

static bool list_read(struct list *l, const char *path)
{
    lx_status st;
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g || !list_new(l, g->buffer_count)) {
        fprintf(stderr, "bench_packing: %s\n", g ? "memory is out" : st.text);
        return false;
    }
    memcpy(l->buffers, g->buffers, (size_t)g->buffer_count * sizeof *l->buffers);
    for (int32_t i = 0; i < l->p.count; i++) l->buffers[i].name = NULL; /* freed with the graph */
    l->p.capacity = g->capacity;
    l->p.alignment = g->alignment;
    lx_graph_free(g);
    return true;
}

static void shuffle(struct rng *r, struct list *l)
{
    for (int32_t i = l->p.count - 1; i > 0; i--) {
        int32_t k = (int32_t)rng_below(r, (uint64_t)i + 1);
        struct lx_buffer swap = l->buffers[i];
        l->buffers[i] = l->buffers[k];
        l->buffers[k] = swap;
    }
}

static void vary(const struct list *from, int variant, struct list *to)
{
    struct rng r = rng_seed((uint64_t)variant);
    int64_t times = 1 + variant % 3, last = 0;
    memcpy(to->buffers, from->buffers, (size_t)from->p.count * sizeof *to->buffers);
    to->p = from->p;
    to->p.buffers = to->buffers;
    if (variant == 0) return;
    shuffle(&r, to);
    if (variant % 4 == 3) to->p.count -= (int32_t)rng_between(&r, 0, 4);
    to->p.capacity *= times;
    for (int32_t i = 0; i < to->p.count; i++) last = to->buffers[i].end > last ? to->buffers[i].end : last;
    for (int32_t i = 0; i < to->p.count; i++) {
        struct lx_buffer *b = &to->buffers[i];
        b->size *= times;
        if (variant % 2 == 0) continue;
        int64_t start = b->start;
        b->start = last - b->end;
        b->end = last - start;
    }
}

/* Milliseconds of processor time; the answer's status and steps. */
static double solve(const struct lx_problem *p, uint64_t seed, int64_t *address, struct lx_answer *answer)
{
    struct lx_run run = {.seed = seed};
    *answer = (struct lx_answer){.address = address};
    lx_status st;
    double start = now_by(CLOCK_PROCESS_CPUTIME_ID);
    if (!lx_solve(p, lx_solver_find("exact"), &run, answer, &st)) fprintf(stderr, "%s\n", st.text);
    return (now_by(CLOCK_PROCESS_CPUTIME_ID) - start) * 1e3;
}

static int fit(int variants, char **files, int count)
{
    double first_sum = 0, middle_sum = 0;
    if (variants < 1 || variants > MOST_VARIANTS)
        return fprintf(stderr, "1 to %d variants\n", MOST_VARIANTS), 2;
    printf("%-16s%8s%8s%10s%8s%8s%8s%8s%8s%8s  ms\n", "file", "buffers", "missed", "steps", "first", "median",
           "90 %", "99 %", "most", "mean");
    for (int f = 0; f < count; f++) {
        struct list list, other;
        if (!list_read(&list, files[f]) || !list_new(&other, list.p.count)) return 3;
        int64_t *address = malloc(sizeof *address * ((size_t)list.p.count + 1)), steps = 0;
        double ms[MOST_VARIANTS], mean = 0;
        int missed = 0;
        list.p.objective = LX_FIT;
        for (int v = 0; v < variants && address; v++) {
            struct lx_answer answer;
            vary(&list, v, &other);
            ms[v] = solve(&other.p, (uint64_t)v / 4, address, &answer);
            missed += answer.status != LX_OPTIMAL;
            steps += answer.steps;
            mean += ms[v] / variants;
        }
        const char *name = strrchr(files[f], '/');
        first_sum += ms[0];
        double first = ms[0], middle = quantile(ms, variants, 0.5);
        middle_sum += middle;
        printf("%-16.16s%8d%8d%10lld%8.1f%8.1f%8.1f%8.1f%8.1f%8.1f\n", name ? name + 1 : files[f],
               list.p.count, missed, (long long)(steps / variants), first, middle,
               quantile(ms, variants, 0.9), quantile(ms, variants, 0.99), quantile(ms, variants, 1), mean);
        fflush(stdout);
        free(address);
        free(list.buffers);
        free(other.buffers);
    }
    printf("sum of the firsts %.1f, of the medians %.1f ms\n", first_sum, middle_sum);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "fit") == 0) return fit(atoi(argv[2]), argv + 3, argc - 3);
    fprintf(stderr, "usage: bench_packing fit VARIANTS FILE... | bench_packing height [FILE...]\n");
    return 2;
}
