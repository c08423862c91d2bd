/* Ops of the table that put numbers around a tensor, between its elements, or cut it: pads of all formats. */
#include "import/map/import_steps.h"
#include "import/types/typing.h"
#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

struct amounts {
    int64_t low[VIEW_MAX_RANK], high[VIEW_MAX_RANK], between[VIEW_MAX_RANK];
};

/* The number around it: an attribute, or an operand that is known. */
static bool pad_value(struct import *im, const struct model_op *op, double *value)
{
    int operand = im->format == MODEL_HLO ? 1 : im->format == MODEL_ONNX ? 2 : -1;
    const struct model_attr *a = model_attr_find(&op->attrs, "value");
    *value = a ? (a->form == ATTR_REAL ? a->real : (double)a->number) : 0;
    if (operand < 0 || !import_has(op, operand)) return true;
    return import_splat(import_in(im, op, operand), value);
}

static bool pad_pads_fit(const struct model_type *in, const struct model_type *out, const struct amounts *a)
{
    const int64_t most = INT64_C(1) << 40;
    bool ok = in->count == out->count && in->count <= VIEW_MAX_RANK;
    for (int d = 0; ok && d < in->count; d++)
        ok = llabs(a->low[d]) < most && llabs(a->high[d]) < most && a->between[d] >= 0 &&
             a->between[d] < most / in->extent[d] &&
             a->low[d] + a->high[d] + in->extent[d] + (in->extent[d] - 1) * a->between[d] == out->extent[d];
    return ok;
}

/* `v` within numbers that are all `value`. */
static bool pad_padded(struct import *im, const struct model_op *op, struct import_value v,
                       const struct amounts *a, double value, const struct model_type *type,
                       struct import_value *out)
{
    int dims[VIEW_MAX_RANK];
    unsigned apart = 0;
    for (int d = 0; d < type->count; d++)
        if (a->low[d] || a->high[d] || a->between[d]) apart |= 1u << d;
    if (!box_laid_out(im, op, &v) || !import_apart_operands(im, op, &v, 1, apart)) return false;
    struct sketch_operand from = {.storage = v.storage, .view = v.view, .via = v.via};
    for (int d = 0; d < type->count; d++) dims[d] = d;
    im->whole_result = true;
    bool ok = import_sketch(im, "pad", op, type->count, type->extent, &from, 1, &value, type, dims, out);
    im->whole_result = false;
    if (!ok) return false;
    struct sketch *s = &im->sketches.at[im->sketches.count - 1];
    s->own = import_class_of(im, op);
    s->low = arena_copy_array(&im->memory, a->low, VIEW_MAX_RANK, sizeof *a->low);
    s->high = arena_copy_array(&im->memory, a->high, VIEW_MAX_RANK, sizeof *a->high);
    s->between = arena_copy_array(&im->memory, a->between, VIEW_MAX_RANK, sizeof *a->between);
    s->apart = apart;
    for (int d = 0; d < type->count; d++)
        if (apart >> d & 1)
            s->grain[d] =
                a->between[d] ? 1 : box_common(box_common(v.type->extent[d], a->low[d]), a->high[d]);
    return import_apart_result(im, op, out);
}

/* The number around it is known by the run only: it is put where a padded mask says that there is nothing. */
static bool pad_filled(struct import *im, const struct model_op *op, const struct amounts *a,
                       const struct model_type *x, struct import_value around, struct import_value *y)
{
    struct import_value one = {.storage = -1}, mask;
    struct sketch_operand in[3];
    struct model_data *d = arena_alloc(&im->memory, sizeof *d);
    const int64_t number = 1, *copy = arena_copy_array(&im->memory, &number, 1, sizeof number);
    const struct model_type *type = y->type;
    int dims[VIEW_MAX_RANK];
    one.type = import_type(im, MODEL_BOOL, x->count, x->extent);
    const struct model_type *there = import_type(im, MODEL_BOOL, type->count, type->extent);
    *d = (struct model_data){.form = DATA_SPLAT, .type = one.type, .ints = copy};
    one.known = d;
    if (!pad_padded(im, op, one, a, 0, there, &mask) || !import_aligned(im, mask, type->count, &in[0]) ||
        !import_aligned(im, *y, type->count, &in[1]) || !import_aligned(im, around, type->count, &in[2]))
        return false;
    for (int i = 0; i < type->count; i++) dims[i] = i;
    return import_sketch(im, "where", op, type->count, type->extent, in, 3, NULL, type, dims, y);
}

/* Is it just a part of the operand? Where it begins. */
static bool pad_only_crops(const struct model_type *in, const struct amounts *a, int64_t *begin)
{
    bool ok = true;
    for (int d = 0; ok && d < in->count; d++) {
        ok = a->low[d] <= 0 && a->high[d] <= 0 && a->between[d] == 0 && -a->low[d] < in->extent[d];
        begin[d] = -a->low[d];
    }
    return ok;
}

/* What is cropped to one element has no letter left: such a dimension is cut before. Elements between
 * others are in the way. */
static bool pad_crop_to_one(struct import *im, const struct model_op *op, struct amounts *a,
                            struct import_value *v, const struct model_type *type)
{
    int64_t extent[VIEW_MAX_RANK];
    bool cropped = false;
    memcpy(extent, v->type->extent, (size_t)type->count * sizeof *extent);
    for (int d = 0; d < type->count; d++) {
        struct view part;
        if (type->extent[d] != 1 || extent[d] == 1 || a->between[d] || a->low[d] > 0 || a->high[d] > 0)
            continue;
        if (!import_plain(im, v, op)) return false;
        if (!view_slice(&v->view, d, -a->low[d], 1, 1, &part))
            return status_set(im->st, LX_E_LIMIT, "too many dimensions");
        v->view = part;
        extent[d] = 1;
        a->low[d] = a->high[d] = 0;
        cropped = true;
    }
    if (cropped) v->type = import_type(im, v->type->element, type->count, extent);
    return v->type != NULL;
}

bool map_pad(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *in = model_type_of(im->m, op->operands[0]), *type = import_type_out(im, op);
    struct amounts a = {.low = {0}};
    struct import_value out;
    int64_t begin[VIEW_MAX_RANK];
    double value;
    (void)ours;
    struct typing t = typing_open(im->m, op, im->format, import_opset(im));
    bool around_only = strcmp(model_attr_word(&op->attrs, "mode", "constant"), "constant") == 0;
    if (in->count > VIEW_MAX_RANK || !around_only || typing_pads(&t, a.low, a.high, a.between) != TYPED ||
        !pad_pads_fit(in, type, &a))
        return import_generic(im, op, "schema");
    bool known = pad_value(im, op, &value);
    struct import_value around = *import_in(im, op, known ? 0 : im->format == MODEL_HLO ? 1 : 2);
    if (!known && around.type->elements != 1) return import_generic(im, op, "schema");
    if (pad_only_crops(in, &a, begin)) return box_take(im, op, begin);
    struct import_value v = *import_in(im, op, 0);
    if (!pad_crop_to_one(im, op, &a, &v, type) || !pad_padded(im, op, v, &a, known ? value : 0, type, &out) ||
        (!known && !pad_filled(im, op, &a, v.type, around, &out)))
        return false;
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind_one(im, op, &out);
}
