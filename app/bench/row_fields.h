/* The members of a line of a results file. Writer, reader and copier walk this one table, so that what is written is
 * what is read; the order is that of the line. */
#ifndef LX_APP_BENCH_ROW_FIELDS_H
#define LX_APP_BENCH_ROW_FIELDS_H

#include "bench/bench.h"

enum field_kind {
    FIELD_WORD,    /* a text; null where it is empty */
    FIELD_MESSAGE, /* a text, also where it is empty */
    FIELD_OBJECT,  /* JSON as it is; {} where it is empty */
    FIELD_OUTCOME, /* the word of an outcome */
    FIELD_WHOLE,   /* null: unknown, or a number that JSON cannot carry */
    FIELD_SECONDS, /* 0 or more; null: unknown */
    FIELD_MICROS,  /* the same; absent from files of 0.1, which is unknown, too */
    FIELD_GAP,     /* made from value and bound, for other readers; not read */
    FIELD_KINDS
};

struct row_field {
    const char *key;
    enum field_kind kind;
    size_t at;    /* of the member in struct row */
    size_t known; /* of the flag that says whether it has one; 0: it always has */
};

/* Ends with a row without a key. */
extern const struct row_field row_fields[];

static inline const char **field_text(struct row *r, const struct row_field *f)
{
    return (const char **)((char *)r + f->at);
}

static inline bool field_is_text(const struct row_field *f)
{
    return f->kind == FIELD_WORD || f->kind == FIELD_MESSAGE || f->kind == FIELD_OBJECT;
}

static inline bool field_is_known(const struct row *r, const struct row_field *f)
{
    return !f->known || *(const bool *)((const char *)r + f->known);
}

#endif
