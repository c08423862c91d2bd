/* The list of targets, best first. */
#include "kernels/kernel_target.h"

static const struct kernel_target *const targets[] = {
#ifdef __x86_64__
    &kernel_target_avx512,
    &kernel_target_avx2,
#endif
    &kernel_target_vector128,
    &kernel_target_portable,
};
enum { TARGETS = sizeof targets / sizeof *targets };

const struct kernel_target *kernel_target_at(int i)
{
    for (int t = 0; t < TARGETS; t++)
        if (targets[t]->supported() && i-- == 0) return targets[t];
    return NULL;
}

const struct kernel_target *kernel_target_best(void)
{
    return kernel_target_at(0);
}

const char *kernel_target_name(const struct kernel_target *t)
{
    return t->name;
}

int kernel_target_near_floats(const struct kernel_target *t)
{
    return t->near_floats;
}

/* Conversions between fp32 and the two 16-bit formats, in integers: the same bits on every machine, and as
 * loops without branches that compilers turn into vectors. Targets with instructions for fp16 bring their
 * own. */

static uint32_t convert_bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Normal results: rebias the exponent by 112 and round the 13 bits that go; a carry out of the mantissa
 * raises the exponent, up to infinity, as it should. Subnormal results: adding 0.5 puts the unit of the last
 * place of fp16 (2^-24) at the last place of fp32, so that the addition itself rounds. */
static uint16_t narrow_one(float x)
{
    const uint32_t bits = convert_bits_of(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    const uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const uint32_t tiny = convert_bits_of(float_of(magnitude) + 0.5f) - 0x3f000000;
    const uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    uint32_t result = magnitude < 0x38800000 ? tiny : normal; /* below 2^-14 */
    result = magnitude >= 0x47800000 ? 0x7c00 : result;       /* from 2^16 on: infinity */
    result = magnitude > 0x7f800000 ? nan : result;
    return (uint16_t)(sign | result);
}

void fp16_narrow_in_integers(uint16_t *to, const float *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] = narrow_one(from[i]);
}

void fp16_widen_in_integers(float *to, const uint16_t *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        /* Normal: rebias. Subnormal: m * 2^-24, which is exact in fp32. */
        uint16_t half = from[i];
        const uint32_t sign = (uint32_t)(half & 0x8000) << 16, magnitude = half & 0x7fff;
        const uint32_t normal = (magnitude << 13) + (112u << 23);
        const uint32_t tiny = convert_bits_of((float)(int32_t)magnitude * 0x1p-24f);
        uint32_t result = magnitude < 0x400 ? tiny : normal;
        result = magnitude >= 0x7c00 ? 0x7f800000 | magnitude << 13 : result;
        result = magnitude > 0x7c00 ? result | 0x00400000 : result;
        to[i] = float_of(sign | result);
    }
}

void fp16_from_fp32(const struct kernel_target *t, uint16_t *to, const float *from, int64_t count)
{
    (t->narrow ? t->narrow : fp16_narrow_in_integers)(to, from, count);
}

void fp32_from_fp16(const struct kernel_target *t, float *to, const uint16_t *from, int64_t count)
{
    (t->widen ? t->widen : fp16_widen_in_integers)(to, from, count);
}

void bf16_from_fp32(uint16_t *to, const float *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const uint32_t bits = convert_bits_of(from[i]), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        to[i] = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
    }
}

void fp32_from_bf16(float *to, const uint16_t *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const uint32_t bits = (uint32_t)from[i] << 16;
        to[i] = float_of((bits & 0x7fffffff) > 0x7f800000 ? bits | 0x00400000 : bits);
    }
}
