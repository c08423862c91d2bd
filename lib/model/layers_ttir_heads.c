/* Attention of TTIR, caches in pages, and heads on their way in and out. */
#include "model/attention_scores.h"

/* Keys not after the query, and not `window` or more before it: rows and columns are places, of [.,.,S,1] and [1,1,1,T]. */
static int32_t in_sight(struct layer *l, int32_t rows, int32_t columns)
{
    int64_t window = layer_int(l, "sliding_window_size", 0);
    int32_t is = layer_two(l, "GreaterOrEqual", rows, columns);
    if (window < 1) return is;
    return layer_two(l, "And", is, layer_by(l, "Less", layer_two(l, "Sub", rows, columns), (double)window));
}

/* query, key, value, mask? of [B,H,S,D], sink? of H numbers */
static void sdpa(struct layer *l)
{
    int32_t q = layer_in(l, 0), k = layer_in(l, 1);
    bool causal = layer_int(l, "is_causal", layer_has(l, 3) ? 0 : 1) != 0;
    if (l->op->operand_count < 3 || layer_type(l, q)->count != 4 ||
        (layer_has(l, 4) && layer_type(l, layer_in(l, 4))->elements != attention_extent(l, q, 1))) {
        layer_fail(l);
        return;
    }
    struct attention a = {.sink = layer_in(l, 4),
                          .q = q,
                          .k = k,
                          .v = layer_in(l, 2),
                          .bias = layer_in(l, 3),
                          .allowed = -1,
                          .scale = attention_scale(l, q),
                          .first = causal ? 0 : -1};
    if (causal && layer_int(l, "sliding_window_size", 0) > 0) {
        a.first = -1;
        a.allowed = in_sight(l, attention_counter(l, 0, attention_extent(l, q, 2), 4, 2),
                             attention_counter(l, 0, attention_extent(l, k, 2), 4, 3));
    }
    layer_result(l, 0, attention_of(l, &a));
}

/* Operands behind the keys and values of a decoding step: a mask [B,1,H,T], the place of each user's query [B]. */
static bool decode_operands(struct layer *l, int first, struct attention *a)
{
    int64_t users = attention_extent(l, a->q, 0);
    for (int i = first; i < l->op->operand_count; i++) {
        const struct model_type *t = layer_type(l, layer_in(l, i));
        if (!layer_has(l, i)) continue;
        if (t->count == 4 && a->bias < 0)
            a->bias = layer_permute(l, layer_in(l, i), 4, (int64_t[]){0, 2, 1, 3});
        else if (t->count == 1 && t->extent[0] == users && a->allowed < 0) {
            int32_t place = layer_cast(l, layer_channels(l, layer_in(l, i), 4, 0), MODEL_I64);
            a->allowed = in_sight(l, place, attention_counter(l, 0, attention_extent(l, a->k, 2), 4, 3));
        } else
            return false;
    }
    return true;
}

/* One query a user: [1,B,H,D] */
static void decoded(struct layer *l, int32_t k, int32_t v, int first)
{
    int32_t q = layer_in(l, 0);
    if (l->op->operand_count < 3 || layer_type(l, q)->count != 4) {
        layer_fail(l);
        return;
    }
    q = layer_permute(l, q, 4, (int64_t[]){1, 2, 0, 3});
    struct attention a = {.sink = -1,
                          .q = q,
                          .k = k,
                          .v = v,
                          .bias = -1,
                          .allowed = -1,
                          .scale = attention_scale(l, q),
                          .first = -1};
    if (!decode_operands(l, first, &a)) {
        layer_fail(l);
        return;
    }
    layer_result(l, 0, layer_permute(l, attention_of(l, &a), 4, (int64_t[]){2, 0, 1, 3}));
}

static void sdpa_decode(struct layer *l)
{
    decoded(l, layer_in(l, 1), layer_in(l, 2), 3);
}

/* Pages [N,K,P,D] that a table [B,n] names, one behind the other: [B,K,n P,D] */
static int32_t from_pages(struct layer *l, int32_t pages, int32_t table)
{
    layer_put(l, "axis", 0);
    int32_t x = layer_permute(l, layer_two(l, "Gather", pages, table), 5, (int64_t[]){0, 2, 1, 3, 4});
    int64_t shape[] = {attention_extent(l, x, 0), attention_extent(l, x, 1),
                       attention_extent(l, x, 2) * attention_extent(l, x, 3), attention_extent(l, x, 4)};
    return layer_reshape(l, x, 4, shape);
}

/* query, key, value, page table, mask?, places? */
static void paged_decode(struct layer *l)
{
    if (!layer_has(l, 3) || layer_type(l, layer_in(l, 1))->count != 4 ||
        layer_type(l, layer_in(l, 2))->count != 4 || layer_type(l, layer_in(l, 3))->count != 2) {
        layer_fail(l);
        return;
    }
    int32_t k = from_pages(l, layer_in(l, 1), layer_in(l, 3)),
            v = from_pages(l, layer_in(l, 2), layer_in(l, 3));
    decoded(l, k, v, 4);
}

/* x cos + (x m) sin, where m swaps halves, or neighbours, and changes a sign */
static void rotary_by_matrix(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    if (l->op->operand_count != 4) {
        layer_fail(l);
        return;
    }
    int32_t y = layer_two(l, "Mul", layer_two(l, "MatMul", x, layer_in(l, 3)), layer_in(l, 2));
    layer_result(l, 0, layer_two(l, "Add", layer_two(l, "Mul", x, layer_in(l, 1)), y));
}

/* [1,1,B,(H + 2 K) D] as [1,B,H,D] and two of [1,B,K,D] */
static void create_heads_decode(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x);
    int64_t heads = layer_int(l, "num_heads", 0), kv = layer_int(l, "num_kv_heads", heads), from = 0;
    if (t->count != 4 || heads < 1 || kv < 1 || heads > INT16_MAX || kv > INT16_MAX ||
        l->op->operand_count != 1 || l->op->result_count != 3 || t->extent[3] % (heads + 2 * kv) != 0) {
        layer_fail(l);
        return;
    }
    int64_t d = t->extent[3] / (heads + 2 * kv);
    for (int i = 0; i < 3; i++) {
        int64_t n = i ? kv : heads;
        layer_result(l, i, layer_slice(l, x, 3, from, from + n * d));
        from += n * d;
    }
}

/* [1,B,H',D] as [1,1,B,H D]: of the heads the first H */
static void concat_heads_decode(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x);
    int64_t heads = layer_int(l, "num_heads", t->count == 4 ? t->extent[2] : 0);
    if (t->count != 4 || heads < 1 || heads > t->extent[2]) {
        layer_fail(l);
        return;
    }
    if (heads < t->extent[2]) x = layer_slice(l, x, 2, 0, heads);
    layer_result(l, 0, x == layer_in(l, 0) ? layer_one(l, "Identity", x) : x);
}

/* clang-format off */
const struct layer_row layers_ttir_heads[] = {
    {{"scaled_dot_product_attention", NULL, NULL}, sdpa},
    {{"scaled_dot_product_attention_decode", NULL, NULL}, sdpa_decode},
    {{"paged_scaled_dot_product_attention_decode", NULL, NULL}, paged_decode},
    {{"rotary_embedding_llama", NULL, NULL}, rotary_by_matrix},
    {{"nlp_create_qkv_heads_decode", NULL, NULL}, create_heads_decode},
    {{"nlp_concat_heads_decode", NULL, NULL}, concat_heads_decode},
    {{NULL}, NULL},
};
/* clang-format on */
