/* Reads JSON files; every error has a place in the file.
 *
 * One strict pass over the text (json_scan.c, RFC 8259) makes a tree in an arena: 64 bytes per value, and its
 * keys and strings with their escapes undone. Every value has its place in the text, so that an error found
 * much later still has a line and a column. Also refused are integers beyond 64 bits, numbers that overflow,
 * NUL characters, invalid UTF-8, repeated keys, nesting bombs and floods of values. Integers beyond 2^53,
 * which a double need not hold, are kept exactly: json_whole has them, all other readers refuse them.
 *
 * The readers below look a key up in an object, check type and range, and report against the place of the
 * value. A key read with a `json_opt_*` function may be absent and then leaves `*out` unchanged. */
#pragma once

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JSON_MAX_DEPTH = 64,
    JSON_MAX_VALUES = 1 << 23, /* more only if each takes at least */
    JSON_BYTES_PER_VALUE = 3,  /* bytes, as in plans of many devices: a flood of single digits takes 2 */
};

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_place {
    int line, column;
    int key; /* column of the value's key, if on the same line; else 0 */
};

/* Fields not of the value's kind are 0 or NULL. */
struct json_value {
    struct json_value *next, *child; /* in the order of the text */
    const char *key;                 /* NULL: not in an object */
    const char *text;                /* for strings */
    double number;
    int64_t bits; /* for wide numbers, two's complement */
    struct json_place place;
    unsigned char kind; /* enum json_kind */
    bool wide;          /* an integer beyond 2^53 */
};

struct json {
    const char *file;
    const struct json_value *root;
    struct arena memory; /* the whole tree, independent of the text */
};

bool json_parse(struct json *j, const char *file, const char *text, size_t length, lx_status *st);
void json_free(struct json *j);

/* Does the outermost object contain `"kind": kind`? Reads nothing else. The key may be anywhere, as other
 * programs order keys differently. */
bool json_is_kind(const char *text, size_t length, const char *kind);
/* Is the text an object with this key? */
bool json_has_key(const char *text, size_t length, const char *key);

/* All of these accept NULL: no kind, no content. */
static inline bool json_is(const struct json_value *v, enum json_kind kind)
{
    return v && v->kind == kind;
}

#define json_is_null(v)   json_is((v), JSON_NULL)
#define json_is_true(v)   json_is((v), JSON_TRUE)
#define json_is_number(v) json_is((v), JSON_NUMBER)
#define json_is_string(v) json_is((v), JSON_STRING)
#define json_is_array(v)  json_is((v), JSON_ARRAY)
#define json_is_object(v) json_is((v), JSON_OBJECT)

static inline bool json_is_bool(const struct json_value *v)
{
    return json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE);
}

static inline const struct json_value *json_first(const struct json_value *v)
{
    return v ? v->child : NULL;
}

/* Loops over the values of an array or object. */
#define json_for_each(item, of) for (item = json_first(of); item; item = item->next)

/* The number of values, and the n-th or NULL; both are linear. */
int json_count(const struct json_value *v);
const struct json_value *json_item(const struct json_value *v, int n);

/* Reports an error at a value; returns false. */
bool json_error(const struct json *j, const struct json_value *value, lx_status *st, enum lx_code code,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same at its key. */
bool json_key_error(const struct json *j, const struct json_value *value, lx_status *st, enum lx_code code,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Checks that `value` is an object with keys of the NULL-terminated list only. `what` names it in errors. */
bool json_only_keys(const struct json *j, const struct json_value *value, const char *what,
                    const char *const *keys, lx_status *st);

const struct json_value *json_find(const struct json_value *object, const char *key);
bool json_int(const struct json *j, const struct json_value *object, const char *key, int64_t low,
              int64_t high, int64_t *out, lx_status *st);
bool json_opt_int(const struct json *j, const struct json_value *object, const char *key, int64_t low,
                  int64_t high, int64_t *out, lx_status *st);
bool json_opt_number(const struct json *j, const struct json_value *object, const char *key, double low,
                     double high, double *out, lx_status *st);
bool json_string(const struct json *j, const struct json_value *object, const char *key, const char **out,
                 lx_status *st);
bool json_opt_string(const struct json *j, const struct json_value *object, const char *key, const char **out,
                     lx_status *st);
bool json_opt_bool(const struct json *j, const struct json_value *object, const char *key, bool *out,
                   lx_status *st);
bool json_array(const struct json *j, const struct json_value *object, const char *key,
                const struct json_value **out, lx_status *st);
bool json_opt_array(const struct json *j, const struct json_value *object, const char *key,
                    const struct json_value **out, lx_status *st);
/* The integer of a given value; `what` names it in errors. */
bool json_int_value(const struct json *j, const struct json_value *value, const char *what, int64_t low,
                    int64_t high, int64_t *out, lx_status *st);

/* The 64 bits of an integer from -2^63 to 2^64 - 1; from 2^63 on as unsigned. False: not an integer. */
bool json_whole(const struct json_value *value, int64_t *bits);

/* Equal values, whatever the order of keys. NULL equals NULL only. */
bool json_same(const struct json_value *a, const struct json_value *b);
/* Adds the value as JSON without blanks. */
struct text;
void json_add(const struct json_value *value, struct text *t);

/* The scan: checks `text` and makes the tree of `j`; the caller frees its memory even on failure. */
bool json_scan(struct json *j, const char *text, size_t length, lx_status *st);
