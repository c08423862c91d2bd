/* A lower bound on the time of any plan of this graph on this grid, with any shards, residency and overlap,
 * for these inputs and given shards.
 *
 * For each kind of work (multiply-adds, reading inputs, writing outputs) some device does at least an equal
 * share. The bound is the longest of three times: compute, HBM, and receiving (team/shard/shard_bound.c).
 * Multiply-adds count by the smallest share of their time that other work cannot hide. A launch hides some
 * HBM bytes (cost/op.h); no bundle moves more bytes per microsecond than one that is just hidden. An input
 * picked by indices may be any part of its table. An input read through several windows counts by the
 * largest. */
#include "team/run/team_plans.h"
#include "cost/op.h"
#include "layout/op_index.h"

/* Microseconds per multiply-add of a device, by the smallest share that cannot be hidden. */
static double team_bound_step_us(const struct lx_device *d)
{
    const struct cost_rates r = cost_rates_of(d);
    double share = r.hides_compute ? 1 : fmin(r.value[COST_COMPUTE_SHOWN], r.value[COST_COMPUTE_REDUCED]);
    return share / (r.value[COST_MACS] * (double)d->cores);
}

/* Multiply-adds of a device; of all devices if `ops` is NULL. */
static double team_bound_steps(const struct lx_graph *g, const struct lx_team_op *ops, int device)
{
    double all = 0;
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_team_space none = {0}, *space = ops ? &ops[o].space[device] : &none;
        struct op_index x;
        op_index_of(g, &g->ops[o], &x);
        if (g->ops[o].kind->id != LX_KIND_MATMUL || !x.known || lx_team_space_empty(space)) continue;
        double steps = 1;
        for (int v = 0; v < x.var_count; v++) {
            int l = 0;
            while (l < space->loops && space->var[l] != v) l++;
            if (op_index_follows(&x, v)) continue;
            steps *= l < space->loops ? (double)(space->range[l].end - space->range[l].begin)
                                      : (double)x.extent[v];
        }
        all += steps;
    }
    return all;
}

double lx_team_shards_bound_us(const struct lx_team_plan *p)
{
    double most = 0;
    for (int m = 0; m < p->devices; m++) most = fmax(most, team_bound_steps(p->graph, p->ops, m));
    return most * team_bound_step_us(&p->graph->device);
}

/* Bytes that cross some device's HBM at least once: operands of ops that read them completely, without
 * indices and slices. */
static double team_bound_bytes(const struct lx_graph *g)
{
    OWNED bool *counted = mem_zeroed((size_t)g->tensor_count + 1, sizeof *counted);
    double bytes = 0;
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        bool all = op->map && !op->offset && !op->views && !op->window_count &&
                   !(op->kind->traits & (LX_EXTERN | LX_CHOOSES | LX_ALTERS | LX_PLACES | LX_RANKS));
        for (int i = 0; i < op_operand_count(op) && all; i++) {
            int32_t t = op_operand(op, i);
            const struct lx_tensor *x = &g->tensors[t];
            bool through = i < op->input_count ? lx_role_arrives(x->role) : lx_role_leaves(x->role);
            if (!through || counted[t] || x->rank < 0) continue;
            counted[t] = true;
            double elements = 1;
            for (int d = 0; d < x->rank; d++) elements *= (double)x->shape[d];
            bytes += floor(elements * lx_dtype_bits(x->dtype) / 8);
        }
    }
    return bytes;
}

/* Some device receives at least an equal share of all bytes, at best over links of all axes at once, in one
 * message or more: one message at a time takes an axis (team_clock.c). */
static double team_bound_exchange(const struct lx_team_plan *p)
{
    double rates = 0, first = HUGE_VAL;
    for (int a = 0; a < p->grid.axes; a++) {
        double rate, us;
        if (p->grid.size[a] < 2) continue;
        lx_device_link(&p->graph->device, p->grid.axes - 1 - a, &rate, &us);
        rates += rate * 1e3;
        first = fmin(first, rate * 1e3 * us);
    }
    if (p->bound_bytes <= 0 || rates <= 0) return 0;
    return ((double)p->bound_bytes / p->devices + first) / rates * (1 - 1e-12);
}

/* Bound on compute and HBM if `devices` share the work. */
static double team_bound_work(const struct lx_graph *g, double devices)
{
    double compute = team_bound_steps(g, NULL, 0) * team_bound_step_us(&g->device);
    const struct lx_device *d = &g->device;
    return fmax(compute / devices, cost_charged_bytes(d, team_bound_bytes(g) / devices) / cost_hbm_rate(d));
}

double lx_team_replicated_bound_us(const struct lx_graph *g)
{
    return team_bound_work(g, 1);
}

double lx_team_bound_us(const struct lx_team_plan *p)
{
    return fmax(team_bound_work(p->graph, p->devices), team_bound_exchange(p));
}
