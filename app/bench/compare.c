/* The tables and the verdict of a comparison of two results files. */
#include "bench/report.h"

/* Two results files, cell by cell: what changed beyond noise.
 *
 * With at least four runs per side, Mann-Whitney's U decides at p < 0.05 (and at least 2 %, because a
 * difference can be certain and not matter). With fewer, a time has changed when it differs by a quarter, by
 * more than a millisecond and by more than three deviations; a value when the two ranges do not touch. "~" is
 * no change that can be told from noise. */

enum { ENOUGH = 4 };

struct side {
    VEC(double) times, values;
    int64_t runs, solved, proved, wrong;
};

struct pair {
    const struct row *first; /* any row of the pair, for the names */
    struct side side[2];
};

typedef VEC(struct pair) pairs;

enum change { UNCHANGED, UNSURE, GAINED, LOST };

/* One cell on both sides: before is 0, after 1. */
struct pair_row {
    const char *measure;                         /* what the value is */
    const char *instance, *solver, *name, *path; /* instance: the name, or what tells it from others */
    int64_t runs[2], proved[2];
    double seconds[2], value[2]; /* medians */
    double p;                    /* NAN: too few runs for a test */
    enum change speed, quality;
};

/* Adds the rows of one side. */
static void pairs_gather(pairs *all, const struct results *r, int which)
{
    for (size_t i = 0; i < r->rows.count; i++) {
        const struct row *row = &r->rows.at[i];
        size_t k = 0;
        if (row->outcome == OUTCOME_BAD_INPUT) continue;
        while (k < all->count && (strcmp(all->at[k].first->hash, row->hash) != 0 ||
                                  strcmp(all->at[k].first->solver, row->solver) != 0 ||
                                  strcmp(all->at[k].first->name, row->name) != 0 ||
                                  strcmp(all->at[k].first->question, row->question) != 0))
            k++;
        if (k == all->count) VEC_PUSH(all, (struct pair){.first = row});
        struct side *s = &all->at[k].side[which];
        bool solved = row_is_solved(row);
        s->runs++;
        s->solved += solved;
        s->proved += row->outcome == OUTCOME_OPTIMAL || row->outcome == OUTCOME_INFEASIBLE;
        s->wrong += row->outcome == OUTCOME_WRONG;
        if (solved && row->has_seconds) VEC_PUSH(&s->times, row->seconds);
        if (solved && row->has_value) VEC_PUSH(&s->values, (double)row->value);
    }
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

/* Has it enough runs on both sides for a test? */
static bool pair_is_tested(const struct pair *p)
{
    return p->side[0].times.count >= ENOUGH && p->side[1].times.count >= ENOUGH;
}

/* Sorts the samples. */
static struct pair_row pair_row_of(struct pair *p)
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

static const char *const speed_words[] = {
    [UNCHANGED] = "~", [UNSURE] = "~", [GAINED] = "faster", [LOST] = "slower"};
static const char *const quality_words[] = {
    [UNCHANGED] = "=", [UNSURE] = "~", [GAINED] = "better", [LOST] = "worse"};
static const enum paint change_paint[] = {
    [UNCHANGED] = PAINT_DIM, [UNSURE] = PAINT_DIM, [GAINED] = PAINT_GOOD, [LOST] = PAINT_BAD};

/* clang-format off */
VALUE_OF(ratio_value,    struct pair_row, v->number = row->seconds[0] > 0 ? row->seconds[1] / row->seconds[0] : NAN;)
VALUE_OF(speed_value,    struct pair_row, v->words = speed_words[row->speed]; v->paint = change_paint[row->speed];)
VALUE_OF(quality_value,  struct pair_row, v->words = quality_words[row->quality]; v->paint = change_paint[row->quality];)

static const struct column pair_array[] = {
    {.key = "instance",       .heading = "instance",     .kind = VALUE_WORDS,   MEMBER(struct pair_row, instance)},
    {.key = "path",                                      .kind = VALUE_WORDS,   MEMBER(struct pair_row, path)},
    {.key = "solver",         .heading = "solver",       .kind = VALUE_WORDS,   MEMBER(struct pair_row, solver)},
    {.key = "runs_before",                               .kind = VALUE_COUNT,   MEMBER(struct pair_row, runs[0])},
    {.key = "runs_after",                                .kind = VALUE_COUNT,   MEMBER(struct pair_row, runs[1])},
    {.key = "seconds_before", .heading = "time before",  .kind = VALUE_SECONDS, MEMBER(struct pair_row, seconds[0])},
    {.key = "seconds_after",  .heading = "after",        .kind = VALUE_SECONDS, MEMBER(struct pair_row, seconds[1])},
    {.key = "time_ratio",     .heading = "ratio",        .kind = VALUE_RATIO,   .value = ratio_value},
    {.key = "p",              .heading = "p",            .kind = VALUE_RATIO,   .flags = COLUMN_MAY_HIDE, MEMBER(struct pair_row, p)},
    {.key = "speed",          .heading = "speed",        .kind = VALUE_WORDS,   .value = speed_value},
    {.key = "measure",        .heading = "measure",      .kind = VALUE_WORDS,   MEMBER(struct pair_row, measure)},
    {.key = "value_before",   .heading = "value before", .kind = VALUE_COUNT,   MEMBER(struct pair_row, value[0])},
    {.key = "value_after",    .heading = "after",        .kind = VALUE_COUNT,   MEMBER(struct pair_row, value[1])},
    {.key = "proved_before",                             .kind = VALUE_COUNT,   MEMBER(struct pair_row, proved[0])},
    {.key = "proved_after",                              .kind = VALUE_COUNT,   MEMBER(struct pair_row, proved[1])},
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
VALUE_OF(faster_value,    struct total, value_whole(v, row->speed[GAINED]);)
VALUE_OF(slower_value,    struct total, lost_value(v, row->speed[LOST]);)
VALUE_OF(same_value,      struct total, value_whole(v, (row->speed[UNSURE] + row->speed[UNCHANGED]));)
VALUE_OF(mean_value,      struct total, v->number = row->ratios ? exp(row->log_ratio / (double)row->ratios) : NAN;)
VALUE_OF(sign_value,      struct total, v->number = row->ratios ? sign_test_p(row->less, row->more) : NAN;)
VALUE_OF(worse_value,     struct total, lost_value(v, row->quality[LOST]);)

static const struct column total_array[] = {
    {.key = "solver",          .heading = "solver",      .kind = VALUE_WORDS, MEMBER(struct total, solver)},
    {.key = "pairs",           .heading = "pairs",       .kind = VALUE_COUNT, MEMBER(struct total, pairs)},
    {.key = "faster",          .heading = "faster",      .kind = VALUE_COUNT, .value = faster_value},
    {.key = "slower",          .heading = "slower",      .kind = VALUE_COUNT, .value = slower_value},
    {.key = "speed_same",      .heading = "~",           .kind = VALUE_COUNT, .value = same_value},
    {.key = "mean_time_ratio", .heading = "mean ratio",  .kind = VALUE_RATIO, .value = mean_value},
    {.key = "sign_test_p",     .heading = "p",           .kind = VALUE_RATIO, .value = sign_value},
    {.key = "better",          .heading = "better",      .kind = VALUE_COUNT, MEMBER(struct total, quality[GAINED])},
    {.key = "worse",           .heading = "worse",       .kind = VALUE_COUNT, .value = worse_value},
    {.key = "quality_same",    .heading = "=",           .kind = VALUE_COUNT, MEMBER(struct total, quality[UNCHANGED])},
    {.key = "quality_unsure",  .heading = "~",           .kind = VALUE_COUNT, MEMBER(struct total, quality[UNSURE])},
    {.key = "only_before",     .heading = "only before", .kind = VALUE_COUNT, .flags = COLUMN_MAY_HIDE, MEMBER(struct total, only[0])},
    {.key = "only_after",      .heading = "only after",  .kind = VALUE_COUNT, .flags = COLUMN_MAY_HIDE, MEMBER(struct total, only[1])},
};
/* clang-format on */

const struct columns total_columns = COLUMNS("totals of a comparison", total_array);

static const char total_notes[] =
    "Below 1 a ratio is a gain. mean ratio: geometric, over all pairs; p: sign test over the pairs.\n"
    "faster, slower, better, worse: beyond noise (four runs per side or more: Mann-Whitney p < 0.05 and 2 "
    "%;\n"
    "fewer: a quarter, 1 ms and three deviations); ~: cannot be told from noise; better: also a new proof.\n";

/* By instance, then by solver, however the runs were interleaved. */
static int compare_rows(const void *a, const void *b)
{
    const struct pair_row *x = a, *y = b;
    int order = strcmp(x->instance, y->instance);
    return order ? order : strcmp(x->solver, y->solver);
}

static void compare_judge(const struct pair_row *list, size_t count, struct arena *memory,
                          struct comparison *c)
{
    SCOPED(text_free) struct text words = {0}, lines = {0};
    double *logs = mem_alloc((count + 1) * sizeof *logs);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].seconds[0] > 0 && list[i].seconds[1] > 0)
            logs[n++] = log(list[i].seconds[0] / list[i].seconds[1]);
    struct ratio r = ratio_of(logs, n);
    mem_free(logs);
    /* "3 of 40 changed: 1 better, 2 slower". */
    const struct {
        int64_t n;
        const char *word;
    } counts[] = {{c->better, "better"}, {c->worse, "worse"}, {c->faster, "faster"}, {c->slower, "slower"}};
    const char *between = ": ";
    if (c->changed == 0)
        text_format(&words, "nothing changed: %s as before", counted(c->pairs, "pair").at);
    else
        text_format(&words, "%lld of %s changed", (long long)c->changed, counted(c->pairs, "pair").at);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i].n == 0) continue;
        text_format(&words, "%s%lld %s", between, (long long)counts[i].n, counts[i].word);
        between = ", ";
    }
    if (c->missing) text_format(&words, "; %lld only before", (long long)c->missing);
    if (c->added) text_format(&words, "; %lld only after", (long long)c->added);
    if (r.count) {
        text_add(&lines, "  after is ");
        add_ratio(&lines, r);
        text_format(&lines, " before over %s\n", counted((int64_t)r.count, "pair").at);
    }
    c->verdict = (struct verdict){arena_string(memory, words.at ? words.at : ""),
                                  arena_string(memory, lines.at ? lines.at : ""),
                                  c->worse || c->slower ? PAINT_BAD
                                  : c->changed          ? PAINT_GOOD
                                                        : PAINT_HEADING};
}

/* Rows of the pairs, and their totals by solver. */
static struct pair_row *compare_fill(pairs *all, struct arena *memory, size_t *count, totals *by_solver,
                                     size_t *tested)
{
    struct pair_row *list = arena_array(memory, all->count + 1, sizeof *list);
    for (size_t i = 0; i < all->count; i++) {
        struct pair *p = &all->at[i];
        size_t k = 0;
        while (k < by_solver->count && strcmp(by_solver->at[k].solver, p->first->solver) != 0) k++;
        if (k == by_solver->count) VEC_PUSH(by_solver, (struct total){.solver = p->first->solver});
        struct total *t = &by_solver->at[k];
        *tested += pair_is_tested(p);
        if (!p->side[0].runs || !p->side[1].runs) {
            t->only[p->side[0].runs == 0]++;
            continue;
        }
        struct pair_row *row = &list[(*count)++];
        *row = pair_row_of(p);
        double before = row->seconds[0], after = row->seconds[1];
        t->pairs++;
        t->speed[row->speed]++;
        t->quality[row->quality]++;
        if (!(before > 0 && after > 0)) continue;
        t->log_ratio += log(after / before);
        t->ratios++;
        t->less += after < before;
        t->more += after > before;
    }
    /* Rows of one name are told apart by their paths. */
    const char **paths = arena_array(memory, *count + 1, sizeof *paths);
    for (size_t i = 0; i < *count; i++) {
        size_t n = 0;
        bool several = false;
        for (size_t k = 0; k < *count; k++) {
            if (strcmp(list[k].name, list[i].name) != 0) continue;
            paths[n++] = list[k].path;
            several |= strcmp(list[k].path, list[i].path) != 0;
        }
        if (several) list[i].instance = path_tail(list[i].path, paths, n);
    }
    qsort(list, *count, sizeof *list, compare_rows);
    return list;
}

void compare_results(const struct results *before, const struct results *after, bool only_changed,
                     struct arena *memory, struct comparison *c)
{
    OWNED pairs all = {0};
    OWNED totals by_solver = {0};
    size_t tested = 0, count = 0;
    *c = (struct comparison){0};
    pairs_gather(&all, before, 0);
    pairs_gather(&all, after, 1);
    struct pair_row *list = compare_fill(&all, memory, &count, &by_solver, &tested),
                    *changed = arena_array(memory, count + 1, sizeof *changed);
    for (size_t i = 0; i < by_solver.count; i++) {
        const struct total *t = &by_solver.at[i];
        c->pairs += t->pairs;
        c->better += t->quality[GAINED];
        c->worse += t->quality[LOST];
        c->faster += t->speed[GAINED];
        c->slower += t->speed[LOST];
        c->missing += t->only[0];
        c->added += t->only[1];
    }
    for (size_t i = 0; i < count; i++)
        if (list[i].speed >= GAINED || list[i].quality >= GAINED) changed[c->changed++] = list[i];
    const struct total *kept = arena_copy_array(memory, by_solver.at, by_solver.count, sizeof *kept);
    const struct pair_row *shown = only_changed ? changed : list;
    c->cells = TABLE(pair_columns, shown, only_changed ? c->changed : count);
    c->cells.key = "pairs";
    c->cells.title = only_changed ? "What changed" : "Before and after";
    c->sums = TABLE(total_columns, kept, by_solver.count);
    c->sums.key = "totals";
    c->sums.title = "Totals";
    c->sums.notes = total_notes;
    if (tested >= 20)
        c->sums.notes = arena_format(
            memory, "%sOf %zu pairs that were tested at 5 %%, about %.0f look changed by chance alone.\n",
            total_notes, tested, (double)tested * 0.05);
    /* Where all values measure one thing, their heading says which. */
    bool alike = c->cells.row_count > 0;
    for (size_t i = 0; i < c->cells.row_count; i++) alike &= strcmp(shown[i].measure, shown[0].measure) == 0;
    if (alike)
        table_name_measure(&c->cells, "value_before", arena_format(memory, "%s before", shown[0].measure),
                           memory);
    compare_judge(list, count, memory, c);
    for (size_t i = 0; i < all.count * 2; i++) {
        struct side *s = &all.at[i / 2].side[i % 2];
        VEC_FREE(&s->times);
        VEC_FREE(&s->values);
    }
}

/* Why two results files have no run in common: the first reason that holds. */

/* "lx (own, 8%)": what the headers say that makes other problems of the same files. */
static void add_settings(const struct results *a, const struct results *b, struct text *out)
{
    static const char *const keys[] = {"lx", "objective", "options"};
    struct json header[] = {header_read(a->headers.at[0]), header_read(b->headers.at[0])};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct json_value *of[] = {header_member(&header[0], keys[i]),
                                         header_member(&header[1], keys[i])};
        for (int k = 0; k < 2; k++)
            if (json_is_null(of[k])) of[k] = NULL;
        if (json_same(of[0], of[1])) continue;
        text_format(out, "%s%s (", out->length ? ", " : "", keys[i]);
        for (int k = 0; k < 2; k++) { /* as people wrote it; their own where they said nothing */
            SCOPED(text_free) struct text t = {0};
            if (of[k] && !json_is_string(of[k])) json_add(of[k], &t);
            text_format(out, "%s%.60s", k ? ", " : "",
                        json_is_string(of[k]) ? of[k]->text
                        : of[k]               ? t.at
                                              : "own");
        }
        text_add(out, ")");
    }
    json_free(&header[0]);
    json_free(&header[1]);
}

bool nothing_shared(const struct results *before, const struct results *after, lx_status *st)
{
    const char *path = after->files.at[0];
    SCOPED(text_free) struct text settings = {0};
    bool names = false, solvers = false;
    if (before->rows.count == 0 || after->rows.count == 0)
        return status_set_at(st, LX_E_USAGE, before->rows.count ? path : before->files.at[0], 0, 0,
                             "nothing to compare: there are no runs in this file");
    for (size_t i = 0; i < before->rows.count; i++)
        for (size_t k = 0; k < after->rows.count; k++) {
            names |= strcmp(before->rows.at[i].name, after->rows.at[k].name) == 0;
            solvers |= strcmp(before->rows.at[i].solver, after->rows.at[k].solver) == 0;
        }
    if (!names || !solvers)
        return status_set_at(st, LX_E_USAGE, path, 0, 0,
                             "nothing to compare: no %s is in both files; --merge makes one report of both",
                             names ? "solver" : "instance");
    add_settings(before, after, &settings);
    if (settings.length)
        status_set_at(st, LX_E_USAGE, path, 0, 0,
                      "nothing to compare: all instances differ in %s; run both with the same, or --merge "
                      "makes one report of both",
                      settings.at);
    else
        status_set_at(st, LX_E_USAGE, path, 0, 0,
                      "nothing to compare: the instances have the same names and other contents; run both on "
                      "the same files");
    return false;
}
