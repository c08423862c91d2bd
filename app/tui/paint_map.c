/* Colours and letters of a raster: a buffer has the same letter and colour wherever it is drawn. Names go
 * into rectangles that are wide enough, arrows where a stay is filled or saved. */
#include "tui/paint_map.h"

#include <string.h>

int map_rows(const struct scene *on, int rows)
{
    return on->theme->letters || on->glyphs->ascii ? rows : 2 * rows;
}

static bool is_shown(const struct map_paint *m, int32_t buffer)
{
    return !m->filter || !*m->filter || has_text(m->outcome->plan->problem.buffers[buffer].name, m->filter);
}

static uint8_t tone_of(const struct map_paint *m, const struct raster_cell *c)
{
    if (c->state == CELL_FREE) return TONE_PLAIN;
    if (c->state == CELL_MANY) return TONE_MIXED;
    if (!is_shown(m, c->owner)) return TONE_FREE;
    return tone_of_identity(buffer_identity(m->outcome->plan, c->owner));
}

static uint32_t letter_of(const struct map_paint *m, const struct raster_cell *c, const struct glyphs *s)
{
    switch (c->state) {
    case CELL_FREE:
        return s->light;
    case CELL_MANY:
        return '+';
    case CELL_HANDOVER:
        return '/';
    default:
        if (!is_shown(m, c->owner)) return ':';
        if (m->different && m->different[c->owner]) return '!';
        return (uint32_t)(unsigned char)identity_letter(buffer_identity(m->outcome->plan, c->owner));
    }
}

/* One letter per cell. */
static void paint_letter(const struct scene *on, int row, int column, const struct map_paint *m,
                         const struct raster_cell *c)
{
    struct style style = {.ink = tone_of(m, c)};
    if (c->state == CELL_FREE) style.ink = TONE_FREE;
    if (c->state == CELL_HANDOVER) style.marks = MARK_BOLD;
    if (c->state != CELL_FREE && c->owner == m->selected) style.marks |= MARK_REVERSE;
    put(on->cells, row, column, letter_of(m, c, on->glyphs), style);
}

static bool is_plain_one(const struct raster_cell *c)
{
    return c->state == CELL_ONE;
}

/* Two cells of the raster, one above the other, in one of the grid. */
static void paint_pair(const struct scene *on, int row, int column, const struct map_paint *m,
                       const struct raster_cell *up, const struct raster_cell *down)
{
    const struct glyphs *s = on->glyphs;
    uint8_t above = tone_of(m, up), below = tone_of(m, down);
    bool same = up->state == down->state && (up->state == CELL_FREE || up->owner == down->owner);
    struct cells *g = on->cells;
    if (up->state == CELL_FREE && down->state == CELL_FREE)
        put(g, row, column, ' ', INK(FREE));
    else if (same && is_plain_one(up)) {
        bool selected = up->owner == m->selected, differs = m->different && m->different[up->owner];
        put(g, row, column, differs ? '!' : selected ? s->shade : ' ', (struct style){TONE_LABEL, above, 0});
    } else if (same && up->state == CELL_HANDOVER)
        put(g, row, column, '/', (struct style){TONE_LABEL, above, MARK_BOLD});
    else if (same)
        put(g, row, column, '+', (struct style){TONE_LABEL, TONE_MIXED, 0});
    else if (up->state == CELL_FREE)
        put(g, row, column, s->half_down, (struct style){below, TONE_PLAIN, 0});
    else
        put(g, row, column, s->half_up, (struct style){above, below, 0});
}

/* A handover that is several columns wide is marked in its first one; the others are the child's. */
static struct raster_cell seen(const struct raster *r, int row, int column)
{
    struct raster_cell c = *raster_at(r, row, column);
    if (c.state == CELL_HANDOVER && column > 0) {
        const struct raster_cell *before = raster_at(r, row, column - 1);
        if (before->state == CELL_HANDOVER && before->owner == c.owner) c.state = CELL_ONE;
    }
    return c;
}

/* Is this run of cells all one buffer's, and the cells beside it too? */
static bool run_is(const struct raster *r, int row, int column, int length, int32_t owner)
{
    if (column < 0 || column + length > r->time.cells || row < 0 || row >= r->address.cells) return false;
    for (int c = column; c < column + length; c++) {
        struct raster_cell cell = seen(r, row, c);
        if (cell.state != CELL_ONE || cell.owner != owner) return false;
    }
    return true;
}

/* A name inside its rectangle, where there is room for three of its letters. */
static void paint_label(const struct scene *on, struct box area, const struct map_paint *m,
                        const struct raster_rect *rect, int factor)
{
    const struct raster *r = m->raster;
    int32_t i = rect->buffer;
    const struct lx_buffer *b = &m->outcome->plan->problem.buffers[i];
    int left = rect->left, right = rect->right, bottom = rect->bottom, top = rect->top;
    if (rect->thin || !is_shown(m, i)) return;
    int first = r->address.cells - 1 - top, last = r->address.cells - 1 - bottom;
    int row = (first + last) / 2 / factor;
    while (right >= left && raster_at(r, row * factor, right)->owner != i)
        right--; /* the child's from there */
    if (left <= right && raster_at(r, row * factor, left)->state == CELL_HANDOVER) left++;
    int room = right - left + 1, name = columns_of(b->name), side = on->theme->letters || on->glyphs->ascii;
    int width = name + 2 * side > room ? room - 2 * side : name;
    if (width < 3 && width < name) return;
    int column = left + (room - width) / 2;
    for (int k = 0; k < factor; k++)
        if (!run_is(r, row * factor + k, column - side, width + 2 * side, i)) return;
    uint8_t paper = side ? TONE_PLAIN : tone_of(m, raster_at(r, row * factor, column));
    struct style style = {side ? TONE_PLAIN : TONE_LABEL, paper, MARK_BOLD};
    if (i == m->selected) style = (struct style){TONE_CURSOR, TONE_CURSOR, MARK_BOLD};
    if (side) {
        put(on->cells, area.row + row, area.column + column - 1, ' ', style);
        put(on->cells, area.row + row, area.column + column + width, ' ', style);
    }
    put_text(on->cells, area.row + row, area.column + column, width, style, b->name);
}

/* How a stay is filled and what is saved of it: arrows along its first or its last column. Clones and what
 * comes back after an eviction begin with a load, relayouts with the ring, what has changed its address with a move; what leaves ends with a store. */
static void paint_transfer(const struct scene *on, struct box area, const struct map_paint *m,
                           const struct lx_transfer *t, int factor)
{
    const struct raster *r = m->raster;
    const struct lx_plan *p = m->outcome->plan;
    const struct lx_buffer *b = &p->problem.buffers[t->stay];
    int64_t at = p->answer.address[t->stay];
    int left, right, bottom, top;
    bool thin;
    uint32_t codes[] = {[LX_LOAD] = on->glyphs->load,
                        [LX_STORE] = on->glyphs->store,
                        [LX_RING] = on->glyphs->ring,
                        [LX_MOVE] = on->glyphs->move};
    if (at < 0 || b->size == 0 || !is_shown(m, t->stay)) return;
    if (!scale_cells(&r->time, b->start, b->end, &left, &right, &thin) || right - left < 2 ||
        !scale_cells(&r->address, at, at + b->size, &bottom, &top, &thin))
        return;
    int column = t->kind == LX_STORE ? right : left;
    for (int y = r->address.cells - 1 - top; y <= r->address.cells - 1 - bottom; y++) {
        struct raster_cell cell = seen(r, y, column);
        if (cell.state != CELL_ONE || cell.owner != t->stay) continue;
        if (factor == 2 && (y % 2 || !run_is(r, y + 1, column, 1, t->stay))) continue;
        put(on->cells, area.row + y / factor, area.column + column, codes[t->kind],
            factor == 2 ? (struct style){TONE_LABEL, tone_of(m, &cell), MARK_BOLD} : INK(KEY));
    }
}

void map_paint(const struct scene *on, struct box area, const struct map_paint *m)
{
    const struct raster *r = m->raster;
    const struct lx_plan *p = m->outcome->plan;
    static const struct raster_cell nothing = {-1, CELL_FREE};
    int factor = map_rows(on, 1);
    for (int row = 0; row * factor < r->address.cells; row++)
        for (int c = 0; c < r->time.cells; c++) {
            struct raster_cell up = seen(r, row * factor, c), down = nothing;
            if (row * factor + 1 < r->address.cells) down = seen(r, row * factor + 1, c);
            if (factor == 1)
                paint_letter(on, area.row + row, area.column + c, m, &up);
            else
                paint_pair(on, area.row + row, area.column + c, m, &up, &down);
        }
    for (int32_t i = 0; i < p->transfer_count; i++) paint_transfer(on, area, m, &p->transfers[i], factor);
    for (int32_t i = 0; i < r->rect_count; i++) paint_label(on, area, m, &r->rects[i], factor);
}
