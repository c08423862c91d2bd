/* Kinds of ops as functions of numbers, written once more and apart from the device's. */
#include "device/reference/evaluate.h"

#define A v[0]
#define B v[1]
#define C v[2]

#define MEANING(name, expression)                                                                            \
    static double name##_double(const double *v)                                                             \
    {                                                                                                        \
        return (expression);                                                                                 \
    }

#define SIGMOID(x) (1 / (1 + exp(-(x))))
#define GELU_SCALE sqrt(2 / 3.14159265358979323846)

/* NaN stays NaN. */
MEANING(max, A != A || A > B ? A : B)
MEANING(min, A != A || A < B ? A : B)
MEANING(same, A)

/* Kinds that are one expression of their elements: id, name, expression. */
#define ELEMENTS(X)                                                                                          \
    X(ADD, add, A + B)                                                                                       \
    X(SUB, sub, A - B)                                                                                       \
    X(MUL, mul, A *B)                                                                                        \
    X(DIV, div, A / B)                                                                                       \
    X(POW, pow, pow(A, B))                                                                                   \
    X(NEG, neg, -A)                                                                                          \
    X(ABS, abs, fabs(A))                                                                                     \
    X(EXP, exp, exp(A))                                                                                      \
    X(LOG, log, log(A))                                                                                      \
    X(SQRT, sqrt, sqrt(A))                                                                                   \
    X(RSQRT, rsqrt, 1 / sqrt(A))                                                                             \
    X(RECIPROCAL, reciprocal, 1 / A)                                                                         \
    X(RELU, relu, A > 0 ? A : 0)                                                                             \
    X(GELU, gelu, A *(0.5 + 0.5 * tanh(GELU_SCALE * (A + 0.044715 * A * A * A))))                            \
    X(SILU, silu, A *SIGMOID(A))                                                                             \
    X(SIGMOID, sigmoid, SIGMOID(A))                                                                          \
    X(TANH, tanh, tanh(A))                                                                                   \
    X(GREATER, greater, A > B ? 1 : 0)                                                                       \
    X(COS, cos, cos(A))                                                                                      \
    X(SIN, sin, sin(A))                                                                                      \
    X(ERF, erf, erf(A))                                                                                      \
    X(LOG1P, log1p, log1p(A))                                                                                \
    X(EXPM1, expm1, expm1(A))                                                                                \
    X(CBRT, cbrt, cbrt(A))                                                                                   \
    X(ATAN2, atan2, atan2(A, B))                                                                             \
    X(FLOOR, floor, floor(A))                                                                                \
    X(CEIL, ceil, ceil(A))                                                                                   \
    X(ROUND, round, nearbyint(A))                                                                            \
    X(SIGN, sign, A > 0 ? 1 : A < 0 ? -1 : A)                                                                \
    X(IS_FINITE, is_finite, A - A == 0 ? 1 : 0)                                                              \
    X(GELU_ERF, gelu_erf, A *(0.5 + 0.5 * erf(A / sqrt(2))))                                                 \
    X(EQ, eq, A == B ? 1 : 0)                                                                                \
    X(NE, ne, A == B ? 0 : 1)                                                                                \
    X(LT, lt, B > A ? 1 : 0)                                                                                 \
    X(LE, le, B >= A ? 1 : 0)                                                                                \
    X(GE, ge, A >= B ? 1 : 0)                                                                                \
    X(AND, both, A == 0 || B == 0 ? 0 : 1)                                                                   \
    X(OR, either, A == 0 && B == 0 ? 0 : 1)                                                                  \
    X(XOR, one_of, (A == 0) == (B == 0) ? 0 : 1)                                                             \
    X(NOT, none, A == 0 ? 1 : 0)                                                                             \
    X(REM, rem, fmod(A, B))                                                                                  \
    X(CLAMP, clamp, max_double(v) != max_double(v) || max_double(v) < C ? max_double(v) : C)                 \
    X(WHERE, where, A != 0 ? B : C)

#define ELEMENT_FUNCTION(id, name, expression) MEANING(name, expression)
ELEMENTS(ELEMENT_FUNCTION)

/* log(e^a + e^b) without overflow; the neutral element is the least number of fp32, from which others can be
 * subtracted. */
static double powers_double(const double *v)
{
    double top = A > B || A != A ? A : B, low = A > B || A != A ? B : A;
    if (top != top || low != low) return NAN;
    if (top <= -(double)FLT_MAX) return -(double)FLT_MAX;
    return isinf(top) ? top : top + log1p(exp(low - top));
}

static const struct meaning_fold total = {0, add_double, .adds = true};
static const struct meaning_fold mean = {0, add_double, .adds = true, .divides = true};
static const struct meaning_fold powers = {-(double)FLT_MAX, powers_double, .adds = false};
static const struct meaning_fold largest = {-INFINITY, max_double, .adds = false};
static const struct meaning_fold smallest = {INFINITY, min_double, .adds = false};
static const struct meaning_fold product = {1, mul_double, .multiplies = true};
static const struct meaning_fold any = {0, either_double, .adds = false};
static const struct meaning_fold all = {1, both_double, .adds = false};

/* clang-format off */
#define OF(name) .in_double = name##_double

#define ELEMENT_ENTRY(id, name, expression) [LX_KIND_##id] = {OF(name)},
static const struct meaning meanings[LX_KIND_COUNT] = {
    ELEMENTS(ELEMENT_ENTRY)
    [LX_KIND_MAX]        = {OF(max), .fold = &largest},
    [LX_KIND_MIN]        = {OF(min), .fold = &smallest},
    [LX_KIND_SUM]        = {.fold = &total},
    [LX_KIND_MEAN]       = {.fold = &mean},
    [LX_KIND_LOGSUMEXP]  = {.fold = &powers},
    [LX_KIND_PROD]       = {.fold = &product},
    [LX_KIND_ANY]        = {.fold = &any},
    [LX_KIND_ALL]        = {.fold = &all},
    [LX_KIND_ARGMAX]     = {.fold = &largest},
    [LX_KIND_ARGMIN]     = {.fold = &smallest},
    [LX_KIND_SCAN]       = {OF(same)},
    [LX_KIND_IOTA]       = {OF(same)},
    [LX_KIND_CONSTANT]   = {OF(same)},
    [LX_KIND_SHL]        = {OF(same)},
    [LX_KIND_SHR]        = {OF(same)},
    [LX_KIND_SAR]        = {OF(same)},
    [LX_KIND_BITCAST]    = {OF(same)},
    [LX_KIND_CLONE]      = {OF(same)},
    [LX_KIND_CAST]       = {OF(same)},
    [LX_KIND_MATMUL]     = {OF(mul), .fold = &total},
    [LX_KIND_BLEND]      = {OF(mul), .fold = &total},
    [LX_KIND_RESTICKIFY] = {OF(same)},
    [LX_KIND_SLICE]      = {OF(same)},
    [LX_KIND_SHIFT]      = {OF(same)},
    [LX_KIND_INSERT]     = {OF(same)},
    [LX_KIND_RESHAPE]    = {OF(same)},
    [LX_KIND_CONCAT]     = {OF(same)},
    [LX_KIND_PAD]        = {OF(same)},
    [LX_KIND_TOPK]       = {OF(same)},
    [LX_KIND_TOPK_INDEX] = {OF(same)},
    [LX_KIND_SORT]       = {OF(same)},
    [LX_KIND_SORT_INDEX] = {OF(same)},
    [LX_KIND_GATHER]     = {OF(same)},
    [LX_KIND_DYNAMIC_SLICE] = {OF(same)},
    [LX_KIND_DYNAMIC_INSERT] = {OF(same)},
    [LX_KIND_SCATTER]    = {OF(same)},
};
/* clang-format on */

const struct meaning *meaning_of(const struct lx_kind *kind)
{
    if ((unsigned)kind->id >= LX_KIND_COUNT) return NULL;
    const struct meaning *m = &meanings[kind->id];
    bool folds = kind->traits & (LX_REDUCES | LX_CONTRACTS),
         by_element = !(kind->traits & LX_REDUCES) || kind->traits & LX_POINTWISE;
    return (m->in_double || !by_element) && (m->fold || !folds) ? m : NULL;
}

bool meanings_known(const struct lx_graph *g, lx_status *st)
{
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        if (meaning_of(op->kind) || (op->kind->traits & LX_MIXES)) continue;
        return status_set_at(st, LX_E_UNSUPPORTED, g->file, op->line, 0,
                             "op %s: nobody has written down what the kind %s computes; give it a row in "
                             "device/reference/reference_numbers.c",
                             op->name, op->kind->name);
    }
    return true;
}

/* Kinds of ops as functions of whole numbers, written apart from the device's: exact, with wrapping. */

#define INTEGER(name, expression)                                                                            \
    static whole_number name##_integer(whole_number a, whole_number b, whole_number c, int width)            \
    {                                                                                                        \
        (void)a, (void)b, (void)c, (void)width;                                                              \
        return (whole_number)(expression);                                                                   \
    }

/* By repeated multiplication; a negative power is a power of 1 / a, toward zero, and all bits where a is
 * 0. */
static uint64_t reference_numbers_power(whole_number a, whole_number b)
{
    uint64_t n = 1;
    if (b < 0 && a == 0) return UINT64_MAX;
    if (b < 0 && a != 1 && a != -1) return 0;
    if (a == 0 || a == 1) return b == 0 ? 1 : (uint64_t)a;
    uint64_t times = (uint64_t)(b < 0 ? -b : b);
    for (int bit = 63; bit >= 0; bit--) {
        n *= n;
        if (times >> bit & 1) n *= (uint64_t)a;
    }
    return n;
}

static whole_number unsigned_bits(whole_number a, int width)
{
    whole_number span = (whole_number)1 << width, rest = a % span;
    return rest < 0 ? rest + span : rest;
}

/* Multiplied or divided by 2 so many times, rounding toward minus infinity. */
static whole_number reference_numbers_halved(whole_number a, whole_number times)
{
    for (; times > 0; times--) a = (a - (a < 0 ? a % 2 != 0 : 0)) / 2;
    return a;
}

static uint64_t doubled(whole_number a, whole_number times)
{
    uint64_t n = (uint64_t)a;
    for (; times > 0; times--) n += n;
    return n;
}

#define OUT_OF(width) (b < 0 || b >= (width))

INTEGER(add, (uint64_t)a + (uint64_t)b)
INTEGER(sub, (uint64_t)a - (uint64_t)b)
INTEGER(mul, (uint64_t)a *(uint64_t)b)
INTEGER(div, b == 0 ? -1 : b == -1 ? -a : a / b)
INTEGER(rem, b == 0 ? a : b == -1 ? 0 : a - a / b * b)
INTEGER(pow, reference_numbers_power(a, b))
INTEGER(max, b > a ? b : a)
INTEGER(min, b < a ? b : a)
INTEGER(neg, -a)
INTEGER(abs, a > 0 ? a : -a)
INTEGER(relu, a < 0 ? 0 : a)
INTEGER(sign, a > 0 ? 1 : a < 0 ? -1 : 0)
INTEGER(yes, 1)
INTEGER(greater, b < a)
INTEGER(eq, a == b)
INTEGER(ne, a != b)
INTEGER(lt, a < b)
INTEGER(le, a <= b)
INTEGER(ge, b <= a)
INTEGER(and, width == 0 ? a != 0 && b != 0 : (a & b))
INTEGER(or, width == 0 ? a != 0 || b != 0 : (a | b))
INTEGER(xor, width == 0 ? (a == 0) != (b == 0) : (a ^ b))
INTEGER(not, width == 0 ? a == 0 : -a - 1)
INTEGER(shl, OUT_OF(width) ? 0 : doubled(a, b))
INTEGER(shr, OUT_OF(width) ? 0 : reference_numbers_halved(unsigned_bits(a, width), b))
INTEGER(sar, reference_numbers_halved(a, OUT_OF(width) ? width : b))
INTEGER(clamp, min_integer(max_integer(a, b, 0, 0), c, 0, 0))
INTEGER(where, a ? b : c)
INTEGER(same, a)
INTEGER(any, a != 0 || b != 0)
INTEGER(all, a != 0 && b != 0)

/* clang-format off */
#define WHOLE(id, name) [LX_KIND_##id] = {.element = name##_integer}
#define WHOLE_FOLD(id, name, begin) [LX_KIND_##id] = {.fold = name##_integer, .start = begin}

static const struct whole_meaning whole_meanings[LX_KIND_COUNT] = {
    WHOLE(ADD, add), WHOLE(SUB, sub), WHOLE(MUL, mul), WHOLE(DIV, div), WHOLE(REM, rem), WHOLE(POW, pow),
    WHOLE(NEG, neg), WHOLE(ABS, abs), WHOLE(RELU, relu), WHOLE(SIGN, sign), WHOLE(IS_FINITE, yes),
    WHOLE(FLOOR, same), WHOLE(CEIL, same), WHOLE(ROUND, same), WHOLE(GREATER, greater), WHOLE(EQ, eq),
    WHOLE(NE, ne), WHOLE(LT, lt), WHOLE(LE, le), WHOLE(GE, ge), WHOLE(AND, and), WHOLE(OR, or),
    WHOLE(XOR, xor), WHOLE(NOT, not), WHOLE(SHL, shl), WHOLE(SHR, shr), WHOLE(SAR, sar), WHOLE(CLAMP, clamp),
    WHOLE(WHERE, where), WHOLE(CLONE, same), WHOLE(BITCAST, same), WHOLE(CAST, same), WHOLE_FOLD(SUM, add, 0),
    WHOLE_FOLD(PROD, mul, 1), WHOLE_FOLD(ANY, any, 0), WHOLE_FOLD(ALL, all, 1),
    [LX_KIND_MAX] = {.element = max_integer, .fold = max_integer, .from_first = true},
    [LX_KIND_MIN] = {.element = min_integer, .fold = min_integer, .from_first = true},
    [LX_KIND_MATMUL] = {.element = mul_integer, .fold = add_integer},
};
/* clang-format on */

const struct whole_meaning *whole_meaning_of(const struct lx_kind *kind)
{
    const struct whole_meaning *m = &whole_meanings[kind->id];
    return m->element || m->fold ? m : NULL;
}
