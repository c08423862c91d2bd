/* HBM bytes that no plan goes below, with the divisions of the best attempt and the passes that are on:
 * whichever of the model's bounds is higher, that of prices or that of a search which loses nothing. Where
 * ops may change places it is one that no order goes below. Wipes alone are borders: a plan with more of
 * them moves no less. */
#include "search/keep.h"
#include "base/checked.h"
#include "base/log.h"

static bool bound_in_order(struct keep_model *m, int64_t best, const struct lx_run *run, struct arena *memory,
                           int64_t *bound, lx_status *st)
{
    struct keep_found found = {0};
    struct keep_limits limits = {.below = best, .width = keep_width(m->x), .no_history = true, .run = run};
    if (!keep_price(m, best, KEEP_ROUNDS, bound, st)) return false;
    if (*bound >= best) return true;
    keep_search(m, &limits, memory, &found);
    *bound = max_i64(*bound, found.bound);
    return true;
}

bool keep_quick(const struct search *search, const struct decisions *how, struct attempt *out)
{
    struct effort once = {.solver = search->request->quick_solver,
                          .run = {.seed = search->effort.run.seed},
                          .drafts = DRAFTS_AS_DECIDED,
                          .one_round = true};
    return try_decisions(search, how, &once, 0, out);
}

bool keep_least_below(const struct search *search, const struct decisions *how, int64_t known, int64_t *least)
{
    const struct lx_run *run = &search->effort.run;
    struct arena memory = {0};
    struct draft plain = {0};
    struct keep_model m;
    *least = 0;
    bool ok = draft_make(search->divided, how, &memory, &plain, search->st) &&
              keep_model_make(&plain, false, &memory, &m, search->st) &&
              bound_in_order(&m, known, run, &memory, least, search->st);
    LOG(attempt, "without cuts no plan below HBM %" PRId64, ok ? *least : 0);
    draft_free(&plain);
    arena_free(&memory);
    return ok;
}

bool keep_least(const struct search *search, const struct decisions *how, int64_t *least)
{
    enum { WORTH_IT = 64 }; /* ops: a smaller graph is solved sooner than priced */
    struct attempt a;
    *least = 0;
    if (!search->request->quick_solver || search->divided->layouts->graph->op_count < WORTH_IT ||
        search_is_over(search))
        return true;
    if (!keep_quick(search, how, &a)) return false;
    int64_t known = a.hbm_bytes;
    attempt_free(&a);
    return keep_least_below(search, how, known, least);
}

bool keep_plain(const struct search *search, struct arena *memory, struct draft *out)
{
    struct decisions how = search->best.draft.how;
    how.cuts = how.moves = NULL;
    how.cut_count = how.move_count = 0;
    how.loaded_count = how.kept_count = 0;
    how.lax = false;
    *out = (struct draft){0};
    return draft_make(search->divided, &how, memory, out, search->st);
}

bool keep_bound(struct search *search, int64_t *bound)
{
    const struct draft *best = &search->best.draft;
    struct decisions how = {.passes = best->how.passes, .divided = best->how.divided};
    if (!asks_time(search)) how.passes.clone = passes_of_stage(&search->request->passes).clone;
    struct arena memory = {0};
    struct draft plain = {0};
    struct keep_model m;
    bool reorder = how.passes.reorder, cuts = how.passes.evict;
    bool ok = draft_make(best->divided, &how, &memory, &plain, search->st) &&
              keep_model_make(&plain, cuts, &memory, &m, search->st);
    if (ok && reorder) {
        struct keep_found found = {0};
        struct keep_limits limits = {.below = search->best.hbm_bytes,
                                     .width = keep_width(m.x),
                                     .no_history = true,
                                     .any_order = true,
                                     .run = &search->effort.run};
        if (m.op_count <= KEEP_ANY_ORDER) keep_search(&m, &limits, &memory, &found);
        *bound = found.bound;
    } else
        ok =
            ok && bound_in_order(&m, search->best.hbm_bytes, &search->effort.run, &memory, bound, search->st);
    LOG(attempt, "no plan below HBM %" PRId64, ok ? *bound : 0);
    draft_free(&plain);
    arena_free(&memory);
    return ok;
}
