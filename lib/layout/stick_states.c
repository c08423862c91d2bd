/* States of the beam: applying an op to a state, and dominance. */
#include "layout/stick_search.h"

int64_t stick_realign_cost(const struct stick_search *s, const struct lx_op *op, const struct stick_way *w)
{
    if (!w->realigns) return 0;
    return min_i64(stick_elements_of(&s->costs, op->inputs[0], stick_for_need(w->need[0])),
                   stick_elements_of(&s->costs, op->output, stick_for_need(w->need[1])));
}

/* Counts the elements of a result or copy. */
static void stick_lay_out(const struct stick_search *s, int32_t t, int stick, struct stick_node *to)
{
    int64_t elements = stick_elements_of(&s->costs, t, stick);
    to->footprint = add_saturated(to->footprint, elements);
    if (s->by_size) to->moved = add_saturated(to->moved, elements);
}

/* Applies way `w` to the state in `row`; false if the way is impossible there. */
static bool stick_apply(const struct stick_search *s, const struct lx_op *op, int way, int32_t *row,
                        struct stick_node *to)
{
    const struct lx_graph *g = s->g;
    const struct stick_way *w = &s->ways[way];
    to->moved = add_saturated(to->moved, stick_realign_cost(s, op, w));
    for (int i = 0; i < op->input_count; i++) {
        int32_t t = op->inputs[i];
        const struct lx_tensor *tensor = &g->tensors[t];
        int32_t ts = s->slot[t] >= 0 ? row[s->slot[t]] : s->uses.packed[t] ? 0 : FRESH(stick_default(tensor));
        int primary = PRIMARY(ts), wanted = stick_for_need(w->need[i]);
        if (tensor->rank < 0) continue;
        if (ts == 0 || !s->uses.packed[t]) to->moved = add_saturated(to->moved, s->packing[way][i]);
        if (ts == 0) { /* the first reader of a free tensor decides */
            primary = stick_first(tensor, w->need[i]);
            ts = FRESH(primary);
            to->footprint += primary != stick_default(tensor); /* of equals, the file's */
            if (s->slot[t] >= 0) row[s->slot[t]] = ts;
        }
        if (w->turns && primary == w->need[1]) return false;
        if (stick_satisfies(tensor, primary, w->need[i]) || HAS(ts, wanted)) continue;
        to->moved = add_saturated(to->moved, stick_move_cost(&s->costs, t, COPIES(ts), wanted));
        stick_lay_out(s, t, wanted, to);
        if (s->slot[t] >= 0) row[s->slot[t]] = WITH(ts, wanted);
    }
    for (int i = op->input_count; i < op_operand_count(op); i++) {
        int32_t t = op_operand(op, i);
        const struct lx_tensor *out = &g->tensors[t];
        int stick = w->need[i] == STICK_ANY ? stick_default(out) : stick_for_need(w->need[i]);
        if (out->rank < 0) continue;
        int32_t *slot = &row[s->slot[t]], before = *slot;
        *slot = FRESH(before ? PRIMARY(before) : stick);
        /* An earlier op wrote the tensor: its layout stands. */
        if (before ? !stick_satisfies(out, PRIMARY(before), w->need[i])
                   : stick_elements_of(&s->costs, t, stick) == INT64_MAX)
            return false;
        if (!before) stick_lay_out(s, t, stick, to);
    }
    return to->moved < INT64_MAX;
}

bool stick_dominates(const void *search, const void *a, const int32_t *row_a, const void *b,
                     const int32_t *row_b)
{
    const struct stick_search *s = search;
    const struct stick_node *y = b;
    struct stick_node all;
    memcpy(&all, a, sizeof all);
    /* Recently touched tensors decide most often. */
    for (int32_t k = s->beam.compared_count + s->changed_count; k-- > 0 && all.moved <= y->moved;) {
        int32_t i = k < s->beam.compared_count ? s->beam.compared[k] : s->changed[k - s->beam.compared_count];
        int32_t t = s->tensor_at[i];
        if (row_a[i] == row_b[i]) continue;
        if (s->uses.rigid[t] && PRIMARY(row_a[i]) != PRIMARY(row_b[i])) return false;
        unsigned lacks = COPIES(row_b[i]) & ~COPIES(row_a[i]);
        for (int stick = -1; lacks >> (stick + 1); stick++) {
            if (!(lacks >> (stick + 1) & 1)) continue;
            all.moved = add_saturated(all.moved, stick_move_cost(&s->costs, t, COPIES(row_a[i]), stick));
            stick_lay_out(s, t, stick, &all);
        }
    }
    return all.moved < y->moved || (all.moved == y->moved && all.footprint <= y->footprint);
}

void stick_take_slot(struct stick_search *s, int32_t tensor)
{
    if (s->slot[tensor] >= 0) return;
    s->slot[tensor] = s->free_slots[--s->free_count];
    s->tensor_at[s->slot[tensor]] = tensor;
}

/* The largest number of slices, at most `most`, into which a weight of the op can be cut. Slices of a sum all
 * meet again and do not count. */
static int64_t packing_slices(const struct stick_search *s, const struct op_index *x, int operand, int32_t t,
                              int stick, int64_t most)
{
    const struct lx_tensor *tensor = &s->g->tensors[t];
    int64_t slices = 1, e = lx_stick_elements(tensor->dtype, s->g->device.stick_bytes);
    for (int d = 0; d < tensor->rank; d++) {
        int64_t units = d == stick ? ceil_div_i64(tensor->shape[d], e) : tensor->shape[d], f = most / slices;
        if (op_index_reduced(x, x->var[operand][d])) continue;
        while (units % f != 0) f--;
        slices *= f;
    }
    return slices;
}

/* Elements of an input as a way has it: a kernel's rows go up to whole sticks of the other input. */
static int64_t packing_elements(const struct stick_search *s, const struct lx_op *op,
                                const struct op_index *x, const struct stick_way *w, int operand)
{
    int32_t t = op->inputs[operand];
    int stick = stick_first(&s->g->tensors[t], w->need[operand]);
    int64_t elements = stick_elements_of(&s->costs, t, stick);
    if (w->kernel != operand || op_index_dim(x, operand, w->kernel_row) == stick || elements == INT64_MAX)
        return elements;
    enum lx_dtype other = s->g->tensors[op->inputs[1 - operand]].dtype;
    int64_t rows = x->extent[w->kernel_row];
    return rows == 1
               ? elements
               : elements / rows * round_up_i64(rows, lx_stick_elements(other, s->g->device.stick_bytes));
}

/* What an input costs, in elements: for a packed weight those beyond its smallest layout, for others the padding
 * of a kernel's rows. The memory waits where it has fewer than FULL_RATE slices of a weight larger than a
 * scratchpad to deliver. */
static int64_t packing_cost(const struct stick_search *s, const struct lx_op *op, const struct op_index *x,
                            const struct stick_way *w, int operand)
{
    enum { FULL_RATE = 4 };
    int32_t t = op->inputs[operand];
    const struct lx_tensor *tensor = &s->g->tensors[t];
    if (!x->known) return 0;
    int64_t elements = packing_elements(s, op, x, w, operand), least = elements;
    if (!s->uses.packed[t])
        return elements < INT64_MAX
                   ? elements - stick_elements_of(&s->costs, t, stick_first(tensor, w->need[operand]))
                   : 0;
    int64_t wanted = min_i64(s->g->device.cores, FULL_RATE);
    int64_t slices =
        packing_slices(s, x, operand, t, stick_first(tensor, w->need[operand]), s->g->device.cores);
    for (int d = 0; d < tensor->rank; d++) least = min_i64(least, stick_elements_of(&s->costs, t, d));
    if (elements > INT64_MAX / FULL_RATE) return INT64_MAX;
    if (elements * lx_dtype_bits(tensor->dtype) / 8 <= lx_device_usable(&s->g->device))
        return elements - least;
    return elements - least + (slices < wanted ? elements / slices * (wanted - slices) : 0);
}

void stick_begin_op(struct stick_search *s, int32_t o)
{
    const struct lx_op *op = &s->g->ops[o];
    struct op_index x;
    op_index_of(s->g, op, &x);
    s->way_count = stick_ways(s->g, op, &x, s->ways);
    for (int w = 0; w < s->way_count; w++)
        for (int i = 0; i < op->input_count; i++) s->packing[w][i] = packing_cost(s, op, &x, &s->ways[w], i);
    s->changed_count = 0;
    for (int k = 0; k < op_operand_count(op); k++) {
        if (k >= op->input_count) stick_take_slot(s, op_operand(op, k));
        int32_t slot = s->slot[op_operand(op, k)], i = 0;
        while (i < s->changed_count && s->changed[i] != slot) i++;
        if (slot >= 0 && i == s->changed_count) s->changed[s->changed_count++] = slot;
    }
    beam_step(&s->beam, s->changed, s->changed_count);
}

void stick_offer(struct stick_search *s, int32_t o, int32_t from, int way)
{
    const int32_t *row = beam_row_of(&s->beam, from);
    int32_t numbers[LX_MAX_OPERANDS];
    struct stick_node to = *stick_node_of(s, from);
    for (int32_t k = 0; k < s->changed_count; k++) s->row[s->changed[k]] = row[s->changed[k]];
    if (!stick_apply(s, &s->g->ops[o], way, s->row, &to)) return;
    for (int32_t k = 0; k < s->changed_count; k++) /* forget tensors after their last use */
        numbers[k] = s->uses.last_use[s->tensor_at[s->changed[k]]] == o ? 0 : s->row[s->changed[k]];
    to.base.rank = min_i64(add_saturated(to.moved, s->least_after[o + 1]), INT64_MAX - 1);
    to.base.tie = to.footprint;
    beam_offer(&s->beam, from, way, &to, numbers);
}

void stick_end_op(struct stick_search *s, int32_t o, int32_t width)
{
    const struct lx_op *op = &s->g->ops[o];
    s->beam.width = width;
    beam_settle(&s->beam);
    for (int k = 0; k < op_operand_count(op); k++) {
        int32_t t = op_operand(op, k);
        if (s->uses.last_use[t] != o || s->slot[t] < 0) continue;
        s->free_slots[s->free_count++] = s->slot[t];
        s->slot[t] = -1;
    }
}

/* Uses of tensors by live ops. A tensor is rigid if several ops write it (the first writer's layout holds),
 * or if a restickify of the graph reads it. */

/* State tensors, and inputs with several readers, live from the start; others from their first writer on. */
static int32_t most_live(const struct lx_graph *g, const bool *alive, const struct tensor_uses *u)
{
    int32_t live = 0, most = 0;
    OWNED bool *early = mem_zeroed((size_t)g->tensor_count + 1, sizeof *early);
    for (int32_t t = 0; t < g->tensor_count; t++)
        live += early[t] =
            (!u->written[t] && u->readers[t] > 1) || (g->tensors[t].role == LX_STATE && u->first[t] >= 0);
    most = live;
    for (int32_t o = 0; o < g->op_count; o++) {
        if (!alive[o]) continue;
        const struct lx_op *op = &g->ops[o];
        for (int i = op->input_count; i < op_operand_count(op); i++)
            live += u->first[op_operand(op, i)] == o && g->tensors[op_operand(op, i)].role != LX_STATE;
        if (live > most) most = live;
        for (int i = 0; i < op_operand_count(op); i++) {
            int32_t t = op_operand(op, i);
            bool again = false;
            for (int k = 0; k < i; k++) again |= op_operand(op, k) == t;
            if (!again && u->last_use[t] == o && (u->written[t] || early[t])) live--;
        }
    }
    return most;
}

void tensor_uses_make(const struct lx_graph *g, const bool *alive, enum lx_weights weights,
                      struct tensor_uses *out)
{
    size_t tensors = (size_t)g->tensor_count + 1;
    *out = (struct tensor_uses){0};
    out->first = mem_alloc(tensors * sizeof *out->first);
    out->last_use = mem_alloc(tensors * sizeof *out->last_use);
    out->readers = mem_zeroed(tensors, sizeof *out->readers);
    out->written = mem_zeroed(tensors, sizeof *out->written);
    out->rigid = mem_zeroed(tensors, sizeof *out->rigid);
    out->packed = mem_zeroed(tensors, sizeof *out->packed);
    for (int32_t t = 0; t < g->tensor_count; t++) out->last_use[t] = out->first[t] = -1;
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        for (int i = 0; alive[o] && i < op_operand_count(op); i++) {
            int32_t t = op_operand(op, i);
            out->last_use[t] = o;
            if (out->first[t] < 0) out->first[t] = o;
            if (i < op->input_count) {
                out->readers[t]++;
            } else {
                out->rigid[t] |= out->written[t];
                out->written[t] = true;
            }
        }
        if (alive[o] && op_is_restickify(op)) out->rigid[op->inputs[0]] = true;
    }
    for (int32_t t = 0; t < g->tensor_count; t++)
        out->packed[t] = weights == LX_WEIGHTS_FREE && g->tensors[t].role == LX_WEIGHT &&
                         g->tensors[t].rank > 0 && !out->rigid[t];
    out->most_live = most_live(g, alive, out);
}

void tensor_uses_free(struct tensor_uses *u)
{
    mem_free(u->first);
    mem_free(u->last_use);
    mem_free(u->readers);
    mem_free(u->written);
    mem_free(u->rigid);
    mem_free(u->packed);
}
