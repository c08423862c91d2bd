/* Reductions that no kind of ours is, and what they are made of: axes that are an attribute, an operand,
 * or left out. */
#include "import/layers/layers.h"

#include <math.h>
#include <string.h>

/* What an op of ONNX reduces along. */
struct along {
    int64_t axis[MODEL_MAX_RANK];
    int count;
    bool keep, nothing; /* nothing: each element by itself */
};

/* An attribute, an operand that is known, or all there are. False: the run decides. */
static bool reduction_axes_of(const struct layer *l, struct along *a)
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

static int32_t reduction_reduced(struct layer *l, const struct along *a, const char *kind, int32_t x)
{
    return a->nothing ? x : layer_reduce(l, kind, x, a->count, a->axis, a->keep);
}

/* The importer has the plain form; here: along nothing, or with an operand that is left out. */
void derive_reduction(struct layer *l)
{
    struct along a;
    bool empty = l->op->operand_count > 1 && !layer_has(l, 1);
    if (!reduction_axes_of(l, &a) || (!a.nothing && !empty)) {
        layer_fail(l);
        return;
    }
    int32_t x = layer_in(l, 0);
    layer_result(l, 0, a.nothing ? layer_one(l, "Identity", x) : reduction_reduced(l, &a, l->op->kind, x));
}

/* The dimension of a softmax and its like: one, or (below 13) all from one on. */
static bool reduction_from_axis(const struct layer *l, struct along *a)
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
void derive_log_softmax(struct layer *l)
{
    struct along a;
    int32_t x = layer_in(l, 0);
    if (!reduction_from_axis(l, &a)) {
        layer_fail(l);
        return;
    }
    int32_t s = layer_two(l, "Sub", x, reduction_reduced(l, &a, "ReduceMax", x));
    int32_t z = reduction_reduced(l, &a, "ReduceSum", layer_one(l, "Exp", s));
    layer_result(l, 0, layer_two(l, "Sub", s, layer_one(l, "Log", z)));
}

/* Over all spatial dimensions. */
void derive_global_pool(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    struct along a = {.keep = true};
    for (int d = 2; d < layer_type(l, x)->count; d++) a.axis[a.count++] = d;
    if (a.count < 1) {
        layer_fail(l);
        return;
    }
    layer_result(
        l, 0,
        reduction_reduced(l, &a, strcmp(l->op->kind, "GlobalMaxPool") == 0 ? "ReduceMax" : "ReduceMean", x));
}
