/* Cost of a divided op: its work for the cost model, and its time by shares through HBM. */
#include "divide/divide.h"
#include "cost/op.h"
#include "divide/space.h"

#include <math.h>

static enum cost_class division_time_class_of(const struct lx_layouts *l, const struct lx_op *op,
                                              const struct space *s)
{
    if (op_is_restickify(op)) return COST_RESTICKIFY;
    if (op->kind->traits & LX_OPAQUE) return COST_OPAQUE;
    /* Operands stream through while cores multiply. The input is read once, even if windows overlap. */
    if (op->window_count && (op->kind->traits & LX_CONTRACTS)) return COST_POINTWISE;
    int out = l->layouts[op->output].host_rank;
    if (op->reduces) {
        /* A reduction along the sticks works row by row, other reductions across rows. */
        for (int i = 0; i < s->axis_count; i++)
            if (s->axes[i].is_reduction && s->axes[i].unit > 1 && s->axes[i].units > 1)
                return COST_ROW_REDUCTION;
        return COST_OUTER_REDUCTION;
    }
    for (int i = 0; i < op->input_count; i++)
        if (l->layouts[op->inputs[i]].host_rank < out) return COST_BROADCAST;
    return COST_POINTWISE;
}

/* Operations per multiply-add. Matmuls count theirs in their shape. */
static double division_time_multiplies(const struct lx_op *op)
{
    return op->window_count && (op->kind->traits & LX_CONTRACTS) ? 2 : 1;
}

struct cost_work work_of(const struct lx_layouts *l, const struct lx_division *d, const struct space *s,
                         const int64_t *splits)
{
    const struct lx_op *op = &l->graph->ops[d->op];
    struct cost_work w = {.kind = division_time_class_of(l, op, s), .cores_used = d->cores_used, .rows = 1};
    int n, m, k;
    for (int i = 0; i < s->operand_count; i++) {
        int64_t bytes = lx_layout_bytes(&l->layouts[op_operand(op, i)]) / operand_tiles(s, &s->operands[i]);
        *(i < op->input_count ? &w.read_bytes : &w.written_bytes) += (double)bytes;
    }
    if (d->kind != LX_DIVIDED) {
        w.read_bytes = w.written_bytes = 0;
        for (int i = 0; i < op->input_count; i++)
            w.read_bytes += (double)l->graph->tensors[op->inputs[i]].bytes;
        for (int i = op->input_count; i < op_operand_count(op); i++)
            w.written_bytes += (double)l->graph->tensors[op_operand(op, i)].bytes;
    } else if (matmul_roles(l, d->op, s, &n, &m, &k, &w.shape)) {
        w.kind = COST_MATMUL;
        w.split = matmul_split_of(s, n, m, k, splits);
        w.kernel = matmul_kernel(l, d->op);
    }
    w.flops = d->kind == LX_DIVIDED ? division_time_multiplies(op) : 0;
    int64_t slices = 1;
    for (int i = 0; i < s->axis_count; i++) {
        if (!s->axes[i].follows) w.flops *= (double)s->axes[i].extent;
        if (!s->axes[i].is_reduction) w.rows *= s->axes[i].extent;
        if (s->axes[i].is_summed) slices *= splits[i];
    }
    if (slices > 1)
        w.sum_bytes = (double)(slices - 1) * w.written_bytes * (double)slices / (double)space_used(s, splits);
    return w;
}

struct op_parts {
    struct cost_parts parts;
    int operands, output; /* `output`: the first result */
    double bytes[LX_MAX_OPERANDS], memory_us[LX_MAX_OPERANDS];
    double one_way; /* bytes per microsecond */
    double flops;
};

static void op_parts_of(const struct lx_divisions *all, int32_t op, struct op_parts *out)
{
    const struct lx_division *d = &all->at[op];
    const struct lx_layouts *l = all->layouts;
    double held = 0;
    int64_t splits[LX_MAX_VARS];
    struct arena scratch = {0};
    struct space s;
    *out = (struct op_parts){.operands = op_operand_count(&l->graph->ops[op]),
                             .output = l->graph->ops[op].input_count};
    space_of_division(all, op, &scratch, &s);
    for (int i = 0; i < out->operands; i++) {
        int32_t tensor = op_operand(&l->graph->ops[op], i);
        out->bytes[i] = (double)(d->kind == LX_DIVIDED ? lx_layout_bytes(&l->layouts[tensor]) /
                                                             operand_tiles(&s, &s.operands[i])
                                                       : l->graph->tensors[tensor].bytes);
        held += d->kind == LX_DIVIDED ? (double)d->operands[i].core_bytes : out->bytes[i];
    }
    for (int i = 0; i < d->split_count; i++) splits[i] = d->splits[i].split;
    struct cost_work w = work_of(l, d, &s, splits);
    struct cost_rates rates = cost_rates_of(&l->graph->device);
    cost_op_parts(&rates, &w, out->operands, out->bytes, held, &out->parts, out->memory_us);
    out->one_way = rates.value[COST_ONE_WAY] * 1e3;
    /* Copies compute nothing, but the cost model counts one operation per iteration point. */
    bool copies = l->graph->ops[op].kind->traits & (LX_VIEW | LX_PLACES | LX_CHOOSES | LX_RANKS) ||
                  l->graph->ops[op].kind->id == LX_KIND_CLONE ||
                  l->graph->ops[op].kind->id == LX_KIND_RESTICKIFY;
    out->flops = copies ? 0
                 : l->graph->ops[op].kind->traits & LX_CONTRACTS
                     ? 2 * w.flops / division_time_multiplies(&l->graph->ops[op])
                     : w.flops;
    /* Nest iterations run one after the other. */
    double times = (double)nest_runs(all->nests, all->nest_count, op);
    out->parts.compute_us *= times;
    out->parts.port_us *= times;
    out->parts.extra_us *= times;
    out->parts.back_us *= times;
    out->flops *= times;
    for (int i = 0; i < out->operands; i++) out->memory_us[i] *= times, out->bytes[i] *= times;
    arena_free(&scratch);
}

struct lx_op_time lx_division_time(const struct lx_divisions *all, int32_t op, const double *hbm_share)
{
    struct op_parts x;
    double sum = 0, moved = 0;
    op_parts_of(all, op, &x);
    for (int i = 0; i < x.operands; i++) {
        sum += hbm_share[i] * x.memory_us[i];
        moved += hbm_share[i] * x.bytes[i];
    }
    double extra = x.parts.extra_us + (hbm_share[x.output] > 0 ? 0 : x.parts.back_us);
    double held_up = fmax(x.parts.compute_us, x.parts.port_us), slow = sum - moved / x.one_way;
    struct lx_op_time t = {.device_us = fmax(held_up, sum) + extra,
                           .busy_us = fmax(held_up, slow) + extra,
                           .ring_us = extra - (x.parts.extra_us - x.parts.back_us),
                           .compute_us = x.parts.extra_us - x.parts.back_us,
                           .flops = x.flops};
    *(sum >= held_up                  ? &t.hbm_us
      : x.parts.compute_us >= held_up ? &t.compute_us
                                      : &t.lx_us) += fmax(held_up, sum);
    return t;
}

double lx_division_least(const struct lx_divisions *all, int32_t op, double *memory_us, double *slow_us)
{
    struct op_parts x;
    op_parts_of(all, op, &x);
    for (int i = 0; i < x.operands && memory_us; i++) {
        memory_us[i] = x.memory_us[i];
        slow_us[i] = x.memory_us[i] - x.bytes[i] / x.one_way;
    }
    return fmax(x.parts.compute_us, x.parts.port_us) + x.parts.extra_us;
}
