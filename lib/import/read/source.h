/* A cursor over the text of a model file, for readers of text.
 *
 * It knows its line and where that begins, so that a place costs nothing, however long lines are. A cursor
 * that has failed stays where it is and is at its end for everybody: readers may check once in a while.
 * Nothing here recurses; brackets nest to MODEL_MAX_DEPTH. */
#ifndef LX_IMPORT_SOURCE_H
#define LX_IMPORT_SOURCE_H

#include "import/model_parts.h"

struct source {
    struct lx_model *m;
    const char *at, *end, *line_start;
    int line;

    bool spans_comments; /* are there comments between slash-star and star-slash? */
    /* Asked at spaces outside of brackets: does what is balanced end here? NULL: it does not. */
    bool (*ends)(const struct source *s);
    bool failed;
    lx_status *st;
};

void source_begin(struct source *s, struct lx_model *m, const char *text, size_t length, lx_status *st);
int source_column(const struct source *s);
/* Fails at the cursor. Always false. */
bool source_fail(struct source *s, enum lx_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Over spaces and comments; `lines`: over ends of lines, too. */
void source_skip(struct source *s, bool lines);
bool source_ended(const struct source *s);
/* The character at the cursor (0 at the end), or the one `ahead` of it. */
char source_peek(const struct source *s);
/* Spaces (and lines) are skipped; is this text next? `take`: and goes past it. A word must end where it
 * ends. */
bool source_is(struct source *s, const char *text);
bool source_take(struct source *s, const char *text);
/* As take, and it must be there. */
bool source_want(struct source *s, const char *text);

/* The characters at the cursor that `belongs` holds for, as a string of the model; NULL (and failed):
 * none. `what` names it in the error. */
const char *source_name(struct source *s, bool (*belongs)(char c), const char *what);
/* A string in quotes, its escapes left as they are except for quotes and backslashes. */
const char *source_string(struct source *s);
/* Past anything up to a comma, a closing bracket or (unless `lines`) an end of line that is outside of all
 * brackets and strings. The text that was passed, without spaces around it, is in *from, *length. */
bool source_balanced(struct source *s, bool lines, const char **from, size_t *length);
/* The same, kept. */
const char *source_kept(struct source *s, bool lines);

/* A whole number with an optional sign. */
bool source_int(struct source *s, int64_t *out);
/* A number of any form: decimal (whole ones exactly in *whole, if they fit), inf, nan, true, false, 0x
 * bits of `element`. *is_whole: no point, exponent or word. */
bool source_number(struct source *s, enum model_element element, int64_t *whole, double *real,
                   bool *is_whole);
/* A complex number: the real part, the imaginary one. */
bool source_complex(struct source *s, enum model_element element, double part[2]);

/* The float that these bits are. */
double model_float_of_bits(enum model_element element, uint64_t bits);

bool source_is_digit(char c);
bool source_is_name(char c); /* letters, digits, _ . - $ */

#endif
