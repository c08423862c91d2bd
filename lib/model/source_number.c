/* Numbers of model texts: decimal, words, and the bits of a float as hex. */
#include "model/source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 400 };

bool source_int(struct source *s, int64_t *out)
{
    bool negative = source_peek(s) == '-';
    uint64_t n = 0;
    if (negative) s->at++;
    if (!source_is_digit(source_peek(s))) return source_fail(s, LX_E_SYNTAX, "expected a whole number");
    for (; source_is_digit(source_peek(s)); s->at++) {
        uint64_t digit = (uint64_t)(*s->at - '0');
        if (n > (INT64_MAX - digit) / 10) return source_fail(s, LX_E_RANGE, "a number beyond 2^63");
        n = n * 10 + digit;
    }
    *out = negative ? -(int64_t)n : (int64_t)n;
    return true;
}

/* Bits of floats by type: how many for exponent and fraction; e4m3fn has no infinity. */
static void widths(enum model_element e, int *exponent, int *fraction)
{
    *exponent = e == MODEL_F16 || e == MODEL_F8E5M2 || e == MODEL_F8E5M2FNUZ ? 5
                : e == MODEL_BF16 || e == MODEL_F32                          ? 8
                : e == MODEL_F64                                             ? 11
                                                                             : 4;
    *fraction = model_element_row(e)->bits - 1 - *exponent;
}

double model_float_of_bits(enum model_element element, uint64_t bits)
{
    int e, f;
    widths(element, &e, &f);
    uint64_t fraction = bits & (((uint64_t)1 << f) - 1), power = bits >> f & (((uint64_t)1 << e) - 1);
    uint64_t top = ((uint64_t)1 << e) - 1;
    int bias = (1 << (e - 1)) - 1;
    double sign = bits >> (e + f) & 1 ? -1.0 : 1.0;
    bool small = element == MODEL_F8E4M3FN || element == MODEL_F8E4M3FNUZ || element == MODEL_F8E4M3B11FNUZ;
    if (power == top && !small) return fraction ? NAN : sign * INFINITY;
    if (power == top && fraction == ((uint64_t)1 << f) - 1) return NAN;
    if (power == 0) return sign * ldexp((double)fraction, 1 - bias - f);
    return sign * ldexp((double)(fraction | (uint64_t)1 << f), (int)power - bias - f);
}

static bool hex_number(struct source *s, enum model_element element, int64_t *whole, double *real)
{
    uint64_t bits = 0;
    int digits = 0;
    for (s->at += 2; source_peek(s); s->at++, digits++) {
        static const char all[] = "0123456789abcdefABCDEF";
        const char *p = strchr(all, *s->at);
        if (!p || digits == 16) break;
        bits = bits << 4 | (uint64_t)(p - all < 16 ? p - all : p - all - 6);
    }
    if (digits == 0) return source_fail(s, LX_E_SYNTAX, "expected hexadecimal digits after 0x");
    *whole = (int64_t)bits;
    bool is_float = element < MODEL_TUPLE && model_element_row(element)->number == MODEL_FLOAT;
    *real = is_float ? model_float_of_bits(element, bits) : (double)*whole;
    return true;
}

/* "nan(0x7fc01)": the bits behind it say which one. */
static void pass_payload(struct source *s, double real)
{
    const char *p = s->at;
    if (!isnan(real) || s->end - p < 3 || memcmp(p, "(0x", 3) != 0) return;
    while (p < s->end && *p != ')' && *p != '\n') p++;
    if (p < s->end && *p == ')') s->at = p + 1;
}

static bool word_number(struct source *s, int64_t *whole, double *real)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"true", 1},         {"false", 0}, {"inf", INFINITY},
                 {"-inf", -INFINITY}, {"nan", NAN}, {"-nan", NAN}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!source_take(s, words[i].word)) continue;
        *real = words[i].value;
        *whole = *real == 1;
        pass_payload(s, *real);
        return true;
    }
    return false;
}

static bool belongs_to_number(char c)
{
    return source_is_digit(c) || (c && strchr("+-.eE", c));
}

bool source_number(struct source *s, enum model_element element, int64_t *whole, double *real, bool *is_whole)
{
    char digits[MOST_DIGITS + 1], *end;
    size_t n = 0;
    source_skip(s, true);
    *is_whole = false;
    if (s->at + 2 < s->end && s->at[0] == '0' && s->at[1] == 'x') return hex_number(s, element, whole, real);
    if (word_number(s, whole, real)) return true;
    while (n < MOST_DIGITS && s->at + n < s->end && belongs_to_number(s->at[n])) {
        digits[n] = s->at[n];
        n++;
    }
    digits[n] = 0;
    *real = strtod(digits, &end);
    if (n == 0 || end == digits) return source_fail(s, LX_E_SYNTAX, "expected a number");
    *is_whole = strcspn(digits, ".eE") >= (size_t)(end - digits);
    errno = 0;
    *whole = *is_whole ? (int64_t)strtoull(digits, NULL, 10) : 0;
    s->at += end - digits;
    return true;
}

/* "(1, -2)", or its real part alone. */
bool source_complex(struct source *s, enum model_element element, double part[2])
{
    enum model_element half = model_real_part(element);
    bool pair = source_take(s, "("), is_whole;
    int64_t whole;
    part[1] = 0;
    for (int i = 0; i < 1 + pair; i++) {
        if ((i > 0 && !source_want(s, ",")) || !source_number(s, half, &whole, &part[i], &is_whole))
            return false;
        if (is_whole) part[i] = (double)whole;
    }
    return !pair || source_want(s, ")");
}
