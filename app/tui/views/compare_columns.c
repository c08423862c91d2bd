/* Columns of plans that are compared; see compare_columns.h. */
#include "tui/views/compare_columns.h"

#include <math.h>
#include <string.h>

/* Its value is the least that anyone has proved. */
static bool compare_columns_is_least(const struct racer_row *row)
{
    enum lx_verdict status = row->plan->answer.status;
    if (status == LX_OPTIMAL) return true;
    return (status == LX_FEASIBLE || status == LX_LIMIT) && row->rival->by &&
           lx_plan_value(row->plan) <= row->rival->least;
}

static void status_value(const void *row_of_table, const struct column *column, struct value *v)
{
    static const enum paint paints[] = {[LX_FEASIBLE] = PAINT_PLAIN,
                                        [LX_OPTIMAL] = PAINT_GOOD,
                                        [LX_INFEASIBLE] = PAINT_BAD,
                                        [LX_LIMIT] = PAINT_WARN,
                                        [LX_ERROR] = PAINT_BAD};
    const struct racer_row *row = row_of_table;
    (void)column;
    enum lx_verdict status = compare_columns_is_least(row) ? LX_OPTIMAL : row->plan->answer.status;
    v->words = row->rival->outcome->interim                           ? "so far"
               : row->rival->outcome->stopped && status != LX_OPTIMAL ? "stopped"
                                                                      : lx_verdict_word(status);
    v->paint = paints[status];
}

/* A mark behind it where the target is missed. */
static void compare_columns_traffic_value(const void *row_of_table, const struct column *column,
                                          struct value *v)
{
    const struct racer_row *row = row_of_table;
    const struct lx_plan *p = row->plan;
    bool missed = !row->rival->outcome->interim && !lx_plan_meets_target(p);
    (void)column;
    value_whole(v, p->problem.objective == LX_HEIGHT ? p->figures.height_bytes : p->figures.hbm_bytes);
    value_format(v, "%s%s", grouped(v->whole).at, missed ? "!" : " ");
    v->paint = missed ? PAINT_BAD : PAINT_PLAIN;
}

/* What the selected buffer is in this plan. */
static void selected_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct racer_row *row = row_of_table;
    const struct session *s = row->on ? row->on->session : NULL;
    int32_t i = s ? same_buffer(row->plan, session_plan(s), s->selection.buffer) : -1;
    (void)column;
    if (i < 0) return;
    int64_t at = row->plan->answer.address[i];
    if (at >= 0)
        value_format(v, "on chip %s", address_words(row->on, at).at);
    else
        v->words = "off chip";
    v->paint = at >= 0 ? PAINT_GOOD : row->plan->problem.buffers[i].reason ? PAINT_DIM : PAINT_BAD;
}

static void gap_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct racer_row *row = row_of_table;
    (void)column;
    v->number = row->rival->by ? lx_gap(lx_plan_value(row->plan), row->rival->least) : lx_plan_gap(row->plan);
}

static void proof_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct racer_row *row = row_of_table;
    (void)column;
    if (compare_columns_is_least(row) && row->rival->by)
        value_format(v, "proved by %s", row->rival->by);
    else
        v->words = row->plan->unproved ? row->plan->unproved : "";
    v->paint = PAINT_DIM;
}

/* clang-format off */
VALUE_OF(solver_value, struct racer_row, v->words = row->rival->name; v->paint = row->wins ? PAINT_GOOD : PAINT_HEADING;)
VALUE_OF(time_value,   struct racer_row, v->number = row->plan->seconds > 0 ? row->plan->seconds : NAN; v->paint = PAINT_DIM;)
VALUE_OF(spill_value,  struct racer_row, value_whole(v, row->plan->figures.spill_bytes); v->paint = PAINT_DIM;)
VALUE_OF(bound_value,  struct racer_row, value_whole(v, row->rival->least); v->paint = PAINT_DIM;)
VALUE_OF(steps_value,  struct racer_row, value_whole(v, row->plan->answer.steps); v->paint = PAINT_DIM;)


static const struct column racer_array[RACER_COLUMNS] = {
    [SOLVER]   = {.key = "solver",   .heading = "solver",       .kind = VALUE_WORDS,   .width = 9,  .value = solver_value},
    [STATUS]   = {.key = "status",   .heading = "status",       .kind = VALUE_WORDS,   .width = 10, .value = status_value},
    [TRAFFIC]  = {.key = "traffic",  .heading = "HBM bytes ",   .kind = VALUE_BYTES,   .width = 15, .value = compare_columns_traffic_value},
    [GAP]      = {.key = "gap",      .heading = "gap",          .kind = VALUE_SHARE,   .width = 8,  .from = 46, .value = gap_value},
    [TIME]     = {.key = "seconds",  .heading = "time",         .kind = VALUE_SECONDS, .width = 10, .from = 56, .value = time_value},
    [SELECTED] = {.key = "selected", .heading = "",             .kind = VALUE_WORDS,   .width = 17, .gap = 1, .from = 75, .value = selected_value},
    [SPILL]    = {.key = "spill",    .heading = "spill",        .kind = VALUE_BYTES,   .width = 14, .from = 104, .value = spill_value},
    [BOUND]    = {.key = "bound",    .heading = "proven least", .kind = VALUE_BYTES,   .width = 13, .from = 104, .value = bound_value},
    [STEPS]    = {.key = "steps",    .heading = "steps",        .kind = VALUE_COUNT,   .width = 12, .from = 118, .value = steps_value},
    [PROOF]    = {.key = "unproved", .heading = "why no proof", .kind = VALUE_WORDS,   .gap = 1, .from = 150, .value = proof_value},
};
/* clang-format on */

const struct columns racer_columns = COLUMNS("solvers on the screen", racer_array);

static int compare_columns_compare_values(const struct value *p, const struct value *q, enum value_kind kind)
{
    if (kind == VALUE_WORDS) return strcmp(p->words ? p->words : "", q->words ? q->words : "");
    if (kind == VALUE_SHARE || kind == VALUE_SECONDS)
        return (p->number > q->number) - (p->number < q->number);
    return (p->whole > q->whole) - (p->whole < q->whole);
}

int compare_rivals(const struct rival *a, const struct rival *b, int column)
{
    struct racer_row x = {.rival = a, .plan = a->outcome->plan}, y = {.rival = b, .plan = b->outcome->plan};
    struct value p = {0}, q = {0};
    if (!x.plan || !y.plan) return !x.plan - !y.plan;
    racer_array[column].value(&x, &racer_array[column], &p);
    racer_array[column].value(&y, &racer_array[column], &q);
    int order = compare_columns_compare_values(&p, &q, racer_array[column].kind);
    value_free(&p);
    value_free(&q);
    return order;
}
