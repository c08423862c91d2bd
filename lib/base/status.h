/* What went wrong, where, and what to do about it.
 *
 * Every function of the library that can fail takes an `lx_status *` as its last argument and
 * returns false (or NULL) after filling it in. The library never prints: the caller decides what a
 * person sees. The table below is the one list of codes: name, word shown to people and written in
 * JSON and in `expect` of patterns, exit code of the program. */
#ifndef LX_BASE_STATUS_H
#define LX_BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#define LX_CODES(X)                                                                                          \
    X(LX_OK, "ok", 0)                                                                                        \
    X(LX_E_NO, "no", 1)                     /* the question was answered, and the answer is no */            \
    X(LX_E_USAGE, "usage", 2)               /* the command line is wrong */                                  \
    X(LX_E_IO, "io", 2)                     /* a file cannot be read or written */                           \
    X(LX_E_SYNTAX, "syntax", 2)             /* not JSON, not CSV */                                          \
    X(LX_E_SCHEMA, "schema", 2)             /* a key missing, unknown or of the wrong type */                \
    X(LX_E_RANGE, "range", 2)               /* a number outside what it may be */                            \
    X(LX_E_LIMIT, "limit", 2)               /* the input is larger than the program takes on */              \
    X(LX_E_DUPLICATE, "duplicate", 2)       /* a name or key used twice */                                   \
    X(LX_E_UNKNOWN_NAME, "unknown_name", 2) /* a tensor, buffer, device or solver nobody declared */         \
    X(LX_E_UNKNOWN_KIND, "unknown_kind", 2) /* an op kind or dtype that does not exist */                    \
    X(LX_E_EINSUM, "einsum", 2)             /* the index string does not fit the operands */                 \
    X(LX_E_SHAPE, "shape", 2)               /* one index variable with two extents */                        \
    X(LX_E_ROLE, "role", 2)                 /* a tensor used against its role */                             \
    X(LX_E_CYCLE, "cycle", 2)               /* no order of the ops exists */                                 \
    X(LX_E_ORDER, "order", 2)               /* a read before the write, though an order exists */            \
    X(LX_E_MODEL, "model", 2)               /* a buffer list that describes no possible program */           \
    X(LX_E_LAYOUT, "layout", 2)          /* no stick layout lets an op read its operands */                  \
    X(LX_E_SPAN, "span", 2)              /* a core would address more of a tensor than it can */             \
    X(LX_E_TWO_REDUCTIONS, "two_reductions", 2) /* more than one reduction variable would be split */        \
    X(LX_E_STICK_SPAN, "stick_span_conflict", 2) /* whole sticks and the span limit exclude each other */    \
    X(LX_E_CORES, "cores", 2)            /* a core count that the device does not have */                    \
    X(LX_E_DOMAIN, "domain", 2)          /* allowed split factors exclude what is needed */                  \
    X(LX_E_HINT, "hint", 2)              /* a wanted split that cannot be */                                 \
    X(LX_E_UNSUPPORTED, "unsupported", 2) /* an access or a dimension that cannot be planned */              \
    X(LX_E_MISMATCH, "mismatch", 2)         /* a plan that does not belong to its pattern */                 \
    X(LX_E_MEMORY, "memory", 3)             /* the machine has no memory left */                             \
    X(LX_E_INTERNAL, "internal", 3)         /* a fault of ours */

#define LX_CODE_ENUM(id, word, exit_code) id,
enum lx_code { LX_CODES(LX_CODE_ENUM) LX_CODE_COUNT };
#undef LX_CODE_ENUM

typedef struct lx_status {
    enum lx_code code;
    int line, column; /* 1-based; 0 where the error has no place */
    char file[256];
    char text[768];
} lx_status;

const char *lx_code_word(enum lx_code code);
int lx_code_exit(enum lx_code code);
/* The code of that word, or LX_CODE_COUNT. */
enum lx_code lx_code_find(const char *word);

/* "FILE:LINE:COL: text", or what of it is known. Always terminated, returns `out`. */
const char *lx_status_describe(const lx_status *st, char *out, size_t size);

#endif
