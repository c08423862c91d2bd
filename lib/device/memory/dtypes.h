/* Stored elements and their meaning, as fp32 and as fp64. Private to the stage.
 *
 * Numbers beyond fp32 are held as wide numbers, which have every fp64 and every integer of 64 bits to the
 * bit. */
#pragma once

#include "graph/graph.h"
#include "base/base.h"

/* A number with 64 bits or more; a whole number with room for sums and products of 64-bit ones. */
typedef long double wide_number;
_Static_assert(LDBL_MANT_DIG >= 64, "wide numbers have every integer of 64 bits");
__extension__ typedef __int128 whole_number;

/* How a type is stored, and how exact it is. */
struct number_type {
    int bits; /* in device memory */
    int item; /* bytes of an element in host order (4-bit elements are kept one per byte) */
    bool integer;
    double unit;       /* distance to the next number, relative to its power of two; integers: 1, absolute */
    float high, low;   /* integers: the range; others 0 */
    int digits, least; /* floats: bits of a number, and the exponent of its least step */
    void (*decode)(const void *from, int64_t at, int64_t count, float *to); /* `at`: in elements */
    void (*encode)(const float *from, int64_t count, void *to, int64_t at); /* rounds to nearest, even */
    void (*widen)(const void *from, int64_t at, int64_t count, double *to); /* NULL: fp32 has them all */
    void (*narrow)(const double *from, int64_t count, void *to, int64_t at);
};

extern const struct number_type number_types[LX_DTYPE_COUNT];

/* Elements to and from items in host order; the same bits but for 4-bit elements. */
void items_from_memory(const struct number_type *t, const void *from, int64_t at, int64_t count, void *items);
void items_to_memory(const struct number_type *t, const void *items, int64_t count, void *to, int64_t at);
/* Items to and from fp32. */
void items_decode(const struct number_type *t, const void *items, int64_t count, float *to);
void items_encode(const struct number_type *t, const float *from, int64_t count, void *items);
/* The same to and from fp64: one rounding, to nearest even; integers saturate. Integers of 64 bits are
 * rounded. */
void items_widen(const struct number_type *t, const void *items, int64_t count, double *to);
void items_narrow(const struct number_type *t, const double *from, int64_t count, void *items);
/* To and from wide numbers, which are exact. */
void numbers_to_wide(const struct number_type *t, const void *from, int64_t at, int64_t count,
                     wide_number *to);
void numbers_from_wide(const struct number_type *t, const wide_number *from, int64_t count, void *to,
                       int64_t at);
void items_to_wide(const struct number_type *t, const void *items, int64_t count, wide_number *to);
void items_from_wide(const struct number_type *t, const wide_number *from, int64_t count, void *items);

/* The numbers that an op computes with: fp32; fp64 where an operand or the result has it (and for casts
 * between integers and others); or whole numbers of the width of its result. */
enum numbers { NUMBERS_FP32, NUMBERS_FP64, NUMBERS_INTEGER };
enum numbers op_numbers(const struct lx_graph *g, const struct lx_op *op);
/* The type as which an op takes its operand (inputs, then the output): a bitcast takes bits. */
const struct number_type *op_number_type(const struct lx_graph *g, const struct lx_op *op, int operand);
/* The low bits of a whole number, as a number of the type: two's complement; for a truth, whether it is not
 * 0. */
wide_number number_wrapped(const struct number_type *t, whole_number n);
/* A whole number from a wide one. */
whole_number number_whole(wide_number x);
/* A number of a pattern, exact if it is whole; the constant of an op. */
wide_number number_stated(double value, int64_t whole);
wide_number op_constant(const struct lx_op *op);
/* Rounded to `digits` bits, the least step being 2^least. */
double number_rounded(double x, int digits, int least);
