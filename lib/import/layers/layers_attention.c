/* Attention in matmuls, a mask and a softmax. Queries are [B,H,S,D], keys and values [B,K,T,D]: each of
 * the K heads serves a group of H / K queries. */
#include "import/layers/layers.h"

struct attention {
    int32_t q, k, v;
    int32_t bias; /* added to the scores, broadcast to [B,H,S,T]; -1: none */
    double softcap;
    int64_t first;  /* causal: the key of the first query; later keys are masked; -1: no mask */
    int64_t window; /* sliding window: keys that a query sees, its own included; 0: all before it */
};

static int64_t attention_extent(const struct layer *l, int32_t value, int dim)
{
    const struct model_type *t = layer_type(l, value);
    return dim < t->count ? t->extent[dim] : 1;
}

/* from, from + 1, .. along dimension `axis` of five. */
static int32_t attention_counter(struct layer *l, int64_t from, int64_t n, int axis)
{
    int32_t range[] = {layer_number(l, MODEL_I64, (double)from),
                       layer_number(l, MODEL_I64, (double)(from + n)), layer_number(l, MODEL_I64, 1)};
    return layer_channels(l, layer_part(l, "Range", 3, range), 5, axis);
}

/* Adds a bias [B,H,S,T] and the mask to scores [B,K,H/K,S,T]. */
static int32_t attention_masked(struct layer *l, const struct attention *a, int32_t scores)
{
    int64_t queries = attention_extent(l, a->q, 2), keys = attention_extent(l, a->k, 2);
    enum model_element e = layer_type(l, scores)->element;
    if (a->bias >= 0) {
        const struct model_type *t = layer_type(l, a->bias);
        int64_t shape[5] = {1, 1, 1, 1, 1}, kv = attention_extent(l, a->k, 1);
        int from = 4 - t->count;
        if (from < 0) return layer_fail(l);
        for (int d = from; d < 4; d++) shape[d == 0 ? 0 : d + 1] = t->extent[d - from];
        if (from <= 1 && t->extent[1 - from] != 1) {
            shape[1] = kv;
            shape[2] = t->extent[1 - from] / kv;
        }
        scores = layer_two(l, "Add", scores, layer_cast(l, layer_reshape(l, a->bias, 5, shape), e));
    }
    if (a->first >= 0) VEC_PUSH(&l->m->causal, a->first);
    bool slides = a->window > 0 && a->window < a->first + queries;
    if (a->first < 0 || (a->first >= keys - 1 && !slides)) return scores;
    int32_t row = attention_counter(l, a->first, queries, 3), column = attention_counter(l, 0, keys, 4);
    int32_t seen = layer_two(l, "GreaterOrEqual", row, column);
    if (slides) {
        int32_t distance = layer_two(l, "Sub", row, column);
        seen = layer_two(l, "And", seen, layer_by(l, "Less", distance, (double)a->window));
    }
    return layer_part(l, "Where", 3, (int32_t[]){seen, scores, layer_number(l, e, -INFINITY)});
}

/* Scores are scaled by the attribute, or by 1 / sqrt(D). */
static int32_t attention_of(struct layer *l, const struct attention *a)
{
    int64_t b = attention_extent(l, a->q, 0), h = attention_extent(l, a->q, 1),
            s = attention_extent(l, a->q, 2), d = attention_extent(l, a->q, 3);
    int64_t kv = attention_extent(l, a->k, 1), t = attention_extent(l, a->k, 2),
            dv = attention_extent(l, a->v, 3);
    double scale = layer_real(l, "scale", 0);
    if (scale == 0) scale = 1 / sqrt((double)d);
    if (!l->ok || kv < 1 || h % kv != 0) return layer_fail(l);
    int32_t q = layer_reshape(l, a->q, 5, (int64_t[]){b, kv, h / kv, s, d});
    int32_t k = layer_reshape(l, a->k, 5, (int64_t[]){attention_extent(l, a->k, 0), kv, 1, t, d});
    int32_t v = layer_reshape(l, a->v, 5, (int64_t[]){attention_extent(l, a->v, 0), kv, 1, t, dv});
    int32_t x = layer_two(l, "MatMul", q, layer_permute(l, k, 5, (int64_t[]){0, 1, 2, 4, 3}));
    if (scale != 1) x = layer_by(l, "Mul", x, scale);
    if (a->softcap > 0)
        x = layer_by(l, "Mul", layer_one(l, "Tanh", layer_by(l, "Div", x, a->softcap)), a->softcap);
    x = attention_masked(l, a, x);
    layer_put(l, "axis", -1);
    x = layer_one(l, "Softmax", x);
    return layer_reshape(l, layer_two(l, "MatMul", x, v), 4, (int64_t[]){b, h, s, dv});
}

/* [B,S,H D] as [B,H,S,D] */
static int32_t attention_heads(struct layer *l, int32_t x, int64_t heads)
{
    int64_t b = attention_extent(l, x, 0), s = attention_extent(l, x, 1), width = attention_extent(l, x, 2);
    if (!l->ok || heads < 1 || width % heads != 0) return layer_fail(l);
    x = layer_reshape(l, x, 4, (int64_t[]){b, s, heads, width / heads});
    return layer_permute(l, x, 4, (int64_t[]){0, 2, 1, 3});
}

/* Operands are q, k, v, past k, past v, lengths, total, cos, sin, positions, bias, sink. Caches grow by the
 * new rows; caches in a shared buffer, RoPE inside the op, sinks and quantised caches leave the op
 * generic. */
bool derive_group_query(struct layer *l)
{
    int64_t heads = layer_int(l, "num_heads", 0), kv = layer_int(l, "kv_num_heads", 0);
    int32_t q = layer_in(l, 0), k = layer_in(l, 1), v = layer_in(l, 2), past_k = layer_in(l, 3),
            past_v = layer_in(l, 4);
    bool quantised = strcmp(model_attr_word(&l->op->attrs, "k_quant_type", "NONE"), "NONE") != 0 ||
                     strcmp(model_attr_word(&l->op->attrs, "v_quant_type", "NONE"), "NONE") != 0;
    if (heads < 1 || kv < 1 || layer_type(l, q)->count != 3 || quantised || layer_int(l, "do_rotary", 0) ||
        layer_in(l, 11) >= 0 || layer_int(l, "smooth_softmax", 0) > 0)
        return false;
    if (k < 0) {
        int64_t d = attention_extent(l, q, 2) / (heads + 2 * kv);
        k = layer_slice(l, q, 2, heads * d, (heads + kv) * d);
        v = layer_slice(l, q, 2, (heads + kv) * d, (heads + 2 * kv) * d);
        q = layer_slice(l, q, 2, 0, heads * d);
    }
    q = attention_heads(l, q, heads);
    k = attention_heads(l, k, kv);
    v = attention_heads(l, v, kv);
    int64_t window = layer_int(l, "local_window_size", -1);
    struct attention a = {q, k, v, layer_in(l, 10), layer_real(l, "softcap", 0), 0, window > 0 ? window : 0};
    if (past_k >= 0) a.k = layer_concat(l, 2, 2, (int32_t[]){past_k, k});
    if (past_v >= 0) a.v = layer_concat(l, 2, 2, (int32_t[]){past_v, v});
    if (past_k >= 0) a.first = attention_extent(l, past_k, 2);
    int32_t y = attention_of(l, &a);
    if (!l->ok) return false;
    for (int r = 1; r < 3 && r < l->op->result_count; r++)
        if (l->op->results[r] >= 0 &&
            attention_extent(l, l->op->results[r], 2) != attention_extent(l, a.k, 2))
            return false;
    int64_t merged[] = {attention_extent(l, y, 0), attention_extent(l, y, 2),
                        attention_extent(l, y, 1) * attention_extent(l, y, 3)};
    layer_result(l, 0, layer_reshape(l, layer_permute(l, y, 4, (int64_t[]){0, 2, 1, 3}), 3, merged));
    layer_result(l, 1, a.k);
    return layer_result(l, 2, a.v);
}

/* query, key, value, mask? of [B,H,S,D]; a sink leaves the op generic. */
bool derive_attention(struct layer *l)
{
    bool causal = layer_int(l, "is_causal", layer_in(l, 3) < 0) != 0;
    int64_t window = layer_int(l, "sliding_window_size", 0);
    if (layer_type(l, layer_in(l, 0))->count != 4 || layer_in(l, 4) >= 0) return false;
    struct attention a = {layer_in(l, 0), layer_in(l, 1), layer_in(l, 2), layer_in(l, 3), 0, 0, 0};
    a.first = causal ? 0 : -1;
    a.window = causal && window > 0 ? window : 0;
    return layer_result(l, 0, attention_of(l, &a));
}
