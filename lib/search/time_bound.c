/* A lower bound on end-to-end time, run by run between extern ops.
 *
 * Each input that a run reads, each output that it writes last and each tensor shared with another run
 * crosses HBM once, as an operand of the run's launches. HBM time counts beyond the time that a launch
 * covers. With given divisions the cores are those of the widest op, and each op takes at least its own
 * time. */
#include "search/time.h"
#include "base/checked.h"
#include "base/memory.h"
#include "cost/op.h"
#include "cost/rates.h"

#include <math.h>

struct floor {
    int64_t operands, cores;
    double bytes, busy_us;
};

/* Adds one tensor to each run that accesses it. */
static void time_bound_add_tensor(const struct draft *x, int32_t tensor, const int32_t *run_of,
                                  struct floor *runs)
{
    const struct lx_tensor *t = &x->graph->tensors[tensor];
    int32_t begin = x->tensor_at[tensor], end = x->tensor_at[tensor + 1];
    for (int32_t from = begin, to; from < end; from = to) {
        int32_t run = run_of[x->access_op[x->tensor_access[from]]];
        int64_t least = t->bytes;
        bool writes = false;
        for (to = from; to < end && run_of[x->access_op[x->tensor_access[to]]] == run; to++) {
            const struct lx_access *a = &x->accesses[x->tensor_access[to]];
            writes |= a->writes;
            least = min_i64(least, a->bytes);
        }
        /* A value read in a later run must reach HBM in this one, unless it is overwritten first. */
        bool later = to < end && x->accesses[x->tensor_access[to]].reads;
        if (to < end && !later && lx_role_leaves(t->role)) continue;
        bool reads_first = x->accesses[x->tensor_access[from]].reads;
        int crossings = (reads_first && (from > begin || lx_role_arrives(t->role))) +
                        (writes && (later || lx_role_leaves(t->role)));
        runs[run].operands += crossings;
        runs[run].bytes += (double)crossings * (double)least;
    }
}

/* A run may be launched in several bundles, and each launch covers some of its HBM traffic. */
static double time_bound_run(const struct lx_device *d, const struct floor *f, bool alone)
{
    double covers = cost_rate(d, COST_LAUNCH_COVERS), launch = cost_launch(d, f->operands, f->cores);
    double copy = cost_copy(d, (int64_t)cost_uncovered(d, f->bytes)), least = fmax(launch, copy);
    for (int n = 2; launch < least && covers > 0; n++) {
        launch += cost_rate(d, COST_LAUNCH);
        least = fmin(least, fmax(launch, cost_copy(d, (int64_t)fmax(f->bytes - n * covers, 0))));
    }
    return fmax(alone ? copy : least, f->busy_us);
}

double time_bound_divided(const struct draft *x, const struct lx_divisions *d)
{
    size_t n = (size_t)x->graph->op_count + 1;
    int32_t *run_of = mem_zeroed(n, sizeof *run_of);
    bool *alone = mem_zeroed(n, sizeof *alone);
    struct floor *runs = mem_zeroed(n, sizeof *runs);
    /* Only extern ops end runs. */
    int32_t run = 0;
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        bool stands_alone = x->graph->ops[o].kind->traits & LX_WIPES;
        run += o > 0 && (stands_alone || alone[run]);
        alone[run] = stands_alone;
        run_of[o] = run;
    }
    int32_t count = x->graph->op_count > 0 ? run + 1 : 0;
    for (int32_t t = 0; t < x->graph->tensor_count; t++) time_bound_add_tensor(x, t, run_of, runs);
    for (int32_t o = 0; d && o < x->graph->op_count; o++) {
        struct floor *f = &runs[run_of[o]];
        f->busy_us += lx_division_least(d, o, NULL, NULL);
        f->cores = max_i64(f->cores, d->at[o].cores_used);
    }
    double us = 0;
    for (int32_t i = 0; i < count; i++) us += time_bound_run(&x->graph->device, &runs[i], alone[i]);
    mem_free(run_of);
    mem_free(alone);
    mem_free(runs);
    return us;
}
