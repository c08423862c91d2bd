/* Remedies as a table: one row each, for a terminal and for the explorer. */
#include "planning/remedies.h"
#include "text/format.h"

#include <math.h>

static bool has_figures(const struct remedy_row *row)
{
    return row->it->state <= REMEDY_CUT;
}

static int64_t delta_of(const struct remedy_row *row)
{
    return row->it->value - lx_plan_value(row->of->plan);
}

/* Its time was up before it was as good as the plan of now: what it moves in the end is not known. */
static bool is_unknown(const struct remedy_row *row)
{
    return row->it->state == REMEDY_CUT && delta_of(row) > 0;
}

static enum paint remedy_columns_paint_of(const struct remedy_row *row)
{
    int64_t delta = delta_of(row);
    return delta < 0 ? PAINT_GOOD : delta > 0 ? PAINT_BAD : PAINT_DIM;
}

static void remedy_columns_value_of(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct remedy_row *row = row_of_table;
    (void)column;
    v->paint = PAINT_DIM;
    v->number = NAN;
    /* Why there are no figures. */
    static const char *const words[] = {
        [REMEDY_TRIED] = "",         [REMEDY_CUT] = "",           [REMEDY_OPEN] = "...",
        [REMEDY_NONE] = "none",      [REMEDY_FAILED] = "no plan", [REMEDY_STOPPED] = "stopped",
        [REMEDY_LARGE] = "too large"};
    v->words = words[row->it->state];
    if (!has_figures(row)) return;
    v->words = NULL;
    v->paint = PAINT_PLAIN;
    value_whole(v, row->it->value);
    if (row->it->state == REMEDY_CUT) value_format(v, "<= %s", grouped(row->it->value).at);
}

static void delta_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct remedy_row *row = row_of_table;
    (void)column;
    v->words = "";
    v->number = NAN;
    if (!has_figures(row)) return;
    if (is_unknown(row)) {
        v->paint = PAINT_DIM;
        v->words = "?";
        return;
    }
    v->paint = remedy_columns_paint_of(row);
    value_whole(v, delta_of(row));
    v->words = NULL;
    if (delta_of(row) > 0)
        value_format(v, "+%s", grouped(delta_of(row)).at);
    else if (delta_of(row) == 0)
        v->words = "=";
}

static void remedy_columns_share_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct remedy_row *row = row_of_table;
    int64_t now = lx_plan_value(row->of->plan);
    (void)column;
    v->words = "";
    v->number = NAN;
    if (!has_figures(row) || now == 0 || is_unknown(row)) return;
    v->paint = PAINT_DIM;
    v->words = "=";
    if (delta_of(row) == 0) return;
    v->number = (double)delta_of(row) / (double)now;
    v->paint = remedy_columns_paint_of(row);
    value_format(v, "%s%s", v->number > 0 ? "+" : "", in_percent(v->number).at);
}

/* How much longer, or shorter, it takes from end to end. */
static void slower_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct remedy_row *row = row_of_table;
    double now = row->of->plan->figures.end_to_end_us, change = now > 0 ? (row->it->us - now) / now : 0;
    (void)column;
    v->words = "";
    v->number = NAN;
    if (!has_figures(row) || row->of->plan->graph->is_list || fabs(change) < 5e-4) return;
    v->number = change;
    v->paint = change > 0 ? PAINT_BAD : PAINT_GOOD;
    value_format(v, "%s%s", change > 0 ? "+" : "", in_percent(change).at);
}

static void note_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct remedy_row *row = row_of_table;
    (void)column;
    v->paint = PAINT_DIM;
    if (row->it->state == REMEDY_LARGE)
        value_format(v, "not tried: too large (%s)", counted(row->of->plan->problem.count, "buffer").at);
    else if (row->it->state == REMEDY_NONE)
        value_format(v, "%s: there is none", row->it->note);
    else
        v->words = row->it->note;
}

/* clang-format off */
VALUE_OF(remedy_columns_time_value, struct remedy_row,
    v->paint = row->of->plan->asks_time ? PAINT_PLAIN : PAINT_DIM;
    v->number = NAN;
    v->words = "";
    if (!has_figures(row) || row->of->plan->graph->is_list) return;
    v->words = NULL;
    v->number = row->it->us;)
VALUE_OF(presence_value, struct remedy_row,
    v->words = "";
    if (!has_figures(row) || !row->of->name) return;
    v->words = presence_word(row->it->presence);
    v->paint = row->it->presence == PRESENCE_YES ? PAINT_GOOD : PAINT_DIM;)
VALUE_OF(what_value, struct remedy_row, v->words = row->it->what; v->paint = has_figures(row) && delta_of(row) < 0 ? PAINT_HEADING : PAINT_PLAIN;)

static const struct column array[REMEDY_COLUMNS] = {
    [REMEDY_COLUMN_WHAT]     = {.key = "what",     .heading = "what",       .kind = VALUE_WORDS,  .width = 26, .value = what_value},
    [REMEDY_COLUMN_VALUE]    = {.key = "value",    .heading = "HBM bytes",  .kind = VALUE_BYTES,  .width = 14, .value = remedy_columns_value_of},
    [REMEDY_COLUMN_DELTA]    = {.key = "delta",    .heading = "delta",      .kind = VALUE_BYTES,  .width = 15, .from = REMEDY_WIDE, .value = delta_value},
    [REMEDY_COLUMN_SHARE]    = {.key = "share",    .heading = "%",          .kind = VALUE_SHARE,  .width = 8,  .from = 60, .value = remedy_columns_share_value},
    [REMEDY_COLUMN_SLOWER]   = {.key = "time_share", .heading = "time %",   .kind = VALUE_SHARE,  .width = 9,  .from = 50, .flags = COLUMN_MAY_HIDE, .value = slower_value},
    [REMEDY_COLUMN_PRESENCE] = {.key = "on_chip",  .heading = "on chip",    .kind = VALUE_WORDS,  .width = 7,  .from = 40, .flags = COLUMN_MAY_HIDE, .value = presence_value},
    [REMEDY_COLUMN_TIME]     = {.key = "end_to_end_us", .heading = "end to end us", .kind = VALUE_MICROS, .width = 13, .from = 125, .flags = COLUMN_MAY_HIDE, .value = remedy_columns_time_value},
    [REMEDY_COLUMN_NOTE]     = {.key = "note",     .heading = "",           .kind = VALUE_WORDS,  .from = 90, .value = note_value},
};
/* clang-format on */

const struct columns remedy_columns = COLUMNS("remedies", array);

const char *remedy_value_heading(const struct lx_plan *p)
{
    if (p->problem.objective == LX_HEIGHT) return "height";
    return p->graph->is_list ? "cost" : "HBM bytes";
}
