/* How many steps a solver gets for one placement of a graph, where nobody says. A solver with levels of effort is asked for
 * as much as its level has; but what a step takes grows with the buffers, and a plan asks again and again. So at its usual
 * level, or below, it gets steps by the size of the problem: some tenths of a second for hundreds of buffers. Small problems
 * are proved within what the level has. */
#include "plan/planner.h"
#include "base/checked.h"

#include <string.h>

enum { SMALL = 200, STEPS_BY_BUFFERS = 20000000, LEAST_STEPS = 600 };

/* Is more asked for than the solver does by itself, or has it no levels? */
static bool is_all_asked(const struct lx_plan_options *o)
{
    const struct lx_solver *s = o->solver;
    for (int i = 0; i < s->option_count; i++)
        if (strcmp(s->options[i].name, "level") == 0)
            return o->run.options && o->run.options[i] > s->options[i].def;
    return true;
}

int64_t placement_steps(const struct planner *p, int32_t buffers)
{
    int64_t asked = p->options->run.work_limit;
    if (asked > 0 || buffers <= SMALL || is_all_asked(p->options)) return asked;
    return max_i64(LEAST_STEPS, STEPS_BY_BUFFERS / buffers);
}
