/* The order of the runs. Repeats and seeds are the outer loops, so that the runs of one cell are far apart
 * and a slow minute of the machine hits everyone; solvers alternate on each instance, beginning with another
 * one each time, so that none always runs on a warm or a cold machine. The order depends on nothing else. */
#include "bench/bench.h"
#include "base/fail.h"

#include <string.h>

static bool run_order_answers(const struct lx_solver *s, enum lx_objective o)
{
    static const unsigned needed[] = {
        [LX_SPILL] = LX_CAN_SPILL, [LX_FIT] = LX_CAN_FIT, [LX_HEIGHT] = LX_CAN_HEIGHT};
    return s->caps & needed[o];
}

static bool say_who_cannot(struct call *call, const struct settings *s, const instances *list)
{
    for (size_t k = 0; k < s->solvers.count; k++)
        for (int o = LX_SPILL; o <= LX_HEIGHT; o++) {
            int64_t skipped = 0;
            for (size_t i = 0; i < list->count; i++)
                skipped += !list->at[i].bad && list->at[i].objective == (enum lx_objective)o;
            if (skipped && !run_order_answers(s->solvers.at[k].solver, (enum lx_objective)o))
                note(call, "%s does not answer the %s question: not run on %lld instances",
                     s->solvers.at[k].solver->name, lx_objective_word((enum lx_objective)o),
                     (long long)skipped);
        }
    return true;
}

static bool add_instance(const struct settings *s, const instances *list, int32_t i, int32_t seed,
                         int32_t repeat, schedule *out)
{
    int32_t count = (int32_t)s->solvers.count;
    if (list->at[i].bad) return seed + repeat > 0 || VEC_PUSH(out, (struct planned){i, -1, 0, 0});
    for (int32_t k = 0; k < count; k++) {
        int32_t solver = (k + i + seed + repeat) % count;
        const struct lx_solver *l = s->solvers.at[solver].solver;
        if (!run_order_answers(l, list->at[i].objective) || (seed > 0 && !(l->caps & LX_IS_SEEDED))) continue;
        if (!VEC_PUSH(out, (struct planned){i, solver, seed, repeat})) return false;
    }
    return true;
}

bool schedule_make(struct call *call, const struct settings *s, const instances *list, schedule *out)
{
    say_who_cannot(call, s, list);
    for (int32_t repeat = 0; repeat < s->repeats; repeat++)
        for (int32_t seed = 0; seed < s->seeds; seed++)
            for (int32_t i = 0; i < (int32_t)list->count; i++)
                if (!add_instance(s, list, i, seed, repeat, out)) return status_no_memory(&call->st);
    return true;
}
