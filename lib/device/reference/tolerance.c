/* How far a correct execution may be from the reference.
 *
 * Sums are made in another order when a reduction is split or blocked, so that a result may round to the
 * neighbouring number of its type; what follows carries that on. The bound of each value is kept as one
 * absolute number and led through the ops by their derivatives, with the largest, smallest and mean sizes of
 * the reference itself. Bounds of sums take the differences for independent: they grow with the square root
 * of the number of terms, with a margin. An op that computes nothing carries its input's bound on unchanged,
 * so that copies must be exact. */
#include "device/reference/reference.h"
#include "device/memory/dtypes.h"

#include <math.h>
#include <string.h>

typedef const struct reference_value *operand;

/* What an op reads and makes; operands that it has not are NULL. */
struct carried {
    operand a, b, c, out;
    double terms; /* that each element of the result is the sum of */
};

/* From the bounds of the operands to that of the result, before it is rounded. */
typedef double carry_function(const struct carried *x);

static double tolerance(operand x)
{
    return x ? x->tolerance : 0;
}

static double tolerances(const struct carried *x)
{
    return tolerance(x->a) + tolerance(x->b);
}

static double carry_sum(const struct carried *x)
{
    return tolerances(x);
}

/* Steeper than 1 by a little at most: gelu and silu. */
static double carry_steeper(const struct carried *x)
{
    return 1.2 * tolerance(x->a);
}

/* By a constant: as the sizes say. */
static double carry_scaled(const struct carried *x)
{
    return x->a->largest > 0 ? tolerance(x->a) * (x->out->largest / x->a->largest) : 0;
}

static double carry_product(const struct carried *x)
{
    if (!x->b) return carry_scaled(x);
    return tolerance(x->a) * x->b->largest + tolerance(x->b) * x->a->largest;
}

static double carry_quotient(const struct carried *x)
{
    if (!x->b) return carry_scaled(x);
    if (tolerances(x) == 0) return 0;
    return (tolerance(x->a) + x->out->largest * tolerance(x->b)) / x->b->smallest;
}

static double carry_exp(const struct carried *x)
{
    return x->out->largest * expm1(fmin(tolerance(x->a), 50));
}

static double carry_log(const struct carried *x)
{
    return tolerance(x->a) > 0 ? tolerance(x->a) / x->a->smallest : 0;
}

static double carry_sqrt(const struct carried *x)
{
    double e = tolerance(x->a);
    return fmin(sqrt(e), x->a->smallest > 0 ? e / sqrt(x->a->smallest) : INFINITY);
}

static double carry_rsqrt(const struct carried *x)
{
    double y = x->out->largest;
    return tolerance(x->a) > 0 ? tolerance(x->a) * y * y * y : 0;
}

static double carry_reciprocal(const struct carried *x)
{
    double y = x->out->largest;
    return tolerance(x->a) > 0 ? 2 * tolerance(x->a) * y * y : 0;
}

static double carry_unknown(const struct carried *x)
{
    return tolerances(x) > 0 ? INFINITY : 0;
}

static double carry_choice(const struct carried *x)
{
    return tolerance(x->a) > 0 ? INFINITY : tolerance(x->b) + tolerance(x->c);
}

/* `terms` numbers, each off by `each`, that are as large as `size`: carried errors, and those of adding up in
 * fp32. */
static double sum_of(double terms, double each, double size)
{
    double independent = fmin(terms, 8 * sqrt(terms)) * each;
    return independent + 4 * sqrt(terms) * 0x1p-24 * size * sqrt(terms);
}

static double carry_total(const struct carried *x)
{
    return sum_of(x->terms, tolerance(x->a), x->a->rms);
}

static double carry_mean(const struct carried *x)
{
    return carry_total(x) / x->terms;
}

static double carry_contraction(const struct carried *x)
{
    operand a = x->a, b = x->b;
    return sum_of(x->terms, tolerance(a) * b->rms + tolerance(b) * a->rms, a->rms * b->rms) +
           tolerance(a) * b->largest + tolerance(b) * a->largest;
}

static carry_function *const carry[LX_CARRY_COUNT] = {
    [LX_CARRY_SUM] = carry_sum,
    [LX_CARRY_STEEPER] = carry_steeper,
    [LX_CARRY_PRODUCT] = carry_product,
    [LX_CARRY_QUOTIENT] = carry_quotient,
    [LX_CARRY_EXP] = carry_exp,
    [LX_CARRY_LOG] = carry_log,
    [LX_CARRY_SQRT] = carry_sqrt,
    [LX_CARRY_RSQRT] = carry_rsqrt,
    [LX_CARRY_RECIPROCAL] = carry_reciprocal,
    [LX_CARRY_CHOICE] = carry_choice,
    [LX_CARRY_UNKNOWN] = carry_unknown,
    [LX_CARRY_TOTAL] = carry_total,
    [LX_CARRY_MEAN] = carry_mean,
    [LX_CARRY_CONTRACTION] = carry_contraction,
    [LX_CARRY_MIXED] = carry_unknown,
};

static double summed_terms(const struct lx_op *op)
{
    double n = 1;
    if (!op->map || !op->reduces) return 1;
    for (int v = 0; v < op->map->var_count; v++) {
        bool kept = false;
        for (int d = 0; d < op->map->rank[op->input_count]; d++)
            kept |= op->map->index[op->input_count][d] == v;
        if (!kept) n *= (double)op->map->extent[v];
    }
    return n;
}

static double carried(const struct lx_op *op, const operand *inputs, operand out)
{
    operand in[3] = {0};
    for (int i = 0; i < op->input_count && i < 3; i++) in[i] = inputs[i];
    return carry[op->kind->carry](&(struct carried){in[0], in[1], in[2], out, summed_terms(op)});
}

double tolerance_of(const struct lx_op *op, const operand *inputs, double kept, operand out)
{
    const struct number_type *t = &number_types[out->dtype];
    const int ulps = op->kind->ulps;
    bool same_type = true, differs = false;
    for (int i = 0; i < op->input_count; i++) {
        same_type = same_type && inputs[i]->dtype == out->dtype;
        differs = differs || inputs[i]->tolerance > 0;
    }
    /* Mixed words are altogether different ones if any of theirs is. */
    if (out->bytes || !(op->map || op->offset || op->kind->id == LX_KIND_RESTICKIFY))
        return differs ? INFINITY : 0;
    double e = fmax(carried(op, inputs, out), kept);
    if (ulps == 0 && (e == 0 || same_type)) return e;
    if (ulps <= 1 && e == 0 && t->integer) return 0;
    /* The result rounds to a neighbour; in fp32, functions themselves may be a few units off. */
    double units = out->dtype == LX_FP32 ? fmax(ulps, 1) : 1;
    return e + (t->integer ? 1 : units * t->unit * out->largest);
}

void reference_compare(const struct reference_value *v, const void *items, int64_t *wrong, double *error)
{
    enum { BLOCK = 1024 };
    const struct number_type *t = &number_types[v->dtype];
    float want[BLOCK], got[BLOCK];
    *wrong = 0;
    *error = 0;
    if (memcmp(v->items, items, (size_t)(v->count * t->item)) == 0) return;
    for (int64_t from = 0; from < v->count; from += BLOCK) {
        int64_t n = v->count - from < BLOCK ? v->count - from : BLOCK;
        items_decode(t, (const char *)v->items + from * t->item, n, want);
        items_decode(t, (const char *)items + from * t->item, n, got);
        for (int64_t i = 0; i < n; i++) {
            if (want[i] == got[i] || (isnan(want[i]) && isnan(got[i]))) continue;
            double difference = fabs((double)want[i] - (double)got[i]);
            if (isnan(difference)) difference = INFINITY;
            *error = fmax(*error, difference);
            *wrong += !(difference <= v->tolerance);
        }
    }
}
