/* Kinds of ops: what each one is, one row of kinds.def. What it computes stands elsewhere, in arrays by its
 * id: on the device (device/execute/arith.c, wide_arith.c) and once more, apart from it, in the reference
 * (device/reference/reference_numbers.c). */
#ifndef LX_GRAPH_KINDS_H
#define LX_GRAPH_KINDS_H

#include <stdbool.h>

enum { LX_MAX_INPUTS = 32, LX_MAX_OUTPUTS = 32, LX_MAX_OPERANDS = LX_MAX_INPUTS + LX_MAX_OUTPUTS };

enum lx_kind_traits {
    LX_POINTWISE = 1 << 0, /* each output element from the elements at the same indices */
    LX_REDUCES = 1 << 1,   /* one input, some indices summed (maximised, ...) away */
    LX_CONTRACTS = 1 << 2, /* two inputs, einsum contraction */
    LX_VIEW = 1 << 3,      /* moves a rectangular part: slice, shift, insert */
    LX_OPAQUE = 1 << 4,    /* only its operands are known, no index map */
    LX_EXTERN = 1 << 5,    /* runs off the device: reads and writes HBM only */
    LX_IN_PLACE = 1 << 6,  /* may write its output over an input that dies with it */
    LX_MIXES = 1 << 7,     /* nobody knows what it computes: the device mixes the bytes of its operands */
    LX_WIPES = 1 << 8,     /* uses the scratchpads for itself: what was in them is lost */
    LX_ALTERS = 1 << 9,    /* its result is an input with some of it changed: made in that input */
    LX_CHOOSES = 1 << 10,  /* operands with indices say which elements of another it reads or writes */
    LX_PLACES = 1 << 11,   /* puts elements of its inputs at other places: concat, pad */
    LX_RANKS = 1 << 12,    /* orders elements along an axis */
    LX_REAL = 1 << 13,     /* a function of real numbers: of whole ones it has fractions, too */
    LX_TRUTH = 1 << 14,    /* its result is 0 or 1, whatever type it is stored as */
    LX_OFF_DEVICE = LX_OPAQUE | LX_MIXES | LX_EXTERN,
    LX_ELEMENTWISE = LX_POINTWISE | LX_IN_PLACE,
};

/* Which operands must be above 0: data is made accordingly. A bit per operand. */
enum lx_kind_domain { LX_ANY_NUMBER = 0, LX_FIRST_ABOVE_0 = 1 << 0, LX_SECOND_ABOVE_0 = 1 << 1 };

/* What the rounding errors of a kind are relative to. */
enum lx_kind_error {
    LX_ERROR_NONE,       /* nothing is rounded: the result is an element of an operand, or 0 or 1 */
    LX_ERROR_OF_RESULT,  /* the result */
    LX_ERROR_OF_OPERAND, /* the first operand: parts of its size cancel */
    LX_ERROR_OF_TERMS,   /* the absolute terms of a sum, each of which is rounded once per addition */
    LX_ERROR_OF_PRODUCT, /* the result, once per multiplication, and the factors above 1 where it is tiny */
    LX_ERROR_OF_POWERS,  /* 1 for each addition of powers of e, and the largest number for each logarithm */
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
    bool takes_value;  /* a constant may stand for one more input */
    unsigned positive; /* of enum lx_kind_domain */
    /* How far the fp32 result of the device may be from the exact one of its operands, in units of 2^-23 of
     * what `error` names: 0.5 is one rounding as IEEE 754 wants it, more is a formula. Of a sum: beyond the
     * additions. */
    double ulps;
    enum lx_kind_error error;
    const char *help;
};

/* NULL: there is no such kind. */
const struct lx_kind *lx_kind_at(enum lx_kind_id id);
const struct lx_kind *lx_kind_find(const char *name);

#endif
