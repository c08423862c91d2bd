/* Solves a problem of the second version: its parts one by one, and their answers put together again. The
 * whole is checked as it was asked; what any part cannot have, the whole cannot. */
#include "placement/rewrite.h"
#include "placement/solve.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

struct run_parts {
    struct rewrite w;
    const struct lx_problem *p;
    const struct lx_solver *solver;
    const struct lx_run *run;
    struct lx_answer *whole, part; /* part: room for the answer of any */
    const struct part *now;
    int64_t value, bound; /* of the parts that are done, and the constant */
    bool none;            /* some part has no answer */
    double end;           /* of the time, or 0 */
    int64_t *shown;       /* an answer on its way to somebody who watches */
    int32_t *shown_pool;
};

static bool stop_part(void *context)
{
    struct run_parts *r = context;
    return lx_run_stopped(r->run);
}

/* What a part reports, as the whole: its answer only where it is all there is. */
static void report_part(void *context, const struct lx_progress *so_far)
{
    struct run_parts *r = context;
    struct lx_progress out = *so_far;
    out.address = NULL;
    out.pool = NULL;
    out.steps += r->whole->steps;
    if (so_far->objective < INT64_MAX / 2) out.objective += r->value;
    out.bound += r->bound;
    if (so_far->address && r->w.part_count == 1 && r->now->hard_limit == LX_NO_LIMIT) {
        for (int32_t i = 0; i < r->p->count; i++) r->shown[i] = LX_OFF_CHIP;
        rewrite_places(&r->w, r->now, so_far->address, so_far->pool, r->shown, r->shown_pool);
        out.address = r->shown;
        out.pool = r->shown_pool;
    }
    r->run->progress(r->run->context, &out);
}

static struct lx_run run_of_part(struct run_parts *r)
{
    struct lx_run run = *r->run;
    run.context = r;
    run.stop = r->run->stop ? stop_part : NULL;
    run.progress = r->run->progress ? report_part : NULL;
    run.incumbent = NULL;
    run.incumbent_pool = NULL;
    if (r->end > 0) {
        double left = r->end - clock_seconds();
        run.time_limit = left > 0.001 ? left : 0.001;
    }
    return run;
}

/* A pool that nobody may be in: its reserved bytes are its height. */
static int64_t height_of_empty(const struct lx_problem *p)
{
    int64_t height = 0;
    for (int32_t k = 0; k < p->pool_count; k++) {
        int64_t top = 0;
        for (int32_t i = 0; i < p->pools[k].reserved_count; i++)
            top = max_i64(top, p->pools[k].reserved[i].to);
        height += top;
    }
    return p->objective == LX_HEIGHT ? height : 0;
}

/* The worst that is said of a part is said of the whole. */
static enum lx_verdict worse(enum lx_verdict a, enum lx_verdict b)
{
    static const int rank[] = {
        [LX_OPTIMAL] = 0, [LX_FEASIBLE] = 1, [LX_LIMIT] = 2, [LX_ERROR] = 3, [LX_INFEASIBLE] = 4};
    return rank[a] > rank[b] ? a : b;
}

static void judge_part(struct run_parts *r, const struct part *part)
{
    struct lx_answer *a = &r->part;
    if (part->hard_limit != LX_NO_LIMIT && a->objective > part->hard_limit) {
        a->status = a->bound > part->hard_limit ? LX_INFEASIBLE : worse(a->status, LX_LIMIT);
        a->objective = INT64_MAX;
    }
    r->none |= a->objective == INT64_MAX || a->status == LX_INFEASIBLE;
    r->value += a->objective == INT64_MAX ? 0 : a->objective;
    /* Of a part without an answer the bound may be as high as numbers go. */
    if (r->p->objective != LX_FIT && !add_i64(r->bound, a->bound, &r->bound)) r->bound = INT64_MAX;
    r->whole->steps += a->steps;
    for (int i = 0; i < a->stat_count; i++) {
        if (i >= r->whole->stat_count)
            r->whole->stats[r->whole->stat_count++] = (struct lx_stat){a->stats[i].name, 0};
        r->whole->stats[i].value += a->stats[i].value;
    }
    if (!r->whole->message[0]) snprintf(r->whole->message, sizeof r->whole->message, "%s", a->message);
    r->whole->status = worse(r->whole->status, a->status);
    rewrite_places(&r->w, part, a->address, a->pool, r->whole->address, r->whole->pool);
}

static bool solve_parts_solve_part(struct run_parts *r, const struct part *part, lx_status *st)
{
    struct lx_run run = run_of_part(r);
    if (part->problem.count == 0) {
        r->value += height_of_empty(&part->problem);
        r->bound += height_of_empty(&part->problem);
        return true;
    }
    r->part = (struct lx_answer){.address = r->part.address, .pool = r->part.pool, .status = LX_ERROR};
    r->now = part;
    if (!solve_plain(&part->problem, r->solver, &run, &r->part, st)) return false;
    judge_part(r, part);
    return true;
}

static void nothing_placed(struct run_parts *r)
{
    for (int32_t i = 0; i < r->p->count; i++) {
        r->whole->address[i] = LX_OFF_CHIP;
        if (r->whole->pool) r->whole->pool[i] = 0;
    }
    r->whole->objective = INT64_MAX;
}

static void close_whole(struct run_parts *r)
{
    struct lx_answer *a = r->whole;
    lx_status why;
    a->bound = r->bound;
    if (a->status == LX_INFEASIBLE || (r->none && r->p->objective != LX_FIT)) {
        nothing_placed(r);
        return;
    }
    if (check_so_far(r->p, a->pool, a->address, &a->objective, &why)) {
        if (a->status == LX_OPTIMAL && r->p->objective != LX_FIT) a->bound = a->objective;
        return;
    }
    nothing_placed(r);
    if (r->p->objective == LX_FIT && a->status == LX_LIMIT) return; /* as far as it went is no answer */
    a->status = LX_ERROR;
    snprintf(a->message, sizeof a->message, "refused by the checker: %.130s", why.text);
}

static bool solve_parts_all_parts(struct run_parts *r, lx_status *st)
{
    nothing_placed(r);
    if (r->w.impossible) {
        r->whole->status = LX_INFEASIBLE;
        snprintf(r->whole->message, sizeof r->whole->message, "%s", r->w.why);
        return true;
    }
    r->whole->status = LX_OPTIMAL;
    r->value = r->bound = r->w.constant;
    for (int32_t k = 0; k < r->w.part_count && r->whole->status != LX_INFEASIBLE; k++)
        if (!solve_parts_solve_part(r, &r->w.parts[k], st)) return false;
    close_whole(r);
    return true;
}

bool solve_parts(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                 struct lx_answer *answer, lx_status *st)
{
    size_t n = (size_t)p->count + 1;
    struct run_parts r = {.p = p, .solver = solver, .run = run, .whole = answer};
    if (p->pool_count > 1 && !answer->pool)
        return status_set(st, LX_E_INTERNAL, "several pools, but no room for those of the answer");
    if (run->time_limit > 0) r.end = clock_seconds() + run->time_limit;
    r.part.address = mem_alloc(n * sizeof *r.part.address);
    r.part.pool = mem_alloc(n * sizeof *r.part.pool);
    r.shown = mem_alloc(n * sizeof *r.shown);
    r.shown_pool = mem_zeroed(n, sizeof *r.shown_pool);
    rewrite_make(&r.w, p);
    bool ok = solve_parts_all_parts(&r, st);
    rewrite_free(&r.w);
    mem_free(r.part.address);
    mem_free(r.part.pool);
    mem_free(r.shown);
    mem_free(r.shown_pool);
    return ok;
}
