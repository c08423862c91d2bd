/* Where runs of ops become nests: of few ops by one search, of many in windows, polished as a whole. */
#include "base/checked.h"
#include "search/keep.h"
#include "search/nests/nest_search.h"
#include "search/nests/nests.h"

/* With the solver that is asked for, but less of its effort for each of the many plans. */
static struct effort effort_of_nests(const struct search *p)
{
    enum { STEPS = 150 };
    struct effort effort = effort_asked(p->request);
    int64_t most = effort.run.work_limit;
    effort.run.work_limit = most > 0 ? min_i64(most, STEPS) : STEPS;
    effort.quick |= p->divided->count > FEW_OPS;
    if (effort.quick) effort.drafts = DRAFTS_AS_DECIDED;
    return effort;
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

static bool search_whole(struct search *p, struct nest_menus *menus)
{
    struct nest_search s;
    bool ok = nest_search_begin(&s, p, menus, nest_search_tries(p, 1)) && nest_search_end(&s);
    nest_search_free(&s);
    return ok && nest_search_hastily(p, menus);
}

/* Of many ops nests are looked for in windows, and the whole is only polished. */
static bool search_any(struct search *p, struct nest_menus *menus, const struct effort *full,
                       bool *solved_in_full)
{
    enum {
        POLISH = 24,
        USUAL = 400,
        LEAST = 2,
        WINDOW = 56
    }; /* plans of the whole; of more ops fewer, for each takes longer */
    int64_t ops = p->best.draft.graph->op_count, tries = max_i64(LEAST, POLISH * USUAL / max_i64(USUAL, ops));
    if (is_large(p)) tries = 0;
    bool ok = true;
    if (ops <= WINDOW)
        ok = search_whole(p, menus);
    else {
        if (p->best.draft.how.nest_count == 0) ok = nest_search_windows(p, menus, full, solved_in_full);
        if (ok) nest_set_refine(p, menus, &tries);
    }
    if (ok && !is_large(p)) nest_set_quicken(p, menus);
    return ok;
}

/* What is moved at least under the same decisions: whatever is on chip, or by prices of what is there on each tick. If that is
 * no less than what there is, no more is to be found. */
static bool nests_are_least(const struct search *p, const struct attempt *a, bool *least)
{
    int64_t bytes = a->draft.least_bytes, there = a->hbm_bytes, priced = 0;
    if (p->rival_bytes > 0) there = min_i64(there, p->rival_bytes);
    *least = bytes >= there;
    if (*least || asks_time(p) || a->draft.how.cut_count > 0 || is_large(p)) return true;
    if (!keep_least(p, &a->draft.how, &priced)) return false;
    *least = priced >= there;
    return true;
}

/* That of the last plan; of one with nests less, for the solver's bound is none then. */
static struct effort effort_in_full(const struct search *p, bool nests)
{
    enum { STEPS = 600, STEPS_AROUND = 2000 };
    struct effort effort = p->effort;
    int64_t most = effort.run.work_limit, steps = nests ? STEPS : STEPS_AROUND;
    if (p->divided->count > FEW_OPS && (nests || p->bound_with_nests))
        effort.run.work_limit = most > 0 ? min_i64(most, steps) : steps;
    effort.drafts = DRAFTS_FEW;
    effort.one_round = nests;
    return effort;
}

bool try_in_full(const struct search *p, struct attempt *a)
{
    const struct decisions *how = &a->draft.how;
    struct effort effort = effort_in_full(p, how->nest_count > 0);
    struct attempt full;
    bool least = false;
    if (how->nest_count > 0 && !nests_are_least(p, a, &least)) return false;
    if (least) return true;
    if (!try_decisions(p, how, &effort, 0, &full)) return false;
    full.perfect_bytes = a->perfect_bytes;
    nest_keep_better(a, &full);
    return true;
}

bool nests_search(struct search *p)
{
    struct nest_menus menus = {0};
    struct effort in_full = effort_in_full(p, true);
    struct search tries = *p;
    /* What is found with a quick solver instead is solved again by the caller. */
    bool solves_again = p->effort.solver != p->request->solver, solved_in_full = false;
    /* Of a large graph each solve takes long: nests that are found in windows are solved as a whole but once. */
    bool once = is_large(p) && !solves_again && p->rival_bytes == 0 && !asks_time(p);
    if (nests_suffice(p)) return true;
    menus.by_memory = asks_time(p);
    tries.effort = effort_of_nests(p);
    /* Stopped, it has what it found so far. */
    bool ok = attempt_copy(p, &p->best, &tries.best) &&
              search_any(&tries, &menus, once ? &in_full : NULL, &solved_in_full);
    if (ok && !solves_again && !solved_in_full && tries.best.draft.how.nest_count)
        ok = try_in_full(p, &tries.best);
    if (ok)
        nest_keep_better(&p->best, &tries.best);
    else
        attempt_free(&tries.best);
    arena_adopt(p->memory, &menus.memory); /* decisions point to the divisions */
    nest_menus_free(&menus);
    return ok;
}
