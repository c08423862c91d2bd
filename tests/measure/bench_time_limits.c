/* Does every solver end when its time is over, and how long does it not look at the clock?
 *
 *     build/bin/bench_time_limits [SECONDS [SIZE...]] [--only TEXT] [--where MS]
 *
 * Lists that crowds are made of (all buffers on one tick, lives inside each other, chains of handovers, stairs, long lives
 * beside short ones, fixed addresses), 10,000, 40,000 and 100,000 buffers (or the given sizes) each, by every solver and
 * question. A run is told to stop after SECONDS (1). A row has what it took, the longest time between two looks at the stop until
 * it was told, and how long it went on then; "late" where it took more than SECONDS, 0.2 s and a twentieth. Seconds are those of
 * the processor, so that a busy machine does not matter. --only: rows that have the text in "shape question solver". --where: prints
 * addresses of the functions that have not looked for so many milliseconds, for addr2line -f -e build/bin/bench_time_limits. */
#include "unstable.h"
#include "base/allocator.h"
#include "base/checked.h"
#include "base/memory.h"
#include "support/who_works.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct crowd {
    struct lx_buffer *buffer;
    int32_t *parent;
    int64_t (*uses)[2];
    int32_t count;
};

typedef void (*shape)(struct crowd *c, int32_t i, struct lx_buffer *b);

static void one_tick(struct crowd *c, int32_t i, struct lx_buffer *b)
{
    (void)c, (void)i;
    b->start = 0;
    b->end = 1;
}

static void nested(struct crowd *c, int32_t i, struct lx_buffer *b)
{
    b->start = i;
    b->end = 2 * (int64_t)c->count - i;
}

/* Each may take over the slot of the one before it. */
static void chain(struct crowd *c, int32_t i, struct lx_buffer *b)
{
    b->start = i;
    b->end = (int64_t)i + 2;
    b->size = 128;
    b->uses = memcpy(c->uses[i], (int64_t[]){i, (int64_t)i + 1}, sizeof c->uses[i]);
    b->use_count = 2;
    c->parent[i] = i - 1;
    b->parents = &c->parent[i];
    b->parent_count = i > 0;
}

static void stairs(struct crowd *c, int32_t i, struct lx_buffer *b)
{
    (void)c;
    b->start = i;
    b->end = i + 300;
}

static void pillars(struct crowd *c, int32_t i, struct lx_buffer *b)
{
    b->start = i % 2 ? i : 0;
    b->end = i % 2 ? (int64_t)i + 1 : c->count;
}

static void pinned(struct crowd *c, int32_t i, struct lx_buffer *b)
{
    (void)c;
    b->start = 0;
    b->end = 1;
    if (i % 10 == 0) b->fixed = (int64_t)i * 40;
}

/* clang-format off */
static const struct { const char *name; shape make; } shapes[] = {
    {"tick", one_tick}, {"nested", nested}, {"chain", chain}, {"stairs", stairs}, {"pillars", pillars}, {"pinned", pinned},
};
/* clang-format on */

static bool make_crowd(struct crowd *c, shape make, int32_t count)
{
    size_t n = (size_t)count;
    *c = (struct crowd){mem_zeroed(n, sizeof *c->buffer), mem_zeroed(n, sizeof *c->parent),
                        mem_zeroed(n, sizeof *c->uses), count};
    bool ok = c->buffer && c->parent && c->uses;
    for (int32_t i = 0; ok && i < count; i++) {
        c->buffer[i] = (struct lx_buffer){.name = "b",
                                          .size = 64 + (int64_t)i * 37 % 100,
                                          .fixed = -1,
                                          .spill_cost = 1 + (int64_t)i * 7919 % 1000};
        make(c, i, &c->buffer[i]);
    }
    return ok;
}

struct watch {
    double end, last, longest, stopped;
};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool is_over(void *watch)
{
    struct watch *w = watch;
    double now = cpu_seconds();
    if (now - w->last > w->longest && w->stopped == 0) w->longest = now - w->last;
    if (w->stopped == 0) who_works_looked(now - w->last);
    w->last = who_works.seconds > 0 ? cpu_seconds() : now;
    if (now > w->end && w->stopped == 0) w->stopped = now;
    return now > w->end;
}

static bool measure(const struct lx_problem *p, const struct lx_solver *solver, double seconds,
                    const char *what)
{
    who_works_looked(0);
    double begin = cpu_seconds();
    struct watch w = {.end = begin + seconds, .last = begin};
    struct lx_run run = {.stop = is_over, .context = &w};
    struct lx_answer answer = {.address = mem_alloc(((size_t)p->count + 1) * sizeof *answer.address)};
    lx_status st = {0};
    bool ok = answer.address && lx_problem_solve(p, solver, &run, &answer, &st);
    double now = cpu_seconds();
    bool late = now - begin > seconds * 1.05 + 0.2;
    if (now - w.last > w.longest && w.stopped == 0) w.longest = now - w.last;
    printf("%-30s %7d  %6.2f s  %7.3f s  %9.1f ms  %7.1f ms  %s%s\n", what, (int)p->count, seconds,
           now - begin, 1e3 * w.longest, w.stopped > 0 ? 1e3 * (now - w.stopped) : 0.0,
           ok ? lx_verdict_word(answer.status) : st.text, late ? "  late" : "");
    fflush(stdout);
    mem_free(answer.address);
    return !late;
}

static int measure_all(shape make, const char *name, int32_t size, double seconds, const char *only)
{
    struct crowd c;
    int late = 0;
    if (!make_crowd(&c, make, size)) exit(3);
    for (int question = 0; question < LX_OBJECTIVE_COUNT; question++)
        for (const struct lx_solver *const *s = lx_solvers(); *s; s++) {
            char what[80];
            struct lx_problem p = {.objective = (enum lx_objective)question,
                                   .alignment = 1,
                                   .capacity = make == chain ? 1000 : (int64_t)size * 40,
                                   .buffers = c.buffer,
                                   .count = size};
            snprintf(what, sizeof what, "%s %s %s", name, lx_objective_word(p.objective), (*s)->name);
            if (lx_can(*s, p.objective) && (!only || strstr(what, only)))
                late += !measure(&p, *s, seconds, what);
        }
    mem_free(c.buffer);
    mem_free(c.parent);
    mem_free(c.uses);
    return late;
}

int main(int argc, char **argv)
{
    static const int32_t usual[] = {10000, 40000, 100000};
    const char *only = NULL;
    int given = argc, late = 0;
    allocator_smooth(); /* as the program does */
    for (; given > 2 && strncmp(argv[given - 2], "--", 2) == 0; given -= 2) {
        if (strcmp(argv[given - 2], "--only") == 0) only = argv[given - 1];
        if (strcmp(argv[given - 2], "--where") == 0) who_works_begin(atof(argv[given - 1]) / 1e3);
    }
    int rows = given > 2 ? given - 2 : 3;
    double seconds = given > 1 ? atof(argv[1]) : 1;
    printf("%-30s %7s  %8s  %9s  %12s  %10s\n", "shape question solver", "buffers", "time", "taken",
           "without look", "after stop");
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int i = 0; i < rows; i++)
            late += measure_all(shapes[k].make, shapes[k].name, given > 2 ? atoi(argv[i + 2]) : usual[i],
                                seconds, only);
    printf("%d late\n", late);
    return late > 0;
}
