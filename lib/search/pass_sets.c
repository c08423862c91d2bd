/* The passes that search, run one after the other or in every set of those that are on. */
#include "plan/plan.h"
#include "base/fail.h"
#include "base/stop.h"
#include "base/vec.h"
#include "search/planner.h"

bool planner_is_on(const struct planner *p, const struct lx_pass *row)
{
    return row->search && lx_pass_on(&p->best.draft.how.passes, row) &&
           !(p->left_out >> (row - lx_passes()) & 1);
}

bool planner_runs(const struct planner *p, bool (*search)(struct planner *))
{
    for (const struct lx_pass *row = lx_passes(); row->name; row++)
        if (row->search == search) return planner_is_on(p, row);
    return false;
}

bool run_searches(struct planner *p, enum lx_pass_tries tries)
{
    bool ok = true;
    for (const struct lx_pass *row = lx_passes(); ok && row->name; row++)
        if (planner_is_on(p, row) && row->tries == tries) ok = stop_forgiven(row->search(p), p->st);
    return ok;
}

/* Are these the decisions that the search began with? */
static bool is_unchanged(const struct decisions *how, const struct decisions *plain)
{
    return !how->order && how->divided == plain->divided && !how->nest_count && !how->cut_count &&
           !how->move_count && !how->apart_count && how->borders == plain->borders;
}

/* On a large graph every try with the full solver would take seconds, so that the quick one searches, and what
 * it found is solved once in full. */
static bool search_quickly(struct planner *p)
{
    struct lx_plan_options quick = *p->options;
    struct planner tries = *p;
    struct decisions plain = {.passes = p->best.draft.how.passes, .divided = p->best.draft.how.divided};
    quick.solver = p->options->quick_solver;
    quick.run.options = NULL;
    quick.run.work_limit = 0;
    tries.options = &quick;
    tries.asked = p->options;
    if (!attempt_plain(&tries, &plain, &tries.best)) return false;
    bool ok = run_searches(&tries, LX_TRIES_MANY);
    if (ok && is_unchanged(&tries.best.draft.how, &plain)) { /* solved in full already */
        attempt_keep_better(&p->best, &tries.best);
        return true;
    }
    ok = ok && stop_forgiven(attempt_in_full(p, &tries.best), p->st);
    if (ok)
        attempt_keep_better(&p->best, &tries.best);
    else
        attempt_free(&tries.best);
    return ok;
}

/* The passes that try whole plans one after the other: a bit per row. */
static unsigned many_searches(const struct planner *p)
{
    unsigned bits = 0;
    for (const struct lx_pass *row = lx_passes(); row->name; row++)
        if (planner_is_on(p, row) && row->tries == LX_TRIES_MANY) bits |= 1u << (row - lx_passes());
    return bits;
}

/* Is it the only search of its sort? */
static bool runs_alone(const struct planner *p, bool (*search)(struct planner *))
{
    unsigned many = many_searches(p);
    return planner_runs(p, search) && (many & (many - 1)) == 0;
}

/* Nests of large graphs are found by parts, with few plans of the whole: no quicker solver is needed for these. */
static bool search_from_best(struct planner *p)
{
    enum { LARGE = 400 };
    const struct lx_plan_options *how = p->options;
    bool quick = how->quick_solver && how->quick_solver != how->solver;
    if (p->best.draft.problem.count <= LARGE || !quick || (is_large(p) && runs_alone(p, tile_search)))
        return run_searches(p, LX_TRIES_MANY);
    return search_quickly(p);
}

/* What the searches of a set of passes have found. */
struct pass_set {
    unsigned passes;
    struct attempt best;
};
struct pass_sets {
    VEC(struct pass_set) at;
};

/* The best that passes of `some` have found so far. */
static const struct attempt *best_within(const struct pass_sets *s, unsigned some)
{
    const struct attempt *best = NULL;
    for (size_t i = 0; i < s->at.count; i++) {
        const struct attempt *a = &s->at.at[i].best;
        if (s->at.at[i].passes & ~some) continue;
        if (!best || a->us < best->us || (a->us == best->us && a->hbm_bytes < best->hbm_bytes)) best = a;
    }
    return best;
}

/* As if only the passes of `some` were on. */
static bool search_some(const struct planner *p, unsigned some, struct pass_sets *sets)
{
    struct planner tries = *p;
    tries.left_out |= ~some;
    if (!attempt_copy(p, best_within(sets, some), &tries.best)) return false;
    bool ok = stop_forgiven(search_from_best(&tries), p->st);
    ok = ok && (VEC_PUSH(&sets->at, ((struct pass_set){some, tries.best})) || status_no_memory(p->st));
    if (!ok) attempt_free(&tries.best);
    return ok;
}

/* Keeps what a set of passes found, with fewer bundles where that moves less, if it is better. */
static bool merge_set(struct planner *p, const struct attempt *found)
{
    struct planner merging = *p;
    if (!attempt_copy(p, found, &merging.best)) return false;
    bool ok = stop_forgiven(merge_bundles(&merging), p->st);
    if (ok)
        attempt_keep_better(&p->best, &merging.best);
    else
        attempt_free(&merging.best);
    return ok;
}

/* Every set of the passes that are on, the empty one first. Merged at once, so that a run that is stopped has what it
 * would have without the passes that it did not come to. */
static bool search_sets(struct planner *p, unsigned all, struct pass_sets *sets)
{
    bool ok = !p->limited || merge_bundles(p);
    for (unsigned some = (0 - all) & all; ok && some; some = some == all ? 0 : (some - all) & all) {
        const struct attempt *best = best_within(sets, all);
        if (!p->limited && best->hbm_bytes <= best->perfect_bytes) break;
        ok = search_some(p, some, sets) &&
             (!p->limited || merge_set(p, &sets->at.at[sets->at.count - 1].best));
    }
    return ok;
}

/* Unless nothing can be better, every set of the passes that are on searches from the best of the sets within it: what it
 * finds does not depend on which others are on, so that one pass more is never worse. Where
 * bundles are limited each is judged by what it moves with its bundles merged. */
bool search_many(struct planner *p)
{
    struct pass_sets sets = {{0}};
    unsigned all = many_searches(p);
    struct attempt first;
    if (!all) return !p->limited || merge_bundles(p);
    if (!attempt_copy(p, &p->best, &first)) return false;
    bool ok = VEC_PUSH(&sets.at, ((struct pass_set){0, first})) || status_no_memory(p->st);
    if (!ok) attempt_free(&first);
    ok = ok && search_sets(p, all, &sets);
    for (size_t i = 0; i < sets.at.count; i++) attempt_keep_better(&p->best, &sets.at.at[i].best);
    VEC_FREE(&sets.at);
    return ok;
}

/* From other divisions on, too. */
bool search_others(struct planner *p)
{
    return (!many_searches(p) && !p->limited) || cooptimise_others(p, search_many);
}
