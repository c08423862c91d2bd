/* Tables of functions per kind: of fp64, and of whole numbers. */
#include "device/execute/arith.h"

/* ---- fp64 ---- */

#define WIDE(name, expression)                                                                               \
    static wide_number name##_wide(wide_number x, wide_number y, wide_number z, const struct number_type *t) \
    {                                                                                                        \
        double a = (double)x, b = (double)y, c = (double)z;                                                  \
        (void)a, (void)b, (void)c, (void)t;                                                                  \
        return (wide_number)(double)(expression);                                                            \
    }

/* Moves: nothing is computed. */
#define MOVED(name, expression)                                                                              \
    static wide_number name##_wide(wide_number a, wide_number b, wide_number c, const struct number_type *t) \
    {                                                                                                        \
        (void)a, (void)b, (void)c, (void)t;                                                                  \
        return (expression);                                                                                 \
    }

#define LARGER(x, y)  ((x) > (y) || (x) != (x) ? (x) : (y))
#define SMALLER(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))

WIDE(add, a + b)
WIDE(sub, a - b)
WIDE(mul, a *b)
WIDE(div, a / b)
WIDE(pow, pow(a, b))
WIDE(max, LARGER(a, b))
WIDE(min, SMALLER(a, b))
WIDE(neg, -a)
WIDE(abs, fabs(a))
WIDE(exp, exp(a))
WIDE(log, log(a))
WIDE(sqrt, sqrt(a))
WIDE(rsqrt, 1 / sqrt(a))
WIDE(reciprocal, 1 / a)
WIDE(relu, a > 0 ? a : 0)
WIDE(gelu, 0.5 * a * (1 + tanh(0.79788456080286536 * (a + 0.044715 * a * a * a))))
WIDE(silu, a / (1 + exp(-a)))
WIDE(sigmoid, 1 / (1 + exp(-a)))
WIDE(tanh, tanh(a))
WIDE(cos, cos(a))
WIDE(sin, sin(a))
WIDE(erf, erf(a))
WIDE(expm1, expm1(a))
WIDE(cbrt, cbrt(a))
WIDE(atan2, atan2(a, b))
WIDE(log1p, log1p(a))
WIDE(floor, floor(a))
WIDE(ceil, ceil(a))
WIDE(round, rint(a))
WIDE(sign, a > 0 ? 1 : a < 0 ? -1 : a)
WIDE(is_finite, isfinite(a) ? 1 : 0)
WIDE(gelu_erf, 0.5 * a * (1 + erf(a * 0.70710678118654752)))
WIDE(greater, a > b)
WIDE(eq, a == b)
WIDE(ne, a != b)
WIDE(lt, a < b)
WIDE(le, a <= b)
WIDE(ge, a >= b)
WIDE(and, a != 0 && b != 0)
WIDE(or, a != 0 || b != 0)
WIDE(xor, (a != 0) != (b != 0))
WIDE(not, a == 0)
WIDE(rem, fmod(a, b))
WIDE(clamp, SMALLER(LARGER(a, b), c))
MOVED(where, a != 0 ? b : c)
MOVED(copy, a)
MOVED(second, b)
/* Toward zero for whole results; a truth is whether the number is not 0. */
MOVED(cast, t->integer &&t != &number_types[LX_BOOL] ? truncl(a) : a)
WIDE(powers, LARGER(a, b) <= -DBL_MAX || isinf(LARGER(a, b)) || a != a || b != b
                 ? LARGER(a, b)
                 : LARGER(a, b) + log1p(exp(-fabs(a - b))))

/* ---- whole numbers ---- */

#define WHOLE(name, expression)                                                                              \
    static wide_number name##_whole(wide_number x, wide_number y, wide_number z,                             \
                                    const struct number_type *t)                                             \
    {                                                                                                        \
        whole_number a = number_whole(x), b = number_whole(y), c = number_whole(z);                          \
        (void)a, (void)b, (void)c;                                                                           \
        return number_wrapped(t, (whole_number)(expression));                                                \
    }

#define IS_TRUTH   (t == &number_types[LX_BOOL])
#define SHIFTS_OUT (b < 0 || b >= t->bits)

static uint64_t wide_arith_power(whole_number a, whole_number b)
{
    uint64_t result = 1, base = (uint64_t)a;
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? (uint64_t)-1 : 1) : a == 0 ? (uint64_t)-1 : 0;
    for (; b > 0; b >>= 1, base *= base)
        if (b & 1) result *= base;
    return result;
}

WHOLE(add, a + b)
WHOLE(sub, a - b)
WHOLE(mul, (uint64_t)a *(uint64_t)b)
WHOLE(div, b == 0 ? -1 : a / b)
WHOLE(rem, b == 0 ? a : a % b)
WHOLE(pow, wide_arith_power(a, b))
WHOLE(max, a > b ? a : b)
WHOLE(min, a < b ? a : b)
WHOLE(neg, -a)
WHOLE(abs, a < 0 ? -a : a)
WHOLE(relu, a > 0 ? a : 0)
WHOLE(sign, (a > 0) - (a < 0))
WHOLE(one, 1)
WHOLE(greater, a > b)
WHOLE(eq, a == b)
WHOLE(ne, a != b)
WHOLE(lt, a < b)
WHOLE(le, a <= b)
WHOLE(ge, a >= b)
WHOLE(and, IS_TRUTH ? a &&b : a &b)
WHOLE(or, IS_TRUTH ? a || b : a | b)
WHOLE(xor, IS_TRUTH ? (a != 0) != (b != 0) : a ^ b)
WHOLE(not, IS_TRUTH ? a == 0 : ~a)
WHOLE(shl, SHIFTS_OUT ? 0 : (uint64_t)a << b)
WHOLE(shr, SHIFTS_OUT ? 0 : ((uint64_t)a &(UINT64_MAX >> (64 - t->bits))) >> b)
WHOLE(sar, SHIFTS_OUT ? -(a < 0) : a >> b)
WHOLE(clamp, (a > b ? a : b) < c ? (a > b ? a : b) : c)
WHOLE(copy, a)
WHOLE(any, a != 0 || b != 0)
WHOLE(all, a != 0 && b != 0)

/* The condition may be fractional. */
static wide_number where_whole(wide_number x, wide_number y, wide_number z, const struct number_type *t)
{
    return number_wrapped(t, number_whole(x != 0 ? y : z));
}

/* The fold begins with an infinity. */
static wide_number largest_whole(wide_number x, wide_number y, wide_number z, const struct number_type *t)
{
    (void)z, (void)t;
    return x > y ? x : y;
}

static wide_number smallest_whole(wide_number x, wide_number y, wide_number z, const struct number_type *t)
{
    (void)z, (void)t;
    return x < y ? x : y;
}

static const struct wide_fold sum_wide = {0, add_wide}, sum_whole = {0, add_whole},
                              times_wide = {1, mul_wide}, times_whole = {1, mul_whole},
                              largest = {-INFINITY, max_wide}, smallest = {INFINITY, min_wide},
                              largest_int = {-INFINITY, largest_whole},
                              smallest_int = {INFINITY, smallest_whole}, any_fold_wide = {0, or_wide},
                              all_fold_wide = {1, and_wide}, any_fold_whole = {0, any_whole},
                              all_fold_whole = {1, all_whole}, powers_fold = {-DBL_MAX, powers_wide};

/* clang-format off */
#define BOTH(id, name) [LX_KIND_##id] = {{.element = name##_wide}, {.element = name##_whole}}
#define FP64(id, name) [LX_KIND_##id] = {{.element = name##_wide}, {.element = NULL}}
#define BITS(id, name) [LX_KIND_##id] = {{.element = NULL}, {.element = name##_whole}}
#define FOLD(id, in_wide, in_whole) [LX_KIND_##id] = {{.fold = &in_wide}, {.fold = &in_whole}}

static const struct wide_arith table[LX_KIND_COUNT][2] = {
    BOTH(ADD, add), BOTH(SUB, sub), BOTH(MUL, mul), BOTH(DIV, div), BOTH(POW, pow), BOTH(NEG, neg),
    BOTH(ABS, abs),
    FP64(EXP, exp), FP64(LOG, log), FP64(SQRT, sqrt), FP64(RSQRT, rsqrt), FP64(RECIPROCAL, reciprocal),
    BOTH(RELU, relu), FP64(GELU, gelu), FP64(GELU_ERF, gelu_erf), FP64(SILU, silu), FP64(SIGMOID, sigmoid),
    FP64(TANH, tanh), FP64(COS, cos), FP64(SIN, sin), FP64(ERF, erf), FP64(LOG1P, log1p), FP64(EXPM1, expm1),
    FP64(CBRT, cbrt), FP64(ATAN2, atan2), BOTH(SIGN, sign),
    BOTH(GREATER, greater), BOTH(EQ, eq), BOTH(NE, ne), BOTH(LT, lt), BOTH(LE, le), BOTH(GE, ge),
    BOTH(AND, and), BOTH(OR, or), BOTH(XOR, xor), BOTH(NOT, not), BOTH(REM, rem), BITS(SHL, shl),
    BITS(SHR, shr), BITS(SAR, sar), BOTH(CLAMP, clamp), BITS(BITCAST, copy), BOTH(WHERE, where),
    BOTH(CLONE, copy),
    [LX_KIND_CAST] = {{.element = cast_wide}, {.element = copy_whole}},
    BOTH(CONCAT, copy), BOTH(PAD, copy), BOTH(RESTICKIFY, copy), BOTH(SLICE, copy), BOTH(SHIFT, copy),
    BOTH(INSERT, copy), BOTH(GATHER, copy), BOTH(SCATTER, copy), BOTH(DYNAMIC_SLICE, copy),
    BOTH(DYNAMIC_INSERT, copy),
    FP64(TOPK, copy), FP64(TOPK_INDEX, copy), FP64(SORT, copy), FP64(SORT_INDEX, copy),
    /* Integers are whole and finite. */
    [LX_KIND_FLOOR] = {{.element = floor_wide}, {.element = copy_whole}},
    [LX_KIND_CEIL] = {{.element = ceil_wide}, {.element = copy_whole}},
    [LX_KIND_ROUND] = {{.element = round_wide}, {.element = copy_whole}},
    [LX_KIND_IS_FINITE] = {{.element = is_finite_wide}, {.element = one_whole}},
    FOLD(SUM, sum_wide, sum_whole), FOLD(PROD, times_wide, times_whole),
    FOLD(ANY, any_fold_wide, any_fold_whole), FOLD(ALL, all_fold_wide, all_fold_whole),
    [LX_KIND_ARGMAX] = {{.fold = &largest, .picks = 1}, {.fold = NULL}},
    [LX_KIND_ARGMIN] = {{.fold = &smallest, .picks = -1}, {.fold = NULL}},
    [LX_KIND_MEAN] = {{.fold = &sum_wide, .divides = true}, {.fold = NULL}},
    [LX_KIND_LOGSUMEXP] = {{.fold = &powers_fold}, {.fold = NULL}},
    [LX_KIND_MAX] = {{.element = max_wide, .fold = &largest}, {.element = max_whole, .fold = &largest_int}},
    [LX_KIND_MIN] = {{.element = min_wide, .fold = &smallest}, {.element = min_whole, .fold = &smallest_int}},
    [LX_KIND_MATMUL] = {{.element = mul_wide, .fold = &sum_wide}, {.element = mul_whole, .fold = &sum_whole}},
};
/* clang-format on */

const struct wide_arith *wide_arith_of(const struct lx_op *op, enum numbers numbers)
{
    if ((unsigned)op->kind->id >= LX_KIND_COUNT || numbers == NUMBERS_FP32) return NULL;
    const struct wide_arith *a = &table[op->kind->id][numbers == NUMBERS_INTEGER];
    bool folds = op->reduces || op->kind->traits & LX_CONTRACTS;
    bool elements = !op->reduces || op->kind->traits & LX_CONTRACTS;
    return (a->element || !elements) && (a->fold || !folds) ? a : NULL;
}

wide_function *wide_combine_of(const struct lx_op *op, enum numbers numbers)
{
    static wide_function *const rows[LX_COMBINE_COUNT][2] = {
        [LX_COMBINE_REPLACE] = {second_wide, second_wide}, [LX_COMBINE_ADD] = {add_wide, add_whole},
        [LX_COMBINE_MUL] = {mul_wide, mul_whole},          [LX_COMBINE_MIN] = {min_wide, min_whole},
        [LX_COMBINE_MAX] = {max_wide, max_whole},
    };
    bool combines = op->kind->id == LX_KIND_SCATTER && op->params;
    return rows[combines ? op->params->combine : LX_COMBINE_REPLACE][numbers == NUMBERS_INTEGER];
}
