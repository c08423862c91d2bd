/* The pass that divides anew: divisions that suit the scratchpad, in place of those that work division alone
 * chose. They stay only if the plan as a whole, with its relayouts and copies, is then no worse. */
#include "plan/planner.h"
#include "base/log.h"
#include "scratchpad/cooptimise/cooptimise.h"

static struct lx_cooptimise_options joint_options(const struct planner *p)
{
    const struct lx_passes *passes = &p->best.draft.how.passes;
    struct lx_cooptimise_options how = {.mode = passes->cooptimise == LX_COOPTIMISE_FLIP ? LX_JOINT_FLIP
                                                                                         : LX_JOINT_FULL,
                                        .goal = passes->by_time ? LX_GOAL_TIME : LX_GOAL_TRAFFIC,
                                        .solver = p->options->solver,
                                        .run = p->options->run,
                                        .clone_inputs = passes->clone != LX_CLONE_NONE,
                                        .outputs_on_chip = !passes->no_outputs};
    how.run.work_limit = 0; /* the limit counts the solver's steps */
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
static bool try_divisions(struct planner *p, const struct lx_cooptimised *found, double old_us)
{
    struct decisions how = {.passes = p->best.draft.how.passes, .divided = found->divided};
    struct attempt next;
    struct clocks now;
    if (!attempt_plain(p, &how, &next)) return false;
    bool ok = draft_clocks(&next.draft, next.answer.address, &now, p->st);
    double us = now.device_us;
    if (ok)
        LOG(cooptimise, "HBM %" PRId64 ", %.2f us before; %" PRId64 ", %.2f us with %d ops divided anew",
            p->best.hbm_bytes, old_us, next.hbm_bytes, us, (int)found->changed);
    if (ok && !old_is_better(&p->best, old_us, &next, us)) {
        struct attempt old = p->best;
        p->best = next;
        next = old;
        p->joint.divided_anew = found->changed;
    }
    attempt_free(&next);
    return ok;
}

bool cooptimise_search(struct planner *p)
{
    struct lx_cooptimise_options how = joint_options(p);
    struct lx_cooptimised found;
    struct clocks before;
    if (!draft_clocks(&p->best.draft, p->best.answer.address, &before, p->st) ||
        !lx_cooptimise(p->divided, &how, &found, p->st))
        return false;
    p->joint = (struct lx_joint){.bytes = found.now.traffic_bytes,
                                 .bound_bytes = found.bound_bytes,
                                 .us = found.now.time_us,
                                 .bound_us = found.bound_us,
                                 .gap = found.gap};
    bool ok = found.changed == 0 || try_divisions(p, &found, before.device_us);
    arena_adopt(p->memory, found.memory); /* decisions point to the divisions */
    lx_cooptimised_free(&found);
    return ok;
}
