#include "base/json/record.h"
#include "base/base.h"

static bool is_absent(const struct field *f, const void *record)
{
    const void *at = (const char *)record + f->offset;
    return f->need != FIELD_NEEDED && (f->kind == FIELD_INT    ? *(const int64_t *)at == f->absent
                                       : f->kind == FIELD_REAL ? isnan(*(const double *)at)
                                       : f->kind == FIELD_BOOL ? !*(const bool *)at
                                       : f->kind == FIELD_TEXT ? !*(const char *const *)at
                                                               : ((const struct int_list *)at)->count == 0);
}

static void write_value(const struct field *f, const void *at, struct text *t)
{
    const struct int_list *list = f->kind == FIELD_INTS || f->kind == FIELD_ROWS ? at : NULL;
    int width = f->kind == FIELD_ROWS ? f->width : 0;
    if (f->kind == FIELD_INT) text_int(t, *(const int64_t *)at);
    if (f->kind == FIELD_REAL) text_format(t, "%.*g", RECORD_REAL_DIGITS, *(const double *)at);
    if (f->kind == FIELD_BOOL) text_add(t, *(const bool *)at ? "true" : "false");
    if (f->kind == FIELD_TEXT) text_json_string(t, *(const char *const *)at);
    if (list) text_add(t, "[");
    for (int32_t i = 0; list && i < list->count; i++) {
        if (i) text_add_n(t, ", ", 2);
        if (width && i % width == 0) text_add_n(t, "[", 1);
        text_int(t, list->at[i]);
        if (width && i % width == width - 1) text_add_n(t, "]", 1);
    }
    if (list) text_add(t, "]");
}

void record_write(const struct field *fields, size_t count, const void *record, struct text *t)
{
    bool first = true;
    text_add(t, "{");
    for (size_t i = 0; i < count; i++) {
        if (is_absent(&fields[i], record)) continue;
        text_add(t, first ? "\"" : ", \"");
        text_add(t, fields[i].key);
        text_add_n(t, "\": ", 3);
        write_value(&fields[i], (const char *)record + fields[i].offset, t);
        first = false;
    }
    text_add(t, "}");
}

static bool record_same_value(const struct field *f, const void *a, const void *b)
{
    const struct int_list *one = a, *other = b;
    const char *text, *meant;
    switch (f->kind) {
    case FIELD_INT: return *(const int64_t *)a == *(const int64_t *)b;
    case FIELD_REAL: return fabs(*(const double *)a - *(const double *)b) <= 1e-8 * fabs(*(const double *)b);
    case FIELD_BOOL: return *(const bool *)a == *(const bool *)b;
    case FIELD_TEXT:
        text = *(const char *const *)a, meant = *(const char *const *)b;
        return text && meant ? strcmp(text, meant) == 0 : text == meant;
    case FIELD_INTS:
    case FIELD_ROWS:
        return one->count == other->count &&
               (one->count == 0 || memcmp(one->at, other->at, (size_t)one->count * sizeof *one->at) == 0);
    }
    return false;
}

const struct field *record_difference(const struct field *fields, size_t count, const void *a, const void *b)
{
    for (const struct field *f = fields; f < fields + count; f++)
        if (!is_absent(f, a) &&
            !record_same_value(f, (const char *)a + f->offset, (const char *)b + f->offset))
            return f;
    return NULL;
}

/* An array of integers, or of rows of `f->width` integers. */
static bool record_read_list(const struct json *j, const struct json_value *value, const struct field *f,
                             struct int_list *out, struct arena *memory, lx_status *st)
{
    bool rows = f->kind == FIELD_ROWS;
    if (!json_is_array(value))
        return json_error(j, value, st, LX_E_SCHEMA, "%s must be an array of %s", f->key,
                          rows ? "arrays of integers" : "integers");
    size_t room = (size_t)json_count(value) * (size_t)(rows ? f->width : 1);
    const struct json_value *row = rows ? value->child : value, *item;
    *out = (struct int_list){.at = arena_array(memory, room, sizeof *out->at)};
    for (; row; row = rows ? row->next : NULL) {
        if (rows && (!json_is_array(row) || json_count(row) != f->width))
            return json_error(j, row, st, LX_E_SCHEMA, "each row of %s must have %d integers", f->key,
                              f->width);
        json_for_each(item, row)
            if (!json_int_value(j, item, f->key, -LX_INT_MAX, LX_INT_MAX, &out->at[out->count++], st))
                return false;
    }
    return true;
}

static bool read_field(const struct json *j, const struct json_value *object, const struct json_value *value,
                       const struct field *f, void *at, struct arena *memory, lx_status *st)
{
    const char *text;
    int64_t *number = at;
    switch (f->kind) {
    case FIELD_INT:
        /* The number for a missing key is no legal value; nor is a lower one, which readers treat alike. */
        if (!json_int(j, object, f->key, -LX_INT_MAX, LX_INT_MAX, number, st)) return false;
        if (f->need == FIELD_NEEDED || f->absent >= 0 || *number > f->absent) return true;
        return json_error(j, value, st, LX_E_RANGE, "%s is %" PRId64 "; leave the key out if it has no value",
                          f->key, *number);
    case FIELD_REAL: return json_opt_number(j, object, f->key, -HUGE_VAL, HUGE_VAL, at, st);
    case FIELD_BOOL: return json_opt_bool(j, object, f->key, at, st);
    case FIELD_TEXT:
        if (!json_string(j, object, f->key, &text, st)) return false;
        *(const char **)at = arena_string(memory, text);
        return true;
    case FIELD_INTS:
    case FIELD_ROWS: return record_read_list(j, value, f, at, memory, st);
    }
    return false;
}

bool record_read(const struct json *j, const struct json_value *object, const char *what,
                 const struct field *fields, size_t count, void *record, struct arena *memory, lx_status *st)
{
    if (!json_is_object(object)) return json_error(j, object, st, LX_E_SCHEMA, "%s must be an object", what);
    for (size_t i = 0; i < count; i++) {
        const struct field *f = &fields[i];
        const struct json_value *value = json_find(object, f->key);
        if (!value && f->need == FIELD_OPTIONAL) {
            void *at = (char *)record + f->offset;
            if (f->kind == FIELD_INT) *(int64_t *)at = f->absent;
            if (f->kind == FIELD_REAL) *(double *)at = NAN;
            if (f->kind == FIELD_BOOL) *(bool *)at = false;
            if (f->kind == FIELD_TEXT) *(const char **)at = NULL;
            if (f->kind == FIELD_INTS || f->kind == FIELD_ROWS) *(struct int_list *)at = (struct int_list){0};
            continue;
        }
        if (!value)
            return json_error(j, object, st, LX_E_SCHEMA, "the key \"%s\" of %s is missing here; add it",
                              f->key, what);
        if (!read_field(j, object, value, f, (char *)record + f->offset, memory, st)) return false;
    }
    return true;
}
