/* From a divided graph to the joint problem.
 *
 * Every tensor is a buffer, every op an op at its own tick. What a tensor costs off chip is its device bytes
 * for every appearance as an operand. A cloned input is loaded once, by its first reader; an output that is
 * produced on chip is stored once, by its last writer. */
#include "cooptimise/cooptimise_problem.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "layout/op_index.h"

#include <string.h>

/* All times of a problem together stay below this; tolls may add as much again. */
static const int64_t most_time = (int64_t)1 << 58;

static void cooptimise_problem_gather(struct graph_problem *w)
{
    for (int32_t t = 0; t < w->g->tensor_count; t++)
        w->use[t].first_op = w->use[t].last_op = w->use[t].last_writer = -1;
    for (int32_t o = 0; o < w->g->op_count; o++)
        for (int i = 0; i < op_operand_count(&w->g->ops[o]); i++) {
            const struct lx_op *op = &w->g->ops[o];
            struct tensor_use *u = &w->use[op_operand(op, i)];
            u->access_count++;
            if (i >= op->input_count)
                u->last_writer = o;
            else if (u->last_op != o || u->access_count == 1)
                u->reader_count++;
            if (u->first_op < 0) u->first_op = o;
            u->last_op = o;
            if (w->d->at[o].kind != LX_DIVIDED && !u->stuck) u->stuck = op;
        }
}

/* The first reason that holds, or NULL. */
static const char *cooptimise_problem_reason_of(struct graph_problem *w,
                                                const struct lx_cooptimise_options *how, int32_t t)
{
    const struct tensor_use *u = &w->use[t];
    enum lx_role role = w->g->tensors[t].role;
    if (u->access_count == 0) return "no op uses it";
    if (u->stuck && (u->stuck->kind->traits & LX_EXTERN))
        return arena_format(&w->memory, "op %s is extern and works on HBM only", u->stuck->name);
    if (u->stuck) return arena_format(&w->memory, "op %s: its index map is not known", u->stuck->name);
    if (role == LX_STATE) return "a state: its home is HBM";
    if (lx_role_arrives(role)) {
        if (!how->clone_inputs) return "graph input: it arrives in HBM";
        if (u->access_count < 2) return "graph input: read once, so that a copy on chip saves nothing";
    }
    if (lx_role_leaves(role) && (!how->outputs_on_chip || u->reader_count == 0))
        return "graph output: it leaves through HBM";
    return NULL;
}

static bool cooptimise_problem_find_reasons(struct graph_problem *w, const struct lx_cooptimise_options *how,
                                            lx_status *st)
{
    for (int32_t t = 0; t < w->g->tensor_count; t++) {
        const struct lx_layout *y = &w->d->layouts->layouts[t];
        const char *reason = cooptimise_problem_reason_of(w, how, t);
        w->reason[t] = reason;
        w->bytes[t] = y->rank > 0 ? lx_layout_bytes(y) : w->g->tensors[t].bytes;
        if (w->bytes[t] > LX_INT_MAX)
            return status_set(st, LX_E_RANGE, "tensor %s is beyond 2^53 bytes", w->g->tensors[t].name);
        for (int32_t k = 0; k < w->use[t].access_count; k++)
            if (!add_i64(w->traffic, w->bytes[t], &w->traffic) || w->traffic > LX_INT_MAX)
                return status_set(st, LX_E_RANGE,
                                  "the traffic of all operands together is beyond 2^53 bytes");
        for (int64_t a = w->bytes[t], r; a > 0; a = r) { /* the greatest common divisor */
            r = w->grain % a;
            w->grain = a;
        }
    }
    return true;
}

/* May `op` write its output over tensor `in`? The same bytes in the same order wherever it reads it, and the
 * tensor dies here. */
static bool in_place(const struct graph_problem *w, int32_t o, int32_t in)
{
    const struct lx_op *op = &w->g->ops[o];
    const struct lx_layout *y = w->d->layouts->layouts;
    if (!(op->kind->traits & LX_IN_PLACE) || op->reduces || !op->map || op_operand_made(op, in) >= 0)
        return false;
    if (w->use[in].last_op != o || w->use[op->output].first_op != o) return false;
    if (!lx_layout_equal(&y[in], &y[op->output]) || op->map->walks) return false;
    for (int i = 0; i < op->input_count; i++)
        if (op->inputs[i] == in &&
            (op->map->rank[i] != op->map->rank[op->input_count] ||
             memcmp(op->map->index[i], op->map->index[op->input_count], (size_t)op->map->rank[i]) != 0))
            return false;
    return true;
}

static void add_parents(const struct graph_problem *w, struct lx_joint_buffer *buffers, struct arena *memory)
{
    for (int32_t o = 0; o < w->g->op_count; o++) {
        const struct lx_op *op = &w->g->ops[o];
        struct lx_joint_buffer *child = &buffers[op->output];
        int32_t parents[LX_MAX_INPUTS], count = 0;
        if (child->reason || w->use[op->output].first_op != o) continue;
        for (int i = 0; i < op->input_count; i++) {
            bool again = false;
            for (int32_t k = 0; k < count; k++) again |= parents[k] == op->inputs[i];
            if (!again && !buffers[op->inputs[i]].reason && in_place(w, o, op->inputs[i]))
                parents[count++] = op->inputs[i];
        }
        child->parents = arena_copy_array(memory, parents, (size_t)count, sizeof *parents);
        child->parent_count = count;
    }
}

static void fill_buffers(struct graph_problem *w, struct lx_joint_buffer *buffers)
{
    const struct lx_graph *g = w->g;
    struct lx_joint_access **list = w->accesses;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct tensor_use *u = &w->use[t];
        bool given = lx_role_arrives(g->tensors[t].role);
        buffers[t] = (struct lx_joint_buffer){.name = g->tensors[t].name,
                                              .bytes = w->bytes[t],
                                              .start = u->access_count ? u->first_op : 0,
                                              .end = u->access_count ? u->last_op + 1 : 1,
                                              .first_use_is_read = given,
                                              .reason = w->reason[t]};
        list[t] = arena_array(&w->memory, (size_t)u->access_count, sizeof **list);
        buffers[t].accesses = list[t];
    }
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct op_menu *menu = &w->menus.at[w->menus.of_op[o]];
        for (int i = 0; i < op_operand_count(&g->ops[o]); i++) {
            int32_t t = op_operand(&g->ops[o], i);
            struct lx_joint_buffer *b = &buffers[t];
            bool load = b->first_use_is_read && b->access_count == 0;
            bool store = lx_role_leaves(g->tensors[t].role) && i >= g->ops[o].input_count &&
                         w->use[t].last_writer == o;
            list[t][b->access_count++] =
                (struct lx_joint_access){.op = o,
                                         .always = load || store,
                                         .memory = &menu->memory[(int64_t)i * menu->count],
                                         .label = b->reason ? NULL : &menu->label[(int64_t)i * menu->count]};
        }
    }
    add_parents(w, buffers, &w->memory);
}

/* Sums up the worst times, and halves all of them as often as the sum needs. */
static void fit_times(struct graph_problem *w)
{
    double total = 0;
    for (int32_t o = 0; o < w->g->op_count; o++) {
        const struct op_menu *m = &w->menus.at[w->menus.of_op[o]];
        int64_t most = 0;
        for (int32_t c = 0; c < m->count; c++) {
            int64_t time = m->compute[c] + m->extra[c];
            for (int i = 0; i < m->operand_count; i++) time += m->memory[(int64_t)i * m->count + c];
            most = max_i64(most, time);
        }
        total += (double)most;
    }
    for (; total >= (double)most_time; total /= 2) w->shift++;
    w->worst_time = (int64_t)total + w->g->op_count; /* what rounding may have taken */
    for (int32_t k = 0; w->shift > 0 && k < w->menus.count; k++) {
        struct op_menu *m = &w->menus.at[k];
        for (int32_t c = 0; c < m->count; c++) m->compute[c] >>= w->shift;
        for (int32_t c = 0; c < m->count; c++) m->extra[c] >>= w->shift;
        for (int64_t c = 0; c < (int64_t)m->count * m->operand_count; c++) m->memory[c] >>= w->shift;
    }
}

bool graph_problem_make(struct graph_problem *w, const struct lx_divisions *d,
                        const struct lx_cooptimise_options *how, lx_status *st)
{
    const struct lx_graph *g = d->layouts->graph;
    size_t tensors = (size_t)g->tensor_count;
    *w = (struct graph_problem){.d = d, .g = g};
    w->use = arena_array(&w->memory, tensors, sizeof *w->use);
    w->reason = arena_array(&w->memory, tensors, sizeof *w->reason);
    w->bytes = arena_array(&w->memory, tensors, sizeof *w->bytes);
    w->accesses = arena_array(&w->memory, tensors, sizeof *w->accesses);
    struct lx_joint_op *ops = arena_array(&w->memory, (size_t)g->op_count, sizeof *ops);
    struct lx_joint_buffer *buffers = arena_array(&w->memory, tensors, sizeof *buffers);
    cooptimise_problem_gather(w);
    if (!cooptimise_problem_find_reasons(w, how, st) || !op_menus_make(d, &w->memory, &w->menus, st))
        return false;
    fit_times(w);
    fill_buffers(w, buffers);
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct op_menu *m = &w->menus.at[w->menus.of_op[o]];
        ops[o] = (struct lx_joint_op){.name = g->ops[o].name,
                                      .tick = o,
                                      .choice_count = m->count,
                                      .seed = m->seed,
                                      .compute = m->compute,
                                      .extra = m->extra,
                                      .flip = m->flip};
    }
    w->problem = (struct lx_joint_problem){.capacity = how->capacity > 0 ? how->capacity
                                                                         : lx_device_usable(&g->device),
                                           .alignment = g->device.stick_bytes,
                                           .op_count = g->op_count,
                                           .buffer_count = g->tensor_count,
                                           .label_count = w->menus.label_count,
                                           .ops = ops,
                                           .buffers = buffers,
                                           .label_size = w->menus.label_size};
    return true;
}

void graph_problem_free(struct graph_problem *w)
{
    arena_free(&w->memory);
}

void graph_problem_toll(struct graph_problem *w, int64_t units_per_byte)
{
    for (int32_t t = 0; t < w->g->tensor_count; t++)
        for (int32_t k = 0; k < w->use[t].access_count; k++)
            w->accesses[t][k].toll = w->bytes[t] * units_per_byte;
}

void graph_problem_measure(const struct graph_problem *w, const int32_t *choice, const int64_t *address,
                           struct lx_cooptimise_figures *out, int64_t *units)
{
    int64_t *memory = mem_zeroed((size_t)w->g->op_count + 1, sizeof *memory), time = 0;
    *out = (struct lx_cooptimise_figures){0};
    for (int32_t t = 0; t < w->g->tensor_count; t++) {
        const struct lx_joint_buffer *b = &w->problem.buffers[t];
        out->on_chip += address[t] >= 0;
        for (int32_t k = 0; k < b->access_count; k++) {
            const struct lx_joint_access *a = &b->accesses[k];
            if (address[t] >= 0 && !a->always) continue;
            out->traffic_bytes += w->bytes[t];
            memory[a->op] += a->memory[choice[a->op]];
        }
    }
    for (int32_t o = 0; o < w->g->op_count; o++) {
        const struct lx_joint_op *op = &w->problem.ops[o];
        time += max_i64(op->compute[choice[o]], memory[o]) + op->extra[choice[o]];
    }
    out->time_us = (double)time * (double)((int64_t)1 << w->shift) / 1e6;
    *units = time;
    mem_free(memory);
}
