/* Buffer lists as comma-separated values, in two forms that other tools write:
 *   MiniMalloc  id,lower,upper,size[,offset][,alignment][,weight]   (upper exclusive)
 *   XLA         buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped
 * The header tells which; columns may stand in any order. One table per form says what each column means.
 * The capacity is not in the file: MiniMalloc files carry it in their name (NAME.CAPACITY.csv, or
 * NAME_CAPACITY.csv for files with weights). Without one the question is the least height. */
#include "graph/pattern.h"
#include "base/fail.h"
#include "base/checked.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FORMAT_READS(minimalloc);
FORMAT_READS(xla);

enum column { ID, LOWER, UPPER, SIZE, OFFSET, ALIGNMENT, WEIGHT, NAME, BENEFIT, USE_TIMES, IGNORED, COLUMNS };

struct column_row {
    const char *name;
    enum column column;
    bool required;
};

static const struct column_row minimalloc_columns[] = {
    {"id", ID, true},          {"lower", LOWER, true},
    {"upper", UPPER, true},    {"size", SIZE, true},
    {"offset", OFFSET, false}, {"alignment", ALIGNMENT, false},
    {"weight", WEIGHT, false}, {0}};

static const struct column_row xla_columns[] = {
    {"buffer_id", ID, true},       {"buffer_name", NAME, true},      {"alt_mem_benefit", BENEFIT, true},
    {"size", SIZE, true},          {"definition_time", LOWER, true}, {"use_times", USE_TIMES, true},
    {"use_names", IGNORED, false}, {"is_scoped", IGNORED, false},    {0}};

enum { MAX_FIELDS = 16 };

struct csv {
    const char *file;
    char *at;            /* the rest of the text; fields are cut out of it */
    int line, next_line; /* of the row in hand, and where the rest begins */
    char *field[MAX_FIELDS];
    int field_column[MAX_FIELDS], fields;
    int position[COLUMNS]; /* which field a column is, or -1 */
    const char *heading[MAX_FIELDS];
    struct graph_builder b;
    lx_status *st;
};

__attribute__((format(printf, 4, 5))) static bool fail(const struct csv *c, int field, enum lx_code code,
                                                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status_vset_at(c->st, code, c->file, c->line, field < 0 ? 1 : c->field_column[field], format, args);
    va_end(args);
    return false;
}

/* Cuts the next line into fields (quotes as in RFC 4180). False at the end of the text or on an error,
 * which sets `*bad`. */
static bool next_line(struct csv *c, bool *bad)
{
    while (*c->at == '\n' || *c->at == '\r') c->next_line += *c->at++ == '\n';
    if (!*c->at) return false;
    char *line = c->at;
    c->line = c->next_line;
    c->fields = 0;
    for (bool more = true; more;) {
        if (c->fields == MAX_FIELDS) {
            *bad = true;
            return fail(c, -1, LX_E_SYNTAX, "more than %d columns; remove those that are not needed",
                        MAX_FIELDS);
        }
        char *from = c->at, *to = from;
        c->field_column[c->fields] = (int)(from - line) + 1;
        if (*c->at == '"') {
            for (c->at++; *c->at && !(*c->at == '"' && c->at[1] != '"'); c->at++) {
                if (*c->at == '"') c->at++;
                c->next_line += *c->at == '\n';
                *to++ = *c->at;
            }
            if (!*c->at) {
                *bad = true;
                return fail(c, c->fields, LX_E_SYNTAX, "a quote is not closed; add its closing quote");
            }
            c->at++;
        } else
            for (; *c->at && !strchr(",\r\n", *c->at); c->at++) *to++ = *c->at;
        c->field[c->fields++] = from;
        more = *c->at == ',';
        if (!more && *c->at && !strchr("\r\n", *c->at)) {
            *bad = true;
            return fail(c, c->fields - 1, LX_E_SYNTAX,
                        "text after a closing quote; write \"\" for a quote within a field");
        }
        if (*c->at == '\r' && c->at[1] == '\n') c->at++;
        c->next_line += *c->at == '\n';
        if (*c->at) c->at++;
        *to = 0;
    }
    return true;
}

static bool read_header(struct csv *c, const struct column_row *columns)
{
    for (int i = 0; i < COLUMNS; i++) c->position[i] = -1;
    for (int f = 0; f < c->fields; f++) {
        const struct column_row *row = columns;
        while (row->name && strcmp(row->name, c->field[f]) != 0) row++;
        if (!row->name) {
            char known[200];
            size_t n = 0;
            for (row = columns; row->name; row++)
                n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", n ? "," : "", row->name);
            return fail(c, f, LX_E_SCHEMA, "unknown column \"%.40s\"; a header may have: %s", c->field[f],
                        known);
        }
        if (row->column != IGNORED && c->position[row->column] >= 0)
            return fail(c, f, LX_E_DUPLICATE, "the column %s stands twice; remove one", row->name);
        c->position[row->column] = f;
        c->heading[f] = row->name;
    }
    for (const struct column_row *row = columns; row->name; row++)
        if (row->required && c->position[row->column] < 0)
            return fail(c, -1, LX_E_SCHEMA, "the column %s is missing; add it", row->name);
    return true;
}

/* Digits only; false on overflow or when there are none. */
static bool parse_int(const char *s, const char **end, int64_t *out)
{
    int64_t v = 0;
    if (!isdigit((unsigned char)*s)) return false;
    for (; isdigit((unsigned char)*s); s++)
        if (!mul_i64(v, 10, &v) || !add_i64(v, *s - '0', &v)) return false;
    *out = v;
    *end = s;
    return true;
}

/* The integer of a column; an optional one may be absent or empty. */
static bool read_int(struct csv *c, enum column column, int64_t low, int64_t *out)
{
    int f = c->position[column];
    if (f < 0 || !*c->field[f]) {
        if (column == OFFSET || column == ALIGNMENT || column == WEIGHT) return true;
        return fail(c, f, LX_E_SCHEMA, "%s is empty; an integer is needed here", c->heading[f]);
    }
    const char *end, *text = c->field[f];
    bool negative = *text == '-';
    int64_t v;
    if (!parse_int(text + negative, &end, &v) || *end)
        return fail(c, f, LX_E_SYNTAX, "%s must be an integer, not \"%.40s\"", c->heading[f], text);
    if (negative) v = -v;
    if (v < low || v > LX_INT_MAX)
        return fail(c, f, LX_E_RANGE, "%s is %.40s; it must be from %lld to 2^53", c->heading[f], text,
                    (long long)low);
    *out = v;
    return true;
}

static int compare_ticks(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* definition time and use times, sorted, each once: what a buffer's uses are to us. */
static bool read_uses(struct csv *c, struct lx_buffer *b)
{
    const char *s = c->field[c->position[USE_TIMES]];
    int64_t *ticks = arena_array(c->b.memory, strlen(s) / 2 + 2, sizeof *ticks);
    if (!ticks) return status_no_memory(c->st);
    size_t n = 0, kept = 0;
    ticks[n++] = b->start;
    while (*s) {
        const char *end;
        int64_t v;
        if (!parse_int(s, &end, &v) || (*end && *end != ';') || v > LX_INT_MAX)
            return fail(c, c->position[USE_TIMES], LX_E_SYNTAX,
                        "use_times must be integers with ';' between them");
        if (v < b->start)
            return fail(c, c->position[USE_TIMES], LX_E_RANGE,
                        "a use at %lld, before the definition at %lld; no use may be before it", (long long)v,
                        (long long)b->start);
        ticks[n++] = v;
        s = *end ? end + 1 : end;
    }
    qsort(ticks, n, sizeof *ticks, compare_ticks);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || ticks[i] != ticks[kept - 1]) ticks[kept++] = ticks[i];
    b->uses = ticks;
    b->use_count = (int32_t)kept;
    b->end = ticks[kept - 1] + 1;
    return true;
}

static bool read_benefit(struct csv *c, int64_t *cost)
{
    int f = c->position[BENEFIT];
    char *end;
    double v = strtod(c->field[f], &end);
    if (end == c->field[f] || *end || !isfinite(v) || v > 0x1p53)
        return fail(c, f, LX_E_SYNTAX, "\"%.40s\" is not a benefit; it must be a number up to 2^53",
                    c->field[f]);
    *cost =
        v > 0 ? (int64_t)llround(v) : 0; /* a negative benefit is a wish to stay off chip: it costs nothing */
    return true;
}

static bool read_row(struct csv *c, bool xla)
{
    struct lx_buffer b = {.fixed = -1, .name = c->field[c->position[xla ? NAME : ID]]};
    if (!read_int(c, SIZE, 0, &b.size) || !read_int(c, LOWER, 0, &b.start)) return false;
    b.spill_cost = b.size;
    if (xla ? !read_uses(c, &b) || !read_benefit(c, &b.spill_cost)
            : !read_int(c, UPPER, 1, &b.end) || !read_int(c, OFFSET, 0, &b.fixed) ||
                  !read_int(c, ALIGNMENT, 1, &b.alignment) || !read_int(c, WEIGHT, 0, &b.spill_cost))
        return false;
    if (b.start >= b.end)
        return fail(c, c->position[UPPER], LX_E_RANGE,
                    "upper (%lld) must be above lower (%lld); it is exclusive", (long long)b.end,
                    (long long)b.start);
    if (b.alignment == 1) b.alignment = 0; /* the list's own */
    c->b.here = (struct place){c->line, 1};
    return builder_buffer(&c->b, &b, c->st);
}

/* The number between the last separator and ".csv" in the file's name, or -1. */
static int64_t capacity_in_name(const char *base, bool weights)
{
    size_t n = strlen(base);
    if (n > 4 && strcmp(base + n - 4, ".csv") == 0) n -= 4;
    size_t from = n;
    while (from > 0 && isdigit((unsigned char)base[from - 1])) from--;
    if (from == n || from == 0 || !(base[from - 1] == '.' || (weights && base[from - 1] == '_'))) return -1;
    const char *end;
    int64_t v;
    return parse_int(base + from, &end, &v) && v <= LX_INT_MAX ? v : -1;
}

/* Does a field end here, going on from `at` by `step` past blanks? Semicolons count, so that a header with the
 * wrong separator is told so. */
static bool ends_field(const char *line, size_t length, size_t at, int step)
{
    while (at < length && (line[at] == ' ' || line[at] == '\t')) at += (size_t)step;
    return at >= length || strchr(",;\"\r", line[at]);
}

/* Is there such a column in the first line? */
static bool header_has(const char *text, size_t length, const char *column)
{
    while (length && isspace((unsigned char)*text)) text++, length--;
    if (length && *text == '{') return false;
    const char *end = memchr(text, '\n', length);
    size_t n = end ? (size_t)(end - text) : length, m = strlen(column);
    for (size_t i = 0; i + m <= n; i++)
        if (memcmp(text + i, column, m) == 0 && ends_field(text, n, i - 1, -1) &&
            ends_field(text, n, i + m, 1))
            return true;
    return false;
}

bool minimalloc_sniff(const char *text, size_t length)
{
    return header_has(text, length, "lower") && !xla_sniff(text, length);
}

bool xla_sniff(const char *text, size_t length)
{
    return header_has(text, length, "definition_time");
}

/* Names go into plan files, so the text must be what JSON can carry. */
static bool is_text(const char *file, const char *text, size_t length, lx_status *st)
{
    int line = 1;
    const char *line_start = text;
    for (size_t i = 0; i < length;) {
        int n = utf8_length(text + i, length - i);
        int column = (int)(text + i - line_start) + 1;
        if (text[i] == 0)
            return status_set_at(st, LX_E_SYNTAX, file, line, column, "a NUL byte; this is not a text file");
        if (n == 0)
            return status_set_at(st, LX_E_SYNTAX, file, line, column,
                                 "not UTF-8 (byte 0x%02x); save the file as UTF-8", (unsigned char)text[i]);
        if (text[i] == '\n') {
            line++;
            line_start = text + i + 1;
        }
        i += (size_t)n;
    }
    return true;
}

static const struct lx_graph *read_table(const char *file, const char *text, size_t length, bool xla,
                                         lx_status *st)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    struct csv c = {.file = file, .line = 1, .next_line = 1, .st = st};
    bool bad = false;
    if (!is_text(file, text, length, st)) return NULL;
    char *copy = strndup(text, length);
    size_t named = strlen(base);
    if (named > 4 && strcmp(base + named - 4, ".csv") == 0) named -= 4;
    char *name = strndup(base, named);
    bool begun = copy && name && builder_begin(&c.b, file, name, st);
    free(name);
    if (!begun) {
        free(copy);
        builder_abandon(&c.b);
        status_no_memory(st);
        return NULL;
    }
    c.at = copy;
    struct lx_graph *g = c.b.graph;
    const struct lx_graph *made = NULL;
    bool ok = next_line(&c, &bad) && read_header(&c, xla ? xla_columns : minimalloc_columns);
    int columns = c.fields;
    while (ok && next_line(&c, &bad)) {
        if (c.fields != columns)
            ok = fail(&c, -1, LX_E_SYNTAX,
                      "%d fields where the header has %d; a field with a comma needs quotes", c.fields,
                      columns);
        else
            ok = read_row(&c, xla);
    }
    if (ok && !bad) {
        g->is_list = true;
        g->alignment = 1;
        g->capacity = capacity_in_name(base, c.position[WEIGHT] >= 0);
        g->objective = g->capacity >= 0 || xla ? LX_SPILL : LX_HEIGHT;
        made = builder_finish(&c.b, st);
    } else
        builder_abandon(&c.b);
    free(copy);
    return made;
}

const struct lx_graph *minimalloc_read(const char *file, const char *text, size_t length, lx_status *st)
{
    return read_table(file, text, length, false, st);
}

const struct lx_graph *xla_read(const char *file, const char *text, size_t length, lx_status *st)
{
    return read_table(file, text, length, true, st);
}
