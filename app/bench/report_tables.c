/* The tables of a report: by solver, by instance, and what went wrong. */
#include "bench/report.h"
#include "bench/suite.h"

enum { NAME_WIDTH = 44 };

/* clang-format off */
VALUE_OF(outcome_value, struct contender,
    int64_t n = row->outcomes[column->argument];
    v->number = row->is_virtual ? NAN : (double)n;
    v->paint = n && column->argument >= OUTCOME_MEMORY ? PAINT_BAD : PAINT_PLAIN;)
VALUE_OF(label_value,  struct contender, v->words = row->label; v->paint = row->is_virtual ? PAINT_DIM : PAINT_PLAIN;)
VALUE_OF(above_value,  struct contender, v->number = row->above_best; v->paint = row->above_best > 0 ? PAINT_WARN : PAINT_PLAIN;)
VALUE_OF(wins_value,   struct contender, v->number = row->is_virtual ? NAN : (double)row->wins;)
VALUE_OF(only_value,   struct contender, v->number = row->is_virtual ? NAN : (double)row->only;)

#define OF_OUTCOME .flags = COLUMN_MAY_HIDE, .value = outcome_value
static const struct column contender_array[] = {
    {.key = "class",                .heading = "class",      .kind = VALUE_WORDS,   .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, MEMBER(struct contender, class)},
    {.key = "solver",               .heading = "solver",     .kind = VALUE_WORDS,   .value = label_value},
    {.key = "config",                                        .kind = VALUE_WORDS,   MEMBER(struct contender, config)},
    {.key = "runs",                 .heading = "runs",       .kind = VALUE_COUNT,   MEMBER(struct contender, runs)},
    {.key = "solved",               .heading = "solved",     .kind = VALUE_COUNT,   MEMBER(struct contender, solved)},
    {.key = "proved",               .heading = "proved",     .kind = VALUE_COUNT,   MEMBER(struct contender, proved)},
    {.key = "best_known",           .heading = "best",       .kind = VALUE_COUNT,   MEMBER(struct contender, hits)},
    {.key = "mean_gap",             .heading = "gap",        .kind = VALUE_SHARE,   MEMBER(struct contender, gap), .from = 10},
    {.key = "shifted_geometric_mean_gap", .heading = "sgm gap", .kind = VALUE_SHARE, MEMBER(struct contender, mean_gap), .from = 45},
    {.key = "mean_above_best",      .heading = "above best", .kind = VALUE_SHARE,   .value = above_value, .from = 20},
    {.key = "median_seconds",       .heading = "median",     .kind = VALUE_SECONDS, MEMBER(struct contender, median)},
    {.key = "par2_seconds",         .heading = "PAR2",       .kind = VALUE_SECONDS, MEMBER(struct contender, par2), .from = 30},
    {.key = "shifted_geometric_mean_seconds", .heading = "sgm", .kind = VALUE_SECONDS, MEMBER(struct contender, mean), .from = 70},
    {.key = "wins",                 .heading = "wins",       .kind = VALUE_COUNT,   .value = wins_value, .from = 40},
    {.key = "only",                 .heading = "only",       .kind = VALUE_COUNT,   .value = only_value, .from = 50},
    {.key = "contribution_seconds", .heading = "adds",       .kind = VALUE_SECONDS, MEMBER(struct contender, contribution), .from = 60},
    {.key = "none",                 .heading = "none",       .kind = VALUE_COUNT,   .argument = OUTCOME_NONE,    OF_OUTCOME},
    {.key = "timeout",              .heading = "timeout",    .kind = VALUE_COUNT,   .argument = OUTCOME_TIMEOUT, OF_OUTCOME},
    {.key = "memory",               .heading = "memory",     .kind = VALUE_COUNT,   .argument = OUTCOME_MEMORY,  OF_OUTCOME},
    {.key = "crash",                .heading = "crash",      .kind = VALUE_COUNT,   .argument = OUTCOME_CRASH,   OF_OUTCOME},
    {.key = "error",                .heading = "error",      .kind = VALUE_COUNT,   .argument = OUTCOME_ERROR,   OF_OUTCOME},
    {.key = "wrong",                .heading = "WRONG",      .kind = VALUE_COUNT,   .argument = OUTCOME_WRONG,   OF_OUTCOME},
};
#undef OF_OUTCOME
/* clang-format on */

const struct columns contender_columns = COLUMNS("solvers of a report", contender_array);

void contender_table(const struct summary *s, struct arena *memory, struct table *out)
{
    size_t n = s->solvers.count;
    SCOPED(text_free) struct text notes = {0};
    struct contender *list = arena_array(memory, n + 1, sizeof *list);
    for (size_t k = 0; k < n; k++) list[k] = s->solvers.at[k];
    list[n] = s->best;
    *out = TABLE(contender_columns, list, n > 1 ? n + 1 : n);
    out->columns.at++; /* no class */
    out->columns.count--;
    out->key = "solvers";
    out->title = "Solvers";
    text_format(
        &notes,
        "%s, time limit %s. solved: runs with a legal, complete answer or a proof that there is none;\n"
        "proved: optimal or infeasible; best: reached the best value known here, within %s. gap: mean above "
        "the\n"
        "best proven bound, as a share of it (where it is above 0), sgm gap its geometric mean (shifted by 1 "
        "%%);\n"
        "above best: mean above the best value, as a share of the answer. median: solver time.\n"
        "PAR2 (a miss counts twice the limit), sgm (geometric mean, shifted by %s, a miss counts the limit), "
        "wins\n"
        "(fastest, or within %.0f %% of it) and only (no one else does) count only runs that reach the best "
        "value.\n"
        "adds: what the PAR2 of the virtual best solver would lose without this one.\n",
        counted((int64_t)s->problems.count - s->bad_inputs, "instance").at, in_time(s->limit).at,
        in_percent(s->within).at, in_time(SHIFT_SECONDS).at, (WIN_RATIO - 1) * 100);
    if (s->outliers)
        text_format(&notes,
                    "%s (a time more than %.1f deviations from the median of its cell); none is left out.\n",
                    counted(s->outliers, "outlier").at, OUTLIER_DEVIATIONS);
    if (s->bad_inputs)
        text_format(&notes, "%s could not be read.\n", counted(s->bad_inputs, "more instance").at);
    out->notes = arena_string(memory, notes.at);
}

void class_table(struct summary *s, struct arena *memory, struct table *out)
{
    size_t n = 0;
    struct contender *list = arena_array(memory, SUITE_CLASS_COUNT * s->solvers.count + 1, sizeof *list);
    for (size_t c = 0; c < SUITE_CLASS_COUNT; c++)
        for (size_t k = 0; k < s->solvers.count; k++) {
            list[n] = summary_of_class(s, k, suite_classes[c].name);
            n += list[n].runs > 0;
        }
    *out = TABLE(contender_columns, list, n);
    out->key = "classes";
    out->title = "Classes of the suite";
}

/* One solver on one instance. */
struct cell_row {
    const struct problem *problem;
    const struct contender *solver;
    const struct cell *cell;
};

static enum paint tables_paint_of(const struct cell *c)
{
    if (c->outcomes[OUTCOME_WRONG] || c->outcomes[OUTCOME_CRASH] || c->outcomes[OUTCOME_ERROR] ||
        c->outcomes[OUTCOME_MEMORY])
        return PAINT_BAD;
    return c->proved == c->runs ? PAINT_GOOD : PAINT_PLAIN;
}

/* Least and greatest are worth a column only where there is more than one run, and values differ. */
static double ranged(const struct cell *c, double value)
{
    return c->runs > 1 ? value : NAN;
}

static double ranged_value(const struct cell *c, double value)
{
    return c->lowest < c->highest ? ranged(c, value) : NAN;
}

/* The end of a long name: names of one corpus begin alike and end differently. */
static void name_of_instance(struct value *v, const char *name)
{
    char room[NAME_WIDTH + 8];
    size_t n = strlen(name), skip = n > NAME_WIDTH ? n - NAME_WIDTH + 1 : 0;
    while (skip && skip < n && ((unsigned char)name[skip] & 0xc0) == 0x80) skip++;
    snprintf(room, sizeof room, "%s%s", skip ? "~" : "", name + skip);
    value_add(v, room);
}

static void tables_how_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct cell_row *row = row_of_table;
    (void)column;
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        if (!row->cell->outcomes[o]) continue;
        if (v->made.length) text_add(&v->made, ", ");
        if (row->cell->outcomes[o] < row->cell->runs)
            text_format(&v->made, "%lld ", (long long)row->cell->outcomes[o]);
        text_add(&v->made, outcome_word((enum outcome)o));
    }
    v->words = v->made.at ? v->made.at : "";
    v->paint = tables_paint_of(row->cell);
}

/* clang-format off */
VALUE_OF(winner_value, struct cell_row,
    bool wins = cell_wins(row->problem, row->cell);
    v->number = wins;
    v->words = wins ? "*" : "";
    v->paint = PAINT_GOOD;)
VALUE_OF(value_value, struct cell_row,
    v->number = row->cell->value;
    if (row->problem->has_best)
        v->paint = row->cell->value == (double)row->problem->best ? PAINT_GOOD : PAINT_WARN;)
VALUE_OF(instance_value,  struct cell_row, name_of_instance(v, row->problem->label);)
VALUE_OF(measure_value,   struct cell_row, v->words = measure_of(row->problem->question, row->problem->is_graph);)
VALUE_OF(solver_value,    struct cell_row, v->words = row->solver->label; v->paint = cell_wins(row->problem, row->cell) ? PAINT_GOOD : PAINT_PLAIN;)
VALUE_OF(least_value,     struct cell_row, v->number = ranged_value(row->cell, row->cell->lowest);)
VALUE_OF(most_value,      struct cell_row, v->number = ranged_value(row->cell, row->cell->highest);)
VALUE_OF(bound_value,     struct cell_row, v->number = row->problem->has_bound ? (double)row->problem->bound : NAN;)
VALUE_OF(from_value,      struct cell_row, v->number = ranged(row->cell, row->cell->least);)
VALUE_OF(to_value,        struct cell_row, v->number = ranged(row->cell, row->cell->most);)
VALUE_OF(speed_value,     struct cell_row, v->number = row->cell->steps > 0 ? row->cell->steps_a_second : NAN;)

static const struct column cell_array[] = {
    {.key = "instance",       .heading = "instance", .kind = VALUE_WORDS,   .value = instance_value},
    {.key = "name",                                  .kind = VALUE_WORDS,   VIA(struct cell_row, problem, name)},
    {.key = "path",                                  .kind = VALUE_WORDS,   VIA(struct cell_row, problem, path)},
    {.key = "hash",                                  .kind = VALUE_WORDS,   VIA(struct cell_row, problem, hash)},
    {.key = "objective",                             .kind = VALUE_WORDS,   VIA(struct cell_row, problem, question)},
    {.key = "capacity",                              .kind = VALUE_COUNT,   VIA(struct cell_row, problem, capacity)},
    {.key = "buffers",        .heading = "buffers",  .kind = VALUE_COUNT,   VIA(struct cell_row, problem, buffers), .from = 50},
    {.key = "solver",         .heading = "solver",   .kind = VALUE_WORDS,   .value = solver_value},
    {.key = "winner",         .heading = "*",        .kind = VALUE_BOOL,    .value = winner_value},
    {.key = "runs",                                  .kind = VALUE_COUNT,   VIA(struct cell_row, cell, runs)},
    {.key = "outcome",        .heading = "outcome",  .kind = VALUE_WORDS,   .value = tables_how_value},
    {.key = "measure",        .heading = "measure",  .kind = VALUE_WORDS,   .value = measure_value, .from = 20},
    {.key = "value",          .heading = "value",    .kind = VALUE_COUNT,   .value = value_value},
    {.key = "value_least",    .heading = "least",    .kind = VALUE_COUNT,   .flags = COLUMN_MAY_HIDE, .value = least_value, .from = 30},
    {.key = "value_most",     .heading = "most",     .kind = VALUE_COUNT,   .flags = COLUMN_MAY_HIDE, .value = most_value, .from = 30},
    {.key = "bound",          .heading = "bound",    .kind = VALUE_COUNT,   .value = bound_value},
    {.key = "mean_gap",       .heading = "gap",      .kind = VALUE_SHARE,   VIA(struct cell_row, cell, gap)},
    {.key = "device_us",      .heading = "device",    .kind = VALUE_MICROS, .flags = COLUMN_MAY_HIDE, VIA(struct cell_row, cell, device_us), .from = 60},
    {.key = "end_to_end_us",  .heading = "end to end",    .kind = VALUE_MICROS, .flags = COLUMN_MAY_HIDE, VIA(struct cell_row, cell, end_to_end_us), .from = 55},
    {.key = "measured_us",    .heading = "measured", .kind = VALUE_MICROS,  .flags = COLUMN_MAY_HIDE, VIA(struct cell_row, cell, measured_us)},
    {.key = "seconds",        .heading = "time",     .kind = VALUE_SECONDS, VIA(struct cell_row, cell, seconds)},
    {.key = "seconds_least",  .heading = "from",     .kind = VALUE_SECONDS, .flags = COLUMN_MAY_HIDE, .value = from_value, .from = 40},
    {.key = "seconds_most",   .heading = "to",       .kind = VALUE_SECONDS, .flags = COLUMN_MAY_HIDE, .value = to_value, .from = 40},
    {.key = "steps",          .heading = "nodes",    .kind = VALUE_COUNT,   .flags = COLUMN_MAY_HIDE, VIA(struct cell_row, cell, steps), .from = 80},
    {.key = "steps_a_second", .heading = "nodes/s",  .kind = VALUE_COUNT,   .flags = COLUMN_MAY_HIDE, .value = speed_value, .from = 90},
    {.key = "peak_kb",        .heading = "peak kB",  .kind = VALUE_COUNT,   VIA(struct cell_row, cell, peak_kb), .from = 70},
    {.key = "class",          .heading = "class",    .kind = VALUE_WORDS,   .flags = COLUMN_MAY_HIDE | COLUMN_MAY_LACK, VIA(struct cell_row, problem, class)},
};
/* clang-format on */

const struct columns cell_columns = COLUMNS("instances of a report", cell_array);

void instance_table(const struct summary *s, struct arena *memory, struct table *out)
{
    size_t n = 0;
    struct cell_row *list = arena_array(memory, s->problems.count * s->solvers.count, sizeof *list);
    for (size_t p = 0; p < s->problems.count; p++)
        for (size_t k = 0; k < s->solvers.count; k++)
            if (summary_cell(s, p, k)->runs > 0)
                list[n++] = (struct cell_row){&s->problems.at[p], &s->solvers.at[k], summary_cell(s, p, k)};
    *out = TABLE(cell_columns, list, n);
    out->key = "instances";
    out->title = "Instances";
    out->notes = "*: reached the best value as the fastest, or within 5 % of the fastest. bound: the best "
                 "lower bound\n"
                 "proved here. HBM bytes: all traffic of the graph; spill: cost of the buffers of a list "
                 "that are not\n"
                 "placed. With several runs: medians and ranges.\n";
    const char *measure = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *here = measure_of(list[i].problem->question, list[i].problem->is_graph);
        if (measure && strcmp(measure, here) != 0) return;
        measure = here;
    }
    if (measure) table_name_measure(out, "value", measure, memory);
}

void table_name_measure(struct table *t, const char *key, const char *heading, struct arena *memory)
{
    struct column *c = arena_copy_array(memory, t->columns.at, t->columns.count, sizeof *c);
    t->columns.at = c;
    for (size_t i = 0; i < t->columns.count; i++) {
        if (strcmp(c[i].key, "measure") == 0) c[i].heading = NULL;
        if (strcmp(c[i].key, key) == 0) c[i].heading = heading;
    }
}

/* clang-format off */
VALUE_OF(fault_value,         struct row, v->words = outcome_word(row->outcome); v->paint = PAINT_BAD;)
VALUE_OF(fault_name_value,    struct row, name_of_instance(v, row->name);)

static const struct column mishap_array[] = {
    {.key = "outcome",  .heading = "outcome",  .kind = VALUE_WORDS, .value = fault_value},
    {.key = "solver",   .heading = "solver",   .kind = VALUE_WORDS, MEMBER(struct row, solver)},
    {.key = "instance", .heading = "instance", .kind = VALUE_WORDS, .value = fault_name_value},
    {.key = "seed",     .heading = "seed",     .kind = VALUE_COUNT, MEMBER(struct row, seed)},
    {.key = "repeat",   .heading = "repeat",   .kind = VALUE_COUNT, .flags = COLUMN_MAY_HIDE, MEMBER(struct row, repeat)},
    {.key = "message",  .heading = "what",     .kind = VALUE_WORDS, MEMBER(struct row, message)},
};
/* clang-format on */

const struct columns mishap_columns = COLUMNS("what went wrong", mishap_array);

void mishap_table(const struct summary *s, const struct results *r, struct arena *memory, struct table *out)
{
    size_t n = 0;
    struct row *list = arena_array(memory, r->rows.count, sizeof *list);
    for (size_t i = 0; i < r->rows.count; i++)
        if (r->rows.at[i].outcome >= OUTCOME_MEMORY) {
            list[n] = r->rows.at[i];
            list[n].name = s->problems.at[summary_problem(s, &list[n])].label;
            n++;
        }
    *out = TABLE(mishap_columns, list, n);
    out->key = "faults";
    out->title = "What went wrong";
}

/* --- Counters of solvers (pivots, packings, pairs...), one column per name. The names come from the rows, so
 * each report has its own columns: the first MOST_NAMES. --- */

enum { MOST_NAMES = 40 };

/* One solver on one instance: the medians of its counts. */
struct counts_row {
    const struct problem *problem;
    const struct contender *solver;
    const struct cell *cell;
    double counts[MOST_NAMES]; /* NAN: it has none of that name */
};

/* clang-format off */
VALUE_OF(statistic_bound_value,    struct counts_row, v->number = row->problem->has_bound ? (double)row->problem->bound : NAN;)

static const struct column statistic_array[] = {
    {.key = "instance", .heading = "instance", .kind = VALUE_NAME,  .width = 44, VIA(struct counts_row, problem, label)},
    {.key = "solver",   .heading = "solver",   .kind = VALUE_WORDS, VIA(struct counts_row, solver, label)},
    {.key = "bound",    .heading = "bound",    .kind = VALUE_COUNT, .value = statistic_bound_value},
    {.key = "steps",    .heading = "steps",    .kind = VALUE_COUNT, VIA(struct counts_row, cell, steps)},
};
/* clang-format on */

const struct columns statistic_columns = COLUMNS("statistics of a report", statistic_array);

enum { FIRST = sizeof statistic_array / sizeof *statistic_array };

/* The number of a counter, perhaps a new one with a column of its own; -1: no room. Names come from a file;
 * keys are written as they are. */
static int statistic_number_of(struct columns *all, struct column *columns, const char *name,
                               struct arena *memory)
{
    char *key = arena_format(memory, "stat_%.60s", name);
    for (char *c = key; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    for (size_t i = FIRST; i < all->count; i++)
        if (strcmp(columns[i].key, key) == 0) return (int)i - FIRST;
    if (all->count == FIRST + MOST_NAMES) return -1;
    size_t n = all->count++ - FIRST;
    columns[FIRST + n] = (struct column){.key = key,
                                         .heading = arena_string(memory, name),
                                         .kind = VALUE_COUNT,
                                         .member = MEMBER_DOUBLE,
                                         .at = offsetof(struct counts_row, counts[0]) + n * sizeof(double)};
    return (int)n;
}

void statistic_table(const struct summary *s, const struct results *r, struct arena *memory,
                     struct table *out)
{
    struct column *columns = arena_array(memory, FIRST + MOST_NAMES, sizeof *columns);
    struct columns all = {statistic_columns.name, columns, FIRST};
    size_t n = 0, cells = s->problems.count * s->solvers.count;
    struct counts_row *list = arena_array(memory, cells + 1, sizeof *list);
    /* The rows of each cell, as a list: the first of every cell, and the next of every row; -1 ends it. */
    int64_t *first = arena_array(memory, cells + 1, sizeof *first),
            *next = arena_array(memory, r->rows.count + 1, sizeof *next);
    memcpy(columns, statistic_array, sizeof statistic_array);
    for (size_t c = 0; c < cells; c++) first[c] = -1;
    for (size_t i = r->rows.count; i-- > 0;) {
        const struct row *row = &r->rows.at[i];
        if (row->outcome == OUTCOME_BAD_INPUT) continue;
        size_t c = summary_problem(s, row) * s->solvers.count + summary_solver(s, row);
        next[i] = first[c];
        first[c] = (int64_t)i;
    }
    for (size_t c = 0; c < cells; c++) {
        struct counts_row *row = &list[n];
        VEC(double) samples[MOST_NAMES] = {0};
        if (s->cells[c].runs == 0) continue;
        n++;
        row->problem = &s->problems.at[c / s->solvers.count];
        row->solver = &s->solvers.at[c % s->solvers.count];
        row->cell = &s->cells[c];
        for (int64_t i = first[c]; i >= 0; i = next[i]) {
            struct json stats;
            const struct json_value *one;
            json_parse(&stats, "", r->rows.at[i].stats, strlen(r->rows.at[i].stats), NULL);
            json_for_each(one, stats.root) {
                int k = statistic_number_of(&all, columns, one->key, memory);
                if (k >= 0) VEC_PUSH(&samples[k], one->number);
            }
            json_free(&stats);
        }
        for (int k = 0; k < MOST_NAMES; k++) {
            row->counts[k] = median_of(samples[k].at, samples[k].count);
            VEC_FREE(&samples[k]);
        }
    }
    *out = TABLE(all, list, n);
    out->key = "statistics";
    out->title = "What solvers counted";
    out->notes =
        "answers: incumbents reported; first: the first of them. `lxplan solvers NAME` explains the others.\n"
        "With several runs: medians.\n";
}
