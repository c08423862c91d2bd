/* Whole numbers and fractions of constants, one by one. */
#include "import/types/typing.h"

#include <math.h>

bool fold_whole(enum model_element e, enum binary op, int64_t a, int64_t b, bool fmod, int64_t *y)
{
    bool wide = e == MODEL_U64 && (a < 0 || b < 0); /* beyond what is signed */
    if (wide && op != ADD && op != SUB && op != MUL && op != EQUAL) return false;
    switch (op) {
    case ADD:
        return !__builtin_add_overflow(a, b, y);
    case SUB:
        return !__builtin_sub_overflow(a, b, y);
    case MUL:
        return !__builtin_mul_overflow(a, b, y);
    case DIV:
        if (b == 0 || (b == -1 && a == INT64_MIN)) return false;
        *y = a / b;
        return true;
    case MOD:
        if (b == 0 || b == -1) return false;
        *y = a % b;
        if (!fmod && *y != 0 && (*y < 0) != (b < 0)) *y += b;
        return true;
    case MIN:
        *y = a < b ? a : b;
        return true;
    case MAX:
        *y = a > b ? a : b;
        return true;
    case EQUAL:
        *y = a == b;
        return true;
    case LESS:
        *y = a < b;
        return true;
    case GREATER:
        *y = a > b;
        return true;
    case AND:
        *y = a && b;
        return true;
    case OR:
        *y = a || b;
        return true;
    }
    return false;
}

/* Of the least and the most, what is no number wins: a comparison with it is false, so that b is taken. */
bool fold_fraction(enum binary op, double a, double b, double *y)
{
    switch (op) {
    case ADD:
        *y = a + b;
        return true;
    case SUB:
        *y = a - b;
        return true;
    case MUL:
        *y = a * b;
        return true;
    case DIV:
        *y = a / b;
        return true;
    case MOD:
        *y = fmod(a, b);
        return true;
    case MIN:
        *y = a < b || isnan(a) ? a : b;
        return true;
    case MAX:
        *y = a > b || isnan(a) ? a : b;
        return true;
    case EQUAL:
        *y = a == b;
        return true;
    case LESS:
        *y = a < b;
        return true;
    case GREATER:
        *y = a > b;
        return true;
    default:
        return false;
    }
}

int64_t fold_kept_int(enum model_element e, int64_t n)
{
    int bits = model_element_row(e)->bits;
    if (e == MODEL_BOOL) return n != 0;
    if (bits >= 64) return n;
    uint64_t low = (uint64_t)n & ((UINT64_C(1) << bits) - 1);
    bool negative = model_element_row(e)->number == MODEL_SIGNED && low >> (bits - 1);
    return (int64_t)(negative ? low | ~((UINT64_C(1) << bits) - 1) : low);
}

/* To so many binary digits, the last not below 2^least; infinite from `beyond` on. */
static double fold_rounded(double x, int digits, int least, double beyond)
{
    int exponent;
    if (!isfinite(x) || x == 0) return x;
    frexp(x, &exponent);
    int step = exponent - digits > least ? exponent - digits : least;
    x = ldexp(rint(ldexp(x, -step)), step);
    return fabs(x) >= beyond ? copysign(INFINITY, x) : x;
}

double fold_kept_real(enum model_element e, double x)
{
    if (e == MODEL_F32) return (double)(float)x;
    if (e == MODEL_F16) return fold_rounded(x, 11, -24, 0x1p16);
    if (e == MODEL_BF16) return fold_rounded(x, 8, -133, 0x1p128);
    return x;
}

int64_t fold_to_int(enum model_element e, double x)
{
    bool with_sign = model_element_row(e)->number == MODEL_SIGNED;
    int bits = model_element_row(e)->bits - with_sign;
    double top = ldexp(1, bits), low = with_sign ? -top : 0;
    uint64_t most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (e == MODEL_BOOL) return x != 0;
    if (isnan(x)) return 0;
    if (x >= top) return (int64_t)most;
    if (x <= low) return with_sign ? -(int64_t)most - 1 : 0;
    return x < 0 ? (int64_t)x : (int64_t)(uint64_t)x;
}

double fold_to_real(enum model_element to, enum model_element from, int64_t n)
{
    bool above = from == MODEL_U64;
    if (to == MODEL_F32) return above ? (double)(float)(uint64_t)n : (double)(float)n;
    return fold_kept_real(to, above ? (double)(uint64_t)n : (double)n);
}
