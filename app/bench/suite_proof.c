/* Is the bound of an instance true? A certificate proves it; else engines that share no code are asked: two that reach
 * it make a proof, one a bound. */
#include "bench/suite_proof.h"

/* Seconds of CPU for one engine. */
enum { SECONDS_OF_ENGINE = 10 };

static bool proof_is_late(void *deadline)
{
    return clock() >= *(const clock_t *)deadline;
}

/* An event of the sweep: bytes that begin (or, negative, end) at a tick. */
struct proof_event {
    int64_t tick, bytes;
};

static int proof_compare_events(const void *a, const void *b)
{
    const struct proof_event *x = a, *y = b;
    if (x->tick != y->tick) return x->tick < y->tick ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Most bytes alive at once, of buffers that must all be placed. One that may take over a slot counts from the tick
 * behind the handover. */
static int64_t proof_by_load(const struct suite_claim *c)
{
    const struct lx_problem *p = c->problem;
    int64_t load = 0, most = 0, padding = 0;      /* of the topmost buffer, at most */
    if (p->objective == LX_SPILL) return c->sure; /* no answer costs less than what may not be placed */
    OWNED struct proof_event *e = mem_alloc(((size_t)p->count * 2 + 1) * sizeof *e);
    size_t n = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        int64_t start = b->start + (b->parent_count > 0), step = b->alignment ? 1 : p->alignment,
                bytes = (b->size + step - 1) / step * step;
        if (!lx_may_be_placed(p, b) || b->life_count || start >= b->end) continue;
        padding = max_i64(padding, bytes - b->size);
        e[n++] = (struct proof_event){start, bytes};
        e[n++] = (struct proof_event){b->end, -bytes};
    }
    qsort(e, n, sizeof *e, proof_compare_events);
    for (size_t k = 0; k < n; k++) most = max_i64(most, load += e[k].bytes);
    return most - padding;
}

static int64_t proof_by_bounds(const struct suite_claim *c)
{
    struct lx_problem p = *c->problem;
    if (p.objective == LX_FIT) p.objective = LX_HEIGHT;
    return lx_bound(&p);
}

/* A solver alone, which is told no bound. */
static int64_t proof_by_solver(const struct suite_claim *c, const char *name)
{
    const struct lx_solver *s = lx_solver_find(name);
    const struct lx_problem *p = c->problem;
    if (!s || p->pool_count || (lx_problem_needs(p) & ~s->caps)) return -1;
    clock_t deadline = clock() + SECONDS_OF_ENGINE * CLOCKS_PER_SEC;
    struct lx_run run = {.stop = proof_is_late, .context = &deadline, .incumbent = c->address};
    struct lx_answer a = {.address = mem_alloc(((size_t)p->count + 1) * sizeof *a.address),
                          .pool = mem_zeroed((size_t)p->count + 1, sizeof *a.pool)};
    for (int32_t i = 0; i < p->count; i++) a.address[i] = LX_OFF_CHIP;
    bool ended = s->solve(p, &run, &a);
    int64_t bound = p->objective != LX_FIT ? a.bound : a.status == LX_INFEASIBLE ? p->capacity + 1 : -1;
    mem_free(a.address);
    mem_free(a.pool);
    return ended && a.status != LX_ERROR ? bound : -1;
}

static int64_t proof_by_exact(const struct suite_claim *c)
{
    return proof_by_solver(c, "exact");
}

static int64_t proof_by_ilp(const struct suite_claim *c)
{
    return proof_by_solver(c, "ilp");
}

/* The best answer as a plan: the checker makes a certificate of the bound, and reads it. */
static int64_t proof_by_certificate(const struct suite_claim *c)
{
    const struct lx_question *q = c->question;
    const struct lx_plan_options how = {.solver = lx_solver_find("greedy"), .objective = LX_ASK_OWN};
    const struct lx_progress best = {.address = c->address, .objective = c->best};
    struct lx_check_report r = {0};
    struct lx_plan *p = NULL;
    lx_status ignored;
    if (c->address && !c->problem->pool_count)
        p = q->graph->list ? lx_plan_of_answer(q->graph, &how, &best, &ignored)
                           : lx_question_plan(q, c->address, how.solver, &ignored);
    if (!p) return -1;
    if (lx_plan_check_report(p, &r, &ignored)) {
        p->figures.bound_bytes = c->bound + q->base_bytes - r.compulsory_bytes;
        lx_plan_certify(p);
    }
    bool proved = p->certificate && lx_plan_check_report(p, &r, &ignored) && r.bound == LX_BOUND_VERIFIED;
    lx_plan_free(p);
    return proved ? c->bound : -1;
}

/* The cheapest first; of an open instance only these are asked. */
enum { CHEAP_ENGINES = 3 };

static const struct {
    const char *name;
    int64_t (*bound)(const struct suite_claim *c); /* below 0: none */
    int weight;
} engines[] = {{"certificate", proof_by_certificate, 2},
               {"load", proof_by_load, 1},
               {"bounds", proof_by_bounds, 1},
               {"exact", proof_by_exact, 1},
               {"ilp", proof_by_ilp, 1}};

int suite_prove(const struct suite_claim *c, int needed, struct text *who)
{
    int agree = 0;
    /* A placement of all buffers in the capacity proves itself. */
    if (c->problem->objective == LX_FIT && c->address) return text_add(who, "its placement"), 2;
    size_t count = needed > 1 ? sizeof engines / sizeof *engines : CHEAP_ENGINES;
    for (size_t k = 0; k < count && agree < needed; k++) {
        if (engines[k].bound(c) < c->bound) continue;
        text_format(who, "%s%s", agree ? ", " : "", engines[k].name);
        agree += engines[k].weight;
    }
    return agree;
}
