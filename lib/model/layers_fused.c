/* Kinds of com.microsoft that are several plain ones in a row: a product or convolution with a function behind it, sums before
 * one, and weights of four bits that are taken apart. */
#include "model/quantised_parts.h"

#include <string.h>

static void put_as(struct layer *l, const char *from, const char *to)
{
    const struct model_attr *a = model_attr_find(&l->op->attrs, from);
    if (a && a->form == ATTR_REAL) layer_put_real(l, to, a->real);
}

/* The function that the file names, with its numbers. */
static int32_t activated(struct layer *l, int32_t y)
{
    static const char *const plain[] = {"Relu",      "Sigmoid",     "Tanh", "Softplus",
                                        "LeakyRelu", "HardSigmoid", "Elu"};
    const char *kind = model_attr_word(&l->op->attrs, "activation", "");
    const struct model_attr *list = model_attr_find(&l->op->attrs, "activation_params");
    const double *number = list && list->form == ATTR_REALS ? list->reals : NULL;
    int count = number ? list->count : 0;
    if (!*kind) return y;
    if (strcmp(kind, "Clip") == 0 && count == 2)
        return layer_by(l, "Min", layer_by(l, "Max", y, number[0]), number[1]);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(plain[i], kind) == 0) {
            if (count > 0) layer_put_real(l, "alpha", number[0]);
            if (count > 1) layer_put_real(l, "beta", number[1]);
            if (count == 0) put_as(l, "activation_alpha", "alpha");
            if (count == 0) put_as(l, "activation_beta", "beta");
            return layer_one(l, plain[i], y);
        }
    return layer_fail(l), -1;
}

/* x, w, bias?, sum? */
static void conv(struct layer *l)
{
    int32_t y = quantised_conv(l, layer_in(l, 0), layer_in(l, 1));
    if (layer_has(l, 2))
        y = layer_two(l, "Add", y, layer_channels(l, layer_in(l, 2), layer_type(l, y)->count, 1));
    if (layer_has(l, 3)) y = layer_two(l, "Add", y, layer_in(l, 3));
    layer_result(l, 0, activated(l, y));
}

static void gemm(struct layer *l)
{
    static const char *const keys[] = {"alpha", "beta", "transA", "transB"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct model_attr *a = model_attr_find(&l->op->attrs, keys[i]);
        if (a) l->attr[l->attr_count++] = *a;
    }
    layer_result(l, 0, activated(l, layer_part(l, "Gemm", layer_has(l, 2) ? 3 : 2, l->op->operands)));
}

static void bias_add(struct layer *l)
{
    int32_t y = layer_two(l, "Add", layer_in(l, 0), layer_in(l, 1));
    layer_result(l, 0, layer_has(l, 2) ? layer_two(l, "Add", y, layer_in(l, 2)) : y);
}

/* One half by gelu of the other. */
static void bias_split_gelu(struct layer *l)
{
    int32_t x = layer_two(l, "Add", layer_in(l, 0), layer_in(l, 1));
    const struct model_type *t = layer_type(l, x);
    int last = t->count - 1;
    if (!l->ok || last < 0 || t->extent[last] % 2) {
        layer_fail(l);
        return;
    }
    int64_t half = t->extent[last] / 2;
    int32_t gate = layer_one(l, "Gelu", layer_slice(l, x, last, half, 2 * half));
    layer_result(l, 0, layer_two(l, "Mul", layer_slice(l, x, last, 0, half), gate));
}

/* The bias has the rank of x, or repeats outside: its dimensions are x's from `axis` on. */
static void bias_softmax(struct layer *l)
{
    int rank = layer_type(l, layer_in(l, 0))->count;
    int64_t axis = layer_int(l, "axis", 1);
    if (axis < 0) axis += rank;
    if (axis != rank - 1 || layer_type(l, layer_in(l, 1))->count != rank) {
        layer_fail(l);
        return;
    }
    layer_result(l, 0, layer_softmax(l, layer_two(l, "Add", layer_in(l, 0), layer_in(l, 1)), -1));
}

/* [N,H,W,C]; SkipGroupNorm: x, gamma, beta, skip, bias?, the sum is result 1. */
static void group_norm(struct layer *l)
{
    bool skip = strstr(l->op->kind, "Skip") != NULL, last = layer_int(l, "channels_last", 1) != 0;
    int32_t x = layer_in(l, 0);
    if (skip) x = layer_two(l, "Add", x, layer_in(l, 3));
    if (skip && layer_has(l, 4)) x = layer_two(l, "Add", x, layer_in(l, 4));
    if (layer_type(l, x)->count != 4 || (skip && (layer_type(l, layer_in(l, 3))->count != 4 || !last))) {
        layer_fail(l);
        return;
    }
    if (skip) layer_result(l, 1, x);
    enum model_element e = layer_element(l, layer_in(l, 1));
    int32_t y = layer_cast(l, last ? layer_permute(l, x, 4, (int64_t[]){0, 3, 1, 2}) : x, e);
    layer_put(l, "num_groups", layer_int(l, "groups", 0));
    layer_put_real(l, "epsilon", layer_real(l, "epsilon", 1e-5));
    y = layer_part(l, "GroupNormalization", 3, (int32_t[]){y, layer_in(l, 1), layer_in(l, 2)});
    if (layer_int(l, "activation", 0) == 1) y = layer_two(l, "Mul", y, layer_one(l, "Sigmoid", y));
    layer_result(l, 0, last ? layer_permute(l, y, 4, (int64_t[]){0, 2, 3, 1}) : y);
}

/* The same kind of ai.onnx. */
static void plain(struct layer *l)
{
    const char *kind = strchr(l->op->kind, ':') + 1;
    for (int i = 0; i < l->op->attrs.count && i < LAYER_MAX_ATTRS; i++)
        l->attr[l->attr_count++] = l->op->attrs.at[i];
    layer_result(l, 0, layer_part(l, kind, l->op->operand_count, l->op->operands));
}

/* [N, blocks] zero points: fractions, bytes, or two a byte with a row's last half left out. */
static int32_t zeros_of(struct layer *l, int64_t n, int64_t blocks, int64_t bits, enum model_element e)
{
    int32_t z = layer_in(l, 3);
    if (z < 0) return layer_number(l, e, (double)(1 << (bits - 1)));
    bool packed = layer_element(l, z) == MODEL_U8 && bits < 8;
    if (packed) {
        z = quantised_apart(l, layer_reshape(l, z, 2, (int64_t[]){n, (blocks * bits + 7) / 8}), bits);
        if (blocks * bits % 8) z = layer_slice(l, z, 1, 0, blocks);
    }
    return layer_reshape(l, layer_cast(l, z, e), 3, (int64_t[]){n, blocks, 1});
}

/* a, weights [N, blocks, bytes], scales, zero points?, -, bias? */
static void matmul_bits(struct layer *l)
{
    int64_t n = layer_int(l, "N", 0), k = layer_int(l, "K", 0), bits = layer_int(l, "bits", 4),
            block = layer_int(l, "block_size", 0);
    enum model_element e = layer_element(l, layer_in(l, 0));
    bool fits = n > 0 && k > 0 && block > 0 && n < INT32_MAX && k < INT32_MAX && block < INT32_MAX &&
                (bits == 2 || bits == 4 || bits == 8) && !layer_has(l, 4) &&
                layer_element(l, layer_in(l, 1)) == MODEL_U8;
    int64_t blocks = fits ? (k + block - 1) / block : 0, bytes = block * bits / 8;
    if (!fits || layer_type(l, layer_in(l, 1))->elements != n * blocks * bytes) {
        layer_fail(l);
        return;
    }
    int32_t w = layer_reshape(l, layer_in(l, 1), 3, (int64_t[]){n, blocks, bytes});
    if (bits < 8) w = quantised_apart(l, w, bits);
    w = layer_two(l, "Sub", layer_cast(l, w, e), zeros_of(l, n, blocks, bits, e));
    w = layer_two(l, "Mul", w,
                  layer_cast(l, layer_reshape(l, layer_in(l, 2), 3, (int64_t[]){n, blocks, 1}), e));
    w = layer_reshape(l, w, 2, (int64_t[]){n, blocks * block});
    if (blocks * block > k) w = layer_slice(l, w, 1, 0, k);
    int32_t y = layer_two(l, "MatMul", layer_in(l, 0), layer_permute(l, w, 2, (int64_t[]){1, 0}));
    layer_result(l, 0, layer_has(l, 5) ? layer_two(l, "Add", y, layer_in(l, 5)) : y);
}

/* Rows of a table, and of its scales and zero points, first; only these are multiplied. */
static void gather_blocks(struct layer *l)
{
    int32_t rows[4] = {-1, -1, -1, -1};
    const struct model_type *t = layer_type(l, layer_in(l, 0));
    int64_t axis = layer_int(l, "quantize_axis", 1);
    if (axis < 0) axis += t->count;
    bool packed = t->element == MODEL_U8 && layer_int(l, "bits", 4) == 4;
    bool is_signed = model_element_row(t->element)->number == MODEL_SIGNED;
    if (layer_int(l, "gather_axis", 0) != 0 || axis != t->count - 1) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < 4; i++)
        if (i != 1 && layer_has(l, i)) rows[i] = layer_two(l, "Gather", layer_in(l, i), layer_in(l, 1));
    if (packed) rows[0] = quantised_apart(l, rows[0], 4);
    if (packed && rows[3] >= 0) rows[3] = quantised_apart(l, rows[3], 4);
    if (rows[3] < 0 && !is_signed)
        rows[3] = layer_number(l, t->element, t->element == MODEL_U8 && !packed ? 128 : 8);
    layer_result(l, 0, quantised_back(l, rows[0], rows[2], rows[3], -1));
}

/* clang-format off */
const struct layer_row layers_fused[] = {
    {{NULL, NULL, "com.microsoft:FusedConv"}, conv},
    {{NULL, NULL, "com.microsoft:FusedGemm"}, gemm},
    {{NULL, NULL, "com.microsoft:BiasAdd"}, bias_add},
    {{NULL, NULL, "com.microsoft:BiasSplitGelu"}, bias_split_gelu},
    {{NULL, NULL, "com.microsoft:BiasSoftmax"}, bias_softmax},
    {{NULL, NULL, "com.microsoft:GroupNorm"}, group_norm},
    {{NULL, NULL, "com.microsoft:SkipGroupNorm"}, group_norm},
    {{NULL, NULL, "com.microsoft:Trilu"}, plain},
    {{NULL, NULL, "com.microsoft:Pad"}, plain},
    {{NULL, NULL, "com.microsoft:Range"}, plain},
    {{NULL, NULL, "com.microsoft:GatherND"}, plain},
    {{NULL, NULL, "com.microsoft:MatMulNBits"}, matmul_bits},
    {{NULL, NULL, "com.microsoft:GatherBlockQuantized"}, gather_blocks},
    {{NULL}, NULL},
};
/* clang-format on */
