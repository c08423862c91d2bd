/* The ops of a team in order, with each exchange before the first op that reads it. */
#include "tui/team/team_picture.h"

/* The first columns of the list; those without room begin behind the row. */
struct team_columns {
    int name, kind, how, bytes, separate, rest, end;
};

static struct team_columns team_list_columns(const struct box *row)
{
    struct team_columns c = {.name = row->column + 7, .end = row->column + row->columns};
    bool narrow = row->columns < 60, wide = row->columns >= 100;
    c.kind = c.name + (narrow ? 13 : wide ? 25 : 15);
    c.how = narrow ? c.kind : c.kind + 11;
    c.bytes = c.how + 9;
    c.separate = c.bytes + (narrow ? 10 : 13);
    c.rest = c.separate + (wide ? 14 : 1);
    return c;
}

static void team_list_draw_op(const struct scene *on, struct box row, const struct team_look *k, int32_t o)
{
    const struct lx_team_plan *p = k->cut->plan;
    const struct lx_team_op *op = &p->ops[o];
    struct team_columns c = team_list_columns(&row);
    struct cells *g = on->cells;
    struct lx_team_range core;
    put_right(g, row.row, row.column, 6, INK(DIM), grouped(o).at);
    put_text(g, row.row, c.name, c.kind - c.name - 1, INK(PLAIN), p->graph->ops[o].name);
    if (c.how > c.kind)
        put_text(g, row.row, c.kind, c.how - c.kind - 1, INK(DIM), p->graph->ops[o].kind->name);
    put_text(g, row.row, c.how, c.bytes - c.how - 1, op->mode == LX_TEAM_SPLIT ? INK(GOOD) : INK(WARN),
             lx_team_mode_word(op->mode));
    put_right(g, row.row, c.bytes, c.separate - c.bytes - 1, op->bytes ? INK(PLAIN) : INK(DIM),
              grouped(op->bytes).at);
    if (c.rest >= c.end) return;
    if (op->space[k->member].loops == 0) {
        put_text(g, row.row, c.rest, c.end - c.rest, INK(DIM), "all of it");
        return;
    }
    int at = c.rest;
    const struct lx_team_space *s = &op->space[k->member];
    for (int l = 0; l < s->loops; l++) {
        if (l > 0) at += put_text(g, row.row, at, c.end - at, INK(DIM), " x ");
        at += put_text(g, row.row, at, c.end - at, INK(PLAIN), grouped(range_size(s->range[l])).at);
    }
    if (team_cut_core(k->cut, o, k->member, &core))
        put_format(g, row.row, at, c.end - at, INK(DIM), ", inner %s", grouped(range_size(core)).at);
}

static void team_list_draw_exchange(const struct scene *on, struct box row, const struct team_look *k,
                                    int32_t e)
{
    const struct lx_team_plan *p = k->cut->plan;
    const struct lx_team_exchange *ex = &p->exchanges[e];
    struct team_columns c = team_list_columns(&row);
    struct cells *g = on->cells;
    struct style style = e == k->exchange ? INK(TITLE) : INK(PLAIN);
    put(g, row.row, row.column + 5, on->glyphs->ring, INK(KEY));
    put_text(g, row.row, c.name, c.kind - c.name - 1, style, p->graph->tensors[ex->tensor].name);
    const char *pattern = lx_team_pattern_word(ex->pattern);
    int reads = c.kind + put_text(g, row.row, c.kind, c.bytes - c.kind, INK(KEY), pattern) + 1;
    if (reads < c.how) reads = c.how;
    if (c.how > c.kind) put_text(g, row.row, reads, c.bytes - reads, INK(DIM), counted(ex->reads, "read").at);
    put_right(g, row.row, c.bytes, c.separate - c.bytes - 1, style, grouped(ex->bytes).at);
    if (c.rest - c.separate > 1)
        put_right(g, row.row, c.separate, c.rest - c.separate - 1, INK(DIM), grouped(ex->separate_bytes).at);
    int at = c.rest, first = k->member > 1 ? k->member - 1 : 0;
    for (int m = first; m < p->devices && at < c.end; m++) {
        if (m == first) at += put_text(g, row.row, at, c.end - at, INK(DIM), first ? "each ... " : "each ");
        at += put_text(g, row.row, at, c.end - at, m == k->member ? INK(TITLE) : INK(DIM),
                       grouped(ex->received[m]).at);
        at++;
    }
}

void team_list_draw(const struct scene *on, struct list *l, struct box area, const struct team_look *k)
{
    const struct team_cut *c = k->cut;
    if (area.rows >= 4) {
        struct box head = box_cut_top(&area, 1);
        struct team_columns at = team_list_columns(&head);
        struct cells *g = on->cells;
        put_right(g, head.row, head.column, 6, INK(DIM), "tick");
        put_text(g, head.row, at.name, at.kind - at.name, INK(DIM), "op");
        if (at.how > at.kind) put_text(g, head.row, at.kind, at.how - at.kind, INK(DIM), "kind");
        put_text(g, head.row, at.how, at.bytes - at.how, INK(DIM), "how");
        put_right(g, head.row, at.bytes, at.separate - at.bytes - 1, INK(DIM), "received");
        if (at.rest - at.separate > 1)
            put_right(g, head.row, at.separate, at.rest - at.separate - 1, INK(DIM), "one by one");
        if (at.rest < at.end)
            put_format(g, head.row, at.rest, at.end - at.rest, INK(DIM), "part of device %d", k->member);
    }
    l->cursor = c->row_of_op[k->op];
    /* The exchanges before the op are visible, too. */
    int first = k->op > 0 ? c->row_of_op[k->op - 1] + 1 : 0;
    if (l->top > first) l->top = first;
    list_show(l, c->row_count, area);
    for (int i = 0; i < area.rows && l->top + i < c->row_count; i++) {
        struct box row = {area.row + i, area.column, 1, area.columns};
        const struct team_row *r = &c->rows[l->top + i];
        if (r->op >= 0)
            team_list_draw_op(on, row, k, r->op);
        else
            team_list_draw_exchange(on, row, k, r->exchange);
        if (r->op == k->op) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
    }
}
