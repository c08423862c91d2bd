/* Kinds of ops, one row of kinds.def each. Their arithmetic is in arrays by id: on the device
 * (device/execute/arith.c, wide_arith.c) and independently in the reference
 * (device/reference/reference_numbers.c). */
#pragma once

#include <stdbool.h>

enum { LX_MAX_INPUTS = 32, LX_MAX_OUTPUTS = 32, LX_MAX_OPERANDS = LX_MAX_INPUTS + LX_MAX_OUTPUTS };

enum lx_kind_traits {
    LX_POINTWISE = 1 << 0, /* each output element from elements at the same indices */
    LX_REDUCES = 1 << 1,   /* one input, some indices reduced (sum, max, ...) */
    LX_CONTRACTS = 1 << 2, /* two inputs, einsum contraction */
    LX_VIEW = 1 << 3,      /* moves a rectangular part: slice, shift, insert */
    LX_OPAQUE = 1 << 4,    /* unknown index map */
    LX_EXTERN = 1 << 5,    /* runs on the host: reads and writes HBM only */
    LX_IN_PLACE = 1 << 6,  /* may write its output over an input that dies with the op */
    LX_MIXES = 1 << 7,     /* unknown arithmetic: the device mixes the bytes of the operands */
    LX_WIPES = 1 << 8,     /* uses the scratchpads itself: their contents are lost */
    LX_ALTERS = 1 << 9,    /* changes part of an input in place */
    LX_CHOOSES = 1 << 10,  /* index operands select which elements of another operand are read or written */
    LX_PLACES = 1 << 11,   /* moves elements of its inputs: concat, pad */
    LX_RANKS = 1 << 12,    /* orders elements along an axis */
    LX_REAL = 1 << 13,     /* a function of reals: fractions even for integer operands */
    LX_TRUTH = 1 << 14,    /* the result is 0 or 1, in any element type */
    LX_OFF_DEVICE = LX_OPAQUE | LX_MIXES | LX_EXTERN,
    LX_ELEMENTWISE = LX_POINTWISE | LX_IN_PLACE,
};

/* Operands that must be positive, one bit each; generated data respects them. */
enum lx_kind_domain { LX_ANY_NUMBER = 0, LX_FIRST_ABOVE_0 = 1 << 0, LX_SECOND_ABOVE_0 = 1 << 1 };

/* The quantity to which a kind's rounding error is relative. */
enum lx_kind_error {
    LX_ERROR_NONE,       /* no rounding: the result is an element of an operand, or 0 or 1 */
    LX_ERROR_OF_RESULT,  /* the result */
    LX_ERROR_OF_OPERAND, /* the first operand: parts of its magnitude cancel */
    LX_ERROR_OF_TERMS,   /* the absolute terms of a sum, each rounded once per addition */
    LX_ERROR_OF_PRODUCT, /* the result, once per multiplication; for tiny results also the factors above 1 */
    LX_ERROR_OF_POWERS,  /* 1 per addition of powers of e, and the largest number per logarithm */
};

#define LX_KIND(id, name, traits, least, most, value, positive, ulps, error, help) LX_KIND_##id,
enum lx_kind_id {
#include "graph/kinds.def"
    LX_KIND_COUNT
};
#undef LX_KIND

struct lx_kind {
    enum lx_kind_id id;
    const char *name;
    unsigned traits;
    int least_inputs, most_inputs;
    bool takes_value;  /* a constant may replace one input */
    unsigned positive; /* bits of enum lx_kind_domain */
    /* Error bound of the device's fp32 result against the exact result, in units of 2^-23 of the quantity
     * that `error` names. 0.5 is one IEEE 754 rounding, more is a formula. For a sum: in addition to its
     * additions. */
    double ulps;
    enum lx_kind_error error;
    const char *help;
};

/* NULL: unknown kind. */
const struct lx_kind *lx_kind_at(enum lx_kind_id id);
const struct lx_kind *lx_kind_find(const char *name);
