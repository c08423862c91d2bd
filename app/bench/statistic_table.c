/* Counters of solvers (pivots, packings, pairs...), one column per name. The names come from the rows, so
 * each report has its own columns: the first MOST_NAMES. */
#include "bench/report.h"
#include "bench/statistics.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MOST_NAMES = 40 };

/* One solver on one instance: the medians of its counts. */
struct counts_row {
    const struct problem *problem;
    const struct contender *solver;
    const struct cell *cell;
    double counts[MOST_NAMES]; /* NAN: it has none of that name */
};

/* clang-format off */
VALUE_OF(instance_value, struct counts_row, v->words = row->problem->label;)
VALUE_OF(solver_value,   struct counts_row, v->words = row->solver->label;)
VALUE_OF(bound_value,    struct counts_row, v->number = row->problem->has_bound ? (double)row->problem->bound : NAN;)
VALUE_OF(steps_value,    struct counts_row, v->number = row->cell->steps;)
VALUE_OF(count_value,    struct counts_row, v->number = row->counts[column->argument];)

static const struct column first_array[] = {
    {.key = "instance", .heading = "instance", .kind = VALUE_NAME,  .width = 44, .value = instance_value},
    {.key = "solver",   .heading = "solver",   .kind = VALUE_WORDS, .value = solver_value},
    {.key = "bound",    .heading = "bound",    .kind = VALUE_COUNT, .value = bound_value},
    {.key = "steps",    .heading = "steps",    .kind = VALUE_COUNT, .value = steps_value},
};
/* clang-format on */

const struct columns statistic_columns = COLUMNS("statistics of a report", first_array);

enum { FIRST = sizeof first_array / sizeof *first_array };

struct names {
    const char *heading[MOST_NAMES], *key[MOST_NAMES];
    int count;
};

/* The number of a name, perhaps a new one; -1: no room. Names come from a file; keys are written as they are. */
static int statistic_table_number_of(struct names *names, const char *name, struct arena *memory)
{
    char *key = arena_format(memory, "stat_%.60s", name);
    for (char *c = key; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->key[i], key) == 0) return i;
    if (names->count == MOST_NAMES) return -1;
    names->key[names->count] = key;
    names->heading[names->count] = arena_string(memory, name);
    return names->count++;
}

struct samples {
    VEC(double) of[MOST_NAMES];
};

/* The rows of each cell, as a list: the first of every cell, and the next of every row; -1 ends it. */
struct by_cell {
    int64_t *first, *next;
};

static void statistic_table_sort_rows(const struct summary *s, const struct results *r, struct by_cell *b,
                                      struct arena *memory)
{
    size_t cells = s->problems.count * s->solvers.count;
    b->first = arena_array(memory, cells + 1, sizeof *b->first);
    b->next = arena_array(memory, r->rows.count + 1, sizeof *b->next);
    for (size_t c = 0; c < cells; c++) b->first[c] = -1;
    for (size_t i = r->rows.count; i-- > 0;) {
        const struct row *row = &r->rows.at[i];
        if (row->outcome == OUTCOME_BAD_INPUT) continue;
        size_t c = summary_problem(s, row) * s->solvers.count + summary_solver(s, row);
        b->next[i] = b->first[c];
        b->first[c] = (int64_t)i;
    }
}

static void fill_row(const struct results *r, const struct by_cell *b, size_t cell, struct names *names,
                     struct counts_row *row, struct arena *memory)
{
    struct samples s = {0};
    for (int64_t i = b->first[cell]; i >= 0; i = b->next[i]) {
        cJSON *stats = cJSON_Parse(r->rows.at[i].stats), *one;
        cJSON_ArrayForEach(one, stats)
        {
            int n = cJSON_IsNumber(one) && one->string ? statistic_table_number_of(names, one->string, memory)
                                                       : -1;
            if (n >= 0) VEC_PUSH(&s.of[n], one->valuedouble);
        }
        cJSON_Delete(stats);
    }
    for (int n = 0; n < MOST_NAMES; n++) {
        row->counts[n] = median_of(s.of[n].at, s.of[n].count);
        VEC_FREE(&s.of[n]);
    }
}

static void make_columns(const struct names *names, struct arena *memory, struct columns *out)
{
    struct column *c = arena_array(memory, (size_t)(FIRST + names->count), sizeof *c);
    memcpy(c, first_array, sizeof first_array);
    for (int i = 0; i < names->count; i++)
        c[FIRST + i] = (struct column){.key = names->key[i],
                                       .heading = names->heading[i],
                                       .kind = VALUE_COUNT,
                                       .argument = i,
                                       .value = count_value};
    *out = (struct columns){statistic_columns.name, c, (size_t)(FIRST + names->count)};
}

void statistic_table(const struct summary *s, const struct results *r, struct arena *memory,
                     struct table *out)
{
    struct names names = {0};
    struct columns columns;
    struct by_cell by_cell;
    size_t n = 0, cells = s->problems.count * s->solvers.count;
    struct counts_row *list = arena_array(memory, cells + 1, sizeof *list);
    statistic_table_sort_rows(s, r, &by_cell, memory);
    for (size_t c = 0; c < cells; c++) {
        if (s->cells[c].runs == 0) continue;
        list[n].problem = &s->problems.at[c / s->solvers.count];
        list[n].solver = &s->solvers.at[c % s->solvers.count];
        list[n].cell = &s->cells[c];
        fill_row(r, &by_cell, c, &names, &list[n++], memory);
    }
    make_columns(&names, memory, &columns);
    *out = TABLE(columns, list, n);
    out->key = "statistics";
    out->title = "What solvers counted";
    out->notes =
        "answers: incumbents reported; first: the first of them. `lxplan solvers NAME` explains the others.\n"
        "With several runs: medians.\n";
}
