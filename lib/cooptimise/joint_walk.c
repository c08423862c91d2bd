/* The search where choices have tiles: what one op chooses changes the lives and the costs of others, so
 * that bounds per op do not hold. All combinations where they are few, each placed; else one op after the
 * other takes the best of its choices, the others being as they are, until none gains. */
#include "cooptimise/joint_search.h"
#include "base/memory.h"

#include <string.h>

enum { MOST_COMBINATIONS = 4096 };

/* The next combination; false: it was the last. */
static bool joint_walk_advance(const struct lx_joint_problem *p, int32_t *choice)
{
    int32_t o = p->op_count - 1;
    for (; o >= 0 && choice[o] == p->ops[o].choice_count - 1; o--) choice[o] = 0;
    if (o < 0) return false;
    choice[o]++;
    return true;
}

/* Does a placement of least cost make the least of the objective: is all that it saves tolls, none of them
 * rounded? */
static bool placements_exact(const struct lx_joint_problem *p)
{
    int64_t tolls = 0;
    for (int32_t i = 0; i < p->buffer_count; i++)
        for (int32_t k = 0; k < p->buffers[i].access_count; k++) {
            if (p->buffers[i].accesses[k].memory) return false;
            tolls += p->buffers[i].accesses[k].toll;
        }
    return tolls <= LX_INT_MAX / 2;
}

bool joint_walk(struct joint_search *s, lx_status *st)
{
    int64_t before = INT64_MAX;
    int64_t all = 1;
    for (int32_t o = 0; o < s->p->op_count && all <= MOST_COMBINATIONS; o++) all *= s->p->ops[o].choice_count;
    if (all <= MOST_COMBINATIONS) {
        size_t bytes = (size_t)s->p->op_count * sizeof *s->trial.choice;
        int32_t *choice = mem_zeroed((size_t)s->p->op_count + 1, sizeof *choice);
        bool proved = placements_exact(s->p), more = true, ok = true;
        while (ok && more && s->steps < s->step_limit) {
            memcpy(s->trial.choice, choice, bytes);
            ok = joint_try_leaf(s, st);
            proved &= ok && s->last->proved;
            more = ok && joint_walk_advance(s->p, choice);
        }
        if (ok && !more && proved) s->bound = s->best.objective;
        mem_free(choice);
        return ok;
    }
    while (s->best.objective < before && s->steps < s->step_limit) {
        before = s->best.objective;
        for (int32_t o = 0; o < s->p->op_count; o++) {
            /* Every other choice of one op. */
            size_t bytes = (size_t)s->p->op_count * sizeof *s->best.choice;
            for (int32_t c = 0; c < s->p->ops[o].choice_count && s->steps < s->step_limit; c++) {
                if (s->best.choice[o] == c) continue;
                memcpy(s->trial.choice, s->best.choice, bytes);
                s->trial.choice[o] = c;
                if (!joint_try_leaf(s, st)) return false;
            }
        }
    }
    return true;
}
