/* Reading text: a cursor, and the body that a reader of TTIR or HLO fills in.
 *
 * After a failure the cursor keeps its place, counts as ended, and gives empty names, zeros and a type
 * without dimensions, so readers check only in their loops. Nothing here recurses; brackets nest to
 * MODEL_MAX_DEPTH. */
#pragma once

#include "import/model_parts.h"

struct source {
    struct lx_model *m;
    const char *at, *end, *line_start;
    int line;

    bool spans_comments; /* comments between slash-star and star-slash are passed over */
    /* Called at spaces outside brackets: non-NULL if balanced text may end there. */
    bool (*ends)(const struct source *s);
    bool failed;
    lx_status *st;
};

struct span {
    const char *at;
    size_t length;
};

int source_column(const struct source *s);
/* Reports an error at the cursor. Always false. */
bool source_fail(struct source *s, enum lx_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Skips spaces and comments; `lines`: also line ends. */
void source_skip(struct source *s, bool lines);
bool source_ended(const struct source *s);
/* The character at the cursor, 0 at the end; `next` first skips spaces, comments and line ends. */
char source_peek(const struct source *s);
char source_next(struct source *s);
/* Is this text next, after spaces and lines? A word must match wholly. `take` moves past it, `want` fails if
 * it is missing. */
bool source_is(struct source *s, const char *text);
bool source_take(struct source *s, const char *text);
bool source_want(struct source *s, const char *text);

/* The next characters for which `belongs` holds, as a string of the model. `what` names it in errors. */
const char *source_name(struct source *s, bool (*belongs)(char c), const char *what);
bool source_is_digit(char c);
bool source_is_name(char c);  /* letters, digits, _ . - $ */
int source_hex_digit(char c); /* -1: none */
/* A string in quotes. Resolves only escaped quotes and backslashes. */
const char *source_string(struct source *s);
/* Skips to a comma, closing bracket or line end outside all brackets and strings; returns the text without
 * surrounding spaces. */
enum { OVER_LINES = 1, OVER_COMMAS = 2 };
struct span source_balanced(struct source *s, int over);
/* The same as a string of the model. */
const char *source_kept(struct source *s, int over);

/* A whole number with an optional sign. */
int64_t source_int(struct source *s);
/* An extent, -1 for "?"; `rank`: extents before it. */
int64_t source_extent(struct source *s, int rank);
/* A number: decimal, inf, nan, true, false, or 0x and the bits of `element`. */
struct source_number {
    int64_t whole;
    double real;
    bool is_whole; /* decimal, without point and exponent */
};
struct source_number source_number(struct source *s, enum model_element element);
/* Elements of a constant: one, or a list in brackets, which only group. True: "...", elided. */
bool source_elements(struct source *s, enum model_element element, const char *open, const char *close,
                     struct model_numbers *n);

/* A tensor type; fails if it is too large. */
const struct model_type *source_type(struct source *s, enum model_element e, int rank, const int64_t *extent);
/* Fails, naming both types, if two stated types of `name` differ by more than layout. */
void source_same_types(struct source *s, const struct model_type *a, const struct model_type *b,
                       const char *name);

/* A body being read. */
struct reader {
    struct source s;
    struct names values;
    VEC(struct model_op) ops;
    VEC(int32_t) list; /* values, for operands and results */
    VEC(struct model_attr) attrs;
    int32_t body;
};

void reader_begin(struct reader *r, struct lx_model *m, const char *text, size_t length, lx_status *st);
void reader_free(struct reader *r);
/* Begins the next body of the model. */
void reader_begin_body(struct reader *r);
/* Moves the ops to `body`, which becomes the model's. */
void reader_end_body(struct reader *r, struct model_body *body);
/* Adds a value of the body and pushes it to the list. */
void reader_add_value(struct reader *r, struct model_value v);
/* Pushes the value of that name; the cursor is behind the name. */
void reader_push_operand(struct reader *r, const char *name);
/* The list, or the attributes, as arrays of the model; empties them. */
const int32_t *reader_list(struct reader *r, int *count);
struct model_attrs reader_attrs(struct reader *r);
