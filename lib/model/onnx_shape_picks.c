/* Shapes of what picks elements: by indices, by order, or by what the run finds in them; extents of the latter are said by
 * the user (--dim RESULT:AXIS=N) or declared. */
#include "model/onnx.h"
#include "model/open_extents.h"
#include "base/checked.h"

#include <stdio.h>
#include <string.h>

enum { MOST = MODEL_MAX_RANK };

static enum shaped gather(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *index = shaper_in(x, 1);
    int64_t extent[2 * MOST];
    int rank = 0;
    if (!t || !index) return SHAPE_UNKNOWN;
    int axis = shaper_axis(shaper_int(x, "axis", 0), t->count);
    if (axis < 0) return shaper_wrong(x, "no such axis");
    for (int d = 0; d < axis; d++) extent[rank++] = t->extent[d];
    for (int d = 0; d < index->count; d++) extent[rank++] = index->extent[d];
    for (int d = axis + 1; d < t->count; d++) extent[rank++] = t->extent[d];
    return shaper_set(x, 0, t->element, rank, extent);
}

static enum shaped gather_elements(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *index = shaper_in(x, 1);
    return t && index ? shaper_set(x, 0, t->element, index->count, index->extent) : SHAPE_UNKNOWN;
}

static enum shaped gather_nd(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *index = shaper_in(x, 1);
    int64_t extent[2 * MOST], batch = shaper_int(x, "batch_dims", 0);
    int rank = 0;
    if (!t || !index) return SHAPE_UNKNOWN;
    int64_t picks = index->count ? index->extent[index->count - 1] : 0;
    if (batch < 0 || picks < 0 || batch > t->count || picks > t->count - batch || index->count < 1)
        return shaper_wrong(x, "the index has more coordinates than the operand dimensions");
    for (int d = 0; d < index->count - 1; d++) extent[rank++] = index->extent[d];
    for (int64_t d = batch + picks; d < t->count; d++) extent[rank++] = t->extent[d];
    return shaper_set(x, 0, t->element, rank, extent);
}

static enum shaped one_hot(struct shaper *x)
{
    const struct model_type *index = shaper_in(x, 0), *values = shaper_in(x, 2);
    const struct model_data *depth = shaper_data(x, 1);
    int64_t extent[MOST + 1];
    int next = 0;
    if (!index || !values || !depth || index->count >= MOST) return SHAPE_UNKNOWN;
    int axis = shaper_axis(shaper_int(x, "axis", -1), index->count + 1);
    if (axis < 0) return shaper_wrong(x, "no such axis");
    for (int d = 0; d <= index->count; d++)
        extent[d] = d == axis ? model_data_int(depth, 0) : index->extent[next++];
    return shaper_set(x, 0, values->element, index->count + 1, extent);
}

static enum shaped top_k(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST], k;
    int count = 1;
    if (!t) return SHAPE_UNKNOWN;
    k = shaper_int(x, "k", -1);
    if (k < 0 && (!shaper_ints(x, NULL, 1, &k, 1, &count) || count != 1)) return SHAPE_UNKNOWN;
    int axis = shaper_axis(shaper_int(x, "axis", -1), t->count);
    if (axis < 0 || k > t->extent[axis]) return shaper_wrong(x, "%lld of fewer elements", (long long)k);
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    extent[axis] = k;
    if (shaper_set(x, 1, MODEL_I64, t->count, extent) != SHAPED) return SHAPE_WRONG;
    return shaper_set(x, 0, t->element, t->count, extent);
}

/* A dimension that data decide on. */
static bool told(struct shaper *x, int result, int axis, int64_t *extent)
{
    if (result >= x->op->result_count || x->op->results[result] < 0) return *extent = 0, true;
    const struct model_value *v = &x->m->values.at[x->op->results[result]];
    char name[MODEL_MAX_NAME + 24];
    snprintf(name, sizeof name, "%s:%d", v->name, axis);
    if (x->options && model_extent_given(x->m, x->options, name, extent)) return true;
    const struct model_type *t = v->declared;
    if (t && axis < t->count && t->extent[axis] >= 0) return *extent = t->extent[axis], true;
    shaper_wrong(x, "extent %d of %.100s depends on data; give it, as in \"--dim %.100s=N\"", axis, v->name,
                 name);
    return false;
}

/* How many of a known condition are true; else as the user says. */
static bool true_ones(struct shaper *x, int operand, int axis, int64_t most, int64_t *count)
{
    const struct model_data *d = shaper_data(x, operand);
    if (!d || d->type->elements > MODEL_MAX_KNOWN) return told(x, 0, axis, count);
    *count = 0;
    for (int64_t i = 0; i < d->type->elements && i < most; i++)
        *count += d->reals ? d->reals[d->form == DATA_SPLAT ? 0 : i] != 0 : model_data_int(d, i) != 0;
    return true;
}

static enum shaped compress(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST], count;
    if (!t) return SHAPE_UNKNOWN;
    bool flat = !model_attr_find(&x->op->attrs, "axis");
    int axis = flat ? 0 : shaper_axis(shaper_int(x, "axis", 0), t->count);
    if (axis < 0) return shaper_wrong(x, "no such axis");
    if (!true_ones(x, 1, axis, flat ? t->elements : t->extent[axis], &count)) return SHAPE_WRONG;
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    extent[axis] = count;
    return shaper_set(x, 0, t->element, flat ? 1 : t->count, extent);
}

static enum shaped non_zero(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[2];
    if (!t) return SHAPE_UNKNOWN;
    extent[0] = t->count;
    if (!true_ones(x, 0, 1, INT64_MAX, &extent[1])) return SHAPE_WRONG;
    return shaper_set(x, 0, MODEL_I64, 2, extent);
}

static enum shaped unique(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST], count;
    if (!t) return SHAPE_UNKNOWN;
    bool flat = !model_attr_find(&x->op->attrs, "axis");
    int axis = flat ? 0 : shaper_axis(shaper_int(x, "axis", 0), t->count);
    if (axis < 0) return shaper_wrong(x, "no such axis");
    if (!told(x, 0, axis, &count)) return SHAPE_WRONG;
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    extent[axis] = count;
    int64_t all = flat ? t->elements : t->extent[axis];
    for (int r = 1; r < 4; r++)
        if (shaper_set(x, r, MODEL_I64, 1, r == 2 ? &all : &count) != SHAPED) return SHAPE_WRONG;
    return shaper_set(x, 0, t->element, flat ? 1 : t->count, extent);
}

/* [chosen boxes, 3] */
static enum shaped suppression(struct shaper *x)
{
    int64_t extent[2] = {0, 3};
    if (!shaper_in(x, 0) || !shaper_in(x, 1)) return SHAPE_UNKNOWN;
    if (!told(x, 0, 0, &extent[0])) return SHAPE_WRONG;
    return shaper_set(x, 0, MODEL_I64, 2, extent);
}

/* Rows of a table of few bits, with scales: numbers of the type of the scales. Two of four bits share a byte of uint8. */
static enum shaped gather_blocks(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *scales = shaper_in(x, 2);
    enum shaped s = gather(x);
    if (s != SHAPED || !scales || x->op->result_count < 1 || x->op->results[0] < 0)
        return s == SHAPED ? SHAPE_UNKNOWN : s;
    const struct model_type *y = model_type_of(x->m, x->op->results[0]);
    int64_t extent[2 * MOST], per = t->element == MODEL_U8 && shaper_int(x, "bits", 4) == 4 ? 2 : 1;
    memcpy(extent, y->extent, (size_t)y->count * sizeof *extent);
    if (y->count > 0 && !mul_i64(extent[y->count - 1], per, &extent[y->count - 1]))
        return shaper_wrong(x, "too many elements");
    return shaper_set(x, 0, scales->element, y->count, extent);
}

/* Losses: one number, or one a place. */
static enum shaped loss(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *labels = shaper_in(x, 1);
    bool each = strcmp(model_attr_word(&x->op->attrs, "reduction", "mean"), "none") == 0;
    if (!t || !labels) return SHAPE_UNKNOWN;
    if (shaper_set(x, 1, t->element, t->count, t->extent) != SHAPED) return SHAPE_WRONG;
    return shaper_set(x, 0, t->element, each ? labels->count : 0, labels->extent);
}

onnx_shape_of *onnx_shape_pick(const char *kind)
{
    /* clang-format off */
    static const struct onnx_shape_row rows[] = {
        {"Gather", gather}, {"GatherElements", gather_elements}, {"GatherND", gather_nd}, {"com.microsoft:GatherND", gather_nd},
        {"com.microsoft:GatherBlockQuantized", gather_blocks}, {"OneHot", one_hot}, {"TopK", top_k}, {"Compress", compress}, {"NonZero", non_zero},
        {"Unique", unique}, {"NonMaxSuppression", suppression}, {"SoftmaxCrossEntropyLoss", loss}, {"NegativeLogLikelihoodLoss", loss}, {NULL, NULL}};
    /* clang-format on */
    return onnx_shape_find(rows, kind);
}
