/* A table of values before anyone has decided how it is written: the same rows become text, Markdown, CSV and
 * JSON. Text and Markdown leave out columns that say nothing; CSV and JSON keep them all, unrounded. */
#ifndef LX_APP_TEXT_SHEET_H
#define LX_APP_TEXT_SHEET_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"
#include "text/colour.h"

enum sheet_kind { SHEET_WORDS, SHEET_COUNT, SHEET_SECONDS, SHEET_SHARE, SHEET_RATIO };

struct sheet_column {
    const char *key, *heading; /* heading NULL: never in text and Markdown */
    enum sheet_kind kind;
    bool may_hide; /* in text and Markdown, when every value is 0, empty or unknown */
};

struct sheet_value {
    const char *words; /* SHEET_WORDS; else NULL */
    double number;     /* NAN: unknown */
    enum paint paint;
};

struct sheet {
    const char *key, *title;
    const struct sheet_column *columns;
    size_t column_count;
    struct arena memory;
    VEC(struct sheet_value) values; /* row by row */
    struct text notes;              /* below the table, for people */
    bool failed;
};

void sheet_words(struct sheet *s, enum paint p, const char *words);
void sheet_number(struct sheet *s, enum paint p, double number);
void sheet_free(struct sheet *s);

struct sheet_exporter {
    const char *name;
    bool whole; /* takes every sheet; else only the one that was asked for */
    void (*begin)(struct text *out);
    void (*add)(const struct sheet *s, struct text *out);
    void (*end)(struct text *out);
};

/* Ends with a row without a name. */
extern const struct sheet_exporter sheet_exporters[];
const struct sheet_exporter *sheet_exporter_find(const char *name);

#endif
