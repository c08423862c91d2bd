/* Bounds by the model of keeping, for the best attempt's divisions and passes. Only wipes count as borders:
 * more borders never make a plan move less. */
#include "search/keep.h"

/* The better bound of prices and of a search without histories; in any order of the search alone. */
static int64_t keep_bound_of(struct keep_model *m, bool any_order, int64_t best, const struct lx_run *run,
                             struct arena *memory)
{
    struct keep_found found = {0};
    struct keep_limits limits = {
        .below = best, .width = keep_width(m->x), .no_history = true, .any_order = any_order, .run = run};
    int64_t bound = any_order ? 0 : keep_price(m, best);
    if (any_order ? m->op_count <= KEEP_ANY_ORDER : bound < best) keep_search(m, &limits, memory, &found);
    return max_i64(bound, found.bound);
}

bool keep_quick(const struct search *search, const struct decisions *how, struct attempt *out)
{
    struct effort once = {.solver = search->request->quick_solver,
                          .run = {.seed = search->effort.run.seed},
                          .drafts = DRAFTS_AS_DECIDED,
                          .one_round = true};
    return try_decisions(search, how, &once, no_limit, out);
}

bool keep_least_below(const struct search *search, const struct decisions *how, int64_t known, int64_t *least)
{
    const struct lx_run *run = &search->effort.run;
    SCOPED(arena_free) struct arena memory = {0};
    SCOPED(draft_free) struct draft plain = {0};
    struct keep_model m;
    *least = 0;
    bool ok = draft_make(search->divided, how, &memory, &plain, search->st);
    if (ok) {
        keep_model_make(&plain, false, &memory, &m);
        *least = keep_bound_of(&m, false, known, run, &memory);
    }
    LOG(attempt, "without cuts no plan below HBM %" PRId64, ok ? *least : 0);
    return ok;
}

bool keep_least(const struct search *search, const struct decisions *how, int64_t *least)
{
    enum { WORTH_IT = 64 }; /* ops: a smaller graph is solved faster than priced */
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

bool keep_ask(const struct search *search, bool cuts, int64_t choices, bool any_order,
              struct keep_answer *out)
{
    struct decisions how = search->best.draft.how;
    int64_t best = search->best.hbm_bytes;
    struct keep_limits limits = {.below = asks_time(search) ? INT64_MAX / 2 : best,
                                 .width = keep_width(&search->best.draft),
                                 .choices = (int32_t)choices,
                                 .any_order = any_order,
                                 .run = &search->effort.run};
    *out = (struct keep_answer){0};
    how.cuts = how.moves = NULL;
    how.cut_count = how.move_count = how.loaded_count = how.kept_count = 0;
    how.lax = false;
    if (!draft_make(search->divided, &how, &out->memory, &out->plain, search->st)) return false;
    keep_model_make(&out->plain, cuts, &out->memory, &out->model);
    if (!any_order) out->bound = keep_price(&out->model, best);
    if (any_order || out->bound < best || asks_time(search))
        keep_search(&out->model, &limits, &out->memory, &out->found);
    return true;
}

void keep_answer_free(struct keep_answer *a)
{
    draft_free(&a->plain);
    arena_free(&a->memory);
}

bool keep_bound(struct search *search, int64_t *bound)
{
    const struct draft *best = &search->best.draft;
    struct decisions how = {.passes = best->how.passes, .divided = best->how.divided};
    if (!asks_time(search)) how.passes.clone = passes_of_stage(&search->request->passes).clone;
    SCOPED(arena_free) struct arena memory = {0};
    SCOPED(draft_free) struct draft plain = {0};
    struct keep_model m;
    const struct lx_run *run = &search->effort.run;
    bool ok = draft_make(best->divided, &how, &memory, &plain, search->st);
    if (ok) {
        keep_model_make(&plain, how.passes.evict, &memory, &m);
        *bound = keep_bound_of(&m, how.passes.reorder, search->best.hbm_bytes, run, &memory);
    }
    LOG(attempt, "no plan below HBM %" PRId64, ok ? *bound : 0);
    return ok;
}
