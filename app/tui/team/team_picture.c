/* Bars of the parts of a tensor on one axis, of at most MOST_CELLS columns. */
#include "tui/team/team_picture.h"

enum { MOST_CELLS = 240, PARTS_ROOM = 18 };

/* The axis: `cells` columns for `extent` indices. */
struct team_axis {
    int column, cells;
    int64_t extent;
};

static int team_cell_of(const struct team_axis *s, int64_t index)
{
    /* shapes end at 2^53 and screens at 240 cells: the product fits */
    return (int)(index * s->cells / s->extent);
}

/* Numbers stand at their bounds, unless there is another number. */
static void team_note(char *line, const struct team_axis *s, int64_t index)
{
    char number[24];
    int width = snprintf(number, sizeof number, "%lld", (long long)index), at = team_cell_of(s, index);
    if (at > s->cells - width) at = s->cells - width;
    if (at < 0) return;
    for (int i = at ? at - 1 : 0; i <= at + width && i < s->cells; i++)
        if (line[i] != ' ') return;
    memcpy(line + at, number, (size_t)width);
}

/* The selected device's bounds first, then the ends, then the others. */
static void team_draw_axis(const struct scene *on, int row, const struct team_axis *s,
                           const struct team_look *k)
{
    char line[MOST_CELLS + 1];
    const struct lx_team_plan *p = k->cut->plan;
    const struct lx_team_tensor *t = &p->tensors[k->tensor];
    int along = team_cut_along(k->cut, k->tensor);
    const int64_t *bound = along < 0 ? NULL : t->bound[along];
    int block = along < 0 ? 0 : lx_team_block(&p->grid, t->shard, along, k->member);
    memset(line, ' ', sizeof line);
    line[s->cells] = 0;
    if (bound) {
        team_note(line, s, bound[block]);
        team_note(line, s, bound[block + 1]);
    }
    team_note(line, s, 0);
    team_note(line, s, s->extent);
    for (int b = 1; bound && b < lx_team_blocks(&p->grid, t->shard, along); b++) team_note(line, s, bound[b]);
    put_text(on->cells, row, s->column, s->cells, INK(DIM), line);
}

/* Received parts are shaded, each index in the colour of the device that owns it. */
static void team_draw_received(const struct scene *on, int row, const struct team_axis *s,
                               const struct team_look *k, int from, int to)
{
    for (int c = from < 0 ? 0 : from; c < to && c < s->cells; c++) {
        int owner = team_cut_owner(k->cut, k->tensor, s->extent * c / s->cells);
        put(on->cells, row, s->column + c, on->glyphs->shade, (struct style){.ink = tone_of_identity(owner)});
    }
}

/* On a coarse axis an own part has at least one cell, and so has a halo, which takes it from the own part
 * at the ends of the axis. */
static void team_draw_device(const struct scene *on, int row, const struct team_axis *s,
                             const struct team_look *k, int member)
{
    struct team_part p = team_cut_part(k->cut, k->tensor, k->exchange, member);
    int from = team_cell_of(s, p.own.begin), to = team_cell_of(s, p.own.end);
    if (range_size(p.own) > 0 && to <= from) to = from + 1;
    if (to > s->cells) from -= to - s->cells, to = s->cells;
    if (p.left && from == 0 && to > 1) from = 1;
    if (p.right && to == s->cells && to > from + 1) to--;
    put_fill(on->cells, (struct box){row, s->column, 1, s->cells}, on->glyphs->light, INK(FREE));
    if (p.apart) {
        int begin = team_cell_of(s, p.box.begin), end = team_cell_of(s, p.box.end);
        team_draw_received(on, row, s, k, begin < s->cells ? begin : s->cells - 1,
                           end > begin ? end : begin + 1);
    }
    if (p.left) {
        int begin = team_cell_of(s, p.box.begin);
        team_draw_received(on, row, s, k, begin < from ? begin : from - 1, from);
    }
    if (p.right) {
        int end = team_cell_of(s, p.box.end);
        team_draw_received(on, row, s, k, to, end > to ? end : to + 1);
    }
    for (int c = from < 0 ? 0 : from; c < to; c++)
        put(on->cells, row, s->column + c, on->glyphs->full, (struct style){.ink = tone_of_identity(member)});
}

int team_picture_draw(const struct scene *on, struct box area, const struct team_look *k)
{
    int members = k->cut->members, rows = area.rows - 1, first = 0;
    int label = members > 100 ? 7 : 5, parts = area.columns >= 60 ? PARTS_ROOM : 0;
    struct team_axis s = {.column = area.column + label, .cells = area.columns - label - parts - 1};
    s.extent = team_cut_part(k->cut, k->tensor, -1, 0).extent;
    if (s.cells > MOST_CELLS) s.cells = MOST_CELLS;
    if (rows < 1 || s.cells < 4 || s.extent < 1) return 0;
    if (k->member >= rows) first = k->member - rows / 2;
    if (first > members - rows) first = members - rows;
    if (first < 0) first = 0;
    team_draw_axis(on, area.row, &s, k);
    for (int m = first; m < members && m - first < rows; m++) {
        int row = area.row + 1 + m - first;
        bool here = m == k->member;
        if (here) put(on->cells, row, area.column, on->glyphs->mark, INK(KEY));
        put_format(on->cells, row, area.column + 1, label - 1, here ? INK(TITLE) : INK(DIM), "%*d", label - 2,
                   m);
        team_draw_device(on, row, &s, k, m);
        if (parts) {
            /* "2 + 171 + 2" */
            struct team_part p = team_cut_part(k->cut, k->tensor, k->exchange, m);
            char words[80];
            int n = 0;
            if (p.left) n = snprintf(words, sizeof words, "%lld + ", (long long)p.left);
            n += snprintf(words + n, sizeof words - (size_t)n, "%lld", (long long)range_size(p.own));
            if (p.right || p.apart)
                snprintf(words + n, sizeof words - (size_t)n, " + %lld",
                         (long long)(p.apart ? range_size(p.box) : p.right));
            put_text(on->cells, row, s.column + s.cells + 1, PARTS_ROOM - 1,
                     m == k->member ? INK(TITLE) : INK(DIM), words);
        }
    }
    return first;
}

/* The devices of a grid in rows and columns: the last axis goes to the right, the others down. */
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
    SCOPED(text_free) struct text t = {0};
    bool here = member == k->member;
    put(on->cells, row, column, here ? on->glyphs->mark : on->glyphs->full,
        here ? INK(KEY) : (struct style){.ink = tone_of_identity(member)});
    text_format(&t, "%d: ", member);
    for (int d = 0; d < own.rank; d++) text_format(&t, d ? "x%lld" : "%lld", (long long)own.size[d]);
    if (own.rank == 0) text_add(&t, "one number");
    if (k->exchange >= 0 && p->exchanges[k->exchange].received[member] > 0)
        text_format(&t, " +%s", grouped(p->exchanges[k->exchange].received[member]).at);
    put_text(on->cells, row, column + 2, width - 3, here ? INK(TITLE) : INK(PLAIN), t.at ? t.at : "");
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
        SCOPED(text_free) struct text label = {0}; /* its place along the axes that go down */
        for (int a = 0; a + 1 < g->axes; a++)
            text_format(&label, a ? ",%d" : "%d", lx_team_coordinate(g, (w.row + r) * across, a));
        put_right(on->cells, cells.row + r, cells.column, LABEL - 2, INK(DIM), label.at ? label.at : "");
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
