/* Kinds of ops: what each one is, one row of kinds.def. What it computes stands elsewhere, in arrays by its id: on the
 * device (device/execute/arith.c) and once more, apart from it, in the reference (device/reference/reference_numbers.c). */
#ifndef LX_GRAPH_KINDS_H
#define LX_GRAPH_KINDS_H

#include <stdbool.h>

enum { LX_MAX_INPUTS = 32 };

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
    LX_OFF_DEVICE = LX_OPAQUE | LX_MIXES | LX_EXTERN,
    LX_ELEMENTWISE = LX_POINTWISE | LX_IN_PLACE,
};

/* Which operands must be above 0: data is made accordingly. A bit per operand. */
enum lx_kind_domain { LX_ANY_NUMBER = 0, LX_FIRST_ABOVE_0 = 1 << 0, LX_SECOND_ABOVE_0 = 1 << 1 };

/* How errors of operands show in the result: device/reference/tolerance.c has a function each. */
enum lx_carry {
    LX_CARRY_SUM,     /* they add up: no slope is steeper than 1 */
    LX_CARRY_STEEPER, /* slopes are a little above 1 at most */
    LX_CARRY_PRODUCT,
    LX_CARRY_QUOTIENT,
    LX_CARRY_EXP,
    LX_CARRY_LOG,
    LX_CARRY_SQRT,
    LX_CARRY_RSQRT,
    LX_CARRY_RECIPROCAL,
    LX_CARRY_CHOICE,  /* the first operand says which of the others it is */
    LX_CARRY_UNKNOWN, /* nothing is known of the slopes, or a decision may fall either way */
    LX_CARRY_TOTAL,   /* of elements that are summed */
    LX_CARRY_MEAN,
    LX_CARRY_CONTRACTION,
    LX_CARRY_MIXED, /* any error makes an altogether different result */
    LX_CARRY_COUNT
};

#define LX_KIND(id, name, traits, least, most, value, positive, ulps, carry, help) LX_KIND_##id,
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
    /* By how many units in the last place of fp32 two right results may differ. 0: the result is an element of an
     * operand, or 0 or 1, and nothing is rounded; 1: it is rounded once, as IEEE 754 wants it. */
    int ulps;
    enum lx_carry carry;
    const char *help;
};

/* NULL: there is no such kind. */
const struct lx_kind *lx_kind_at(enum lx_kind_id id);
const struct lx_kind *lx_kind_find(const char *name);

#endif
