/* Kinds of ops as functions of whole numbers, written down apart from those of the device: exact, whatever
 * wraps. */
#include "device/reference/meaning.h"

#define INTEGER(name, expression)                                                                            \
    static whole_number name##_integer(whole_number a, whole_number b, whole_number c, int width)            \
    {                                                                                                        \
        (void)a, (void)b, (void)c, (void)width;                                                              \
        return (whole_number)(expression);                                                                   \
    }

/* By repeated multiplication; a negative power is that of 1 / a, toward zero, and all bits where a is 0. */
static uint64_t reference_integers_power(whole_number a, whole_number b)
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

/* Times or divided by 2 as often as that, toward minus infinity. */
static whole_number reference_integers_halved(whole_number a, whole_number times)
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
INTEGER(pow, reference_integers_power(a, b))
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
INTEGER(shr, OUT_OF(width) ? 0 : reference_integers_halved(unsigned_bits(a, width), b))
INTEGER(sar, reference_integers_halved(a, OUT_OF(width) ? width : b))
INTEGER(clamp, min_integer(max_integer(a, b, 0, 0), c, 0, 0))
INTEGER(where, a ? b : c)
INTEGER(same, a)
INTEGER(any, a != 0 || b != 0)
INTEGER(all, a != 0 && b != 0)

/* clang-format off */
#define OF(id, name) [LX_KIND_##id] = {.element = name##_integer}
#define FOLD(id, name, begin) [LX_KIND_##id] = {.fold = name##_integer, .start = begin}

static const struct whole_meaning meanings[LX_KIND_COUNT] = {
    OF(ADD, add), OF(SUB, sub), OF(MUL, mul), OF(DIV, div), OF(REM, rem), OF(POW, pow), OF(NEG, neg), OF(ABS, abs),
    OF(RELU, relu), OF(SIGN, sign), OF(IS_FINITE, yes), OF(FLOOR, same), OF(CEIL, same), OF(ROUND, same),
    OF(GREATER, greater), OF(EQ, eq), OF(NE, ne), OF(LT, lt), OF(LE, le), OF(GE, ge), OF(AND, and), OF(OR, or),
    OF(XOR, xor), OF(NOT, not), OF(SHL, shl), OF(SHR, shr), OF(SAR, sar), OF(CLAMP, clamp), OF(WHERE, where),
    OF(CLONE, same), OF(BITCAST, same), OF(CAST, same), FOLD(SUM, add, 0), FOLD(PROD, mul, 1), FOLD(ANY, any, 0), FOLD(ALL, all, 1),
    [LX_KIND_MAX] = {.element = max_integer, .fold = max_integer, .from_first = true},
    [LX_KIND_MIN] = {.element = min_integer, .fold = min_integer, .from_first = true},
    [LX_KIND_MATMUL] = {.element = mul_integer, .fold = add_integer},
};
/* clang-format on */

const struct whole_meaning *whole_meaning_of(const struct lx_kind *kind)
{
    const struct whole_meaning *m = &meanings[kind->id];
    return m->element || m->fold ? m : NULL;
}
