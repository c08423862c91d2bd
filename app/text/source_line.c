/* Reads the file again, as an error is rare and the reader may have had it from anywhere. A long line is shown from a place
 * that leaves the mark in its last third. */
#include "text/source_line.h"
#include "base/file.h"
#include "base/memory.h"
#include "text/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGEST = 16 << 20 }; /* bytes of a file that is read for one line */

/* Line number `line` of a text, and its length; NULL: it has none. */
static const char *find_line(const char *text, size_t length, int line, size_t *n)
{
    const char *at = text, *end = text + length;
    for (int i = 1; i < line; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at || ++at == end) return NULL;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *n = (size_t)((stop ? stop : end) - at);
    return at;
}

/* Ends a text behind so many columns. */
static void source_line_cut_at(char *text, int columns)
{
    uint32_t code;
    for (int used = 0, width, n; (n = next_character(text, &code, &width)); text += n)
        if ((used += width) > columns) {
            *text = 0;
            return;
        }
}

static void add_marked(const lx_status *st, const char *line, size_t n, int columns, struct text *out)
{
    char number[24], before[600] = "", shown[600] = "";
    int lead = snprintf(number, sizeof number, "%5d | ", st->line);
    size_t place = st->column > 0 ? (size_t)st->column - 1 : 0,
           room = columns > lead + 10 ? (size_t)(columns - lead) : 10;
    if (room > 500) room = 500;
    if (place > n) place = n;
    /* The byte from which a line is shown, so that byte `place` is in it. */
    size_t from = place < room ? 0 : place - room * 2 / 3;
    while (from > 0 && from < n && ((unsigned char)line[from] & 0xc0) == 0x80) from++;
    snprintf(shown, sizeof shown, "%.*s", (int)(n - from < 590 ? n - from : 590), line + from);
    snprintf(before, sizeof before, "%.*s", (int)(place > from ? place - from : 0), line + from);
    for (char *c = shown; *c; c++) *c = *c == '\t' || *c == '\r' ? ' ' : *c;
    for (char *c = before; *c; c++) *c = *c == '\t' || *c == '\r' ? ' ' : *c;
    source_line_cut_at(shown, (int)room);
    text_add(out, number);
    add_printable(out, shown, 0);
    char *clean = printable(before, 0);
    text_format(out, "\n      | %*s^\n", clean ? columns_of(clean) : 0, "");
    mem_free(clean);
}

void add_source_line(const lx_status *st, int columns, struct text *out)
{
    lx_status ignored;
    size_t length, n = 0;
    struct stat info;
    if (!st->file[0] || st->line <= 0 || stat(st->file, &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_size > LARGEST)
        return;
    char *text = file_read(st->file, &length, &ignored);
    const char *line = text ? find_line(text, length, st->line, &n) : NULL;
    if (line && !memchr(line, 0, n)) add_marked(st, line, n, columns, out);
    mem_free(text);
}
