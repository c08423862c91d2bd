/* Nests that are asked for: they are in the plan whether they pay or not. What tensors are held with, where whole ones go
 * on, and how the ops of the nests are divided is searched for as with nests of the planner's own choice; ops outside of
 * them are divided as work division has it. */
#include "search/nest_edits.h"
#include "search/nest_options.h"
#include "base/checked.h"
#include "base/fail.h"

/* The set that is asked for, planned. */
static bool forced_nests_plan_asked(struct planner *p, struct nest_menus *menus, struct arena *memory)
{
    struct nest_set s;
    struct attempt next = {0};
    if (!nest_set_of(&p->best.draft, menus, memory, &s, p->st) ||
        !nests_asked(p->best.draft.layouts, p->options->nests, memory, &s.nests, &s.nest_count, p->st))
        return false;
    s.hold_count = 0;
    if (!nest_set_force(p, &s, &next)) return false;
    attempt_free(&p->best);
    p->best = next;
    return true;
}

bool force_nests(struct planner *p)
{
    struct nest_menus menus = {0};
    struct arena memory = {0};
    int32_t ops = p->best.draft.graph->op_count;
    int64_t tries = max_i64(60, min_i64(2000, 40000 / (ops + 1)));
    bool ok = forced_nests_plan_asked(p, &menus, &memory) &&
              (p->options->run.hasty || nest_set_refine_holds(p, &menus, &tries));
    arena_adopt(p->memory, &menus.memory); /* decisions point to the divisions */
    nest_menus_free(&menus);
    arena_free(&memory);
    return ok;
}
