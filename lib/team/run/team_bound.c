/* A time that no plan of this graph on this grid goes below, whatever is cut, kept on chip or overlapped, if its inputs lie
 * as here and what is given is kept.
 *
 * Of all that is computed, is read of what was given, or is written of what is asked for, some device does at least an equal
 * part; it takes that long if it does nothing else meanwhile, and the longest is a bound: of computing, of reading and writing, and of receiving what all must (team/shard/shard_bound.c). Products of a
 * matmul count as what of them shows at least; of bytes through HBM a launch covers some (cost/bundle.h), and no
 * bundle moves more per microsecond than one that is just covered. What is picked by indices may be any part of its
 * table, and what is read through several windows is counted by the largest. */
#include "team/run/team_bound.h"
#include "base/memory.h"
#include "cost/op.h"
#include "cost/rates.h"
#include "layout/op_index.h"

#include <math.h>
#include <stdlib.h>

/* Microseconds of one multiply-add of a device, of what shows of it at least. */
static double step_us(const struct lx_device *d)
{
    const struct cost_rates r = cost_rates_of(d);
    double share = r.hides_compute ? 1 : fmin(r.value[COST_COMPUTE_SHOWN], r.value[COST_COMPUTE_REDUCED]);
    return share / (r.value[COST_MACS] * (double)d->cores);
}

static bool team_bound_multiplies(const struct lx_graph *g, int32_t o, struct op_index *x)
{
    op_index_of(g, &g->ops[o], x);
    return g->ops[o].kind->id == LX_KIND_MATMUL && x->known;
}

/* Steps of an op that a device computes. */
static double team_bound_steps_of(const struct op_index *x, const struct lx_team_space *space)
{
    double steps = 1;
    for (int v = 0; v < x->var_count; v++) {
        int l = 0;
        while (l < space->loops && space->var[l] != v) l++;
        if (op_index_follows(x, v)) continue;
        steps *=
            l < space->loops ? (double)(space->range[l].end - space->range[l].begin) : (double)x->extent[v];
    }
    return lx_team_space_empty(space) ? 0 : steps;
}

/* Multiply-adds of all devices together, in microseconds of one device. */
static double least_compute(const struct lx_graph *g)
{
    static const struct lx_team_space everything = {0};
    double steps = 0;
    struct op_index x;
    for (int32_t o = 0; o < g->op_count; o++)
        if (team_bound_multiplies(g, o, &x)) steps += team_bound_steps_of(&x, &everything);
    return steps * step_us(&g->device);
}

double lx_team_shards_bound_us(const struct lx_team_plan *p)
{
    const struct lx_graph *g = p->graph;
    double most = 0;
    for (int m = 0; m < p->devices; m++) {
        double steps = 0;
        struct op_index x;
        for (int32_t o = 0; o < g->op_count; o++)
            if (team_bound_multiplies(g, o, &x)) steps += team_bound_steps_of(&x, &p->ops[o].space[m]);
        most = fmax(most, steps);
    }
    return most * step_us(&g->device);
}

/* Reads all of it: no indices choose, and no part is cut out. */
static bool reads_all(const struct lx_op *op)
{
    return op->map && !op->offset && !op->views && !op->window_count &&
           !(op->kind->traits & (LX_EXTERN | LX_CHOOSES | LX_ALTERS | LX_PLACES | LX_RANKS));
}

/* Bytes that cross the HBM of some device at least once. */
static double least_bytes(const struct lx_graph *g)
{
    bool *counted = mem_zeroed((size_t)g->tensor_count + 1, sizeof *counted);
    double bytes = 0;
    for (int32_t o = 0; counted && o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        for (int i = 0; i < op_operand_count(op) && reads_all(op); i++) {
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
    mem_free(counted);
    return bytes;
}

/* The most bytes that a bundle takes through HBM in a microsecond. */
static double most_hbm_rate(const struct lx_device *d)
{
    static const enum cost_constant_id rates[] = {COST_ONE_WAY, COST_STREAM_CAP, COST_OUTER, COST_RESTICK,
                                                  COST_BROADCASTS};
    double rate = d->hbm_gb_per_s * 1e3;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) rate = fmax(rate, cost_rate(d, rates[i]) * 1e3);
    double covers = cost_rate(d, COST_LAUNCH_COVERS), launch = cost_launch(d, 1, 1);
    return covers > 0 && launch > 0 ? fmax(rate, covers / launch + rate / 5) : rate;
}

/* Of what must be received, some device gets at least an equal part, over links of all axes at once at best, in one message
 * or more: an axis is taken up by one at a time (team_clock.c). */
static double least_exchange(const struct lx_team_plan *p)
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

/* Of so many devices that share the work. */
static double least_work(const struct lx_graph *g, double devices)
{
    return fmax(least_compute(g) / devices, least_bytes(g) / devices / most_hbm_rate(&g->device));
}

double lx_team_replicated_bound_us(const struct lx_graph *g)
{
    return least_work(g, 1);
}

double lx_team_bound_us(const struct lx_team_plan *p)
{
    return fmax(least_work(p->graph, p->devices), least_exchange(p));
}
