/* Stored elements as fp64 and as wide numbers, and the numbers that an op computes with. A type goes through
 * fp32 if fp32 has all its numbers, else through fp64 if that has them: numbers are rounded to the type's
 * bits first, so that the detour does not round again. */
#include "device/memory/dtypes.h"

enum { BLOCK = 256 };

double number_rounded(double x, int digits, int least)
{
    int exponent;
    if (!isfinite(x) || x == 0) return x;
    frexp(x, &exponent);
    int step = exponent - digits > least ? exponent - digits : least;
    return ldexp(rint(ldexp(x, -step)), step);
}

/* `items`: `from` is in host order; else in memory, where elements of 4 bits are packed. */
static void widen(const struct number_type *t, bool items, const void *from, int64_t at, int64_t count,
                  double *to)
{
    float run[BLOCK];
    if (t->widen) {
        t->widen(from, at, count, to);
        return;
    }
    for (int64_t i = 0, n; i < count; i += n) {
        n = count - i < BLOCK ? count - i : BLOCK;
        if (items)
            items_decode(t, (const char *)from + (at + i) * t->item, n, run);
        else
            t->decode(from, at + i, n, run);
        for (int64_t k = 0; k < n; k++) to[i + k] = (double)run[k];
    }
}

/* Rounds floats to the type's own bits first; infinite beyond the range. */
static void narrow(const struct number_type *t, bool items, const double *from, int64_t count, void *to,
                   int64_t at)
{
    float run[BLOCK];
    if (t->narrow) {
        t->narrow(from, count, to, at);
        return;
    }
    for (int64_t i = 0, n; i < count; i += n) {
        n = count - i < BLOCK ? count - i : BLOCK;
        for (int64_t k = 0; k < n; k++) {
            double x = t->digits > 0 ? number_rounded(from[i + k], t->digits, t->least) : from[i + k];
            /* fp32 must not flush a nonzero to 0: a truth would be lost. */
            bool lost = t->integer && x != 0 && fabs(x) < (double)FLT_MIN;
            run[k] = fabs(x) >= 0x1p128 ? (x > 0 ? INFINITY : -INFINITY) : lost ? FLT_MIN : (float)x;
        }
        if (items)
            items_encode(t, run, n, (char *)to + (at + i) * t->item);
        else
            t->encode(run, n, to, at + i);
    }
}

void items_widen(const struct number_type *t, const void *items, int64_t count, double *to)
{
    widen(t, true, items, 0, count, to);
}

void items_narrow(const struct number_type *t, const double *from, int64_t count, void *items)
{
    narrow(t, true, from, count, items, 0);
}

/* ---- wide numbers ---- */

static int64_t long_of(wide_number x)
{
    return x != x ? 0 : x >= 0x1p63L ? INT64_MAX : x <= -0x1p63L ? INT64_MIN : (int64_t)rintl(x);
}

static uint64_t unsigned_long_of(wide_number x)
{
    return x != x || x <= 0 ? 0 : x >= 0x1p64L ? UINT64_MAX : (uint64_t)rintl(x);
}

void numbers_to_wide(const struct number_type *t, const void *from, int64_t at, int64_t count,
                     wide_number *to)
{
    double run[BLOCK];
    if (t->integer && t->bits == 64) {
        for (int64_t i = 0; i < count && t->low < 0; i++)
            to[i] = (wide_number)((const int64_t *)from)[at + i];
        for (int64_t i = 0; i < count && t->low >= 0; i++)
            to[i] = (wide_number)((const uint64_t *)from)[at + i];
        return;
    }
    for (int64_t i = 0, n; i < count; i += n) {
        n = count - i < BLOCK ? count - i : BLOCK;
        widen(t, false, from, at + i, n, run);
        for (int64_t k = 0; k < n; k++) to[i + k] = (wide_number)run[k];
    }
}

void numbers_from_wide(const struct number_type *t, const wide_number *from, int64_t count, void *to,
                       int64_t at)
{
    double run[BLOCK];
    if (t->integer && t->bits == 64) {
        for (int64_t i = 0; i < count && t->low < 0; i++) ((int64_t *)to)[at + i] = long_of(from[i]);
        for (int64_t i = 0; i < count && t->low >= 0; i++)
            ((uint64_t *)to)[at + i] = unsigned_long_of(from[i]);
        return;
    }
    for (int64_t i = 0, n; i < count; i += n) {
        n = count - i < BLOCK ? count - i : BLOCK;
        for (int64_t k = 0; k < n; k++) {
            wide_number x = from[i + k];
            run[k] = (double)x;
            if (!isfinite(run[k]) || (wide_number)run[k] == x || t->digits == 0) continue;
            /* A number that fp64 lacks is rounded to the type's fewer bits at once. */
            int exponent;
            frexpl(x, &exponent);
            int step = exponent - t->digits > t->least ? exponent - t->digits : t->least;
            run[k] = (double)ldexpl(rintl(ldexpl(x, -step)), step);
        }
        narrow(t, false, run, n, to, at + i);
    }
}

void items_to_wide(const struct number_type *t, const void *items, int64_t count, wide_number *to)
{
    double run[BLOCK];
    if (t->bits >= 8) {
        numbers_to_wide(t, items, 0, count, to);
        return;
    }
    for (int64_t i = 0, n; i < count; i += n) {
        n = count - i < BLOCK ? count - i : BLOCK;
        items_widen(t, (const char *)items + i * t->item, n, run);
        for (int64_t k = 0; k < n; k++) to[i + k] = (wide_number)run[k];
    }
}

void items_from_wide(const struct number_type *t, const wide_number *from, int64_t count, void *items)
{
    double run[BLOCK];
    if (t->bits >= 8) {
        numbers_from_wide(t, from, count, items, 0);
        return;
    }
    for (int64_t i = 0, n; i < count; i += n) {
        n = count - i < BLOCK ? count - i : BLOCK;
        for (int64_t k = 0; k < n; k++) run[k] = (double)from[i + k];
        items_narrow(t, run, n, (char *)items + i * t->item);
    }
}

wide_number number_wrapped(const struct number_type *t, whole_number n)
{
    if (t == &number_types[LX_BOOL]) return n != 0;
    if (t->bits == 64) return t->low < 0 ? (wide_number)(int64_t)(uint64_t)n : (wide_number)(uint64_t)n;
    int64_t span = INT64_C(1) << t->bits, low = (int64_t)((uint64_t)n & (uint64_t)(span - 1));
    return (wide_number)(t->low < 0 && low >= span / 2 ? low - span : low);
}

whole_number number_whole(wide_number x)
{
    return x < 0 ? (whole_number)long_of(x) : (whole_number)unsigned_long_of(x);
}

wide_number number_stated(double value, int64_t whole)
{
    if (value != rint(value) || fabs(value) > 0x1p64 || whole == 0) return (wide_number)value;
    return value < 0 ? (wide_number)whole : (wide_number)(uint64_t)whole;
}

wide_number op_constant(const struct lx_op *op)
{
    return number_stated(op->value, op->whole);
}

/* ---- the numbers that ops compute with ---- */

/* All operands but the condition of `where` are whole. */
static bool all_whole(const struct lx_graph *g, const struct lx_op *op)
{
    bool whole = !op->has_value || (op->value == rint(op->value) && fabs(op->value) <= 0x1p64);
    for (int i = op->kind->id == LX_KIND_WHERE; i < op->input_count + !(op->kind->traits & LX_TRUTH); i++)
        whole = whole && number_types[g->tensors[op_operand(op, i)].dtype].integer;
    return whole;
}

enum numbers op_numbers(const struct lx_graph *g, const struct lx_op *op)
{
    bool wide = false, floats = true;
    for (int i = 0; i < op_operand_count(op); i++) {
        wide |= g->tensors[op_operand(op, i)].dtype == LX_FP64;
        floats &= !number_types[g->tensors[op_operand(op, i)].dtype].integer;
    }
    if (op->kind->id == LX_KIND_BITCAST) return NUMBERS_INTEGER;
    if (op->kind->id == LX_KIND_CAST && all_whole(g, op)) return NUMBERS_INTEGER;
    if (op->kind->id == LX_KIND_CAST) return wide || !floats ? NUMBERS_FP64 : NUMBERS_FP32;
    /* Numbers are only compared, and places counted. */
    bool places =
        op->kind->id == LX_KIND_ARGMAX || op->kind->id == LX_KIND_ARGMIN || op->kind->traits & LX_RANKS;
    if (wide || places) return NUMBERS_FP64;
    return !(op->kind->traits & LX_REAL) && all_whole(g, op) ? NUMBERS_INTEGER : NUMBERS_FP32;
}

const struct number_type *op_number_type(const struct lx_graph *g, const struct lx_op *op, int operand)
{
    const struct number_type *t = &number_types[g->tensors[op_operand(op, operand)].dtype];
    if (op->kind->id != LX_KIND_BITCAST) return t;
    return &number_types[t->bits == 8    ? LX_UINT8
                         : t->bits == 16 ? LX_UINT16
                         : t->bits == 32 ? LX_UINT32
                                         : LX_UINT64];
}
