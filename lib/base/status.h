/* An error: its message, place and remedy.
 *
 * Every function of the library that can fail takes an `lx_status *` as its last argument and returns false
 * (or NULL) after filling it in. The library never prints; the caller does. The table below is the one list
 * of codes: name, word shown to people and written in JSON and in `expect` of patterns, exit code of the
 * program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define LX_CODES(X)                                                                                          \
    X(LX_OK, "ok", 0)                                                                                        \
    X(LX_E_NO, "no", 1)                           /* the answer is no */                                     \
    X(LX_E_USAGE, "usage", 2)                     /* the command line is wrong */                            \
    X(LX_E_IO, "io", 2)                           /* reading or writing a file failed */                     \
    X(LX_E_SYNTAX, "syntax", 2)                   /* not JSON, not CSV */                                    \
    X(LX_E_SCHEMA, "schema", 2)                   /* a key missing, unknown or of the wrong type */          \
    X(LX_E_RANGE, "range", 2)                     /* a number out of range */                                \
    X(LX_E_LIMIT, "limit", 2)                     /* the input is too large */                               \
    X(LX_E_DUPLICATE, "duplicate", 2)             /* a name or key used twice */                             \
    X(LX_E_UNKNOWN_NAME, "unknown_name", 2)       /* an undeclared tensor, buffer, device or solver */       \
    X(LX_E_UNKNOWN_KIND, "unknown_kind", 2)       /* an unknown op kind or dtype */                          \
    X(LX_E_EINSUM, "einsum", 2)                   /* the index string does not fit the operands */           \
    X(LX_E_SHAPE, "shape", 2)                     /* one index variable with two extents */                  \
    X(LX_E_ROLE, "role", 2)                       /* a tensor used against its role */                       \
    X(LX_E_CYCLE, "cycle", 2)                     /* no order of the ops exists */                           \
    X(LX_E_ORDER, "order", 2)                     /* a read before the write, though an order exists */      \
    X(LX_E_MODEL, "model", 2)                     /* a buffer list that describes no possible program */     \
    X(LX_E_LAYOUT, "layout", 2)                   /* no stick layout lets an op read its operands */         \
    X(LX_E_SPAN, "span", 2)                       /* a core would address more of a tensor than it can */    \
    X(LX_E_TWO_REDUCTIONS, "two_reductions", 2)   /* more than one reduction variable would be split */      \
    X(LX_E_STICK_SPAN, "stick_span_conflict", 2)  /* whole sticks and the span limit conflict */             \
    X(LX_E_CORES, "cores", 2)                     /* the device lacks that many cores */                     \
    X(LX_E_DOMAIN, "domain", 2)                   /* allowed split factors exclude a needed one */           \
    X(LX_E_HINT, "hint", 2)                       /* an impossible split hint */                             \
    X(LX_E_NEST, "nest", 2)                       /* an illegal nest */                                      \
    X(LX_E_UNSUPPORTED, "unsupported", 2)         /* an access or dimension that cannot be planned */        \
    X(LX_E_MISMATCH, "mismatch", 2)               /* a plan that does not belong to its pattern */           \
    X(LX_E_LAUNCH_MEMORY, "launch_memory", 2)     /* an operand in an unknown memory */                      \
    X(LX_E_LAUNCH_LAYOUT, "launch_layout", 2)     /* an operand with an unknown layout */                    \
    X(LX_E_LAUNCH_NO_SHARD, "launch_no_shard", 2) /* sharded on chip without a shard spec */                 \
    X(LX_E_LAUNCH_ALIGN, "launch_align", 2)       /* a shard that is not made of whole tiles */              \
    X(LX_E_LAUNCH_TILE_BYTES, "launch_tile_bytes", 2) /* a tile beyond the largest on chip */                \
    X(LX_E_LAUNCH_HALO, "launch_halo", 2)             /* an operand with a halo */                           \
    X(LX_E_LAUNCH_TILE_SHAPE, "launch_tile_shape", 2) /* a tile that is not two-dimensional */               \
    X(LX_E_LAUNCH_SHARD_AXES, "launch_shard_axes", 2) /* a shard without a usable grid over M and N */       \
    X(LX_E_LAUNCH_GRID, "launch_grid", 2)             /* a grid of tiles or cores that cannot be launched */ \
    X(LX_E_LAUNCH_FIELD, "launch_field", 2)           /* a runtime plan without a required field */          \
    X(LX_E_LAUNCH_VERSION, "launch_version", 2)       /* a runtime plan of no known version */               \
    X(LX_E_LAUNCH_RANGE, "launch_range", 2)           /* a range of cores beyond the grid */                 \
    X(LX_E_LAUNCH_START, "launch_start", 2)           /* a range of cores that starts below zero */          \
    X(LX_E_LAUNCH_KEY, "launch_key", 2)               /* work for a core not named "(y,x)" */                \
    X(LX_E_LOOP_DTYPE, "loop_dtype", 2)               /* 1: an element type that nests do not have */        \
    X(LX_E_LOOP_DIMENSION, "loop_dimension", 2)       /* 2: no loops, or lists of unequal length */          \
    X(LX_E_LOOP_FIRST_TOUCH, "loop_first_touch", 2)   /* 4: a first touch that is not unary */               \
    X(LX_E_LOOP_LAST_TOUCH, "loop_last_touch", 2)     /* 6: a last touch that is not unary */                \
    X(LX_E_LOOP_PRIMITIVE, "loop_primitive", 2)       /* 8: primitive loops that no primitive has */         \
    X(LX_E_LOOP_FIRST_EMPTY, "loop_first_empty", 2)   /* 9: a first touch of nothing */                      \
    X(LX_E_LOOP_MAIN_EMPTY, "loop_main_empty", 2)     /* 10: a main primitive of nothing */                  \
    X(LX_E_LOOP_LAST_EMPTY, "loop_last_empty", 2)     /* 11: a last touch of nothing */                      \
    X(LX_E_LOOP_ORDER, "loop_order", 2)               /* 12: not shared, then seq, then prim */              \
    X(LX_E_LOOP_STRIDE, "loop_stride", 2)             /* 13: strides that do not fit the type */             \
    X(LX_E_LOOP_SHARED_K, "loop_shared_k", 2)         /* 14: a sum that several threads would write */       \
    X(LX_E_STOPPED, "stopped", 130)                   /* the user, or the caller, asked to stop */           \
    X(LX_E_MEMORY, "memory", 3)                       /* the machine has no memory left */                   \
    X(LX_E_INTERNAL, "internal", 3)                   /* a bug in lxplan */

#define LX_CODE_ENUM(id, word, exit_code) id,
enum lx_code { LX_CODES(LX_CODE_ENUM) LX_CODE_COUNT };
#undef LX_CODE_ENUM

typedef struct lx_status {
    enum lx_code code;
    int line, column; /* 1-based; 0: no place */
    char file[256];
    char text[768];
} lx_status;

const char *lx_code_word(enum lx_code code);
int lx_code_exit(enum lx_code code);

/* "FILE:LINE:COL: text", or the known parts. Always terminated; returns `out`. */
const char *lx_status_describe(const lx_status *st, char *out, size_t size);
