/* The plan of a list whose file states a placement: by another maker, for the checker to judge. */
#include "plan/plan_make.h"

/* If everything is on chip within the capacities and costs nothing, plans differ by their heights. */
static enum lx_ask stated_question(const struct lx_list *list, const struct lx_problem *p)
{
    lx_status ignored;
    enum lx_rule rule;
    int64_t cost = 1;
    if (list->objective == LX_SPILL && !lx_left_out(p, list->address))
        lx_check_places(p, list->address_pool, list->address, &cost, &rule, &ignored);
    return cost == 0 ? LX_ASK_HEIGHT : LX_ASK_OWN;
}

struct lx_plan *lx_plan_stated(const struct lx_graph *g, lx_status *st)
{
    SCOPED(graph_free_at) const struct lx_graph *bare = lx_graph_with_places(g, NULL, NULL);
    const struct lx_list *list = bare->list;
    struct lx_solver maker = {.name = list->maker ? list->maker : "unknown"};
    struct lx_plan_options how = {.solver = &maker};
    struct lx_progress stated = {.address = list->address, .pool = list->address_pool};
    struct lx_problem problem;
    struct lx_plan *p = NULL;
    if (problem_of_list(bare, list->objective, &problem, st)) {
        how.objective = stated_question(list, &problem);
        p = lx_plan_of_answer(bare, &how, &stated, st);
    }
    if (!p) return NULL;
    p->answer.status = LX_FEASIBLE;
    p->answer.objective = lx_plan_objective(p);
    return p;
}
