#include "tui/draw/put_columns.h"

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

static void put_words(struct cells *g, struct box row, const struct fitted *f, size_t column,
                      struct style style, const char *words)
{
    const struct column_place *p = &f->place[column];
    if (p->width == 0) return;
    if (column_is_right(&f->of.at[column]))
        put_right(g, row.row, row.column + p->at, p->width, style, words);
    else if (f->of.at[column].kind == VALUE_NAME)
        put_name(g, row.row, row.column + p->at, p->width, style, words);
    else
        put_text(g, row.row, row.column + p->at, p->width, style, words);
}

void put_heading(struct cells *g, struct box row, const struct fitted *f, size_t column, struct style style,
                 const char *heading)
{
    put_words(g, row, f, column, style, heading);
}

void put_headings(struct cells *g, struct box row, const struct fitted *f)
{
    for (size_t i = 0; i < f->of.count; i++)
        if (f->of.at[i].heading) put_heading(g, row, f, i, INK(DIM), f->of.at[i].heading);
}

void put_value(struct cells *g, struct box row, const struct fitted *f, size_t column, const void *data)
{
    const struct column *c = &f->of.at[column];
    struct value v = {0};
    if (f->place[column].width == 0) return;
    column_value(c, data, &v);
    const char *words = column_words(c, &v);
    put_words(g, row, f, column, (struct style){.ink = tones[v.paint]}, words);
    value_free(&v);
}

void put_values(struct cells *g, struct box row, const struct fitted *f, const void *data)
{
    for (size_t i = 0; i < f->of.count; i++) put_value(g, row, f, i, data);
}
