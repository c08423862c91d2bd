/* Numbers of model texts: decimal, words, and the bits of a float as hex. */
#include "import/read/source.h"

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

/* Which bits of a float type are no finite number. */
enum odd_bits {
    ODD_IEEE, /* the largest exponent: infinity, and with a fraction NaN */
    ODD_FN,   /* all bits but the sign: NaN; no infinity */
    ODD_FNUZ, /* the sign alone: NaN; no infinity, no -0 */
    ODD_NONE,
};

/* Bits for exponent and fraction, and the exponent that stands for 1. A sign is before them, but for
 * `unsigned_`. */
struct float_bits {
    int exponent, fraction, bias;
    enum odd_bits odd;
    bool unsigned_;
};

static struct float_bits number_float_bits(enum model_element e)
{
    static const struct float_bits rows[MODEL_ELEMENT_COUNT] = {
        [MODEL_F64] = {11, 52, 1023, ODD_IEEE, false},   [MODEL_F32] = {8, 23, 127, ODD_IEEE, false},
        [MODEL_F16] = {5, 10, 15, ODD_IEEE, false},      [MODEL_BF16] = {8, 7, 127, ODD_IEEE, false},
        [MODEL_F8E4M3] = {4, 3, 7, ODD_IEEE, false},     [MODEL_F8E4M3FN] = {4, 3, 7, ODD_FN, false},
        [MODEL_F8E4M3FNUZ] = {4, 3, 8, ODD_FNUZ, false}, [MODEL_F8E4M3B11FNUZ] = {4, 3, 11, ODD_FNUZ, false},
        [MODEL_F8E5M2] = {5, 2, 15, ODD_IEEE, false},    [MODEL_F8E5M2FNUZ] = {5, 2, 16, ODD_FNUZ, false},
        [MODEL_F8E3M4] = {3, 4, 3, ODD_IEEE, false},     [MODEL_F8E8M0FNU] = {8, 0, 127, ODD_FN, true},
        [MODEL_F6E2M3FN] = {2, 3, 1, ODD_NONE, false},   [MODEL_F6E3M2FN] = {3, 2, 3, ODD_NONE, false},
        [MODEL_F4E2M1FN] = {2, 1, 1, ODD_NONE, false}};
    return rows[e];
}

double model_float_of_bits(enum model_element element, uint64_t bits)
{
    struct float_bits b = number_float_bits(element);
    uint64_t one = (uint64_t)1 << b.fraction, fraction = bits & (one - 1);
    uint64_t top = ((uint64_t)1 << b.exponent) - 1, power = bits >> b.fraction & top;
    bool minus = !b.unsigned_ && (bits >> (b.exponent + b.fraction) & 1);
    double sign = minus ? -1.0 : 1.0;
    if (b.odd == ODD_IEEE && power == top) return fraction ? NAN : sign * INFINITY;
    if (b.odd == ODD_FN && power == top && fraction == one - 1) return NAN;
    if (b.odd == ODD_FNUZ && minus && power == 0 && fraction == 0) return NAN;
    if (power == 0 && !b.unsigned_) return sign * ldexp((double)fraction, 1 - b.bias - b.fraction);
    return sign * ldexp((double)(fraction | one), (int)power - b.bias - b.fraction);
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
static void number_pass_payload(struct source *s, double real)
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
        number_pass_payload(s, *real);
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
