/* Between the passes: a matmul of which the spans committed nothing is divided by predicted time.
 *
 * Roles come from the sticks: N is the axis along which the output's sticks run, the kernel the input that
 * has it; rows M are in the other input only, K is the one summed axis, everything else is batch. Where
 * several axes could be M, it is the innermost of the output; the others are batch of a kernel that all of
 * them share. The pass declines what does not fit that picture. It never leaves more cores idle than
 * distribution alone would: only divisions that use at least as many are weighed. */
#include "divide/space.h"
#include "base/checked.h"

#include <string.h>

static bool in_input(const struct op_index *x, int operand, int v)
{
    return op_index_dim(x, operand, v) >= 0;
}

static int var_of_letter(const struct op_index *x, char letter)
{
    for (int v = 0; v < x->var_count; v++)
        if (x->letter[v] == letter) return v;
    return -1;
}

int matmul_kernel(const struct lx_layouts *l, int32_t op)
{
    struct op_index x;
    op_index_of(l->graph, &l->graph->ops[op], &x);
    return in_input(&x, 0, l->stick_var[op]) ? 0 : 1;
}

bool matmul_roles(const struct lx_layouts *l, int32_t op_number, const struct space *s, int *n_axis,
                  int *m_axis, int *k_axis, struct matmul_shape *shape)
{
    const struct lx_op *op = &l->graph->ops[op_number];
    const struct lx_tensor *tensors = l->graph->tensors;
    struct op_index x;
    if (!(op->kind->traits & LX_CONTRACTS) || !op->reduces || l->stick_var[op_number] < 0) return false;
    op_index_of(l->graph, op, &x);
    if (x.window_count) return false;
    int n = l->stick_var[op_number], kernel = in_input(&x, 0, n) ? 0 : 1, rows = 1 - kernel;
    *n_axis = *m_axis = *k_axis = -1;
    int64_t batch = 1, kernel_batch = 1;
    for (int i = 0; i < s->axis_count; i++) {
        int v = var_of_letter(&x, s->axes[i].letter);
        if (v == n)
            *n_axis = i;
        else if (op_index_reduced(&x, v)) {
            if (s->axes[i].extent > 1 && *k_axis >= 0 && s->axes[*k_axis].extent > 1) return false;
            if (*k_axis < 0 || s->axes[i].extent > 1) *k_axis = i;
        } else if (in_input(&x, rows, v) && !in_input(&x, kernel, v))
            *m_axis = i; /* the innermost wins: axes stand in the output's order */
    }
    if (*n_axis < 0 || *m_axis < 0 || *k_axis < 0) return false;
    for (int i = 0; i < s->axis_count; i++) {
        int v = var_of_letter(&x, s->axes[i].letter);
        if (i == *n_axis || i == *m_axis || i == *k_axis || op_index_reduced(&x, v)) continue;
        if (!mul_i64(batch, s->axes[i].extent, &batch)) return false;
        if (in_input(&x, kernel, v)) kernel_batch *= s->axes[i].extent;
    }
    const struct lx_layout *first = &l->layouts[op->inputs[rows]];
    *shape = (struct matmul_shape){.b = batch,
                                   .m = s->axes[*m_axis].extent,
                                   .n = s->axes[*n_axis].extent,
                                   .k = s->axes[*k_axis].extent,
                                   .shared_weight = kernel_batch == 1,
                                   .cores = s->cores,
                                   .stick_elements = first->stick_elements,
                                   .operand_bytes = max_i64(first->stick_bytes / first->stick_elements, 1),
                                   .output_bytes = max_i64(lx_dtype_bits(tensors[op->output].dtype) / 8, 1)};
    return true;
}

struct matmul_split matmul_split_of(const struct space *s, int n_axis, int m_axis, int k_axis,
                                    const int64_t *splits)
{
    struct matmul_split p = {1, splits[m_axis], splits[n_axis], splits[k_axis]};
    for (int i = 0; i < s->axis_count; i++)
        if (i != n_axis && i != m_axis && i != k_axis) p.b *= splits[i];
    return p;
}

bool matmul_divide(const struct lx_layouts *l, int32_t op, struct space *s, const int64_t *by_default,
                   int64_t *splits)
{
    int n, m, k;
    struct matmul_shape shape;
    const struct cost_rates rates = cost_rates_of(&l->graph->device);
    for (int i = 0; i < s->axis_count; i++)
        if (s->axes[i].floor > 1) return false;
    if (!matmul_roles(l, op, s, &n, &m, &k, &shape)) return false;
    int64_t trial[LX_MAX_VARS] = {0}, best[LX_MAX_VARS] = {0};
    double least = 0;
    bool found = false;
    struct candidate_walk w = {.s = s, .splits = trial};
    while (candidate_next(&w)) {
        if (space_used(s, trial) < space_used(s, by_default)) continue;
        struct matmul_split p = matmul_split_of(s, n, m, k, trial);
        double us = matmul_time_with(&rates, &shape, &p);
        if (found && us >= least) continue;
        found = true;
        least = us;
        memcpy(best, trial, sizeof best);
    }
    if (!found) return false;
    memcpy(splits, best, (size_t)s->axis_count * sizeof *splits);
    for (int i = 0; i < s->axis_count; i++) {
        struct axis *a = &s->axes[i];
        a->bound = s->cores;
        a->rule = a->basis == 1 ? LX_SPLIT_NONE : a->blocked ? LX_SPLIT_BLOCKED : LX_SPLIT_COST;
    }
    return true;
}
