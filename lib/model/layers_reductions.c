/* Reductions that no kind of ours is, and what they are made of: axes that are an attribute, an operand, or left out. */
#include "model/layers.h"

#include <math.h>
#include <string.h>

/* What an op of ONNX reduces along. */
struct along {
    int64_t axis[MODEL_MAX_RANK];
    int count;
    bool keep, nothing; /* nothing: each element by itself */
};

static bool is_float(const struct layer *l, int32_t x)
{
    return model_element_row(layer_element(l, x))->number == MODEL_FLOAT;
}

/* An attribute, an operand that is known, or all there are. False: the run decides. */
static bool axes_of(const struct layer *l, struct along *a)
{
    const struct model_attr *list = model_attr_find(&l->op->attrs, "axes");
    const struct model_data *d = layer_has(l, 1) ? l->m->values.at[layer_in(l, 1)].data : NULL;
    int rank = layer_type(l, layer_in(l, 0))->count;
    bool given = list && list->form == ATTR_INTS;
    int64_t count = given ? list->count : d ? d->type->elements : 0;
    *a = (struct along){.keep = layer_int(l, "keepdims", 1) != 0};
    if ((layer_has(l, 1) && !given && (!d || !d->ints)) || count > MODEL_MAX_RANK) return false;
    a->nothing = count == 0 && layer_int(l, "noop_with_empty_axes", 0) != 0;
    for (int i = 0; i < count; i++) a->axis[a->count++] = given ? list->ints[i] : model_data_int(d, i);
    for (int d2 = 0; count == 0 && !a->nothing && d2 < rank; d2++) a->axis[a->count++] = d2;
    return true;
}

static int32_t reduced(struct layer *l, const struct along *a, const char *kind, int32_t x)
{
    return a->nothing ? x : layer_reduce(l, kind, x, a->count, a->axis, a->keep);
}

/* The importer has the plain form; here: along nothing, or with an operand that is left out. */
static void plain(struct layer *l)
{
    struct along a;
    bool empty = l->op->operand_count > 1 && !layer_has(l, 1);
    if (!axes_of(l, &a) || (!a.nothing && !empty)) {
        layer_fail(l);
        return;
    }
    int32_t x = layer_in(l, 0);
    layer_result(l, 0, a.nothing ? layer_one(l, "Identity", x) : reduced(l, &a, l->op->kind, x));
}

/* Sums of something of each element, and something of the sum. */
static void sum_of(struct layer *l)
{
    struct along a;
    int32_t x = layer_in(l, 0);
    bool squares = strcmp(l->op->kind, "ReduceL2") == 0 || strcmp(l->op->kind, "ReduceSumSquare") == 0;
    bool root = strcmp(l->op->kind, "ReduceL2") == 0, logs = strcmp(l->op->kind, "ReduceLogSum") == 0;
    if (!axes_of(l, &a) || ((root || logs) && !is_float(l, x))) {
        layer_fail(l);
        return;
    }
    if (strcmp(l->op->kind, "ReduceL1") == 0) x = layer_one(l, "Abs", x);
    if (squares) x = layer_two(l, "Mul", x, x);
    x = reduced(l, &a, "ReduceSum", x);
    layer_result(l, 0, root ? layer_one(l, "Sqrt", x) : logs ? layer_one(l, "Log", x) : x);
}

/* m + log(sum(exp(x - m))) with the largest element m; 0 for one that is infinite. */
static void log_sum_exp(struct layer *l)
{
    struct along a, kept;
    int32_t x = layer_in(l, 0);
    if (!axes_of(l, &a) || !is_float(l, x)) {
        layer_fail(l);
        return;
    }
    if (a.nothing) {
        layer_result(l, 0, layer_one(l, "Identity", x));
        return;
    }
    kept = a;
    kept.keep = true;
    int32_t most = reduced(l, &kept, "ReduceMax", x);
    int32_t infinite = layer_by(l, "Equal", layer_one(l, "Abs", most), INFINITY);
    int32_t zero = layer_number(l, layer_element(l, x), 0);
    most = layer_part(l, "Where", 3, (int32_t[]){infinite, zero, most});
    int32_t sum = reduced(l, &kept, "ReduceSum", layer_one(l, "Exp", layer_two(l, "Sub", x, most)));
    layer_result(l, 0, layer_two(l, "Add", most, layer_one(l, "Log", sum)));
}

/* The dimension of a softmax and its like: one, or (below 13) all from one on. */
static bool from_axis(const struct layer *l, struct along *a)
{
    bool old = model_attr_int(&l->m->attrs, "", 13) < 13 && l->m->format == MODEL_ONNX;
    int rank = layer_type(l, layer_in(l, 0))->count;
    int64_t axis = layer_int(l, "axis", layer_int(l, "dimension", old ? 1 : -1));
    if (axis < 0) axis += rank;
    *a = (struct along){.keep = true};
    for (int64_t d = axis; d >= 0 && d < rank && (old || d == axis); d++) a->axis[a->count++] = d;
    return a->count > 0;
}

/* s - log z */
static void log_softmax(struct layer *l)
{
    struct along a;
    int32_t x = layer_in(l, 0);
    if (!from_axis(l, &a)) {
        layer_fail(l);
        return;
    }
    int32_t s = layer_two(l, "Sub", x, reduced(l, &a, "ReduceMax", x));
    int32_t z = reduced(l, &a, "ReduceSum", layer_one(l, "Exp", s));
    layer_result(l, 0, layer_two(l, "Sub", s, layer_one(l, "Log", z)));
}

/* 1 where the first of the largest is: a counter compared with its place. */
static void hardmax(struct layer *l)
{
    struct along a;
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x);
    int64_t shape[3] = {1, 1, 1};
    if (!from_axis(l, &a)) {
        layer_fail(l);
        return;
    }
    for (int d = 0; d < t->count; d++)
        shape[d < a.axis[0] ? 0 : d < a.axis[0] + a.count ? 1 : 2] *= t->extent[d];
    int32_t rows = layer_reshape(l, x, 3, shape);
    layer_put(l, "axis", 1);
    int32_t place = layer_one(l, "ArgMax", rows);
    int32_t zero = layer_number(l, MODEL_I64, 0), one = layer_number(l, MODEL_I64, 1),
            n = layer_number(l, MODEL_I64, (double)shape[1]);
    int32_t count = layer_part(l, "Range", 3, (int32_t[]){zero, n, one});
    layer_result(l, 0, layer_two(l, "Equal", place, layer_channels(l, count, 3, 1)));
}

/* Of equal ones the last: that of the elements in reverse, counted from the end. */
static void last_of_equal(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x);
    int64_t axis = layer_int(l, "axis", 0);
    if (axis < 0) axis += t->count;
    if (!layer_int(l, "select_last_index", 0) || axis < 0 || axis >= t->count) {
        layer_fail(l);
        return;
    }
    int32_t back = layer_list(l, 1, (int64_t[]){-1}), end = layer_list(l, 1, (int64_t[]){INT64_MIN}),
            along = layer_list(l, 1, &axis);
    x = layer_part(l, "Slice", 5, (int32_t[]){x, back, end, along, back});
    layer_put(l, "axis", axis);
    layer_put(l, "keepdims", layer_int(l, "keepdims", 1));
    int32_t place = layer_one(l, l->op->kind, x);
    layer_result(l, 0, layer_two(l, "Sub", layer_number(l, MODEL_I64, (double)(t->extent[axis] - 1)), place));
}

/* (sum of |x| to the power p) to the power 1 / p */
static int32_t norm(struct layer *l, const struct along *a, int32_t x, int64_t p)
{
    if (p == 1) return reduced(l, a, "ReduceSum", layer_one(l, "Abs", x));
    if (p == 2) return layer_one(l, "Sqrt", reduced(l, a, "ReduceSum", layer_two(l, "Mul", x, x)));
    int32_t sum = reduced(l, a, "ReduceSum", layer_by(l, "Pow", layer_one(l, "Abs", x), (double)p));
    return layer_by(l, "Pow", sum, 1 / (double)p);
}

/* x / its norm along an axis */
static void lp_normalization(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    struct along a = {.axis = {layer_int(l, "axis", -1)}, .count = 1, .keep = true};
    layer_result(l, 0, layer_two(l, "Div", x, norm(l, &a, x, layer_int(l, "p", 2) == 1 ? 1 : 2)));
}

/* Over all spatial dimensions. */
static void global_pool(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    struct along a = {.keep = true};
    for (int d = 2; d < layer_type(l, x)->count; d++) a.axis[a.count++] = d;
    int64_t p = layer_int(l, "p", 2);
    if (a.count < 1 || p < 1) {
        layer_fail(l);
        return;
    }
    if (strcmp(l->op->kind, "GlobalLpPool") == 0)
        layer_result(l, 0, norm(l, &a, x, p));
    else
        layer_result(
            l, 0, reduced(l, &a, strcmp(l->op->kind, "GlobalMaxPool") == 0 ? "ReduceMax" : "ReduceMean", x));
}

/* clang-format off */
const struct layer_row layers_reductions[] = {
    {{NULL, NULL, "ReduceSum"}, plain},
    {{NULL, NULL, "ReduceMean"}, plain},
    {{NULL, NULL, "ReduceMax"}, plain},
    {{NULL, NULL, "ReduceMin"}, plain},
    {{NULL, NULL, "ReduceProd"}, plain},
    {{NULL, NULL, "ReduceL1"}, sum_of},
    {{NULL, NULL, "ReduceL2"}, sum_of},
    {{NULL, NULL, "ReduceSumSquare"}, sum_of},
    {{NULL, NULL, "ReduceLogSum"}, sum_of},
    {{NULL, NULL, "ReduceLogSumExp"}, log_sum_exp},
    {{"log_softmax", NULL, "LogSoftmax"}, log_softmax},
    {{NULL, NULL, "Hardmax"}, hardmax},
    {{NULL, NULL, "ArgMax"}, last_of_equal},
    {{NULL, NULL, "ArgMin"}, last_of_equal},
    {{NULL, NULL, "LpNormalization"}, lp_normalization},
    {{NULL, NULL, "GlobalAveragePool"}, global_pool},
    {{NULL, NULL, "GlobalMaxPool"}, global_pool},
    {{NULL, NULL, "GlobalLpPool"}, global_pool},
    {{NULL}, NULL},
};
/* clang-format on */
