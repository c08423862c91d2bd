/* The devices of a grid in rows and columns: the last axis goes to the right, the others down. */
#include "tui/team/team_picture.h"

enum { CELL_LEAST = 10, CELL_MOST = 26, LABEL = 9 };

/* The first visible row or column, so that the selected one is visible. */
static int team_grid_first_of(int selected, int all, int room)
{
    int first = selected < room ? 0 : selected - room / 2;
    if (first > all - room) first = all - room;
    return first < 0 ? 0 : first;
}

struct window {
    int row, column, rows, columns, width; /* of devices; of a cell */
};

static struct window team_grid_window(const struct team_look *k, int columns, int rows)
{
    const struct lx_team_grid *g = &k->cut->plan->grid;
    int across = g->size[g->axes - 1], down = k->cut->members / across, width = (columns - LABEL) / across;
    struct window w = {.width = width < CELL_LEAST ? CELL_LEAST : width > CELL_MOST ? CELL_MOST : width};
    w.columns = (columns - LABEL) / w.width;
    if (w.columns > across) w.columns = across;
    if (w.columns < 1) w.columns = 1;
    w.rows = rows < down ? rows : down;
    w.column = team_grid_first_of(k->member % across, across, w.columns);
    w.row = team_grid_first_of(k->member / across, down, w.rows);
    return w;
}

/* "3: 8x32 +1,024" */
static void team_grid_draw_cell(const struct scene *on, int row, int column, int width,
                                const struct team_look *k, int member)
{
    const struct lx_team_plan *p = k->cut->plan;
    struct lx_team_box own = lx_team_own(p, k->tensor, member);
    struct text t = {0};
    bool here = member == k->member;
    put(on->cells, row, column, here ? on->glyphs->mark : on->glyphs->full,
        here ? INK(KEY) : (struct style){.ink = tone_of_identity(member)});
    text_format(&t, "%d: ", member);
    for (int d = 0; d < own.rank; d++) text_format(&t, d ? "x%lld" : "%lld", (long long)own.size[d]);
    if (own.rank == 0) text_add(&t, "one number");
    if (k->exchange >= 0 && p->exchanges[k->exchange].received[member] > 0)
        text_format(&t, " +%s", grouped(p->exchanges[k->exchange].received[member]).at);
    put_text(on->cells, row, column + 2, width - 3, here ? INK(TITLE) : INK(PLAIN), t.at ? t.at : "");
    text_free(&t);
}

struct box team_grid_draw(const struct scene *on, struct box *area, const struct team_look *k, int rows)
{
    const struct lx_team_grid *g = &k->cut->plan->grid;
    int across = g->size[g->axes - 1];
    struct window w = team_grid_window(k, area->columns, rows > 2 ? rows - 1 : 1);
    if (rows > 2) {
        struct box head = box_cut_top(area, 1);
        for (int c = 0; c < w.columns; c++)
            put_format(on->cells, head.row, head.column + LABEL + c * w.width + 2, w.width - 3, INK(DIM),
                       "axis %d: %d", g->axes - 1, w.column + c);
    }
    struct box cells = box_cut_top(area, w.rows);
    for (int r = 0; r < w.rows; r++) {
        struct text label = {0}; /* its place along the axes that go down */
        for (int a = 0; a + 1 < g->axes; a++)
            text_format(&label, a ? ",%d" : "%d", lx_team_coordinate(g, (w.row + r) * across, a));
        put_right(on->cells, cells.row + r, cells.column, LABEL - 2, INK(DIM), label.at ? label.at : "");
        text_free(&label);
        for (int c = 0; c < w.columns; c++)
            team_grid_draw_cell(on, cells.row + r, cells.column + LABEL + c * w.width, w.width, k,
                                (w.row + r) * across + w.column + c);
    }
    return cells;
}

int team_grid_at(const struct team_look *k, const struct box *members, int row, int column)
{
    const struct lx_team_grid *g = &k->cut->plan->grid;
    int across = g->size[g->axes - 1];
    struct window w = team_grid_window(k, members->columns, members->rows);
    int r = row - members->row, c = column - members->column - LABEL;
    if (r < 0 || r >= w.rows || c < 0 || c / w.width >= w.columns) return -1;
    return (w.row + r) * across + w.column + c / w.width;
}

/* Messages between the device and others: " 2: 1,024 B, ..." */
static void team_grid_add_messages(const struct team_look *k, bool gets, struct text *t)
{
    const struct lx_team_plan *p = k->cut->plan;
    const struct lx_team_exchange *e = &p->exchanges[k->exchange];
    const struct lx_tensor *x = &p->graph->tensors[k->tensor];
    int said = 0;
    for (int m = 0; m < p->devices; m++) {
        struct lx_team_box part =
            lx_team_sent(&p->grid, x, &p->tensors[k->tensor], e, gets ? m : k->member, gets ? k->member : m);
        if (m == k->member || lx_team_box_empty(&part)) continue;
        text_format(t, "%s%d: ", said++ ? ", " : gets ? "; from " : "; to ", m);
        text_format(t, "%s B", grouped(lx_team_box_elements(&part) * lx_dtype_bits(x->dtype) / 8).at);
    }
}

void team_grid_member(const struct scene *on, struct box area, const struct team_look *k)
{
    const struct lx_team_plan *p = k->cut->plan;
    struct lx_team_box own = lx_team_own(p, k->tensor, k->member);
    struct text line = {0};
    text_format(&line, "device %d at", k->member);
    for (int a = 0; a < p->grid.axes; a++)
        text_format(&line, a ? ", %d" : " %d", lx_team_coordinate(&p->grid, k->member, a));
    if (k->exchange >= 0)
        text_format(&line, ": gets %s B, sends %s B",
                    grouped(p->exchanges[k->exchange].received[k->member]).at,
                    grouped(p->exchanges[k->exchange].sent[k->member]).at);
    put_line(on->cells, area, INK(TITLE), &line);
    if (area.rows < 2) return;
    text_add(&line, "own ");
    for (int d = 0; d < own.rank; d++)
        text_format(&line, "%s%lld..%lld", d ? " x " : "", (long long)own.offset[d],
                    (long long)(own.offset[d] + own.size[d]));
    if (k->exchange >= 0) {
        team_grid_add_messages(k, true, &line);
        team_grid_add_messages(k, false, &line);
    }
    put_paragraph(on->cells, (struct box){area.row + 1, area.column, area.rows - 1, area.columns}, INK(DIM),
                  &line);
}
