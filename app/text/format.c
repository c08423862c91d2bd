/* Text that depends on the terminal; the rest is in base/words/words.c. */
#include "text/format.h"
#include "base/file.h"

#include <langinfo.h>
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

ORDER(largest_by_number, struct ranked, ORDER_UP(number));
ORDER(largest_by_weight, struct ranked, ORDER_DOWN(weight) ORDER_UP(number));

int32_t *largest_of(const void *things, int32_t n, weigh *weight, int32_t most, bool in_order, int32_t *count)
{
    OWNED struct ranked *order = mem_alloc(((size_t)n + 1) * sizeof *order);
    int32_t *chosen = mem_alloc(((size_t)n + 1) * sizeof *chosen);
    *count = most > 0 && n > most ? most : n;
    for (int32_t i = 0; i < n; i++) order[i] = (struct ranked){weight(things, i), i};
    if (*count < n) {
        qsort(order, (size_t)n, sizeof *order, largest_by_weight);
        if (in_order) qsort(order, (size_t)*count, sizeof *order, largest_by_number);
    }
    for (int32_t i = 0; chosen && i < *count; i++) chosen[i] = order[i].number;
    return chosen;
}

/* One part more at a time, from the end, until no other path ends alike. Some 1,000 paths at most. */

const char *path_tail(const char *path, const char *const *others, size_t count)
{
    const char *tail = path + strlen(path) + 1;
    for (bool shared = true; tail > path && shared;) {
        tail--; /* the slash */
        while (tail > path && tail[-1] != '/') tail--;
        shared = false;
        for (size_t i = 0; i < count; i++) { /* does another path end with these parts? */
            size_t n = strlen(others[i]), m = strlen(tail);
            if (n < m || strcmp(others[i] + n - m, tail) != 0 || strcmp(others[i], path) == 0) continue;
            shared |= n == m || others[i][n - m - 1] == '/';
        }
    }
    return tail;
}

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

/* Reads the file again, as an error is rare and the reader may have had it from anywhere. A long line is
 * shown from a place that leaves the mark in its last third. */

enum { LARGEST = 16 << 20 }; /* bytes of a file that is read for one line */

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
    uint32_t code;
    char *end = shown;
    for (int used = 0, width, bytes; (bytes = next_character(end, &code, &width)); end += bytes)
        if ((used += width) > (int)room) break;
    *end = 0;
    text_add(out, number);
    add_printable(out, shown, 0);
    OWNED char *clean = printable(before, 0);
    text_format(out, "\n      | %*s^\n", clean ? columns_of(clean) : 0, "");
}

void add_source_line(const lx_status *st, int columns, struct text *out)
{
    lx_status ignored;
    size_t length = 0;
    struct stat info;
    if (!st->file[0] || st->line <= 0 || stat(st->file, &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_size > LARGEST)
        return;
    OWNED char *text = file_read(st->file, &length, &ignored);
    const char *line = text, *end = text + length;
    for (int i = 1; line && i < st->line; i++) {
        line = memchr(line, '\n', (size_t)(end - line));
        if (line && ++line == end) line = NULL;
    }
    const char *stop = line ? memchr(line, '\n', (size_t)(end - line)) : NULL;
    size_t n = line ? (size_t)((stop ? stop : end) - line) : 0;
    if (line && !memchr(line, 0, n)) add_marked(st, line, n, columns, out);
}
