/* Where runs of ops become nests: of few ops by one search, of many in windows, polished as a whole. */
#include "base/checked.h"
#include "base/stop.h"
#include "search/keep.h"
#include "search/nest_search.h"

/* With the solver that is asked for, but less of its effort for each of the many plans. */
static struct lx_plan_options brief_options(const struct planner *p)
{
    enum { STEPS = 150 };
    struct lx_plan_options brief = p->asked ? *p->asked : *p->options;
    int64_t most = brief.run.work_limit;
    brief.run.work_limit = most > 0 ? min_i64(most, STEPS) : STEPS;
    if (p->divided->count > FEW_OPS) brief.run.hasty = true;
    return brief;
}

void nest_keep_better(struct attempt *best, struct attempt *next)
{
    if (nest_set_is_better(next, best)) {
        struct attempt old = *best;
        *best = *next;
        *next = old;
    }
    attempt_free(next);
}

static bool search_whole(struct planner *p, struct nest_menus *menus)
{
    struct nest_search s;
    bool ok = nest_search_begin(&s, p, menus, nest_search_tries(p, 1)) && nest_search_end(&s);
    nest_search_free(&s);
    return ok && nest_search_hastily(p, menus);
}

/* Of many ops nests are looked for in windows, and the whole is only polished. */
static bool search_any(struct planner *p, struct nest_menus *menus)
{
    enum {
        POLISH = 24,
        USUAL = 400,
        LEAST = 2,
        WINDOW = 56
    }; /* plans of the whole; of more ops fewer, for each takes longer */
    int64_t ops = p->best.draft.graph->op_count, tries = max_i64(LEAST, POLISH * USUAL / max_i64(USUAL, ops));
    if (is_large(p)) tries = 0;
    bool ok = ops <= WINDOW ? search_whole(p, menus)
                            : (p->best.draft.how.nest_count > 0 || nest_search_windows(p, menus)) &&
                                  nest_set_refine(p, menus, &tries);
    return ok && (is_large(p) || nest_set_quicken(p, menus));
}

/* What is moved at least under the same decisions: whatever is on chip, or by prices of what is there on each tick. If that is
 * no less than what there is, no more is to be found. */
static bool tile_nests_is_least(const struct planner *p, const struct attempt *a, bool *least)
{
    int64_t bytes = a->draft.least_bytes, there = a->hbm_bytes, priced = 0;
    if (p->beat > 0) there = min_i64(there, p->beat);
    *least = bytes >= there;
    if (*least || asks_time(p) || a->draft.how.cut_count > 0 || is_large(p)) return true;
    if (!keep_least(p, &a->draft.how, &priced)) return false;
    *least = priced >= there;
    return true;
}

/* Steps of the last plan; of one with nests fewer, for the solver's bound is none then. */
static struct lx_plan_options full_options(const struct planner *p, bool nests)
{
    enum { STEPS = 600, STEPS_AROUND = 2000 };
    struct lx_plan_options options = *p->options;
    int64_t most = options.run.work_limit, steps = nests ? STEPS : STEPS_AROUND;
    if (p->divided->count > FEW_OPS && (nests || p->nested))
        options.run.work_limit = most > 0 ? min_i64(most, steps) : steps;
    return options;
}

bool attempt_in_full(const struct planner *p, struct attempt *a)
{
    const struct decisions *how = &a->draft.how;
    struct lx_plan_options options = full_options(p, how->nest_count > 0);
    struct planner by = *p;
    struct attempt full;
    bool least = false;
    if (how->nest_count > 0 && !tile_nests_is_least(p, a, &least)) return false;
    if (least) return true;
    by.options = &options;
    by.brief = how->nest_count > 0;
    if (!attempt_make(&by, how, &full)) return false;
    full.perfect_bytes = a->perfect_bytes;
    nest_keep_better(a, &full);
    return true;
}

bool tile_search(struct planner *p)
{
    struct nest_menus menus = {0};
    struct lx_plan_options brief = brief_options(p), full = full_options(p, true);
    struct planner tries = *p;
    if (nests_suffice(p)) return true;
    menus.by_memory = asks_time(p);
    tries.options = &brief;
    /* Of a large graph each solve takes long: nests that are found in windows are solved as a whole but once. */
    if (is_large(p) && !p->asked && p->beat == 0 && !asks_time(p)) tries.full = &full;
    /* Stopped, it has what it found so far. */
    bool ok = attempt_copy(p, &p->best, &tries.best) && stop_forgiven(search_any(&tries, &menus), p->st);
    /* Who tries with a quick solver solves what was found in full himself. */
    ok = ok && (p->asked || tries.in_full || !tries.best.draft.how.nest_count ||
                stop_forgiven(attempt_in_full(p, &tries.best), p->st));
    if (ok)
        nest_keep_better(&p->best, &tries.best);
    else
        attempt_free(&tries.best);
    arena_adopt(p->memory, &menus.memory); /* decisions point to the divisions */
    nest_menus_free(&menus);
    return ok;
}
