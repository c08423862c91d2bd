/* Co-optimisation: divisions under which the whole plan, with relayouts and copies, moves less or takes
 * less time. Candidates come from the joint search, the documented search and chains
 * (cooptimise/least_traffic.h); each is planned in full and the best stays, so more search never gives a
 * worse plan. Chains also prove a bound. */
#include "search/search_steps.h"
#include "search/time.h"
#include "cooptimise/least_traffic.h"

/* Ops above which the joint search runs only for time, with a quick solver. */
enum { LARGE = 400 };

/* The best plan may have dropped copies of inputs to move less; other divisions and the bound start with the
 * requested copies. */
static struct lx_passes asked_passes(const struct search *search)
{
    struct lx_passes passes = search->best.draft.how.passes;
    if (!asks_time(search)) passes.clone = passes_of_stage(&search->request->passes).clone;
    return passes;
}

/* Plans with other divisions, and keeps the better attempt. */
static bool try_divisions(struct search *search, const struct lx_division **divided, int32_t changed)
{
    struct decisions how = {.passes = asked_passes(search), .divided = divided};
    struct attempt next;
    if (!try_with(search, DRAFTS_MANY, &how, &next)) return false;
    struct clock_times old = draft_times(&search->best.draft, search->best.answer.address, NULL),
                       now = draft_times(&next.draft, next.answer.address, NULL);
    LOG(cooptimise, "HBM %" PRId64 ", %.2f us before; %" PRId64 ", %.2f us with %d ops divided anew",
        search->best.hbm_bytes, old.device_us, next.hbm_bytes, now.device_us, (int)changed);
    /* Compares by the goal of the passes. Among equal bytes, the new divisions, which need fewer relayouts,
     * are preferred unless the predicted time is clearly longer. */
    bool better = search->best.draft.how.passes.by_time      ? old.device_us >= now.device_us
                  : search->best.hbm_bytes != next.hbm_bytes ? search->best.hbm_bytes > next.hbm_bytes
                                                             : now.device_us <= 1.05 * old.device_us;
    if (better) {
        struct attempt worse = search->best;
        search->best = next;
        next = worse;
        search->joint.divided_anew = changed;
        search->divided_anew = divided;
    }
    search->tried_last = divided;
    attempt_free(&next);
    return true;
}

/* Tries the divisions of the joint search. */
static bool try_joint(struct search *search, enum lx_joint_mode mode)
{
    struct lx_passes passes = asked_passes(search);
    bool quick = search->divided->count > LARGE && search->request->quick_solver;
    struct lx_cooptimise_options how = {.mode = mode,
                                        .goal = passes.by_time ? LX_GOAL_TIME : LX_GOAL_TRAFFIC,
                                        .solver =
                                            quick ? search->request->quick_solver : search->effort.solver,
                                        .run = search->effort.run,
                                        .clone_inputs = passes.clone != LX_CLONE_NONE,
                                        .outputs_on_chip = !passes.no_outputs,
                                        .without_flip = true};
    struct lx_cooptimised found;
    how.run.work_limit = 0; /* the limit counts the solver's steps */
    if (quick) how.run.options = NULL;
    if (!lx_cooptimise(search->divided, &how, &found, search->st)) return false;
    bool ok = found.changed == 0 || try_divisions(search, found.divided, found.changed);
    arena_adopt(search->memory, found.memory); /* decisions point to the divisions */
    lx_cooptimised_free(&found);
    return ok;
}

/* For large graphs the quick solver compares divisions; only the best is planned in full. */
struct contest {
    const struct lx_division **divided;
    int32_t changed;
    int64_t bytes; /* with the quick solver; 0: every candidate is planned in full */
};

static bool measure_quickly(const struct search *search, const struct lx_division *const *divided,
                            int64_t *bytes)
{
    struct effort quick = effort_quick_solver(search);
    struct decisions how = {.passes = asked_passes(search), .divided = divided};
    struct attempt a;
    if (!try_decisions(search, &how, &quick, no_limit, &a)) return false;
    *bytes = a.hbm_bytes;
    attempt_free(&a);
    return true;
}

/* Tries the divisions that chains find with these passes, while they may find or prove more. */
static bool try_chains(struct search *search, const struct lx_passes *passes, bool plans)
{
    enum { MANY_BUFFERS = 400 };
    const struct lx_solver *other = search->request->quick_solver;
    bool quick = search->best.draft.problem.count > MANY_BUFFERS && other && other != search->effort.solver;
    struct least_traffic s = {0};
    struct contest c = {0};
    SCOPED(arena_free) struct arena memory = {0};
    SCOPED(draft_free) struct draft plain = {0};
    struct decisions how = {.passes = *passes};
    bool ok = draft_make(search->divided, &how, &memory, &plain, search->st) &&
              least_traffic_open(&s, &plain, &search->effort.run, search->st) &&
              (!quick || measure_quickly(search, search->divided_anew, &c.bytes));
    while (ok && !s.done) {
        least_traffic_round(&s, search->best.hbm_bytes);
        for (int32_t k = 0; ok && plans && k < s.found; k++) {
            const struct lx_division **divided;
            int32_t changed;
            int64_t bytes;
            if (s.bytes[k] >= search->best.hbm_bytes) break;
            ok = least_traffic_divisions(&s, k, search->memory, &divided, &changed, search->st) &&
                 (c.bytes == 0 ? try_divisions(search, divided, changed)
                               : measure_quickly(search, divided, &bytes));
            if (ok && c.bytes > 0 && bytes < c.bytes) c = (struct contest){divided, changed, bytes};
        }
    }
    if (ok && c.divided) ok = try_divisions(search, c.divided, c.changed);
    search->joint.bound_bytes = s.bound;
    arena_free(&s.memory);
    return ok;
}

/* Adds divisions to `others`, unless the best plan has them or they are listed. */
static void divisions_remember(struct search *search, const struct lx_division *const *divided)
{
    bool known = divided == search->divided_anew;
    for (int i = 0; i < search->other_count; i++) known |= search->others[i] == divided;
    if (!known) search->others[search->other_count++] = divided;
}

/* Engines may find more from divisions that were no better so far; work division's come first. */
bool divisions_try_others(struct search *search, bool (*engines)(struct search *search))
{
    bool ok = true;
    int32_t anew = 0;
    int64_t least = search->bound_with_nests ? search->bound : search->joint.bound_bytes;
    for (int i = 0; ok && i < search->other_count && search->best.hbm_bytes > least; i++) {
        struct search tries = *search;
        struct decisions how = {.passes = asked_passes(search), .divided = search->others[i]};
        if (!try_with(&tries, DRAFTS_MANY, &how, &tries.best)) return false;
        tries.best.perfect_bytes = search->best.perfect_bytes;
        ok = engines(&tries);
        if (!ok)
            attempt_free(&tries.best);
        else if (offer_attempt(search, &tries.best))
            for (int32_t o = anew = 0; search->others[i] && o < search->divided->count; o++)
                anew += search->others[i][o] != NULL;
        else
            continue;
        search->joint.divided_anew = anew;
    }
    return ok;
}

bool divisions_search(struct search *search)
{
    const struct lx_passes *how = &search->best.draft.how.passes;
    bool full = how->cooptimise == LX_COOPTIMISE_FULL, by_time = how->by_time;
    bool ok = try_joint(search, LX_JOINT_FLIP);
    const struct lx_division *const *flipped = search->tried_last;
    if (ok && full && (by_time || search->divided->count <= LARGE)) ok = try_joint(search, LX_JOINT_FULL);
    /* Chains also run without evictions, so evictions never make a plan worse. The bound is for all
     * passes. */
    struct lx_passes passes = asked_passes(search), whole = passes;
    whole.evict = false;
    if (ok && full && !by_time && passes.evict) ok = try_chains(search, &whole, true);
    ok = ok && try_chains(search, &passes, full && !by_time);
    divisions_remember(search, NULL);
    divisions_remember(search, flipped);
    divisions_remember(search, search->tried_last);
    if (ok) {
        /* The bound of the plan is over all divisions, not only the chosen ones. */
        search->joint.searched = true;
        search->best.perfect_bytes = min_i64(search->best.perfect_bytes, search->joint.bound_bytes);
        search->best.bound = search->joint.bound_bytes;
    }
    return ok;
}
