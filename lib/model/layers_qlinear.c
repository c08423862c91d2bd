/* Kinds of com.microsoft that work on quantised numbers as the plain kinds do on theirs: back to fractions, the kind, and to
 * few bits again. Scales and zero points stand behind each operand; those of the result last. */
#include "model/quantised_parts.h"

#include <string.h>

static void as(struct layer *l, int32_t y, int scale)
{
    layer_result(l, 0,
                 quantised_to(l, y, layer_in(l, scale), layer_in(l, scale + 1), 1,
                              layer_element(l, l->op->results[0])));
}

/* Operand `at` with its scale and zero point. */
static int32_t back(struct layer *l, int at)
{
    return quantised_back(l, layer_in(l, at), layer_in(l, at + 1), layer_in(l, at + 2), 1);
}

static bool has_all(struct layer *l, int count)
{
    if (l->op->operand_count >= count) return true;
    layer_fail(l);
    return false;
}

/* a, b, result */
static void two(struct layer *l)
{
    const char *kind = strcmp(l->op->kind, "com.microsoft:QLinearAdd") == 0 ? "Add" : "Mul";
    if (has_all(l, 7)) as(l, layer_two(l, kind, back(l, 0), back(l, 3)), 6);
}

/* Attributes of the op that the kind has, too. */
static void keep(struct layer *l, const char *const *keys)
{
    for (; *keys; keys++) {
        const struct model_attr *a = model_attr_find(&l->op->attrs, *keys);
        if (a && l->attr_count < LAYER_MAX_ATTRS) l->attr[l->attr_count++] = *a;
    }
}

/* x, result: a function of each element, or along a dimension */
static void one(struct layer *l)
{
    static const struct {
        const char *theirs, *plain;
    } rows[] = {{"com.microsoft:QLinearSigmoid", "Sigmoid"},
                {"com.microsoft:QLinearLeakyRelu", "LeakyRelu"},
                {"com.microsoft:QLinearSoftmax", "Softmax"}};
    static const char *const keys[] = {"alpha", "axis", NULL};
    bool old = strcmp(l->op->kind, rows[2].theirs) == 0 && layer_int(l, "opset", 13) < 13;
    if (!has_all(l, 4) || old) {
        layer_fail(l);
        return;
    }
    int32_t x = back(l, 0);
    keep(l, keys);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].theirs, l->op->kind) == 0) as(l, layer_one(l, rows[i].plain, x), 3);
}

/* [N,..,C] as [N,C,..], and back */
static int32_t channels_moved(struct layer *l, int32_t x, bool first)
{
    int64_t perm[MODEL_MAX_RANK];
    int rank = layer_type(l, x)->count;
    if (!l->ok || rank < 3) return layer_fail(l), -1;
    perm[0] = 0;
    for (int d = 1; d < rank; d++)
        perm[d] = first ? (d == 1 ? rank - 1 : d - 1) : (d == rank - 1 ? 1 : d + 1);
    return layer_permute(l, x, rank, perm);
}

/* x, result: pools, perhaps with the channels last */
static void pool(struct layer *l)
{
    static const char *const keys[] = {"kernel_shape", "strides",           "pads", "dilations", "auto_pad",
                                       "ceil_mode",    "count_include_pad", NULL};
    bool global = strstr(l->op->kind, "Global") != NULL, last = layer_int(l, "channels_last", 0) != 0;
    if (!has_all(l, 4)) return;
    int32_t x = back(l, 0);
    if (last) x = channels_moved(l, x, true);
    keep(l, keys);
    x = layer_one(l, global ? "GlobalAveragePool" : "AveragePool", x);
    as(l, last ? channels_moved(l, x, false) : x, 3);
}

/* result, then the parts */
static void concat(struct layer *l)
{
    int count = (l->op->operand_count - 2) / 3;
    int32_t part[MODEL_MAX_DEPTH];
    if (count < 1 || count > MODEL_MAX_DEPTH || l->op->operand_count != 2 + 3 * count) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < count; i++) part[i] = back(l, 2 + 3 * i);
    as(l, layer_concat(l, (int)layer_int(l, "axis", 0), count, part), 0);
}

/* condition, a, b, result */
static void where(struct layer *l)
{
    if (has_all(l, 8))
        as(l, layer_part(l, "Where", 3, (int32_t[]){layer_in(l, 0), back(l, 1), back(l, 4)}), 7);
}

static int32_t turned(struct layer *l, int32_t x, bool turn)
{
    if (layer_type(l, x)->count != 2) return layer_fail(l), -1;
    return turn ? layer_permute(l, x, 2, (int64_t[]){1, 0}) : x;
}

/* a, b, sum? in int32, result?: without one fractions come out */
static void gemm(struct layer *l)
{
    if (!has_all(l, 6)) return;
    bool turn_b = layer_int(l, "transB", 0) != 0;
    int32_t a =
        turned(l, quantised_shifted(l, layer_in(l, 0), layer_in(l, 2), -2), layer_int(l, "transA", 0) != 0);
    int32_t b = turned(l, quantised_shifted(l, layer_in(l, 3), layer_in(l, 5), turn_b ? 0 : 1), turn_b);
    int32_t y = layer_two(l, "MatMul", a, b);
    if (layer_has(l, 6)) y = layer_two(l, "Add", y, layer_in(l, 6));
    int32_t scale = layer_two(l, "Mul", layer_in(l, 1), layer_in(l, 4));
    if (layer_real(l, "alpha", 1) != 1) scale = layer_by(l, "Mul", scale, layer_real(l, "alpha", 1));
    y = layer_two(l, "Mul", layer_cast(l, y, layer_element(l, scale)), scale);
    if (layer_has(l, 7))
        as(l, y, 7);
    else
        layer_result(l, 0, y);
}

/* Convolutions with the channels last: of quantised numbers (x, w, result, bias in int32), or plain ones. */
static void conv_last(struct layer *l)
{
    bool quantised = strstr(l->op->kind, "QLinear") != NULL;
    int32_t x = channels_moved(l, layer_in(l, 0), true), y;
    if (quantised && (l->op->operand_count < 8 || !layer_int(l, "channels_last", 0))) layer_fail(l);
    if (!l->ok) return;
    if (quantised) {
        int32_t w = quantised_shifted(l, layer_in(l, 3), layer_in(l, 5), 0), scale;
        y = quantised_conv(l, quantised_shifted(l, x, layer_in(l, 2), 1), w);
        scale = layer_two(l, "Mul", layer_in(l, 1), layer_in(l, 4));
        int rank = layer_type(l, y)->count;
        if (l->ok && layer_type(l, scale)->elements > 1) scale = layer_channels(l, scale, rank, 1);
        if (layer_has(l, 8)) y = layer_two(l, "Add", y, layer_channels(l, layer_in(l, 8), rank, 1));
        y = layer_two(l, "Mul", layer_cast(l, y, layer_element(l, scale)), scale);
        as(l, channels_moved(l, y, false), 6);
        return;
    }
    y = quantised_conv(l, x, layer_in(l, 1));
    if (layer_has(l, 2))
        y = layer_two(l, "Add", y, layer_channels(l, layer_in(l, 2), layer_type(l, y)->count, 1));
    layer_result(l, 0, channels_moved(l, y, false));
}

static void max_pool_last(struct layer *l)
{
    static const char *const keys[] = {"kernel_shape", "strides",   "pads", "dilations",
                                       "auto_pad",     "ceil_mode", NULL};
    int32_t x = channels_moved(l, layer_in(l, 0), true);
    keep(l, keys);
    layer_result(l, 0, channels_moved(l, layer_one(l, "MaxPool", x), false));
}

/* clang-format off */
const struct layer_row layers_qlinear[] = {
    {{NULL, NULL, "com.microsoft:QLinearAdd"}, two},
    {{NULL, NULL, "com.microsoft:QLinearMul"}, two},
    {{NULL, NULL, "com.microsoft:QLinearSigmoid"}, one},
    {{NULL, NULL, "com.microsoft:QLinearLeakyRelu"}, one},
    {{NULL, NULL, "com.microsoft:QLinearSoftmax"}, one},
    {{NULL, NULL, "com.microsoft:QLinearAveragePool"}, pool},
    {{NULL, NULL, "com.microsoft:QLinearGlobalAveragePool"}, pool},
    {{NULL, NULL, "com.microsoft:QLinearConcat"}, concat},
    {{NULL, NULL, "com.microsoft:QLinearWhere"}, where},
    {{NULL, NULL, "com.microsoft:QGemm"}, gemm},
    {{NULL, NULL, "com.microsoft:QLinearConv"}, conv_last},
    {{NULL, NULL, "com.microsoft:NhwcConv"}, conv_last},
    {{NULL, NULL, "com.microsoft:NhwcMaxPool"}, max_pool_last},
    {{NULL}, NULL},
};
/* clang-format on */
