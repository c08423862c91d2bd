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

static const char *const speed_words[] = {
    [UNCHANGED] = "~", [UNSURE] = "~", [GAINED] = "faster", [LOST] = "slower"};
static const char *const quality_words[] = {
    [UNCHANGED] = "=", [UNSURE] = "~", [GAINED] = "better", [LOST] = "worse"};
static const enum paint change_paint[] = {
    [UNCHANGED] = PAINT_DIM, [UNSURE] = PAINT_DIM, [GAINED] = PAINT_GOOD, [LOST] = PAINT_BAD};

/* One cell on both sides: before is 0, after 1. */
struct pair_row {
    const char *instance, *solver;
    int64_t runs[2], proved[2];
    double seconds[2], value[2]; /* medians */
    double p;                    /* NAN: too few runs for a test */
    enum change speed, quality;
};

/* clang-format off */
VALUE_OF(instance_value, struct pair_row, v->words = row->instance;)
VALUE_OF(solver_value,   struct pair_row, v->words = row->solver;)
VALUE_OF(runs_value,     struct pair_row, value_whole(v, row->runs[column->argument]);)
VALUE_OF(proved_value,   struct pair_row, value_whole(v, row->proved[column->argument]);)
VALUE_OF(seconds_value,  struct pair_row, v->number = row->seconds[column->argument];)
VALUE_OF(value_value,    struct pair_row, v->number = row->value[column->argument];)
VALUE_OF(ratio_value,    struct pair_row, v->number = row->seconds[0] > 0 ? row->seconds[1] / row->seconds[0] : NAN;)
VALUE_OF(p_value,        struct pair_row, v->number = row->p;)
VALUE_OF(speed_value,    struct pair_row, v->words = speed_words[row->speed]; v->paint = change_paint[row->speed];)
VALUE_OF(quality_value,  struct pair_row, v->words = quality_words[row->quality]; v->paint = change_paint[row->quality];)

static const struct column pair_array[] = {
    {.key = "instance",       .heading = "instance",     .kind = VALUE_WORDS,   .value = instance_value},
    {.key = "solver",         .heading = "solver",       .kind = VALUE_WORDS,   .value = solver_value},
    {.key = "runs_before",                               .kind = VALUE_COUNT,   .argument = 0, .value = runs_value},
    {.key = "runs_after",                                .kind = VALUE_COUNT,   .argument = 1, .value = runs_value},
    {.key = "seconds_before", .heading = "time before",  .kind = VALUE_SECONDS, .argument = 0, .value = seconds_value},
    {.key = "seconds_after",  .heading = "after",        .kind = VALUE_SECONDS, .argument = 1, .value = seconds_value},
    {.key = "time_ratio",     .heading = "ratio",        .kind = VALUE_RATIO,   .value = ratio_value},
    {.key = "p",              .heading = "p",            .kind = VALUE_RATIO,   .flags = COLUMN_MAY_HIDE, .value = p_value},
    {.key = "speed",          .heading = "speed",        .kind = VALUE_WORDS,   .value = speed_value},
    {.key = "value_before",   .heading = "value before", .kind = VALUE_COUNT,   .argument = 0, .value = value_value},
    {.key = "value_after",    .heading = "after",        .kind = VALUE_COUNT,   .argument = 1, .value = value_value},
    {.key = "proved_before",                             .kind = VALUE_COUNT,   .argument = 0, .value = proved_value},
    {.key = "proved_after",                              .kind = VALUE_COUNT,   .argument = 1, .value = proved_value},
    {.key = "quality",        .heading = "quality",      .kind = VALUE_WORDS,   .value = quality_value},
};
/* clang-format on */

const struct columns pair_columns = COLUMNS("pairs of a comparison", pair_array);

struct total {
    const char *solver;
    int64_t pairs, speed[4], quality[4], only[2];
    size_t less, more, ratios;
    double log_ratio;
};

typedef VEC(struct total) totals;

static void lost_value(struct value *v, int64_t n)
{
    value_whole(v, n);
    v->paint = n ? PAINT_BAD : PAINT_PLAIN;
}

/* clang-format off */
VALUE_OF(of_solver_value, struct total, v->words = row->solver;)
VALUE_OF(pairs_value,     struct total, value_whole(v, row->pairs);)
VALUE_OF(faster_value,    struct total, value_whole(v, row->speed[GAINED]);)
VALUE_OF(slower_value,    struct total, lost_value(v, row->speed[LOST]);)
VALUE_OF(same_value,      struct total, value_whole(v, (row->speed[UNSURE] + row->speed[UNCHANGED]));)
VALUE_OF(mean_value,      struct total, v->number = row->ratios ? exp(row->log_ratio / (double)row->ratios) : NAN;)
VALUE_OF(sign_value,      struct total, v->number = row->ratios ? sign_test_p(row->less, row->more) : NAN;)
VALUE_OF(better_value,    struct total, value_whole(v, row->quality[column->argument]);)
VALUE_OF(worse_value,     struct total, lost_value(v, row->quality[LOST]);)
VALUE_OF(only_value,      struct total, value_whole(v, row->only[column->argument]);)

static const struct column total_array[] = {
    {.key = "solver",          .heading = "solver",      .kind = VALUE_WORDS, .value = of_solver_value},
    {.key = "pairs",           .heading = "pairs",       .kind = VALUE_COUNT, .value = pairs_value},
    {.key = "faster",          .heading = "faster",      .kind = VALUE_COUNT, .value = faster_value},
    {.key = "slower",          .heading = "slower",      .kind = VALUE_COUNT, .value = slower_value},
    {.key = "speed_same",      .heading = "~",           .kind = VALUE_COUNT, .value = same_value},
    {.key = "mean_time_ratio", .heading = "mean ratio",  .kind = VALUE_RATIO, .value = mean_value},
    {.key = "sign_test_p",     .heading = "p",           .kind = VALUE_RATIO, .value = sign_value},
    {.key = "better",          .heading = "better",      .kind = VALUE_COUNT, .argument = GAINED, .value = better_value},
    {.key = "worse",           .heading = "worse",       .kind = VALUE_COUNT, .value = worse_value},
    {.key = "quality_same",    .heading = "=",           .kind = VALUE_COUNT, .argument = UNCHANGED, .value = better_value},
    {.key = "quality_unsure",  .heading = "~",           .kind = VALUE_COUNT, .argument = UNSURE, .value = better_value},
    {.key = "only_before",     .heading = "only before", .kind = VALUE_COUNT, .argument = 0, .flags = COLUMN_MAY_HIDE, .value = only_value},
    {.key = "only_after",      .heading = "only after",  .kind = VALUE_COUNT, .argument = 1, .flags = COLUMN_MAY_HIDE, .value = only_value},
};
/* clang-format on */

const struct columns total_columns = COLUMNS("totals of a comparison", total_array);

static struct total *total_of(totals *all, const char *solver)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->at[i].solver, solver) == 0) return &all->at[i];
    return VEC_PUSH(all, (struct total){.solver = solver}) ? &all->at[all->count - 1] : NULL;
}

static bool is_tested(const struct pair *p)
{
    return p->side[0].times.count >= ENOUGH && p->side[1].times.count >= ENOUGH;
}

/* Sorts the samples. */
static struct pair_row row_of(struct pair *p)
{
    struct side *a = &p->side[0], *b = &p->side[1];
    struct pair_row row = {.instance = p->first->name, .solver = p->first->solver, .p = NAN};
    for (int k = 0; k < 2; k++) {
        struct side *s = &p->side[k];
        row.runs[k] = s->runs;
        row.proved[k] = s->proved;
        row.seconds[k] = median_of(s->times.at, s->times.count);
        row.value[k] = median_of(s->values.at, s->values.count);
    }
    row.speed = change_of_time(a, b, row.seconds[0], row.seconds[1]);
    row.quality = change_of_value(a, b);
    if (is_tested(p)) row.p = mann_whitney_p(a->times.at, a->times.count, b->times.at, b->times.count);
    return row;
}

static void count_pair(struct total *t, const struct pair_row *row)
{
    double before = row->seconds[0], after = row->seconds[1];
    t->pairs++;
    t->speed[row->speed]++;
    t->quality[row->quality]++;
    if (!(before > 0 && after > 0)) return;
    t->log_ratio += log(after / before);
    t->ratios++;
    t->less += after < before;
    t->more += after > before;
}

static const char *notes_of(struct arena *memory, size_t tested)
{
    const char *notes =
        "Below 1 a ratio is a gain. mean ratio: geometric, over all pairs; p: sign test over the pairs.\n"
        "faster, slower, better, worse: beyond noise (four runs per side or more: Mann-Whitney p < 0.05 and "
        "2 %;\n"
        "fewer: a quarter, 1 ms and three deviations); ~: cannot be told from noise; better: also a new "
        "proof.\n";
    if (tested < 20) return notes;
    return arena_format(memory,
                        "%sOf %zu pairs that were tested at 5 %%, about %.0f look changed by chance alone.\n",
                        notes, tested, (double)tested * 0.05);
}

/* Rows of the cells that both sides have, and what they add up to by solver. */
static bool fill(pairs *all, struct pair_row *list, size_t *count, totals *by_solver, size_t *tested)
{
    for (size_t i = 0; i < all->count; i++) {
        struct pair *p = &all->at[i];
        struct total *t = total_of(by_solver, p->first->solver);
        if (!t) return false;
        *tested += is_tested(p);
        if (p->side[0].runs && p->side[1].runs) {
            list[*count] = row_of(p);
            count_pair(t, &list[(*count)++]);
        } else
            t->only[p->side[0].runs == 0]++;
    }
    return true;
}

static void free_pairs(pairs *all)
{
    for (size_t i = 0; i < all->count; i++)
        for (int k = 0; k < 2; k++) {
            VEC_FREE(&all->at[i].side[k].times);
            VEC_FREE(&all->at[i].side[k].values);
        }
    VEC_FREE(all);
}

bool compare_tables(const struct results *before, const struct results *after, struct arena *memory,
                    struct table *cells, struct table *sums)
{
    pairs all = {0};
    totals by_solver = {0};
    size_t tested = 0, count = 0;
    bool ok = gather(&all, before, 0) && gather(&all, after, 1);
    struct pair_row *list = arena_array(memory, all.count, sizeof *list);
    ok = ok && list && fill(&all, list, &count, &by_solver, &tested);
    const struct total *kept =
        ok ? arena_copy_array(memory, by_solver.at, by_solver.count, sizeof *kept) : NULL;
    *cells = TABLE(pair_columns, list, count);
    cells->key = "pairs";
    cells->title = "Before and after";
    *sums = TABLE(total_columns, kept, by_solver.count);
    sums->key = "totals";
    sums->title = "Totals";
    sums->notes = notes_of(memory, tested);
    free_pairs(&all);
    VEC_FREE(&by_solver);
    return ok && kept && sums->notes;
}
