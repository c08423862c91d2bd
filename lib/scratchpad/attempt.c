/* One try at a plan: a draft under some decisions, solved and weighed by what it really moves. */
#include "scratchpad/make.h"
#include "base/checked.h"
#include "base/fail.h"

#include <stdlib.h>

void attempt_free(struct attempt *a)
{
    if (a->memory) arena_free(a->memory);
    free(a->memory);
    *a = (struct attempt){0};
}

static bool solve(struct attempt *a, const struct lx_plan_options *options, lx_status *st)
{
    struct lx_problem *p = &a->draft.problem;
    if (options->objective >= 0) p->objective = (enum lx_objective)options->objective;
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
    if (!ok) attempt_free(out);
    return ok;
}

bool attempt_keep_better(struct attempt *best, struct attempt *next)
{
    bool better = next->hbm_bytes < best->hbm_bytes;
    if (better) {
        struct attempt old = *best;
        *best = *next;
        *next = old;
    }
    attempt_free(next);
    return better;
}
