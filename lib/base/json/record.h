/* Flat structs as JSON objects, by one table of fields per struct.
 *
 * A field has its key, kind and offset; the same row writes it, reads it and documents it. So writer, reader
 * and documentation of a file cannot drift apart. Objects are written on one line, keys in the order of the
 * table. On reading, keys that no row has are ignored: a later minor version of a format may add some. */
#pragma once

#include "base/json/json.h"
#include "base/text.h"

enum field_kind {
    FIELD_INT,  /* int64_t */
    FIELD_REAL, /* double */
    FIELD_BOOL, /* bool */
    FIELD_TEXT, /* const char * */
    FIELD_INTS, /* struct int_list */
    FIELD_ROWS, /* struct int_list: `width` integers per row, an array of arrays */
};

struct int_list {
    int64_t *at;
    int32_t count; /* integers, not rows */
};

/* Treatment of a missing key. */
enum field_need {
    FIELD_NEEDED,   /* an error */
    FIELD_OPTIONAL, /* the member is `absent` (not a number, NULL, false, no list), and not written */
};

/* How far readers trust a value; only the documentation uses it. */
enum field_standing {
    FIELD_STATED,  /* taken as given */
    FIELD_CHECKED, /* derivable from the rest of the file: another value is refused */
    FIELD_CLAIMED, /* the writer's claim: nothing depends on it */
};

struct field {
    const char *key;
    enum field_kind kind;
    enum field_need need;
    enum field_standing standing;
    int width; /* of FIELD_ROWS */
    int64_t absent;
    size_t offset;
    const char *help;
};

enum { RECORD_REAL_DIGITS = 9 };

/* "{...}" without a newline. */
void record_write(const struct field *fields, size_t count, const void *record, struct text *t);
/* Reads a record: strings and lists are copied into `memory`; sets every member. `what` names the record in
 * errors. */
bool record_read(const struct json *j, const struct json_value *object, const char *what,
                 const struct field *fields, size_t count, void *record, struct arena *memory, lx_status *st);
/* The first field of `a` that differs in `b`, or NULL. Ignores digits that are not written. */
const struct field *record_difference(const struct field *fields, size_t count, const void *a, const void *b);

/* For X-macros whose rows are F(KIND, key, NEED, STANDING, width, absent, help): the members of the struct,
 * and the rows of the table. */
#define RECORD_MEMBER_INT(key)  int64_t key;
#define RECORD_MEMBER_REAL(key) double key;
#define RECORD_MEMBER_BOOL(key) bool key;
#define RECORD_MEMBER_TEXT(key) const char *key;
#define RECORD_MEMBER_INTS(key) struct int_list key;
#define RECORD_MEMBER_ROWS(key) struct int_list key;
