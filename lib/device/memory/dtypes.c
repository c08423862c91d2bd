/* One row a type: fp16 is IEEE binary16, bf16 its namesake, fp8 is 1-4-3 with the largest number 448 and no
 * infinity, int64 is narrowed to 32 bits and a bool is a 16-bit 0 or 1, as the device has them. */
#include "device/memory/dtypes.h"
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

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

static float fp8_value(uint8_t b)
{
    int exponent = b >> 3 & 15, fraction = b & 7;
    float f = exponent == 15 && fraction == 7 ? NAN
              : exponent == 0                 ? ldexpf((float)fraction, -9)
                                              : ldexpf((float)(8 + fraction), exponent - 10);
    return b & 0x80 ? -f : f;
}

static uint8_t fp8_code(float f)
{
    uint8_t sign = signbit(f) ? 0x80 : 0;
    float a = fabsf(f);
    if (isnan(f)) return (uint8_t)(sign | 0x7f);
    if (a > 464) return (uint8_t)(sign | 0x7f); /* nothing near: no infinity */
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
    for (int64_t i = 0; i < count; i++) to[i] = fp8_value(b[i]);
}

static void fp8_encode(const float *from, int64_t count, void *to, int64_t at)
{
    uint8_t *b = (uint8_t *)to + at;
    for (int64_t i = 0; i < count; i++) b[i] = fp8_code(from[i]);
}

/* To the nearest integer of the range; what is no number becomes 0. */
static int32_t whole(float f, float low, float high)
{
    if (isnan(f)) return 0;
    if (f <= low) return (int32_t)low;
    if (f >= high) return high >= 0x1p31f ? INT32_MAX : (int32_t)high;
    return (int32_t)rintf(f);
}

static void int32_decode(const void *from, int64_t at, int64_t count, float *to)
{
    const int32_t *n = (const int32_t *)from + at;
    for (int64_t i = 0; i < count; i++) to[i] = (float)n[i];
}

static void int32_encode(const float *from, int64_t count, void *to, int64_t at)
{
    int32_t *n = (int32_t *)to + at;
    for (int64_t i = 0; i < count; i++) n[i] = whole(from[i], -0x1p31f, 0x1p31f);
}

static void int8_decode(const void *from, int64_t at, int64_t count, float *to)
{
    const int8_t *n = (const int8_t *)from + at;
    for (int64_t i = 0; i < count; i++) to[i] = n[i];
}

static void int8_encode(const float *from, int64_t count, void *to, int64_t at)
{
    int8_t *n = (int8_t *)to + at;
    for (int64_t i = 0; i < count; i++) n[i] = (int8_t)whole(from[i], -128, 127);
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
    for (int64_t i = 0; i < count; i++) nibble_put(to, at + i, whole(from[i], -8, 7));
}

const struct number_type number_types[LX_DTYPE_COUNT] = {
    [LX_FP16] = {16, 2, false, 0x1p-10, 0, 0, half_decode, half_encode},
    [LX_BF16] = {16, 2, false, 0x1p-7, 0, 0, bf16_decode, bf16_encode},
    [LX_FP32] = {32, 4, false, 0x1p-23, 0, 0, fp32_decode, fp32_encode},
    [LX_FP8] = {8, 1, false, 0x1p-3, 0, 0, fp8_decode, fp8_encode},
    [LX_INT64] = {32, 4, true, 1, 0x1p31f, -0x1p31f, int32_decode, int32_encode},
    [LX_INT32] = {32, 4, true, 1, 0x1p31f, -0x1p31f, int32_decode, int32_encode},
    [LX_INT8] = {8, 1, true, 1, 127, -128, int8_decode, int8_encode},
    [LX_INT4] = {4, 1, true, 1, 7, -8, int4_decode, int4_encode},
    [LX_BOOL] = {16, 2, true, 1, 1, 0, half_decode, bool_encode},
};

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
        for (int64_t i = 0; i < count; i++) ((int8_t *)items)[i] = (int8_t)whole(from[i], -8, 7);
}
