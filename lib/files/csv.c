/* Buffer lists as comma-separated values, in two forms that other tools write:
 *   MiniMalloc  id,lower,upper,size[,offset][,alignment][,weight]   (upper exclusive)
 *   XLA         buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped
 *               buffer_id,buffer_name,offset,size,definition_time,end_time,num_uses,use_times,use_names
 * The header tells which; columns may stand in any order. One table per form says what each column means.
 * The capacity is not in the file: MiniMalloc files carry it in their name (NAME.CAPACITY.csv, or
 * NAME_CAPACITY.csv for files with weights). Without one the question is the least height. */
#include "files/pattern.h"
#include "files/csv_rows.h"

FORMAT_READS(minimalloc);
FORMAT_READS(xla);
FORMAT_WRITES_BUFFERS(minimalloc);
FORMAT_WRITES_BUFFERS(xla);

bool csv_next_row(struct csv_rows *c, bool *bad)
{
    while (*c->at == '\n' || *c->at == '\r') c->next_line += *c->at++ == '\n';
    if (!*c->at) return false;
    char *line = c->at;
    c->line = c->next_line;
    c->fields = 0;
    for (bool more = true; more;) {
        if (c->fields == CSV_FIELDS) {
            *bad = true;
            return csv_fail(c, -1, LX_E_SYNTAX, "more than %d columns; remove those that are not needed",
                            CSV_FIELDS);
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
                return csv_fail(c, c->fields, LX_E_SYNTAX, "a quote is not closed; add its closing quote");
            }
            c->at++;
        } else
            for (; *c->at && !strchr(",\r\n", *c->at); c->at++) *to++ = *c->at;
        c->field[c->fields++] = from;
        more = *c->at == ',';
        if (!more && *c->at && !strchr("\r\n", *c->at)) {
            *bad = true;
            return csv_fail(c, c->fields - 1, LX_E_SYNTAX,
                            "text after a closing quote; write \"\" for a quote within a field");
        }
        if (*c->at == '\r' && c->at[1] == '\n') c->at++;
        c->next_line += *c->at == '\n';
        if (*c->at) c->at++;
        *to = 0;
    }
    return true;
}

/* Digits only; false on overflow or when there are none. */
static bool csv_digits(const char *s, const char **end, int64_t *out)
{
    int64_t v = 0;
    if (!isdigit((unsigned char)*s)) return false;
    for (; isdigit((unsigned char)*s); s++)
        if (!mul_i64(v, 10, &v) || !add_i64(v, *s - '0', &v)) return false;
    *out = v;
    *end = s;
    return true;
}

bool csv_int(const struct csv_rows *c, int field, const char *name, int64_t low, int64_t *out)
{
    const char *end, *text = c->field[field];
    bool negative = *text == '-';
    int64_t v;
    if (!*text) return csv_fail(c, field, LX_E_SCHEMA, "%s is empty; an integer is needed here", name);
    if (!csv_digits(text + negative, &end, &v) || *end)
        return csv_fail(c, field, LX_E_SYNTAX, "%s must be an integer, not \"%.40s\"", name, text);
    if (negative) v = -v;
    if (v < low || v > LX_INT_MAX)
        return csv_fail(c, field, LX_E_RANGE, "%s is %.40s; it must be from %lld to 2^53", name, text,
                        (long long)low);
    *out = v;
    return true;
}

/* Does a field end after blanks from `at` on, in direction `step`? Semicolons end fields too, so that a
 * header with the wrong separator gets an error that names it. */
static bool ends_field(const char *line, size_t length, size_t at, int step)
{
    while (at < length && (line[at] == ' ' || line[at] == '\t')) at += (size_t)step;
    return at >= length || strchr(",;\"\r", line[at]);
}

bool csv_header_has(const char *text, size_t length, const char *column)
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

bool csv_is_text(const char *file, const char *text, size_t length, lx_status *st)
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

enum column {
    ID,
    LOWER,
    UPPER,
    SIZE,
    OFFSET,
    ALIGNMENT,
    WEIGHT,
    NAME,
    BENEFIT,
    USES,
    LAST,
    IGNORED,
    COLUMNS
};

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
    {"size", SIZE, true},          {"definition_time", LOWER, true}, {"use_times", USES, true},
    {"use_names", IGNORED, false}, {"is_scoped", IGNORED, false},    {0}};

/* Offsets count from the start of a buffer's own allocation, which the table does not name; they are no
 * constraints. */
static const struct column_row assignment_columns[] = {
    {"buffer_id", ID, true},          {"buffer_name", NAME, true},
    {"offset", IGNORED, false},       {"size", SIZE, true},
    {"definition_time", LOWER, true}, {"end_time", LAST, true},
    {"num_uses", IGNORED, false},     {"use_times", USES, true},
    {"use_names", IGNORED, false},    {0}};

struct csv {
    struct csv_rows rows;
    int position[COLUMNS]; /* field of each column, or -1 */
    const char *heading[CSV_FIELDS];
    struct graph_builder b;
};

static bool csv_read_header(struct csv *c, const struct column_row *columns)
{
    for (int i = 0; i < COLUMNS; i++) c->position[i] = -1;
    for (int f = 0; f < c->rows.fields; f++) {
        const struct column_row *row = columns;
        while (row->name && strcmp(row->name, c->rows.field[f]) != 0) row++;
        if (!row->name) {
            char known[200];
            size_t n = 0;
            for (row = columns; row->name; row++)
                n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", n ? "," : "", row->name);
            return csv_fail(&c->rows, f, LX_E_SCHEMA, "unknown column \"%.40s\"; a header may have: %s",
                            c->rows.field[f], known);
        }
        if (row->column != IGNORED && c->position[row->column] >= 0)
            return csv_fail(&c->rows, f, LX_E_DUPLICATE, "the column %s stands twice; remove one", row->name);
        c->position[row->column] = f;
        c->heading[f] = row->name;
    }
    for (const struct column_row *row = columns; row->name; row++)
        if (row->required && c->position[row->column] < 0)
            return csv_fail(&c->rows, -1, LX_E_SCHEMA, "the column %s is missing; add it", row->name);
    return true;
}

/* The integer of a column; an optional one may be absent or empty. */
static bool csv_read_int(struct csv *c, enum column column, int64_t low, int64_t *out)
{
    int f = c->position[column];
    if (f < 0) return true; /* csv_read_header demands the required ones */
    if (!*c->rows.field[f]) {
        if (column == OFFSET || column == ALIGNMENT || column == WEIGHT) return true;
        return csv_fail(&c->rows, f, LX_E_SCHEMA, "%s is empty; an integer is needed here", c->heading[f]);
    }
    return csv_int(&c->rows, f, c->heading[f], low, out);
}

/* Reads the uses: definition time and use times, sorted, each once. */
static bool csv_read_uses(struct csv *c, struct lx_buffer *b)
{
    const char *s = c->rows.field[c->position[USES]];
    int64_t *ticks = arena_array(c->b.memory, strlen(s) / 2 + 2, sizeof *ticks);
    size_t n = 0, kept = 0;
    ticks[n++] = b->start;
    while (*s) {
        const char *end;
        int64_t v;
        if (!csv_digits(s, &end, &v) || (*end && *end != ';') || v > LX_INT_MAX)
            return csv_fail(&c->rows, c->position[USES], LX_E_SYNTAX,
                            "use_times must be integers with ';' between them");
        if (v < b->start)
            return csv_fail(&c->rows, c->position[USES], LX_E_RANGE,
                            "a use at %lld, before the definition at %lld; no use may be before it",
                            (long long)v, (long long)b->start);
        ticks[n++] = v;
        s = *end ? end + 1 : end;
    }
    qsort(ticks, n, sizeof *ticks, order_i64);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || ticks[i] != ticks[kept - 1]) ticks[kept++] = ticks[i];
    b->uses = ticks;
    b->use_count = (int32_t)kept;
    b->end = ticks[kept - 1] + 1;
    return true;
}

/* Reads the last tick of a life, if the table has one, and the benefit, which is the off-chip cost. */
static bool csv_read_end_and_cost(struct csv *c, struct lx_buffer *b)
{
    int f = c->position[BENEFIT];
    int64_t last = b->end - 1;
    char *end;
    if (c->position[LAST] >= 0 && !csv_read_int(c, LAST, b->start, &last)) return false;
    b->end = max_i64(b->end, last + 1);
    if (f < 0) return true;
    double v = strtod(c->rows.field[f], &end);
    if (end == c->rows.field[f] || *end || !isfinite(v) || v > 0x1p53)
        return csv_fail(&c->rows, f, LX_E_SYNTAX,
                        "\"%.40s\" is not a benefit; it must be a number up to 2^53", c->rows.field[f]);
    b->spill_cost = v > 0 ? (int64_t)llround(v) : 0; /* a wish to stay off chip costs nothing */
    return true;
}

static bool csv_read_row(struct csv *c, bool xla)
{
    struct lx_buffer b = {.fixed = -1, .name = c->rows.field[c->position[xla ? NAME : ID]]};
    int64_t id = 0; /* XLA's; negative if the buffer is scoped */
    if (!csv_read_int(c, SIZE, 0, &b.size) || !csv_read_int(c, LOWER, 0, &b.start)) return false;
    b.spill_cost = b.size;
    if (xla ? !csv_read_uses(c, &b) || !csv_read_end_and_cost(c, &b)
            : !csv_read_int(c, UPPER, 1, &b.end) || !csv_read_int(c, OFFSET, -1, &b.fixed) ||
                  !csv_read_int(c, ALIGNMENT, 1, &b.alignment) || !csv_read_int(c, WEIGHT, 0, &b.spill_cost))
        return false;
    if (b.start >= b.end)
        return csv_fail(&c->rows, c->position[UPPER], LX_E_RANGE,
                        "upper (%lld) must be above lower (%lld); it is exclusive", (long long)b.end,
                        (long long)b.start);
    if (b.alignment == 1) b.alignment = 0; /* the list's alignment */
    c->b.here = (struct place){c->rows.line, 1};
    if (!builder_buffer(&c->b, &b, c->rows.st)) return false;
    if (xla && !csv_read_int(c, ID, -LX_INT_MAX, &id)) return false;
    if (xla) VEC_PUSH(&c->b.buffer_ids, id);
    return true;
}

/* The number between the last separator and ".csv" in the file name, or -1. */
static int64_t capacity_in_name(const char *base, bool weights)
{
    size_t n = strlen(base);
    if (n > 4 && strcmp(base + n - 4, ".csv") == 0) n -= 4;
    size_t from = n;
    while (from > 0 && isdigit((unsigned char)base[from - 1])) from--;
    if (from == n || from == 0 || !(base[from - 1] == '.' || (weights && base[from - 1] == '_'))) return -1;
    const char *end;
    int64_t v;
    return csv_digits(base + from, &end, &v) && v <= LX_INT_MAX ? v : -1;
}

bool minimalloc_sniff(const char *text, size_t length)
{
    return csv_header_has(text, length, "lower") && !xla_sniff(text, length);
}

bool xla_sniff(const char *text, size_t length)
{
    return csv_header_has(text, length, "definition_time");
}

static int64_t *csv_offsets(const struct csv *c)
{
    int64_t *address = arena_array(c->b.memory, c->b.buffers.count, sizeof *address);
    for (size_t i = 0; i < c->b.buffers.count; i++) address[i] = c->b.buffers.at[i].fixed;
    return address;
}

static const struct lx_graph *read_table(const char *file, const char *text, size_t length, bool xla,
                                         lx_status *st)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    struct csv c = {.rows = {.file = file, .line = 1, .next_line = 1, .st = st}};
    bool bad = false;
    if (!csv_is_text(file, text, length, st)) return NULL;
    char *copy = mem_string_n(text, length);
    size_t named = strlen(base);
    if (named > 4 && strcmp(base + named - 4, ".csv") == 0) named -= 4;
    char *name = mem_string_n(base, named);
    builder_begin(&c.b, file, *name ? name : "list"); /* a text without a file */
    mem_free(name);
    c.rows.at = copy;
    const struct lx_graph *made = NULL;
    const struct column_row *columns_of_form = !xla                                       ? minimalloc_columns
                                               : csv_header_has(text, length, "end_time") ? assignment_columns
                                                                                          : xla_columns;
    bool ok = csv_next_row(&c.rows, &bad) && csv_read_header(&c, columns_of_form);
    int columns = c.rows.fields;
    while (ok && csv_next_row(&c.rows, &bad)) {
        if (c.rows.fields != columns)
            ok = csv_fail(&c.rows, -1, LX_E_SYNTAX,
                          "%d fields where the header has %d; a field with a comma needs quotes",
                          c.rows.fields, columns);
        else
            ok = csv_read_row(&c, xla);
    }
    if (ok && !bad) {
        struct lx_list *list = builder_list(&c.b);
        list->capacity = capacity_in_name(base, c.position[WEIGHT] >= 0);
        list->pins_are_places = c.position[OFFSET] >= 0;
        if (list->pins_are_places) list->address = csv_offsets(&c);
        if (list->capacity < 0 && !xla) list->objective = LX_HEIGHT;
        made = builder_finish(&c.b, st);
    } else
        builder_abandon(&c.b);
    mem_free(copy);
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

/* Writes buffer lists as comma-separated values for other tools. The forms have no in-place edges and no
 * reasons: edges are lost, and the caller must leave out barred buffers. */

void csv_field(struct text *t, const char *s)
{
    if (!strpbrk(s, ",\"\r\n") && !(*s && strchr("=+-@", *s))) {
        text_add(t, s);
        return;
    }
    text_add(t, "\"");
    for (; *s; s++) {
        if (*s == '"') text_add(t, "\"");
        text_add_n(t, s, 1);
    }
    text_add(t, "\"");
}

char *minimalloc_write(const struct lx_buffers *list, size_t *length)
{
    struct text t = {0};
    bool offsets = false, alignments = list->alignment != 1, weights = false;
    for (int32_t i = 0; i < list->count; i++) {
        offsets |= list->at[i].fixed >= 0;
        alignments |= list->at[i].alignment != 0;
        weights |= list->at[i].spill_cost != list->at[i].size;
    }
    text_format(&t, "id,lower,upper,size%s%s%s\n", offsets ? ",offset" : "", alignments ? ",alignment" : "",
                weights ? ",weight" : "");
    for (int32_t i = 0; i < list->count; i++) {
        const struct lx_buffer *b = &list->at[i];
        csv_field(&t, b->name);
        text_format(&t, ",%" PRId64 ",%" PRId64 ",%" PRId64, b->start, b->end, b->size);
        if (offsets && b->fixed >= 0)
            text_format(&t, ",%" PRId64, b->fixed);
        else if (offsets)
            text_add(&t, ",");
        if (alignments) text_format(&t, ",%" PRId64, b->alignment ? b->alignment : list->alignment);
        if (weights) text_format(&t, ",%" PRId64, b->spill_cost);
        text_add(&t, "\n");
    }
    *length = t.length;
    return t.at;
}

char *xla_write(const struct lx_buffers *list, size_t *length)
{
    struct text t = {0};
    text_add(&t,
             "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped\n");
    for (int32_t i = 0; i < list->count; i++) {
        const struct lx_buffer *b = &list->at[i];
        text_format(&t, "%" PRId64 ",", list->ids ? list->ids[i] : i);
        csv_field(&t, b->name);
        text_format(&t, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", b->spill_cost, b->size, b->start);
        for (int32_t u = 1; u < b->use_count; u++)
            text_format(&t, "%s%" PRId64, u > 1 ? ";" : "", b->uses[u]);
        /* The form ends a life at its last use. If a life has no uses, or outlasts them, its last tick
         * becomes a use: an invented use is harmless, a shorter life is not. */
        if (b->use_count < 2 || b->uses[b->use_count - 1] + 1 < b->end)
            text_format(&t, "%s%" PRId64, b->use_count > 1 ? ";" : "", b->end - 1);
        text_add(&t, ",,false\n");
    }
    *length = t.length;
    return t.at;
}
