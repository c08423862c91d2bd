/* One token step of a decoder-only model with grouped-query attention: each sequence of the batch brings one
 * new token and a cache of keys and values, which is read and not copied. The new token's own key and value
 * take part beside the cache and leave as outputs, for the caller to append.
 *
 * Layers repeat until the wanted number of ops is reached; later ops are left out, and unread tensors become
 * outputs. 43 ops a layer. */
#include "files/gen_common.h"

enum { OPS, BATCH, D_MODEL, HEADS, KV_HEADS, CONTEXT, FFN, OPTIONS };

const struct lx_option gen_decode_options[OPTIONS] = {
    [OPS] = {"ops", 304, 1, GEN_MAX_OPS, "ops of the graph, exactly"},
    [BATCH] = {"batch", 8, 1, 4096, "sequences that are continued together"},
    [D_MODEL] = {"d_model", 2048, 1, 65536, "width of a token; a multiple of heads"},
    [HEADS] = {"heads", 32, 1, 1024, "query heads; a multiple of kv_heads"},
    [KV_HEADS] = {"kv_heads", 8, 1, 1024, "key and value heads"},
    [CONTEXT] = {"context", 1024, 1, 1 << 20, "tokens in the cache of each sequence"},
    [FFN] = {"ffn", 0, 0, 1 << 20, "width within the MLP; 0: four times d_model"},
};

/* Indices: b sequence, g key head, r query head of a key head, t token of the cache, d within a head. */
static int32_t gen_decode_add_attention(struct gen *g, const int64_t *v, int32_t x, int32_t rotation)
{
    int64_t model = v[D_MODEL], groups = v[KV_HEADS], each = v[HEADS] / groups, d = model / v[HEADS];
    double scale = 1 / sqrt((double)d);
    int32_t wq = gen_tensor(g, "wq", LX_WEIGHT, SHAPE(model, groups, each, d));
    int32_t wk = gen_tensor(g, "wk", LX_WEIGHT, SHAPE(model, groups, d));
    int32_t wv = gen_tensor(g, "wv", LX_WEIGHT, SHAPE(model, groups, d));
    int32_t wo = gen_tensor(g, "wo", LX_WEIGHT, SHAPE(groups, each, d, model));
    int32_t keys = gen_tensor(g, "key_cache", LX_INPUT, SHAPE(v[BATCH], groups, v[CONTEXT], d));
    int32_t values = gen_tensor(g, "value_cache", LX_INPUT, SHAPE(v[BATCH], groups, v[CONTEXT], d));

    int32_t q_plain = gen_binary(g, "q_plain", "matmul", "bm,mgrd->bgrd", x, wq);
    int32_t k_plain = gen_binary(g, "k_plain", "matmul", "bm,mgd->bgd", x, wk);
    int32_t value = gen_binary(g, "v", "matmul", "bm,mgd->bgd", x, wv);
    int32_t q = gen_binary(g, "q", "matmul", "bgrd,de->bgre", q_plain, rotation);
    int32_t k = gen_binary(g, "k", "matmul", "bgd,de->bge", k_plain, rotation);
    gen_unary(g, "new_key", "clone", "bgd->bgd", k);
    gen_unary(g, "new_value", "clone", "bgd->bgd", value);

    int32_t past = gen_binary(g, "past", "matmul", "bgrd,bgtd->bgrt", q, keys);
    int32_t past_scaled = gen_constant(g, "past_scaled", "mul", past, scale);
    int32_t self = gen_binary(g, "self", "matmul", "bgrd,bgd->bgr", q, k);
    int32_t self_scaled = gen_constant(g, "self_scaled", "mul", self, scale);
    int32_t past_max = gen_unary(g, "past_max", "max", "bgrt->bgr", past_scaled);
    int32_t top = gen_binary(g, "top", "max", "bgr,bgr->bgr", past_max, self_scaled);
    int32_t past_sub = gen_binary(g, "past_sub", "sub", "bgrt,bgr->bgrt", past_scaled, top);
    int32_t past_exp = gen_unary(g, "past_exp", "exp", "bgrt->bgrt", past_sub);
    int32_t self_sub = gen_binary(g, "self_sub", "sub", "bgr,bgr->bgr", self_scaled, top);
    int32_t self_exp = gen_unary(g, "self_exp", "exp", "bgr->bgr", self_sub);
    int32_t past_sum = gen_unary(g, "past_sum", "sum", "bgrt->bgr", past_exp);
    int32_t total = gen_binary(g, "total", "add", "bgr,bgr->bgr", past_sum, self_exp);
    int32_t past_mixed = gen_binary(g, "past_mixed", "matmul", "bgrt,bgtd->bgrd", past_exp, values);
    int32_t self_mixed = gen_binary(g, "self_mixed", "mul", "bgr,bgd->bgrd", self_exp, value);
    int32_t mixed = gen_binary(g, "mixed", "add", "bgrd,bgrd->bgrd", past_mixed, self_mixed);
    int32_t normal = gen_binary(g, "normal", "div", "bgrd,bgr->bgrd", mixed, total);
    return gen_binary(g, "projected", "matmul", "bgrd,grdm->bm", normal, wo);
}

static int32_t gen_decode_add_mlp(struct gen *g, int64_t model, int64_t ffn, int32_t x)
{
    int32_t w_gate = gen_tensor(g, "w_gate", LX_WEIGHT, SHAPE(model, ffn));
    int32_t w_up = gen_tensor(g, "w_up", LX_WEIGHT, SHAPE(model, ffn));
    int32_t w_down = gen_tensor(g, "w_down", LX_WEIGHT, SHAPE(ffn, model));
    int32_t gate = gen_binary(g, "gate", "matmul", "bm,mf->bf", x, w_gate);
    int32_t active = gen_unary(g, "silu", "silu", "bf->bf", gate);
    int32_t up = gen_binary(g, "up", "matmul", "bm,mf->bf", x, w_up);
    int32_t product = gen_binary(g, "product", "mul", "bf,bf->bf", active, up);
    return gen_binary(g, "down", "matmul", "bf,fm->bm", product, w_down);
}

const struct lx_graph *gen_decode(const int64_t *v, lx_status *st)
{
    if (v[D_MODEL] % v[HEADS] != 0 || v[HEADS] % v[KV_HEADS] != 0)
        return status_set(st, LX_E_USAGE,
                          "d_model (%lld) must be a multiple of heads (%lld), and heads of kv_heads (%lld)",
                          (long long)v[D_MODEL], (long long)v[HEADS], (long long)v[KV_HEADS]),
               NULL;
    struct gen g;
    char name[80];
    int64_t d = v[D_MODEL] / v[HEADS];
    snprintf(name, sizeof name, "decode_%lld", (long long)v[OPS]);
    gen_begin(&g, name, "One token step of a decoder with grouped-query attention against its caches.", st);
    g.op_limit = v[OPS];
    int32_t x = gen_tensor(&g, "x", LX_INPUT, SHAPE(v[BATCH], v[D_MODEL]));
    int32_t rotation =
        gen_tensor(&g, "rotation", LX_INPUT, SHAPE(d, d)); /* of the position (RoPE), as a matrix */
    for (int64_t layer = 0; !g.failed && (int64_t)g.b.ops.count < v[OPS]; layer++) {
        gen_scope(&g, "l%lld_", (long long)layer);
        int32_t attended = gen_decode_add_attention(&g, v, gen_rms_norm(&g, "norm1", x), rotation);
        int32_t middle = gen_binary(&g, "residual1", "add", "bm,bm->bm", x, attended);
        int32_t mlp = gen_decode_add_mlp(&g, v[D_MODEL], v[FFN] ? v[FFN] : 4 * v[D_MODEL],
                                         gen_rms_norm(&g, "norm2", middle));
        x = gen_binary(&g, "residual2", "add", "bm,bm->bm", middle, mlp);
    }
    return gen_finish(&g);
}
