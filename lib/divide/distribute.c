/* Pass 2: the cores that the spans leave are handed out.
 *
 * Splits committed before are floors. Each output axis in order of priority takes the largest factor it may
 * have within the cores that the others leave, and one reduction axis, the committed one or else the one
 * that can use most of the rest, the remainder. A committed split may be raised to any larger factor, a
 * multiple of it or not: more slices never make a core's span larger, so what fitted still does. An axis
 * whose domain leaves out 1 gets its least factor reserved before anybody else. */
#include "divide/space.h"
#include "base/fail.h"
#include "base/checked.h"

#include <string.h>

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

/* Floors, and the least of a domain that leaves out 1. */
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

/* The cores that the other axes leave to this one. They count from the product, since a domain may have
 * skipped over divisors. */
static int64_t cores_for(const struct space *s, int i, const int64_t *splits)
{
    return s->cores / (space_used(s, splits) / splits[i]);
}

/* The largest factor that the axis may take, given what it has already. */
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
    /* Of the reduction axes the committed one, or else the one that can use most of what is left; -1: none. */
    bool split = space_reductions_split(s, splits) > 0;
    int best = -1;
    for (int i = 0; i < reduction_count; i++) {
        int a = reductions[i];
        if (split && splits[a] == 1) continue;
        if (best < 0 || most_for(s, a, splits) > most_for(s, best, splits)) best = a;
    }
    int reduction = best;
    if (reduction >= 0) distribute_take(s, reduction, LX_SPLIT_REDUCTION, splits);
    return true;
}
