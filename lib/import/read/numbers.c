/* Numbers of constants, whatever the format: the bits of floats, and lists. */
#include "import/model_parts.h"

#include <math.h>

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

double model_float_of_bits(enum model_element element, uint64_t bits)
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
    struct float_bits b = rows[element];
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

void numbers_push(struct model_numbers *n, int64_t whole, double real)
{
    if (n->count >= n->most) return;
    VEC_PUSH(&n->ints, whole);
    VEC_PUSH(&n->reals, real);
}

void numbers_add_bits(struct model_numbers *n, enum model_element element, uint64_t bits)
{
    const struct model_element_row *row = model_element_row(element);
    int shift = 64 - (row->bits < 8 ? 8 : row->bits);
    int64_t whole = row->number == MODEL_SIGNED ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
    numbers_push(n, whole, row->number == MODEL_FLOAT ? model_float_of_bits(element, bits) : (double)whole);
    n->count++;
}

bool numbers_keep(struct lx_model *m, const struct model_numbers *n, struct model_data *d)
{
    enum model_number number = model_element_row(d->type->element)->number;
    if (n->count != (d->form == DATA_SPLAT ? 1 : d->type->elements)) return false;
    bool pairs = number == MODEL_COMPLEX;
    if (n->count > n->most || (pairs && (int64_t)n->reals.count < 2 * n->count)) return true;
    if (number == MODEL_FLOAT || pairs)
        d->reals = arena_copy_array(&m->memory, n->reals.at, n->reals.count, sizeof *n->reals.at);
    else
        d->ints = arena_copy_array(&m->memory, n->ints.at, n->ints.count, sizeof *n->ints.at);
    return true;
}

void numbers_free(struct model_numbers *n)
{
    VEC_FREE(&n->ints);
    VEC_FREE(&n->reals);
}
