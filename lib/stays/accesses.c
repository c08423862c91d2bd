/* Accesses of tensors by ops, and their HBM bytes: each touched stick counts once.
 *
 * The levels of a nest that index a tensor cut it into slices. A stay holds the slice that the levels up to
 * its hold fix. Held at the innermost level, it is a tile that lives from its first to its last access in the
 * body; else it covers the whole run, since the loops inside come back. A sum over a level is held outside
 * all levels of the sum, or its partial sums are stored and loaded. */
#include "stays/draft.h"
#include "graph/choice.h"
#include "layout/op_index.h"

int64_t tensor_bytes(const struct lx_layouts *l, int32_t tensor)
{
    const struct lx_layout *y = &l->layouts[tensor];
    return y->rank > 0 ? lx_layout_bytes(y) : l->graph->tensors[tensor].bytes;
}

int64_t operand_bytes(const struct lx_divisions *d, int32_t op, int operand)
{
    int32_t tensor = op_operand(&d->layouts->graph->ops[op], operand),
            n = nest_of_op(d->nests, d->nest_count, op);
    int64_t whole = tensor_bytes(d->layouts, tensor);
    if (n < 0) return whole;
    struct nest_tensor t = nest_tensor_of(d->layouts, &d->nests[n], tensor);
    return whole * nest_product(&d->nests[n], levels_to(LX_MAX_LEVELS) & ~t.indexed);
}

int64_t steps_touched(int64_t offset, int64_t stride, int64_t from, int64_t to, int64_t size, int64_t step)
{
    int64_t first = offset >= 0 ? from : max_i64(from, ceil_div_i64(-offset, stride));
    int64_t last = min_i64(to - 1, offset < size ? (size - 1 - offset) / stride : -1);
    if (first > last) return 0;
    if (stride >= step) return last - first + 1;
    return (offset + stride * last) / step - (offset + stride * first) / step + 1;
}

/* The sticks of all picks of an operand that the op picks from, in all iterations of its nest (NULL: none). An
 * iteration moves at most what it has of the operand. A window may touch one position more than its indices
 * fill. */
static int64_t access_picked_bytes(const struct lx_layouts *l, int32_t o, const struct lx_choice *c,
                                   const struct lx_nest *n)
{
    const struct lx_op *op = &l->graph->ops[o];
    const struct lx_einsum *m = op->map;
    const struct lx_layout *y = &l->layouts[op_operand(op, c->operand)];
    int64_t tiles[LX_MAX_VARS], times = n ? nest_iterations(n) : 1, picked = 1, whole = 1;
    for (int v = 0; v < LX_MAX_VARS; v++) tiles[v] = 1;
    if (n) nest_op_tiles(n, o, tiles);
    for (int v = 0; v < m->var_count; v++)
        if (v != c->vector && lx_choice_by(op, c, v) && !mul_i64(picked, m->extent[v] / tiles[v], &picked))
            picked = LX_INT_MAX;
    for (int k = 0; k < y->rank - 1; k++) {
        int v = y->host_dim[k] < 0 ? -1 : m->index[c->operand][(int)y->host_dim[k]], window = -2;
        int64_t positions = y->size[k] / (v < 0 ? 1 : tiles[v]), chosen = positions;
        for (int a = 0; v >= 0 && a < c->axis_count; a++)
            if (c->var[a] == v) window = c->window[a];
        if (window >= 0)
            chosen = min_i64(chosen, ceil_div_i64(m->extent[window] / tiles[window] - 1, y->step[k]) + 1);
        else if (window == -1 || (v >= 0 && lx_choice_by(op, c, v)))
            chosen = 1;
        whole *= positions; /* no overflow: a tensor in memory */
        if (!mul_i64(picked, chosen, &picked)) picked = LX_INT_MAX;
    }
    return min_i64(picked, whole) * times * y->stick_bytes;
}

int64_t access_once_bytes(const struct lx_layouts *l, int32_t o, int operand)
{
    const struct lx_op *op = &l->graph->ops[o];
    int32_t tensor = op_operand(op, operand);
    const struct lx_layout *y = &l->layouts[tensor];
    int64_t sticks = 1;
    if ((op->offset || (op->map && op->map->walks)) && y->rank > 0) {
        struct op_index x;
        op_index_of(l->graph, op, &x);
        if (x.known && op_index_shifted(&x, operand)) { /* a view larger than the moved part */
            for (int k = 0; k < y->rank - 1; k++) {
                int h = y->host_dim[k];
                int64_t positions = y->size[k];
                if (h >= 0)
                    positions =
                        steps_touched(op_index_offset(&x, operand, h), op_index_stride(&x, operand, h), 0,
                                      x.extent[x.var[operand][h]], y->host_shape[h], y->step[k]);
                if (!mul_i64(sticks, positions, &sticks)) return INT64_MAX;
            }
            return mul_i64(sticks, y->stick_bytes, &sticks) ? sticks : INT64_MAX;
        }
    }
    struct lx_choice c;
    if (!lx_choice_of(op, &c) || c.operand != operand) return tensor_bytes(l, tensor);
    return access_picked_bytes(l, o, &c, NULL);
}

/* --- Nests. --- */

static const struct lx_nest *holds_nest_of(const struct draft *x, int32_t access)
{
    return x->held && x->held[access].nest >= 0 ? &x->how.nests[x->held[access].nest] : NULL;
}

void draft_holds(struct draft *x)
{
    int32_t count = x->access_at[x->graph->op_count], *before;
    if (x->how.nest_count == 0) return;
    x->held = arena_array(x->memory, (size_t)count, sizeof *x->held);
    before = arena_array(x->memory, (size_t)x->graph->tensor_count, sizeof *before); /* 1 + its last access */
    for (int32_t a = 0; a < count; a++) {
        int32_t nest = nest_of_op(x->how.nests, x->how.nest_count, x->access_op[a]),
                tensor = x->accesses[a].tensor, one = before[tensor] - 1;
        before[tensor] = a + 1;
        if (nest >= 0 && one >= 0 && x->held[one].nest == nest) { /* one hold per tensor and nest */
            x->held[a] = x->held[one];
            continue;
        }
        x->held[a].nest = nest;
        if (nest < 0) continue;
        x->held[a].tensor = nest_tensor_of(x->layouts, &x->how.nests[nest], tensor);
        /* The decided level, else the innermost level that indexes the tensor and is outside all summed
         * levels. */
        const struct nest_tensor *t = &x->held[a].tensor;
        int32_t h = 0;
        while (h < x->how.hold_count && (x->how.holds[h].tensor != tensor || x->how.holds[h].nest != nest))
            h++;
        if (h < x->how.hold_count) x->held[a].level = x->how.holds[h].level;
        for (int l = 0;
             h == x->how.hold_count && l < x->how.nests[nest].level_count && !(t->summed & level_bit(l)); l++)
            if (t->indexed & level_bit(l)) x->held[a].level = l + 1;
    }
}

bool access_is_picked(const struct draft *x, int32_t access)
{
    int32_t o = x->access_op[access];
    struct lx_choice c;
    return !x->accesses[access].writes && lx_choice_of(&x->graph->ops[o], &c) &&
           x->access_at[o] + c.operand == access;
}

/* Bytes of an access off chip in all iterations, of which `bytes` are those of one pass. */
static int64_t held_access_bytes(const struct draft *x, int32_t access, int64_t bytes)
{
    const struct lx_nest *n = holds_nest_of(x, access);
    struct lx_choice c;
    if (!n) return bytes;
    if (access_is_picked(x, access)) {
        lx_choice_of(&x->graph->ops[x->access_op[access]], &c);
        return access_picked_bytes(x->layouts, x->access_op[access], &c, n);
    }
    int64_t times = nest_product(n, levels_to(n->level_count) & ~x->held[access].tensor.indexed);
    return x->accesses[access].writes ? bytes * (2 * times - 1) : bytes * times;
}

int64_t stay_fills(const struct draft *x, int32_t stay)
{
    return nest_fills(x->how.nests, x->how.nest_count, x->stays[stay].view_op, x->stays[stay].hold);
}

int64_t stay_load_bytes(const struct draft *x, int32_t stay)
{
    int32_t access = x->access_at[x->stays[stay].view_op] + x->stays[stay].view_operand;
    const struct lx_nest *n = holds_nest_of(x, access);
    int64_t whole = tensor_bytes(x->layouts, x->stays[stay].tensor);
    return n ? whole * nest_product(n, levels_to(x->held[access].level) & ~x->held[access].tensor.indexed)
             : whole;
}

int64_t stay_parts(const struct draft *x, int32_t stay)
{
    int32_t access = x->access_at[x->stays[stay].view_op] + x->stays[stay].view_operand;
    const struct lx_nest *n = holds_nest_of(x, access);
    return n ? nest_product(n, x->held[access].tensor.summed & levels_to(x->held[access].level)) : 1;
}

struct lx_core_view held_view(const struct draft *x, int32_t access)
{
    const struct lx_nest *n = holds_nest_of(x, access);
    const struct lx_layout *y = &x->layouts->layouts[x->accesses[access].tensor];
    struct lx_core_view v = access_view(x, access);
    return n ? core_view_held(y, n, &x->held[access].tensor, x->held[access].level, v) : v;
}

bool held_covers(const struct draft *x, int32_t access, int32_t *first, int32_t *last)
{
    const struct lx_nest *n = holds_nest_of(x, access);
    if (!n || x->held[access].level == n->level_count) return false;
    *first = n->first;
    *last = n->last;
    return true;
}

bool held_together(const struct draft *x, int32_t before, int32_t access)
{
    if (!x->held || x->held[before].nest == x->held[access].nest) return true;
    return !(holds_nest_of(x, before) && x->held[before].level > 0) &&
           !(holds_nest_of(x, access) && x->held[access].level > 0);
}

/* --- All accesses. --- */

void draft_accesses(struct draft *x)
{
    size_t ops = (size_t)x->graph->op_count, tensors = (size_t)x->graph->tensor_count, count = 0;
    for (size_t o = 0; o < ops; o++) count += (size_t)op_operand_count(&x->graph->ops[o]);
    x->accesses = arena_array(x->memory, count, sizeof *x->accesses);
    x->access_op = arena_array(x->memory, count, sizeof *x->access_op);
    x->access_at = arena_array(x->memory, ops + 1, sizeof *x->access_at);
    x->tensor_access = arena_array(x->memory, count, sizeof *x->tensor_access);
    x->tensor_at = arena_array(x->memory, tensors + 2, sizeof *x->tensor_at);
    int32_t at = 0;
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        x->access_at[o] = at;
        const struct lx_op *op = &x->graph->ops[o];
        for (int i = 0; i < op_operand_count(op); i++) {
            bool output = i >= op->input_count;
            x->access_op[at + i] = o;
            x->accesses[at + i] = (struct lx_access){.tensor = op_operand(op, i),
                                                     .stay = -1,
                                                     .reads = !output || op_keeps_rest(op),
                                                     .writes = output,
                                                     .bytes = access_once_bytes(x->layouts, o, i)};
        }
        at += op_operand_count(&x->graph->ops[o]);
    }
    x->access_at[ops] = at;
    draft_holds(x);
    for (int32_t a = 0; a < at; a++) {
        struct lx_access *one = &x->accesses[a];
        const struct lx_nest *n = holds_nest_of(x, a);
        if (n && one->writes)
            one->again =
                one->bytes * (nest_product(n, x->held[a].tensor.summed & levels_to(n->level_count)) - 1);
        one->bytes = held_access_bytes(x, a, one->bytes);
    }
    /* Stable counting sort by tensor. tensor_at[t + 1] advances while filling and ends as the begin of t +
     * 1. */
    for (int32_t a = 0; a < at; a++) x->tensor_at[x->accesses[a].tensor + 2]++;
    for (size_t t = 1; t <= tensors; t++) x->tensor_at[t + 1] += x->tensor_at[t];
    for (int32_t a = 0; a < at; a++) x->tensor_access[x->tensor_at[x->accesses[a].tensor + 1]++] = a;
}
