/* One try at a plan: a draft under some decisions, solved and weighed by what it really moves. */
#include "plan/planner.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/log.h"
#include "scratchpad/placement/solve.h"

#include <stdlib.h>
#include <string.h>

void attempt_free(struct attempt *a)
{
    draft_free(&a->draft);
    if (a->memory) arena_free(a->memory);
    free(a->memory);
    *a = (struct attempt){0};
}

/* A bound that holds however relayouts are decided. The source of one lives on until its copies are made; if
 * these come from HBM instead it may go, or hand over its place, with its own last use. So it counts only
 * before that, and the solver's own proof, which rests on the longer life, does not. */
static bool bound_of_any(const struct draft *x, int64_t *bound, lx_status *st)
{
    struct lx_problem p = x->problem;
    struct lx_buffer *relaxed = malloc(((size_t)p.count + 1) * sizeof *relaxed);
    if (!relaxed) return status_no_memory(st);
    for (int32_t i = 0; i < p.count; i++) {
        relaxed[i] = p.buffers[i];
        if (p.buffers[i].end == x->stays[i].last + 1) continue;
        relaxed[i].end = max_i64(x->stays[i].last, relaxed[i].start + 1);
        if (x->stays[i].last == x->stays[i].first) relaxed[i].size = 0;
    }
    p.buffers = relaxed;
    bool ok = lx_bound(&p, bound, st);
    free(relaxed);
    return ok;
}

/* Takes over another placement of the draft if it is the first or takes less time. */
static bool keep_placement(const struct planner *by, struct attempt *a, struct attempt *with, bool first)
{
    struct clocks now;
    if (!traffic_count(&with->draft, with->answer.address, &with->hbm_bytes) ||
        !draft_clocks(&with->draft, with->answer.address, &now, by->st))
        return false;
    with->us = now.end_to_end_us;
    int64_t *address = a->answer.address, steps = a->answer.steps + with->answer.steps;
    if (first || with->us < a->us || (with->us == a->us && with->hbm_bytes < a->hbm_bytes)) {
        memcpy(address, with->answer.address, (size_t)a->draft.problem.count * sizeof *address);
        a->answer = with->answer;
        a->answer.address = address;
        a->us = with->us;
        a->hbm_bytes = with->hbm_bytes;
    }
    a->answer.steps = steps;
    return true;
}

/* The draft's buffers by their worth in time, on each clock; nothing on chip is one answer, too. What the solver says
 * of objective and bound is about prices, not about the plan. */
static bool solve_by_time(const struct planner *by, struct attempt *a)
{
    size_t n = (size_t)a->draft.problem.count;
    struct attempt with = {.draft = a->draft};
    struct lx_buffer *priced = malloc((n + 1) * sizeof *priced);
    struct lx_problem p = a->draft.problem;
    with.answer.address = malloc((n + 1) * sizeof *with.answer.address);
    bool ok = priced && with.answer.address ? true : status_no_memory(by->st);
    for (size_t i = 0; ok && i < n; i++) with.answer.address[i] = LX_OFF_CHIP;
    with.answer.status = LX_FEASIBLE;
    ok = ok && keep_placement(by, a, &with, true);
    p.buffers = priced;
    for (int clock = 0; ok && clock < PRICE_COUNT; clock++)
        ok = price_buffers(&a->draft, (enum price)clock, priced, by->st) &&
             solve_valid(&p, by->options->solver, &by->options->run, &with.answer, by->st) &&
             (with.answer.status == LX_ERROR || keep_placement(by, a, &with, false));
    free(priced);
    free(with.answer.address);
    a->bound = a->answer.bound = 0;
    if (ok) a->answer.status = LX_FEASIBLE;
    return ok && lx_check(&a->draft.problem, a->answer.address, &a->answer.objective, by->st);
}

static bool solve(const struct planner *by, struct attempt *a)
{
    struct lx_problem *p = &a->draft.problem;
    p->objective = lx_asked(by->options->objective, p->objective);
    if (!draft_valid(&a->draft, by->st)) return false;
    a->answer.address = arena_array(a->memory, (size_t)p->count, sizeof *a->answer.address);
    if (!a->answer.address) return status_no_memory(by->st);
    if (asks_time(by)) return solve_by_time(by, a);
    if (!solve_valid(p, by->options->solver, &by->options->run, &a->answer, by->st)) return false;
    a->bound = a->answer.bound;
    if (p->objective == LX_SPILL && a->draft.how.passes.clone == LX_CLONE_HEURISTIC)
        a->bound = 0; /* its prices are not bytes */
    else if (p->objective == LX_SPILL && !a->draft.additive && !bound_of_any(&a->draft, &a->bound, by->st))
        return false;
    return traffic_count(&a->draft, a->answer.address, &a->hbm_bytes);
}

bool attempt_make(const struct planner *p, const struct decisions *how, struct attempt *out)
{
    *out = (struct attempt){.perfect_bytes = -1, .memory = calloc(1, sizeof *out->memory)};
    if (!out->memory) return status_no_memory(p->st);
    struct decisions plain = *how;
    plain.move_count = 0; /* moves are of other addresses */
    if (!draft_make(p->divided, &plain, out->memory, &out->draft, p->st) || !solve(p, out)) {
        attempt_free(out);
        return false;
    }
    LOG(attempt, "%d cuts, %d apart: HBM %" PRId64 ", spill %" PRId64 ", bound %" PRId64, (int)how->cut_count,
        (int)how->apart_count, out->hbm_bytes, out->answer.objective, out->bound);
    return true;
}

bool attempt_keep_better(struct attempt *best, struct attempt *next)
{
    bool better = next->us < best->us || (next->us == best->us && next->hbm_bytes < best->hbm_bytes);
    LOG(attempt, "%s: HBM %" PRId64 " against %" PRId64, better ? "kept" : "dropped", next->hbm_bytes,
        best->hbm_bytes);
    if (better) {
        struct attempt old = *best;
        *best = *next;
        *next = old;
    }
    attempt_free(next);
    return better;
}

bool planner_try(struct planner *p, const struct decisions *how, bool *better)
{
    struct attempt next;
    *better = false;
    if (!attempt_make(p, how, &next)) return false;
    next.perfect_bytes = p->best.perfect_bytes;
    *better = attempt_keep_better(&p->best, &next);
    return true;
}

/* Tensors of which one side of a relayout was placed and the other was not, with those that are apart already;
 * `*found`: there are new ones. */
static int32_t find_apart(const struct attempt *a, bool *apart, int32_t *list, bool *found)
{
    const struct draft *x = &a->draft;
    int32_t count = 0;
    for (int32_t i = 0; i < x->how.apart_count; i++) apart[x->how.apart[i]] = true;
    for (int32_t i = 0; i < x->problem.count; i++) {
        int32_t source = x->stays[i].ring_source;
        if (source < 0 || (a->answer.address[i] >= 0) == (a->answer.address[source] >= 0)) continue;
        apart[x->stays[i].tensor] = *found = true;
    }
    for (int32_t t = 0; t < x->graph->tensor_count; t++)
        if (apart[t]) list[count++] = t;
    return count;
}

/* A relayout of which only one side was placed goes through HBM; then it is better planned that way. */
static bool try_apart(struct planner *p, bool *better)
{
    size_t tensors = (size_t)p->best.draft.graph->tensor_count;
    struct decisions how = p->best.draft.how;
    bool *apart = calloc(tensors + 1, sizeof *apart), found = false;
    int32_t *list = malloc((tensors + 1) * sizeof *list);
    bool ok = apart && list ? true : status_no_memory(p->st);
    *better = false;
    if (ok) how.apart_count = find_apart(&p->best, apart, list, &found);
    how.apart = list;
    ok = ok && (!found || planner_try(p, &how, better));
    free(apart);
    free(list);
    return ok;
}

bool attempt_plain(const struct planner *p, const struct decisions *how, struct attempt *out)
{
    enum { ROUNDS = 3 };
    struct planner tries = *p;
    if (!attempt_make(p, how, &tries.best)) return false;
    int64_t bound = tries.best.bound;
    bool ok = perfect_traffic(&tries.best.draft, &tries.best.perfect_bytes, p->st);
    bool better = tries.best.draft.problem.objective == LX_SPILL;
    for (int round = 0; ok && better && round < ROUNDS; round++) ok = try_apart(&tries, &better);
    tries.best.bound = bound;
    *out = tries.best;
    if (!ok) attempt_free(out);
    return ok;
}
