/* A column of a table is one row of data: its name, kind, width on a screen, and the member of a row, or the
 * function, that gives its value. Every writer of tables (text, Markdown, CSV, JSON: table.h; cells of a
 * screen: the explorer) walks the same array of columns, so that a heading and its values cannot drift apart.
 *
 * Invariants, which a test asks of every table (all_columns.h): every column has a key, no key twice, and a
 * value function or a member. Sizes: up to some 20 columns; rows are the caller's, up to some 10,000. */
#pragma once

#include "text/colour.h"

/* The kind of a value: its alignment, its form for people, and its form for programs. X(id, at the right) */
/* clang-format off */
#define VALUE_KINDS(X)                                                                                       \
    X(VALUE_WORDS,   false)        /* any text */                                                            \
    X(VALUE_NAME,    false)        /* from a file: cut at the column's width, NAME_COLUMNS if it has none */ \
    X(VALUE_MARK,    true)        /* short text: 3..7 */                                                     \
    X(VALUE_BOOL,    false)        /* "yes" or nothing; true or false */                                     \
    X(VALUE_COUNT,   true)        /* 1,234,567 */                                                            \
    X(VALUE_NUMBER,  true)        /* 1234567: numbers of things, not amounts */                              \
    X(VALUE_BYTES,   true)   /* 1,234,567 */                                                                 \
    X(VALUE_ADDRESS, true)   /* 0x001000 */                                                                  \
    X(VALUE_SECONDS, true) /* 12.3 ms; seconds for programs */                                               \
    X(VALUE_MICROS,  true)      /* 453 us; microseconds for programs */                                                           \
    X(VALUE_SHARE,   true)   /* 14.3 % of 0.143 */                                                           \
    X(VALUE_RATIO,   true)   /* 1.25 */
/* clang-format on */

#define VALUE_ENUM(id, right) id,
enum value_kind { VALUE_KINDS(VALUE_ENUM) VALUE_KIND_COUNT };
#undef VALUE_ENUM

/* The widest that a name gets in a table. */
enum { NAME_COLUMNS = 36 };

/* One value. A text kind shows `words`. A number kind shows `number` (NAN: unknown, a dash); words, if
 * there are any, are shown to people instead ("off chip"), while programs still get the number or null. */
struct value {
    const char *words;
    double number;
    int64_t whole;         /* the same, where it is whole: a double has no room for all of 64 bits */
    bool is_whole, is_key; /* is_key: asked for to sort, so that words beside a whole number are not made */
    enum paint paint;
    struct text made; /* where words live that are put together: see value_format */
};

enum column_flags {
    COLUMN_MAY_HIDE = 1, /* people do not see it when every value is 0, empty or unknown */
    COLUMN_MAY_LACK = 2, /* objects of JSON leave it out when it is 0, empty or unknown */
    COLUMN_PEOPLE = 4,   /* programs do not get it: it puts other columns into words */
    COLUMN_DIM = 8,      /* a member that people see dim */
};

/* The type of a member that is a column's value; MEMBER_VIA: of a struct that a member of the row points
 * to. */
enum member_type {
    MEMBER_NONE,
    MEMBER_CHARS, /* an array of char */
    MEMBER_WORDS,
    MEMBER_BOOL,
    MEMBER_INT32,
    MEMBER_INT64,
    MEMBER_DOUBLE,
    MEMBER_VIA = 16
};

struct column {
    const char *key;      /* in CSV and JSON */
    const char *heading;  /* for people; NULL: people do not see it */
    enum value_kind kind; /* side, form and unit */
    int width;            /* columns on a screen, 0: what the others leave; a name is cut here in text too */
    int most;             /* where the width is 0: no wider than this; 0: no limit */
    int gap;              /* blanks before it on a screen, beyond the one that parts neighbours */
    int from;             /* on a screen, left out where the table has fewer columns than this; in text the
                           * columns that have it are left out where the table is too wide, largest first */
    int digits;           /* of numbers that are not whole, for programs; 0: 15 */
    int argument;         /* for a value function that serves several columns */
    unsigned flags;       /* of column_flags */
    void (*value)(const void *row, const struct column *c, struct value *v); /* NULL: it is a member */
    int member;                                                              /* of member_type */
    size_t at, inner; /* offset in the row, and with MEMBER_VIA in the struct it points to */
};

/* The value is a member of the row; or, with VIA, a member of the struct that a pointer of the row points
 * to. */
#define MEMBER(type, name) .member = MEMBER_TYPE(((type *)0)->name), .at = offsetof(type, name)
#define VIA(type, pointer, name)                                                                             \
    .member = MEMBER_TYPE(((type *)0)->pointer->name) | MEMBER_VIA, .at = offsetof(type, pointer),           \
    .inner = offsetof(__typeof__(*((type *)0)->pointer), name)
/* clang-format off */
#define MEMBER_TYPE(x)                                                                                       \
    _Generic(&(x), const char **: MEMBER_WORDS, const char *const *: MEMBER_WORDS,                           \
             bool *: MEMBER_BOOL, const bool *: MEMBER_BOOL, int32_t *: MEMBER_INT32,                        \
             const int32_t *: MEMBER_INT32, int64_t *: MEMBER_INT64, const int64_t *: MEMBER_INT64,          \
             double *: MEMBER_DOUBLE, const double *: MEMBER_DOUBLE, default: MEMBER_CHARS)
/* clang-format on */

/* The columns of one table. Exported, so that a test can walk them. */
struct columns {
    const char *name;
    const struct column *at;
    size_t count;
};

#define COLUMNS(name, array)                                                                                 \
    {                                                                                                        \
        name, array, sizeof(array) / sizeof *(array)                                                         \
    }

/* A value function of rows of one type, which it sees as `row`: VALUE_OF(size_value, struct part,
 * v->number = row->size;) */
#define VALUE_OF(function, type, ...)                                                                        \
    static void function(const void *row_of_table, const struct column *column, struct value *v)             \
    {                                                                                                        \
        const type *row = row_of_table;                                                                      \
        (void)column;                                                                                        \
        __VA_ARGS__                                                                                          \
    }

/* Words that a value function puts together; several calls append. */
void value_format(struct value *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of a name from a file, whatever its length. */
void value_add(struct value *v, const char *words);
/* A whole number. */
void value_whole(struct value *v, int64_t n);
/* The same, dim where it is 0. */
void value_dim(struct value *v, int64_t n);

/* Empties `v` and asks the column for its value. */
void column_value(const struct column *c, const void *row, struct value *v);
/* The value as people read it, without regard to width. It lives until `v` is used again. */
const char *column_words(const struct column *c, struct value *v);
bool column_is_right(const struct column *c);
/* Numbers are numbers for programs too. */
bool kind_is_number(enum value_kind kind);
/* True when the value says nothing: "", 0 or unknown. */
bool value_is_nothing(const struct value *v);
void value_free(struct value *v);

/* Where a column stands on a screen. */
struct column_place {
    int at, width; /* width 0: it is left out */
};

/* The places of all columns in a table that is `room` columns wide. The column with width 0
 * gets the rest. Returns the column behind the last. */
int columns_fit(const struct columns *c, int room, struct column_place *places);
