/* The plan object: made, filled, shared, freed; its value and bound. */
#include "plan/plan_make.h"
#include "base/users.h"

static void plan_release(const void *p)
{
    lx_plan_free(p);
}

struct lx_plan *plan_new(const struct lx_graph *g)
{
    struct arena *memory = mem_zeroed(1, sizeof *memory);
    struct lx_plan *p = arena_alloc(memory, sizeof *p);
    p->memory = memory;
    p->users = users_new(memory, p, plan_release);
    p->graph = lx_graph_ref(g);
    p->imported = (g->came_from ? g->came_from : g)->imported;
    p->solver = "";
    p->options = "";
    return p;
}

const struct lx_plan *lx_plan_ref(const struct lx_plan *p)
{
    if (p) users_add(p->users);
    return p;
}

struct lx_plan *plan_twin(const struct lx_plan *p)
{
    struct lx_plan *twin = plan_new(p->graph);
    struct arena *memory = twin->memory;
    struct users *users = twin->users;
    *twin = *p;
    twin->memory = memory;
    twin->users = users;
    twin->lender = lx_plan_ref(p);
    twin->ready = NULL;
    return twin;
}

void lx_plan_free(const struct lx_plan *p)
{
    if (!p || !users_remove(p->users)) return;
    OWNED struct arena *memory = p->memory;                           /* owns the plan itself */
    if (p->draft && p->draft->memory == memory) draft_free(p->draft); /* else the lender's */
    if (p->lender)
        lx_plan_free(p->lender);
    else {
        lx_divisions_free(p->own_divisions);
        lx_layouts_free(p->own_layouts);
    }
    lx_graph_free(p->graph);
    arena_free(memory);
}

void plan_off_chip(struct lx_plan *p)
{
    p->answer.address = arena_array(p->memory, (size_t)p->problem.count, sizeof *p->answer.address);
    if (p->problem.pool_count)
        p->answer.pool = arena_array(p->memory, (size_t)p->problem.count, sizeof *p->answer.pool);
    for (int32_t i = 0; i < p->problem.count; i++) p->answer.address[i] = LX_OFF_CHIP;
}

bool plan_of_list(struct lx_plan *p, enum lx_objective objective, lx_status *st)
{
    if (!problem_of_list(p->graph, objective, &p->problem, st)) return false;
    plan_off_chip(p);
    return true;
}

bool plan_divide(struct lx_plan *p, const struct lx_passes *passes, const struct lx_plan_options *options,
                 lx_status *st)
{
    struct lx_divide_options how = lx_passes_divide(passes);
    how.nests = passes->tile != LX_TILE_NONE;
    const struct lx_plan *like = options ? options->like : NULL;
    p->passes = *passes;
    struct lx_divide_options its = like ? lx_passes_divide(&like->passes) : how;
    if (like && like->lends && like->graph->hash == p->graph->hash &&
        strcmp(like->graph->name, p->graph->name) == 0 && its.cores == how.cores &&
        its.no_cost == how.no_cost && (like->passes.tile != LX_TILE_NONE) == how.nests &&
        like->passes.weights == passes->weights) {
        p->lender = lx_plan_ref(like->lender ? like->lender : like);
        p->own_layouts = p->lender->own_layouts;
        p->own_divisions = p->lender->own_divisions;
        return p->lends = true;
    }
    struct cancel token; /* a quarter of the time: the rest of the plan takes longer */
    cancel_begin(&token, options ? options->run.time_limit / 4 : 0);
    p->own_layouts = lx_layouts_make(p->graph, (enum lx_weights)passes->weights, st);
    cancel_end(&token);
    if (p->own_layouts) lx_layouts_fit_spans(p->own_layouts, &how);
    p->own_divisions = p->own_layouts ? lx_divide(p->own_layouts, &how, st) : NULL;
    p->lends = p->own_divisions != NULL;
    return p->lends;
}

void plan_adopt(struct lx_plan *p, const struct draft *x)
{
    p->draft = arena_copy_array(p->memory, x, 1, sizeof *x);
    p->how = &p->draft->how;
    p->draft->memory = p->memory;
    p->draft->pulls = NULL; /* several threads may read the plan */
    p->layouts = x->layouts;
    p->divisions = x->divisions;
    p->order = x->how.order;
    p->nests = x->how.nests;
    p->nest_count = x->how.nest_count;
    p->problem = x->problem;
    p->stays = x->stays;
    p->accesses = x->accesses;
    p->access_at = x->access_at;
}

void plan_settle(struct lx_plan *p)
{
    bool least = lx_plan_gap(p) <= 0 && (p->asks_time || lx_plan_objective(p) == p->figures.bound_bytes);
    if (p->graph->list || p->problem.objective != LX_SPILL || p->answer.status == LX_ERROR) return;
    if (least) {
        p->answer.status = LX_OPTIMAL;
        p->unproved = NULL;
    } else if (p->answer.status != LX_LIMIT)
        p->answer.status = LX_FEASIBLE;
}

bool lx_plan_meets_target(const struct lx_plan *p)
{
    return p->graph->target_hbm_bytes < 0 || p->figures.hbm_bytes <= p->graph->target_hbm_bytes;
}

int64_t lx_plan_objective(const struct lx_plan *p)
{
    if (p->problem.objective != LX_HEIGHT) return p->figures.spill_bytes;
    return lx_left_out(&p->problem, p->answer.address) ? INT64_MAX : p->figures.height_bytes;
}

int64_t lx_plan_value(const struct lx_plan *p)
{
    return p->problem.objective == LX_HEIGHT ? lx_plan_objective(p) : p->figures.hbm_bytes;
}

int64_t lx_plan_least(const struct lx_plan *p)
{
    if (p->problem.objective == LX_HEIGHT) return p->figures.bound_bytes;
    return p->figures.perfect_hbm_bytes + p->figures.bound_bytes;
}

double lx_plan_gap(const struct lx_plan *p)
{
    double us = p->figures.end_to_end_us, least = p->figures.bound_us;
    if (!p->asks_time) return lx_gap(lx_plan_value(p), lx_plan_least(p));
    if (us <= least * (1 + 1e-7)) return 0;
    return least > 0 ? (us - least) / least : INFINITY;
}

int32_t lx_plan_place(const struct lx_plan *p, int32_t op, int operand)
{
    int32_t stay = p->accesses[p->access_at[op] + operand].stay;
    return stay >= 0 && p->answer.address[stay] >= 0 ? stay : -1;
}

bool plan_wants_on_chip(const struct lx_plan *p, int32_t tensor)
{
    return p->layouts->graph->tensors[tensor].memory == 1 + LX_MEMORY_LX;
}

bool lx_plan_stated_met(const struct lx_plan *p, lx_status *st)
{
    for (int32_t o = 0; p->layouts && o < p->layouts->graph->op_count; o++) {
        const struct lx_op *op = &p->layouts->graph->ops[o];
        for (int i = 0; i < op_operand_count(op); i++) {
            int32_t tensor = op_operand(op, i), stay = p->accesses[p->access_at[o] + i].stay;
            bool placed = lx_plan_place(p, o, i) >= 0;
            if (placed && p->layouts->graph->tensors[tensor].memory == 1 + LX_MEMORY_HBM)
                return status_set(st, LX_E_NO, "the pattern says that %s is in HBM, but op %s has it on chip",
                                  p->layouts->graph->tensors[tensor].name, op->name);
            if (!plan_wants_on_chip(p, tensor) || placed) continue;
            return status_set(st, LX_E_NO, "the pattern says that %s is in lx, but op %s has it in HBM: %s",
                              p->layouts->graph->tensors[tensor].name, op->name,
                              stay >= 0 && p->reason[stay] ? p->reason[stay] : "no stay on chip serves it");
        }
    }
    return true;
}
