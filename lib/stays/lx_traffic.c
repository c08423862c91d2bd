/* What an op moves on chip: the sticks that its cores touch in their scratchpads, by the slices of its
 * division, and the sums that meet on the reduce ring. The tiles of a launch cover a core's slice, so
 * that the sticks of the slice are those of all its tiles. In a nest each iteration moves what its tile
 * does, and a sum that goes on reads what it has. */
#include "stays/draft.h"
#include "base/checked.h"
#include "layout/op_index.h"

/* How one host dimension of an operand is walked: index offset + stride * v for v in [from, to). */
struct span {
    int64_t offset, stride, from, to;
    bool shifted;
};

static struct span lx_traffic_span_of(const struct op_index *x, const struct lx_division *d, int operand,
                                      int h, int64_t core)
{
    int v = x->var[operand][h];
    struct span s = {0, 1, 0, x->extent[v], op_index_shifted(x, operand)};
    for (int i = 0; i < d->split_count; i++)
        if (d->splits[i].letter == x->letter[v]) lx_division_slice(d, i, core, &s.from, &s.to);
    if (s.shifted) s.offset = op_index_offset(x, operand, h), s.stride = op_index_stride(x, operand, h);
    return s;
}

/* Positions of device dimension k that it touches; the last slice takes the padding along. */
static int64_t lx_traffic_positions(const struct lx_layout *y, int k, const struct span *s)
{
    int64_t size = y->host_shape[(int)y->host_dim[k]], step = y->step[k];
    int64_t first = s->from, last = s->to - 1;
    if (!s->shifted && s->to == size && first <= last) return y->size[k] - first / step;
    if (s->offset < 0) first = max_i64(first, ceil_div_i64(-s->offset, s->stride));
    last = min_i64(last, s->offset < size ? (size - 1 - s->offset) / s->stride : -1);
    if (first > last) return 0;
    if (s->stride >= step) return last - first + 1;
    return (s->offset + s->stride * last) / step - (s->offset + s->stride * first) / step + 1;
}

/* Is there a slice behind the end of its dimension? */
static bool has_idle(const struct lx_division *d)
{
    bool idle = false;
    for (int i = 0; i < d->split_count && !idle; i++) {
        const struct lx_split *v = &d->splits[i];
        idle = v->split > 1 && (v->split - 1) * (v->units / v->split * v->unit) >= v->extent;
    }
    return idle;
}

static bool core_idle(const struct lx_division *d, int64_t core)
{
    bool idle = false;
    for (int i = 0; i < d->split_count && !idle; i++) {
        int64_t from, to;
        lx_division_slice(d, i, core, &from, &to);
        idle = from >= to;
    }
    return idle;
}

static int64_t sticks_of_core(const struct draft *x, int32_t o, const struct op_index *index, int operand,
                              int64_t core)
{
    const struct lx_layout *y = &x->layouts->layouts[op_operand(&x->graph->ops[o], operand)];
    int64_t sticks = 1;
    for (int k = 0; k < y->rank - 1; k++) {
        if (y->host_dim[k] < 0) {
            sticks *= y->size[k];
            continue;
        }
        if (operand == 0 && op_index_follows(index, index->var[0][(int)y->host_dim[k]])) {
            struct lx_core_view v = lx_division_view(x->divisions, o, operand);
            int64_t lo, hi;
            core_view_reach(&v, k, y->size[k], core, &lo, &hi);
            sticks *= hi - lo;
            continue;
        }
        struct span s = lx_traffic_span_of(index, &x->divisions->at[o], operand, y->host_dim[k], core);
        sticks *= lx_traffic_positions(y, k, &s);
    }
    return sticks;
}

/* Reads of a core without work are none; it writes its part of a sum all the same. */
static int64_t lx_traffic_touched_bytes(const struct draft *x, int32_t o, const struct op_index *index,
                                        int operand)
{
    const struct lx_division *d = &x->divisions->at[o];
    int32_t tensor = op_operand(&x->graph->ops[o], operand);
    if (d->kind != LX_DIVIDED || !index->known || x->layouts->layouts[tensor].rank == 0)
        return tensor_bytes(x->layouts, tensor);
    bool may_rest = operand < x->graph->ops[o].input_count && has_idle(d);
    int64_t sticks = 0;
    for (int64_t c = 0; c < d->cores_used; c++)
        if (!may_rest || !core_idle(d, c)) sticks += sticks_of_core(x, o, index, operand, c);
    return sticks * x->layouts->layouts[tensor].stick_bytes;
}

/* How often the op runs; `*sums`: how often each element of its output is written. */
static int64_t iterations_of(const struct draft *x, int32_t o, int64_t *sums)
{
    int32_t n = nest_of_op(x->how.nests, x->how.nest_count, o);
    *sums = 1;
    if (n < 0) return 1;
    struct nest_tensor t = nest_tensor_of(x->layouts, &x->how.nests[n], x->graph->ops[o].output);
    *sums = nest_product(&x->how.nests[n], t.summed);
    return nest_iterations(&x->how.nests[n]);
}

/* The parts of all groups are the whole output, though the last group's may be smaller than the others'. */
static int64_t reduce_ring_bytes(const struct draft *x, int32_t o, const int64_t *address, int64_t sums)
{
    const struct lx_division *d = &x->divisions->at[o];
    const struct lx_op *op = &x->graph->ops[o];
    int64_t slices = 1, bytes = 0;
    if (d->kind != LX_DIVIDED) return 0;
    for (int i = 0; i < d->split_count; i++)
        if (d->splits[i].is_summed) slices *= d->splits[i].split;
    for (int i = op->input_count; i < op_operand_count(op); i++) {
        int32_t stay = x->accesses[x->access_at[o] + i].stay;
        bool on_chip = stay >= 0 && address[stay] >= 0;
        bytes += (slices - 1) * sums * tensor_bytes(x->layouts, op_operand(op, i)) * (on_chip ? 2 : 1);
    }
    return bytes;
}

void traffic_on_chip(const struct draft *x, const int64_t *address, struct lx_op_traffic *ops)
{
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        const struct lx_op *op = &x->graph->ops[o];
        struct op_index index;
        int64_t sums, times = iterations_of(x, o, &sums);
        op_index_of(x->graph, op, &index);
        nest_tile_index(x->how.nests, x->how.nest_count, o, &index);
        for (int i = 0; i < op_operand_count(op); i++) {
            int32_t stay = x->accesses[x->access_at[o] + i].stay;
            if (stay < 0 || address[stay] < 0) continue;
            int64_t bytes = lx_traffic_touched_bytes(x, o, &index, i) * times;
            *(i < op->input_count ? &ops[o].lx_read : &ops[o].lx_written) += bytes;
            if (i >= op->input_count) ops[o].lx_read += bytes / sums * (sums - 1);
        }
        ops[o].reduce_ring = reduce_ring_bytes(x, o, address, sums);
    }
}
