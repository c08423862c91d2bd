/* Softmax, normalisations and reductions. Statistics are in fp32 for narrower elements. */
#include "import/layers/layers.h"

static int32_t norm_wide(struct layer *l, int32_t x)
{
    enum model_element e = layer_type(l, x)->element;
    return layer_cast(l, x, model_element_row(e)->bits < 32 ? MODEL_F32 : e);
}

/* Dimensions of `rank` before `end`, except `but`. */
static int norm_axes(int64_t first, int64_t end, int64_t but, int64_t *axes)
{
    int count = 0;
    for (int64_t d = first; d < end; d++)
        if (d != but) axes[count++] = d;
    return count;
}

/* p = exp(x - max x), y = p / sum p; LogSoftmax: y = x - max x - log(sum p). Along one dimension, or (ONNX
 * below 13) all dimensions from it on. */
bool derive_softmax(struct layer *l)
{
    int rank = layer_type(l, layer_in(l, 0))->count;
    int64_t axes[MODEL_MAX_RANK],
        axis = layer_int(l, "axis", layer_int(l, "dimension", l->opset < 13 ? 1 : -1));
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return false;
    int count = norm_axes(axis, l->opset < 13 ? rank : axis + 1, -1, axes);
    int32_t x = norm_wide(l, layer_in(l, 0));
    int32_t s = layer_two(l, "Sub", x, layer_reduce(l, "ReduceMax", x, count, axes));
    int32_t p = layer_one(l, "Exp", s), z = layer_reduce(l, "ReduceSum", p, count, axes);
    bool logs = strncmp(l->op->kind, "log", 3) == 0 || strncmp(l->op->kind, "Log", 3) == 0;
    return layer_result(l, 0,
                        logs ? layer_two(l, "Sub", s, layer_one(l, "Log", z)) : layer_two(l, "Div", p, z));
}

static int32_t norm_inverse_root(struct layer *l, int32_t variance, double epsilon)
{
    return layer_one(l, "lxplan:Rsqrt", layer_by(l, "Add", variance, layer_real(l, "epsilon", epsilon)));
}

struct norm {
    int32_t mean, variance, inverse, y; /* y = (x - mean) * inverse */
};

/* `centre`: subtracts the mean first. */
static struct norm norm_of(struct layer *l, int32_t x, int count, const int64_t *axes, bool centre,
                           double epsilon)
{
    struct norm n = {.mean = -1};
    if (centre) n.mean = layer_reduce(l, "ReduceMean", x, count, axes);
    if (centre) x = layer_two(l, "Sub", x, n.mean);
    n.variance = layer_reduce(l, "ReduceMean", layer_two(l, "Mul", x, x), count, axes);
    n.inverse = norm_inverse_root(l, n.variance, epsilon);
    n.y = layer_two(l, "Mul", x, n.inverse);
    return n;
}

/* Along the last dimensions. Operands `scale` and `shift` (-1: none) are applied last, in x's type. Further
 * results: the mean, if any, and the inverse root. */
static bool norm_layer(struct layer *l, int32_t x, bool centre, double epsilon, int scale, int shift)
{
    int64_t axes[MODEL_MAX_RANK];
    int rank = layer_type(l, x)->count, sizes;
    model_attr_ints(&l->op->attrs, "normalized_shape", &sizes);
    int64_t axis = layer_int(l, "axis", -1), first = sizes ? rank - sizes : axis < 0 ? axis + rank : axis;
    if (first < 0 || first >= rank) return false;
    struct norm n = norm_of(l, norm_wide(l, x), norm_axes(first, rank, -1, axes), axes, centre, epsilon);
    int32_t y = layer_cast(l, n.y, layer_type(l, x)->element);
    if (layer_in(l, scale) >= 0) y = layer_two(l, "Mul", y, layer_in(l, scale));
    if (shift >= 0 && layer_in(l, shift) >= 0) y = layer_two(l, "Add", y, layer_in(l, shift));
    bool skips = scale == 2;
    if (centre) layer_result(l, 1, n.mean);
    return layer_result(l, centre || skips ? 2 : 1, n.inverse) && layer_result(l, 0, y);
}

bool derive_norm(struct layer *l)
{
    bool centre = strcmp(l->op->kind, "layer_norm") == 0 || strcmp(l->op->kind, "LayerNormalization") == 0;
    return norm_layer(l, layer_in(l, 0), centre, 1e-5, 1, 2);
}

/* First adds x + skip + bias: the sum is result 4. */
bool derive_skip_norm(struct layer *l)
{
    bool centre = strstr(l->op->kind, "Simplified") == NULL;
    int32_t x = layer_two(l, "Add", layer_in(l, 0), layer_in(l, 1));
    int bias = centre ? 4 : 3;
    if (layer_in(l, bias) >= 0) x = layer_two(l, "Add", x, layer_in(l, bias));
    return norm_layer(l, x, centre, 1e-12, 2, centre ? 3 : -1) && layer_result(l, 3, x);
}

/* x, scale, offset, mean, variance. Inference: a = rsqrt(variance + e) * scale, b = offset - mean * a,
 * y = x a + b. Training: y from the statistics of the batch, which are the other results; those of ONNX are
 * mixed with the operands. */
bool derive_batch_norm(struct layer *l)
{
    int32_t x = layer_in(l, 0), a, b;
    int rank = layer_type(l, x)->count;
    int64_t f = layer_int(l, "feature_index", layer_int(l, "dimension", 1)), axes[MODEL_MAX_RANK];
    bool onnx = l->m->format == MODEL_ONNX, training = strstr(l->op->kind, "training") ||
                                                       layer_int(l, "training_mode", 0) ||
                                                       layer_int(l, "training", 0);
    if (f < 0 || f >= rank || l->op->operand_count < (training && !onnx ? 3 : 5)) return false;
    if (!training) {
        l->runs = true; /* the same pattern with or without statistics in the file */
        for (int i = 1; i < 5; i++)
            if (layer_type(l, layer_in(l, i))->count != 1) return false;
        a = layer_two(l, "Mul", norm_inverse_root(l, layer_in(l, 4), 1e-5), layer_in(l, 1));
        b = layer_two(l, "Sub", layer_in(l, 2), layer_two(l, "Mul", layer_in(l, 3), a));
        x = layer_two(l, "Mul", x, layer_channels(l, a, rank, f));
        return layer_result(l, 0, layer_two(l, "Add", x, layer_channels(l, b, rank, f)));
    }
    struct norm n = norm_of(l, x, norm_axes(0, rank, f, axes), axes, true, 1e-5);
    int32_t y = layer_two(l, "Mul", n.y, layer_channels(l, layer_in(l, 1), rank, f)),
            now[] = {n.mean, n.variance};
    double momentum = onnx ? layer_real(l, "momentum", 0.9) : 0;
    layer_result(l, 0, layer_two(l, "Add", y, layer_channels(l, layer_in(l, 2), rank, f)));
    for (int i = 0; i < 2; i++) {
        if (onnx) {
            int32_t old = layer_by(l, "Mul", layer_channels(l, layer_in(l, 3 + i), rank, f), momentum);
            now[i] = layer_two(l, "Add", old, layer_by(l, "Mul", now[i], 1 - momentum));
        }
        layer_result(l, 1 + i, now[i]);
    }
    return l->ok;
}

/* x, scale, mean, variance, dy: dx = scale i (dy - mean(dy) - c i i mean(dy c)), dscale, doffset */
bool derive_batch_norm_grad(struct layer *l)
{
    int32_t x = layer_in(l, 0), dy = layer_in(l, 4), in[4];
    int rank = layer_type(l, x)->count;
    int64_t axes[MODEL_MAX_RANK], f = layer_int(l, "feature_index", 1);
    int count = norm_axes(0, rank, f, axes);
    if (f < 0 || f >= rank || l->op->operand_count < 5) return false;
    for (int i = 1; i < 4; i++) in[i] = layer_channels(l, layer_in(l, i), rank, f);
    int32_t i = norm_inverse_root(l, in[3], 1e-5);
    int32_t c = layer_two(l, "Sub", x, in[2]), p = layer_two(l, "Mul", dy, c);
    int32_t bias = layer_reduce(l, "ReduceMean", dy, count, axes);
    int32_t slope = layer_reduce(l, "ReduceMean", p, count, axes);
    int32_t part = layer_two(l, "Mul", layer_two(l, "Mul", slope, i), i);
    int32_t d = layer_two(l, "Sub", layer_two(l, "Sub", dy, bias), layer_two(l, "Mul", c, part));
    layer_result(l, 0, layer_two(l, "Mul", d, layer_two(l, "Mul", in[1], i)));
    layer_result(l, 1, layer_two(l, "Mul", layer_reduce(l, "ReduceSum", p, count, axes), i));
    return layer_result(l, 2, layer_reduce(l, "ReduceSum", dy, count, axes));
}

/* Over all spatial dimensions. */
bool derive_global_pool(struct layer *l)
{
    int64_t axes[MODEL_MAX_RANK];
    int count = norm_axes(2, layer_type(l, layer_in(l, 0))->count, -1, axes);
    const char *kind = strcmp(l->op->kind, "GlobalMaxPool") == 0 ? "ReduceMax" : "ReduceMean";
    return count > 0 && layer_result(l, 0, layer_reduce(l, kind, layer_in(l, 0), count, axes));
}
