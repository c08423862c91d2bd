/* int64 arithmetic that reports overflow. All sizes from a file are combined with it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The largest integer that JSON carries exactly; no size or time in a file exceeds it. */
#define LX_INT_MAX ((int64_t)1 << 53)

/* For products of two sizes in bounds and ratios. */
__extension__ typedef __int128 int128;

static inline bool add_i64(int64_t a, int64_t b, int64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

static inline bool mul_i64(int64_t a, int64_t b, int64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* a >= 0, b > 0, and no overflow near INT64_MAX. */
static inline int64_t ceil_div_i64(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static inline int64_t floor_div_i64(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* The next multiple of `unit` at or above `a`; INT64_MAX: none. */
static inline int64_t round_up_i64(int64_t a, int64_t unit)
{
    int64_t up;
    return mul_i64(ceil_div_i64(a, unit), unit, &up) ? up : INT64_MAX;
}

/* The greatest common divisor of two numbers >= 0; gcd(0, b) is b. */
static inline int64_t gcd_i64(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* The least common multiple of two positive numbers; INT64_MAX: it overflows. */
static inline int64_t lcm_i64(int64_t a, int64_t b)
{
    int64_t common;
    if (a == b) return a;
    return mul_i64(a / gcd_i64(a, b), b, &common) ? common : INT64_MAX;
}

/* The 64 bits of a double that is an integer from -2^63 to 2^64 - 1; from 2^63 on as unsigned. */
static inline bool whole_of_double(double d, int64_t *bits)
{
    if (!(d >= -0x1p63 && d < 0x1p64)) return false;
    *bits = d < 0x1p63 ? (int64_t)d : (int64_t)(uint64_t)d;
    return d < 0x1p63 ? (double)*bits == d : (double)(uint64_t)*bits == d;
}

static inline int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
