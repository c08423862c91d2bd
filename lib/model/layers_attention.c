/* Attention in its many forms: scores, mask, softmax and the weighted sum, heads in groups that share keys and values.
 *
 * Inside, queries are [B, H, S, D], keys and values [B, K, T, D] with K heads for groups of H / K queries. */
#include "model/attention.h"

#include <math.h>
#include <string.h>

static int64_t extent(const struct layer *l, int32_t value, int dim)
{
    const struct model_type *t = layer_type(l, value);
    return dim < t->count ? t->extent[dim] : 1;
}

/* 0, 1, .. along the last dimension of [1, .., n] of that rank, or the one before it. */
int32_t attention_counter(struct layer *l, int64_t from, int64_t n, int rank, int axis)
{
    int32_t first = layer_number(l, MODEL_I64, (double)from),
            last = layer_number(l, MODEL_I64, (double)(from + n));
    int32_t one = layer_number(l, MODEL_I64, 1);
    return layer_channels(l, layer_part(l, "Range", 3, (int32_t[]){first, last, one}), rank, axis);
}

static int32_t only_where(struct layer *l, int32_t allowed, int32_t scores, double other)
{
    int32_t no = layer_number(l, layer_element(l, scores), other);
    return layer_part(l, "Where", 3, (int32_t[]){allowed, scores, no});
}

/* A mask over [B,H,S,T] as one over the scores [B,K,H/K,S,T]. */
static int32_t over_groups(struct layer *l, int32_t mask, int64_t kv)
{
    const struct model_type *t = layer_type(l, mask);
    int64_t shape[5] = {1, 1, 1, 1, 1};
    int from = 4 - t->count;
    if (from < 0 || !l->ok) return layer_fail(l), -1;
    for (int d = from; d < 4; d++) shape[d == 0 ? 0 : d + 1] = t->extent[d - from];
    if (from <= 1 && t->extent[1 - from] != 1) {
        shape[1] = kv;
        shape[2] = t->extent[1 - from] / kv;
    }
    return layer_reshape(l, mask, 5, shape);
}

static int32_t masked(struct layer *l, const struct attention *a, int32_t s)
{
    int64_t kv = extent(l, a->k, 1), queries = extent(l, a->q, 2), keys = extent(l, a->k, 2);
    if (a->bias >= 0) {
        int32_t bias = layer_cast(l, over_groups(l, a->bias, kv), layer_element(l, s));
        s = layer_two(l, "Add", s, bias);
    }
    if (a->allowed >= 0) s = only_where(l, over_groups(l, a->allowed, kv), s, -INFINITY);
    if (!a->causal || queries == 1) return s;
    int32_t row = attention_counter(l, keys - queries, queries, 5, 3),
            column = attention_counter(l, 0, keys, 5, 4);
    return only_where(l, layer_two(l, "GreaterOrEqual", row, column), s, -INFINITY);
}

/* [B,H,S,D] */
int32_t attention_of(struct layer *l, const struct attention *a)
{
    int64_t b = extent(l, a->q, 0), h = extent(l, a->q, 1), s = extent(l, a->q, 2), d = extent(l, a->q, 3);
    int64_t kv = extent(l, a->k, 1), t = extent(l, a->k, 2), dv = extent(l, a->v, 3);
    if (!l->ok || kv < 1 || h % kv != 0) return layer_fail(l), -1;
    int32_t q = layer_reshape(l, a->q, 5, (int64_t[]){b, kv, h / kv, s, d});
    int32_t k = layer_reshape(l, a->k, 5, (int64_t[]){extent(l, a->k, 0), kv, 1, t, d});
    int32_t v = layer_reshape(l, a->v, 5, (int64_t[]){extent(l, a->v, 0), kv, 1, t, dv});
    int32_t x = layer_two(l, "MatMul", q, layer_permute(l, k, 5, (int64_t[]){0, 1, 2, 4, 3}));
    if (a->scale != 1) x = layer_by(l, "Mul", x, a->scale);
    if (a->cap > 0) x = layer_by(l, "Mul", layer_one(l, "Tanh", layer_by(l, "Div", x, a->cap)), a->cap);
    x = layer_softmax(l, masked(l, a, x), -1);
    return layer_reshape(l, layer_two(l, "MatMul", x, v), 4, (int64_t[]){b, h, s, dv});
}

/* [B,S,H D] as [B,H,S,D], and back */
static int32_t heads_of(struct layer *l, int32_t x, int64_t heads)
{
    int64_t b = extent(l, x, 0), s = extent(l, x, 1), width = extent(l, x, 2);
    if (!l->ok || heads < 1 || width % heads != 0) return layer_fail(l), -1;
    x = layer_reshape(l, x, 4, (int64_t[]){b, s, heads, width / heads});
    return layer_permute(l, x, 4, (int64_t[]){0, 2, 1, 3});
}

static int32_t merged(struct layer *l, int32_t x)
{
    int64_t shape[] = {extent(l, x, 0), extent(l, x, 2), extent(l, x, 1) * extent(l, x, 3)};
    return layer_reshape(l, layer_permute(l, x, 4, (int64_t[]){0, 2, 1, 3}), 3, shape);
}

static double root_scale(const struct layer *l, int32_t q)
{
    return 1 / sqrt((double)extent(l, q, 3));
}

double attention_scale(const struct layer *l, int32_t q)
{
    double given = layer_real(l, "scale", 0);
    return given != 0 ? given : root_scale(l, q);
}

static int32_t appended(struct layer *l, int32_t past, int32_t now)
{
    return past < 0 ? now : layer_concat(l, 2, 2, (int32_t[]){past, now});
}

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

/* x, weights, bias?, mask?, past?, position bias?: one product for all three, cut in three. */
static void attention(struct layer *l)
{
    int32_t x = layer_two(l, "MatMul", layer_in(l, 0), layer_in(l, 1)), part[3];
    int64_t heads = layer_int(l, "num_heads", 0), width = extent(l, x, 2) / 3, from = 0;
    int count;
    const int64_t *sizes = model_attr_ints(&l->op->attrs, "qkv_hidden_sizes", &count);
    if (layer_has(l, 2)) x = layer_two(l, "Add", x, layer_in(l, 2));
    for (int i = 0; i < 3; i++) {
        int64_t size = count == 3 ? sizes[i] : width;
        if (size < 1 || size > INT32_MAX) {
            layer_fail(l);
            return;
        }
        part[i] = heads_of(l, layer_slice(l, x, 2, from, from + size), heads);
        from += size;
    }
    struct attention a = {part[0], part[1],
                          part[2], layer_in(l, 5),
                          -1,      attention_scale(l, part[0]),
                          0,       layer_int(l, "unidirectional", 0) != 0};
    for (int i = 0; layer_has(l, 4) && i < 2; i++) {
        const struct model_type *p = layer_type(l, layer_in(l, 4));
        if (p->count != 5) {
            layer_fail(l);
            return;
        }
        int32_t past = layer_reshape(l, layer_slice(l, layer_in(l, 4), 0, i, i + 1), 4, p->extent + 1);
        *(i ? &a.v : &a.k) = appended(l, past, i ? a.v : a.k);
    }
    a.allowed = allowed_by(l, layer_in(l, 3), extent(l, a.q, 0), extent(l, a.k, 2));
    layer_result(l, 0, merged(l, attention_of(l, &a)));
    if (l->op->result_count < 2 || l->op->results[1] < 0) return;
    int64_t one[] = {1, extent(l, a.k, 0), extent(l, a.k, 1), extent(l, a.k, 2), extent(l, a.k, 3)};
    int32_t both[] = {layer_reshape(l, a.k, 5, one), layer_reshape(l, a.v, 5, one)};
    layer_result(l, 1, layer_concat(l, 0, 2, both));
}

/* q, k, v (each [B,S,H D]), bias?, key mask?, position bias?, past k?, past v? */
static void multi_head(struct layer *l)
{
    int64_t heads = layer_int(l, "num_heads", 0), from = 0;
    int32_t part[3];
    for (int i = 0; i < 3; i++) {
        const struct model_type *t = layer_type(l, layer_in(l, i));
        if (!layer_has(l, i) || t->count != 3) {
            layer_fail(l);
            return;
        }
        part[i] = layer_in(l, i);
        if (layer_has(l, 3))
            part[i] =
                layer_two(l, "Add", part[i], layer_slice(l, layer_in(l, 3), 0, from, from + t->extent[2]));
        from += t->extent[2];
        part[i] = heads_of(l, part[i], heads);
    }
    struct attention a = {part[0],
                          appended(l, layer_in(l, 6), part[1]),
                          appended(l, layer_in(l, 7), part[2]),
                          layer_in(l, 5),
                          -1,
                          attention_scale(l, part[0]),
                          0,
                          layer_int(l, "unidirectional", 0) != 0};
    a.allowed = allowed_by(l, layer_in(l, 4), extent(l, a.q, 0), extent(l, a.k, 2));
    layer_result(l, 0, merged(l, attention_of(l, &a)));
    layer_result(l, 1, a.k);
    layer_result(l, 2, a.v);
}

/* x cos + (the other half, the first of them negative) sin, on the first dimensions that the tables cover. Tables are
 * [.., S, D/2], broadcast to [B,H,S,D/2]. */
static int32_t turned(struct layer *l, int32_t x, int32_t cosine, int32_t sine, bool interleaved)
{
    int64_t b = extent(l, x, 0), h = extent(l, x, 1), s = extent(l, x, 2), d = extent(l, x, 3);
    int64_t half = extent(l, cosine, layer_type(l, cosine)->count - 1);
    int32_t rest = -1, a, c;
    if (!l->ok || 2 * half > d) return layer_fail(l), -1;
    if (2 * half < d) {
        rest = layer_slice(l, x, 3, 2 * half, d);
        x = layer_slice(l, x, 3, 0, 2 * half);
    }
    if (interleaved) {
        x = layer_reshape(l, x, 5, (int64_t[]){b, h, s, half, 2});
        a = layer_reshape(l, layer_slice(l, x, 4, 0, 1), 4, (int64_t[]){b, h, s, half});
        c = layer_reshape(l, layer_slice(l, x, 4, 1, 2), 4, (int64_t[]){b, h, s, half});
    } else {
        a = layer_slice(l, x, 3, 0, half);
        c = layer_slice(l, x, 3, half, 2 * half);
    }
    int32_t first = layer_two(l, "Sub", layer_two(l, "Mul", a, cosine), layer_two(l, "Mul", c, sine));
    int32_t second = layer_two(l, "Add", layer_two(l, "Mul", c, cosine), layer_two(l, "Mul", a, sine));
    int64_t pair[] = {b, h, s, half, 1};
    int32_t y = interleaved ? layer_reshape(l,
                                            layer_concat(l, 4, 2,
                                                         (int32_t[]){layer_reshape(l, first, 5, pair),
                                                                     layer_reshape(l, second, 5, pair)}),
                                            4, (int64_t[]){b, h, s, 2 * half})
                            : layer_concat(l, 3, 2, (int32_t[]){first, second});
    return rest < 0 ? y : layer_concat(l, 3, 2, (int32_t[]){y, rest});
}

/* The caches of GroupQueryAttention: appended, or (a cache as long as before: a buffer that is shared) put at the place
 * that the lengths say. */
struct caches {
    int64_t before, now, total;
    int32_t start; /* of the first new row, where it is known only at run time; -1: `before` */
};

static int32_t cached(struct layer *l, const struct caches *c, int32_t past, int32_t x)
{
    if (c->start < 0) return appended(l, past, x);
    int32_t zero = layer_number(l, MODEL_I64, 0);
    return layer_part(l, "lxplan:DynamicInsert", 6, (int32_t[]){past, x, zero, zero, c->start, zero});
}

static int32_t rows_of(struct layer *l, const struct caches *c, int32_t table)
{
    if (c->start < 0) return layer_slice(l, table, 0, c->before, c->before + c->now);
    int32_t at = layer_two(l, "Add", attention_counter(l, 0, c->now, 1, 0), c->start);
    return layer_two(l, "Gather", table, at);
}

static bool cache_plan(struct layer *l, struct caches *c)
{
    const struct model_type *present =
        l->op->result_count > 1 && l->op->results[1] >= 0 ? model_type_of(l->m, l->op->results[1]) : NULL;
    *c = (struct caches){extent(l, layer_in(l, 3), 2), extent(l, layer_in(l, 0), 1), 0, -1};
    if (!layer_has(l, 3)) c->before = 0;
    c->total = present && present->count == 4 ? present->extent[2] : c->before + c->now;
    if (c->total == c->before + c->now) return true;
    if (c->total != c->before || !layer_has(l, 5) || layer_type(l, layer_in(l, 5))->elements != 1)
        return false;
    int32_t last = layer_cast(l, layer_reshape(l, layer_in(l, 5), 0, NULL), MODEL_I64);
    c->start = layer_by(l, "Sub", last, (double)(c->now - 1));
    return true;
}

/* q, k, v, past k, past v, lengths, total, cos?, sin?: k and v go to the caches, rotated if so asked. */
static void group_query(struct layer *l)
{
    int64_t heads = layer_int(l, "num_heads", 0), kv = layer_int(l, "kv_num_heads", 0);
    int32_t q = layer_in(l, 0), k = layer_in(l, 1), v = layer_in(l, 2);
    struct caches c;
    if (heads < 1 || kv < 1 || layer_type(l, q)->count != 3 || !cache_plan(l, &c)) {
        layer_fail(l);
        return;
    }
    if (k < 0) {
        int64_t d = extent(l, q, 2) / (heads + 2 * kv);
        k = layer_slice(l, q, 2, heads * d, (heads + kv) * d);
        v = layer_slice(l, q, 2, (heads + kv) * d, (heads + 2 * kv) * d);
        q = layer_slice(l, q, 2, 0, heads * d);
    }
    q = heads_of(l, q, heads);
    k = heads_of(l, k, kv);
    v = heads_of(l, v, kv);
    if (layer_int(l, "do_rotary", 0) && layer_has(l, 7) && layer_has(l, 8)) {
        int32_t cosine = rows_of(l, &c, layer_in(l, 7)), sine = rows_of(l, &c, layer_in(l, 8));
        bool interleaved = layer_int(l, "rotary_interleaved", 0) != 0;
        q = turned(l, q, cosine, sine, interleaved);
        k = turned(l, k, cosine, sine, interleaved);
    }
    struct attention a = {q,
                          cached(l, &c, layer_in(l, 3), k),
                          cached(l, &c, layer_in(l, 4), v),
                          -1,
                          -1,
                          attention_scale(l, q),
                          layer_real(l, "softcap", 0),
                          c.start < 0};
    if (c.start >= 0) {
        int32_t row = layer_two(l, "Add", attention_counter(l, 0, c.now, 4, 2), c.start);
        a.allowed = layer_two(l, "GreaterOrEqual", row, attention_counter(l, 0, c.total, 4, 3));
    }
    layer_result(l, 0, merged(l, attention_of(l, &a)));
    layer_result(l, 1, a.k);
    layer_result(l, 2, a.v);
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
        part[i] = flat ? heads_of(l, layer_in(l, i), heads) : layer_in(l, i);
    }
    struct attention a = {part[0],
                          appended(l, layer_in(l, 4), part[1]),
                          appended(l, layer_in(l, 5), part[2]),
                          -1,
                          -1,
                          attention_scale(l, part[0]),
                          layer_real(l, "softcap", 0),
                          layer_int(l, "is_causal", 0) != 0};
    bool choice = layer_element(l, layer_in(l, 3)) == MODEL_BOOL;
    if (layer_has(l, 3)) *(choice ? &a.allowed : &a.bias) = layer_in(l, 3);
    int32_t y = attention_of(l, &a);
    layer_result(l, 0, flat ? merged(l, y) : y);
    layer_result(l, 1, a.k);
    layer_result(l, 2, a.v);
}

/* x, tables and places; com.microsoft has the places second. Where x is [B,S,H D] it has as many heads as it says. */
static void rotary(struct layer *l)
{
    bool old = strchr(l->op->kind, ':') != NULL, flat = layer_type(l, layer_in(l, 0))->count == 3;
    int32_t x = layer_in(l, 0), cosine = layer_in(l, old ? 2 : 1), sine = layer_in(l, old ? 3 : 2);
    int32_t places = layer_in(l, old ? 1 : 3), tables[2] = {cosine, sine};
    int64_t heads = layer_int(l, "num_heads", 0), half = extent(l, cosine, layer_type(l, cosine)->count - 1);
    if (flat && heads == 0 && half > 0) heads = extent(l, x, 2) / (2 * half);
    if (flat) x = heads_of(l, x, heads);
    for (int i = 0; i < 2; i++) {
        if (places >= 0 && layer_type(l, places)->count == 2)
            tables[i] = layer_two(l, "Gather", tables[i], places);
        const struct model_type *t = layer_type(l, tables[i]);
        if (!l->ok || t->count != 3) {
            layer_fail(l);
            return;
        }
        tables[i] = layer_reshape(l, tables[i], 4, (int64_t[]){t->extent[0], 1, t->extent[1], t->extent[2]});
    }
    int32_t y = turned(l, x, tables[0], tables[1], layer_int(l, "interleaved", 0) != 0);
    layer_result(l, 0, flat ? merged(l, y) : y);
}

/* clang-format off */
const struct layer_row layers_attention[] = {
    {{NULL, NULL, "com.microsoft:Attention"}, attention},
    {{NULL, NULL, "com.microsoft:MultiHeadAttention"}, multi_head},
    {{NULL, NULL, "com.microsoft:GroupQueryAttention"}, group_query},
    {{NULL, NULL, "com.microsoft:RotaryEmbedding"}, rotary},
    {{NULL, NULL, "RotaryEmbedding"}, rotary},
    {{NULL, NULL, "Attention"}, plain_attention},
    {{NULL}, NULL},
};
/* clang-format on */
