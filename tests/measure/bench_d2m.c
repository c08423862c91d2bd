/* Problems of the generator `d2m` solved by exact, beside the heuristic of the allocator they are made after.
 *
 *     build/bin/bench_d2m [SEEDS [SEGMENTS NECK CONFLICTS]]
 *
 * Each seed at four sizes of scratch memory, from 40 to 85 % of the load. The heuristic: everything in scratch memory,
 * the largest first, each into the tightest gap between neighbours that live at the same time (a gap counts only if it
 * is as large as the upper neighbour, too), else on top of them; while that is too high, the shortest prefix of a
 * ranking is spilled, found by bisection. Ends with 1 where exact spills more bytes. */
#include "support/bench_clock.h"
#include "base/memory.h"
#include "unstable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARES = 4 };

static const int shares[SHARES] = {40, 55, 70, 85};

/* --- The heuristic. --- */

struct heuristic {
    const struct lx_problem *p;
    bool *spilled; /* per buffer: of an owner */
    int32_t *owner;
    int32_t *order;
    int64_t *at; /* -1: claims nothing */
};

static const struct lx_problem *sorted_problem;

static int by_size(const void *a, const void *b)
{
    int32_t i = *(const int32_t *)a, k = *(const int32_t *)b;
    int64_t x = sorted_problem->buffers[i].size, y = sorted_problem->buffers[k].size;
    return x != y ? (x < y ? 1 : -1) : (i > k) - (i < k);
}

static bool claims(const struct heuristic *h, int32_t i)
{
    return h->owner[i] < 0 ? !h->spilled[i] : h->spilled[h->owner[i]];
}

static bool meet(const struct lx_buffer *a, const struct lx_buffer *b)
{
    return a->size && b->size && a->start < b->end && b->start < a->end;
}

/* The neighbour with the least address at or above `from`, or -1. */
static int32_t next_above(const struct heuristic *h, int32_t i, int64_t from, int32_t after)
{
    int32_t best = -1;
    for (int32_t k = 0; k < h->p->count; k++)
        if (k != i && h->at[k] >= 0 && meet(&h->p->buffers[i], &h->p->buffers[k]) &&
            (h->at[k] > from || (h->at[k] == from && k > after)) && (best < 0 || h->at[k] < h->at[best]))
            best = k;
    return best;
}

static int64_t place(const struct heuristic *h, int32_t i)
{
    int64_t top = 0, tightest = INT64_MAX, found = -1, from = -1;
    for (int32_t k = next_above(h, i, -1, -1); k >= 0; k = next_above(h, i, from, k)) {
        int64_t gap = h->at[k] - top;
        if (gap >= h->p->buffers[i].size && gap >= h->p->buffers[k].size && gap < tightest)
            tightest = gap, found = top;
        from = h->at[k];
        if (h->at[k] + h->p->buffers[k].size > top) top = h->at[k] + h->p->buffers[k].size;
    }
    return found >= 0 ? found : top;
}

static int64_t pack(struct heuristic *h)
{
    int64_t height = 0;
    for (int32_t i = 0; i < h->p->count; i++) h->at[i] = -1;
    for (int32_t k = 0; k < h->p->count; k++) {
        int32_t i = h->order[k];
        if (!claims(h, i)) continue;
        h->at[i] = place(h, i);
        if (h->at[i] + h->p->buffers[i].size > height) height = h->at[i] + h->p->buffers[i].size;
    }
    return height;
}

struct rank {
    int32_t buffer, over, alive;
    int64_t size;
};

static int by_rank(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->over != y->over) return y->over - x->over;
    if (x->size != y->size) return x->size < y->size ? 1 : -1;
    return x->alive != y->alive ? y->alive - x->alive : x->buffer - y->buffer;
}

static struct rank rank_of(const struct heuristic *h, int32_t i)
{
    const struct lx_buffer *b = &h->p->buffers[i];
    struct rank r = {.buffer = i, .size = b->size};
    for (int32_t k = 0; k < h->p->count; k++) {
        const struct lx_buffer *o = &h->p->buffers[k];
        if (h->at[k] < 0 || b->start < o->start || b->start >= o->end) continue;
        r.alive++;
        if (h->at[k] + o->size > h->p->capacity) r.over = 1;
    }
    return r;
}

/* Bytes spilled, or -1: not even with everything spilled does it fit. */
static int64_t run_heuristic(const struct lx_problem *p)
{
    size_t n = (size_t)p->count + 1;
    struct heuristic h = {p, mem_zeroed(n, 1), mem_alloc(n * 4), mem_alloc(n * 4), mem_alloc(n * 8)};
    struct rank *ranks = mem_alloc(n * sizeof *ranks);
    int32_t count = 0;
    for (int32_t i = 0; i < p->count; i++) h.order[i] = i, h.owner[i] = -1;
    for (int32_t k = 0; k < p->bonds.staging_count; k++)
        h.owner[p->bonds.staging[k].a] = p->bonds.staging[k].b;
    sorted_problem = p;
    qsort(h.order, n - 1, sizeof *h.order, by_size);
    int64_t height = pack(&h), bytes = 0;
    for (int32_t i = 0; i < p->count; i++)
        if (h.owner[i] < 0 && !p->buffers[i].must) ranks[count++] = rank_of(&h, i);
    qsort(ranks, (size_t)count, sizeof *ranks, by_rank);
    int32_t low = height <= p->capacity ? 0 : 1, high = height <= p->capacity ? 0 : count;
    while (low < high) {
        int32_t mid = low + (high - low) / 2;
        for (int32_t k = 0; k < count; k++) h.spilled[ranks[k].buffer] = k < mid;
        if (pack(&h) <= p->capacity)
            high = mid;
        else
            low = mid + 1;
    }
    for (int32_t k = 0; k < count; k++) h.spilled[ranks[k].buffer] = k < low;
    bool fits = pack(&h) <= p->capacity;
    int64_t value = 0;
    enum lx_rule rule = LX_RULE_NONE;
    lx_status why;
    fits = fits && lx_check_places(p, NULL, h.at, &value, &rule, &why);
    for (int32_t k = 0; k < count && k < low; k++) bytes += ranks[k].size;
    mem_free(h.spilled);
    mem_free(h.owner);
    mem_free(h.order);
    mem_free(h.at);
    mem_free(ranks);
    return fits ? bytes : -1;
}

/* --- The comparison. --- */

static const struct lx_graph *make(int64_t seed, char **argv, int argc, lx_status *st)
{
    static const char *const names[] = {"segments", "neck", "conflicts"};
    const struct lx_generator *g = lx_generator_find("d2m");
    int64_t *values = mem_alloc(sizeof *values * (size_t)(g->option_count + 1));
    lx_values_default(g->options, g->option_count, values);
    for (int i = 0; i < g->option_count; i++) {
        if (strcmp(g->options[i].name, "seed") == 0) values[i] = seed;
        for (int k = 0; k < 3 && k + 2 < argc; k++)
            if (strcmp(g->options[i].name, names[k]) == 0) values[i] = atoll(argv[k + 2]);
    }
    const struct lx_graph *list = g->build(values, st);
    mem_free(values);
    return list;
}

static int64_t load_of(const struct lx_problem *p)
{
    int64_t most = 0;
    for (int32_t i = 0; i < p->count; i++) {
        int64_t sum = 0, tick = p->buffers[i].start;
        for (int32_t k = 0; k < p->count; k++)
            if (p->buffers[k].start <= tick && tick < p->buffers[k].end && p->buffers[k].spill_cost)
                sum += p->buffers[k].size;
        if (sum > most) most = sum;
    }
    return most;
}

struct tally {
    int runs, proved, worse, better, infeasible;
    double seconds, longest, gap;
};

static bool compare(struct lx_problem *p, int64_t seed, int share, struct tally *t, lx_status *st)
{
    size_t n = (size_t)p->count + 1;
    struct lx_answer a = {.address = mem_alloc(n * sizeof *a.address), .pool = mem_zeroed(n, sizeof *a.pool)};
    struct lx_run run = {0};
    double start = now();
    bool ok = lx_problem_solve(p, lx_solver_find("exact"), &run, &a, st);
    double seconds = now() - start;
    int64_t theirs = run_heuristic(p);
    bool none = ok && (a.status == LX_INFEASIBLE || a.status == LX_ERROR),
         proved = ok && a.status <= LX_INFEASIBLE && a.status != LX_FEASIBLE;
    t->runs++;
    t->proved += proved;
    t->infeasible += none && proved;
    t->worse += theirs >= 0 && (none || a.objective > theirs);
    t->better += !none && (theirs < 0 || a.objective < theirs);
    t->seconds += seconds;
    if (seconds > t->longest) t->longest = seconds;
    if (ok && (!proved || (theirs >= 0 && (none || a.objective > theirs))))
        printf("seed %3lld %d %%: %s %lld, bound %lld, heuristic %lld, %.0f ms, %lld steps %s\n",
               (long long)seed, share, lx_verdict_word(a.status), (long long)a.objective, (long long)a.bound,
               (long long)theirs, 1000 * seconds, (long long)a.steps, a.message);
    mem_free(a.address);
    mem_free(a.pool);
    return ok;
}

int main(int argc, char **argv)
{
    struct tally tally[SHARES] = {0};
    int64_t seeds = argc > 1 ? atoll(argv[1]) : 100;
    lx_status st;
    int worse = 0;
    for (int64_t seed = 1; seed <= seeds; seed++) {
        const struct lx_graph *g = make(seed, argv, argc, &st);
        struct lx_plan_options options = {.objective = LX_ASK_OWN};
        struct lx_question *q = g ? lx_problem_of(g, &options, &st) : NULL;
        if (!q) return fprintf(stderr, "bench_d2m: %s\n", st.text), 3;
        int64_t load = load_of(&q->problem);
        for (int k = 0; k < SHARES; k++) {
            q->problem.capacity = load * shares[k] / 100;
            if (!compare(&q->problem, seed, shares[k], &tally[k], &st))
                return fprintf(stderr, "%s\n", st.text), 3;
        }
        lx_question_free(q);
        lx_graph_free(g);
    }
    for (int k = 0; k < SHARES; k++) {
        const struct tally *t = &tally[k];
        printf("%d %% of the load: %d runs, %d proved (%d infeasible), below the heuristic %d, above %d; "
               "%.2f s, longest "
               "%.2f s\n",
               shares[k], t->runs, t->proved, t->infeasible, t->better, t->worse, t->seconds, t->longest);
        worse += t->worse;
    }
    return worse > 0;
}
