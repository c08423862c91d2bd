/* A lower bound on end-to-end time, run by run between extern ops.
 *
 * Each input that a run reads, each output that it writes last and each tensor shared with another run
 * crosses HBM once, as an operand of the run's launches. On every core the ops follow each other. Each does
 * its arithmetic at the peak, or takes its operands through the scratchpads' ports if that is longer. With
 * given divisions it takes its own time with all operands on chip. More cores compute faster and launch
 * later, so the bound is the least over their number. A run may be launched in several bundles:
 * cost_end_to_end is a norm, so that takes no less than all at once.
 */
#include "search/time.h"
#include "cost/op.h"

struct floor {
    int64_t operands, cores;
    double bytes;    /* through HBM */
    double work_us;  /* of the ops, which all use core 0, one after the other */
    double core_us;  /* of the ops on one core at its peak, or through its port */
    double fixed_us; /* of the ops, on any number of cores */
    bool is_extern;
};

/* Adds one tensor to each run that accesses it. */
static void time_bound_add_tensor(const struct draft *x, int32_t tensor, const int32_t *run_of,
                                  struct floor *runs)
{
    const struct lx_tensor *t = &x->graph->tensors[tensor];
    int32_t begin = x->tensor_at[tensor], end = x->tensor_at[tensor + 1];
    for (int32_t from = begin, to; from < end; from = to) {
        int32_t run = run_of[x->access_op[x->tensor_access[from]]];
        /* Bytes that an access reads and no earlier one of the run has written come from before; the bytes
         * of one write are all needed later. */
        int64_t read = 0, most_written = 0, written = 0;
        for (to = from; to < end && run_of[x->access_op[x->tensor_access[to]]] == run; to++) {
            const struct lx_access *a = &x->accesses[x->tensor_access[to]];
            int64_t bytes = min_i64(t->bytes, a->bytes);
            if (a->reads) read = max_i64(read, bytes - written);
            if (!a->writes) continue;
            most_written = max_i64(most_written, bytes);
            written += bytes;
        }
        /* A value read in a later run must reach HBM in this one, unless it is overwritten first. */
        bool later = to < end && x->accesses[x->tensor_access[to]].reads;
        if (to < end && !later && lx_role_leaves(t->role)) most_written = 0;
        bool arrives = from > begin || lx_role_arrives(t->role);
        if (!arrives) read = 0;
        if (!later && !lx_role_leaves(t->role)) most_written = 0;
        runs[run].operands += (read > 0) + (most_written > 0);
        runs[run].bytes += (double)read + (double)most_written;
    }
}

static double time_bound_run(const struct lx_device *d, const struct floor *f, double hbm_us, int64_t cores)
{
    double begin = cost_rate(d, COST_BEGIN);
    double device = begin + fmax(hbm_us, fmax(f->work_us, f->fixed_us + f->core_us / (double)cores));
    return f->is_extern ? device : cost_end_to_end(cost_launch(d, f->operands, cores), device);
}

static double time_bound_runs(const struct draft *x, const struct floor *runs, int32_t count)
{
    const struct lx_device *d = &x->graph->device;
    double bytes = 0, us = 0, rate = cost_hbm_rate(d);
    for (int32_t i = 0; i < count; i++) bytes += runs[i].bytes;
    double charged = bytes > 0 ? cost_charged_bytes(d, bytes) / bytes : 1;
    for (int32_t i = 0; i < count; i++) {
        double hbm_us = runs[i].bytes * charged / rate, least = INFINITY;
        int64_t from = max_i64(runs[i].cores, 1), to = max_i64(runs[i].cores, x->divisions->cores);
        for (int64_t cores = from; cores <= to; cores++)
            least = fmin(least, time_bound_run(d, &runs[i], hbm_us, cores));
        us += least;
    }
    return us;
}

/* The least time of an op's operands through the port of one core, in all iterations; 0: unknown. Cores may
 * have sticks of an operand in common, but together they have all. */
static double time_bound_port(const struct draft *x, int32_t op, const struct lx_op_work *w)
{
    const struct lx_op *of = &x->graph->ops[op];
    double bytes = 0;
    if (w->port_us <= 0 || of->kind->traits & (LX_CHOOSES | LX_CONTRACTS)) return 0;
    for (int i = 0; i < op_operand_count(of); i++)
        bytes += (double)min_i64(x->graph->tensors[op_operand(of, i)].bytes,
                                 x->accesses[x->access_at[op] + i].bytes);
    return bytes / (cost_rate(&x->graph->device, COST_LX_PORT) * 1e3);
}

double time_bound_divided(const struct draft *x, const struct lx_divisions *d)
{
    size_t n = (size_t)x->graph->op_count + 1;
    OWNED int32_t *run_of = mem_zeroed(n, sizeof *run_of);
    OWNED struct floor *runs = mem_zeroed(n, sizeof *runs);
    const double peak = 2 * cost_rate(&x->graph->device, COST_MACS);
    /* Runs end at extern ops alone. */
    int32_t run = 0;
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        bool stands_alone = x->graph->ops[o].kind->traits & LX_WIPES;
        run += o > 0 && (stands_alone || runs[run].is_extern);
        runs[run].is_extern = stands_alone;
        run_of[o] = run;
    }
    int32_t count = x->graph->op_count > 0 ? run + 1 : 0;
    for (int32_t t = 0; t < x->graph->tensor_count; t++) time_bound_add_tensor(x, t, run_of, runs);
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        struct floor *f = &runs[run_of[o]];
        const struct lx_divisions *as = d ? d : x->divisions;
        double times = (double)nest_runs(as->nests, as->nest_count, o);
        struct lx_op_work w;
        lx_division_work(as, o, &w);
        f->core_us += fmax(times * w.flops / peak, time_bound_port(x, o, &w));
        f->fixed_us += w.fixed_us;
        if (!d) continue;
        f->work_us += times * (fmax(w.compute_us, w.port_us) + w.exposed_us + w.sums_us);
        f->cores = max_i64(f->cores, d->at[o].cores_used);
    }
    return time_bound_runs(x, runs, count);
}
