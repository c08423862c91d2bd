/* Scores, mask, softmax and the weighted sum, heads in groups that share keys and values; places turned by tables. */
#include "model/attention_scores.h"

#include <math.h>

int64_t attention_extent(const struct layer *l, int32_t value, int dim)
{
    const struct model_type *t = layer_type(l, value);
    return dim >= 0 && dim < t->count ? t->extent[dim] : 1;
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
    int64_t kv = attention_extent(l, a->k, 1), queries = attention_extent(l, a->q, 2),
            keys = attention_extent(l, a->k, 2);
    if (a->bias >= 0) {
        int32_t bias = layer_cast(l, over_groups(l, a->bias, kv), layer_element(l, s));
        s = layer_two(l, "Add", s, bias);
    }
    if (a->allowed >= 0 && a->filter != 0) {
        int32_t none = layer_number(l, layer_element(l, s), 0);
        s = layer_two(l, "Add", s, only_where(l, over_groups(l, a->allowed, kv), none, a->filter));
    } else if (a->allowed >= 0)
        s = only_where(l, over_groups(l, a->allowed, kv), s, -INFINITY);
    if (a->first >= 0 && !VEC_PUSH(&l->m->causal, a->first)) layer_fail(l);
    bool near = a->window > 0 && a->window < a->first + queries;
    if (a->first < 0 || (a->first >= keys - 1 && !near)) return s;
    int32_t row = attention_counter(l, a->first, queries, 5, 3), column = attention_counter(l, 0, keys, 5, 4);
    int32_t seen = layer_two(l, "GreaterOrEqual", row, column);
    return only_where(l, near ? attention_near(l, seen, row, column, a->window) : seen, s, -INFINITY);
}

int32_t attention_near(struct layer *l, int32_t seen, int32_t row, int32_t column, int64_t window)
{
    int32_t oldest = layer_by(l, "Sub", row, (double)window);
    return layer_two(l, "And", seen, layer_two(l, "Greater", column, oldest));
}

/* Softmax over the keys and one score more, which is dropped. */
static int32_t with_sink(struct layer *l, const struct attention *a, int32_t s)
{
    const struct model_type *t = layer_type(l, s);
    int64_t extent[5], keys = attention_extent(l, s, 4);
    if (!l->ok || t->count != 5) return layer_fail(l), -1;
    for (int d = 0; d < 5; d++) extent[d] = d == 4 ? 1 : t->extent[d];
    int32_t sink = layer_number(l, t->element, 0);
    if (a->sink >= 0)
        sink = layer_cast(l, layer_reshape(l, a->sink, 5, (int64_t[]){1, t->extent[1], t->extent[2], 1, 1}),
                          t->element);
    int32_t both[] = {s, layer_expand_to(l, sink, 5, extent)};
    return layer_slice(l, layer_softmax(l, layer_concat(l, 4, 2, both), -1), 4, 0, keys);
}

/* [B,H,S,D] */
int32_t attention_of(struct layer *l, struct attention *a)
{
    int64_t b = attention_extent(l, a->q, 0), h = attention_extent(l, a->q, 1),
            s = attention_extent(l, a->q, 2), d = attention_extent(l, a->q, 3);
    int64_t kv = attention_extent(l, a->k, 1), t = attention_extent(l, a->k, 2),
            dv = attention_extent(l, a->v, 3);
    if (!l->ok || kv < 1 || h % kv != 0) return layer_fail(l), -1;
    int32_t q = layer_reshape(l, a->q, 5, (int64_t[]){b, kv, h / kv, s, d});
    int32_t k = layer_reshape(l, a->k, 5, (int64_t[]){attention_extent(l, a->k, 0), kv, 1, t, d});
    int32_t v = layer_reshape(l, a->v, 5, (int64_t[]){attention_extent(l, a->v, 0), kv, 1, t, dv});
    int32_t x = layer_two(l, "MatMul", q, layer_permute(l, k, 5, (int64_t[]){0, 1, 2, 4, 3}));
    if (a->scale != 1) x = layer_by(l, "Mul", x, a->scale);
    if (a->cap > 0) x = layer_by(l, "Mul", layer_one(l, "Tanh", layer_by(l, "Div", x, a->cap)), a->cap);
    a->seen[0] = x;
    a->seen[1] = x = masked(l, a, x);
    a->seen[2] = x = a->smooth || a->sink >= 0 ? with_sink(l, a, x) : layer_softmax(l, x, -1);
    return layer_reshape(l, layer_two(l, "MatMul", x, v), 4, (int64_t[]){b, h, s, dv});
}

/* [B,S,H D] as [B,H,S,D], and back */
int32_t attention_heads(struct layer *l, int32_t x, int64_t heads)
{
    int64_t b = attention_extent(l, x, 0), s = attention_extent(l, x, 1), width = attention_extent(l, x, 2);
    if (!l->ok || heads < 1 || width % heads != 0) return layer_fail(l), -1;
    x = layer_reshape(l, x, 4, (int64_t[]){b, s, heads, width / heads});
    return layer_permute(l, x, 4, (int64_t[]){0, 2, 1, 3});
}

int32_t attention_merged(struct layer *l, int32_t x)
{
    int64_t shape[] = {attention_extent(l, x, 0), attention_extent(l, x, 2),
                       attention_extent(l, x, 1) * attention_extent(l, x, 3)};
    return layer_reshape(l, layer_permute(l, x, 4, (int64_t[]){0, 2, 1, 3}), 3, shape);
}

static double root_scale(const struct layer *l, int32_t q)
{
    return 1 / sqrt((double)attention_extent(l, q, 3));
}

double attention_scale(const struct layer *l, int32_t q)
{
    double given = layer_real(l, "scale", 0);
    return given != 0 ? given : root_scale(l, q);
}

int32_t attention_appended(struct layer *l, int32_t past, int32_t now)
{
    return past < 0 ? now : layer_concat(l, 2, 2, (int32_t[]){past, now});
}

/* x cos + (the other half, the first of them negative) sin, on the first dimensions that the tables cover. Tables are
 * [.., S, D/2], broadcast to [B,H,S,D/2]. */
int32_t attention_turned(struct layer *l, int32_t x, int32_t cosine, int32_t sine, bool interleaved)
{
    int64_t b = attention_extent(l, x, 0), h = attention_extent(l, x, 1), s = attention_extent(l, x, 2),
            d = attention_extent(l, x, 3);
    int64_t half = attention_extent(l, cosine, layer_type(l, cosine)->count - 1);
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
