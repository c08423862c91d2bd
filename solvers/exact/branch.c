/* Which column to branch on: the one whose two sides raise the bound most, by what such sides did before.
 * Per column and side the mean rise of the linear programme's objective for each unit of fraction is kept
 * (pseudo-costs). A column with too few samples is tried out: both sides are solved for a few pivots
 * (strong branching), the best-looking columns first. The score of a column is the product of its two
 * rises, so that both sides count. Rises are floating point and only guide; nothing is decided here. */
#include "exact/search.h"
#include "base/memory.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

enum { RELIABLE = 4, MOST_TRIALS = 8, TRIAL_PIVOTS = 40 };

static double side_rise(const struct search *s, int32_t j, bool up)
{
    const struct search_rise *r = &s->rise[j][up];
    double distance = up ? 1 - s->fraction[j] : s->fraction[j];
    if (r->count > 0) return r->sum / r->count * distance;
    const struct search_rise *all = &s->rise_of_all[up];
    double stake = search_stake(s->m, j);
    return stake * distance * (all->count > 0 ? all->sum / all->count : 1);
}

void search_learn(struct search *s, int32_t j, bool up, double distance, double rise)
{
    if (distance < 1e-6) return;
    struct search_rise *r = &s->rise[j][up], *all = &s->rise_of_all[up];
    rise = fmax(rise, 0);
    r->sum += rise / distance;
    r->count++;
    all->sum += rise / distance / search_stake(s->m, j);
    all->count++;
}

static double score_of(const struct search *s, double down, double up)
{
    double least = 1e-6 * (fabs((double)s->best) + 1);
    return fmax(down, least) * fmax(up, least);
}

/* The objective that one side has after some pivots; above the cutoff where it ends. */
static double try_side(struct search *s, int32_t j, bool value)
{
    int64_t pivots = lp_pivots(s->lp);
    search_decide(s, j, value, value);
    enum lp_result result = lp_solve_briefly(s->lp, search_cutoff(s), TRIAL_PIVOTS);
    s->budget->steps += lp_pivots(s->lp) - pivots + 1;
    double objective = lp_objective(s->lp), end = search_cutoff(s);
    return result == LP_INFEASIBLE || result == LP_CUTOFF ? fmax(objective, end) : objective;
}

static double try_column(struct search *s, int32_t j, double now)
{
    double f = s->fraction[j];
    double down = try_side(s, j, false) - now, up = try_side(s, j, true) - now;
    search_decide(s, j, false, true);
    search_learn(s, j, false, f, down);
    search_learn(s, j, true, 1 - f, up);
    return score_of(s, down, up);
}

struct choice {
    double score;
    int32_t column;
};

ORDER(compare_choices, struct choice, ORDER_DOWN(score) ORDER_UP(column));

int32_t search_choose(struct search *s, double now)
{
    struct choice *choices = mem_alloc(((size_t)model_choices(s->m) + 1) * sizeof *choices);
    /* Fractional columns that are not decided, with their scores. */
    int32_t i = 0;
    for (int32_t j = 0; j < model_choices(s->m); j++) {
        double f = s->fraction[j];
        if (fmin(f, 1 - f) < 1e-6 || s->low[j] == s->high[j]) continue;
        choices[i++] = (struct choice){score_of(s, side_rise(s, j, false), side_rise(s, j, true)), j};
    }
    qsort(choices, (size_t)i, sizeof *choices, compare_choices);
    int32_t n = i, best = n > 0 ? choices[0].column : -1, tried = 0;
    double most = -1;
    for (int32_t k = 0; k < n && tried < MOST_TRIALS && !budget_spent(s->budget); k++) {
        int32_t j = choices[k].column;
        bool known = s->rise[j][0].count >= RELIABLE && s->rise[j][1].count >= RELIABLE;
        double score = known ? choices[k].score : try_column(s, j, now);
        tried++;
        if (score <= most) continue;
        most = score;
        best = j;
    }
    mem_free(choices);
    return best;
}
