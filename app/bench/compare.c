/* Two results files, cell by cell: what changed beyond noise.
 *
 * With at least four runs per side, Mann-Whitney's U decides at p < 0.05 (and at least 2 %, because a
 * difference can be certain and not matter). With fewer, a time has changed when it differs by a quarter, by
 * more than a millisecond and by more than three deviations; a value when the two ranges do not touch. "~" is
 * no change that can be told from noise. */
#include "bench/report.h"
#include "bench/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENOUGH = 4 };

struct side {
    VEC(double) times, values;
    int64_t runs, solved, proved, wrong;
};

struct pair {
    const struct row *first; /* one row of it, for the names */
    struct side side[2];
};

typedef VEC(struct pair) pairs;

enum change { UNCHANGED, UNSURE, GAINED, LOST };

static bool same_cell(const struct row *a, const struct row *b)
{
    return strcmp(a->hash, b->hash) == 0 && strcmp(a->solver, b->solver) == 0 &&
           strcmp(a->name, b->name) == 0 && strcmp(a->question, b->question) == 0;
}

static bool gather(pairs *all, const struct results *r, int which)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->rows.count; i++) {
        const struct row *row = &r->rows.at[i];
        size_t k = 0;
        if (row->outcome == OUTCOME_BAD_INPUT) continue;
        while (k < all->count && !same_cell(all->at[k].first, row)) k++;
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

static const struct sheet_column cell_columns[] = {
    {"instance", "instance", SHEET_WORDS, false},
    {"solver", "solver", SHEET_WORDS, false},
    {"runs_before", NULL, SHEET_COUNT, false},
    {"runs_after", NULL, SHEET_COUNT, false},
    {"seconds_before", "time before", SHEET_SECONDS, false},
    {"seconds_after", "after", SHEET_SECONDS, false},
    {"time_ratio", "ratio", SHEET_RATIO, false},
    {"p", "p", SHEET_RATIO, true},
    {"speed", "speed", SHEET_WORDS, false},
    {"value_before", "value before", SHEET_COUNT, false},
    {"value_after", "after", SHEET_COUNT, false},
    {"proved_before", NULL, SHEET_COUNT, false},
    {"proved_after", NULL, SHEET_COUNT, false},
    {"quality", "quality", SHEET_WORDS, false},
};

static const char *const speed_words[] = {
    [UNCHANGED] = "~", [UNSURE] = "~", [GAINED] = "faster", [LOST] = "slower"};
static const char *const quality_words[] = {
    [UNCHANGED] = "=", [UNSURE] = "~", [GAINED] = "better", [LOST] = "worse"};
static const enum paint change_paint[] = {
    [UNCHANGED] = PAINT_DIM, [UNSURE] = PAINT_DIM, [GAINED] = PAINT_GOOD, [LOST] = PAINT_BAD};

static const struct sheet_column total_columns[] = {
    {"solver", "solver", SHEET_WORDS, false},        {"pairs", "pairs", SHEET_COUNT, false},
    {"faster", "faster", SHEET_COUNT, false},        {"slower", "slower", SHEET_COUNT, false},
    {"speed_same", "~", SHEET_COUNT, false},         {"mean_time_ratio", "mean ratio", SHEET_RATIO, false},
    {"sign_test_p", "p", SHEET_RATIO, false},        {"better", "better", SHEET_COUNT, false},
    {"worse", "worse", SHEET_COUNT, false},          {"quality_same", "=", SHEET_COUNT, false},
    {"quality_unsure", "~", SHEET_COUNT, false},     {"only_before", "only before", SHEET_COUNT, true},
    {"only_after", "only after", SHEET_COUNT, true},
};

struct total {
    const char *solver;
    size_t pairs, speed[4], quality[4], less, more, only[2];
    double log_ratio;
    size_t ratios;
};

typedef VEC(struct total) totals;

static struct total *total_of(totals *all, const char *solver)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->at[i].solver, solver) == 0) return &all->at[i];
    return VEC_PUSH(all, (struct total){.solver = solver}) ? &all->at[all->count - 1] : NULL;
}

static void add_pair(struct pair *p, struct total *t, struct sheet *out)
{
    struct side *a = &p->side[0], *b = &p->side[1];
    double before = median_of(a->times.at, a->times.count), after = median_of(b->times.at, b->times.count);
    double from = median_of(a->values.at, a->values.count), to = median_of(b->values.at, b->values.count);
    enum change speed = change_of_time(a, b, before, after), quality = change_of_value(a, b);
    bool tested = a->times.count >= ENOUGH && b->times.count >= ENOUGH;
    t->pairs++;
    t->speed[speed]++;
    t->quality[quality]++;
    if (before > 0 && after > 0) {
        t->log_ratio += log(after / before);
        t->ratios++;
        t->less += after < before;
        t->more += after > before;
    }
    sheet_words(out, PAINT_PLAIN, p->first->name);
    sheet_words(out, PAINT_PLAIN, p->first->solver);
    sheet_number(out, PAINT_PLAIN, (double)a->runs);
    sheet_number(out, PAINT_PLAIN, (double)b->runs);
    sheet_number(out, PAINT_PLAIN, before);
    sheet_number(out, PAINT_PLAIN, after);
    sheet_number(out, PAINT_PLAIN, before > 0 ? after / before : NAN);
    sheet_number(out, PAINT_PLAIN,
                 tested ? mann_whitney_p(a->times.at, a->times.count, b->times.at, b->times.count) : NAN);
    sheet_words(out, change_paint[speed], speed_words[speed]);
    sheet_number(out, PAINT_PLAIN, from);
    sheet_number(out, PAINT_PLAIN, to);
    sheet_number(out, PAINT_PLAIN, (double)a->proved);
    sheet_number(out, PAINT_PLAIN, (double)b->proved);
    sheet_words(out, change_paint[quality], quality_words[quality]);
}

static void add_total(const struct total *t, struct sheet *out)
{
    sheet_words(out, PAINT_PLAIN, t->solver);
    sheet_number(out, PAINT_PLAIN, (double)t->pairs);
    sheet_number(out, PAINT_PLAIN, (double)t->speed[GAINED]);
    sheet_number(out, t->speed[LOST] ? PAINT_BAD : PAINT_PLAIN, (double)t->speed[LOST]);
    sheet_number(out, PAINT_PLAIN, (double)(t->speed[UNSURE] + t->speed[UNCHANGED]));
    sheet_number(out, PAINT_PLAIN, t->ratios ? exp(t->log_ratio / (double)t->ratios) : NAN);
    sheet_number(out, PAINT_PLAIN, t->ratios ? sign_test_p(t->less, t->more) : NAN);
    sheet_number(out, PAINT_PLAIN, (double)t->quality[GAINED]);
    sheet_number(out, t->quality[LOST] ? PAINT_BAD : PAINT_PLAIN, (double)t->quality[LOST]);
    sheet_number(out, PAINT_PLAIN, (double)t->quality[UNCHANGED]);
    sheet_number(out, PAINT_PLAIN, (double)t->quality[UNSURE]);
    sheet_number(out, PAINT_PLAIN, (double)t->only[0]);
    sheet_number(out, PAINT_PLAIN, (double)t->only[1]);
}

bool compare_sheets(const struct results *before, const struct results *after, struct sheet *cells,
                    struct sheet *sums)
{
    pairs all = {0};
    totals by_solver = {0};
    size_t tested = 0;
    *cells = (struct sheet){.key = "pairs",
                            .title = "Before and after",
                            .columns = cell_columns,
                            .column_count = sizeof cell_columns / sizeof *cell_columns};
    *sums = (struct sheet){.key = "totals",
                           .title = "Totals",
                           .columns = total_columns,
                           .column_count = sizeof total_columns / sizeof *total_columns};
    bool ok = gather(&all, before, 0) && gather(&all, after, 1);
    for (size_t i = 0; ok && i < all.count; i++) {
        struct pair *p = &all.at[i];
        struct total *t = total_of(&by_solver, p->first->solver);
        ok = t;
        if (!t) break;
        tested += p->side[0].times.count >= ENOUGH && p->side[1].times.count >= ENOUGH;
        if (p->side[0].runs && p->side[1].runs)
            add_pair(p, t, cells);
        else
            t->only[p->side[0].runs == 0]++;
    }
    for (size_t i = 0; ok && i < by_solver.count; i++) add_total(&by_solver.at[i], sums);
    text_add(
        &sums->notes,
        "Below 1 a ratio is a gain. mean ratio: geometric, over all pairs; p: sign test over the pairs.\n"
        "faster, slower, better, worse: beyond noise (four runs per side or more: Mann-Whitney p < 0.05 and "
        "2 %;\n"
        "fewer: a quarter, 1 ms and three deviations); ~: cannot be told from noise; better: also a new "
        "proof.\n");
    if (tested >= 20)
        text_format(&sums->notes,
                    "Of %zu pairs that were tested at 5 %%, about %.0f look changed by chance alone.\n",
                    tested, (double)tested * 0.05);
    for (size_t i = 0; i < all.count; i++)
        for (int k = 0; k < 2; k++) {
            VEC_FREE(&all.at[i].side[k].times);
            VEC_FREE(&all.at[i].side[k].values);
        }
    VEC_FREE(&all);
    VEC_FREE(&by_solver);
    return ok && !cells->failed && !sums->failed;
}
