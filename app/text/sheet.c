#include "text/sheet.h"
#include "text/gathered.h"
#include "text/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COLUMNS = 32 };

static void push(struct sheet *s, struct sheet_value v)
{
    if (!VEC_PUSH(&s->values, v)) s->failed = true;
}

void sheet_words(struct sheet *s, enum paint p, const char *words)
{
    const char *copy = arena_string(&s->memory, words ? words : "");
    s->failed |= !copy;
    push(s, (struct sheet_value){copy ? copy : "", NAN, p});
}

void sheet_number(struct sheet *s, enum paint p, double number)
{
    push(s, (struct sheet_value){NULL, number, p});
}

void sheet_free(struct sheet *s)
{
    VEC_FREE(&s->values);
    arena_free(&s->memory);
    text_free(&s->notes);
}

static size_t row_count(const struct sheet *s)
{
    return s->column_count ? s->values.count / s->column_count : 0;
}

static const struct sheet_value *value_at(const struct sheet *s, size_t row, size_t column)
{
    return &s->values.at[row * s->column_count + column];
}

static bool is_shown(const struct sheet *s, size_t column)
{
    if (!s->columns[column].heading) return false;
    if (!s->columns[column].may_hide) return true;
    for (size_t r = 0; r < row_count(s); r++) {
        const struct sheet_value *v = value_at(s, r, column);
        if (v->words ? v->words[0] != 0 : !isnan(v->number) && v->number != 0) return true;
    }
    return false;
}

/* For people: rounded, with units. */
static void format_value(enum sheet_kind kind, const struct sheet_value *v, char *out, size_t size)
{
    if (v->words)
        snprintf(out, size, "%s", v->words);
    else if (isnan(v->number))
        snprintf(out, size, "-");
    else if (isinf(v->number))
        snprintf(out, size, "never");
    else if (kind == SHEET_SECONDS)
        snprintf(out, size, "%s", in_time(v->number).at);
    else if (kind == SHEET_SHARE)
        snprintf(out, size, "%s", in_percent(v->number).at);
    else if (kind == SHEET_RATIO)
        snprintf(out, size, "%.3g", v->number);
    else
        snprintf(out, size, "%s", grouped((int64_t)llround(v->number)).at);
}

static void add_text(const struct sheet *s, struct text *out)
{
    struct heading columns[MOST_COLUMNS];
    struct gathered t = {.columns = columns};
    char cell[1000];
    if (row_count(s) == 0) return;
    for (size_t c = 0; c < s->column_count && t.column_count < MOST_COLUMNS; c++)
        if (is_shown(s, c))
            columns[t.column_count++] =
                (struct heading){s->columns[c].heading, s->columns[c].kind != SHEET_WORDS};
    if (out->length) text_add(out, "\n");
    paint_add(out, PAINT_HEADING, s->title);
    text_add(out, "\n\n");
    for (size_t r = 0; r < row_count(s); r++)
        for (size_t c = 0; c < s->column_count; c++) {
            if (!is_shown(s, c)) continue;
            format_value(s->columns[c].kind, value_at(s, r, c), cell, sizeof cell);
            gathered_words(&t, value_at(s, r, c)->paint, cell);
        }
    gathered_write(&t, out);
    if (s->notes.length) text_format(out, "\n%s", s->notes.at);
}

/* Bars and line ends would break a Markdown table. */
static void add_markdown_cell(struct text *out, const char *cell)
{
    text_add(out, " ");
    for (; *cell; cell++) {
        if (*cell == '|' || *cell == '\\' || *cell == '<') text_add(out, "\\");
        text_add_n(out, (unsigned char)*cell < 0x20 ? " " : cell, 1);
    }
    text_add(out, " |");
}

static void add_markdown(const struct sheet *s, struct text *out)
{
    char cell[1000];
    if (row_count(s) == 0) return;
    text_format(out, "%s## %s\n\n|", out->length ? "\n" : "", s->title);
    for (size_t c = 0; c < s->column_count; c++)
        if (is_shown(s, c)) add_markdown_cell(out, s->columns[c].heading);
    text_add(out, "\n|");
    for (size_t c = 0; c < s->column_count; c++)
        if (is_shown(s, c)) text_add(out, s->columns[c].kind == SHEET_WORDS ? " --- |" : " ---: |");
    for (size_t r = 0; r < row_count(s); r++) {
        text_add(out, "\n|");
        for (size_t c = 0; c < s->column_count; c++) {
            if (!is_shown(s, c)) continue;
            format_value(s->columns[c].kind, value_at(s, r, c), cell, sizeof cell);
            add_markdown_cell(out, cell);
        }
    }
    text_add(out, "\n");
    if (s->notes.length) text_format(out, "\n%s", s->notes.at);
}

static void add_csv_words(struct text *out, const char *words)
{
    if (!strpbrk(words, ",\"\r\n")) {
        text_add(out, words);
        return;
    }
    text_add(out, "\"");
    for (; *words; words++) text_add_n(out, *words == '"' ? "\"\"" : words, *words == '"' ? 2 : 1);
    text_add(out, "\"");
}

static void add_csv(const struct sheet *s, struct text *out)
{
    for (size_t c = 0; c < s->column_count; c++) text_format(out, "%s%s", c ? "," : "", s->columns[c].key);
    text_add(out, "\n");
    for (size_t r = 0; r < row_count(s); r++)
        for (size_t c = 0; c < s->column_count; c++) {
            const struct sheet_value *v = value_at(s, r, c);
            if (c) text_add(out, ",");
            if (v->words)
                add_csv_words(out, v->words);
            else if (isfinite(v->number))
                text_format(out, "%.15g", v->number);
            if (c + 1 == s->column_count) text_add(out, "\n");
        }
}

static void begin_json(struct text *out)
{
    text_add(out, "{\"lxplan\": 1, \"kind\": \"report\"");
}

static void add_json(const struct sheet *s, struct text *out)
{
    text_format(out, ",\n\"%s\": [", s->key);
    for (size_t r = 0; r < row_count(s); r++) {
        text_add(out, r ? ",\n  {" : "\n  {");
        for (size_t c = 0; c < s->column_count; c++) {
            const struct sheet_value *v = value_at(s, r, c);
            text_format(out, "%s\"%s\": ", c ? ", " : "", s->columns[c].key);
            if (v->words)
                text_json_string(out, v->words);
            else if (isfinite(v->number))
                text_format(out, "%.15g", v->number);
            else
                text_add(out, "null");
        }
        text_add(out, "}");
    }
    text_add(out, "]");
}

static void end_json(struct text *out)
{
    text_add(out, "}\n");
}

const struct sheet_exporter sheet_exporters[] = {
    {"text", true, NULL, add_text, NULL},
    {"md", true, NULL, add_markdown, NULL},
    {"csv", false, NULL, add_csv, NULL},
    {"json", true, begin_json, add_json, end_json},
    {0},
};

const struct sheet_exporter *sheet_exporter_find(const char *name)
{
    for (const struct sheet_exporter *e = sheet_exporters; e->name; e++)
        if (strcmp(e->name, name) == 0) return e;
    return NULL;
}
