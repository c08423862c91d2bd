/* Arithmetic of the kinds of ops, in fp32 on rows. Private to the stage. */
#pragma once

#include "device/memory/dtypes.h"

/* How an op treats elements. */
enum op_class {
    CLASS_POINTWISE,
    CLASS_REDUCTION,
    CLASS_CONTRACTION,
    CLASS_CHOICE,
    CLASS_RANKING,
    CLASS_BYTES
};

typedef void row_function(float *to, const float *a, const float *b, const float *c, int64_t count);

/* A sum (or maximum, ...): `row` folds a row into one number, `join` two partial results into one. */
struct reduction {
    float neutral;
    float (*row)(const float *row, int64_t count);
    void (*join)(float *to, const float *from, int64_t count);
    bool divides; /* at the end: times 1 / the number of elements */
};

struct arith {
    row_function *row;           /* NULL: not pointwise */
    const struct reduction *sum; /* NULL: it does not reduce */
    bool moves;                  /* it computes nothing */
    bool made;                   /* execute_bytes.c makes its whole output at once */
    bool whole;                  /* integers only; wide_arith.c computes it */
};

/* NULL: the kind has no arithmetic. Then it only mixes its operands (LX_MIXES), or the device cannot run
 * it. */
const struct arith *arith_of(const struct lx_kind *kind);
/* Can the device run every op? If not, `st` names the first that it cannot run. */
bool arith_known(const struct lx_graph *g, lx_status *st);
extern const struct reduction reduction_sum;

/* Ops known by their operands only: every word of the result depends on the words of all operands, so that a
 * wrong one shows. `bytes` of each input; the output is raw bytes, or elements of type `dtype`, which get
 * numbers from -1 to 1. Each result of an op has numbers of its own. The operands have room up to whole words
 * of 8 bytes, filled with zeros. */
struct mix_operand {
    const void *items;
    int64_t bytes;
};

void mix_bytes(const struct lx_op *op, int result, const struct mix_operand *inputs, void *to, int64_t bytes);
void mix_elements(const struct lx_op *op, int result, const struct mix_operand *inputs, enum lx_dtype dtype,
                  void *items, int64_t count);

/* Arithmetic beyond fp32: in fp64, and in whole numbers of two's complement.
 *
 * Rows are of wide numbers in both cases; each result is rounded to fp64, or brought into the range of its
 * type, at once. */

/* `t`: the type of the result. */
typedef wide_number wide_function(wide_number a, wide_number b, wide_number c, const struct number_type *t);

struct wide_fold {
    wide_number neutral;
    wide_function *join; /* of the fold so far and one more term */
};

struct wide_arith {
    wide_function *element; /* for a contraction: its terms; NULL: it only folds */
    const struct wide_fold *fold;
    int picks;    /* the place of the largest (1) or the least (-1) instead of a fold */
    bool divides; /* at the end: times 1 / the number of terms */
};

/* NULL: the device has no arithmetic for these numbers. */
const struct wide_arith *wide_arith_of(const struct lx_op *op, enum numbers numbers);
/* How an op that chooses combines the old element (a) with the new one (b). */
wide_function *wide_combine_of(const struct lx_op *op, enum numbers numbers);
