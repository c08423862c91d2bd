/* The tables of a report: by solver, by instance, and what went wrong. */
#include "bench/report.h"
#include "text/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_WIDTH = 44 };

static const struct sheet_column solver_columns[] = {
    {"solver", "solver", SHEET_WORDS, false},
    {"config", NULL, SHEET_WORDS, false},
    {"runs", "runs", SHEET_COUNT, false},
    {"solved", "solved", SHEET_COUNT, false},
    {"proved", "proved", SHEET_COUNT, false},
    {"best_known", "best", SHEET_COUNT, false},
    {"mean_gap", "gap", SHEET_SHARE, false},
    {"mean_above_best", "above best", SHEET_SHARE, false},
    {"median_seconds", "median", SHEET_SECONDS, false},
    {"par2_seconds", "PAR2", SHEET_SECONDS, false},
    {"shifted_geometric_mean_seconds", "sgm", SHEET_SECONDS, false},
    {"wins", "wins", SHEET_COUNT, false},
    {"only", "only", SHEET_COUNT, false},
    {"contribution_seconds", "adds", SHEET_SECONDS, false},
    {"none", "none", SHEET_COUNT, true},
    {"timeout", "timeout", SHEET_COUNT, true},
    {"memory", "memory", SHEET_COUNT, true},
    {"crash", "crash", SHEET_COUNT, true},
    {"error", "error", SHEET_COUNT, true},
    {"wrong", "WRONG", SHEET_COUNT, true},
};

static enum paint alarm(int64_t count)
{
    return count ? PAINT_BAD : PAINT_PLAIN;
}

static void add_contender(const struct contender *c, bool is_virtual, struct sheet *out)
{
    sheet_words(out, is_virtual ? PAINT_DIM : PAINT_PLAIN, c->label);
    sheet_words(out, PAINT_PLAIN, c->config);
    sheet_number(out, PAINT_PLAIN, (double)c->runs);
    sheet_number(out, PAINT_PLAIN, (double)c->solved);
    sheet_number(out, PAINT_PLAIN, (double)c->proved);
    sheet_number(out, PAINT_PLAIN, (double)c->hits);
    sheet_number(out, PAINT_PLAIN, c->gap);
    sheet_number(out, PAINT_PLAIN, c->above_best);
    sheet_number(out, PAINT_PLAIN, c->median);
    sheet_number(out, PAINT_PLAIN, c->par2);
    sheet_number(out, PAINT_PLAIN, c->mean);
    sheet_number(out, PAINT_PLAIN, is_virtual ? NAN : (double)c->wins);
    sheet_number(out, PAINT_PLAIN, is_virtual ? NAN : (double)c->only);
    sheet_number(out, PAINT_PLAIN, c->contribution);
    static const enum outcome bad[] = {OUTCOME_NONE,  OUTCOME_TIMEOUT, OUTCOME_MEMORY,
                                       OUTCOME_CRASH, OUTCOME_ERROR,   OUTCOME_WRONG};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        sheet_number(out, i < 2 ? PAINT_PLAIN : alarm(c->outcomes[bad[i]]),
                     is_virtual ? NAN : (double)c->outcomes[bad[i]]);
}

void solver_sheet(const struct summary *s, struct sheet *out)
{
    *out = (struct sheet){.key = "solvers",
                          .title = "Solvers",
                          .columns = solver_columns,
                          .column_count = sizeof solver_columns / sizeof *solver_columns};
    for (size_t k = 0; k < s->solvers.count; k++) add_contender(&s->solvers.at[k], false, out);
    if (s->solvers.count > 1) add_contender(&s->best, true, out);
    text_format(
        &out->notes,
        "%s, time limit %s. solved: runs with a legal, complete answer or a proof that there is none;\n"
        "proved: optimal or infeasible; best: reached the best value known here, within %s. gap: mean to the "
        "best\n"
        "proven bound; above best: mean to the best value (both as a share of the answer). median: solver "
        "time.\n"
        "PAR2 (a miss counts twice the limit), sgm (geometric mean, shifted by %s, a miss counts the limit), "
        "wins\n"
        "(fastest, or within %.0f %% of it) and only (no one else does) count only runs that reach the best "
        "value.\n"
        "adds: what the PAR2 of the virtual best solver would lose without this one.\n",
        counted((int64_t)s->problems.count - s->bad_inputs, "instance").at, in_time(s->limit).at,
        in_percent(s->within).at, in_time(SHIFT_SECONDS).at, (WIN_RATIO - 1) * 100);
    if (s->outliers)
        text_format(&out->notes,
                    "%s (a time more than %.1f deviations from the median of its cell); none is left out.\n",
                    counted(s->outliers, "outlier").at, OUTLIER_DEVIATIONS);
    if (s->bad_inputs)
        text_format(&out->notes, "%s could not be read.\n", counted(s->bad_inputs, "more instance").at);
}

static const struct sheet_column instance_columns[] = {
    {"instance", "instance", SHEET_WORDS, false},
    {"path", NULL, SHEET_WORDS, false},
    {"hash", NULL, SHEET_WORDS, false},
    {"objective", NULL, SHEET_WORDS, false},
    {"capacity", NULL, SHEET_COUNT, false},
    {"buffers", "buffers", SHEET_COUNT, false},
    {"solver", "solver", SHEET_WORDS, false},
    {"runs", NULL, SHEET_COUNT, false},
    {"outcome", "outcome", SHEET_WORDS, false},
    {"value", "value", SHEET_COUNT, false},
    {"value_least", "least", SHEET_COUNT, true},
    {"value_most", "most", SHEET_COUNT, true},
    {"bound", "bound", SHEET_COUNT, false},
    {"mean_gap", "gap", SHEET_SHARE, false},
    {"seconds", "time", SHEET_SECONDS, false},
    {"seconds_least", "from", SHEET_SECONDS, true},
    {"seconds_most", "to", SHEET_SECONDS, true},
    {"steps", "nodes", SHEET_COUNT, true},
    {"steps_a_second", "nodes/s", SHEET_COUNT, true},
    {"peak_kb", "peak kB", SHEET_COUNT, false},
};

static void describe_outcomes(const struct cell *c, struct text *out)
{
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        if (!c->outcomes[o]) continue;
        if (out->length) text_add(out, ", ");
        if (c->outcomes[o] < c->runs) text_format(out, "%lld ", (long long)c->outcomes[o]);
        text_add(out, outcome_word((enum outcome)o));
    }
}

static enum paint paint_of(const struct cell *c)
{
    if (c->outcomes[OUTCOME_WRONG] || c->outcomes[OUTCOME_CRASH] || c->outcomes[OUTCOME_ERROR] ||
        c->outcomes[OUTCOME_MEMORY])
        return PAINT_BAD;
    return c->proved == c->runs ? PAINT_GOOD : PAINT_PLAIN;
}

/* Names of one corpus begin alike and end differently. */
static const char *short_name(const char *name, char *room, size_t size)
{
    size_t n = strlen(name), skip = n > NAME_WIDTH ? n - NAME_WIDTH + 1 : 0;
    while (skip && skip < n && ((unsigned char)name[skip] & 0xc0) == 0x80) skip++;
    snprintf(room, size, "%s%s", skip ? "~" : "", name + skip);
    return room;
}

static void add_cell(const struct summary *s, size_t p, size_t k, struct sheet *out)
{
    const struct problem *q = &s->problems.at[p];
    const struct cell *c = summary_cell(s, p, k);
    char name[NAME_WIDTH + 8];
    struct text outcome = {0};
    bool ranged = c->runs > 1;
    describe_outcomes(c, &outcome);
    sheet_words(out, PAINT_PLAIN, short_name(q->name, name, sizeof name));
    sheet_words(out, PAINT_PLAIN, q->path);
    sheet_words(out, PAINT_PLAIN, q->hash);
    sheet_words(out, PAINT_PLAIN, q->question);
    sheet_number(out, PAINT_PLAIN, (double)q->capacity);
    sheet_number(out, PAINT_PLAIN, (double)q->buffers);
    sheet_words(out, PAINT_PLAIN, s->solvers.at[k].label);
    sheet_number(out, PAINT_PLAIN, (double)c->runs);
    sheet_words(out, paint_of(c), outcome.at ? outcome.at : "");
    sheet_number(out, q->has_best && c->value == (double)q->best ? PAINT_GOOD : PAINT_PLAIN, c->value);
    sheet_number(out, PAINT_PLAIN, ranged && c->lowest < c->highest ? c->lowest : NAN);
    sheet_number(out, PAINT_PLAIN, ranged && c->lowest < c->highest ? c->highest : NAN);
    sheet_number(out, PAINT_PLAIN, q->has_bound ? (double)q->bound : NAN);
    sheet_number(out, PAINT_PLAIN, c->gap);
    sheet_number(out, PAINT_PLAIN, c->seconds);
    sheet_number(out, PAINT_PLAIN, ranged ? c->least : NAN);
    sheet_number(out, PAINT_PLAIN, ranged ? c->most : NAN);
    sheet_number(out, PAINT_PLAIN, c->steps);
    sheet_number(out, PAINT_PLAIN, c->steps > 0 ? c->steps_a_second : NAN);
    sheet_number(out, PAINT_PLAIN, (double)c->peak_kb);
    out->failed |= outcome.failed;
    text_free(&outcome);
}

void instance_sheet(const struct summary *s, struct sheet *out)
{
    *out = (struct sheet){.key = "instances",
                          .title = "Instances",
                          .columns = instance_columns,
                          .column_count = sizeof instance_columns / sizeof *instance_columns};
    for (size_t p = 0; p < s->problems.count; p++)
        for (size_t k = 0; k < s->solvers.count; k++)
            if (summary_cell(s, p, k)->runs > 0) add_cell(s, p, k, out);
    text_add(&out->notes,
             "bound: the best that any run here has proved. With several runs: medians and ranges.\n");
}

static const struct sheet_column fault_columns[] = {
    {"outcome", "outcome", SHEET_WORDS, false},   {"solver", "solver", SHEET_WORDS, false},
    {"instance", "instance", SHEET_WORDS, false}, {"seed", "seed", SHEET_COUNT, false},
    {"repeat", "repeat", SHEET_COUNT, true},      {"message", "what", SHEET_WORDS, false},
};

void fault_sheet(const struct results *r, struct sheet *out)
{
    *out = (struct sheet){.key = "faults",
                          .title = "What went wrong",
                          .columns = fault_columns,
                          .column_count = sizeof fault_columns / sizeof *fault_columns};
    for (size_t i = 0; i < r->rows.count; i++) {
        const struct row *row = &r->rows.at[i];
        char name[NAME_WIDTH + 8];
        if (row->outcome < OUTCOME_MEMORY) continue;
        sheet_words(out, PAINT_BAD, outcome_word(row->outcome));
        sheet_words(out, PAINT_PLAIN, row->solver);
        sheet_words(out, PAINT_PLAIN, short_name(row->name, name, sizeof name));
        sheet_number(out, PAINT_PLAIN, (double)row->seed);
        sheet_number(out, PAINT_PLAIN, (double)row->repeat);
        sheet_words(out, PAINT_PLAIN, row->message);
    }
}
