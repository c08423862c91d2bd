/* Ops with several results: what each of them is, as an op that makes it alone.
 *
 * All results are made in one tick, from inputs that are read once, and are indexed alike; each is a tensor
 * with a life of its own. A result that nobody wants need not be made: what is left is an op of the same
 * kind with fewer results, or of another kind with one. */
#include "graph/results.h"

const struct lx_kind *lx_result_kind(const struct lx_kind *kind, int result)
{
    static const struct {
        enum lx_kind_id of, further;
        int most;
    } rows[] = {{LX_KIND_MAX, LX_KIND_ARGMAX, 2},
                {LX_KIND_MIN, LX_KIND_ARGMIN, 2},
                {LX_KIND_TOPK, LX_KIND_TOPK_INDEX, 2},
                {LX_KIND_SORT, LX_KIND_SORT_INDEX, 2},
                {LX_KIND_GENERIC, LX_KIND_GENERIC, LX_MAX_OUTPUTS}};
    if (result == 0) return kind;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].of == kind->id && result < rows[i].most) return lx_kind_at(rows[i].further);
    return NULL;
}

struct lx_op op_of_result(const struct lx_op *op, int result)
{
    struct lx_op one = *op;
    const struct lx_kind *kind = lx_result_kind(op->kind, result);
    if (kind) one.kind = kind;
    one.output = op_operand(op, op->input_count + result);
    one.outputs = op->output_count > 1 ? &op->outputs[result] : op->outputs;
    one.output_count = 1;
    return one;
}

bool op_with_results(const struct lx_op *op, const int *which, const int32_t *outputs, int count,
                     struct lx_op *out)
{
    *out = *op;
    if (count < 1 || !(out->kind = lx_result_kind(op->kind, which[0]))) return false;
    for (int i = 0; i < count; i++)
        if (which[i] >= op_operand_count(op) - op->input_count || (i > 0 && which[i] <= which[i - 1]) ||
            lx_result_kind(op->kind, which[i]) != lx_result_kind(out->kind, i))
            return false;
    out->output = outputs[0];
    out->outputs = outputs;
    out->output_count = count;
    return true;
}
