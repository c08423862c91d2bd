/* Bars of the parts of a tensor on one axis, of at most MOST_CELLS columns. */
#include "tui/team/team_picture.h"

#include <stdio.h>
#include <string.h>

enum { MOST_CELLS = 240, PARTS_ROOM = 18 };

/* The axis: `cells` columns for `extent` indices. */
struct team_axis {
    int column, cells;
    int64_t extent;
};

static int team_picture_cell_of(const struct team_axis *s, int64_t index)
{
    /* shapes end at 2^53 and screens at 240 cells: the product fits */
    return (int)(index * s->cells / s->extent);
}

/* Numbers stand at their bounds, unless there is another number. */
static void team_picture_note(char *line, const struct team_axis *s, int64_t index)
{
    char number[24];
    int width = snprintf(number, sizeof number, "%lld", (long long)index),
        at = team_picture_cell_of(s, index);
    if (at > s->cells - width) at = s->cells - width;
    if (at < 0) return;
    for (int i = at ? at - 1 : 0; i <= at + width && i < s->cells; i++)
        if (line[i] != ' ') return;
    memcpy(line + at, number, (size_t)width);
}

/* The selected device's bounds first, then the ends, then the others. */
static void team_picture_draw_axis(const struct scene *on, int row, const struct team_axis *s,
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
        team_picture_note(line, s, bound[block]);
        team_picture_note(line, s, bound[block + 1]);
    }
    team_picture_note(line, s, 0);
    team_picture_note(line, s, s->extent);
    for (int b = 1; bound && b < lx_team_blocks(&p->grid, t->shard, along); b++)
        team_picture_note(line, s, bound[b]);
    put_text(on->cells, row, s->column, s->cells, INK(DIM), line);
}

/* Received parts are shaded, each index in the colour of the device that owns it. */
static void team_picture_draw_received(const struct scene *on, int row, const struct team_axis *s,
                                       const struct team_look *k, int from, int to)
{
    for (int c = from < 0 ? 0 : from; c < to && c < s->cells; c++) {
        int owner = team_cut_owner(k->cut, k->tensor, s->extent * c / s->cells);
        put(on->cells, row, s->column + c, on->glyphs->shade, (struct style){.ink = tone_of_identity(owner)});
    }
}

/* On a coarse axis an own part has at least one cell, and so has a halo, which takes it from the own part
 * at the ends of the axis. */
static void team_picture_draw_device(const struct scene *on, int row, const struct team_axis *s,
                                     const struct team_look *k, int member)
{
    struct team_part p = team_cut_part(k->cut, k->tensor, k->exchange, member);
    int from = team_picture_cell_of(s, p.own.begin), to = team_picture_cell_of(s, p.own.end);
    if (range_size(p.own) > 0 && to <= from) to = from + 1;
    if (to > s->cells) from -= to - s->cells, to = s->cells;
    if (p.left && from == 0 && to > 1) from = 1;
    if (p.right && to == s->cells && to > from + 1) to--;
    put_fill(on->cells, (struct box){row, s->column, 1, s->cells}, on->glyphs->light, INK(FREE));
    if (p.apart) {
        int begin = team_picture_cell_of(s, p.box.begin), end = team_picture_cell_of(s, p.box.end);
        team_picture_draw_received(on, row, s, k, begin < s->cells ? begin : s->cells - 1,
                                   end > begin ? end : begin + 1);
    }
    if (p.left) {
        int begin = team_picture_cell_of(s, p.box.begin);
        team_picture_draw_received(on, row, s, k, begin < from ? begin : from - 1, from);
    }
    if (p.right) {
        int end = team_picture_cell_of(s, p.box.end);
        team_picture_draw_received(on, row, s, k, to, end > to ? end : to + 1);
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
    team_picture_draw_axis(on, area.row, &s, k);
    for (int m = first; m < members && m - first < rows; m++) {
        int row = area.row + 1 + m - first;
        bool here = m == k->member;
        if (here) put(on->cells, row, area.column, on->glyphs->mark, INK(KEY));
        put_format(on->cells, row, area.column + 1, label - 1, here ? INK(TITLE) : INK(DIM), "%*d", label - 2,
                   m);
        team_picture_draw_device(on, row, &s, k, m);
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
