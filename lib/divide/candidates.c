/* Every legal division of an op, in order: a counter over the axes, the last one fastest, each through its
 * legal factors in ascending order; what breaks a rule is stepped over. */
#include "divide/space.h"

bool splits_admissible(const struct space *s, const int64_t *splits)
{
    for (int i = 0; i < s->axis_count; i++)
        if (splits[i] < s->axes[i].floor || !factor_in(&s->axes[i].legal, splits[i])) return false;
    return space_reductions_split(s, splits) <= 1;
}

bool splits_legal(const struct space *s, const int64_t *splits)
{
    return splits_admissible(s, splits) && space_used(s, splits) <= s->cores && space_spans_fit(s, splits);
}

/* The smallest factor an axis may have; 0: none. */
static int64_t candidates_lowest(const struct axis *a)
{
    return factor_least(&a->legal, a->floor);
}

/* Counts one up; false when all combinations have been. Factors above the cores are never reached. */
static bool count_up(const struct space *s, int64_t *splits)
{
    for (int i = s->axis_count - 1; i >= 0; i--) {
        int64_t next = factor_least(&s->axes[i].legal, splits[i] + 1);
        if (next > 0 && next <= s->cores) {
            splits[i] = next;
            /* Products that are too large already stay so however the later axes turn. */
            if (space_used(s, splits) <= s->cores) return true;
        }
        splits[i] = candidates_lowest(&s->axes[i]);
    }
    return false;
}

bool candidate_next(struct candidate_walk *w)
{
    const struct space *s = w->s;
    if (!w->started) {
        w->started = true;
        for (int i = 0; i < s->axis_count; i++)
            if ((w->splits[i] = candidates_lowest(&s->axes[i])) == 0) return false;
        if (splits_legal(s, w->splits)) return true;
    }
    while (count_up(s, w->splits))
        if (splits_legal(s, w->splits)) return true;
    return false;
}
