/* End-to-end time that no plan goes below, bundle by bundle.
 *
 * Whatever is on chip: of a run of ops between extern ops each graph input that it reads is read from HBM or loaded
 * once, each output that it writes last is written or stored once, and so is each tensor that an earlier or a later run
 * shares with it. These are operands of its launch, or of several if borders divide the run, which adds launches; at
 * least one core works on it. Their elements take the memory's time if they are more than a launch can cover. With
 * divisions given, the cores are those of the op with most, and ops take what they take wherever their operands are. */
#include "search/time.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "cost/bundle.h"
#include "cost/op.h"
#include "cost/rates.h"

#include <math.h>
#include <stdlib.h>

struct floor {
    int64_t operands, cores;
    double bytes, busy_us;
};

struct bounding {
    const struct draft *x;
    const int32_t *run_of; /* per op */
    struct floor *runs;
};

/* One tensor in one run: accesses [from, to) of its list. */
static void time_bound_add_operand(const struct bounding *b, int32_t tensor, int32_t from, int32_t to,
                                   bool before, bool after)
{
    const struct draft *x = b->x;
    const struct lx_tensor *t = &x->graph->tensors[tensor];
    bool reads_first = x->accesses[x->tensor_access[from]].reads, writes = false;
    int64_t least = t->bytes;
    for (int32_t k = from; k < to; k++) {
        const struct lx_access *a = &x->accesses[x->tensor_access[k]];
        writes |= a->writes;
        least = min_i64(least, a->bytes);
    }
    bool arrives = reads_first && (before || lx_role_arrives(t->role));
    bool leaves = writes && (after || lx_role_leaves(t->role));
    struct floor *f = &b->runs[b->run_of[x->access_op[x->tensor_access[from]]]];
    f->operands += arrives + leaves;
    f->bytes += (double)(arrives + leaves) * (double)least;
}

/* What a later run reads must reach HBM in this one; that it writes all of it anew first means that it need not. */
static bool time_bound_read_later(const struct draft *x, int32_t tensor, int32_t from)
{
    return from < x->tensor_at[tensor + 1] && x->accesses[x->tensor_access[from]].reads;
}

static void time_bound_add_tensor(const struct bounding *b, int32_t tensor)
{
    const struct draft *x = b->x;
    int32_t end = x->tensor_at[tensor + 1];
    for (int32_t from = x->tensor_at[tensor], to; from < end; from = to) {
        int32_t run = b->run_of[x->access_op[x->tensor_access[from]]];
        for (to = from; to < end && b->run_of[x->access_op[x->tensor_access[to]]] == run;) to++;
        bool last = to == end, output = lx_role_leaves(x->graph->tensors[tensor].role);
        if (last || !output || time_bound_read_later(x, tensor, to))
            time_bound_add_operand(b, tensor, from, to, from > x->tensor_at[tensor],
                                   time_bound_read_later(x, tensor, to));
    }
}

/* A run of ops may be launched in several bundles, each of which covers some of what goes through HBM: of so many at
 * least all but that. */
static double in_bundles(const struct lx_device *d, const struct floor *f)
{
    double covers = cost_rate(d, COST_LAUNCH_COVERS), launch = cost_launch(d, f->operands, f->cores);
    double bytes = (double)f->bytes, least = fmax(launch, cost_copy(d, (int64_t)cost_uncovered(d, bytes)));
    for (int n = 2; launch < least && covers > 0; n++) {
        launch += cost_rate(d, COST_LAUNCH);
        least = fmin(least, fmax(launch, cost_copy(d, (int64_t)fmax(bytes - n * covers, 0))));
    }
    return least;
}

static double time_bound_sum_up(const struct bounding *b, int32_t count, const bool *alone)
{
    const struct lx_device *d = &b->x->graph->device;
    double us = 0;
    for (int32_t i = 0; i < count; i++) {
        const struct floor *f = &b->runs[i];
        us += fmax(alone[i] ? cost_copy(d, (int64_t)cost_uncovered(d, (double)f->bytes)) : in_bundles(d, f),
                   f->busy_us);
    }
    return us;
}

double time_bound_divided(const struct draft *x, const struct lx_divisions *d)
{
    size_t n = (size_t)x->graph->op_count + 1;
    int32_t *run_of = mem_zeroed(n, sizeof *run_of);
    bool *alone = mem_zeroed(n, sizeof *alone);
    struct bounding b = {.x = x, .run_of = run_of, .runs = mem_zeroed(n, sizeof *b.runs)};
    /* Runs end at extern ops alone; they may be launched in several bundles. */
    int32_t run = 0;
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        bool stands_alone = x->graph->ops[o].kind->traits & LX_WIPES;
        run += o > 0 && (stands_alone || alone[run]);
        alone[run] = stands_alone;
        run_of[o] = run;
    }
    int32_t count = x->graph->op_count > 0 ? run + 1 : 0;
    for (int32_t t = 0; t < x->graph->tensor_count; t++) time_bound_add_tensor(&b, t);
    for (int32_t o = 0; d && o < x->graph->op_count; o++) {
        struct floor *f = &b.runs[run_of[o]];
        f->busy_us += lx_division_least(d, o, NULL, NULL);
        f->cores = max_i64(f->cores, d->at[o].cores_used);
    }
    double us = time_bound_sum_up(&b, count, alone);
    mem_free(run_of);
    mem_free(alone);
    mem_free(b.runs);
    return us;
}
