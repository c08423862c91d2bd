/* Transformer blocks in a row: rms norm, attention over all tokens, residual, rms norm, MLP, residual. Heads
 * are an index of the weights ("mhd"), so that no reshape is needed. 31 ops a layer. */
#include "files/gen_common.h"

enum { LAYERS, D_MODEL, HEADS, SEQ, FFN, OPTIONS };

const struct lx_option gen_block_options[OPTIONS] = {
    [LAYERS] = {"layers", 8, 1, 8192, "blocks in a row"},
    [D_MODEL] = {"d_model", 512, 1, 65536, "width of a token; a multiple of heads"},
    [HEADS] = {"heads", 8, 1, 1024, "heads of the attention"},
    [SEQ] = {"seq", 256, 1, 1 << 20, "tokens"},
    [FFN] = {"ffn", 0, 0, 1 << 20, "width within the MLP; 0: four times d_model"},
};

static int32_t gen_block_add_attention(struct gen *g, const int64_t *v, int32_t x)
{
    int64_t model = v[D_MODEL], heads = v[HEADS], d = model / heads;
    int32_t wq = gen_tensor(g, "wq", LX_WEIGHT, SHAPE(model, heads, d));
    int32_t wk = gen_tensor(g, "wk", LX_WEIGHT, SHAPE(model, heads, d));
    int32_t wv = gen_tensor(g, "wv", LX_WEIGHT, SHAPE(model, heads, d));
    int32_t wo = gen_tensor(g, "wo", LX_WEIGHT, SHAPE(heads, d, model));
    int32_t q = gen_binary(g, "q", "matmul", "sm,mhd->hsd", x, wq);
    int32_t k = gen_binary(g, "k", "matmul", "tm,mhd->htd", x, wk);
    int32_t value = gen_binary(g, "v", "matmul", "tm,mhd->htd", x, wv);
    int32_t scores = gen_binary(g, "scores", "matmul", "hsd,htd->hst", q, k);
    int32_t scaled = gen_constant(g, "scaled", "mul", scores, 1 / sqrt((double)d));
    int32_t p = gen_softmax(g, "softmax", scaled, "hst");
    int32_t mixed = gen_binary(g, "mixed", "matmul", "hst,htd->hsd", p, value);
    return gen_binary(g, "projected", "matmul", "hsd,hdm->sm", mixed, wo);
}

static int32_t gen_block_add_mlp(struct gen *g, int64_t model, int64_t ffn, int32_t x)
{
    int32_t w1 = gen_tensor(g, "w1", LX_WEIGHT, SHAPE(model, ffn)),
            b1 = gen_tensor(g, "b1", LX_WEIGHT, SHAPE(ffn));
    int32_t w2 = gen_tensor(g, "w2", LX_WEIGHT, SHAPE(ffn, model)),
            b2 = gen_tensor(g, "b2", LX_WEIGHT, SHAPE(model));
    int32_t up = gen_binary(g, "up", "matmul", "sm,mf->sf", x, w1);
    int32_t biased = gen_binary(g, "up_bias", "add", "sf,f->sf", up, b1);
    int32_t active = gen_unary(g, "gelu", "gelu", "sf->sf", biased);
    int32_t down = gen_binary(g, "down", "matmul", "sf,fm->sm", active, w2);
    return gen_binary(g, "down_bias", "add", "sm,m->sm", down, b2);
}

const struct lx_graph *gen_block(const int64_t *v, lx_status *st)
{
    if (v[D_MODEL] % v[HEADS] != 0)
        return status_set(st, LX_E_USAGE, "d_model (%lld) must be a multiple of heads (%lld)",
                          (long long)v[D_MODEL], (long long)v[HEADS]),
               NULL;
    struct gen g;
    char name[80];
    snprintf(name, sizeof name, "block_x%lld", (long long)v[LAYERS]);
    gen_begin(&g, name,
              "Transformer blocks in a row, each with attention, an MLP, two norms and two residuals.", st);
    int32_t x = gen_tensor(&g, "x", LX_INPUT, SHAPE(v[SEQ], v[D_MODEL]));
    for (int64_t layer = 0; layer < v[LAYERS]; layer++) {
        gen_scope(&g, "l%lld_", (long long)layer);
        int32_t attended = gen_block_add_attention(&g, v, gen_rms_norm(&g, "norm1", x));
        int32_t middle = gen_binary(&g, "residual1", "add", "sm,sm->sm", x, attended);
        int32_t mlp = gen_block_add_mlp(&g, v[D_MODEL], v[FFN] ? v[FFN] : 4 * v[D_MODEL],
                                        gen_rms_norm(&g, "norm2", middle));
        x = gen_binary(&g, "residual2", "add", "sm,sm->sm", middle, mlp);
    }
    return gen_finish(&g);
}
