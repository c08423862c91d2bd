/* Devices that do the same.
 *
 * Who has a tensor whole and computes with a part of it takes a slice, at an offset of his own. Nothing else differs
 * between devices of the same sizes, and of the offset a plan depends on no more than where in its stick a slice begins,
 * along the dimension that its layout has in sticks: so it is planned for the first of them, and the others for whom that
 * is the same have its plan with offsets of their own. */
#include "team/run/device_twins.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "layout/op_index.h"
#include "planfile/plan_file.h"

#include <stdlib.h>
#include <string.h>

/* Dimension `h` of an operand: the same part of it, moved by whole steps of all that its layout makes of it? */
static bool moved_evenly(const struct lx_layout *y, const struct op_index *x, const struct op_index *other,
                         int operand, int h)
{
    int64_t stride = op_index_stride(x, operand, h), last = x->extent[(int)x->var[operand][h]] - 1;
    int64_t a = op_index_offset(x, operand, h), b = op_index_offset(other, operand, h), reach;
    if (a == b) return true;
    /* All of it is there: else what is left out would differ. */
    if (a < 0 || b < 0 || stride < 1 || !mul_i64(stride, last, &reach) ||
        !add_i64(reach, max_i64(a, b), &reach) || reach >= y->host_shape[h])
        return false;
    for (int k = 0; k < y->rank; k++)
        if (y->host_dim[k] == h && a % y->step[k] != b % y->step[k]) return false;
    return true;
}

static bool op_fits(const struct lx_layouts *l, const struct lx_op *op, const struct lx_graph *does,
                    const struct lx_op *twin)
{
    struct op_index x, other;
    op_index_of(l->graph, op, &x);
    op_index_of(does, twin, &other);
    if (memcmp(x.extent, other.extent, (size_t)x.var_count * sizeof *x.extent) != 0) return false;
    for (int i = 0; x.known && i < x.operand_count; i++)
        for (int h = 0; op_index_shifted(&x, i) && h < x.rank[i]; h++)
            if (!moved_evenly(&l->layouts[op_operand(op, i)], &x, &other, i, h)) return false;
    return true;
}

bool team_fits_twin(const struct lx_plan *plan, const struct lx_graph *does)
{
    const struct lx_layouts *l = plan->layouts;
    if (plan->graph->hash == does->hash) return true;
    for (int32_t o = 0; o < l->graph->op_count; o++)
        if (l->op_origin[o] >= 0 && !op_fits(l, &l->graph->ops[o], does, &does->ops[l->op_origin[o]]))
            return false;
    return true;
}

bool team_moves_on_chip(const struct lx_plan *plan, const struct lx_graph *does)
{
    const struct lx_layouts *l = plan->layouts;
    for (int32_t o = 0; o < l->graph->op_count; o++) {
        struct op_index x, other;
        if (l->op_origin[o] < 0) continue;
        op_index_of(l->graph, &l->graph->ops[o], &x);
        op_index_of(does, &does->ops[l->op_origin[o]], &other);
        for (int i = 0; x.known && i < x.operand_count; i++)
            for (int h = 0; op_index_shifted(&x, i) && h < x.rank[i]; h++)
                if (op_index_offset(&x, i, h) != op_index_offset(&other, i, h) &&
                    lx_plan_place(plan, o, i) >= 0)
                    return true;
    }
    return false;
}

struct lx_plan *team_plan_of_twin(const struct lx_plan *plan, const struct lx_graph *does, lx_status *st)
{
    struct lx_plan moved = *plan;
    size_t length = 0;
    struct json j;
    moved.graph = does;
    char *text = lx_plan_to_json(&moved, &length);
    struct lx_plan *made = NULL;
    if (json_parse(&j, does->file, text, length, st)) {
        made = plan_read_json(&j, j.root, st);
        json_free(&j);
    }
    mem_free(text);
    return made;
}
