/* Two results files, cell by cell: what changed beyond noise.
 *
 * With at least four runs per side, Mann-Whitney's U decides at p < 0.05 (and at least 2 %, because a
 * difference can be certain and not matter). With fewer, a time has changed when it differs by a quarter, by
 * more than a millisecond and by more than three deviations; a value when the two ranges do not touch. "~" is
 * no change that can be told from noise. */
#include "bench/pairs.h"
#include "bench/statistics.h"

#include <math.h>
#include <string.h>

enum { ENOUGH = 4 };

bool pairs_gather(pairs *all, const struct results *r, int which)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->rows.count; i++) {
        const struct row *row = &r->rows.at[i];
        size_t k = 0;
        if (row->outcome == OUTCOME_BAD_INPUT) continue;
        while (k < all->count && (strcmp(all->at[k].first->hash, row->hash) != 0 ||
                                  strcmp(all->at[k].first->solver, row->solver) != 0 ||
                                  strcmp(all->at[k].first->name, row->name) != 0 ||
                                  strcmp(all->at[k].first->question, row->question) != 0))
            k++;
        if (k == all->count && !VEC_PUSH(all, (struct pair){.first = row})) return false;
        struct side *s = &all->at[k].side[which];
        bool solved = row_is_solved(row);
        s->runs++;
        s->solved += solved;
        s->proved += row->outcome == OUTCOME_OPTIMAL || row->outcome == OUTCOME_INFEASIBLE;
        s->wrong += row->outcome == OUTCOME_WRONG;
        if (solved && row->has_seconds) ok = VEC_PUSH(&s->times, row->seconds);
        if (solved && row->has_value) ok = ok && VEC_PUSH(&s->values, (double)row->value);
    }
    return ok;
}

static enum change change_of_time(const struct side *a, const struct side *b, double before, double after)
{
    size_t n = a->times.count, m = b->times.count;
    if (n == 0 || m == 0) return UNSURE;
    enum change sense = after < before ? GAINED : LOST;
    double ratio = after < before ? before / after : after / before;
    if (n >= ENOUGH && m >= ENOUGH)
        return ratio >= 1.02 && mann_whitney_p(a->times.at, n, b->times.at, m) < 0.05 ? sense : UNSURE;
    double noise = 3 * fmax(deviation_of(a->times.at, n), deviation_of(b->times.at, m));
    return ratio >= 1.25 && fabs(after - before) > fmax(noise, 0.001) ? sense : UNSURE;
}

/* All or nothing on both sides is a change; anything between may be chance. */
static enum change change_of_share(int64_t a, int64_t n, int64_t b, int64_t m)
{
    if (a == 0 && b == m) return GAINED;
    if (a == n && b == 0) return LOST;
    return (a == 0 && b == 0) || (a == n && b == m) ? UNCHANGED : UNSURE;
}

/* The samples are sorted already. Less is better. */
static enum change change_of_value(const struct side *a, const struct side *b)
{
    size_t n = a->values.count, m = b->values.count;
    enum change share = change_of_share(a->solved, a->runs, b->solved, b->runs);
    if (b->wrong && !a->wrong) return LOST;
    if (share != UNCHANGED || n == 0 || m == 0) return share;
    const double *x = a->values.at, *y = b->values.at;
    if (x[0] == x[n - 1] && y[0] == y[m - 1] && x[0] == y[0])
        return change_of_share(a->proved, a->runs, b->proved, b->runs);
    if (y[m - 1] < x[0]) return GAINED;
    if (y[0] > x[n - 1]) return LOST;
    if (n < ENOUGH || m < ENOUGH || mann_whitney_p(x, n, y, m) >= 0.05) return UNSURE;
    return y[m / 2] < x[n / 2] ? GAINED : LOST;
}

bool pair_is_tested(const struct pair *p)
{
    return p->side[0].times.count >= ENOUGH && p->side[1].times.count >= ENOUGH;
}

struct pair_row pair_row_of(struct pair *p)
{
    struct side *a = &p->side[0], *b = &p->side[1];
    struct pair_row row = {.instance = p->first->name,
                           .name = p->first->name,
                           .path = p->first->instance,
                           .solver = p->first->solver,
                           .measure = measure_of(p->first->question, p->first->has_clocks),
                           .p = NAN};
    for (int k = 0; k < 2; k++) {
        struct side *s = &p->side[k];
        row.runs[k] = s->runs;
        row.proved[k] = s->proved;
        row.seconds[k] = median_of(s->times.at, s->times.count);
        row.value[k] = median_of(s->values.at, s->values.count);
    }
    row.speed = change_of_time(a, b, row.seconds[0], row.seconds[1]);
    row.quality = change_of_value(a, b);
    if (pair_is_tested(p)) row.p = mann_whitney_p(a->times.at, a->times.count, b->times.at, b->times.count);
    return row;
}

void pairs_free(pairs *all)
{
    for (size_t i = 0; i < all->count; i++)
        for (int k = 0; k < 2; k++) {
            VEC_FREE(&all->at[i].side[k].times);
            VEC_FREE(&all->at[i].side[k].values);
        }
    VEC_FREE(all);
}
