/* The pass that divides anew: divisions under which the plan as a whole, with its relayouts and copies, moves less (or
 * takes less time) than with those that work division alone chose. What the joint search and the documented one find,
 * and what chains find (scratchpad/cooptimise/least_traffic.h), is planned for true, and the best of all stays, the old
 * divisions among them; so that more search never gives a worse plan. Chains also prove what no division goes below. */
#include "plan/planner.h"
#include "base/log.h"
#include "scratchpad/cooptimise/cooptimise.h"
#include "scratchpad/cooptimise/least_traffic.h"

/* Ops from which on the joint search is tried for time only, with a quick solver. */
enum { LARGE = 150 };

static struct lx_cooptimise_options joint_options(const struct planner *p, enum lx_joint_mode mode)
{
    const struct lx_passes *passes = &p->best.draft.how.passes;
    bool quick = p->divided->count > LARGE && p->options->quick_solver;
    struct lx_cooptimise_options how = {.mode = mode,
                                        .goal = passes->by_time ? LX_GOAL_TIME : LX_GOAL_TRAFFIC,
                                        .solver = quick ? p->options->quick_solver : p->options->solver,
                                        .run = p->options->run,
                                        .clone_inputs = passes->clone != LX_CLONE_NONE,
                                        .outputs_on_chip = !passes->no_outputs,
                                        .without_flip = true};
    how.run.work_limit = 0; /* the limit counts the solver's steps */
    if (quick) how.run.options = NULL;
    return how;
}

/* Is the old plan better than the co-optimised one, by the goal of the passes: bytes, or time? Among equal
 * bytes ops that agree on their divisions are preferred to relayouts as long as the predicted times differ by
 * less than the model is sure of. */
static bool old_is_better(const struct attempt *old, double old_us, const struct attempt *new, double new_us)
{
    if (old->draft.how.passes.by_time) return old_us < new_us;
    if (old->hbm_bytes != new->hbm_bytes) return old->hbm_bytes < new->hbm_bytes;
    return new_us > 1.05 * old_us;
}

/* Plans with the divisions that were found, and keeps the better attempt. */
static bool try_divisions(struct planner *p, const struct lx_division **divided, int32_t changed)
{
    struct decisions how = {.passes = p->best.draft.how.passes, .divided = divided};
    struct attempt next;
    struct clocks old, now;
    if (!draft_clocks(&p->best.draft, p->best.answer.address, &old, p->st) || !attempt_plain(p, &how, &next))
        return false;
    bool ok = draft_clocks(&next.draft, next.answer.address, &now, p->st);
    if (ok)
        LOG(cooptimise, "HBM %" PRId64 ", %.2f us before; %" PRId64 ", %.2f us with %d ops divided anew",
            p->best.hbm_bytes, old.device_us, next.hbm_bytes, now.device_us, (int)changed);
    if (ok && !old_is_better(&p->best, old.device_us, &next, now.device_us)) {
        struct attempt worse = p->best;
        p->best = next;
        next = worse;
        p->joint.divided_anew = changed;
    }
    attempt_free(&next);
    return ok;
}

/* What the search over whole buffers finds. */
static bool try_joint(struct planner *p, enum lx_joint_mode mode)
{
    struct lx_cooptimise_options how = joint_options(p, mode);
    struct lx_cooptimised found;
    if (!lx_cooptimise(p->divided, &how, &found, p->st)) return false;
    bool ok = found.changed == 0 || try_divisions(p, found.divided, found.changed);
    arena_adopt(p->memory, found.memory); /* decisions point to the divisions */
    lx_cooptimised_free(&found);
    return ok;
}

/* What chains find, as long as they may find or prove more. */
static bool try_chains(struct planner *p, bool plans)
{
    struct least_traffic s;
    bool ok = least_traffic_open(&s, &p->best.draft, &p->options->run, p->st);
    while (ok && !s.done) {
        ok = least_traffic_round(&s, p->best.hbm_bytes, p->st);
        for (int32_t k = 0; ok && plans && k < s.found; k++) {
            const struct lx_division **divided;
            int32_t changed;
            if (s.bytes[k] >= p->best.hbm_bytes) break;
            ok = least_traffic_divisions(&s, k, p->memory, &divided, &changed, p->st) &&
                 try_divisions(p, divided, changed);
        }
    }
    p->joint.bound_bytes = s.bound;
    least_traffic_close(&s);
    return ok;
}

/* The bound of the plan is that of all divisions, not of those that were chosen. */
static void adopt_bound(struct planner *p)
{
    p->joint.searched = true;
    p->best.perfect_bytes = min_i64(p->best.perfect_bytes, p->joint.bound_bytes);
    p->best.bound = p->joint.bound_bytes;
}

bool cooptimise_search(struct planner *p)
{
    const struct lx_passes *how = &p->best.draft.how.passes;
    bool full = how->cooptimise == LX_COOPTIMISE_FULL, by_time = how->by_time;
    bool ok = try_joint(p, LX_JOINT_FLIP);
    if (ok && full && (by_time || p->divided->count <= LARGE)) ok = try_joint(p, LX_JOINT_FULL);
    ok = ok && try_chains(p, full && !by_time);
    if (ok) adopt_bound(p);
    return ok;
}
