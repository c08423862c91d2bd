/* Cost of a divided op: its work for the cost model, and its time by shares through HBM. */
#include "divide/space.h"
#include "graph/choice.h"

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

/* Operations per point of the iteration space. Copies compute nothing. */
static double division_time_flops(const struct lx_op *op)
{
    bool copies = op->kind->traits & (LX_VIEW | LX_PLACES | LX_CHOOSES | LX_RANKS) ||
                  op->kind->id == LX_KIND_CLONE || op->kind->id == LX_KIND_RESTICKIFY;
    return copies ? 0 : op->kind->traits & LX_CONTRACTS ? 2 : 1;
}

/* Exponentials and the like: each element takes a series of steps. */
static int division_time_functions(const struct lx_op *op)
{
    static const signed char kinds[] = {LX_KIND_EXP,      LX_KIND_LOG,  LX_KIND_POW,     LX_KIND_GELU,
                                        LX_KIND_GELU_ERF, LX_KIND_SILU, LX_KIND_SIGMOID, LX_KIND_TANH,
                                        LX_KIND_COS,      LX_KIND_SIN,  LX_KIND_ERF,     LX_KIND_LOGSUMEXP};
    for (size_t i = 0; i < sizeof kinds; i++)
        if ((enum lx_kind_id)kinds[i] == op->kind->id) return 1;
    return 0;
}

struct cost_work work_of(const struct lx_layouts *l, const struct lx_division *d, const struct space *s,
                         const int64_t *splits)
{
    const struct lx_op *op = &l->graph->ops[d->op];
    struct cost_work w = {.kind = division_time_class_of(l, op, s), .cores_used = d->cores_used, .rows = 1};
    w.functions = division_time_functions(op);
    w.contracts = op->kind->traits & LX_CONTRACTS;
    w.folds = op->reduces && !(op->kind->traits & LX_CONTRACTS) ? 1 + w.functions : 0;
    enum matmul_role role[LX_MAX_VARS];
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
    } else if (matmul_roles(l, d->op, s, role, &w.shape)) {
        w.kind = COST_MATMUL;
        w.split = matmul_split_of(s, role, splits);
        w.kernel = matmul_kernel(l, d->op);
    }
    w.imbalance = d->kind == LX_DIVIDED ? space_imbalance(s, splits) : 0;
    w.flops = d->kind == LX_DIVIDED ? division_time_flops(op) : 0;
    int64_t slices = 1;
    for (int i = 0; i < s->axis_count; i++) {
        if (!s->axes[i].follows) w.flops *= (double)s->axes[i].extent;
        if (!s->axes[i].is_reduction) w.rows *= s->axes[i].extent;
        if (s->axes[i].is_summed) slices *= splits[i];
    }
    if (slices > 1)
        w.sum_bytes = cost_sum_parts(lx_device_costs(&l->graph->device)->shares_sums, (double)slices) *
                      w.written_bytes * (double)slices / (double)space_used(s, splits);
    return w;
}

void lx_division_work(const struct lx_divisions *all, int32_t op, struct lx_op_work *out)
{
    const struct lx_division *d = &all->at[op];
    const struct lx_layouts *l = all->layouts;
    const struct lx_op *of = &l->graph->ops[op];
    double held[LX_MAX_OPERANDS];
    int64_t splits[LX_MAX_VARS];
    SCOPED(arena_free) struct arena scratch = {0};
    struct space s;
    struct cost_parts parts;
    struct lx_choice c;
    bool chooses = lx_choice_of(of, &c);
    *out = (struct lx_op_work){.operand_count = op_operand_count(of), .output = of->input_count};
    space_of_division(all, op, &scratch, &s);
    for (int i = 0; i < out->operand_count; i++) {
        int32_t tensor = op_operand(of, i);
        out->bytes[i] = (double)(d->kind == LX_DIVIDED ? lx_layout_bytes(&l->layouts[tensor]) /
                                                             operand_tiles(&s, &s.operands[i])
                                                       : l->graph->tensors[tensor].bytes);
        int moved = chooses && i == c.operand ? c.other : i; /* of a table only the chosen rows */
        held[i] = d->kind == LX_DIVIDED ? (double)d->operands[moved].core_bytes : out->bytes[i];
    }
    for (int i = 0; i < d->split_count; i++) splits[i] = d->splits[i].split;
    struct cost_work w = work_of(l, d, &s, splits);
    struct cost_rates rates = cost_rates_of(&l->graph->device);
    cost_op_parts(&rates, &w, out->operand_count, out->bytes, held, &parts, out->stream_us);
    out->compute_us = parts.compute_us;
    out->port_us = parts.port_us;
    out->sums_us = parts.back_us;
    out->exposed_us = parts.extra_us - parts.back_us;
    out->fixed_us = parts.fixed_us;
    out->bytes_per_us = rates.value[COST_ONE_WAY] * 1e3;
    out->flops = w.flops;
}

/* The part of streaming that a credit of bytes cannot take away: the time beyond HBM's one-way rate. */
static double stream_us_charged(const struct lx_op_work *w, const double *hbm_share, double charged)
{
    double us = 0, moved = 0;
    for (int i = 0; i < w->operand_count; i++) {
        us += hbm_share[i] * w->stream_us[i];
        moved += hbm_share[i] * w->bytes[i];
    }
    return fmax(us - (1 - charged) * moved / w->bytes_per_us, charged * us);
}

struct lx_op_time lx_op_time_of(const struct lx_op_work *w, const double *hbm_share, double charged)
{
    struct lx_op_time t = {.stream_us = stream_us_charged(w, hbm_share, charged),
                           .work_us = fmax(w->compute_us, w->port_us),
                           .exposed_us = w->exposed_us,
                           .ring_us = w->sums_us * (hbm_share[w->output] > 0 ? 1 : 2)};
    t.us = fmax(t.stream_us, t.work_us) + t.exposed_us + t.ring_us;
    return t;
}

double lx_division_time(const struct lx_divisions *all, int32_t op, const double *hbm_share)
{
    struct lx_op_work w;
    lx_division_work(all, op, &w);
    return lx_op_time_of(&w, hbm_share, 1).us * (double)nest_runs(all->nests, all->nest_count, op);
}
