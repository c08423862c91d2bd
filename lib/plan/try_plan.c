/* One try at a plan: a draft under some decisions, solved and weighed by what it really moves. */
#include "plan/planner.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/log.h"

#include <stdlib.h>

void attempt_free(struct attempt *a)
{
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

static bool solve(struct attempt *a, const struct lx_plan_options *options, lx_status *st)
{
    struct lx_problem *p = &a->draft.problem;
    p->objective = lx_asked(options->objective, p->objective);
    lx_status why = {0};
    if (!lx_problem_validate(p, &why))
        return status_set_at(st, why.code, a->draft.graph->file, why.line, why.column, "%s", why.text);
    int64_t all_off;
    if (!traffic_count(&a->draft, NULL, &all_off) || all_off > LX_INT_MAX)
        return status_set_at(
            st, LX_E_RANGE, a->draft.graph->file, 0, 0,
            "the traffic of all operands together is beyond 2^53 bytes, the most that a plan file can say");
    a->answer.address = arena_array(a->memory, (size_t)p->count, sizeof *a->answer.address);
    if (!a->answer.address) return status_no_memory(st);
    if (!lx_solve(p, options->solver, &options->run, &a->answer, st)) return false;
    a->bound = a->answer.bound;
    if (p->objective == LX_SPILL && a->draft.how.passes.clone == LX_CLONE_HEURISTIC)
        a->bound = 0; /* its prices are not bytes */
    else if (p->objective == LX_SPILL && !a->draft.additive && !bound_of_any(&a->draft, &a->bound, st))
        return false;
    return traffic_count(&a->draft, a->answer.address, &a->hbm_bytes);
}

bool attempt_make(const struct lx_divisions *d, const struct decisions *how,
                  const struct lx_plan_options *options, struct attempt *out, lx_status *st)
{
    *out = (struct attempt){.memory = calloc(1, sizeof *out->memory)};
    if (!out->memory) return status_no_memory(st);
    struct decisions kept = *how;
    kept.cuts = arena_copy_array(out->memory, how->cuts, (size_t)how->cut_count, sizeof *how->cuts);
    kept.apart = arena_copy_array(out->memory, how->apart, (size_t)how->apart_count, sizeof *how->apart);
    bool ok = kept.cuts && kept.apart ? true : status_no_memory(st);
    ok = ok && draft_make(d, &kept, out->memory, &out->draft, st) && solve(out, options, st);
    if (ok)
        LOG(attempt, "%d cuts, %d apart: HBM %" PRId64 ", spill %" PRId64 ", bound %" PRId64,
            (int)kept.cut_count, (int)kept.apart_count, out->hbm_bytes, out->answer.objective, out->bound);
    if (!ok) attempt_free(out);
    return ok;
}

bool attempt_keep_better(struct attempt *best, struct attempt *next)
{
    bool better = next->hbm_bytes < best->hbm_bytes;
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

/* A relayout of which only one side was placed goes through HBM; then it is better planned that way. */
static bool try_apart(const struct lx_divisions *d, const struct lx_plan_options *options,
                      struct attempt *best, lx_status *st)
{
    for (int round = 0; round < 3; round++) {
        const struct draft *x = &best->draft;
        const int64_t *address = best->answer.address;
        size_t tensors = (size_t)x->graph->tensor_count;
        bool *apart = calloc(tensors + 1, sizeof *apart), found = false, ok = true;
        int32_t *list = malloc((tensors + 1) * sizeof *list);
        struct decisions how = x->how;
        if (!apart || !list) ok = status_no_memory(st);
        for (int32_t i = 0; ok && i < how.apart_count; i++) apart[how.apart[i]] = true;
        for (int32_t i = 0; ok && i < x->problem.count; i++) {
            int32_t source = x->stays[i].ring_source;
            if (source < 0 || (address[i] >= 0) == (address[source] >= 0)) continue;
            apart[x->stays[i].tensor] = found = true;
        }
        how.apart_count = 0;
        for (size_t t = 0; ok && t < tensors; t++)
            if (apart[t]) list[how.apart_count++] = (int32_t)t;
        how.apart = list;
        struct attempt next;
        bool better = false;
        if (ok && found && (ok = attempt_make(d, &how, options, &next, st)))
            better = attempt_keep_better(best, &next);
        free(apart);
        free(list);
        if (!ok || !better) return ok;
    }
    return true;
}

bool attempt_plain(const struct lx_divisions *d, const struct decisions *how,
                   const struct lx_plan_options *options, struct attempt *out, lx_status *st)
{
    if (!attempt_make(d, how, options, out, st)) return false;
    int64_t bound = out->bound;
    if (out->draft.problem.objective != LX_SPILL || try_apart(d, options, out, st)) {
        out->bound = bound;
        return true;
    }
    attempt_free(out);
    return false;
}
