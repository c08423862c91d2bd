/* How fast a nest runs on the kernels, and how far its result is from the scalar executor's.
 *
 * Inputs are random numbers from -1 to 1 that fp32 has exactly. A sum of n products of such numbers in fp32
 * is off by at most about n * 2^-24 times the sum of the products' sizes, in whatever order: `allowed`. Where
 * the reference would take too long, only a block of the output is compared: loops other than k are cut down
 * to a part, at a random place, until it is short enough. */
#include "kernels/nest_run.h"
#include "base/base.h"
#include "base/rng.h"

/* Floats of all operands together; the comparison makes copies. */
static const int64_t most_elements = (int64_t)1 << 28;

struct data {
    int64_t elements[LX_LOOP_OPERANDS];
    float *values[LX_LOOP_OPERANDS]; /* as made; the output before the first run */
    float *result;
};

static bool make_data(const struct lx_loops *a, const struct lx_loops *b, struct data *d, lx_status *st)
{
    struct rng rng = rng_seed(1);
    int64_t all = 0;
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) {
        int64_t x = lx_loops_extent(a, (enum lx_loop_operand)o),
                y = lx_loops_extent(b, (enum lx_loop_operand)o);
        if (x < 0 || y < 0 || max_i64(x, y) > most_elements || (all += max_i64(x, y)) > most_elements)
            return status_set(st, LX_E_LIMIT,
                              "the operands have more than 2^28 elements; too many to run here");
        d->elements[o] = max_i64(x, y);
    }
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) {
        d->values[o] = mem_alloc((size_t)d->elements[o] * sizeof(float));
        for (int64_t i = 0; i < d->elements[o]; i++)
            d->values[o][i] = (float)((int64_t)rng_below(&rng, (uint64_t)1 << 24) - (1 << 23)) * 0x1p-23F;
    }
    d->result = mem_alloc((size_t)d->elements[LX_LOOP_OUT] * sizeof(float));
    return true;
}

/* Shortens loops until the nest takes at most `work` turns; adds the new begin of the operands to `at`. */
static bool cut_down(struct lx_loops *l, int64_t work, int64_t *at)
{
    struct rng rng = rng_seed(7);
    bool cut = false;
    while (lx_loops_work(l) > work) {
        struct lx_loop *longest = NULL;
        for (int i = 0; i < l->count; i++)
            if (l->loop[i].type != LX_DIM_K && (!longest || l->loop[i].size > longest->size))
                longest = &l->loop[i];
        if (!longest || longest->size == 1) return cut;
        int64_t size = longest->size / 2,
                from = (int64_t)rng_below(&rng, (uint64_t)(longest->size - size) + 1);
        for (int o = 0; o < LX_LOOP_OPERANDS; o++) at[o] += from * longest->stride[o];
        longest->size = size;
        cut = true;
    }
    return cut;
}

static int64_t nest_measure_summed(const struct lx_loops *l)
{
    int64_t n = 1;
    for (int i = 0; i < l->count; i++)
        if (l->loop[i].type == LX_DIM_K && !mul_i64(n, l->loop[i].size, &n)) return INT64_MAX;
    return n;
}

static double *as_doubles(const float *values, int64_t count)
{
    double *d = mem_alloc((size_t)count * sizeof *d);
    for (int64_t i = 0; i < count; i++) d[i] = values ? (double)values[i] : 1;
    return d;
}

static void nest_measure_compare(const struct lx_loops *reference, const struct data *d, int64_t work,
                                 struct lx_nest_measure *out)
{
    struct lx_loops part = *reference;
    int64_t at[LX_LOOP_OPERANDS] = {0};
    out->sampled = cut_down(&part, work, at);
    OWNED double *in0 = as_doubles(d->values[LX_LOOP_IN0], d->elements[LX_LOOP_IN0]);
    OWNED double *in1 = as_doubles(d->values[LX_LOOP_IN1], d->elements[LX_LOOP_IN1]);
    OWNED double *want = as_doubles(d->values[LX_LOOP_OUT], d->elements[LX_LOOP_OUT]);
    OWNED double *mark = as_doubles(NULL, d->elements[LX_LOOP_OUT]);
    /* The same turns, but each only writes a zero. */
    struct lx_loops marks = part;
    marks.first = marks.last = LX_TOUCH_NONE;
    marks.main = LX_TOUCH_ZERO;
    for (int i = 0; i < marks.count; i++)
        if (marks.loop[i].type == LX_DIM_K) marks.loop[i].size = 1;
    lx_loops_execute(&part, in0 + at[LX_LOOP_IN0], in1 + at[LX_LOOP_IN1], want + at[LX_LOOP_OUT]);
    lx_loops_execute(&marks, in0, in1, mark + at[LX_LOOP_OUT]);
    for (int64_t i = 0; i < d->elements[LX_LOOP_OUT]; i++) {
        if (mark[i] != 0) continue;
        double off = fabs((double)d->result[i] - want[i]);
        out->compared++;
        if (!(off <= out->difference)) out->difference = off; /* a NaN is a difference, too */
    }
    double n = (double)nest_measure_summed(reference) + 1;
    out->allowed = lx_touch_contracts(reference->main) ? n * n * 0x1p-24 : 0;
}

static bool nest_measure(struct lx_nest_runner *r, const struct lx_loops *nest,
                         const struct lx_loops *reference, double seconds, int64_t work,
                         struct lx_nest_measure *out, lx_status *st)
{
    struct data d = {{0}, {0}, NULL};
    bool ok = make_data(nest, reference, &d, st);
    double spent = 0;
    while (ok && (out->runs == 0 || spent < seconds)) {
        /* From the same output each time: continued sums would become too large. */
        memcpy(d.result, d.values[LX_LOOP_OUT], (size_t)d.elements[LX_LOOP_OUT] * sizeof *d.result);
        double start = clock_seconds();
        lx_nest_runner_run(r, d.values[LX_LOOP_IN0], d.values[LX_LOOP_IN1], d.result);
        double took = clock_seconds() - start;
        if (out->runs++ == 0 || took < out->seconds) out->seconds = took;
        spent += took;
    }
    if (ok) nest_measure_compare(reference, &d, work, out);
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) mem_free(d.values[o]);
    mem_free(d.result);
    return ok;
}

bool lx_nest_measure(const struct lx_loops *nest, const struct lx_loops *reference, int threads,
                     double seconds, int64_t work, struct lx_nest_measure *out, lx_status *st)
{
    *out = (struct lx_nest_measure){0};
    struct lx_nest_runner *r = lx_nest_runner_make(nest, threads, st);
    if (!r) return false;
    out->target = lx_nest_runner_target(r);
    out->tasks = lx_nest_runner_tasks(r);
    bool ok = nest_measure(r, nest, reference, seconds, work, out, st);
    lx_nest_runner_free(r);
    if (ok && lx_touch_contracts(nest->main) && out->seconds > 0)
        out->gflops = 2e-9 * (double)lx_loops_work(nest) / out->seconds;
    return ok;
}

/* A tree of contractions as a whole on the device's kernels: every node through the passes, its result the
 * operand of its parent, in fp32; compared with the scalar executor in double.
 *
 * An element of the result is a sum of products of leaves; with N roundings on the way of each, fp32 in any
 * order is off by at most g(N) times the sum of their absolute values, g(N) = N u / (1 - N u), u = 2^-24. A
 * node adds to the roundings of its operands one for the product and one per term of its sum. The sums of
 * absolute values are the same tree on the leaves' absolute values. */

/* Per node: a runner and its result; leaves have their data only. */
struct tree_node {
    struct lx_nest_runner *runner;
    bool swapped;
    float *data;
    double roundings;
};

struct tree_run {
    const struct lx_tree *tree;
    struct tree_node *node;
};

static bool tree_measure_make_node(struct tree_run *r, int i, const struct lx_loop_rules *rules, int threads,
                                   lx_status *st)
{
    const struct lx_tree_node *n = &r->tree->nodes[i];
    struct tree_node *out = &r->node[i];
    struct lx_loops l;
    out->data = mem_zeroed((size_t)n->elements, sizeof *out->data);
    if (n->leaf >= 0) return true;
    if (!lx_tree_lower(r->tree, i, &l, &out->swapped, st) || !lx_loops_optimise(&l, rules, threads, st))
        return false;
    out->roundings = r->node[n->left].roundings;
    if (n->right >= 0) out->roundings += r->node[n->right].roundings + (double)nest_measure_summed(&l) + 1;
    out->runner = lx_nest_runner_make(&l, threads, st);
    return out->runner != NULL;
}

static bool tree_measure_judge(const struct tree_run *r, struct lx_tree_measure *out, lx_status *st)
{
    int64_t elements = r->tree->nodes[r->tree->node_count - 1].elements;
    double **leaves = mem_zeroed((size_t)r->tree->node_count, sizeof *leaves);
    OWNED double *want = mem_zeroed((size_t)elements, sizeof *want),
                 *sizes = mem_zeroed((size_t)elements, sizeof *sizes);
    bool ok = true;
    for (int absolute = 0; ok && absolute < 2; absolute++) {
        /* The leaves in double, or their absolute values. */
        for (int i = 0; i < r->tree->node_count; i++) {
            const struct lx_tree_node *n = &r->tree->nodes[i];
            if (n->leaf < 0) continue;
            if (!leaves[n->leaf]) leaves[n->leaf] = mem_alloc((size_t)n->elements * sizeof **leaves);
            for (int64_t e = 0; e < n->elements; e++) {
                double v = (double)r->node[i].data[e];
                leaves[n->leaf][e] = absolute ? fabs(v) : v;
            }
        }
        ok = lx_tree_execute(r->tree, NULL, 1, (const double *const *)leaves, absolute ? sizes : want, st);
    }
    if (ok) {
        const struct tree_node *root = &r->node[r->tree->node_count - 1];
        double nu = root->roundings * 0x1p-24;
        out->compared = r->tree->nodes[r->tree->node_count - 1].elements;
        for (int64_t e = 0; e < out->compared; e++) {
            double off = fabs((double)root->data[e] - want[e]), allowed = nu / (1 - nu) * sizes[e] + 0x1p-149;
            if (!(off <= out->difference)) out->difference = off; /* a NaN is a difference, too */
            if (!(off / allowed <= out->share)) out->share = off / allowed;
        }
    }
    for (int i = 0; i < r->tree->node_count; i++) mem_free(leaves[i]);
    mem_free(leaves);
    return ok;
}

bool lx_tree_measure(const struct lx_tree *t, const struct lx_loop_rules *rules, int threads, int64_t work,
                     struct lx_tree_measure *out, lx_status *st)
{
    struct tree_run r = {t, mem_zeroed((size_t)t->node_count, sizeof *r.node)};
    bool ok = true;
    *out = (struct lx_tree_measure){0};
    for (int i = 0; ok && i < t->node_count; i++) ok = tree_measure_make_node(&r, i, rules, threads, st);
    if (ok) {
        struct rng rng = rng_seed(5);
        for (int i = 0; i < r.tree->node_count; i++)
            for (int64_t e = 0; r.tree->nodes[i].leaf >= 0 && e < r.tree->nodes[i].elements; e++)
                r.node[i].data[e] = (float)(rng_below(&rng, 2001)) / 1000 - 1;
    }
    double start = clock_seconds();
    for (int i = 0; ok && i < t->node_count; i++) {
        const struct lx_tree_node *n = &t->nodes[i];
        const struct tree_node *node = &r.node[i];
        if (n->leaf >= 0) continue;
        const float *left = r.node[n->left].data, *right = n->right < 0 ? NULL : r.node[n->right].data;
        lx_nest_runner_run(node->runner, node->swapped ? right : left, node->swapped ? left : right,
                           node->data);
    }
    out->seconds = clock_seconds() - start;
    if (ok && out->seconds > 0) out->gflops = 1e-9 * (double)t->flops / out->seconds;
    if (ok && t->flops / 2 <= work) ok = tree_measure_judge(&r, out, st);
    for (int i = 0; i < t->node_count; i++) {
        lx_nest_runner_free(r.node[i].runner);
        mem_free(r.node[i].data);
    }
    mem_free(r.node);
    return ok;
}
