/* Places turned by tables, and attention over caches that grow: queries in groups. */
#include "model/attention_scores.h"

#include <string.h>

enum { MOST_ROWS = 64 }; /* of a batch whose caches are written one by one */

/* The caches of GroupQueryAttention: appended, or (a cache as long as before: a buffer that is shared) put at the places
 * that the lengths say. */
struct caches {
    int64_t batch, before, now, total;
    int32_t start; /* [B,1] of the first new row, where it is known only at run time; -1: `before` */
};

/* One row of the batch at its own place. */
static int32_t put_row(struct layer *l, const struct caches *c, int32_t past, int32_t x, int64_t row)
{
    int32_t zero = layer_number(l, MODEL_I64, 0), at = c->start;
    if (c->batch > 1) {
        past = layer_slice(l, past, 0, row, row + 1);
        x = layer_slice(l, x, 0, row, row + 1);
        at = layer_slice(l, at, 0, row, row + 1);
    }
    at = layer_reshape(l, at, 0, NULL);
    return layer_part(l, "lxplan:DynamicInsert", 6, (int32_t[]){past, x, zero, zero, at, zero});
}

/* One new key each: wherever it belongs. */
static int32_t put_one(struct layer *l, const struct caches *c, int32_t past, int32_t x)
{
    int32_t at = layer_reshape(l, c->start, 4, (int64_t[]){c->batch, 1, 1, 1});
    int32_t here = layer_two(l, "Equal", attention_counter(l, 0, c->total, 4, 2), at);
    return layer_part(l, "Where", 3, (int32_t[]){here, x, past});
}

static int32_t cached(struct layer *l, const struct caches *c, int32_t past, int32_t x)
{
    int32_t rows[MOST_ROWS];
    if (c->start < 0) return attention_appended(l, past, x);
    if (c->batch > 1 && c->now == 1) return put_one(l, c, past, x);
    if (c->batch > MOST_ROWS) return layer_fail(l), -1;
    for (int64_t b = 0; b < c->batch; b++) rows[b] = put_row(l, c, past, x, b);
    return layer_concat(l, 0, (int)c->batch, rows);
}

/* Rows of a table for the new places: [B or 1, 1, S, D/2]. */
static int32_t rows_of(struct layer *l, const struct caches *c, int32_t table)
{
    int64_t half = attention_extent(l, table, 1);
    int32_t at = layer_in(l, 9), y;
    if (at < 0 && c->start < 0)
        return layer_reshape(l, layer_slice(l, table, 0, c->before, c->before + c->now), 4,
                             (int64_t[]){1, 1, c->now, half});
    if (at < 0) at = layer_two(l, "Add", attention_counter(l, 0, c->now, 2, 1), c->start);
    y = layer_two(l, "Gather", table, at);
    return layer_reshape(l, y, 4, (int64_t[]){attention_extent(l, y, 0), 1, c->now, half});
}

static bool cache_plan(struct layer *l, struct caches *c)
{
    const struct model_type *present =
        l->op->result_count > 1 && l->op->results[1] >= 0 ? model_type_of(l->m, l->op->results[1]) : NULL;
    *c = (struct caches){attention_extent(l, layer_in(l, 0), 0), attention_extent(l, layer_in(l, 3), 2),
                         attention_extent(l, layer_in(l, 0), 1), 0, -1};
    if (!layer_has(l, 3)) c->before = 0;
    const struct model_data *total = layer_has(l, 6) ? l->m->values.at[layer_in(l, 6)].data : NULL;
    c->total = c->before + c->now;
    if (total && total->ints) c->total = total->ints[0] > c->before ? total->ints[0] : c->before;
    if (present && present->count == 4) c->total = present->extent[2];
    if (c->total == c->before + c->now) return true;
    if (c->total != c->before || !layer_has(l, 5) || layer_type(l, layer_in(l, 5))->elements != c->batch)
        return false;
    int32_t last = layer_cast(l, layer_reshape(l, layer_in(l, 5), 2, (int64_t[]){c->batch, 1}), MODEL_I64);
    c->start = layer_by(l, "Sub", last, (double)(c->now - 1));
    return true;
}

/* Caches of few bits: not known. */
static bool is_odd(const struct layer *l)
{
    const char *k = model_attr_word(&l->op->attrs, "k_quant_type", "NONE"),
               *v = model_attr_word(&l->op->attrs, "v_quant_type", "NONE");
    return strcmp(k, "NONE") != 0 || strcmp(v, "NONE") != 0;
}

/* Of a shared buffer what has been written, and is near enough. */
static int32_t written(struct layer *l, const struct caches *c, int64_t window)
{
    int32_t start = layer_reshape(l, c->start, 4, (int64_t[]){c->batch, 1, 1, 1});
    int32_t row = layer_two(l, "Add", attention_counter(l, 0, c->now, 4, 2), start),
            column = attention_counter(l, 0, c->total, 4, 3);
    int32_t seen = layer_two(l, "GreaterOrEqual", row, column);
    return window > 0 && window < c->total ? attention_near(l, seen, row, column, window) : seen;
}

/* q, k, v, past k, past v, lengths, total, cos?, sin?: k and v go to the caches, rotated if so asked. */
static void group_query(struct layer *l)
{
    int64_t heads = layer_int(l, "num_heads", 0), kv = layer_int(l, "kv_num_heads", 0);
    int32_t q = layer_in(l, 0), k = layer_in(l, 1), v = layer_in(l, 2);
    struct caches c;
    if (heads < 1 || kv < 1 || layer_type(l, q)->count != 3 || is_odd(l) || !cache_plan(l, &c)) {
        layer_fail(l);
        return;
    }
    if (k < 0) {
        int64_t d = attention_extent(l, q, 2) / (heads + 2 * kv);
        k = layer_slice(l, q, 2, heads * d, (heads + kv) * d);
        v = layer_slice(l, q, 2, (heads + kv) * d, (heads + 2 * kv) * d);
        q = layer_slice(l, q, 2, 0, heads * d);
    }
    q = attention_heads(l, q, heads);
    k = attention_heads(l, k, kv);
    v = attention_heads(l, v, kv);
    if (layer_int(l, "do_rotary", 0) && layer_has(l, 7) && layer_has(l, 8)) {
        int32_t cosine = rows_of(l, &c, layer_in(l, 7)), sine = rows_of(l, &c, layer_in(l, 8));
        bool interleaved = layer_int(l, "rotary_interleaved", 0) != 0;
        q = attention_turned(l, q, cosine, sine, interleaved);
        k = attention_turned(l, k, cosine, sine, interleaved);
    }
    struct attention a = {
        .sink = -1, .q = q, .bias = layer_in(l, 10), .allowed = -1, .cap = layer_real(l, "softcap", 0)};
    a.k = cached(l, &c, layer_in(l, 3), k);
    a.v = cached(l, &c, layer_in(l, 4), v);
    a.scale = attention_scale(l, q);
    a.first = c.start < 0 ? c.before : -1;
    a.window = layer_int(l, "local_window_size", -1) > 0 ? layer_int(l, "local_window_size", -1) : 0;
    a.smooth = layer_int(l, "smooth_softmax", 0) > 0;
    a.sink = layer_in(l, 11);
    if (c.start >= 0) a.allowed = written(l, &c, a.window);
    layer_result(l, 0, attention_merged(l, attention_of(l, &a)));
    layer_result(l, 1, a.k);
    layer_result(l, 2, a.v);
}

/* [1,S,..]: the rows of a table from the one that is told at run time. */
static int32_t rows_from(struct layer *l, int32_t table, int32_t first, int64_t count)
{
    int32_t at = layer_cast(l, layer_reshape(l, first, 2, (int64_t[]){1, 1}), MODEL_I64);
    return layer_two(l, "Gather", table, layer_two(l, "Add", attention_counter(l, 0, count, 2, 1), at));
}

/* x, tables and places; com.microsoft has the places second. Where x is [B,S,H D] it has as many heads as it says. */
static void rotary(struct layer *l)
{
    bool old = strchr(l->op->kind, ':') != NULL, flat = layer_type(l, layer_in(l, 0))->count == 3;
    int32_t x = layer_in(l, 0), cosine = layer_in(l, old ? 2 : 1), sine = layer_in(l, old ? 3 : 2);
    int32_t places = layer_in(l, old ? 1 : 3), tables[2] = {cosine, sine};
    int64_t heads = layer_int(l, "num_heads", 0),
            half = attention_extent(l, cosine, layer_type(l, cosine)->count - 1);
    if (flat && heads == 0 && half > 0) heads = attention_extent(l, x, 2) / (2 * half);
    if (flat) x = attention_heads(l, x, heads);
    for (int i = 0; i < 2; i++) {
        if (places >= 0 && layer_type(l, places)->count == 2)
            tables[i] = layer_two(l, "Gather", tables[i], places);
        else if (places >= 0 && layer_type(l, places)->elements == 1)
            tables[i] = rows_from(l, tables[i], places, attention_extent(l, x, 2));
        const struct model_type *t = layer_type(l, tables[i]);
        if (!l->ok || t->count != 3) {
            layer_fail(l);
            return;
        }
        tables[i] = layer_reshape(l, tables[i], 4, (int64_t[]){t->extent[0], 1, t->extent[1], t->extent[2]});
    }
    int32_t y = attention_turned(l, x, tables[0], tables[1], layer_int(l, "interleaved", 0) != 0);
    layer_result(l, 0, flat ? attention_merged(l, y) : y);
}

/* clang-format off */
const struct layer_row layers_rotary[] = {
    {{NULL, NULL, "com.microsoft:GroupQueryAttention"}, group_query},
    {{NULL, NULL, "com.microsoft:RotaryEmbedding"}, rotary},
    {{NULL, NULL, "RotaryEmbedding"}, rotary},
    {{NULL}, NULL},
};
/* clang-format on */
