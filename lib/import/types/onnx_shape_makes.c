/* Shapes of what is made of nothing, or of numbers alone: constants, ranges, shapes as data, windows of signals. */
#include "import/read/onnx.h"

#include <math.h>
#include <string.h>

enum { MOST = MODEL_MAX_RANK };

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* The attribute of a Constant that has its number, as data. */
static enum shaped constant(struct shaper *x)
{
    const struct model_attr *a = x->op->attrs.count ? &x->op->attrs.at[0] : NULL;
    struct model_data *d = arena_alloc(&x->m->memory, sizeof *d);
    for (int i = 0; i < x->op->attrs.count; i++)
        if (strncmp(x->op->attrs.at[i].key, "value", 5) == 0) a = &x->op->attrs.at[i];
    if (!d || !a || x->op->result_count < 1 || x->op->results[0] < 0) return SHAPE_UNKNOWN;
    struct model_value *v = &x->m->values.at[x->op->results[0]];
    if (a->form == ATTR_DATA) {
        v->type = a->data->type;
        v->data = a->data;
        return SHAPED;
    }
    bool list = a->form == ATTR_INTS || a->form == ATTR_REALS,
         whole = a->form == ATTR_INT || a->form == ATTR_INTS;
    if (!list && !whole && a->form != ATTR_REAL) return SHAPE_UNKNOWN;
    int64_t count = a->count;
    if (shaper_set(x, 0, whole ? MODEL_I64 : MODEL_F32, list, &count) != SHAPED) return SHAPE_WRONG;
    *d = (struct model_data){.form = DATA_LIST, .type = v->type};
    if (list && count > MODEL_MAX_KNOWN) return SHAPED;
    if (whole)
        d->ints = list ? a->ints : &a->number;
    else
        d->reals = list ? a->reals : &a->real;
    v->data = d;
    return SHAPED;
}

static enum shaped constant_of_shape(struct shaper *x)
{
    const struct model_attr *a = model_attr_find(&x->op->attrs, "value");
    int64_t extent[MOST];
    int count;
    if (!shaper_ints(x, NULL, 0, extent, MOST, &count) || count < 0) return SHAPE_UNKNOWN;
    return shaper_set(x, 0, a && a->form == ATTR_DATA ? a->data->type->element : MODEL_F32, count, extent);
}

static enum shaped range(struct shaper *x)
{
    const struct model_data *d[3] = {shaper_data(x, 0), shaper_data(x, 1), shaper_data(x, 2)};
    double v[3];
    for (int i = 0; i < 3; i++) {
        if (!d[i]) return SHAPE_UNKNOWN;
        v[i] = d[i]->reals ? d[i]->reals[0] : (double)d[i]->ints[0];
    }
    double n = v[2] == 0 ? -1 : ceil((v[1] - v[0]) / v[2]);
    if (!(n < 1e15) || v[2] == 0) return shaper_wrong(x, "a range without an end");
    int64_t count = n > 0 ? (int64_t)n : 0;
    return shaper_set(x, 0, d[0]->type->element, 1, &count);
}

static enum shaped shape(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    if (!t) return SHAPE_UNKNOWN;
    int64_t start = shaper_int(x, "start", 0), end = shaper_int(x, "end", t->count);
    start = clamp(start < 0 ? start + t->count : start, 0, t->count);
    end = clamp(end < 0 ? end + t->count : end, 0, t->count);
    int64_t count = end > start ? end - start : 0;
    return shaper_set(x, 0, MODEL_I64, 1, &count);
}

static enum shaped size(struct shaper *x)
{
    return shaper_in(x, 0) ? shaper_set(x, 0, MODEL_I64, 0, NULL) : SHAPE_UNKNOWN;
}

onnx_shape_of *onnx_shape_make(const char *kind)
{
    /* clang-format off */
    static const struct onnx_shape_row rows[] = {
        {"Constant", constant}, {"ConstantOfShape", constant_of_shape}, {"Range", range}, {"com.microsoft:Range", range}, {"Shape", shape}, {"Size", size},

{NULL, NULL}};
    /* clang-format on */
    return onnx_shape_find(rows, kind);
}
