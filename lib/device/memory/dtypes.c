/* One row per type: fp16 is IEEE binary16, bf16 its namesake, fp8 is 1-4-3 with the largest number 448 and no
 * infinity, fp8_e5m2 the upper half of fp16, and a bool is a 16-bit 0 or 1, like on the device. */
#include "device/memory/dtypes.h"
#include "kernels/kernels.h"

static void half_decode(const void *from, int64_t at, int64_t count, float *to)
{
    fp32_from_fp16(kernel_target_best(), to, (const uint16_t *)from + at, count);
}

static void half_encode(const float *from, int64_t count, void *to, int64_t at)
{
    fp16_from_fp32(kernel_target_best(), (uint16_t *)to + at, from, count);
}

static void bool_encode(const float *from, int64_t count, void *to, int64_t at)
{
    uint16_t *h = (uint16_t *)to + at;
    for (int64_t i = 0; i < count; i++) h[i] = from[i] != 0 ? 0x3c00 : 0;
}

static void bf16_decode(const void *from, int64_t at, int64_t count, float *to)
{
    fp32_from_bf16(to, (const uint16_t *)from + at, count);
}

static void bf16_encode(const float *from, int64_t count, void *to, int64_t at)
{
    bf16_from_fp32((uint16_t *)to + at, from, count);
}

static void fp32_decode(const void *from, int64_t at, int64_t count, float *to)
{
    memcpy(to, (const float *)from + at, (size_t)count * sizeof *to);
}

static void fp32_encode(const float *from, int64_t count, void *to, int64_t at)
{
    memcpy((float *)to + at, from, (size_t)count * sizeof *from);
}

static uint8_t fp8_code(float f)
{
    uint8_t sign = signbit(f) ? 0x80 : 0;
    float a = fabsf(f);
    if (isnan(f)) return (uint8_t)(sign | 0x7f);
    if (a > 464) return (uint8_t)(sign | 0x7f); /* no infinity: NaN */
    int exponent;
    frexpf(a, &exponent);
    if (exponent < -5) exponent = -5; /* subnormals are multiples of 2^-9 */
    float steps = rintf(ldexpf(a, 4 - exponent));
    if (steps == 16) {
        exponent++;
        steps = 8;
    }
    if (steps < 8) return (uint8_t)(sign | (uint8_t)steps);
    return (uint8_t)(sign | (exponent + 6) << 3 | ((int)steps - 8));
}

static void fp8_decode(const void *from, int64_t at, int64_t count, float *to)
{
    const uint8_t *b = (const uint8_t *)from + at;
    for (int64_t i = 0; i < count; i++) {
        int exponent = b[i] >> 3 & 15, fraction = b[i] & 7;
        float f = exponent == 15 && fraction == 7 ? NAN
                  : exponent == 0                 ? ldexpf((float)fraction, -9)
                                                  : ldexpf((float)(8 + fraction), exponent - 10);
        to[i] = b[i] & 0x80 ? -f : f;
    }
}

static void fp8_encode(const float *from, int64_t count, void *to, int64_t at)
{
    uint8_t *b = (uint8_t *)to + at;
    for (int64_t i = 0; i < count; i++) b[i] = fp8_code(from[i]);
}

/* The upper half of fp16: numbers are rounded to three bits first, so the lower half is empty. */
static void e5m2_decode(const void *from, int64_t at, int64_t count, float *to)
{
    const uint8_t *b = (const uint8_t *)from + at;
    for (int64_t i = 0; i < count; i++) {
        uint16_t half = (uint16_t)(b[i] << 8);
        fp32_from_fp16(kernel_target_best(), to + i, &half, 1);
    }
}

static void e5m2_encode(const float *from, int64_t count, void *to, int64_t at)
{
    uint8_t *b = (uint8_t *)to + at;
    for (int64_t i = 0; i < count; i++) {
        float f = (float)number_rounded((double)from[i], 3, -16);
        uint16_t half;
        fp16_from_fp32(kernel_target_best(), &half, &f, 1);
        b[i] = isnan(from[i]) ? (uint8_t)((half >> 8 & 0x80) | 0x7e) : (uint8_t)(half >> 8);
    }
}

/* To the nearest integer of the range; NaN becomes 0. */
static int64_t dtypes_whole(double x, double low, double high)
{
    if (isnan(x)) return 0;
    return (int64_t)rint(x < low ? low : x > high ? high : x);
}

/* `whole` converts the double `x` to the type. The ends of 64 bits are no numbers of fp64. */
#define INTEGER_TYPE(name, type, whole)                                                                      \
    static void name##_decode(const void *from, int64_t at, int64_t count, float *to)                        \
    {                                                                                                        \
        for (int64_t i = 0; i < count; i++) to[i] = (float)((const type *)from)[at + i];                     \
    }                                                                                                        \
    static void name##_widen(const void *from, int64_t at, int64_t count, double *to)                        \
    {                                                                                                        \
        for (int64_t i = 0; i < count; i++) to[i] = (double)((const type *)from)[at + i];                    \
    }                                                                                                        \
    static void name##_narrow(const double *from, int64_t count, void *to, int64_t at)                       \
    {                                                                                                        \
        for (int64_t i = 0; i < count; i++) {                                                                \
            double x = from[i];                                                                              \
            ((type *)to)[at + i] = (type)(whole);                                                            \
        }                                                                                                    \
    }                                                                                                        \
    static void name##_encode(const float *from, int64_t count, void *to, int64_t at)                        \
    {                                                                                                        \
        for (int64_t i = 0; i < count; i++) {                                                                \
            double x = (double)from[i];                                                                      \
            name##_narrow(&x, 1, to, at + i);                                                                \
        }                                                                                                    \
    }

INTEGER_TYPE(int8, int8_t, dtypes_whole(x, -128, 127))
INTEGER_TYPE(int16, int16_t, dtypes_whole(x, -32768, 32767))
INTEGER_TYPE(int32, int32_t, dtypes_whole(x, -0x1p31, 0x1p31 - 1))
INTEGER_TYPE(uint8, uint8_t, dtypes_whole(x, 0, 255))
INTEGER_TYPE(uint16, uint16_t, dtypes_whole(x, 0, 65535))
INTEGER_TYPE(uint32, uint32_t, dtypes_whole(x, 0, 0x1p32 - 1))
INTEGER_TYPE(int64, int64_t,
             isnan(x)       ? 0
             : x >= 0x1p63  ? INT64_MAX
             : x <= -0x1p63 ? INT64_MIN
                            : (int64_t)rint(x))
INTEGER_TYPE(uint64, uint64_t, isnan(x) || x <= 0 ? 0 : x >= 0x1p64 ? UINT64_MAX : (uint64_t)rint(x))

static void fp64_decode(const void *from, int64_t at, int64_t count, float *to)
{
    for (int64_t i = 0; i < count; i++) to[i] = (float)((const double *)from)[at + i];
}

static void fp64_encode(const float *from, int64_t count, void *to, int64_t at)
{
    for (int64_t i = 0; i < count; i++) ((double *)to)[at + i] = (double)from[i];
}

static void fp64_widen(const void *from, int64_t at, int64_t count, double *to)
{
    memcpy(to, (const double *)from + at, (size_t)count * sizeof *to);
}

static void fp64_narrow(const double *from, int64_t count, void *to, int64_t at)
{
    memcpy((double *)to + at, from, (size_t)count * sizeof *from);
}

/* Two elements per byte, the even one in the low half. */
static int nibble_get(const void *from, int64_t at)
{
    int n = ((const uint8_t *)from)[at / 2] >> (at % 2 * 4) & 15;
    return n >= 8 ? n - 16 : n;
}

static void nibble_put(void *to, int64_t at, int n)
{
    uint8_t *b = (uint8_t *)to + at / 2;
    int shift = (int)(at % 2) * 4;
    *b = (uint8_t)((*b & ~(15 << shift)) | (n & 15) << shift);
}

static void int4_decode(const void *from, int64_t at, int64_t count, float *to)
{
    for (int64_t i = 0; i < count; i++) to[i] = (float)nibble_get(from, at + i);
}

static void int4_encode(const float *from, int64_t count, void *to, int64_t at)
{
    for (int64_t i = 0; i < count; i++) nibble_put(to, at + i, (int)dtypes_whole((double)from[i], -8, 7));
}

/* clang-format off */
#define INTEGER(bits, item, low, high, name) \
    {bits, item, true, 1, high, low, 0, 0, name##_decode, name##_encode, name##_widen, name##_narrow}
#define FLOAT(bits, item, digits, least, decode, encode) \
    {bits, item, false, 0x1p1 / (UINT64_C(1) << (digits)), 0, 0, digits, least, decode, encode, NULL, NULL}

const struct number_type number_types[LX_DTYPE_COUNT] = {
    [LX_FP16] = FLOAT(16, 2, 11, -24, half_decode, half_encode),
    [LX_BF16] = FLOAT(16, 2, 8, -133, bf16_decode, bf16_encode),
    [LX_FP32] = FLOAT(32, 4, 24, -149, fp32_decode, fp32_encode),
    [LX_BFP8] = FLOAT(16, 2, 8, -133, bf16_decode, bf16_encode), /* planned, never computed with */
    [LX_BFP4] = FLOAT(16, 2, 8, -133, bf16_decode, bf16_encode),
    [LX_FP8] = FLOAT(8, 1, 4, -9, fp8_decode, fp8_encode),
    [LX_FP8_E5M2] = FLOAT(8, 1, 3, -16, e5m2_decode, e5m2_encode),
    [LX_FP64] = {64, 8, false, 0x1p-52, 0, 0, 53, -1074, fp64_decode, fp64_encode, fp64_widen, fp64_narrow},
    [LX_INT64] = INTEGER(64, 8, -0x1p63f, 0x1p63f, int64),
    [LX_INT32] = INTEGER(32, 4, -0x1p31f, 0x1p31f, int32),
    [LX_INT16] = INTEGER(16, 2, -32768, 32767, int16),
    [LX_INT8] = INTEGER(8, 1, -128, 127, int8),
    [LX_UINT64] = INTEGER(64, 8, 0, 0x1p64f, uint64),
    [LX_UINT32] = INTEGER(32, 4, 0, 0x1p32f, uint32),
    [LX_UINT16] = INTEGER(16, 2, 0, 65535, uint16),
    [LX_UINT8] = INTEGER(8, 1, 0, 255, uint8),
    [LX_INT4] = {4, 1, true, 1, 7, -8, 0, 0, int4_decode, int4_encode, NULL, NULL},
    [LX_BOOL] = {16, 2, true, 1, 1, 0, 0, 0, half_decode, bool_encode, NULL, NULL},
};
/* clang-format on */

void items_from_memory(const struct number_type *t, const void *from, int64_t at, int64_t count, void *items)
{
    if (t->bits >= 8)
        memcpy(items, (const char *)from + at * t->item, (size_t)(count * t->item));
    else
        for (int64_t i = 0; i < count; i++) ((int8_t *)items)[i] = (int8_t)nibble_get(from, at + i);
}

void items_to_memory(const struct number_type *t, const void *items, int64_t count, void *to, int64_t at)
{
    if (t->bits >= 8)
        memcpy((char *)to + at * t->item, items, (size_t)(count * t->item));
    else
        for (int64_t i = 0; i < count; i++) nibble_put(to, at + i, ((const int8_t *)items)[i]);
}

void items_decode(const struct number_type *t, const void *items, int64_t count, float *to)
{
    if (t->bits >= 8)
        t->decode(items, 0, count, to);
    else
        int8_decode(items, 0, count, to);
}

void items_encode(const struct number_type *t, const float *from, int64_t count, void *items)
{
    if (t->bits >= 8)
        t->encode(from, count, items, 0);
    else
        for (int64_t i = 0; i < count; i++)
            ((int8_t *)items)[i] = (int8_t)dtypes_whole((double)from[i], -8, 7);
}
