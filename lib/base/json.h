/* Reading JSON files of which every mistake can be shown to its author.
 *
 * cJSON builds the tree; before it runs, a strict scan (json_scan.c) checks the text against RFC 8259
 * and notes the place of every value, so that an error found much later still has a line and a column.
 * The scan also refuses what cJSON would take silently: integers beyond 64 bits, numbers that overflow, NUL
 * characters, invalid UTF-8, nesting bombs and floods of values. Integers beyond 2^53, which a double need not hold,
 * are kept beside the tree: json_whole has them exactly, all other readers refuse them.
 *
 * The readers below look a key up in an object, check type and range, and report against the place of
 * the value. A key read with a `json_opt_*` function may be absent and then leaves `*out` as it is. */
#ifndef LX_BASE_JSON_H
#define LX_BASE_JSON_H

#include "base/status.h"

#include <cjson/cJSON.h>
#include <stdint.h>

enum {
    JSON_MAX_DEPTH = 64,
    JSON_MAX_VALUES = 1 << 23,
};

struct json_place {
    int line, column;
    int key; /* column of the key that names the value, if it stands in the same line; else 0 */
};

/* An integer beyond 2^53, in two's complement. */
struct json_wide {
    size_t place; /* of the value, by number */
    int64_t bits;
};

struct json {
    char *file;
    cJSON *root;
    struct json_place *places; /* in the order in which values begin in the text */
    size_t place_count;
    struct json_wide *wide; /* in the same order */
    size_t wide_count;
};

bool json_parse(struct json *j, const char *file, const char *text, size_t length, lx_status *st);
void json_free(struct json *j);

/* Does the outermost object say `"kind": kind`? Nothing else is looked at or checked. Other programs write keys in
 * another order, so that it may stand anywhere. */
bool json_is_kind(const char *text, size_t length, const char *kind);
/* Is it an object with this key? */
bool json_has_key(const char *text, size_t length, const char *key);

/* Where a value stands. */
struct json_place json_place_of(const struct json *j, const cJSON *value);
/* Report against a value; returns false. */
bool json_error(const struct json *j, const cJSON *value, lx_status *st, enum lx_code code,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same against its key. */
bool json_key_error(const struct json *j, const cJSON *value, lx_status *st, enum lx_code code,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* `value` is an object that has only keys of the NULL-terminated list. `what` names it in errors. */
bool json_only_keys(const struct json *j, const cJSON *value, const char *what, const char *const *keys,
                    lx_status *st);

const cJSON *json_find(const cJSON *object, const char *key);
bool json_int(const struct json *j, const cJSON *object, const char *key, int64_t low, int64_t high,
              int64_t *out, lx_status *st);
bool json_opt_int(const struct json *j, const cJSON *object, const char *key, int64_t low, int64_t high,
                  int64_t *out, lx_status *st);
bool json_opt_number(const struct json *j, const cJSON *object, const char *key, double low, double high,
                     double *out, lx_status *st);
bool json_string(const struct json *j, const cJSON *object, const char *key, const char **out, lx_status *st);
bool json_opt_string(const struct json *j, const cJSON *object, const char *key, const char **out,
                     lx_status *st);
bool json_opt_bool(const struct json *j, const cJSON *object, const char *key, bool *out, lx_status *st);
bool json_array(const struct json *j, const cJSON *object, const char *key, const cJSON **out, lx_status *st);
bool json_opt_array(const struct json *j, const cJSON *object, const char *key, const cJSON **out,
                    lx_status *st);
/* The integer in a value that has been found already; `what` names it in errors. */
bool json_int_value(const struct json *j, const cJSON *value, const char *what, int64_t low, int64_t high,
                    int64_t *out, lx_status *st);

/* The 64 bits of a number that is an integer from -2^63 to 2^64 - 1; those from 2^63 on are taken as unsigned. False:
 * it is none. */
bool json_whole(const struct json *j, const cJSON *value, int64_t *bits);

/* The scan: checks `text` and fills places and wide numbers of `j` (malloc'ed). */
bool json_scan(struct json *j, const char *file, const char *text, size_t length, lx_status *st);

#endif
