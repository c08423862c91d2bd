/* One row per type: how far storing moves a number, and the range in which the plain bound decides. */
#include "device/reference/storing.h"

struct storing {
    double unit;  /* v: relative, at most */
    double least; /* half the least subnormal: absolute, below the normal numbers */
    double plain; /* beyond this |result| + slack, infinities and saturation begin */
};

static const struct storing storings[LX_DTYPE_COUNT] = {
    [LX_FP16] = {0x1p-11, 0x1p-25, 65504},
    [LX_BF16] = {0x1p-8, 0x1p-134, 0x1.fep127},
    [LX_BFP8] = {0x1p-8, 0x1p-134, 0x1.fep127},
    [LX_BFP4] = {0x1p-8, 0x1p-134, 0x1.fep127},
    [LX_FP32] = {0, 0, (double)FLT_MAX},
    [LX_FP8] = {0x1p-4, 0x1p-10, 448},
    [LX_INT64] = {0, 0.5, 0x1p63 - 0x1p40},
    [LX_INT32] = {0, 0.5, 0x1p31 - 256},
    [LX_INT8] = {0, 0.5, 127},
    [LX_INT16] = {0, 0.5, 32767},
    [LX_INT4] = {0, 0.5, 7},
    [LX_UINT64] = {0, 0.5, 0x1p64 - 0x1p41},
    [LX_UINT32] = {0, 0.5, 0x1p32 - 512},
    [LX_UINT16] = {0, 0.5, 65535},
    [LX_UINT8] = {0, 0.5, 255},
    [LX_FP64] = {0, 0, DBL_MAX},
    [LX_FP8_E5M2] = {0x1p-3, 0x1p-17, 57344},
    [LX_BOOL] = {0, 0.5, -1}, /* everything but 0 is 1: no bound fits */
};

/* Covers the rounding of fp64 itself in values and bounds: at most 2^-29 of the slack of a sum of any length,
 * and a few roundings of the bound. */
static const double SAFETY = 1 + 0x1p-20;

double expected_number(const struct expected *x, int64_t i)
{
    return x->exact ? (double)x->exact[i] : x->value[i];
}

double stored_number(enum lx_dtype dtype, double x)
{
    uint64_t item = 0;
    items_narrow(&number_types[dtype], &x, 1, &item);
    items_widen(&number_types[dtype], &item, 1, &x);
    return x;
}

void judged_add(struct judged *to, const struct judged *more)
{
    to->wrong += more->wrong;
    to->error = fmax(to->error, more->error);
    to->bound = fmax(to->bound, more->bound);
    to->share = fmax(to->share, more->share);
    to->largest = fmax(to->largest, more->largest);
}

static bool storing_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The least float not below x, and the largest not above; beyond the range infinite. */
static float float_up(double x)
{
    /* C leaves conversions beyond the range to the machine. */
    float f = fabs(x) < 0x1.ffffffp127 || isnan(x) ? (float)x : x > 0 ? INFINITY : -INFINITY;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

static float float_down(double x)
{
    return -float_up(-x);
}

/* Judges an element that the plain bound does not decide. */
static bool is_right(enum lx_dtype dtype, double value, double slack, double peak, double got)
{
    if (!isfinite(value)) return storing_same(stored_number(dtype, value), got);
    if (dtype == LX_FP64) return peak >= DBL_MAX ? !isfinite(got) : fabs(got - value) <= slack * SAFETY;
    double low = value - slack * SAFETY, high = value + slack * SAFETY;
    bool overflows = peak >= (double)FLT_MAX * (1 - 0x1p-20);
    /* An integer after a sum that left the range of fp32: an end of its range, or the stored form of NaN. */
    bool end = number_types[dtype].integer &&
               (got == stored_number(dtype, INFINITY) || got == stored_number(dtype, -INFINITY) ||
                got == stored_number(dtype, NAN));
    if (overflows && (!isfinite(got) || end)) return true;
    if (dtype == LX_BOOL) return low <= 0 && high >= 0 ? got == 0 || (slack > 0 && got == 1) : got == 1;
    if (float_up(low) > float_down(high)) return storing_same(stored_number(dtype, value), got);
    /* Between the stored ends of the interval. fp8 has no infinity: larger numbers are NaN. */
    double from = stored_number(dtype, (double)float_up(low)),
           to = stored_number(dtype, (double)float_down(high));
    if (isnan(got)) return isnan(from) || isnan(to);
    if (isnan(from)) from = low > 0 ? INFINITY : -storings[dtype].plain;
    if (isnan(to)) to = high < 0 ? -INFINITY : storings[dtype].plain;
    return from <= got && got <= to;
}

static void judge_one(const struct expected *x, int64_t i, enum lx_dtype dtype, double got, struct judged *to)
{
    double r = x->value[i], slack = x->slack[i], size = fabs(r), difference = fabs(got - r);
    const struct storing *s = &storings[dtype];
    double bound = (slack + fmax(s->unit * (size + slack), s->least)) * SAFETY;
    bool plain = size + slack <= s->plain;
    if (size <= DBL_MAX) to->largest = fmax(to->largest, size);
    if (difference == 0 && plain) {
        if (bound <= DBL_MAX) to->bound = fmax(to->bound, bound);
        return;
    }
    bool right = plain && !number_types[dtype].integer && isfinite(got)
                     ? difference <= bound
                     : is_right(dtype, r, slack, x->peak ? x->peak[i] : 0, got);
    to->wrong += !right;
    if (!(difference <= DBL_MAX) || (right && !plain)) {
        if (!right) to->share = INFINITY;
        return;
    }
    to->bound = fmax(to->bound, bound);
    to->error = fmax(to->error, difference);
    to->share = fmax(to->share, right ? fmin(difference / bound, 1) : fmax(difference / bound, 1));
}

/* Two elements at once, where the plain bound decides. */
typedef double pair __attribute__((vector_size(16)));
typedef int64_t pair_bits __attribute__((vector_size(16)));

static pair larger(pair a, pair b)
{
    pair_bits a_is = a > b;
    return (pair)(((pair_bits)a & a_is) | ((pair_bits)b & ~a_is));
}

struct pairs {
    pair error, bound, share, largest;
};

/* False: the plain bound does not decide on both, or one is wrong; then nothing was noted. */
static bool storing_judge_pair(const struct storing *s, const double *value, const double *slack,
                               const double *got, struct pairs *m)
{
    pair exact = {value[0], value[1]}, e = {slack[0], slack[1]}, here = {got[0], got[1]};
    pair size = (pair)((pair_bits)exact & INT64_MAX), reach = size + e;
    pair difference = (pair)((pair_bits)(here - exact) & INT64_MAX);
    pair bound = (e + larger(s->unit * reach, s->least - (pair){0})) * SAFETY;
    pair_bits right = (difference <= bound) & (reach <= s->plain - (pair){0});
    if (!(right[0] & right[1])) return false;
    m->error = larger(difference, m->error);
    m->bound = larger(bound, m->bound);
    m->share = larger(difference / (bound + DBL_MIN), m->share); /* 0 / 0 is NaN */
    m->largest = larger(size, m->largest);
    return true;
}

/* Judges elements whose bits are determined. */
static void judge_exact(const struct expected *x, enum lx_dtype dtype, const void *items, const double *got,
                        struct judged *to)
{
    const struct number_type *t = &number_types[dtype];
    uint64_t want_items[JUDGED_MOST];
    double want[JUDGED_MOST];
    for (int64_t i = 0; i < x->count; i++) {
        double size = fabs(expected_number(x, i));
        if (size <= DBL_MAX && size > to->largest) to->largest = size;
    }
    if (x->exact)
        items_from_wide(t, x->exact, x->count, want_items);
    else
        items_narrow(t, x->value, x->count, want_items);
    if (memcmp(want_items, items, (size_t)(x->count * t->item)) == 0) return;
    items_widen(t, want_items, x->count, want);
    for (int64_t i = 0; i < x->count; i++) {
        bool zeros = want[i] == 0 && got[i] == 0 && !x->signless && signbit(want[i]) != signbit(got[i]);
        bool equal = t->integer ? memcmp((const char *)want_items + i * t->item,
                                         (const char *)items + i * t->item, (size_t)t->item) == 0
                                : storing_same(want[i], got[i]);
        if (equal && !zeros) continue;
        double difference = fabs(want[i] - got[i]);
        to->wrong++;
        to->share = INFINITY;
        if (difference <= DBL_MAX) to->error = fmax(to->error, difference);
    }
}

void judge_elements(const struct expected *x, enum lx_dtype dtype, const void *items, struct judged *to)
{
    double got[JUDGED_MOST];
    items_widen(&number_types[dtype], items, x->count, got);
    if (x->slack && !x->exact) {
        struct pairs m = {{0}, {0}, {0}, {0}};
        bool in_pairs = !number_types[dtype].integer;
        int64_t n;
        for (int64_t i = 0; i < x->count; i += n) {
            n = x->count - i < 2 ? x->count - i : 2;
            if (in_pairs && n == 2 &&
                storing_judge_pair(&storings[dtype], x->value + i, x->slack + i, got + i, &m))
                continue;
            for (int64_t k = i; k < i + n; k++) judge_one(x, k, dtype, got[k], to);
        }
        for (int k = 0; k < 2; k++)
            judged_add(to, &(struct judged){0, m.error[k], m.bound[k], m.share[k], m.largest[k]});
    } else
        judge_exact(x, dtype, items, got, to);
}
