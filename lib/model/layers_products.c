/* Products with more to them than a contraction, and moves made of simpler ones. */
#include "model/layers.h"

#include <string.h>

/* The last two dimensions swapped. */
static int32_t turned(struct layer *l, int32_t a, bool turn)
{
    int64_t perm[MODEL_MAX_RANK];
    int rank = layer_type(l, a)->count;
    if (!turn || !l->ok) return a;
    if (rank < 2) return layer_fail(l), -1;
    for (int d = 0; d < rank; d++) perm[d] = d < rank - 2 ? d : 2 * rank - 3 - d;
    return layer_permute(l, a, rank, perm);
}

static int32_t scaled(struct layer *l, int32_t a, double by)
{
    return by == 1 ? a : layer_by(l, "Mul", a, by);
}

/* alpha * A' B' + beta * C; below 7 C is aligned by numbers too. */
static void gemm(struct layer *l)
{
    int32_t a = turned(l, layer_in(l, 0), layer_int(l, "transA", 0) != 0);
    int32_t b = turned(l, layer_in(l, 1), layer_int(l, "transB", 0) != 0);
    int32_t y = scaled(l, layer_two(l, "MatMul", a, b), layer_real(l, "alpha", 1));
    if (layer_has(l, 2) && layer_real(l, "beta", 1) != 0)
        y = layer_two(l, "Add", y, scaled(l, layer_in(l, 2), layer_real(l, "beta", 1)));
    if (strcmp(l->op->kind, "com.microsoft:GemmFastGelu") == 0) y = layer_one(l, "com.microsoft:FastGelu", y);
    layer_result(l, 0, y);
}

/* The first dimension behind the others but the last: [k, .., n] as [.., k, n]. */
static int32_t batch_turned(struct layer *l, int32_t a, bool turn)
{
    int64_t perm[MODEL_MAX_RANK];
    int rank = layer_type(l, a)->count;
    if (!turn || !l->ok || rank < 3) return a;
    for (int d = 0; d < rank; d++) perm[d] = d == rank - 1 ? d : d == rank - 2 ? 0 : d + 1;
    return layer_permute(l, a, rank, perm);
}

static void fused_matmul(struct layer *l)
{
    int32_t a = batch_turned(l, layer_in(l, 0), layer_int(l, "transBatchA", 0) != 0);
    int32_t b = batch_turned(l, layer_in(l, 1), layer_int(l, "transBatchB", 0) != 0);
    a = turned(l, a, layer_int(l, "transA", 0) != 0);
    b = turned(l, b, layer_int(l, "transB", 0) != 0);
    layer_result(l, 0, scaled(l, layer_two(l, "MatMul", a, b), layer_real(l, "alpha", 1)));
}

/* A (or x) W + b of TTIR. */
static void linear(struct layer *l)
{
    int32_t a = turned(l, layer_in(l, 0), layer_int(l, "transpose_a", 0) != 0);
    int32_t b = turned(l, layer_in(l, 1), layer_int(l, "transpose_b", 0) != 0);
    int32_t y = layer_two(l, "MatMul", a, b);
    if (layer_has(l, 2)) y = layer_two(l, "Add", y, layer_in(l, 2));
    layer_result(l, 0, y);
}

/* Repetition along each dimension: a new one in front of it, merged with it. */
static int32_t repeated(struct layer *l, int32_t x, const int64_t *times, bool inside)
{
    const struct model_type *t = layer_type(l, x);
    int64_t open[MODEL_MAX_RANK], wide[MODEL_MAX_RANK], extent[MODEL_MAX_RANK];
    int n = 0;
    if (2 * t->count > MODEL_MAX_RANK) return layer_fail(l), -1;
    for (int d = 0; d < t->count; d++) {
        extent[d] = t->extent[d] * times[d];
        if (times[d] != 1 && !inside) open[n] = 1, wide[n++] = times[d];
        open[n] = wide[n] = t->extent[d];
        n++;
        if (times[d] != 1 && inside) open[n] = 1, wide[n++] = times[d];
    }
    if (n == t->count) return layer_one(l, "Identity", x);
    x = layer_expand_to(l, layer_reshape(l, x, n, open), n, wide);
    return layer_reshape(l, x, t->count, extent);
}

/* The factors, from an operand of ONNX or an attribute of TTIR. */
static void tile(struct layer *l)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0));
    const struct model_data *d = layer_has(l, 1) ? l->m->values.at[layer_in(l, 1)].data : NULL;
    int64_t times[MODEL_MAX_RANK];
    int count;
    const int64_t *list = model_attr_ints(&l->op->attrs, "repeat_dimensions", &count);
    bool known = d && (d->ints || d->reals) && d->type->elements == t->count;
    if (!(list && count == t->count) && !known) {
        layer_fail(l);
        return;
    }
    for (int k = 0; k < t->count; k++) {
        times[k] = list ? list[k] : model_data_int(d, k);
        if (times[k] < 1 || times[k] > INT32_MAX) {
            layer_fail(l);
            return;
        }
    }
    layer_result(l, 0, repeated(l, layer_in(l, 0), times, false));
}

static void repeat_interleave(struct layer *l)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0));
    int64_t times[MODEL_MAX_RANK], axis = layer_int(l, "dim", 0), by = layer_int(l, "repeats", 0);
    if (axis < 0) axis += t->count;
    if (by < 1 || by > INT32_MAX || axis < 0 || axis >= t->count) {
        layer_fail(l);
        return;
    }
    for (int d = 0; d < t->count; d++) times[d] = d == axis ? by : 1;
    layer_result(l, 0, repeated(l, layer_in(l, 0), times, true));
}

/* (x + bias[c]) * scale of old files */
static void image_scaler(struct layer *l)
{
    const struct model_attr *bias = model_attr_find(&l->op->attrs, "bias");
    int32_t x = layer_in(l, 0), parts[64];
    int rank = layer_type(l, x)->count;
    if (!bias || bias->form != ATTR_REALS || bias->count < 1 || bias->count > 64) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < bias->count; i++)
        parts[i] = layer_reshape(l, layer_number(l, layer_element(l, x), bias->reals[i]), 1, (int64_t[]){1});
    int32_t b = layer_channels(l, layer_concat(l, 0, bias->count, parts), rank, 1);
    layer_result(l, 0, layer_by(l, "Mul", layer_two(l, "Add", x, b), layer_real(l, "scale", 1)));
}

/* Slices by a border at each side of height and width. */
static void crop(struct layer *l)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0)), *y = model_type_of(l->m, l->op->results[0]);
    int count;
    const int64_t *border = model_attr_ints(&l->op->attrs, "border", &count);
    if (t->count != 4 || count != 4 || y->count != 4) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < 2; i++)
        if (border[i] < 0 || border[i] > INT32_MAX) {
            layer_fail(l);
            return;
        }
    int32_t x = layer_slice(l, layer_in(l, 0), 2, border[1], border[1] + y->extent[2]);
    layer_result(l, 0, layer_slice(l, x, 3, border[0], border[0] + y->extent[3]));
}

/* clang-format off */
const struct layer_row layers_products[] = {
    {{NULL, NULL, "Gemm"}, gemm},
    {{NULL, NULL, "com.microsoft:GemmFastGelu"}, gemm},
    {{NULL, NULL, "com.microsoft:FusedMatMul"}, fused_matmul},
    {{NULL, NULL, "com.microsoft:TransposeMatMul"}, fused_matmul},
    {{"linear", NULL, NULL}, linear},
    {{"repeat", NULL, "Tile"}, tile},
    {{"repeat_interleave", NULL, NULL}, repeat_interleave},
    {{NULL, NULL, "ImageScaler"}, image_scaler},
    {{NULL, NULL, "Crop"}, crop},
    {{NULL}, NULL},
};
/* clang-format on */
