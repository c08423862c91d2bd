/* Packing: how long until all buffers of a list fit its capacity, over many variants of the list; and how low
 * long lists are packed, in which time.
 *
 *     build/bin/bench_packing fit VARIANTS FILE...
 *     build/bin/bench_packing height [FILE...]
 *
 * A variant has the same answer: buffers in another order, time backwards, sizes and capacity times a number, a
 * few buffers less, another seed. Its first one is the file itself. `height` makes lists like those of training
 * steps (weights, activations that wait for their backward step, temporaries), and from each file larger ones of
 * its kind. Times are those of the processor, not of the clock on the wall. */
#include "base/rng.h"
#include "base/memory.h"
#include "support/bench_clock.h"
#include "support/problem_builder.h"
#include "unstable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VARIANTS = 1000 };

static bool list_read(struct problem_builder *list, const char *path)
{
    lx_status st;
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) {
        fprintf(stderr, "bench_packing: %s\n", st.text);
        return false;
    }
    *list = problem_begin(LX_FIT, g->list->capacity, g->list->alignment);
    for (int32_t i = 0; i < g->list->buffer_count; i++) {
        const struct lx_buffer *from = &g->list->buffers[i];
        struct lx_buffer *to = problem_add(list, from->size, from->start, from->end, from->spill_cost);
        to->alignment = from->alignment;
        to->fixed = from->fixed;
        to->reason = from->reason ? "barred" : NULL;
    }
    lx_graph_free(g);
    return true;
}

static struct problem_builder vary(const struct lx_problem *from, int variant)
{
    struct problem_builder list = problem_copy(from);
    struct rng r = rng_seed((uint64_t)variant);
    int64_t times = 1 + variant % 3, last = 0;
    if (variant == 0) return list;
    for (int32_t i = from->count - 1; i > 0; i--) {
        int32_t k = (int32_t)rng_below(&r, (uint64_t)i + 1);
        struct lx_buffer swap = list.buffers[i];
        list.buffers[i] = list.buffers[k];
        list.buffers[k] = swap;
    }
    if (variant % 4 == 3) list.problem.count -= (int32_t)rng_between(&r, 0, 4);
    list.problem.capacity *= times;
    for (int32_t i = 0; i < list.problem.count; i++)
        last = list.buffers[i].end > last ? list.buffers[i].end : last;
    for (int32_t i = 0; i < list.problem.count; i++) {
        struct lx_buffer *b = &list.buffers[i];
        b->size *= times;
        if (variant % 2 == 0) continue;
        int64_t start = b->start;
        b->start = last - b->end;
        b->end = last - start;
    }
    return list;
}

/* Milliseconds of processor time; the answer's status and steps. */
static double solve(const struct lx_problem *p, uint64_t seed, int64_t *address, struct lx_answer *answer)
{
    struct lx_run run = {.seed = seed};
    *answer = (struct lx_answer){.address = address};
    lx_status st;
    double start = now_by(CLOCK_PROCESS_CPUTIME_ID);
    if (!lx_problem_solve(p, lx_solver_find("exact"), &run, answer, &st)) fprintf(stderr, "%s\n", st.text);
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
        struct problem_builder list;
        if (!list_read(&list, files[f])) return 3;
        int64_t *address = mem_alloc(sizeof *address * ((size_t)list.problem.count + 1)), steps = 0;
        double ms[MOST_VARIANTS], mean = 0;
        int missed = 0;
        for (int v = 0; v < variants; v++) {
            struct lx_answer answer;
            struct problem_builder other = vary(&list.problem, v);
            ms[v] = solve(&other.problem, (uint64_t)v / 4, address, &answer);
            problem_end(&other);
            missed += answer.status != LX_OPTIMAL;
            steps += answer.steps;
            mean += ms[v] / variants;
        }
        const char *name = strrchr(files[f], '/');
        first_sum += ms[0];
        double first = ms[0], middle = quantile(ms, variants, 0.5);
        middle_sum += middle;
        printf("%-16.16s%8d%8d%10lld%8.1f%8.1f%8.1f%8.1f%8.1f%8.1f\n", name ? name + 1 : files[f],
               list.problem.count, missed, (long long)(steps / variants), first, middle,
               quantile(ms, variants, 0.9), quantile(ms, variants, 0.99), quantile(ms, variants, 1), mean);
        fflush(stdout);
        mem_free(address);
        problem_end(&list);
    }
    printf("sum of the firsts %.1f, of the medians %.1f ms\n", first_sum, middle_sum);
    return 0;
}

/* A training step of `count` buffers: layers forward, then backward in reverse. A layer has weights (alive all
 * the time), activations from its forward to its backward step, gradients, temporaries of either step. */
struct trainer {
    struct rng rng;
    struct problem_builder list;
    int32_t count; /* of buffers to make */
    int64_t end;   /* of the step */
};

static void make(struct trainer *t, int64_t start, int64_t life, int64_t size)
{
    if (t->list.problem.count == t->count) return;
    problem_add(&t->list, size, start, start + life < t->end ? start + life : t->end, 1);
}

static void make_layer(struct trainer *t, int64_t forward, int64_t backward, int64_t width)
{
    static const int64_t small[] = {4, 128, 512, 2048, 8192};
    struct rng *r = &t->rng;
    int64_t weight = 65536 * rng_between(r, 1, 64), wait = backward - forward;
    make(t, 0, t->end, weight);
    make(t, 0, t->end, small[rng_below(r, 5)]);
    make(t, forward + 1, wait + 5, width);
    make(t, forward + 3, wait + rng_between(r, -1, 2), width / 2);
    make(t, forward + 4, wait, small[rng_below(r, 5)]);
    make(t, forward + 6, wait - 3, width * rng_between(r, 1, 2));
    make(t, backward, 13, width);
    make(t, backward + 5, rng_below(r, 2) ? rng_between(r, 4, 25) : t->end, weight);
    for (int k = 0; k < 6; k++) {
        int64_t at = k < 3 ? forward + rng_between(r, 0, 6) : backward + rng_between(r, 0, 9);
        make(t, at, rng_between(r, 1, 5), k % 3 ? width * rng_between(r, 1, 4) / 2 : small[rng_below(r, 5)]);
    }
}

static struct problem_builder train(int32_t count, uint64_t seed)
{
    int32_t layers = (count + 13) / 14;
    struct trainer t = {.rng = rng_seed(seed),
                        .list = problem_begin(LX_HEIGHT, 0, 1),
                        .count = count,
                        .end = (int64_t)layers * 22};
    for (int32_t i = 0; i < layers; i++) {
        int64_t stage = 4 * i / layers, width = (INT64_C(1) << (22 - stage)) / rng_between(&t.rng, 1, 4);
        make_layer(&t, 8 * i, 8 * layers + 12 * (layers - 1 - i), width);
    }
    return t.list;
}

/* The same kind of list with more buffers: time stretched, each buffer made several times at shifted ends, some
 * of them in other sizes. */
static struct problem_builder multiply(const struct lx_problem *from, int32_t count, uint64_t seed)
{
    static const int64_t eighths[] = {8, 8, 8, 4, 2, 16};
    struct rng r = rng_seed(seed);
    struct problem_builder list = problem_begin(LX_HEIGHT, 0, 1);
    int64_t times = (count + from->count - 1) / from->count;
    for (int32_t i = 0; i < count; i++) {
        const struct lx_buffer *b = &from->buffers[i % from->count];
        int64_t start = b->start * times + rng_between(&r, 0, times - 1);
        int64_t end = (b->end - 1) * times + rng_between(&r, 0, times - 1);
        int64_t size = (b->size * eighths[rng_below(&r, 6)] + 7) / 8;
        problem_add(&list, size, start, end > start ? end : start + 1, 1);
    }
    return list;
}

static void show_height(const char *name, struct problem_builder list)
{
    struct lx_problem *p = &list.problem;
    struct lx_answer answer;
    int64_t *address = mem_alloc(sizeof *address * ((size_t)p->count + 1));
    p->objective = LX_HEIGHT;
    p->capacity = 0;
    int64_t load = lx_bound(p);
    double ms = solve(p, 0, address, &answer);
    printf("%-16.16s%8d%16lld%10.4f%10s%10.3f%10.1f\n", name, p->count, (long long)load,
           100.0 * (double)(answer.objective - load) / (double)load, lx_verdict_word(answer.status),
           ms * 1e-3, ms * 1e3 / p->count);
    fflush(stdout);
    mem_free(address);
    problem_end(&list);
}

static int height(char **files, int count)
{
    static const int32_t sizes[] = {18692, 28526, 62185};
    printf("%-16s%8s%16s%10s%10s%10s%10s\n", "list", "buffers", "load", "above %", "status", "s",
           "us/buffer");
    for (int k = 0; k < 3; k++) show_height("training", train(sizes[k], (uint64_t)k));
    for (int f = 0; f < count; f++) {
        const char *slash = strrchr(files[f], '/'), *name = slash ? slash + 1 : files[f];
        struct problem_builder list;
        if (!list_read(&list, files[f])) return 3;
        for (int k = 0; k < 3; k++) show_height(name, multiply(&list.problem, sizes[k], (uint64_t)k));
        show_height(name, list);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "fit") == 0) return fit(atoi(argv[2]), argv + 3, argc - 3);
    if (argc > 1 && strcmp(argv[1], "height") == 0) return height(argv + 2, argc - 2);
    fprintf(stderr, "usage: bench_packing fit VARIANTS FILE... | bench_packing height [FILE...]\n");
    return 2;
}
