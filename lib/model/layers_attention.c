/* Attention in its many forms. */
#include "model/attention_scores.h"
#include "model/quantised_parts.h"

#include <string.h>

/* Which keys count: [B] lengths, or [B,T] and [B,S,T] of 0 and 1. */
static int32_t allowed_by(struct layer *l, int32_t mask, int64_t batch, int64_t keys)
{
    const struct model_type *t = layer_type(l, mask);
    if (mask < 0 || !l->ok) return -1;
    if (t->count == 1 && t->extent[0] == batch) {
        int32_t length = layer_cast(l, layer_channels(l, mask, 4, 0), MODEL_I64);
        return layer_two(l, "Less", attention_counter(l, 0, keys, 4, 3), length);
    }
    int64_t shape[4] = {batch, 1, 1, keys};
    if (t->count == 3) shape[2] = t->extent[1];
    if (t->count < 2 || t->count > 3 || t->extent[t->count - 1] != keys) return layer_fail(l), -1;
    int32_t is = layer_reshape(l, mask, 4, shape);
    return layer_two(l, "Greater", is, layer_number(l, t->element, 0));
}

/* x, weights, bias?, mask?, past?, position bias?: one product for all three, x, cut in three. */
static void attention_on(struct layer *l, int32_t x, int mask_at, int past_at, int bias_at)
{
    int32_t part[3], past = layer_in(l, past_at);
    int64_t heads = layer_int(l, "num_heads", 0), width = attention_extent(l, x, 2) / 3, from = 0;
    int count;
    const int64_t *sizes = model_attr_ints(&l->op->attrs, "qkv_hidden_sizes", &count);
    if (layer_has(l, 2)) x = layer_two(l, "Add", x, layer_in(l, 2));
    for (int i = 0; i < 3; i++) {
        int64_t size = count == 3 ? sizes[i] : width;
        if (size < 1 || size > INT32_MAX) {
            layer_fail(l);
            return;
        }
        part[i] = attention_heads(l, layer_slice(l, x, 2, from, from + size), heads);
        from += size;
    }
    struct attention a = {.sink = -1,
                          .q = part[0],
                          .k = part[1],
                          .v = part[2],
                          .bias = bias_at < 0 ? -1 : layer_in(l, bias_at),
                          .allowed = -1,
                          .first = -1};
    a.filter = layer_real(l, "mask_filter_value", -10000);
    a.scale = attention_scale(l, part[0]);
    if (layer_int(l, "unidirectional", 0)) a.first = past >= 0 ? attention_extent(l, past, 3) : 0;
    for (int i = 0; past >= 0 && i < 2; i++) {
        const struct model_type *p = layer_type(l, past);
        if (p->count != 5) {
            layer_fail(l);
            return;
        }
        int32_t before = layer_reshape(l, layer_slice(l, past, 0, i, i + 1), 4, p->extent + 1);
        *(i ? &a.v : &a.k) = attention_appended(l, before, i ? a.v : a.k);
    }
    a.allowed = allowed_by(l, layer_in(l, mask_at), attention_extent(l, a.q, 0), attention_extent(l, a.k, 2));
    layer_result(l, 0, attention_merged(l, attention_of(l, &a)));
    if (l->op->result_count < 2 || l->op->results[1] < 0) return;
    int64_t one[] = {1, attention_extent(l, a.k, 0), attention_extent(l, a.k, 1), attention_extent(l, a.k, 2),
                     attention_extent(l, a.k, 3)};
    int32_t both[] = {layer_reshape(l, a.k, 5, one), layer_reshape(l, a.v, 5, one)};
    layer_result(l, 1, layer_concat(l, 0, 2, both));
}

static void attention(struct layer *l)
{
    if (layer_int(l, "do_rotary", 0) || layer_int(l, "past_present_share_buffer", 0) || layer_has(l, 6)) {
        layer_fail(l);
        return;
    }
    attention_on(l, layer_two(l, "MatMul", layer_in(l, 0), layer_in(l, 1)), 3, 4, 5);
}

/* The same of whole numbers: x, weights, bias, their scales, mask?, their zero points?, past? */
static void quantised_attention(struct layer *l)
{
    int32_t a = quantised_shifted(l, layer_in(l, 0), layer_in(l, 6), -1),
            b = quantised_shifted(l, layer_in(l, 1), layer_in(l, 7), -1);
    int32_t scale = layer_two(l, "Mul", layer_in(l, 3), layer_in(l, 4));
    if (layer_int(l, "do_rotary", 0) || !layer_has(l, 2)) {
        layer_fail(l);
        return;
    }
    int32_t x = layer_cast(l, layer_two(l, "MatMul", a, b), layer_element(l, layer_in(l, 2)));
    attention_on(l, layer_two(l, "Mul", x, scale), 5, 8, -1);
}

/* Part i of `parts` that are packed in dimension 3 of [B,S,H,parts,D]: [B,H,S,D]. */
static int32_t unpacked(struct layer *l, int32_t x, int i, int parts)
{
    const struct model_type *t = layer_type(l, x);
    if (t->count != 5 || t->extent[3] != parts) return layer_fail(l), -1;
    int64_t shape[] = {t->extent[0], t->extent[1], t->extent[2], t->extent[4]};
    x = layer_reshape(l, layer_slice(l, x, 3, i, i + 1), 4, shape);
    return layer_permute(l, x, 4, (int64_t[]){0, 2, 1, 3});
}

/* q, k or v of MultiHeadAttention: packed, in heads already, or [B,S,H D] with its part of the bias. */
static int32_t one_of_three(struct layer *l, int i, int64_t heads, int64_t *from)
{
    int packed = layer_type(l, layer_in(l, 0))->count == 5   ? 0
                 : layer_type(l, layer_in(l, 1))->count == 5 ? 1
                                                             : 2;
    int32_t x = layer_in(l, i < packed || packed == 2 ? i : packed);
    const struct model_type *t = layer_type(l, x);
    if (packed <= i && packed < 2)
        return layer_has(l, 3) ? (layer_fail(l), -1) : unpacked(l, x, i - packed, 3 - packed);
    if (!layer_has(l, i)) return layer_fail(l), -1;
    if (t->count == 4 && i > 0 && !layer_has(l, 3)) return x;
    if (t->count != 3) return layer_fail(l), -1;
    if (layer_has(l, 3))
        x = layer_two(l, "Add", x, layer_slice(l, layer_in(l, 3), 0, *from, *from + t->extent[2]));
    *from += t->extent[2];
    return attention_heads(l, x, heads);
}

/* q, k, v, bias?, key mask?, position bias?, past k?, past v? */
static void multi_head(struct layer *l)
{
    int64_t heads = layer_int(l, "num_heads", 0), from = 0;
    struct attention a = {.sink = -1, .bias = layer_in(l, 5), .allowed = -1, .first = -1};
    int32_t *part[] = {&a.q, &a.k, &a.v};
    if (layer_has(l, 8) || layer_has(l, 9)) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < 3; i++) *part[i] = one_of_three(l, i, heads, &from);
    if (!l->ok) return;
    a.k = attention_appended(l, layer_in(l, 6), a.k);
    a.v = attention_appended(l, layer_in(l, 7), a.v);
    a.filter = layer_real(l, "mask_filter_value", -10000);
    a.scale = attention_scale(l, a.q);
    if (layer_int(l, "unidirectional", 0))
        a.first = layer_has(l, 6) ? attention_extent(l, layer_in(l, 6), 2) : 0;
    a.allowed = allowed_by(l, layer_in(l, 4), attention_extent(l, a.q, 0), attention_extent(l, a.k, 2));
    layer_result(l, 0, attention_merged(l, attention_of(l, &a)));
    layer_result(l, 1, a.k);
    layer_result(l, 2, a.v);
}

/* One query over a buffer of keys and values that it adds its own to: q, k, v, mask?, bias?, the buffers, how many are in
 * them; where k is in heads already it is all there is. */
static void decoder_head(struct layer *l)
{
    int64_t heads = layer_int(l, "num_heads", 0), keys = attention_extent(l, layer_in(l, 5), 2);
    bool crossed = layer_type(l, layer_in(l, 1))->count == 4;
    for (int i = 8; i < l->op->operand_count; i++)
        if (layer_has(l, i)) layer_fail(l);
    if (!l->ok || layer_has(l, 3) ||
        (!crossed && (!layer_has(l, 5) || !layer_has(l, 6) || !layer_has(l, 7)))) {
        layer_fail(l);
        return;
    }
    struct attention a = {.q = attention_heads(l, layer_in(l, 0), heads),
                          .bias = layer_in(l, 4),
                          .allowed = -1,
                          .first = -1,
                          .sink = -1};
    int32_t *to[] = {&a.k, &a.v}, zero = layer_number(l, MODEL_I64, 0);
    int32_t at = crossed ? -1 : layer_cast(l, layer_reshape(l, layer_in(l, 7), 0, NULL), MODEL_I64);
    for (int i = 0; i < 2; i++) {
        int32_t x = crossed ? layer_in(l, 1 + i) : attention_heads(l, layer_in(l, 1 + i), heads);
        *to[i] = crossed ? x
                         : layer_part(l, "lxplan:DynamicInsert", 6,
                                      (int32_t[]){layer_in(l, 5 + i), x, zero, zero, at, zero});
        layer_result(l, 1 + i, *to[i]);
    }
    if (!crossed) a.allowed = layer_two(l, "LessOrEqual", attention_counter(l, 0, keys, 4, 3), at);
    a.scale = attention_scale(l, a.q);
    layer_result(l, 0, attention_merged(l, attention_of(l, &a)));
}

/* Attention of ai.onnx: q, k, v of four dimensions, or of three with the numbers of heads; mask?, past k?, past v? */
static void plain_attention(struct layer *l)
{
    int32_t part[3];
    bool flat = layer_type(l, layer_in(l, 0))->count == 3;
    for (int i = 0; i < 3; i++) {
        if (!layer_has(l, i)) {
            layer_fail(l);
            return;
        }
        int64_t heads = layer_int(l, i ? "kv_num_heads" : "q_num_heads", 0);
        part[i] = flat ? attention_heads(l, layer_in(l, i), heads) : layer_in(l, i);
    }
    struct attention a = {.sink = -1, .q = part[0], .bias = -1, .allowed = -1, .first = -1};
    a.k = attention_appended(l, layer_in(l, 4), part[1]);
    a.v = attention_appended(l, layer_in(l, 5), part[2]);
    a.scale = attention_scale(l, part[0]);
    a.cap = layer_real(l, "softcap", 0);
    if (layer_int(l, "is_causal", 0)) a.first = layer_has(l, 4) ? attention_extent(l, layer_in(l, 4), 2) : 0;
    bool choice = layer_element(l, layer_in(l, 3)) == MODEL_BOOL;
    if (layer_has(l, 3)) *(choice ? &a.allowed : &a.bias) = layer_in(l, 3);
    if (layer_has(l, 6)) {
        int32_t filled =
            allowed_by(l, layer_in(l, 6), attention_extent(l, a.q, 0), attention_extent(l, a.k, 2));
        a.allowed = a.allowed < 0 ? filled : layer_two(l, "And", a.allowed, filled);
    }
    int32_t y = attention_of(l, &a); /* the cap before the mask, which would be lost otherwise */
    layer_result(l, 0, flat ? attention_merged(l, y) : y);
    layer_result(l, 1, a.k);
    layer_result(l, 2, a.v);
    int64_t seen = layer_int(l, "qk_matmul_output_mode", 0);
    bool capped = a.cap > 0 && seen < 3; /* versions number the cap and the mask differently */
    if (l->op->result_count > 3 && l->op->results[3] >= 0 && !capped)
        layer_result(l, 3, a.seen[seen == 0 ? 0 : seen < 3 ? 1 : 2]);
}

/* clang-format off */
const struct layer_row layers_attention[] = {
    {{NULL, NULL, "com.microsoft:Attention"}, attention},
    {{NULL, NULL, "com.microsoft:QAttention"}, quantised_attention},
    {{NULL, NULL, "com.microsoft:MultiHeadAttention"}, multi_head},
    {{NULL, NULL, "com.microsoft:DecoderMaskedMultiHeadAttention"}, decoder_head},
    {{NULL, NULL, "Attention"}, plain_attention},
    {{NULL}, NULL},
};
/* clang-format on */
