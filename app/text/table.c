/* One table, four writers that walk the same columns. For people the cells are made first, because a column
 * is as wide as its widest cell; programs get values unrounded. */
#include "text/table.h"

static const void *row_at(const struct table *t, size_t r)
{
    return (const char *)t->rows + r * t->row_size;
}

bool people_see(const struct table *t, const struct column *c)
{
    SCOPED(value_free) struct value v = {0};
    bool seen = c->heading && !(c->flags & COLUMN_MAY_HIDE);
    for (size_t r = 0; c->heading && !seen && r < t->row_count; r++) {
        column_value(c, row_at(t, r), &v);
        seen = !value_is_nothing(&v);
    }
    return seen;
}

/* The cells for people, made before the widths are known. */
struct shown_cell {
    const char *text;
    enum paint paint;
};

struct shown {
    const struct table *table;
    const struct column **columns;
    size_t count;
    struct arena memory;
    VEC(struct shown_cell) cells; /* row by row, the headings first */
    bool failed;
};

static void table_show_cell(struct shown *s, const struct column *c, const char *words, enum paint paint)
{
    OWNED char *clean = printable(words, c->kind != VALUE_NAME ? 0 : c->width ? c->width : NAME_COLUMNS);
    VEC_PUSH(&s->cells, (struct shown_cell){arena_string(&s->memory, clean), paint});
}

static struct shown table_show(const struct table *t)
{
    struct shown s = {.table = t};
    SCOPED(value_free) struct value v = {0};
    s.columns = arena_array(&s.memory, t->columns.count, sizeof *s.columns);
    for (size_t c = 0; c < t->columns.count; c++)
        if (people_see(t, &t->columns.at[c])) s.columns[s.count++] = &t->columns.at[c];
    for (size_t c = 0; c < s.count; c++)
        table_show_cell(&s, s.columns[c], s.columns[c]->heading, PAINT_HEADING);
    for (size_t r = 0; r < t->row_count; r++)
        for (size_t c = 0; c < s.count; c++) {
            column_value(s.columns[c], row_at(t, r), &v);
            table_show_cell(&s, s.columns[c], column_words(s.columns[c], &v), v.paint);
        }
    return s;
}

static int fits; /* columns that text may have; 0: any number */

void table_fit(int columns)
{
    fits = columns;
}

/* Widths of the columns as text; those that are left out have -1. */
static int *table_widths(struct shown *s)
{
    int *width = arena_array(&s->memory, s->count, sizeof *width), all = 0;
    for (size_t c = 0; c < s->count; c++, all += 2 + width[c - 1])
        for (size_t i = c; i < s->cells.count; i += s->count) {
            int w = columns_of(s->cells.at[i].text);
            if (w > width[c]) width[c] = w;
        }
    while (fits && all > fits) {
        size_t last = s->count;
        for (size_t c = 0; c < s->count; c++)
            if (width[c] >= 0 && s->columns[c]->from &&
                (last == s->count || s->columns[c]->from >= s->columns[last]->from))
                last = c;
        if (last == s->count) break;
        all -= 2 + width[last];
        width[last] = -1;
    }
    return width;
}

void table_add_text(const struct table *t, struct text *out)
{
    struct shown s = table_show(t);
    int *width = table_widths(&s);
    for (size_t i = 0; s.count && i < s.cells.count; i += s.count) {
        /* A row ends with its last cell that is not empty: trailing blanks are never written. */
        const struct shown_cell *cells = &s.cells.at[i];
        size_t last = s.count - 1;
        while (last > 0 && (!*cells[last].text || width[last] < 0)) last--;
        for (size_t c = 0; c <= last; c++) {
            if (width[c] < 0) continue;
            size_t gap = (size_t)(width[c] - columns_of(cells[c].text));
            bool right = column_is_right(s.columns[c]);
            text_add(out, "  ");
            if (right) text_pad(out, ' ', gap);
            paint_add(out, cells[c].paint, cells[c].text);
            if (!right && c < last) text_pad(out, ' ', gap);
        }
        text_add(out, "\n");
    }
    VEC_FREE(&s.cells);
    arena_free(&s.memory);
}

static void say_text(const char *words, const char *lines, enum paint paint, struct text *out)
{
    paint_add(out, paint, words);
    text_format(out, "\n%s", lines);
}

static void say_markdown(const char *words, const char *lines, enum paint paint, struct text *out)
{
    (void)paint;
    text_format(out, "**%s**\n", words);
    if (*lines) text_format(out, "\n```\n%s```\n", lines);
}

static void say_json(const char *words, const char *lines, enum paint paint, struct text *out)
{
    (void)lines, (void)paint;
    text_add(out, ",\n\"verdict\": ");
    text_json_string(out, words);
}

static void add_titled_text(const struct table *t, struct text *out)
{
    if (t->row_count == 0) return;
    if (out->length) text_add(out, "\n");
    paint_add(out, PAINT_HEADING, t->title);
    text_add(out, "\n\n");
    table_add_text(t, out);
    if (t->notes && *t->notes) text_format(out, "\n%s", t->notes);
}

static void add_markdown(const struct table *t, struct text *out)
{
    if (t->row_count == 0) return;
    struct shown s = table_show(t);
    text_format(out, "%s## %s\n\n", out->length ? "\n" : "", t->title);
    for (size_t i = 0; i < s.cells.count; i++) {
        if (i % s.count == 0) text_add(out, i ? "\n|" : "|");
        /* Bars and line ends would break a Markdown table. */
        const char *cell = s.cells.at[i].text;
        text_add(out, " ");
        for (; *cell; cell++) {
            if (*cell == '|' || *cell == '\\' || *cell == '<') text_add(out, "\\");
            text_add_n(out, (unsigned char)*cell < 0x20 ? " " : cell, 1);
        }
        text_add(out, " |");
        if (i + 1 != s.count) continue;
        text_add(out, "\n|");
        for (size_t c = 0; c < s.count; c++)
            text_add(out, column_is_right(s.columns[c]) ? " ---: |" : " --- |");
    }
    text_add(out, "\n");
    if (t->notes && *t->notes) text_format(out, "\n%s", t->notes);
    VEC_FREE(&s.cells);
    arena_free(&s.memory);
}

/* In quotes where the form needs them, and where a spreadsheet might take it for a formula. */
static void table_add_csv_words(struct text *out, const char *words)
{
    if (!strpbrk(words, ",\"\r\n") && !(*words && strchr("=+-@", *words))) {
        text_add(out, words);
        return;
    }
    text_add(out, "\"");
    for (; *words; words++) text_add_n(out, *words == '"' ? "\"\"" : words, *words == '"' ? 2 : 1);
    text_add(out, "\"");
}

static void table_add_number(struct text *out, const struct column *c, const struct value *v)
{
    if (v->is_whole)
        text_format(out, "%" PRId64, v->whole);
    else
        text_format(out, "%.*g", c->digits ? c->digits : 15, v->number);
}

static void add_csv(const struct table *t, struct text *out)
{
    SCOPED(value_free) struct value v = {0};
    for (size_t r = 0; r <= t->row_count; r++) {
        const char *between = "";
        for (size_t c = 0; c < t->columns.count; c++) {
            const struct column *column = &t->columns.at[c];
            if (column->flags & COLUMN_PEOPLE) continue;
            text_add(out, between);
            between = ",";
            if (r == 0) {
                text_add(out, column->key);
                continue;
            }
            column_value(column, row_at(t, r - 1), &v);
            if (!kind_is_number(column->kind))
                table_add_csv_words(out, v.words ? v.words : "");
            else if (isfinite(v.number))
                table_add_number(out, column, &v);
        }
        text_add(out, "\n");
    }
}

void table_add_json_rows(const struct table *t, int indent, struct text *out)
{
    for (size_t r = 0; r < t->row_count; r++) {
        if (r) text_add(out, indent < 0 ? ", " : ",\n");
        text_pad(out, ' ', indent < 0 ? 0 : (size_t)indent);
        const void *row = row_at(t, r);
        struct value v = {0};
        const char *between = "";
        text_add(out, "{");
        for (size_t c = 0; c < t->columns.count; c++) {
            const struct column *column = &t->columns.at[c];
            if (column->flags & COLUMN_PEOPLE) continue;
            column_value(column, row, &v);
            if ((column->flags & COLUMN_MAY_LACK) && value_is_nothing(&v)) continue;
            text_format(out, "%s\"%s\": ", between, column->key);
            if (!kind_is_number(column->kind))
                text_json_string(out, v.words ? v.words : "");
            else if (!isfinite(v.number))
                text_add(out, "null");
            else if (column->kind == VALUE_BOOL)
                text_add(out, v.number != 0 ? "true" : "false");
            else
                table_add_number(out, column, &v);
            between = ", ";
        }
        text_add(out, "}");
        value_free(&v);
    }
}

static void table_add_json(const struct table *t, struct text *out)
{
    text_format(out, ",\n\"%s\": [%s", t->key, t->row_count ? "\n" : "");
    table_add_json_rows(t, 2, out);
    text_add(out, "]");
}

static void table_end_json(struct text *out)
{
    text_add(out, "}\n");
}

const struct exporter exporters[] = {
    {"text", true, "", say_text, add_titled_text, NULL},
    {"md", true, "", say_markdown, add_markdown, NULL},
    {"csv", false, "", NULL, add_csv, NULL},
    {"json", true, "{\"lxplan\": 1, \"kind\": \"report\"", say_json, table_add_json, table_end_json},
    {0},
};

const struct exporter *exporter_find(const char *name)
{
    for (const struct exporter *e = exporters; e->name; e++)
        if (strcmp(e->name, name) == 0) return e;
    return NULL;
}

/* A key per row: a number in an order that integers have, or the first bytes of a text, which decide
 * nearly always. */
struct keyed {
    int64_t key;
    const char *words; /* of a text: the rest; NULL: the key is all */
    int32_t number;
    bool unknown; /* these come last in any case */
};

static int sort_rows_compare(const void *a, const void *b, void *context)
{
    const struct keyed *x = a, *y = b;
    const bool *descending = context;
    if (x->unknown != y->unknown) return x->unknown ? 1 : -1;
    int result = x->unknown || x->key == y->key ? 0 : x->key < y->key ? -1 : 1;
    if (!x->unknown && x->key == y->key && x->words && y->words) result = strcmp(x->words, y->words);
    if (result) return *descending ? -result : result;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Sorts by a digit of eight bits of `key`; equal ones keep their order. False: all have the same digit. */
static bool sort_rows_by_digit(const struct keyed *from, struct keyed *to, int32_t count, int digit)
{
    int32_t begin[257] = {0};
    for (int32_t i = 0; i < count; i++) begin[1 + ((uint64_t)from[i].key >> 8 * digit & 255)]++;
    for (int d = 1; d < 257; d++) {
        if (begin[d] == count) return false;
        begin[d] += begin[d - 1];
    }
    for (int32_t i = 0; i < count; i++) to[begin[(uint64_t)from[i].key >> 8 * digit & 255]++] = from[i];
    return true;
}

/* Sorts whole rows by their keys alone, digit by digit: the rows are in the order of their numbers. */
static struct keyed *sort_rows_by_keys(struct keyed *keys, struct keyed *spare, int32_t count,
                                       bool descending)
{
    uint64_t flip = descending ? ~(UINT64_C(1) << 63) : UINT64_C(1) << 63;
    for (int32_t i = 0; i < count; i++) keys[i].key = (int64_t)((uint64_t)keys[i].key ^ flip);
    for (int digit = 0; digit < 8; digit++)
        if (sort_rows_by_digit(keys, spare, count, digit)) {
            struct keyed *sorted = spare;
            spare = keys;
            keys = sorted;
        }
    return keys;
}

void sort_rows(const struct column *c, const void *rows, size_t row_size, bool descending, int32_t *numbers,
               int32_t count)
{
    struct keyed *keys = mem_alloc((2 * (size_t)count + 1) * sizeof *keys), *sorted = keys;
    SCOPED(value_free) struct value v = {0};
    bool by_keys = true; /* no key is a text or unknown, and numbers ascend */
    for (int32_t i = 0; i < count; i++) {
        struct keyed *k = &keys[i];
        *k = (struct keyed){.number = numbers[i]};
        column_value(c, (const char *)rows + (size_t)numbers[i] * row_size, &v);
        const char *words = v.words ? v.words : "";
        if (v.is_whole)
            k->key = v.whole;
        else if (kind_is_number(c->kind)) { /* a double as an integer of the same order */
            memcpy(&k->key, &v.number, sizeof k->key);
            if (k->key < 0) k->key = INT64_MIN + (INT64_MAX & ~k->key);
            k->unknown = v.words != NULL || isnan(v.number);
        } else {
            uint64_t key = 0;
            k->words = words == v.made.at ? NULL : words;
            for (int j = 0; j < 8; j++, words += *words != 0) key = key << 8 | (unsigned char)*words;
            k->key = (int64_t)(key ^ UINT64_C(1) << 63);
        }
        by_keys &= !k->words && !k->unknown && (i == 0 || numbers[i - 1] < numbers[i]);
    }
    if (by_keys)
        sorted = sort_rows_by_keys(keys, keys + count, count, descending);
    else
        qsort_r(keys, (size_t)count, sizeof *keys, sort_rows_compare, &descending);
    for (int32_t i = 0; i < count; i++) numbers[i] = sorted[i].number;
    mem_free(keys);
}
