/* Buffers: every stay of the plan in a table with any order, and the plan's bytes by purpose.
 *
 * Up to some 100,000 rows: they are sorted once for a plan, a column and a filter; drawing visits only
 * visible rows. */
#include "tui/core/explorer.h"
#include "planning/buffer_table.h"
#include "export/nest_words.h"
#include "text/table.h"
#include "tui/draw/chart.h"

/* The key of an order of rows. */
struct arranged_for {
    const struct lx_plan *plan;
    uint64_t number; /* of the outcome: a plan's address may be reused */
    struct sorting by;
    char filter[64];
};

struct buffers_view {
    struct list list;
    struct arranged_for now;  /* requested */
    struct arranged_for made; /* of the list; plan NULL: none */
    struct buffer_row *rows;  /* per buffer */
    int32_t *row_of;          /* per buffer: its place in the list, or -1 */
    struct column columns[BUFFER_COLUMNS];
    int life_columns, address_columns; /* of the longest ones */
    struct fitted fitted;              /* as drawn last, for clicks on heads */
};

static void buffers_end(void *state)
{
    struct buffers_view *v = state;
    mem_free(v->rows);
    mem_free(v->row_of);
}

/* By name, state, reason or role; in a plan with nests also as a tile or whole; "@24": on chip at that tick. */
static bool buffers_matches(const struct lx_plan *p, int32_t i, const char *filter)
{
    const char *texts[] = {p->problem.buffers[i].name, buffer_state(p, i), p->reason ? p->reason[i] : NULL,
                           p->nest_count == 0 ? NULL
                           : is_tile(p, i)    ? "tile"
                                              : "whole",
                           p->layouts ? lx_role_word(p->layouts->graph->tensors[p->stays[i].tensor].role)
                                      : NULL};
    bool has = !*filter;
    if (*filter == '@')
        return p->answer.address[i] >= 0 &&
               lx_is_alive(&p->problem.buffers[i], strtoll(filter + 1, NULL, 10));
    for (size_t k = 0; !has && k < sizeof texts / sizeof *texts; k++)
        has = texts[k] && has_text(texts[k], filter);
    return has;
}

static int buffers_digits(int64_t n)
{
    int digits = 1 + (n < 0);
    for (; n < -9 || n > 9; n /= 10) digits++;
    return digits;
}

/* The rows of another plan, and the widths of "5777..5779" and of "fast 0x000040". */
static void buffers_take_plan(struct buffers_view *v, const struct session *s)
{
    const struct lx_plan *p = session_plan(s);
    size_t all = (size_t)p->problem.count + 1;
    v->rows = mem_resize(v->rows, all * sizeof *v->rows);
    v->list.shown = mem_resize(v->list.shown, all * sizeof *v->list.shown);
    v->row_of = mem_resize(v->row_of, all * sizeof *v->row_of);
    v->life_columns = 8;
    v->address_columns = 9;
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        int n = buffers_digits(b->start) + 2 + buffers_digits(b->end);
        v->rows[i] = (struct buffer_row){p, s->shown.moved, i};
        if (n > v->life_columns) v->life_columns = n;
    }
    for (int32_t i = 0; p->problem.pool_count > 1 && i < p->problem.pool_count; i++) {
        int n = (int)strlen(p->problem.pools[i].name) + 9;
        if (n > v->address_columns) v->address_columns = n < 20 ? n : 20;
    }
}

static void buffers_arrange(struct buffers_view *v, const struct session *s, const char *filter)
{
    const struct lx_plan *p = session_plan(s);
    v->now.plan = p;
    v->now.number = s->shown.number;
    snprintf(v->now.filter, sizeof v->now.filter, "%s", filter);
    if (v->now.plan == v->made.plan && v->now.number == v->made.number &&
        v->now.by.column == v->made.by.column && v->now.by.descending == v->made.by.descending &&
        strcmp(v->now.filter, v->made.filter) == 0)
        return;
    bool same_plan = v->now.plan == v->made.plan && v->now.number == v->made.number;
    v->list.count = 0;
    v->made = (struct arranged_for){0};
    if (!p) return;
    if (!same_plan) buffers_take_plan(v, s);
    for (int32_t i = 0; i < p->problem.count; i++)
        if (buffers_matches(p, i, filter)) v->list.shown[v->list.count++] = i;
    sort_rows(&plan_buffer_columns.at[v->now.by.column], v->rows, sizeof *v->rows, v->now.by.descending,
              v->list.shown, v->list.count);
    for (int32_t i = 0; v->list.count < p->problem.count && i < p->problem.count; i++) v->row_of[i] = -1;
    for (int32_t i = 0; i < v->list.count; i++) v->row_of[v->list.shown[i]] = i;
    v->made = v->now;
}

enum { NEVER = 1 << 20 };

static void buffers_draw_row(const struct scene *on, const struct buffers_view *v, struct box row, int at)
{
    const struct lx_plan *p = v->made.plan;
    int32_t i = v->list.shown[at];
    bool here = at == v->list.cursor;
    uint8_t tone = tone_of_identity(buffer_identity(p, i));
    put(on->cells, row.row, row.column, here ? on->glyphs->mark : on->glyphs->bullet,
        (struct style){.ink = tone});
    put_values(on->cells, box_behind(row, 2), &v->fitted, &v->rows[i]);
    if (at == v->list.cursor) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
    if (on->search[0] && has_text(p->problem.buffers[i].name, on->search))
        put_paper(on->cells, (struct box){row.row, row.column + 2, 1, v->fitted.place[BUFFER_NAME].width},
                  INK_ON(MATCH, MATCH));
}

/* The state of the buffer under the cursor, and the reason. */
static void buffers_draw_why(const struct scene *on, const struct buffers_view *v, struct box area)
{
    if (v->list.count == 0 || area.rows < 1) return;
    int32_t i = v->list.shown[v->list.cursor];
    const struct lx_plan *p = v->made.plan;
    struct text line = {0};
    add_printable(&line, p->problem.buffers[i].name, 40);
    text_format(&line, ": %s", buffer_state(p, i));
    if (p->layouts)
        text_format(&line, ", %s", lx_role_word(p->layouts->graph->tensors[p->stays[i].tensor].role));
    int64_t cost = p->problem.buffers[i].spill_cost;
    if (p->layouts && p->answer.address[i] < 0 && cost > 0)
        text_format(&line, ", %s B less on chip", grouped(cost).at);
    int32_t nest = is_tile(p, i) ? plan_nest_at(p, p->stays[i].first) : -1;
    if (nest >= 0) {
        text_add(&line, "; ");
        add_tile_words(p, i, session_iteration(on->session, nest), &line);
    }
    if (p->reason && p->reason[i]) {
        text_add(&line, "; ");
        add_printable(&line, p->reason[i], 0);
    } else if (p->took_slot_of[i] >= 0) {
        text_add(&line, ", in place of ");
        add_printable(&line, p->problem.buffers[p->took_slot_of[i]].name, 40);
    }
    put_paragraph(on->cells, area, p->answer.address[i] >= 0 ? INK(PLAIN) : INK(WARN), &line);
}

static void buffers_draw_sums(const struct scene *on, struct box area)
{
    const struct outcome *o = &on->session->shown;
    double parts[LX_BYTE_KIND_COUNT];
    struct text line = {0};
    if (area.rows < 1) return;
    for (int k = 0; k < LX_BYTE_KIND_COUNT; k++) parts[k] = (double)o->bytes.bytes[k];
    struct box bar = box_cut_top(&area, area.rows > 2);
    if (bar.rows)
        put_stack(on, bar, parts, byte_looks, LX_BYTE_KIND_COUNT, (double)o->plan->figures.hbm_bytes);
    text_format(&line, "%s %s B: ", o->plan->layouts ? "HBM" : "cost",
                grouped(o->plan->figures.hbm_bytes).at);
    add_byte_sums(o->plan, &o->bytes, &line);
    if (o->plan->imported.ops) text_add(&line, "; ");
    add_imported_words(o->plan, &line);
    put_paragraph(on->cells, area, INK(PLAIN), &line);
}

static void buffers_draw(const struct scene *on, void *state, struct box area)
{
    struct buffers_view *v = state;
    struct box list = area;
    buffers_arrange(v, on->session, on->filter);
    /* The cursor follows the selection. */
    int32_t buffer = on->session->selection.buffer;
    if (v->made.plan && buffer >= 0 && buffer < v->made.plan->problem.count && v->row_of[buffer] >= 0)
        v->list.cursor = v->row_of[buffer];
    struct box sums = box_cut_bottom(&list, area.rows >= 14 ? 3 : area.rows >= 8);
    struct box why = box_cut_bottom(&list, area.rows >= 18 ? 2 : area.rows >= 14);
    struct box line = box_cut_bottom(&list, area.rows >= 6), head = box_cut_top(&list, 1);
    /* Reasons get the rest of the row if there is room, else the name does. */
    int room = box_behind(head, 2).columns;
    memcpy(v->columns, plan_buffer_columns.at, sizeof v->columns);
    bool tiles = v->made.plan && v->made.plan->nest_count > 0;
    if (tiles) v->columns[BUFFER_REASON].from += 16;
    bool reasons = room >= v->columns[BUFFER_REASON].from;
    v->columns[BUFFER_LIFE].width = v->life_columns;
    if (tiles) v->columns[BUFFER_COST].from = 100; /* names go before costs */
    if (!tiles) v->columns[BUFFER_TILES].from = v->columns[BUFFER_HOLD].from = NEVER;
    if (*on->filter == '@') v->columns[BUFFER_STATE].from = NEVER, v->columns[BUFFER_PADDING].from = 60;
    v->columns[BUFFER_ADDRESS].width = v->address_columns;
    v->columns[BUFFER_NAME].width = reasons ? (room >= 180 ? 36 : 24) : 0;
    v->columns[BUFFER_NAME].most = reasons ? 0 : 40;
    v->fitted = fit_columns((struct columns){plan_buffer_columns.name, v->columns, BUFFER_COLUMNS}, room);
    sorting_draw_heads(on, box_behind(head, 2), &v->fitted, &plan_buffer_columns, &v->now.by);
    list_show(&v->list, v->list.count, list);
    for (int i = 0; i < list.rows && v->list.top + i < v->list.count; i++)
        buffers_draw_row(on, v, (struct box){list.row + i, list.column, 1, list.columns}, v->list.top + i);
    if (v->list.count == 0)
        put_wrapped_format(on->cells, list, INK(PLAIN),
                           on->filter[0] ? "No buffer matches the filter. %s removes it."
                                         : "This plan has no buffers. %s goes back.",
                           on->filter[0] ? KEY_OF(ESCAPE) : KEY_OF(BACK));
    if (line.rows) put_fill(on->cells, line, on->glyphs->horizontal, INK(FRAME));
    buffers_draw_why(on, v, why);
    buffers_draw_sums(on, sums);
}

static bool buffers_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct buffers_view *v = state;
    if (r != REQ_OPEN || argument)
        return sorting_request(x, &v->now.by, &plan_buffer_columns, v->fitted.place, r, argument);
    if (why_open(x)) return true;
    session_show_buffer(&x->session);
    explorer_show(x, VIEW_MAP);
    return true;
}

/* A click on a head sorts by its column, another one reverses the order. */
static void buffers_click_head(struct explorer *x, void *state, const struct key *k)
{
    struct buffers_view *v = state;
    (void)x;
    for (int c = 0; c < BUFFER_COLUMNS; c++) {
        const struct column_place *p = &v->fitted.place[c];
        int from = v->list.rows.column + 2 + p->at;
        if (p->width == 0 || k->column < from || k->column >= from + p->width) continue;
        bool same = c == v->now.by.column;
        v->now.by = (struct sorting){c, same ? !v->now.by.descending : kind_is_number(v->columns[c].kind)};
    }
}

static int buffers_count(struct explorer *x, void *state)
{
    struct buffers_view *v = state;
    buffers_arrange(v, &x->session, x->filter[VIEW_BUFFERS]);
    return v->list.count;
}

static bool buffers_hides(struct explorer *x, void *state)
{
    const struct buffers_view *v = state;
    int32_t buffer = x->session.selection.buffer;
    return v->made.plan && (buffer < 0 || buffer >= v->made.plan->problem.count || v->row_of[buffer] < 0);
}

static const struct buffers_view buffers_initial = {.now = {.by = {BUFFER_MOVED, true}}};

const struct view view_buffers = {
    .name = "Buffers",
    .purpose = "every buffer in a table, and where the bytes go",
    .needs_plan = true,
    .state_size = sizeof(struct buffers_view),
    .initial = &buffers_initial,
    .end = buffers_end,
    .hints = {{REQ_OPEN, "map or why"},
              {REQ_SORT_RIGHT, "sort"},
              {REQ_SORT_REVERSE, "reverse"},
              {REQ_FILTER, "filter"},
              {REQ_SEARCH, "search"},
              {REQ_OFF_CHIP, "off chip"},
              {REQ_WHAT_IF, "what if"},
              {REQ_BACK, "back"}},
    .draw = buffers_draw,
    .request = buffers_request,
    .mouse = buffers_click_head,
    .count = buffers_count,
    .items = ITEMS_BUFFERS,
    .is_list = true,
    .sorted_by = &plan_buffer_columns,
    .hides = buffers_hides,
};
