/* Reads results files. A bad header ends it; a bad line behind it is reported with its place and passed over,
 * because the other lines are as good as before. */
#include "bench/row_fields.h"
#include "base/fail.h"
#include "base/checked.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

struct reading {
    struct arena *memory;
    const struct json *json;
    lx_status *st;
};

typedef bool read_field(struct reading *r, const struct row_field *f, struct row *row);

static bool is_missing(struct reading *r, const char *key)
{
    if (json_find(r->json->root, key)) return false;
    return !json_error(r->json, r->json->root, r->st, LX_E_SCHEMA, "the key \"%s\" is missing", key);
}

/* Notes whether the field has a value; false: it is null. */
static bool note_known(struct reading *r, const struct row_field *f, struct row *row)
{
    bool known = !json_is_null(json_find(r->json->root, f->key));
    if (f->known) *(bool *)((char *)row + f->known) = known;
    return known;
}

static bool results_read_text(struct reading *r, const struct row_field *f, struct row *row)
{
    const char *text = "";
    if (is_missing(r, f->key)) return false;
    if (!json_is_null(json_find(r->json->root, f->key)) &&
        !json_string(r->json, r->json->root, f->key, &text, r->st))
        return false;
    *field_text(row, f) = arena_string(r->memory, text);
    return *field_text(row, f) ? true : status_no_memory(r->st);
}

/* Counters as they are written: names and numbers. */
static bool read_object(struct reading *r, const struct row_field *f, struct row *row)
{
    const struct json_value *v;
    struct text t = {0};
    int64_t whole;
    text_add(&t, "{");
    json_for_each(v, json_find(r->json->root, f->key)) {
        if (!json_is_number(v) || !v->key) continue;
        text_add(&t, t.length > 1 ? "," : "");
        text_json_string(&t, v->key);
        if (json_whole(v, &whole))
            text_format(&t, ":%lld", (long long)whole);
        else
            text_format(&t, ":%.17g", v->number);
    }
    text_add(&t, "}");
    *field_text(row, f) = t.failed ? NULL : arena_string(r->memory, t.at);
    text_free(&t);
    return *field_text(row, f) ? true : status_no_memory(r->st);
}

static bool read_outcome(struct reading *r, const struct row_field *f, struct row *row)
{
    const char *word;
    enum outcome *out = (enum outcome *)((char *)row + f->at);
    if (!json_string(r->json, r->json->root, f->key, &word, r->st)) return false;
    *out = outcome_find(word);
    return *out < OUTCOME_COUNT || json_error(r->json, json_find(r->json->root, f->key), r->st, LX_E_SCHEMA,
                                              "there is no outcome \"%.40s\"", word);
}

static bool read_whole(struct reading *r, const struct row_field *f, struct row *row)
{
    int64_t *out = (int64_t *)((char *)row + f->at);
    *out = 0;
    if (!note_known(r, f, row)) return true; /* unknown, or a number that JSON could not carry */
    return json_int(r->json, r->json->root, f->key, -LX_INT_MAX, LX_INT_MAX, out, r->st);
}

static bool read_seconds(struct reading *r, const struct row_field *f, struct row *row)
{
    double *out = (double *)((char *)row + f->at);
    *out = 0;
    if (is_missing(r, f->key)) return false;
    if (!note_known(r, f, row) && f->known) return true;
    return json_opt_number(r->json, r->json->root, f->key, 0, 1e15, out, r->st);
}

static bool read_micros(struct reading *r, const struct row_field *f, struct row *row)
{
    if (json_find(r->json->root, f->key)) return read_seconds(r, f, row);
    *(bool *)((char *)row + f->known) = false;
    return true;
}

static bool skip(struct reading *r, const struct row_field *f, struct row *row)
{
    (void)r, (void)f, (void)row;
    return true;
}

static read_field *const readers[FIELD_KINDS] = {
    [FIELD_WORD] = results_read_text, [FIELD_MESSAGE] = results_read_text,
    [FIELD_OBJECT] = read_object,     [FIELD_OUTCOME] = read_outcome,
    [FIELD_WHOLE] = read_whole,       [FIELD_SECONDS] = read_seconds,
    [FIELD_MICROS] = read_micros,     [FIELD_GAP] = skip,
};

static bool results_read_row(struct reading *r, struct row *row)
{
    if (!json_is_object(r->json->root))
        return json_error(r->json, r->json->root, r->st, LX_E_SCHEMA, "a line must be an object");
    for (const struct row_field *f = row_fields; f->key; f++)
        if (!readers[f->kind](r, f, row)) return false;
    return true;
}

static bool add_problem(struct results *r, const char *path, int line, const lx_status *st)
{
    const char *words = arena_format(&r->memory, "%s:%d: line passed over: %s", path, line, st->text);
    return words && VEC_PUSH(&r->problems, words);
}

bool row_read(struct arena *memory, const char *path, const char *text, size_t length, struct row *row,
              lx_status *st)
{
    struct json j;
    if (!json_parse(&j, path, text, length, st)) return false;
    struct reading reading = {memory, &j, st};
    bool ok = results_read_row(&reading, row);
    json_free(&j);
    return ok;
}

/* One line behind the header. False only when memory is out. */
static bool results_read_line(struct results *r, const char *path, int line, const char *text, size_t length,
                              double limit, lx_status *st)
{
    lx_status why = {0};
    struct row row = {.time_limit = limit, .file = (int)r->files.count - 1, .line = line};
    bool ok = row_read(&r->memory, path, text, length, &row, &why);
    if (why.code == LX_E_MEMORY) return status_no_memory(st);
    bool kept = ok ? VEC_PUSH(&r->rows, row) : add_problem(r, path, line, &why);
    return kept ? true : status_no_memory(st);
}

static bool results_read_header(struct results *r, const char *path, const char *text, size_t length,
                                double *limit, lx_status *st)
{
    struct json j;
    if (!json_parse(&j, path, text, length, st)) return false;
    const struct json_value *kind = json_is_object(j.root) ? json_find(j.root, "kind") : NULL,
                            *header = json_find(j.root, "header");
    const struct json_value *version = json_find(j.root, "lxplan"), *limits = json_find(header, "limits");
    bool ok = false;
    if (!json_is_string(kind) || strcmp(kind->text, "results") != 0 || !json_is_object(header))
        json_error(&j, j.root, st, LX_E_SCHEMA,
                   "not a results file: its first line must be the header that `lxplan bench` writes");
    else if (!json_is_number(version) || version->number != 1)
        json_error(&j, j.root, st, LX_E_SCHEMA, "results of another format version than 1");
    else if (!json_is_object(limits) || !json_is_number(json_find(limits, "time_seconds")))
        json_error(&j, header, st, LX_E_SCHEMA,
                   "the header says nothing about the time limit (limits.time_seconds)");
    else {
        *limit = json_find(limits, "time_seconds")->number;
        const char *copy = arena_copy(&r->memory, text, length), *name = arena_string(&r->memory, path);
        ok = copy && name && VEC_PUSH(&r->headers, copy) && VEC_PUSH(&r->files, name) ? true
                                                                                      : status_no_memory(st);
    }
    json_free(&j);
    return ok;
}

bool results_parse(struct results *r, const char *path, const char *text, size_t length, size_t *torn,
                   lx_status *st)
{
    double limit = 0;
    size_t at = 0;
    *torn = length;
    for (int line = 1; at < length || line == 1; line++) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t n = end ? (size_t)(end - text) - at : length - at;
        if (line == 1 && !end) /* bench makes the file with it, so this is something else */
            return status_set_at(st, LX_E_SCHEMA, path, 1, 1,
                                 "not a results file: its first line has no end");
        if (line == 1) {
            if (!results_read_header(r, path, text, n, &limit, st)) return false;
        } else if (!end) {
            lx_status why;
            *torn = at;
            status_set(&why, LX_E_SYNTAX, "torn: it has no end");
            return add_problem(r, path, line, &why) ? true : status_no_memory(st);
        } else if (n > 0 && !results_read_line(r, path, line, text + at, n, limit, st))
            return false;
        at += n + 1;
    }
    return true;
}

bool results_read(struct results *r, const char *path, lx_status *st)
{
    size_t length, torn;
    char *text = file_read(path, &length, st);
    if (!text) return false;
    bool ok = results_parse(r, path, text, length, &torn, st);
    mem_free(text);
    return ok;
}

void results_free(struct results *r)
{
    VEC_FREE(&r->rows);
    VEC_FREE(&r->headers);
    VEC_FREE(&r->files);
    VEC_FREE(&r->problems);
    arena_free(&r->memory);
    *r = (struct results){0};
}
