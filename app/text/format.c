/* Text that depends on the terminal; the rest is in base/human_words.c. */
#include "text/format.h"
#include "base/memory.h"
#include "base/file.h"

#include <langinfo.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *plus_minus(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? "±" : "+-";
}

/* Sorts by weight, cuts, and sorts the rest back where the order of things is wanted. O(n log n); ties go to
 * the lower number, so that a table never changes by itself. */

struct ranked {
    int64_t weight;
    int32_t number;
};

static int largest_by_number(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static int largest_by_weight(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return largest_by_number(a, b);
}

int32_t *largest_of(const void *things, int32_t n, weigh *weight, int32_t most, bool in_order, int32_t *count)
{
    struct ranked *order = mem_alloc(((size_t)n + 1) * sizeof *order);
    int32_t *chosen = mem_alloc(((size_t)n + 1) * sizeof *chosen);
    *count = most > 0 && n > most ? most : n;
    for (int32_t i = 0; i < n; i++) order[i] = (struct ranked){weight(things, i), i};
    if (*count < n) {
        qsort(order, (size_t)n, sizeof *order, largest_by_weight);
        if (in_order) qsort(order, (size_t)*count, sizeof *order, largest_by_number);
    }
    for (int32_t i = 0; chosen && i < *count; i++) chosen[i] = order[i].number;
    mem_free(order);
    return chosen;
}

/* One part more at a time, from the end, until no other path ends alike. Some 1,000 paths at most. */

/* Does `path` end with the parts of `tail`? */
static bool ends_with_parts(const char *path, const char *tail)
{
    size_t n = strlen(path), m = strlen(tail);
    if (n < m || strcmp(path + n - m, tail) != 0) return false;
    return n == m || path[n - m - 1] == '/';
}

static bool path_tail_is_shared(const char *path, const char *tail, const char *const *others, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(others[i], path) != 0 && ends_with_parts(others[i], tail)) return true;
    return false;
}

/* The beginning of the part before `at`, or the beginning of the path. */
static const char *part_before(const char *path, const char *at)
{
    if (at > path) at--; /* the slash */
    while (at > path && at[-1] != '/') at--;
    return at;
}

const char *path_tail(const char *path, const char *const *others, size_t count)
{
    const char *tail = part_before(path, path + strlen(path) + 1);
    while (tail > path && path_tail_is_shared(path, tail, others, count)) tail = part_before(path, tail);
    return tail;
}

/* How far a solver is; see progress_words.h. */

struct progress_words progress_words(double seconds, const struct lx_progress *so_far)
{
    struct progress_words w;
    int n = snprintf(w.at, sizeof w.at, "%.1f s, ", seconds);
    size_t room = sizeof w.at - (size_t)n;
    if (so_far->objective == INT64_MAX)
        snprintf(w.at + n, room, so_far->bound > 0 ? "no answer yet, bound %s" : "no answer yet",
                 grouped(so_far->bound).at);
    else if (so_far->bound <= 0) /* none is proved so far */
        snprintf(w.at + n, room, "best %s", grouped(so_far->objective).at);
    else
        snprintf(w.at + n, room, "best %s, bound %s, gap %s", grouped(so_far->objective).at,
                 grouped(so_far->bound).at, in_percent(lx_gap(so_far->objective, so_far->bound)).at);
    return w;
}

/* Reads the file again, as an error is rare and the reader may have had it from anywhere. A long line is shown from a place
 * that leaves the mark in its last third. */

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
