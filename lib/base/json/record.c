#include "base/json/record.h"
#include "base/checked.h"
#include "base/fail.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const void *record_member(const struct field *f, const void *record)
{
    return (const char *)record + f->offset;
}

static bool is_absent(const struct field *f, const void *at)
{
    if (f->need == FIELD_NEEDED) return false;
    switch (f->kind) {
    case FIELD_INT:
        return *(const int64_t *)at == f->absent;
    case FIELD_REAL:
        return isnan(*(const double *)at);
    case FIELD_BOOL:
        return !*(const bool *)at;
    case FIELD_TEXT:
        return !*(const char *const *)at;
    case FIELD_INTS:
    case FIELD_ROWS:
        return ((const struct int_list *)at)->count == 0;
    }
    return false;
}

static void record_write_list(const struct int_list *list, int width, struct text *t)
{
    if (t->failed) return; /* maybe of memory for this list */
    text_add(t, "[");
    for (int32_t i = 0; i < list->count; i++) {
        text_add(t, i ? ", " : "");
        if (width && i % width == 0) text_add(t, "[");
        text_int(t, list->at[i]);
        if (width && i % width == width - 1) text_add(t, "]");
    }
    text_add(t, "]");
}

static void write_value(const struct field *f, const void *at, struct text *t)
{
    switch (f->kind) {
    case FIELD_INT:
        text_int(t, *(const int64_t *)at);
        break;
    case FIELD_REAL:
        text_format(t, "%.*g", RECORD_REAL_DIGITS, *(const double *)at);
        break;
    case FIELD_BOOL:
        text_add(t, *(const bool *)at ? "true" : "false");
        break;
    case FIELD_TEXT:
        text_json_string(t, *(const char *const *)at);
        break;
    case FIELD_INTS:
        record_write_list(at, 0, t);
        break;
    case FIELD_ROWS:
        record_write_list(at, f->width, t);
        break;
    }
}

void record_write(const struct field *fields, size_t count, const void *record, struct text *t)
{
    bool first = true;
    text_add(t, "{");
    for (size_t i = 0; i < count; i++) {
        const void *at = record_member(&fields[i], record);
        if (is_absent(&fields[i], at)) continue;
        text_add(t, first ? "\"" : ", \"");
        text_add(t, fields[i].key);
        text_add_n(t, "\": ", 3);
        write_value(&fields[i], at, t);
        first = false;
    }
    text_add(t, "}");
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool record_same_list(const struct int_list *a, const struct int_list *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->at, b->at, (size_t)a->count * sizeof *a->at) == 0);
}

static bool record_same_value(const struct field *f, const void *a, const void *b)
{
    switch (f->kind) {
    case FIELD_INT:
        return *(const int64_t *)a == *(const int64_t *)b;
    case FIELD_REAL:
        return fabs(*(const double *)a - *(const double *)b) <= 1e-8 * fabs(*(const double *)b);
    case FIELD_BOOL:
        return *(const bool *)a == *(const bool *)b;
    case FIELD_TEXT:
        return same_text(*(const char *const *)a, *(const char *const *)b);
    case FIELD_INTS:
    case FIELD_ROWS:
        return record_same_list(a, b);
    }
    return false;
}

const struct field *record_difference(const struct field *fields, size_t count, const void *a, const void *b)
{
    for (size_t i = 0; i < count; i++)
        if (!is_absent(&fields[i], record_member(&fields[i], a)) &&
            !record_same_value(&fields[i], record_member(&fields[i], a), record_member(&fields[i], b)))
            return &fields[i];
    return NULL;
}

/* The integers of one array, appended to `out`, which has room. */
static bool record_read_ints(const struct json *j, const struct json_value *array, const char *key,
                             struct int_list *out, lx_status *st)
{
    const struct json_value *item;
    json_for_each(item, array) {
        if (!json_int_value(j, item, key, -LX_INT_MAX, LX_INT_MAX, &out->at[out->count], st)) return false;
        out->count++;
    }
    return true;
}

static bool read_rows(const struct json *j, const struct json_value *array, const struct field *f,
                      struct int_list *out, lx_status *st)
{
    const struct json_value *row;
    json_for_each(row, array) {
        if (!json_is_array(row) || json_count(row) != f->width)
            return json_error(j, row, st, LX_E_SCHEMA, "each row of %s must have %d integers", f->key,
                              f->width);
        if (!record_read_ints(j, row, f->key, out, st)) return false;
    }
    return true;
}

/* A number that stands for a missing key is not a value, nor is one below it, which readers take for the same: whoever states it
 * would claim nothing. */
static bool record_read_int(const struct json *j, const struct json_value *object,
                            const struct json_value *value, const struct field *f, int64_t *at, lx_status *st)
{
    if (!json_int(j, object, f->key, -LX_INT_MAX, LX_INT_MAX, at, st)) return false;
    if (f->need == FIELD_NEEDED || f->absent >= 0 || *at > f->absent) return true;
    return json_error(j, value, st, LX_E_RANGE, "%s is %" PRId64 "; leave the key out if it has no value",
                      f->key, *at);
}

static bool read_field(const struct json *j, const struct json_value *object, const struct json_value *value,
                       const struct field *f, void *at, struct arena *memory, lx_status *st)
{
    switch (f->kind) {
    case FIELD_INT:
        return record_read_int(j, object, value, f, at, st);
    case FIELD_REAL:
        return json_opt_number(j, object, f->key, -HUGE_VAL, HUGE_VAL, at, st);
    case FIELD_BOOL:
        return json_opt_bool(j, object, f->key, at, st);
    case FIELD_TEXT: {
        const char **out = at;
        const char *text;
        if (!json_string(j, object, f->key, &text, st)) return false;
        *out = arena_string(memory, text);
        return true;
    }
    case FIELD_INTS:
    case FIELD_ROWS: {
        struct int_list *out = at;
        if (!json_is_array(value))
            return json_error(j, value, st, LX_E_SCHEMA, "%s must be an array of %s", f->key,
                              f->kind == FIELD_ROWS ? "arrays of integers" : "integers");
        size_t room = (size_t)json_count(value) * (size_t)(f->kind == FIELD_ROWS ? f->width : 1);
        *out = (struct int_list){.at = arena_array(memory, room, sizeof *out->at)};
        return f->kind == FIELD_ROWS ? read_rows(j, value, f, out, st)
                                     : record_read_ints(j, value, f->key, out, st);
    }
    }
    return false;
}

static void set_absent(const struct field *f, void *at)
{
    switch (f->kind) {
    case FIELD_INT:
        *(int64_t *)at = f->absent;
        break;
    case FIELD_REAL:
        *(double *)at = NAN;
        break;
    case FIELD_BOOL:
        *(bool *)at = false;
        break;
    case FIELD_TEXT:
        *(const char **)at = NULL;
        break;
    case FIELD_INTS:
    case FIELD_ROWS:
        *(struct int_list *)at = (struct int_list){0};
        break;
    }
}

bool record_read(const struct json *j, const struct json_value *object, const char *what,
                 const struct field *fields, size_t count, void *record, struct arena *memory, lx_status *st)
{
    if (!json_is_object(object)) return json_error(j, object, st, LX_E_SCHEMA, "%s must be an object", what);
    for (size_t i = 0; i < count; i++) {
        const struct field *f = &fields[i];
        const struct json_value *value = json_find(object, f->key);
        if (!value && f->need == FIELD_OPTIONAL) {
            set_absent(f, (char *)record + f->offset);
            continue;
        }
        if (!value)
            return json_error(j, object, st, LX_E_SCHEMA, "the key \"%s\" of %s is missing here; add it",
                              f->key, what);
        if (!read_field(j, object, value, f, (char *)record + f->offset, memory, st)) return false;
    }
    return true;
}
