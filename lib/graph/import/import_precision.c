/* Floats with fewer bits than their type has: reduce-precision(e, m) of HLO, by what it does to the bits.
 *
 * The fraction is rounded to m bits, to nearest even; what is then above the largest number of e bits of exponent becomes
 * infinite, what is below the least normal one 0, each with its sign; NaN stays. */
#include "graph/import/import_steps.h"

#include <math.h>

struct float_form {
    enum model_element type, bits;
    int exponent, fraction;
};

static const struct float_form *form_of(enum model_element e)
{
    static const struct float_form forms[] = {{MODEL_BF16, MODEL_I16, 8, 7},
                                              {MODEL_F16, MODEL_I16, 5, 10},
                                              {MODEL_F32, MODEL_I32, 8, 23},
                                              {MODEL_F64, MODEL_I64, 11, 52}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].type == e) return &forms[i];
    return NULL;
}

/* a (kind) number, in the type of the bits */
static struct import_value by(struct steps *s, const char *kind, struct import_value a, double number)
{
    return step_point(s, kind, a, NULL, &number, a.type->element);
}

static struct import_value either(struct steps *s, struct import_value is, struct import_value a,
                                  struct import_value b)
{
    const struct import_value *all[] = {&is, &a, &b};
    struct import_value out = a;
    struct sketch_operand in[3];
    int dims[VIEW_MAX_RANK], rank = a.type->count;
    for (int i = 0; i < 3; i++) s->ok = s->ok && import_aligned(s->im, *all[i], rank, &in[i]);
    for (int d = 0; d < rank; d++) dims[d] = d;
    s->ok =
        s->ok && import_sketch(s->im, "where", s->op, rank, a.type->extent, in, 3, NULL, a.type, dims, &out);
    return out;
}

/* Half of what goes is added, one less where the last bit that stays is 0; then it goes. */
static struct import_value rounded(struct steps *s, struct import_value x, int away)
{
    struct import_value last = by(s, "and", by(s, "shr", x, away), 1);
    struct import_value y = step_point(s, "add", x, &last, NULL, x.type->element);
    return by(s, "and", by(s, "add", y, ldexp(1, away - 1) - 1), -ldexp(1, away));
}

static struct import_value bounded(struct steps *s, struct import_value x, const struct float_form *f, int e)
{
    double bias = ldexp(1, f->exponent - 1) - 1, own = ldexp(1, e - 1) - 1, one = ldexp(1, f->fraction);
    double all = (ldexp(1, f->exponent) - 1) * one, most = (bias + own) * one, least = (bias - own) * one;
    struct import_value size = by(s, "and", x, all);
    struct import_value zero = by(s, "and", x, -ldexp(1, f->exponent + f->fraction));
    struct import_value above = step_point(s, "greater", size, NULL, &most, MODEL_BOOL);
    struct import_value below = step_point(s, "le", size, NULL, &least, MODEL_BOOL);
    x = either(s, above, by(s, "or", zero, all), x);
    return either(s, below, zero, x);
}

static bool precision(struct import *im, const struct model_op *op, const char *ours)
{
    const struct float_form *f = form_of(import_type_out(im, op)->element);
    int64_t e = model_attr_int(&op->attrs, "exponent_bits", 0),
            m = model_attr_int(&op->attrs, "mantissa_bits", -1);
    struct steps s;
    (void)ours;
    if (!f || e < 1 || m < 0) return import_generic(im, op, "width");
    if (e >= f->exponent && m >= f->fraction) {
        struct import_value v = *import_in(im, op, 0);
        import_class(im, op, CLASS_FREE, "names");
        return import_bind_one(im, op, &v);
    }
    if (f->type == MODEL_F64 || !steps_begin(&s, im, op)) return import_generic(im, op, "width");
    struct import_value x = step_operand(&s, 0), bits = step_point(&s, "bitcast", x, NULL, NULL, f->bits),
                        y = bits;
    struct import_value nan = step_point(&s, "ne", x, &x, NULL, MODEL_BOOL);
    if (m < f->fraction) y = rounded(&s, y, f->fraction - (int)m);
    if (e < f->exponent) y = bounded(&s, y, f, (int)e);
    y = either(&s, nan, bits, y);
    steps_result(&s, 0, step_point(&s, "bitcast", y, NULL, NULL, f->type));
    return steps_end(&s);
}

/* clang-format off */
const struct op_row import_precision_rows[] = {
    {{NULL, "reduce-precision", NULL}, NULL, precision, 1},
    {.emit = NULL},
};
/* clang-format on */
