/* Solvers side by side on the open pattern: raced in the background, two of their plans drawn next to each
 * other with what differs marked. */
#include "text/progress_words.h"
#include "tui/paint_map.h"
#include "tui/put_columns.h"
#include "base/checked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_MAPS = 6 };

struct compare_view {
    struct list list;
    int left; /* racer on the left; -1: the plan that is shown */
};

static void begin(void *state)
{
    struct compare_view *v = state;
    v->left = -1;
}

static const struct outcome *outcome_of(const struct scene *on, int racer)
{
    const struct outcome *o = racer >= 0 && (size_t)racer < on->session->racers.count
                                  ? &on->session->racers.at[racer].outcome
                                  : &on->session->shown;
    return o->plan ? o : NULL;
}

/* The same buffer in another plan: by number if the name agrees, which it does unless passes differ. */
static int32_t same_buffer(const struct lx_plan *p, const struct lx_plan *from, int32_t i)
{
    if (i < 0 || i >= from->problem.count) return -1;
    const char *name = from->problem.buffers[i].name;
    if (i < p->problem.count && strcmp(p->problem.buffers[i].name, name) == 0) return i;
    for (int32_t k = 0; k < p->problem.count; k++)
        if (strcmp(p->problem.buffers[k].name, name) == 0) return k;
    return -1;
}

/* A racer's plan, on the screen that it is seen on. */
struct racer_row {
    const struct scene *on;
    const struct racer *racer;
    const struct lx_plan *plan; /* NULL: none yet */
};

static void status_value(const void *row_of_table, const struct column *column, struct value *v)
{
    static const enum paint paints[] = {[LX_FEASIBLE] = PAINT_PLAIN,
                                        [LX_OPTIMAL] = PAINT_GOOD,
                                        [LX_INFEASIBLE] = PAINT_BAD,
                                        [LX_LIMIT] = PAINT_WARN,
                                        [LX_ERROR] = PAINT_BAD};
    const struct racer_row *row = row_of_table;
    (void)column;
    v->words = lx_verdict_word(row->plan->answer.status);
    v->paint = paints[row->plan->answer.status];
}

/* A mark behind it where the target is missed. */
static void traffic_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct lx_plan *p = ((const struct racer_row *)row_of_table)->plan;
    bool missed = !lx_plan_meets_target(p);
    (void)column;
    value_whole(v, p->problem.objective == LX_HEIGHT ? p->figures.height_bytes : p->figures.hbm_bytes);
    value_format(v, "%s%s", grouped(v->whole).at, missed ? "!" : " ");
    v->paint = missed ? PAINT_BAD : PAINT_PLAIN;
}

/* What the selected buffer is in this plan. */
static void selected_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct racer_row *row = row_of_table;
    const struct session *s = row->on->session;
    int32_t i = same_buffer(row->plan, session_plan(s), s->selection.buffer);
    (void)column;
    if (i < 0) return;
    int64_t at = row->plan->answer.address[i];
    if (at >= 0)
        value_format(v, "on chip %s", address_words(row->on, at).at);
    else
        v->words = "off chip";
    v->paint = at >= 0 ? PAINT_GOOD : row->plan->problem.buffers[i].reason ? PAINT_DIM : PAINT_BAD;
}

/* clang-format off */
VALUE_OF(solver_value, struct racer_row, v->words = row->racer->solver->name; v->paint = PAINT_HEADING;)
VALUE_OF(gap_value,    struct racer_row, v->number = lx_plan_gap(row->plan);)
VALUE_OF(time_value,   struct racer_row, v->number = row->plan->seconds; v->paint = PAINT_DIM;)
VALUE_OF(spill_value,  struct racer_row, value_whole(v, row->plan->figures.spill_bytes); v->paint = PAINT_DIM;)
VALUE_OF(bound_value,  struct racer_row, value_whole(v, row->plan->figures.bound_bytes); v->paint = PAINT_DIM;)
VALUE_OF(steps_value,  struct racer_row, value_whole(v, row->plan->answer.steps); v->paint = PAINT_DIM;)

enum { SOLVER, STATUS, TRAFFIC, GAP, TIME, SELECTED, SPILL, BOUND, STEPS, RACER_COLUMNS };

static const struct column racer_array[RACER_COLUMNS] = {
    [SOLVER]   = {.key = "solver",   .heading = "solver",       .kind = VALUE_WORDS,   .width = 9,  .value = solver_value},
    [STATUS]   = {.key = "status",   .heading = "status",       .kind = VALUE_WORDS,   .width = 10, .value = status_value},
    [TRAFFIC]  = {.key = "traffic",  .heading = "HBM bytes ",   .kind = VALUE_BYTES,   .width = 15, .value = traffic_value},
    [GAP]      = {.key = "gap",      .heading = "gap",          .kind = VALUE_SHARE,   .width = 8,  .from = 46, .value = gap_value},
    [TIME]     = {.key = "seconds",  .heading = "time",         .kind = VALUE_SECONDS, .width = 10, .from = 56, .value = time_value},
    [SELECTED] = {.key = "selected", .heading = "",             .kind = VALUE_WORDS,   .width = 17, .gap = 1, .from = 75, .value = selected_value},
    [SPILL]    = {.key = "spill",    .heading = "spill",        .kind = VALUE_BYTES,   .width = 14, .from = 104, .value = spill_value},
    [BOUND]    = {.key = "bound",    .heading = "no less than", .kind = VALUE_BYTES,   .width = 13, .from = 104, .value = bound_value},
    [STEPS]    = {.key = "steps",    .heading = "steps",        .kind = VALUE_COUNT,   .width = 12, .from = 118, .value = steps_value},
};
/* clang-format on */

const struct columns racer_columns = COLUMNS("solvers on the screen", racer_array);

/* The columns stand behind the letter of the map that shows the plan. */
static struct box behind_mark(struct box row)
{
    return (struct box){row.row, row.column + 2, 1, row.columns - 2};
}

static void draw_row(const struct scene *on, const struct compare_view *v, const struct fitted *f,
                     struct box row, int i)
{
    const struct racer *racer = &on->session->racers.at[i];
    struct progress now = worker_progress(on->session->worker, &race_work, i);
    struct cells *g = on->cells;
    bool is_left = v->left == i;
    put(g, row.row, row.column, is_left ? 'L' : i == v->list.cursor ? 'R' : ' ', INK(KEY));
    struct racer_row data = {on, racer, racer->outcome.plan};
    put_value(g, behind_mark(row), f, SOLVER, &data);
    int at = row.column + 12;
    if (now.running) {
        put(g, row.row, at, on->glyphs->spinner[on->spin & 3], INK(WARN));
        put_text(g, row.row, at + 2, row.columns - 14, INK(WARN),
                 progress_words(now.seconds, &now.so_far).at);
    } else if (now.waiting)
        put_text(g, row.row, at, 20, INK(DIM), "waits its turn");
    else if (racer->state == RACE_FAILED)
        put_text(g, row.row, at, row.columns - 14, INK(BAD), racer->outcome.st.text);
    else if (racer->outcome.plan)
        put_values(g, behind_mark(row), f, &data);
    if (i == v->list.cursor) put_paper(g, row, INK_ON(PLAIN, SELECTED));
}

static void draw_head(const struct scene *on, struct box row, const struct fitted *f)
{
    const struct lx_plan *p = session_plan(on->session);
    int32_t selected = on->session->selection.buffer;
    struct box at = behind_mark(row);
    const char *what = p->problem.objective == LX_HEIGHT ? "height " : p->graph->is_list ? "cost " : NULL;
    for (size_t i = 0; i < f->of.count; i++)
        put_heading(on->cells, at, f, i, INK(DIM), i == TRAFFIC && what ? what : f->of.at[i].heading);
    if (selected >= 0) put_heading(on->cells, at, f, SELECTED, INK(TITLE), p->problem.buffers[selected].name);
}

/* Which buffers are on chip in one of the two only. */
struct difference {
    uint8_t *left, *right; /* per buffer of each plan */
    int only_left, only_right, moved;
    struct text left_names, right_names;
};

static void add_name(struct text *names, int n, const char *name)
{
    if (n > 6) return;
    text_add(names, n == 1 ? "" : n == 6 ? ", ..." : ", ");
    if (n < 6) add_printable(names, name, 20);
}

static void note_difference(const struct lx_difference *x, struct difference *d)
{
    if (x->address_before >= 0 && x->address_after < 0) {
        d->left[x->before] = 1;
        add_name(&d->left_names, ++d->only_left, x->name);
    } else if (x->address_before < 0 && x->address_after >= 0) {
        d->right[x->after] = 1;
        add_name(&d->right_names, ++d->only_right, x->name);
    } else
        d->moved += x->change == LX_MOVED;
}

static bool differ(const struct lx_plan *a, const struct lx_plan *b, struct difference *d)
{
    struct lx_diff all;
    lx_status st = {0};
    *d = (struct difference){.left = calloc((size_t)a->problem.count + 1, 1),
                             .right = calloc((size_t)b->problem.count + 1, 1)};
    if (!d->left || !d->right || !lx_plan_diff(a, b, &all, &st)) return false;
    for (int32_t i = 0; i < all.count; i++) note_difference(&all.all[i], d);
    lx_diff_free(&all);
    return true;
}

static void difference_free(struct difference *d)
{
    free(d->left);
    free(d->right);
    text_free(&d->left_names);
    text_free(&d->right_names);
}

static void draw_map(const struct scene *on, struct box area, const struct outcome *o,
                     const uint8_t *different, const char *who)
{
    struct raster r;
    struct box title = box_cut_top(&area, 1);
    put_format(on->cells, title.row, title.column, title.columns, INK(TITLE), "%s  %s B", who,
               grouped(o->plan->figures.hbm_bytes).at);
    if (area.rows < 1 || area.columns < 4 || o->time.last <= o->time.first) return;
    struct raster_view view = {.from_tick = o->time.first,
                               .to_tick = o->time.last,
                               .to_address = o->index.bands.top,
                               .columns = area.columns,
                               .rows = map_rows(on, area.rows),
                               .by_edges = on->session->selection.by_edges,
                               .by_events = o->index.sparse,
                               .across = map_across(on),
                               .down = map_rows(on, 1)};
    if (!raster_make(&o->index, &view, &r)) return;
    int32_t selected = same_buffer(o->plan, session_plan(on->session), on->session->selection.buffer);
    struct map_paint paint = {o, &r, selected, different, NULL, HEAT_OCCUPANCY, NULL};
    map_paint(on, area, &paint);
    raster_free(&r);
}

static void draw_maps(const struct scene *on, const struct compare_view *v, struct box area)
{
    const struct outcome *a = outcome_of(on, v->left), *b = NULL;
    const struct racer *right = &on->session->racers.at[v->list.cursor];
    struct difference d;
    if (right->outcome.plan) b = &right->outcome;
    if (!a || !b) {
        if (session_race_is_old(on->session) || !worker_busy(on->session->worker, &race_work))
            put_wrapped_format(
                on->cells, area, INK(DIM),
                "%s races all solvers on this pattern. Then %s and %s choose the plan on the right, "
                "%s the one on the left, and %s takes a solver.",
                KEY_OF(RACE), KEY_OF(DOWN), KEY_OF(UP), KEY_OF(MARK), KEY_OF(OPEN));
        else
            put_wrapped_format(on->cells, area, INK(DIM),
                               "The race is on; %s stops it and keeps the best so far.", KEY_OF(STOP));
        return;
    }
    if (!differ(a->plan, b->plan, &d)) {
        difference_free(&d);
        return;
    }
    struct text line = {0};
    struct box words = box_cut_bottom(&area, area.rows >= 12 ? 2 : 1);
    if (d.only_left + d.only_right + d.moved == 0)
        text_add(&line, "the same plan");
    else {
        if (d.only_left) text_format(&line, "on chip only left (%d): %s; ", d.only_left, d.left_names.at);
        if (d.only_right) text_format(&line, "on chip only right (%d): %s; ", d.only_right, d.right_names.at);
        text_format(&line, "%s moved", counted(d.moved, "buffer").at);
    }
    put_wrapped(on->cells, words, INK(PLAIN), line.at ? line.at : "");
    text_free(&line);
    int half = (area.columns - 3) / 2;
    struct box left = {area.row, area.column, area.rows, half};
    struct box rest = {area.row, area.column + half + 3, area.rows, area.columns - half - 3};
    for (int k = 0; k < area.rows; k++)
        put(on->cells, area.row + k, area.column + half + 1, on->glyphs->vertical, INK(FRAME));
    char who[60];
    snprintf(who, sizeof who, "L %.40s", v->left < 0 ? "the plan that is shown" : a->plan->solver);
    draw_map(on, left, a, d.left, who);
    snprintf(who, sizeof who, "R %.40s", b->plan->solver);
    draw_map(on, rest, b, d.right, who);
    difference_free(&d);
}

static void draw(const struct scene *on, void *state, struct box area)
{
    struct compare_view *v = state;
    int n = (int)on->session->racers.count;
    struct box list = area;
    struct box maps = box_cut_bottom(&list, area.rows - n - 2 >= LEAST_MAPS ? area.rows - n - 2 : 0);
    struct box head = box_cut_top(&list, 1);
    struct fitted f = fit_columns(racer_columns, behind_mark(head).columns);
    draw_head(on, head, &f);
    list_show(&v->list, n, list);
    for (int i = 0; i < list.rows && v->list.top + i < n; i++)
        draw_row(on, v, &f, (struct box){list.row + i, list.column, 1, list.columns}, v->list.top + i);
    bool any = false;
    for (int i = 0; i < n; i++) any |= on->session->racers.at[i].outcome.plan != NULL;
    if (any && session_race_is_old(on->session) && maps.rows > 2) {
        struct box warn = box_cut_top(&maps, 1);
        put_format(on->cells, warn.row, warn.column, warn.columns, INK(WARN),
                   "these results are of other settings; %s races again", KEY_OF(RACE));
    }
    if (maps.rows > 0) draw_maps(on, v, maps);
}

static bool request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct compare_view *v = state;
    switch (r) {
    case REQ_EDGES:
        session_swap_scale(&x->session);
        return true;
    case REQ_MARK:
        v->left = v->left == v->list.cursor ? -1 : v->list.cursor;
        return true;
    case REQ_OPEN: {
        if (argument) return false;
        struct what_if how = x->session.now;
        settings_take_solver(&how, v->list.cursor);
        if (session_change(&x->session, &how))
            explorer_say(x, TONE_GOOD, "planning with %s; %s saves the plan, %s takes it back",
                         x->session.racers.at[v->list.cursor].solver->name, KEY_OF(SAVE), KEY_OF(UNDO));
        else if (!why_open(x))
            explorer_say(x, TONE_DIM, "this solver made the plan that is shown");
        return true;
    }
    case REQ_NEXT_ITEM:
    case REQ_PREVIOUS_ITEM: {
        int32_t m = session_plan(&x->session)->problem.count, step = r == REQ_NEXT_ITEM ? 1 : m - 1;
        if (m > 0) session_select_buffer(&x->session, (x->session.selection.buffer + step + m) % m);
        return true;
    }
    default:
        return false;
    }
}

static int count(struct explorer *x, void *state)
{
    (void)state;
    return (int)x->session.racers.count;
}

static const char *item(struct explorer *x, void *state, int i)
{
    (void)state;
    return x->session.racers.at[i].solver->name;
}

const struct view view_compare = {
    .name = "Compare",
    .purpose = "solvers side by side on this pattern",
    .needs_plan = true,
    .state_size = sizeof(struct compare_view),
    .begin = begin,
    .hints = {{REQ_RACE, "race"},
              {REQ_STOP, "stop"},
              {REQ_MARK, "left map"},
              {REQ_OPEN, "take this solver"},
              {REQ_OFF_CHIP, "off chip"},
              {REQ_SAVE, "save"},
              {REQ_BACK, "back"}},
    .draw = draw,
    .request = request,
    .count = count,
    .item = item,
    .list = first_list,
};
