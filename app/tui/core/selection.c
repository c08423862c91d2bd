/* Keeps buffer, tensor, op, tick and address in step: whoever sets one sets what belongs to it, and a new
 * plan finds them again by name. */
#include "tui/core/session.h"
#include "base/checked.h"
#include "picture/raster.h"
#include "export/nest_words.h"

#include <string.h>

/* Does the selected op read or write the tensor? */
static bool op_uses(const struct session *s, const struct lx_graph *g, int32_t tensor)
{
    const struct lx_op *op = s->selection.op >= 0 ? &g->ops[s->selection.op] : NULL;
    for (int k = 0; op && k < op_operand_count(op); k++)
        if (operand_tensor(op, k) == tensor) return true;
    return false;
}

void session_select_buffer(struct session *s, int32_t buffer)
{
    const struct lx_plan *p = session_plan(s);
    const struct outcome *o = &s->shown;
    if (!p || buffer < 0 || buffer >= p->problem.count) return;
    s->selection.buffer = buffer;
    const struct lx_graph *g = outcome_graph(o);
    int32_t tensor = outcome_tensor(o, buffer);
    if (!g || tensor < 0 || op_uses(s, g, tensor)) return;
    int32_t op = o->producer[tensor], first = o->reader_at[tensor];
    if (op < 0 && first < o->reader_at[tensor + 1]) op = o->readers[first];
    if (op >= 0) s->selection.op = op;
}

void session_select_op(struct session *s, int32_t op)
{
    const struct lx_graph *g = s->has_shown ? outcome_graph(&s->shown) : NULL;
    if (!g || op < 0 || op >= g->op_count) return;
    s->selection.op = op;
    int32_t buffer = outcome_buffer(&s->shown, g->ops[op].output);
    if (buffer >= 0) s->selection.buffer = buffer;
    s->selection.tick = op;
}

static bool select_named(struct session *s, const char *name)
{
    const struct lx_plan *p = session_plan(s);
    const struct lx_graph *g = s->has_shown ? outcome_graph(&s->shown) : NULL;
    for (int32_t i = 0; p && i < p->problem.count; i++)
        if (strcmp(p->problem.buffers[i].name, name) == 0) return session_select_buffer(s, i), true;
    for (int32_t i = 0; g && i < g->op_count; i++)
        if (strcmp(g->ops[i].name, name) == 0) return session_select_op(s, i), true;
    return false;
}

bool session_goto(struct session *s, const char *name)
{
    bool found = select_named(s, name);
    if (found) session_show_buffer(s);
    return found;
}

void session_show_buffer(struct session *s)
{
    const struct lx_plan *p = session_plan(s);
    struct selection *at = &s->selection;
    at->pointed = false;
    if (!p || at->buffer < 0 || at->buffer >= p->problem.count) return;
    const struct lx_buffer *b = &p->problem.buffers[at->buffer];
    if (!lx_is_alive(b, at->tick)) at->tick = b->start;
    if (p->answer.address[at->buffer] >= 0)
        at->address = plan_index_place(&s->shown.index, at->buffer) + max_i64(b->size / 2, 0);
    at->moves++;
}

int64_t session_highest(const struct session *s)
{
    return s->shown.index.bands.limit;
}

void session_keep_cursor(struct session *s)
{
    const struct lx_occupancy *t = &s->shown.time;
    struct selection *at = &s->selection;
    at->tick = min_i64(max_i64(at->tick, t->first), max_i64(t->last - 1, t->first));
    at->address = min_i64(max_i64(at->address, 0), session_highest(s) - 1);
}

void session_point(struct session *s, int64_t tick, int64_t address)
{
    struct selection *at = &s->selection;
    at->tick = tick;
    at->address = address;
    at->pointed = true;
    at->moves++;
    session_keep_cursor(s);
    int32_t buffer = plan_index_at(&s->shown.index, at->tick, at->address);
    if (buffer >= 0) session_select_buffer(s, buffer);
}

void session_look_into(struct session *s, int64_t core, int64_t address)
{
    s->selection.core = core;
    s->selection.address = address;
    s->selection.moves++;
}

void session_select_tick(struct session *s, int64_t tick)
{
    s->selection.tick = tick;
}

void session_select_core(struct session *s, int64_t core)
{
    const struct lx_plan *p = session_plan(s);
    if (p && core >= 0 && core < p->graph->device.cores) s->selection.core = core;
}

int32_t session_nest(const struct session *s)
{
    const struct lx_plan *p = session_plan(s);
    if (!p) return -1;
    int32_t at = plan_nest_at(p, s->selection.tick);
    return at >= 0 ? at : plan_nest_at(p, s->selection.op);
}

int64_t session_iteration(const struct session *s, int32_t nest)
{
    return min_i64(s->selection.iteration, nest_iterations(&session_plan(s)->nests[nest]) - 1);
}

void session_set_iteration(struct session *s, int64_t iteration)
{
    s->selection.iteration = max_i64(iteration, 0);
}

void session_swap_scale(struct session *s)
{
    s->selection.by_edges = !s->selection.by_edges;
}

/* What is looked at first: the dearest that could be on chip and is not, else the dearest that is. */
static int32_t most_interesting(const struct outcome *o)
{
    const struct lx_problem *p = &o->plan->problem;
    int32_t best = 0;
    if (o->off_chip_count > 0 && !p->buffers[o->off_chip[0]].reason) return o->off_chip[0];
    for (int32_t i = 1; i < p->count; i++)
        if (p->buffers[i].spill_cost > p->buffers[best].spill_cost) best = i;
    return best;
}

/* The buffer of the new plan that is called as the selected one was; -1: there is none. */
static int32_t of_the_same_name(const struct session *s, const struct lx_plan *old)
{
    const struct lx_plan *p = s->shown.plan;
    int32_t buffer = s->selection.buffer;
    if (!p || !old || buffer < 0 || buffer >= old->problem.count) return -1;
    for (int32_t i = 0; i < p->problem.count; i++)
        if (strcmp(p->problem.buffers[i].name, old->problem.buffers[buffer].name) == 0) return i;
    return -1;
}

void session_keep_selection(struct session *s, const struct lx_plan *old)
{
    const struct lx_plan *p = s->shown.plan;
    const struct lx_graph *g = outcome_graph(&s->shown);
    const struct lx_occupancy *t = &s->shown.time;
    struct selection *at = &s->selection;
    at->buffer = of_the_same_name(s, old);
    if (!g || at->op >= g->op_count) at->op = -1;
    if (p && at->buffer < 0 && p->problem.count > 0) session_select_buffer(s, most_interesting(&s->shown));
    if (at->tick < t->first || at->tick >= t->last) at->tick = t->first;
    if (p && at->core >= p->graph->device.cores) at->core = max_i64(p->graph->device.cores - 1, 0);
}

void session_select_nothing(struct session *s)
{
    s->selection.buffer = s->selection.op = -1;
    s->selection.tick = 0;
    s->selection.iteration = 0;
}
