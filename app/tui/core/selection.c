/* Keeps buffer, op, tick and address of the selection consistent; a new plan finds them again by name. */
#include "tui/core/session.h"
#include "export/nest_words.h"

void session_select_buffer(struct session *s, int32_t buffer)
{
    const struct lx_plan *p = session_plan(s);
    const struct outcome *o = &s->shown;
    if (!p || buffer < 0 || buffer >= p->problem.count) return;
    s->selection.buffer = buffer;
    const struct lx_graph *g = outcome_graph(o);
    int32_t tensor = outcome_tensor(o, buffer);
    if (!g || tensor < 0) return;
    const struct lx_op *selected = s->selection.op >= 0 ? &g->ops[s->selection.op] : NULL;
    for (int k = 0; selected && k < op_operand_count(selected); k++)
        if (op_operand(selected, k) == tensor) return;
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

bool session_goto(struct session *s, const char *name)
{
    const struct lx_plan *p = session_plan(s);
    const struct lx_graph *g = s->has_shown ? outcome_graph(&s->shown) : NULL;
    int32_t buffer = 0, op = 0;
    if (!p) return false;
    while (buffer < p->problem.count && strcmp(p->problem.buffers[buffer].name, name) != 0) buffer++;
    while (g && op < g->op_count && strcmp(g->ops[op].name, name) != 0) op++;
    if (buffer < p->problem.count)
        session_select_buffer(s, buffer);
    else if (g && op < g->op_count)
        session_select_op(s, op);
    else
        return false;
    session_show_buffer(s);
    return true;
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

void session_keep_cursor(struct session *s)
{
    const struct lx_occupancy *t = &s->shown.time;
    struct selection *at = &s->selection;
    at->tick = min_i64(max_i64(at->tick, t->first), max_i64(t->last - 1, t->first));
    at->address = min_i64(max_i64(at->address, 0), s->shown.index.bands.limit - 1);
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

void session_keep_selection(struct session *s, const struct lx_plan *old)
{
    const struct outcome *o = &s->shown;
    const struct lx_plan *p = o->plan;
    const struct lx_graph *g = outcome_graph(o);
    struct selection *at = &s->selection;
    int32_t was = at->buffer, count = p ? p->problem.count : 0;
    at->buffer = -1;
    for (int32_t i = 0; old && was >= 0 && was < old->problem.count && at->buffer < 0 && i < count; i++)
        if (strcmp(p->problem.buffers[i].name, old->problem.buffers[was].name) == 0) at->buffer = i;
    const struct lx_graph *before = old && old->layouts ? old->layouts->graph : NULL;
    const char *op = before && at->op >= 0 && at->op < before->op_count ? before->ops[at->op].name : NULL;
    for (int32_t i = 0; op && g && i < g->op_count; i++)
        if (strcmp(g->ops[i].name, op) == 0) at->op = i;
    if (!g || at->op >= g->op_count) at->op = -1;
    if (at->buffer < 0 && count > 0) {
        /* The most expensive buffer that could be on chip and is not, else the most expensive one. */
        int32_t best = 0;
        for (int32_t i = 1; i < count; i++)
            if (p->problem.buffers[i].spill_cost > p->problem.buffers[best].spill_cost) best = i;
        bool avoidable = o->off_chip_count > 0 && !p->problem.buffers[o->off_chip[0]].reason;
        session_select_buffer(s, avoidable ? o->off_chip[0] : best);
    }
    if (at->tick < o->time.first || at->tick >= o->time.last) at->tick = o->time.first;
    if (p && at->core >= p->graph->device.cores) at->core = max_i64(p->graph->device.cores - 1, 0);
}

void session_select_nothing(struct session *s)
{
    s->selection.buffer = s->selection.op = -1;
    s->selection.tick = 0;
    s->selection.iteration = 0;
}
