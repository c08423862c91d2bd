/* Flat structs as JSON objects, by one table of fields per struct.
 *
 * A field knows its key, its kind and where it stands in the struct; the same row writes it, reads it and
 * says what it means. So writer, reader and documentation of a file cannot drift apart. Objects are written
 * on one line, keys in the order of the table. On reading, keys that no row has are ignored: a later minor
 * version of a format may add some. */
#ifndef LX_BASE_JSON_RECORD_H
#define LX_BASE_JSON_RECORD_H

#include "base/arena.h"
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

/* How a missing key is taken. */
enum field_need {
    FIELD_NEEDED, /* an error */
    FIELD_OPTIONAL, /* the member is `absent` (not a number, NULL, false, no list); such members are not written */
};

/* What a value is to who reads the file: nothing of it depends on the kind of standing but the
 * documentation. */
enum field_standing {
    FIELD_STATED,  /* taken as it stands */
    FIELD_CHECKED, /* follows from the rest of the file: another value is refused */
    FIELD_CLAIMED, /* the word of who wrote it: nothing depends on it */
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
/* Strings and lists are copied into `memory`; every member is set. `what` names the record in errors. */
bool record_read(const struct json *j, const struct json_value *object, const char *what,
                 const struct field *fields, size_t count, void *record, struct arena *memory, lx_status *st);
/* The first field that `a` has and `b` has otherwise, or NULL. Numbers may differ in the digits that are not
 * written. */
const struct field *record_difference(const struct field *fields, size_t count, const void *a, const void *b);

/* For X-macros whose rows are F(KIND, key, NEED, STANDING, width, absent, help): the members of the struct,
 * and the rows of the table. */
#define RECORD_MEMBER_INT(key)  int64_t key;
#define RECORD_MEMBER_REAL(key) double key;
#define RECORD_MEMBER_BOOL(key) bool key;
#define RECORD_MEMBER_TEXT(key) const char *key;
#define RECORD_MEMBER_INTS(key) struct int_list key;
#define RECORD_MEMBER_ROWS(key) struct int_list key;

#endif
