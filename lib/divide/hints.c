/* Splits that a pattern asks for. They are taken in order; one that the cores left do not suffice for is
 * passed over, one that cannot be is an error. What is not asked for stays whole, but for what the spans
 * need. */
#include "divide/space.h"
#include "base/fail.h"

static int axis_named(const struct space *s, char letter)
{
    for (int i = 0; i < s->axis_count; i++)
        if (s->axes[i].letter == letter) return i;
    return -1;
}

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
        int i = axis_named(s, hints[h].letter);
        if (i < 0)
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
        if (a->basis % want != 0)
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
