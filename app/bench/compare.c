/* The tables and the verdict of a comparison of two results files. */
#include "bench/comparison.h"
#include "base/memory.h"
#include "bench/pairs.h"
#include "bench/statistics.h"
#include "text/format.h"
#include "text/path_tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const speed_words[] = {
    [UNCHANGED] = "~", [UNSURE] = "~", [GAINED] = "faster", [LOST] = "slower"};
static const char *const quality_words[] = {
    [UNCHANGED] = "=", [UNSURE] = "~", [GAINED] = "better", [LOST] = "worse"};
static const enum paint change_paint[] = {
    [UNCHANGED] = PAINT_DIM, [UNSURE] = PAINT_DIM, [GAINED] = PAINT_GOOD, [LOST] = PAINT_BAD};

/* clang-format off */
VALUE_OF(instance_value, struct pair_row, v->words = row->instance;)
VALUE_OF(path_value,     struct pair_row, v->words = row->path;)
VALUE_OF(measure_value,  struct pair_row, v->words = row->measure;)
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
    {.key = "path",                                      .kind = VALUE_WORDS,   .value = path_value},
    {.key = "solver",         .heading = "solver",       .kind = VALUE_WORDS,   .value = solver_value},
    {.key = "runs_before",                               .kind = VALUE_COUNT,   .argument = 0, .value = runs_value},
    {.key = "runs_after",                                .kind = VALUE_COUNT,   .argument = 1, .value = runs_value},
    {.key = "seconds_before", .heading = "time before",  .kind = VALUE_SECONDS, .argument = 0, .value = seconds_value},
    {.key = "seconds_after",  .heading = "after",        .kind = VALUE_SECONDS, .argument = 1, .value = seconds_value},
    {.key = "time_ratio",     .heading = "ratio",        .kind = VALUE_RATIO,   .value = ratio_value},
    {.key = "p",              .heading = "p",            .kind = VALUE_RATIO,   .flags = COLUMN_MAY_HIDE, .value = p_value},
    {.key = "speed",          .heading = "speed",        .kind = VALUE_WORDS,   .value = speed_value},
    {.key = "measure",        .heading = "measure",      .kind = VALUE_WORDS,   .value = measure_value},
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
static bool compare_fill(pairs *all, struct pair_row *list, size_t *count, totals *by_solver, size_t *tested)
{
    for (size_t i = 0; i < all->count; i++) {
        struct pair *p = &all->at[i];
        struct total *t = total_of(by_solver, p->first->solver);
        if (!t) return false;
        *tested += pair_is_tested(p);
        if (p->side[0].runs && p->side[1].runs) {
            list[*count] = pair_row_of(p);
            count_pair(t, &list[(*count)++]);
        } else
            t->only[p->side[0].runs == 0]++;
    }
    return true;
}

/* Rows of one name get what tells their files apart. */
static bool label_rows(struct pair_row *list, size_t count, struct arena *memory)
{
    const char **paths = arena_array(memory, count + 1, sizeof *paths);
    if (!paths) return false;
    for (size_t i = 0; i < count; i++) {
        size_t n = 0;
        bool several = false;
        for (size_t k = 0; k < count; k++) {
            if (strcmp(list[k].name, list[i].name) != 0) continue;
            paths[n++] = list[k].path;
            several |= strcmp(list[k].path, list[i].path) != 0;
        }
        if (several) list[i].instance = path_tail(list[i].path, paths, n);
    }
    return true;
}

/* By instance, then by solver, however the runs were interleaved. */
static int compare_rows(const void *a, const void *b)
{
    const struct pair_row *x = a, *y = b;
    int order = strcmp(x->instance, y->instance);
    return order ? order : strcmp(x->solver, y->solver);
}

static bool has_changed(const struct pair_row *row)
{
    return row->speed == GAINED || row->speed == LOST || row->quality == GAINED || row->quality == LOST;
}

/* How the times of all pairs changed together. */
static bool overall(const struct pair_row *list, size_t count, struct ratio *out)
{
    double *logs = mem_alloc((count + 1) * sizeof *logs);
    size_t n = 0;
    if (!logs) return false;
    for (size_t i = 0; i < count; i++)
        if (list[i].seconds[0] > 0 && list[i].seconds[1] > 0)
            logs[n++] = log(list[i].seconds[0] / list[i].seconds[1]);
    *out = ratio_of(logs, n);
    mem_free(logs);
    return true;
}

/* "3 of 40 changed: 1 better, 2 slower". */
static void compare_add_verdict(const struct comparison *c, struct text *out)
{
    const struct {
        int64_t n;
        const char *word;
    } counts[] = {{c->better, "better"}, {c->worse, "worse"}, {c->faster, "faster"}, {c->slower, "slower"}};
    const char *between = ": ";
    if (c->changed == 0)
        text_format(out, "nothing changed: %s as before", counted(c->pairs, "pair").at);
    else
        text_format(out, "%lld of %s changed", (long long)c->changed, counted(c->pairs, "pair").at);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i].n == 0) continue;
        text_format(out, "%s%lld %s", between, (long long)counts[i].n, counts[i].word);
        between = ", ";
    }
    if (c->missing) text_format(out, "; %lld only before", (long long)c->missing);
    if (c->added) text_format(out, "; %lld only after", (long long)c->added);
}

static bool compare_judge(const struct pair_row *list, size_t count, struct arena *memory,
                          struct comparison *c)
{
    struct ratio r;
    struct text words = {0}, lines = {0};
    if (!overall(list, count, &r)) return false;
    compare_add_verdict(c, &words);
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
    bool ok = !words.failed && !lines.failed && c->verdict.words && c->verdict.lines;
    text_free(&words);
    text_free(&lines);
    return ok;
}

/* Those that changed come first, in order; the rest follows. */
static struct pair_row *changed_first(const struct pair_row *list, size_t count, struct arena *memory,
                                      size_t *changed)
{
    struct pair_row *sorted = arena_array(memory, count + 1, sizeof *sorted);
    size_t n = 0;
    *changed = 0;
    if (!sorted) return NULL;
    for (size_t i = 0; i < count; i++)
        if (has_changed(&list[i])) sorted[n++] = list[i];
    *changed = n;
    for (size_t i = 0; i < count; i++)
        if (!has_changed(&list[i])) sorted[n++] = list[i];
    return sorted;
}

/* Where all values measure one thing, their heading says which. */
static bool compare_name_values(struct table *t, const struct pair_row *list, struct arena *memory)
{
    struct column *c = arena_copy_array(memory, t->columns.at, t->columns.count, sizeof *c);
    if (!c) return false;
    t->columns.at = c;
    for (size_t i = 0; i < t->row_count; i++)
        if (strcmp(list[i].measure, list[0].measure) != 0) return true;
    for (size_t i = 0; t->row_count && i < t->columns.count; i++) {
        if (strcmp(c[i].key, "measure") == 0) c[i].heading = NULL;
        if (strcmp(c[i].key, "value_before") == 0)
            c[i].heading = arena_format(memory, "%s before", list[0].measure);
    }
    return true;
}

static bool fill_comparison(pairs *all, totals *by_solver, bool only_changed, struct arena *memory,
                            struct comparison *c)
{
    size_t tested = 0, count = 0;
    struct pair_row *list = arena_array(memory, all->count + 1, sizeof *list);
    if (!list || !compare_fill(all, list, &count, by_solver, &tested) || !label_rows(list, count, memory))
        return false;
    if (count) qsort(list, count, sizeof *list, compare_rows);
    for (size_t i = 0; i < by_solver->count; i++) {
        const struct total *t = &by_solver->at[i];
        c->pairs += t->pairs;
        c->better += t->quality[GAINED];
        c->worse += t->quality[LOST];
        c->faster += t->speed[GAINED];
        c->slower += t->speed[LOST];
        c->missing += t->only[0];
        c->added += t->only[1];
    }
    struct pair_row *first = changed_first(list, count, memory, &c->changed);
    const struct total *kept = arena_copy_array(memory, by_solver->at, by_solver->count, sizeof *kept);
    c->cells = TABLE(pair_columns, only_changed ? first : list, only_changed ? c->changed : count);
    c->cells.key = "pairs";
    c->cells.title = only_changed ? "What changed" : "Before and after";
    c->sums = TABLE(total_columns, kept, by_solver->count);
    c->sums.key = "totals";
    c->sums.title = "Totals";
    c->sums.notes = notes_of(memory, tested);
    return first && kept && c->sums.notes &&
           compare_name_values(&c->cells, only_changed ? first : list, memory) &&
           compare_judge(list, count, memory, c);
}

bool compare_results(const struct results *before, const struct results *after, bool only_changed,
                     struct arena *memory, struct comparison *c)
{
    pairs all = {0};
    totals by_solver = {0};
    *c = (struct comparison){0};
    bool ok = pairs_gather(&all, before, 0) && pairs_gather(&all, after, 1) &&
              fill_comparison(&all, &by_solver, only_changed, memory, c);
    pairs_free(&all);
    VEC_FREE(&by_solver);
    return ok;
}
