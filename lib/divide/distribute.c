/* Pass 2: distributes the cores that the spans leave. Committed splits are floors. Each output axis, by
 * priority, takes the largest factor that fits the cores left by the other axes. One reduction axis takes
 * the remainder: the committed one, or the one that can use most. An axis that may not be whole gets its
 * least factor before all others. */
#include "divide/space.h"

void prioritize(const struct space *s, int *outputs, int *output_count, int *reductions, int *reduction_count)
{
    int outs = 0, reds = 0;
    bool reduction_committed = false;
    for (int i = 0; i < s->axis_count; i++)
        reduction_committed |= s->axes[i].is_reduction && s->axes[i].floor > 1;
    for (int i = 0; i < s->axis_count; i++) {
        const struct axis *a = &s->axes[i];
        if (a->blocked || (a->apart && a->floor == 1) ||
            (a->is_reduction && reduction_committed && a->floor == 1))
            continue;
        if (a->is_reduction) {
            reductions[reds++] = i;
            continue;
        }
        int at = outs++;
        for (; at > 0 && s->axes[outputs[at - 1]].units < a->units; at--) outputs[at] = outputs[at - 1];
        outputs[at] = i;
    }
    *output_count = outs;
    *reduction_count = reds;
}

/* Starts from the floors, or the least legal factor of an axis that may not be whole. */
static bool commit(struct space *s, int64_t *splits, int64_t *left, lx_status *st)
{
    *left = s->cores;
    for (int i = 0; i < s->axis_count; i++) {
        struct axis *a = &s->axes[i];
        int64_t least = factor_least(&a->legal, 1);
        splits[i] = a->floor > 1 ? a->floor : least;
        if (splits[i] == 0 || (a->floor > 1 && !factor_in(&a->legal, a->floor)))
            return status_set_at(
                st, LX_E_DOMAIN, s->file, s->line, 1,
                "op %s: '%s' must be cut into %lld, which is outside its legal domain (%s, %lld units); lift "
                "the constraint, or tile the op so that the span needs no split",
                s->op_name, a->name, (long long)max_i64(a->floor, 1),
                a->constraint ? a->constraint : "divisors", (long long)a->basis);
        if (a->floor == 1 && least > 1) a->rule = LX_SPLIT_DOMAIN;
        if (splits[i] > *left)
            return status_set_at(
                st, LX_E_CORES, s->file, s->line, 1,
                "op %s: '%s' must be cut into %lld, but only %lld of %lld cores are left; use more cores",
                s->op_name, a->name, (long long)splits[i], (long long)*left, (long long)s->cores);
        *left /= splits[i];
    }
    if (space_reductions_split(s, splits) > 1)
        return status_set_at(
            st, LX_E_TWO_REDUCTIONS, s->file, s->line, 1,
            "op %s: at most one reduction dimension may be split, but its floors and domains need two; "
            "reduce in two ops",
            s->op_name);
    return true;
}

static int64_t cores_for(const struct space *s, int i, const int64_t *splits)
{
    return s->cores / (space_used(s, splits) / splits[i]);
}

/* The largest factor that axis `i` may take, given its present split. */
static int64_t most_for(const struct space *s, int i, const int64_t *splits)
{
    return max_i64(factor_most(&s->axes[i].legal, cores_for(s, i, splits)), splits[i]);
}

static void distribute_take(struct space *s, int i, enum lx_split_rule rule, int64_t *splits)
{
    struct axis *a = &s->axes[i];
    int64_t had = splits[i], most = most_for(s, i, splits);
    if (most > had)
        a->rule = rule, a->bound = cores_for(s, i, splits), a->bound_by = -1;
    else if (had == 1) {
        a->bound = cores_for(s, i, splits);
        a->rule = a->basis == 1 ? LX_SPLIT_NONE : a->blocked ? LX_SPLIT_BLOCKED : LX_SPLIT_NO_CORES;
    }
    splits[i] = most;
}

bool distribute(struct space *s, const int *outputs, int output_count, const int *reductions,
                int reduction_count, int64_t *splits, lx_status *st)
{
    int64_t left;
    if (!commit(s, splits, &left, st)) return false;
    left = s->cores / space_used(s, splits);
    for (int i = 0; i < s->axis_count; i++) {
        struct axis *a = &s->axes[i];
        if (splits[i] > 1) continue;
        a->rule = a->basis == 1     ? LX_SPLIT_NONE
                  : a->blocked      ? LX_SPLIT_BLOCKED
                  : a->apart        ? LX_SPLIT_APART
                  : a->is_reduction ? LX_SPLIT_LATER
                                    : LX_SPLIT_NO_CORES;
        a->bound = left;
    }
    for (int i = 0; i < output_count; i++) distribute_take(s, outputs[i], LX_SPLIT_OUTPUT, splits);
    /* The reduction axis to split: a committed one, otherwise the one that can use most of the rest; -1:
     * none. */
    bool split = space_reductions_split(s, splits) > 0;
    int best = -1;
    for (int i = 0; i < reduction_count; i++) {
        int a = reductions[i];
        if (split && splits[a] == 1) continue;
        if (best < 0 || most_for(s, a, splits) > most_for(s, best, splits)) best = a;
    }
    if (best >= 0) distribute_take(s, best, LX_SPLIT_REDUCTION, splits);
    return true;
}

/* --- Hints: splits that a pattern asks for, in order. A hint without enough cores is skipped, an impossible
 * one is an error. Other axes stay whole except for splits that spans need. --- */

static bool hints_bad(const struct space *s, lx_status *st, const struct lx_split_hint *h, const char *why)
{
    return status_set_at(st, LX_E_HINT, s->file, s->line, 1,
                         "op %s: a split of '%c' into %lld was asked for, but %s", s->op_name, h->letter,
                         (long long)h->split, why);
}

bool apply_hints(struct space *s, const struct lx_split_hint *hints, int count, int64_t *splits,
                 lx_status *st)
{
    int64_t left = s->cores;
    for (int i = 0; i < s->axis_count; i++) {
        struct axis *a = &s->axes[i];
        splits[i] = a->floor;
        left /= a->floor;
        if (a->floor == 1) a->rule = a->basis == 1 ? LX_SPLIT_NONE : LX_SPLIT_UNASKED;
    }
    for (int h = 0; h < count; h++) {
        int i = 0;
        while (i < s->axis_count && s->axes[i].letter != hints[h].letter) i++;
        if (i == s->axis_count)
            return hints_bad(
                s, st, &hints[h],
                "that dimension is not in the iteration space; its letters are those of the einsum");
        struct axis *a = &s->axes[i];
        int64_t want = hints[h].split;
        if (want < 1) return hints_bad(s, st, &hints[h], "a split is an integer from 1 on");
        if (want > left * splits[i]) {
            a->bound = want;
            if (splits[i] == 1) a->rule = LX_SPLIT_NO_CORES;
            continue;
        }
        if (a->basis % want != 0 && !factor_in(&a->legal, want))
            return hints_bad(
                s, st, &hints[h],
                "it is not evenly divisible; use a divisor of its extent, in sticks where sticks run "
                "along it");
        if (want < a->floor) return hints_bad(s, st, &hints[h], "the span limit needs more slices than that");
        if (!factor_in(&a->legal, want))
            return hints_bad(s, st, &hints[h], "a constraint of the op does not allow it");
        splits[i] = want;
        left = s->cores / space_used(s, splits);
        if (space_reductions_split(s, splits) > 1)
            return hints_bad(s, st, &hints[h],
                             "then more than one reduction dimension would be split; ask for one");
        a->rule = LX_SPLIT_HINT;
        a->bound = want;
    }
    return true;
}

/* --- Matmuls without committed splits are divided by predicted time. N are the axes that only the kernel has,
 * the input with the axis along which the output's sticks run; K is the one summed axis; M is the innermost
 * axis that only the other input has, and the rest is batch: if no axis is in both inputs, the outer rows. The
 * pass declines other ops, and considers only divisions with at least as many cores as distribution uses. --- */

static int matmul_var_of(const struct op_index *x, const struct axis *a)
{
    int v = 0;
    while (v < x->var_count && x->letter[v] != a->letter) v++;
    return v < x->var_count ? v : -1;
}

int matmul_kernel(const struct lx_layouts *l, int32_t op)
{
    struct op_index x;
    op_index_of(l->graph, &l->graph->ops[op], &x);
    return (op_index_dim(&x, 0, l->stick_var[op]) >= 0) ? 0 : 1;
}

/* Fills `role` per axis. False: the axes are not those of a matmul. */
static bool matmul_roles_of(const struct op_index *x, const struct space *s, int kernel,
                            enum matmul_role *role)
{
    int k = -1, m = -1;
    bool shared = true;
    for (int i = 0; i < s->axis_count; i++) {
        int v = matmul_var_of(x, &s->axes[i]);
        bool has = op_index_dim(x, kernel, v) >= 0, other = op_index_dim(x, 1 - kernel, v) >= 0;
        role[i] = op_index_reduced(x, v) ? MATMUL_K : !other ? MATMUL_N : !has ? MATMUL_M : MATMUL_BATCH;
        if (role[i] == MATMUL_M) m = i; /* the innermost: axes are in the output's order */
        shared &= role[i] != MATMUL_BATCH || s->axes[i].extent == 1;
        if (role[i] != MATMUL_K) continue;
        if (s->axes[i].extent > 1 && k >= 0 && s->axes[k].extent > 1) return false;
        if (k < 0 || s->axes[i].extent > 1) k = i;
    }
    for (int i = 0; shared && i < m; i++)
        if (role[i] == MATMUL_M) role[i] = MATMUL_BATCH;
    return k >= 0 && m >= 0;
}

bool matmul_roles(const struct lx_layouts *l, int32_t op_number, const struct space *s,
                  enum matmul_role *role, struct matmul_shape *shape)
{
    const struct lx_op *op = &l->graph->ops[op_number];
    const struct lx_tensor *tensors = l->graph->tensors;
    struct op_index x;
    if (!(op->kind->traits & LX_CONTRACTS) || !op->reduces || l->stick_var[op_number] < 0) return false;
    op_index_of(l->graph, op, &x);
    int kernel = (op_index_dim(&x, 0, l->stick_var[op_number]) >= 0) ? 0 : 1;
    if (x.window_count || !matmul_roles_of(&x, s, kernel, role)) return false;
    const struct lx_layout *rows = &l->layouts[op->inputs[1 - kernel]];
    *shape = (struct matmul_shape){.b = 1,
                                   .m = 1,
                                   .n = 1,
                                   .k = 1,
                                   .shared_weight = true,
                                   .cores = s->cores,
                                   .stick_elements = rows->stick_elements,
                                   .operand_bytes = max_i64(rows->stick_bytes / rows->stick_elements, 1),
                                   .output_bytes = max_i64(lx_dtype_bits(tensors[op->output].dtype) / 8, 1)};
    int64_t *const of[] = {
        [MATMUL_BATCH] = &shape->b, [MATMUL_M] = &shape->m, [MATMUL_N] = &shape->n, [MATMUL_K] = &shape->k};
    for (int i = 0; i < s->axis_count; i++) {
        int v = matmul_var_of(&x, &s->axes[i]);
        if (!mul_i64(*of[role[i]], s->axes[i].extent, of[role[i]])) return false;
        shape->shared_weight &=
            role[i] != MATMUL_BATCH || s->axes[i].extent == 1 || op_index_dim(&x, kernel, v) < 0;
    }
    return true;
}

struct matmul_split matmul_split_of(const struct space *s, const enum matmul_role *role,
                                    const int64_t *splits)
{
    struct matmul_split p = {1, 1, 1, 1, 0};
    int64_t *const of[] = {[MATMUL_BATCH] = &p.b, [MATMUL_M] = &p.m, [MATMUL_N] = &p.n, [MATMUL_K] = &p.k};
    for (int i = 0; i < s->axis_count; i++) *of[role[i]] *= splits[i];
    p.imbalance = space_imbalance(s, splits);
    return p;
}

bool matmul_divide(const struct lx_layouts *l, int32_t op, struct space *s, const int64_t *by_default,
                   int64_t *splits)
{
    enum matmul_role role[LX_MAX_VARS];
    struct matmul_shape shape;
    const struct cost_rates rates = cost_rates_of(&l->graph->device);
    for (int i = 0; i < s->axis_count; i++)
        if (s->axes[i].floor > 1) return false;
    if (!matmul_roles(l, op, s, role, &shape)) return false;
    int64_t trial[LX_MAX_VARS] = {0}, best[LX_MAX_VARS] = {0};
    double least = 0;
    bool found = false;
    struct candidate_walk w = {.s = s, .splits = trial};
    while (candidate_next(&w)) {
        if (space_used(s, trial) < space_used(s, by_default)) continue;
        struct matmul_split p = matmul_split_of(s, role, trial);
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
