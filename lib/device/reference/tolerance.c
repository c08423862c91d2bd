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

/* From the bounds of the operands to that of the result, before it is rounded. */
typedef double carry_function(operand a, operand b, operand out);

static double tolerance(operand x)
{
    return x ? x->tolerance : 0;
}

static double carry_sum(operand a, operand b, operand out)
{
    (void)out;
    return tolerance(a) + tolerance(b);
}

static double carry_product(operand a, operand b, operand out)
{
    (void)out;
    if (!b) return a->largest > 0 ? tolerance(a) * (out->largest / a->largest) : 0;
    return tolerance(a) * b->largest + tolerance(b) * a->largest;
}

static double carry_quotient(operand a, operand b, operand out)
{
    if (!b) return a->largest > 0 ? tolerance(a) * (out->largest / a->largest) : 0;
    if (tolerance(a) + tolerance(b) == 0) return 0;
    return (tolerance(a) + out->largest * tolerance(b)) / b->smallest;
}

static double carry_exp(operand a, operand b, operand out)
{
    (void)b;
    return out->largest * expm1(fmin(tolerance(a), 50));
}

static double carry_log(operand a, operand b, operand out)
{
    (void)b, (void)out;
    return tolerance(a) > 0 ? tolerance(a) / a->smallest : 0;
}

static double carry_sqrt(operand a, operand b, operand out)
{
    (void)b, (void)out;
    return fmin(sqrt(tolerance(a)), a->smallest > 0 ? tolerance(a) / sqrt(a->smallest) : INFINITY);
}

static double carry_rsqrt(operand a, operand b, operand out)
{
    (void)b;
    return tolerance(a) > 0 ? tolerance(a) * out->largest * out->largest * out->largest : 0;
}

static double carry_reciprocal(operand a, operand b, operand out)
{
    (void)b;
    return tolerance(a) > 0 ? 2 * tolerance(a) * out->largest * out->largest : 0;
}

/* Steeper than 1 by a little at most: gelu and silu. */
static double carry_soft(operand a, operand b, operand out)
{
    (void)b, (void)out;
    return 1.2 * tolerance(a);
}

static double carry_power(operand a, operand b, operand out)
{
    double e = tolerance(a) + tolerance(b);
    (void)out;
    return e > 0 ? INFINITY : 0; /* nothing is known of its derivatives */
}

/* A decision may fall either way where its operands may differ. */
static double carry_decision(operand a, operand b, operand out)
{
    (void)out;
    return tolerance(a) + tolerance(b) > 0 ? INFINITY : 0;
}

static const struct {
    const char *kind;
    carry_function *carry;
    bool exact; /* on integers, and where nothing is computed */
} rows[] = {
    {"add", carry_sum, true},        {"sub", carry_sum, true},
    {"mul", carry_product, true},    {"div", carry_quotient, false},
    {"pow", carry_power, false},     {"max", carry_sum, true},
    {"min", carry_sum, true},        {"neg", carry_sum, true},
    {"abs", carry_sum, true},        {"exp", carry_exp, false},
    {"log", carry_log, false},       {"sqrt", carry_sqrt, false},
    {"rsqrt", carry_rsqrt, false},   {"reciprocal", carry_reciprocal, false},
    {"relu", carry_sum, true},       {"gelu", carry_soft, false},
    {"silu", carry_soft, false},     {"sigmoid", carry_sum, false},
    {"tanh", carry_sum, false},      {"greater", carry_decision, true},
    {"where", carry_decision, true}, {"clone", carry_sum, true},
    {"restickify", carry_sum, true}, {"slice", carry_sum, true},
    {"shift", carry_sum, true},      {"insert", carry_sum, true},
};

static bool moves_only(const char *kind)
{
    static const char *const kinds[] = {"clone", "restickify", "slice", "shift", "insert",
                                        "neg",   "abs",        "relu",  "max",   "min"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i], kind) == 0) return true;
    return false;
}

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

/* `terms` numbers, each off by `each`, that are as large as `size`: carried errors, and those of adding up in
 * fp32. */
static double sum_of(double terms, double each, double size)
{
    double independent = fmin(terms, 8 * sqrt(terms)) * each;
    return independent + 4 * sqrt(terms) * 0x1p-24 * size * sqrt(terms);
}

static double carried(const struct lx_op *op, const operand *inputs, operand out, bool *exact)
{
    operand a = op->input_count > 0 ? inputs[0] : NULL, b = op->input_count > 1 ? inputs[1] : NULL;
    double terms = summed_terms(op);
    const char *kind = op->kind->name;
    *exact = false;
    if (op->kind->traits & LX_CONTRACTS)
        return sum_of(terms, tolerance(a) * b->rms + tolerance(b) * a->rms, a->rms * b->rms) +
               tolerance(a) * b->largest + tolerance(b) * a->largest;
    if (strcmp(kind, "sum") == 0) return sum_of(terms, tolerance(a), a->rms);
    if (strcmp(kind, "mean") == 0) return sum_of(terms, tolerance(a), a->rms) / terms;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].kind, kind) == 0) {
            *exact = rows[i].exact;
            double more = strcmp(kind, "where") == 0 ? tolerance(inputs[2]) + tolerance(b) : 0;
            return strcmp(kind, "where") == 0 && tolerance(a) == 0 ? more : rows[i].carry(a, b, out);
        }
    return 0;
}

double tolerance_of(const struct lx_op *op, const operand *inputs, double kept, operand out)
{
    const struct number_type *t = &number_types[out->dtype];
    bool exact, same_type = true, differs = false;
    for (int i = 0; i < op->input_count; i++) {
        same_type = same_type && inputs[i]->dtype == out->dtype;
        differs = differs || inputs[i]->tolerance > 0;
    }
    /* Mixed words are altogether different ones if any of theirs is. */
    if (out->bytes || !(op->map || op->offset || strcmp(op->kind->name, "restickify") == 0))
        return differs ? INFINITY : 0;
    double e = fmax(carried(op, inputs, out, &exact), kept);
    if (moves_only(op->kind->name) && (e == 0 || same_type)) return e;
    if (e == 0 && exact && t->integer) return 0;
    /* The result rounds to a neighbour; in fp32, functions themselves may be a few units off. */
    double units = out->dtype == LX_FP32 ? 8 : 1;
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
