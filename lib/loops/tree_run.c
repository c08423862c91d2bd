/* Trees become nests, and are run node by node with the reference executor.
 *
 * A node's nest has one loop per index: those of the output in its order, then those that are summed. in0 is
 * the operand that has the output's fastest index, so that m is what the primitive stores along. */
#include "loops/nest.h"
#include "base/fail.h"
#include "base/arena.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>

static bool occurs(const struct lx_tree_node *n, int index)
{
    for (int i = 0; n && i < n->rank; i++)
        if (n->index[i] == index) return true;
    return false;
}

static enum lx_loop_type tree_run_type_of(bool in0, bool in1, bool out)
{
    if (!out) return LX_DIM_K;
    return in0 && in1 ? LX_DIM_C : in0 ? LX_DIM_M : LX_DIM_N;
}

static bool tree_run_add_loop(const struct lx_tree *t, const struct lx_tree_node *const *operand, int index,
                              struct lx_loops *l, lx_status *st)
{
    if (l->count == LX_LOOPS_MAX)
        return status_set(st, LX_E_LIMIT, "a contraction over more than %d indices", LX_LOOPS_MAX);
    struct lx_loop *loop = &l->loop[l->count++];
    *loop = (struct lx_loop){.size = t->sizes[index]};
    bool unary = !operand[LX_LOOP_IN1];
    loop->type =
        unary ? LX_DIM_C
              : tree_run_type_of(occurs(operand[LX_LOOP_IN0], index), occurs(operand[LX_LOOP_IN1], index),
                                 occurs(operand[LX_LOOP_OUT], index));
    for (int o = 0; o < LX_LOOP_OPERANDS; o++)
        if (operand[o]) {
            /* The row-major stride of an index in a tensor; an index that occurs twice walks the diagonal. */
            int64_t stride = 0, step = 1;
            for (int i = operand[o]->rank; i-- > 0; step *= t->sizes[operand[o]->index[i]])
                if (operand[o]->index[i] == index) stride += step;
            loop->stride[o] = stride;
        }
    return true;
}

bool lx_tree_lower(const struct lx_tree *t, int node, struct lx_loops *out, bool *swapped, lx_status *st)
{
    const struct lx_tree_node *n = &t->nodes[node];
    *out = (struct lx_loops){.first = LX_TOUCH_ZERO, .main = LX_TOUCH_GEMM, .has_in1 = true};
    if (n->left < 0) return status_set(st, LX_E_EINSUM, "a leaf is not computed");
    const struct lx_tree_node *left = &t->nodes[n->left], *right = n->right < 0 ? NULL : &t->nodes[n->right];
    int fastest = n->rank;
    while (fastest > 0 && t->sizes[n->index[fastest - 1]] == 1) fastest--;
    bool swap = right && fastest > 0 && !occurs(left, n->index[fastest - 1]);
    if (swapped) *swapped = swap;
    if (!right) {
        out->first = LX_TOUCH_NONE;
        out->main = LX_TOUCH_COPY;
    }
    const struct lx_tree_node *operand[LX_LOOP_OPERANDS] = {swap ? right : left, swap ? left : right, n};
    for (int i = 0; i < n->rank; i++)
        if (!tree_run_add_loop(t, operand, n->index[i], out, st)) return false;
    for (int v = 0; v < t->size_count; v++)
        if (!occurs(n, v) && (occurs(left, v) || occurs(right, v)) &&
            !tree_run_add_loop(t, operand, v, out, st))
            return false;
    if (out->count == 0) /* scalars: one turn */
        out->loop[out->count++] = (struct lx_loop){.type = right ? LX_DIM_K : LX_DIM_C, .size = 1};
    return true;
}

static bool run_node(const struct lx_tree *t, int i, const struct lx_loop_rules *rules, int64_t threads,
                     double *const *data, lx_status *st)
{
    const struct lx_tree_node *n = &t->nodes[i];
    struct lx_loops l;
    bool swapped;
    if (!lx_tree_lower(t, i, &l, &swapped, st)) return false;
    if (rules && !lx_loops_optimise(&l, rules, threads, st)) return false;
    const double *left = data[n->left], *right = n->right < 0 ? NULL : data[n->right];
    lx_loops_execute(&l, swapped ? right : left, swapped ? left : right, data[i]);
    return true;
}

bool lx_tree_execute(const struct lx_tree *t, const struct lx_loop_rules *rules, int64_t threads,
                     const double *const *leaves, double *out, lx_status *st)
{
    double **data = mem_zeroed((size_t)t->node_count, sizeof *data);
    bool ok = true;
    for (int i = 0; ok && i < t->node_count; i++) {
        const struct lx_tree_node *n = &t->nodes[i];
        if (n->leaf >= 0) {
            data[i] = (double *)(uintptr_t)leaves[n->leaf]; /* only read: a leaf is nobody's output */
            continue;
        }
        bool is_root = i == t->node_count - 1;
        data[i] = is_root ? out : mem_zeroed((size_t)n->elements, sizeof **data);
        ok = run_node(t, i, rules, threads, data, st);
    }
    for (int i = 0; i < t->node_count - 1; i++)
        if (t->nodes[i].leaf < 0) mem_free(data[i]);
    mem_free(data);
    return ok;
}
