/* Experts of com.microsoft (MoE, QMoE): each token goes through the k experts that its router likes best.
 *
 * Few tokens pick the weights of their experts, row by row of a table of them; many go through all experts, and what a
 * token does not want is multiplied by 0. Weights may be whole numbers of 4 or 8 bits with a scale a row, or a block of it. */
#include "model/quantised_parts.h"

#include <string.h>

struct expert_part {
    int weight, scale, bias; /* operands; -1: the kind has none */
};

struct experts {
    int64_t tokens, width, count, k;
    int32_t x, index, share; /* [T,H]; picked: [T,k]; how much of each: [T,k], else [T,E] */
    int64_t bits;            /* of weights; 0: they are as they are */
    bool picks;
};

static int64_t extent_of(const struct layer *l, int32_t value, int dim)
{
    const struct model_type *t = layer_type(l, value);
    return dim < t->count ? t->extent[dim] : 1;
}

/* The experts that each token wants, or all. */
static int32_t picked(struct layer *l, const struct experts *e, int operand)
{
    if (!layer_has(l, operand)) return -1;
    return e->picks ? layer_two(l, "Gather", layer_in(l, operand), e->index) : layer_in(l, operand);
}

/* (w - middle) * scale, of weights [.., N, K] or, in halves of bytes, [.., N, K / 2]. */
static int32_t in_the_open(struct layer *l, const struct experts *e, int32_t w, int32_t scale)
{
    enum model_element f = layer_element(l, e->x);
    if (e->bits == 4) w = quantised_apart(l, w, 4);
    const struct model_type *t = layer_type(l, w), *s = layer_type(l, scale);
    int64_t full[MODEL_MAX_RANK], open[MODEL_MAX_RANK];
    int rank = t->count;
    if (!l->ok || rank < 1 || rank + 1 > MODEL_MAX_RANK) return layer_fail(l), -1;
    int64_t blocks = s->count == rank ? s->extent[rank - 1] : 1;
    if (blocks < 1 || t->extent[rank - 1] % blocks) return layer_fail(l), -1;
    for (int d = 0; d < rank; d++) full[d] = open[d] = t->extent[d];
    full[rank - 1] = open[rank - 1] = blocks;
    full[rank] = t->extent[rank - 1] / blocks;
    open[rank] = 1;
    int32_t y = layer_by(l, "Sub", layer_cast(l, w, f), e->bits == 4 ? 8 : 128);
    y = layer_two(l, "Mul", layer_reshape(l, y, rank + 1, full),
                  layer_cast(l, layer_reshape(l, scale, rank + 1, open), f));
    return layer_reshape(l, y, rank, t->extent);
}

/* A product with the weights of the experts: [E,T,N], or [T,k,N] where they are picked. */
static int32_t product(struct layer *l, const struct experts *e, int32_t x, const struct expert_part *p,
                       int64_t width)
{
    int32_t w = picked(l, e, p->weight), bias = picked(l, e, p->bias);
    if (e->bits) w = in_the_open(l, e, w, picked(l, e, p->scale));
    const struct model_type *t = layer_type(l, w);
    int rank = t->count;
    if (!l->ok || rank != (e->picks ? 4 : 3)) return layer_fail(l), -1;
    bool turned =
        t->extent[rank - 1] != width && t->extent[rank - 2] == width; /* older files: [E, in, out] */
    int64_t out = t->extent[turned ? rank - 1 : rank - 2];
    int64_t perm[4] = {0, 1, 2, 3};
    perm[rank - 2] = rank - 1;
    perm[rank - 1] = rank - 2;
    if (!turned) w = layer_permute(l, w, rank, perm);
    if (e->picks) {
        int64_t each = layer_type(l, x)->count == 3 ? e->k : 1; /* still one row for all of them? */
        x = layer_reshape(l, x, 4, (int64_t[]){e->tokens, each, 1, width});
        x = layer_reshape(l, layer_two(l, "MatMul", x, w), 3, (int64_t[]){e->tokens, e->k, out});
        return bias < 0 ? x : layer_two(l, "Add", x, bias);
    }
    x = layer_two(l, "MatMul", x, w);
    if (bias >= 0) bias = layer_reshape(l, bias, 3, (int64_t[]){e->count, 1, out});
    return bias < 0 ? x : layer_two(l, "Add", x, bias);
}

static int32_t silu(struct layer *l, int32_t x, double alpha)
{
    return layer_two(l, "Mul", x, layer_one(l, "Sigmoid", alpha == 1 ? x : layer_by(l, "Mul", x, alpha)));
}

/* Gates and what they let through, one beside the other or one behind the other. */
static int32_t gated(struct layer *l, int32_t h, bool beside)
{
    const struct model_type *t = layer_type(l, h);
    int32_t part[2];
    if (!l->ok || t->count != 3 || t->extent[2] % 2) return layer_fail(l), -1;
    int64_t half = t->extent[2] / 2, pair[] = {t->extent[0], t->extent[1], half, 2},
            one[] = {t->extent[0], t->extent[1], half};
    double alpha = layer_real(l, "activation_alpha", 1), beta = layer_real(l, "activation_beta", 0),
           limit = layer_real(l, "swiglu_limit", 0);
    if (beside) h = layer_reshape(l, h, 4, pair);
    for (int i = 0; i < 2; i++)
        part[i] = beside ? layer_reshape(l, layer_slice(l, h, 3, i, i + 1), 3, one)
                         : layer_slice(l, h, 2, i * half, (i + 1) * half);
    if (limit > 0) {
        part[0] = layer_by(l, "Min", part[0], limit);
        part[1] = layer_by(l, "Min", layer_by(l, "Max", part[1], -limit), limit);
    }
    if (beta != 0) part[1] = layer_by(l, "Add", part[1], beta);
    return layer_two(l, "Mul", silu(l, part[0], alpha), part[1]);
}

static int32_t activated(struct layer *l, int32_t h, bool third)
{
    const char *kind = model_attr_word(&l->op->attrs, "activation_type", "relu");
    int64_t fusion = layer_int(l, "swiglu_fusion", 0);
    if (strcmp(kind, "swiglu") == 0 && fusion > 0) return gated(l, h, fusion == 1);
    if (strcmp(kind, "silu") == 0 || (strcmp(kind, "swiglu") == 0 && third))
        return silu(l, h, strcmp(kind, "silu") == 0 ? 1 : layer_real(l, "activation_alpha", 1));
    if (strcmp(kind, "gelu") == 0) return layer_one(l, "Gelu", h);
    if (strcmp(kind, "relu") == 0) return layer_one(l, "Relu", h);
    return strcmp(kind, "identity") == 0 ? h : (layer_fail(l), -1);
}

/* The k largest of each row, and what each of them counts: of all, or among themselves. */
static void route(struct layer *l, struct experts *e, bool among)
{
    int32_t logits = layer_reshape(l, layer_in(l, 1), 2, (int64_t[]){e->tokens, e->count}), best[2];
    int32_t from = among ? logits : layer_softmax(l, logits, -1);
    layer_put(l, "axis", -1);
    layer_parts(l, "TopK", 2, (int32_t[]){from, layer_list(l, 1, &e->k)}, 2, best);
    e->share = among ? layer_softmax(l, best[0], -1) : best[0];
    e->index = best[1];
    if (e->picks) return;
    int32_t none = layer_expand_to(l, layer_number(l, layer_element(l, e->share), 0), 2,
                                   (int64_t[]){e->tokens, e->count});
    layer_put(l, "axis", 1);
    e->share = layer_part(l, "ScatterElements", 3, (int32_t[]){none, e->index, e->share});
}

static bool begin(struct layer *l, struct experts *e)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0));
    e->width = t->count > 0 ? t->extent[t->count - 1] : 0;
    e->k = layer_int(l, "k", 1);
    e->count = extent_of(l, layer_in(l, 2), 0);
    if (e->width < 1 || e->k < 1 || e->count < e->k || layer_type(l, layer_in(l, 2))->count != 3)
        return false;
    e->tokens = t->elements / e->width;
    e->picks = e->tokens * e->k <= e->count;
    e->x = layer_reshape(l, layer_in(l, 0), 2, (int64_t[]){e->tokens, e->width});
    return layer_type(l, layer_in(l, 1))->elements == e->tokens * e->count;
}

static void experts(struct layer *l, const struct expert_part part[3], bool among, int64_t bits)
{
    struct experts e = {.bits = bits};
    if (!begin(l, &e)) {
        layer_fail(l);
        return;
    }
    route(l, &e, among);
    bool third = layer_has(l, part[2].weight);
    int32_t x = e.picks ? e.x : layer_reshape(l, e.x, 3, (int64_t[]){1, e.tokens, e.width});
    int32_t h = activated(l, product(l, &e, x, &part[0], e.width), third);
    if (third) h = layer_two(l, "Mul", h, product(l, &e, x, &part[2], e.width));
    int32_t y = product(l, &e, h, &part[1], extent_of(l, h, 2));
    int64_t of_token[] = {e.tokens, e.k, 1}, of_expert[] = {e.count, e.tokens, 1};
    int32_t share = e.picks ? layer_reshape(l, e.share, 3, of_token)
                            : layer_reshape(l, layer_permute(l, e.share, 2, (int64_t[]){1, 0}), 3, of_expert);
    y = layer_two(l, "Mul", y, layer_cast(l, share, layer_element(l, y)));
    layer_result(l, 0, layer_reduce(l, "ReduceSum", y, 1, (int64_t[]){e.picks ? 1 : 0}, false));
}

/* x, router, weights and bias? of three products */
static void moe(struct layer *l)
{
    static const struct expert_part parts[] = {{2, -1, 3}, {4, -1, 5}, {6, -1, 7}};
    experts(l, parts, layer_int(l, "normalize_routing_weights", 0) != 0, 0);
}

/* The same with scales behind the weights; zero points and routers apart are not known. */
static void quantised_moe(struct layer *l)
{
    static const struct expert_part parts[] = {{2, 3, 4}, {5, 6, 7}, {8, 9, 10}};
    int64_t bits = layer_int(l, "expert_weight_bits", 4);
    bool odd = (bits != 4 && bits != 8) || layer_element(l, layer_in(l, 2)) != MODEL_U8;
    for (int i = 11; i < l->op->operand_count; i++) odd |= layer_has(l, i);
    if (odd || !layer_has(l, 3) || !layer_has(l, 6)) {
        layer_fail(l);
        return;
    }
    experts(l, parts, true, bits);
}

/* clang-format off */
const struct layer_row layers_experts[] = {
    {{NULL, NULL, "com.microsoft:MoE"}, moe},
    {{NULL, NULL, "com.microsoft:QMoE"}, quantised_moe},
    {{NULL}, NULL},
};
/* clang-format on */
