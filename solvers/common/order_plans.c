/* Orders for gap_fit, and the best of their answers and the heuristics'. */
#include "base/base.h"
#include "common/gap_fit.h"
#include "solvers.h"

struct ranked {
    struct rank rank;
    int32_t buffer;
};

static int rank_order_compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int128 left = (int128)x->rank.number * y->rank.parts, right = (int128)y->rank.number * x->rank.parts;
    if (left != right) return left < right ? -1 : 1;
    if (x->rank.tie != y->rank.tie) return x->rank.tie < y->rank.tie ? -1 : 1;
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

#define BY_POSITION(unused, a, b) ((a) < (b))

/* Counts an edge only if both buffers may be placed: a barred one has no slot to hand over. */
static bool rank_order_counts(const struct lx_problem *p, int32_t child, int32_t parent)
{
    return !p->buffers[child].reason && !p->buffers[parent].reason;
}

/* Children of each buffer as lists in two arrays: first[parent], next[edge]. */
struct edges {
    int32_t *first, *next, *child, *waiting;
};

static void list_children(const struct lx_problem *p, struct edges *e)
{
    size_t n = (size_t)p->count, count = 0;
    for (size_t i = 0; i < n; i++) count += (size_t)p->buffers[i].parent_count;
    e->first = mem_alloc((n + 1) * sizeof *e->first);
    e->waiting = mem_alloc((n + 1) * sizeof *e->waiting);
    e->next = mem_alloc((count + 1) * sizeof *e->next);
    e->child = mem_alloc((count + 1) * sizeof *e->child);
    for (size_t i = 0; i < n; i++) e->first[i] = -1;
    int32_t edge = 0;
    for (int32_t i = 0; i < p->count; i++) {
        e->waiting[i] = 0;
        for (int32_t k = 0; k < p->buffers[i].parent_count; k++) {
            int32_t parent = p->buffers[i].parents[k];
            if (!rank_order_counts(p, i, parent)) continue;
            e->waiting[i]++;
            e->child[edge] = i;
            e->next[edge] = e->first[parent];
            e->first[parent] = edge++;
        }
    }
}

void rank_order(const struct lx_problem *p, const struct rank *ranks, int32_t *order)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)p->count;
    struct ranked *sorted = arena_array(&memory, n + 1, sizeof *sorted);
    int32_t *position = arena_array(&memory, n + 1, sizeof *position);
    /* A heap of positions in rank order: the best-ranked buffer whose parents are all out comes out next. */
    int32_t *ready = arena_array(&memory, n + 1, sizeof *ready), ready_count = 0;
    struct edges e = {0};
    list_children(p, &e);
    for (int32_t i = 0; i < p->count; i++) sorted[i] = (struct ranked){ranks[i], i};
    qsort(sorted, n, sizeof *sorted, rank_order_compare_ranked);
    for (int32_t i = 0; i < p->count; i++) {
        position[sorted[i].buffer] = i;
        if (e.waiting[sorted[i].buffer] == 0) ready[ready_count++] = i; /* in order, which is a heap */
    }
    for (int32_t out = 0; ready_count > 0; out++) {
        int32_t b = sorted[ready[0]].buffer;
        ready[0] = ready[--ready_count];
        HEAP_SINK(int32_t, ready, ready_count, 0, BY_POSITION, NULL);
        order[out] = b;
        for (int32_t edge = e.first[b]; edge >= 0; edge = e.next[edge])
            if (--e.waiting[e.child[edge]] == 0) {
                ready[ready_count] = position[e.child[edge]];
                HEAP_RISE(int32_t, ready, ready_count++, BY_POSITION, NULL);
            }
    }
    mem_free(e.first);
    mem_free(e.waiting);
    mem_free(e.next);
    mem_free(e.child);
}

void worth_order(const struct lx_problem *p, int32_t *order)
{
    size_t n = (size_t)p->count;
    OWNED struct rank *ranks = mem_zeroed(n + 1, sizeof *ranks);
    bool *has_edge[2] = {mem_zeroed(n + 1, sizeof(bool)),
                         mem_zeroed(n + 1, sizeof(bool))}; /* as child, as parent */
    for (int32_t i = 0; i < p->count; i++)
        for (int32_t k = 0; k < p->buffers[i].parent_count; k++)
            if (rank_order_counts(p, i, p->buffers[i].parents[k]))
                has_edge[0][i] = has_edge[1][p->buffers[i].parents[k]] = true;
    /* (life - quarters / 4) / (uses + 1/2 if computed), in whole numbers. */
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        int64_t life = b->end - b->start;
        ranks[i].number = 4 * life - has_edge[0][i] - has_edge[1][i];
        ranks[i].parts = max_i64(2 * (int64_t)b->use_count + !b->first_use_is_read, 1);
        ranks[i].tie = life;
    }
    rank_order(p, ranks, order);
    mem_free(has_edge[0]);
    mem_free(has_edge[1]);
}

/* Rank of a buffer by rule k. The area saturates if the product overflows. */
static struct rank order_plans_rank(const struct lx_buffer *b, int k)
{
    int64_t life = b->end - b->start, area;
    if (!mul_i64(max_i64(b->size, 1), life, &area)) area = INT64_MAX;
    const struct rank rules[ORDER_PLANS] = {
        {-b->spill_cost, max_i64(b->size, 1), -life}, /* cost per byte */
        {-b->spill_cost, area, -b->size},             /* cost per byte and tick */
        {-b->size, 1, b->start},
        {-b->spill_cost, 1, b->size},
        {-life, 1, -b->size},
        {b->start, 1, -b->size},
    };
    return rules[k];
}

void order_place(const struct lx_problem *p, int k, const struct lx_run *run, struct lx_answer *answer)
{
    size_t n = (size_t)p->count;
    OWNED struct rank *ranks = mem_alloc((n + 1) * sizeof *ranks);
    OWNED int32_t *order = mem_alloc((n + 1) * sizeof *order);
    for (size_t i = 0; i < n; i++) ranks[i] = order_plans_rank(&p->buffers[i], k);
    rank_order(p, ranks, order);
    gap_fit_place(p, order, p->count, k % 2 == 1, run, answer);
}

/* --- The best. --- */

struct contest {
    const struct lx_problem *p;
    struct lx_answer *best;
    int64_t *value;
    bool *have;
};

static void order_plans_enter(const struct contest *c, const struct lx_answer *a)
{
    size_t n = (size_t)c->p->count;
    int64_t value;
    enum lx_rule rule;
    lx_status why;
    if (!lx_check_places(c->p, a->pool, a->address, &value, &rule, &why)) return;
    if (*c->have && value >= *c->value) return;
    memcpy(c->best->address, a->address, n * sizeof *a->address);
    memcpy(c->best->pool, a->pool, n * sizeof *a->pool);
    *c->value = value;
    *c->have = true;
}

void best_of_orders(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *best,
                    int64_t *value, bool *have)
{
    static const struct lx_solver *const solvers[] = {&lx_solver_firstfit, &lx_solver_bestfit,
                                                      &lx_solver_greedy};
    enum { SOLVERS = sizeof solvers / sizeof *solvers };
    size_t n = (size_t)p->count + 1;
    struct contest c = {p, best, value, have};
    struct lx_answer trial = {.address = mem_alloc(n * sizeof *trial.address),
                              .pool = mem_alloc(n * sizeof *trial.pool)};
    struct lx_run quiet = *run;
    quiet.progress = NULL;
    quiet.options = NULL;
    *have = false;
    for (int32_t i = 0; run->incumbent && i < p->count; i++) {
        trial.address[i] = run->incumbent[i];
        trial.pool[i] = run->incumbent_pool ? run->incumbent_pool[i] : 0;
    }
    if (run->incumbent) order_plans_enter(&c, &trial);
    for (int k = 0; k < SOLVERS + ORDER_PLANS && !(*have && lx_run_stopped(run)); k++) {
        trial = (struct lx_answer){.address = trial.address, .pool = trial.pool, .status = LX_FEASIBLE};
        for (int32_t i = 0; i < p->count; i++) trial.address[i] = LX_OFF_CHIP, trial.pool[i] = 0;
        if (k < SOLVERS)
            solvers[k]->solve(p, &quiet, &trial);
        else
            order_place(p, k - SOLVERS, &quiet, &trial);
        best->steps += trial.steps;
        order_plans_enter(&c, &trial);
    }
    mem_free(trial.address);
    mem_free(trial.pool);
}
