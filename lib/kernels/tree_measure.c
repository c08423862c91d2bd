/* A tree of contractions as a whole on the device's kernels: every node through the passes, its result the
 * operand of its parent, in fp32; compared with the scalar executor in double.
 *
 * An element of the result is a sum of products of leaves; with N roundings on the way of each, fp32 in any
 * order is off by at most g(N) times the sum of their absolute values, g(N) = N u / (1 - N u), u = 2^-24. A
 * node adds to the roundings of its operands one for the product and one per term of its sum. The sums of
 * absolute values are the same tree on the leaves' absolute values. */
#include "kernels/nest_run.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Per node: a runner and what it computes; leaves have their data only. */
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

static int64_t tree_measure_summed(const struct lx_loops *l)
{
    int64_t n = 1;
    for (int i = 0; i < l->count; i++)
        if (l->loop[i].type == LX_DIM_K && !mul_i64(n, l->loop[i].size, &n)) return INT64_MAX;
    return n;
}

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
    if (n->right >= 0) out->roundings += r->node[n->right].roundings + (double)tree_measure_summed(&l) + 1;
    out->runner = lx_nest_runner_make(&l, threads, st);
    return out->runner != NULL;
}

static void run_nodes(struct tree_run *r)
{
    for (int i = 0; i < r->tree->node_count; i++) {
        const struct lx_tree_node *n = &r->tree->nodes[i];
        const struct tree_node *t = &r->node[i];
        if (n->leaf >= 0) continue;
        const float *left = r->node[n->left].data, *right = n->right < 0 ? NULL : r->node[n->right].data;
        lx_nest_runner_run(t->runner, t->swapped ? right : left, t->swapped ? left : right, t->data);
    }
}

static bool tree_measure_judge(const struct tree_run *r, struct lx_tree_measure *out, lx_status *st)
{
    int64_t elements = r->tree->nodes[r->tree->node_count - 1].elements;
    double **leaves = mem_zeroed((size_t)r->tree->node_count, sizeof *leaves);
    double *want = mem_zeroed((size_t)elements, sizeof *want),
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
                leaves[n->leaf][e] = (_Bool)absolute ? fabs(v) : v;
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
    mem_free(want);
    mem_free(sizes);
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
    if (ok) run_nodes(&r);
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
