/* A table: columns (column.h) over an array of rows, written as text, Markdown, CSV or JSON. Text and
 * Markdown are for people: rounded, with units, without columns that say nothing. CSV and JSON keep every
 * column, unrounded. */
#pragma once

#include "text/column.h"
#include "text/format.h"

struct table {
    const char *key, *title; /* its name in JSON; for people, above it. NULL: none */
    struct columns columns;
    const void *rows;
    size_t row_size, row_count;
    const char *notes; /* below it, for people; NULL: none */
};

/* A table of columns over an array of rows, or a pointer to the first. */
#define TABLE(the_columns, the_rows, count)                                                                  \
    ((struct table){.columns = (the_columns),                                                                \
                    .rows = (the_rows),                                                                      \
                    .row_size = sizeof *(the_rows),                                                          \
                    .row_count = (size_t)(count)})

/* A column without a heading, and one that may hide and says nothing, is not for people. */
bool people_see(const struct table *t, const struct column *c);
/* Headings and rows as text, two blanks before each. */
void table_add_text(const struct table *t, struct text *out);
/* From now on text is to fit into so many columns: those of the terminal that it goes to; 0: any number. */
void table_fit(int columns);
/* The rows as objects of JSON, one per line, `indent` blanks before each (-1: all on one line), no line
 * end after the last. */
void table_add_json_rows(const struct table *t, int indent, struct text *out);

struct exporter {
    const char *name;
    bool whole; /* takes every table; else only the requested one */
    const char *begin;
    /* One sentence above all tables, and lines that go with it, for people; NULL: it has no place for one. */
    void (*say)(const char *words, const char *lines, enum paint paint, struct text *out);
    void (*add)(const struct table *t, struct text *out);
    void (*end)(struct text *out); /* NULL: nothing */
};

/* Ends with a row without a name. */
extern const struct exporter exporters[];
const struct exporter *exporter_find(const char *name);

/* Sorts `count` rising numbers of rows of an array: by value where the column has one (unknown ones last), else
 * by words; rows of one value stay in the order of their numbers. */
void sort_rows(const struct column *c, const void *rows, size_t row_size, bool descending, int32_t *numbers,
               int32_t count);
