/* Drawing into the grid, with everything outside cut off. A wide character takes two cells, the second
 * with code 0; overwriting one half clears the other. */
#include "tui/draw/cells.h"
#include "text/format.h"

void cells_resize(struct cells *g, int rows, int columns)
{
    g->rows = rows < 1 ? 1 : rows;
    g->columns = columns < 1 ? 1 : columns;
    mem_free(g->at);
    g->at = mem_alloc((size_t)g->rows * (size_t)g->columns * sizeof *g->at);
    cells_clear(g);
}

void cells_clear(struct cells *g)
{
    for (int i = 0; i < g->rows * g->columns; i++) g->at[i] = (struct cell_glyph){.code = ' '};
    g->cursor_row = -1;
}

void cells_free(struct cells *g)
{
    mem_free(g->at);
    *g = (struct cells){0};
}

/* A wide character that loses one half is gone. */
static void break_wide(struct cells *g, int row, int column)
{
    struct cell_glyph *c = &g->at[row * g->columns + column];
    if (c->code == 0 && column > 0) c[-1].code = ' ';
    if (column + 1 < g->columns && c[1].code == 0) c[1].code = ' ';
}

void put(struct cells *g, int row, int column, uint32_t code, struct style style)
{
    if (row < 0 || row >= g->rows || column < 0 || column >= g->columns) return;
    break_wide(g, row, column);
    if (g->ascii && code > 0x7e) code = '?';
    g->at[row * g->columns + column] = (struct cell_glyph){code, 0, style};
}

int put_text(struct cells *g, int row, int column, int room, struct style style, const char *text)
{
    int used = 0, taken, columns;
    uint32_t code;
    bool cut = columns_of(text) > room;
    if (room <= 0) return 0;
    for (; (taken = next_character(text, &code, &columns)) > 0; text += taken) {
        int at = column + used - (columns == 0);
        bool inside = row >= 0 && row < g->rows && at >= 0 && at < g->columns && !g->ascii;
        struct cell_glyph *c = inside ? &g->at[row * g->columns + at] : NULL;
        if (columns == 0) {
            if (c && used > 0 && c->code > ' ' && !c->combining) c->combining = code;
            continue;
        }
        if (g->ascii && code > 0x7e) code = '?', columns = 1;
        if (used + columns > room - cut) break;
        put(g, row, at, columns == 2 && c && at + 1 >= g->columns ? ' ' : code, style);
        if (columns == 2 && c && at + 1 < g->columns) { /* its right half */
            break_wide(g, row, at + 1);
            c[1] = (struct cell_glyph){0, 0, style};
        }
        used += columns;
    }
    if (cut) put(g, row, column + used++, '~', style);
    return used;
}

int put_name(struct cells *g, int row, int column, int room, struct style style, const char *name)
{
    OWNED char *cut = room > 0 ? printable(name, room) : NULL;
    return put_text(g, row, column, room, style, cut ? cut : name);
}

int put_format(struct cells *g, int row, int column, int room, struct style style, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return put_text(g, row, column, room, style, line);
}

int put_line(struct cells *g, struct box row, struct style style, struct text *line)
{
    int used = put_text(g, row.row, row.column, row.columns, style, line->at ? line->at : "");
    text_free(line);
    return used;
}

int put_paragraph(struct cells *g, struct box box, struct style style, struct text *line)
{
    int rows = put_wrapped(g, box, style, line->at ? line->at : "");
    text_free(line);
    return rows;
}

void put_right(struct cells *g, int row, int column, int room, struct style style, const char *text)
{
    int width = columns_of(text);
    if (width < room) column += room - width, room = width;
    put_text(g, row, column, room, style, text);
}

void put_fill(struct cells *g, struct box box, uint32_t code, struct style style)
{
    for (int r = 0; r < box.rows; r++)
        for (int c = 0; c < box.columns; c++) put(g, box.row + r, box.column + c, code, style);
}

int put_wrapped_format(struct cells *g, struct box box, struct style style, const char *format, ...)
{
    char line[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return put_wrapped(g, box, style, line);
}

void put_paper(struct cells *g, struct box box, struct style style)
{
    for (int r = box.row; r < box.row + box.rows; r++)
        for (int c = box.column; c < box.column + box.columns; c++) {
            if (r < 0 || r >= g->rows || c < 0 || c >= g->columns) continue;
            struct style *s = &g->at[r * g->columns + c].style;
            s->paper = style.paper;
            if (style.ink != TONE_PLAIN) s->ink = style.ink;
            s->marks |= style.marks;
        }
}

int put_wrapped(struct cells *g, struct box box, struct style style, const char *text)
{
    int row = 0;
    char line[512];
    while (*text && row < box.rows) {
        size_t best = 0, at = 0;
        int columns = 0, width, taken;
        uint32_t code;
        while (at + 8 < sizeof line && (taken = next_character(text + at, &code, &width)) > 0) {
            if (code == ' ') best = at;
            if (text[at] == '\n' || columns + width > box.columns) break;
            columns += width;
            at += (size_t)taken;
        }
        size_t n = !text[at] || text[at] == '\n' || !best || text[at] == ' ' ? at : best;
        if (n == 0 && *text != '\n') break; /* not even one character fits */
        memcpy(line, text, n);
        line[n] = 0;
        put_text(g, box.row + row++, box.column, box.columns, style, line);
        text += n + (text[n] == ' ' || text[n] == '\n');
    }
    return row;
}

void cells_to_text(const struct cells *g, struct text *out)
{
    for (int r = 0; r < g->rows; r++) {
        const struct cell_glyph *row = &g->at[r * g->columns];
        int last = g->columns;
        while (last > 0 && row[last - 1].code == ' ') last--;
        for (int c = 0; c < last; c++) {
            char s[8];
            int n = row[c].code ? encode_character(row[c].code, s) : 0;
            if (row[c].combining) n += encode_character(row[c].combining, s + n);
            text_add_n(out, s, (size_t)n);
        }
        text_add(out, "\n");
    }
}

struct box box_cut_top(struct box *from, int rows)
{
    if (rows > from->rows) rows = from->rows;
    struct box top = {from->row, from->column, rows, from->columns};
    from->row += rows;
    from->rows -= rows;
    return top;
}

struct box box_cut_bottom(struct box *from, int rows)
{
    if (rows > from->rows) rows = from->rows;
    from->rows -= rows;
    return (struct box){from->row + from->rows, from->column, rows, from->columns};
}

struct box box_cut_right(struct box *from, int columns)
{
    if (columns > from->columns) columns = from->columns;
    from->columns -= columns;
    return (struct box){from->row, from->column + from->columns, from->rows, columns};
}

struct box box_behind(struct box box, int columns)
{
    return (struct box){box.row, box.column + columns, box.rows, box.columns - columns};
}

bool box_holds(const struct box *b, int row, int column)
{
    return row >= b->row && row < b->row + b->rows && column >= b->column && column < b->column + b->columns;
}

static const uint8_t tones[PAINT_COUNT] = {
    [PAINT_PLAIN] = TONE_PLAIN, [PAINT_GOOD] = TONE_GOOD,     [PAINT_BAD] = TONE_BAD,
    [PAINT_DIM] = TONE_DIM,     [PAINT_HEADING] = TONE_TITLE, [PAINT_WARN] = TONE_WARN,
};

struct fitted fit_columns(struct columns of, int room)
{
    struct fitted f = {.of = of};
    if (f.of.count > MOST_SCREEN_COLUMNS) f.of.count = MOST_SCREEN_COLUMNS;
    f.end = columns_fit(&f.of, room, f.place);
    return f;
}

void put_heading(struct cells *g, struct box row, const struct fitted *f, size_t column, struct style style,
                 const char *heading)
{
    const struct column_place *p = &f->place[column];
    if (p->width == 0) return;
    if (column_is_right(&f->of.at[column]))
        put_right(g, row.row, row.column + p->at, p->width, style, heading);
    else if (f->of.at[column].kind == VALUE_NAME)
        put_name(g, row.row, row.column + p->at, p->width, style, heading);
    else
        put_text(g, row.row, row.column + p->at, p->width, style, heading);
}

void put_headings(struct cells *g, struct box row, const struct fitted *f)
{
    for (size_t i = 0; i < f->of.count; i++)
        if (f->of.at[i].heading) put_heading(g, row, f, i, INK(DIM), f->of.at[i].heading);
}

void put_value(struct cells *g, struct box row, const struct fitted *f, size_t column, const void *data)
{
    const struct column *c = &f->of.at[column];
    SCOPED(value_free) struct value v = {0};
    if (f->place[column].width == 0) return;
    column_value(c, data, &v);
    const char *words = column_words(c, &v);
    put_heading(g, row, f, column, (struct style){.ink = tones[v.paint]}, words);
}

void put_values(struct cells *g, struct box row, const struct fitted *f, const void *data)
{
    for (size_t i = 0; i < f->of.count; i++) put_value(g, row, f, i, data);
}
