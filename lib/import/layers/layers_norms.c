/* Normalisations: what their statistics run over, in fp32 where elements are narrower, and scale and
 * shift. */
#include "import/layers/layers.h"

#include <string.h>

static enum model_element norm_wide(enum model_element e)
{
    return model_element_row(e)->bits < 32 ? MODEL_F32 : e;
}

/* Statistics of one normalisation. */
struct norm {
    int32_t centred, mean, inverse, y; /* y: centred * inverse, before scale and shift */
};

static int32_t norm_inverse_root(struct layer *l, int32_t variance, double epsilon)
{
    return layer_one(l, "lxplan:Rsqrt", layer_by(l, "Add", variance, epsilon));
}

static struct norm norm_normalised(struct layer *l, int32_t x, int count, const int64_t *axes, double epsilon,
                                   bool centre)
{
    struct norm n = {.centred = x, .mean = -1};
    if (centre) {
        n.mean = layer_reduce(l, "ReduceMean", x, count, axes, true);
        n.centred = layer_two(l, "Sub", x, n.mean);
    }
    int32_t q = layer_two(l, "Mul", n.centred, n.centred);
    n.inverse = norm_inverse_root(l, layer_reduce(l, "ReduceMean", q, count, axes, true), epsilon);
    n.y = layer_two(l, "Mul", n.centred, n.inverse);
    return n;
}

static int norm_axes_from(int64_t first, int rank, int64_t *axes)
{
    int count = 0;
    if (first < 0) first += rank;
    for (int64_t d = first; d >= 0 && d < rank; d++) axes[count++] = d;
    return count;
}

/* Along the last dimensions from `axis` on; scale and shift are operands `first` and the next. */
static struct norm layer_norm_of(struct layer *l, int32_t x, int64_t axis, int first, bool centre,
                                 double epsilon)
{
    int64_t axes[MODEL_MAX_RANK];
    enum model_element e = layer_element(l, x);
    int count = norm_axes_from(axis, layer_type(l, x)->count, axes);
    struct norm n = norm_normalised(l, layer_cast(l, x, norm_wide(e)), count, axes, epsilon, centre);
    int32_t y = layer_cast(l, n.y, e);
    if (layer_has(l, first)) y = layer_two(l, "Mul", y, layer_in(l, first));
    if (centre && layer_has(l, first + 1)) y = layer_two(l, "Add", y, layer_in(l, first + 1));
    n.y = y;
    return n;
}

static bool norm_wants_more(const struct layer *l)
{
    bool more = false;
    for (int r = 1; r < l->op->result_count; r++) more |= l->op->results[r] >= 0;
    return more;
}

/* The importer has the plain form; here: with mean and inverse as results. */
void derive_layer_norm(struct layer *l)
{
    bool centre = strcmp(l->op->kind, "SimplifiedLayerNormalization") != 0;
    if (!norm_wants_more(l)) {
        layer_fail(l);
        return;
    }
    struct norm n =
        layer_norm_of(l, layer_in(l, 0), layer_int(l, "axis", -1), 1, centre, layer_real(l, "epsilon", 1e-5));
    layer_result(l, 0, n.y);
    if (centre) layer_result(l, 1, n.mean);
    layer_result(l, centre ? 2 : 1, n.inverse);
}

/* x + skip + bias first: that sum is result 4. */
void derive_skip_norm(struct layer *l)
{
    bool centre = strstr(l->op->kind, "Simplified") == NULL;
    int32_t x = layer_two(l, "Add", layer_in(l, 0), layer_in(l, 1));
    int bias = centre ? 4 : 3;
    if (layer_has(l, bias)) x = layer_two(l, "Add", x, layer_in(l, bias));
    struct norm n = layer_norm_of(l, x, -1, 2, centre, layer_real(l, "epsilon", 1e-12));
    layer_result(l, 0, n.y);
    layer_result(l, 1, centre ? n.mean : -1);
    layer_result(l, 2, n.inverse);
    layer_result(l, 3, x);
}

/* All dimensions but that of the features. */
static int norm_all_but(int rank, int64_t feature, int64_t *axes)
{
    int count = 0;
    for (int d = 0; d < rank; d++)
        if (d != feature) axes[count++] = d;
    return count;
}

static int64_t norm_feature_of(const struct layer *l)
{
    return layer_int(l, "feature_index", layer_int(l, "dimension", 1));
}

/* y, mean and variance of the batch */
void derive_batch_norm_training(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    int rank = layer_type(l, x)->count, f = (int)norm_feature_of(l);
    int64_t axes[MODEL_MAX_RANK];
    int count = norm_all_but(rank, f, axes);
    if (f < 0 || f >= rank || l->op->operand_count < 3) {
        layer_fail(l);
        return;
    }
    int32_t u = layer_reduce(l, "ReduceMean", x, count, axes, true), c = layer_two(l, "Sub", x, u);
    int32_t v = layer_reduce(l, "ReduceMean", layer_two(l, "Mul", c, c), count, axes, true);
    int32_t y = layer_two(l, "Mul", c, norm_inverse_root(l, v, layer_real(l, "epsilon", 1e-5)));
    y = layer_two(l, "Mul", y, layer_channels(l, layer_in(l, 1), rank, f));
    layer_result(l, 0, layer_two(l, "Add", y, layer_channels(l, layer_in(l, 2), rank, f)));
    layer_result(l, 1, u);
    layer_result(l, 2, v);
}

/* x, scale, mean, variance, dy: dx = scale i (dy - mean(dy) - c i i mean(dy c)), dscale, doffset */
void derive_batch_norm_grad(struct layer *l)
{
    int32_t x = layer_in(l, 0), dy = layer_in(l, 4);
    int rank = layer_type(l, x)->count, f = (int)norm_feature_of(l);
    int64_t axes[MODEL_MAX_RANK];
    int count = norm_all_but(rank, f, axes);
    if (f < 0 || f >= rank || l->op->operand_count < 5) {
        layer_fail(l);
        return;
    }
    int32_t scale = layer_channels(l, layer_in(l, 1), rank, f),
            u = layer_channels(l, layer_in(l, 2), rank, f);
    int32_t i =
        norm_inverse_root(l, layer_channels(l, layer_in(l, 3), rank, f), layer_real(l, "epsilon", 1e-5));
    int32_t c = layer_two(l, "Sub", x, u), p = layer_two(l, "Mul", dy, c);
    int32_t bias = layer_reduce(l, "ReduceMean", dy, count, axes, true);
    int32_t slope = layer_reduce(l, "ReduceMean", p, count, axes, true);
    int32_t part = layer_two(l, "Mul", layer_two(l, "Mul", slope, i), i);
    int32_t d = layer_two(l, "Sub", layer_two(l, "Sub", dy, bias), layer_two(l, "Mul", c, part));
    layer_result(l, 0, layer_two(l, "Mul", d, layer_two(l, "Mul", scale, i)));
    layer_result(l, 1, layer_two(l, "Mul", layer_reduce(l, "ReduceSum", p, count, axes, true), i));
    layer_result(l, 2, layer_reduce(l, "ReduceSum", dy, count, axes, true));
}

/* a = rsqrt(var + e) * scale, b = offset - mean * a, y = x a + b */
void derive_batch_norm_inference(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    int rank = layer_type(l, x)->count, f = (int)norm_feature_of(l);
    if (f < 0 || f >= rank || l->op->operand_count < 5) {
        layer_fail(l);
        return;
    }
    int32_t a = norm_inverse_root(l, layer_in(l, 4), layer_real(l, "epsilon", 1e-5));
    a = layer_two(l, "Mul", a, layer_in(l, 1));
    int32_t b = layer_two(l, "Sub", layer_in(l, 2), layer_two(l, "Mul", layer_in(l, 3), a));
    int32_t y = layer_two(l, "Mul", x, layer_channels(l, a, rank, f));
    layer_result(l, 0, layer_two(l, "Add", y, layer_channels(l, b, rank, f)));
}

/* Training: statistics of the batch, and those that run on. */
void derive_batch_norm_onnx(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    int rank = layer_type(l, x)->count;
    int64_t axes[MODEL_MAX_RANK];
    int count = norm_all_but(rank, 1, axes);
    double momentum = layer_real(l, "momentum", 0.9);
    if (!layer_int(l, "training_mode", 0) || rank < 2 || l->op->operand_count < 5) {
        layer_fail(l);
        return;
    }
    int32_t u = layer_reduce(l, "ReduceMean", x, count, axes, true), c = layer_two(l, "Sub", x, u);
    int32_t v = layer_reduce(l, "ReduceMean", layer_two(l, "Mul", c, c), count, axes, true), now[2] = {u, v};
    int32_t y = layer_two(l, "Mul", c, norm_inverse_root(l, v, layer_real(l, "epsilon", 1e-5)));
    y = layer_two(l, "Mul", y, layer_channels(l, layer_in(l, 1), rank, 1));
    layer_result(l, 0, layer_two(l, "Add", y, layer_channels(l, layer_in(l, 2), rank, 1)));
    for (int i = 0; i < 2; i++) {
        int32_t old = layer_by(l, "Mul", layer_channels(l, layer_in(l, 3 + i), rank, 1), momentum);
        layer_result(l, 1 + i, layer_two(l, "Add", old, layer_by(l, "Mul", now[i], 1 - momentum)));
    }
}
