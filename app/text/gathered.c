#include "text/gathered.h"
#include "text/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COLUMNS = 32 };

static void push(struct gathered *t, enum paint p, const char *text)
{
    if (!text || !VEC_PUSH(&t->cells, (struct gathered_cell){text, p})) t->failed = true;
}

void gathered_cell(struct gathered *t, enum paint p, const char *format, ...)
{
    char line[400];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    push(t, p, arena_string(&t->memory, line));
}

static void push_printable(struct gathered *t, enum paint p, const char *name, int columns)
{
    char *clean = printable(name, columns);
    push(t, p, clean ? arena_string(&t->memory, clean) : NULL);
    free(clean);
}

void gathered_name(struct gathered *t, const char *name)
{
    push_printable(t, PAINT_PLAIN, name, NAME_COLUMNS);
}

void gathered_words(struct gathered *t, enum paint p, const char *words)
{
    push_printable(t, p, words, 0);
}

static void write_row(const struct gathered *t, const struct gathered_cell *cells, const int *width,
                      struct text *out)
{
    /* Trailing blanks are never written: a row ends with its last cell that says something. */
    int last = t->column_count - 1;
    while (last > 0 && !*cells[last].text) last--;
    for (int c = 0; c <= last; c++) {
        int gap = width[c] - columns_of(cells[c].text);
        text_add(out, "  ");
        if (t->columns[c].is_number) text_pad(out, ' ', (size_t)gap);
        paint_add(out, cells[c].paint, cells[c].text);
        if (!t->columns[c].is_number && c < last) text_pad(out, ' ', (size_t)gap);
    }
    text_add(out, "\n");
}

void gathered_write(struct gathered *t, struct text *out)
{
    size_t n = (size_t)t->column_count, rows = t->cells.count / n;
    int width[MOST_COLUMNS] = {0};
    struct gathered_cell headings[MOST_COLUMNS] = {{0}};
    out->failed |= t->failed || n > MOST_COLUMNS;
    if (!out->failed) {
        for (size_t c = 0; c < n; c++) {
            headings[c] = (struct gathered_cell){t->columns[c].heading, PAINT_HEADING};
            width[c] = columns_of(headings[c].text);
            for (size_t r = 0; r < rows; r++) {
                int w = columns_of(t->cells.at[r * n + c].text);
                if (w > width[c]) width[c] = w;
            }
        }
        write_row(t, headings, width, out);
        for (size_t r = 0; r < rows; r++) write_row(t, &t->cells.at[r * n], width, out);
    }
    VEC_FREE(&t->cells);
    arena_free(&t->memory);
}
