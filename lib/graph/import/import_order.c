/* Ops of the table that order along a dimension: top-k and sorts of all formats, and the reductions of HLO that carry along
 * where an element stands. What their computations do is asked of import_compare.c. */
#include "graph/import/import_choose.h"
#include "base/fail.h"

#include <string.h>

/* The order that is wanted. */
struct order {
    int axis;
    int64_t k; /* how many come out; 0: all */
    bool descending;
};

static bool order_fits(const struct model_type *x, const struct order *o)
{
    return o->axis >= 0 && o->axis < x->count && x->count < VIEW_MAX_RANK && x->extent[o->axis] >= 2 &&
           o->k >= 0 && o->k <= x->extent[o->axis];
}

/* Elements along the axis, or where they stand: by `kind`. */
static bool ordered(struct import *im, const struct model_op *op, const char *kind, struct import_value x,
                    const struct order *o, const struct model_type *type, struct import_value *out)
{
    struct choosing c = {.kind = kind, .k = o->k, .descending = o->k == 0 && o->descending};
    int of_x[VIEW_MAX_RANK], dims[VIEW_MAX_RANK];
    for (int d = 0; d < x.type->count; d++) of_x[d] = dims[d] = choose_dim(&c, x.type->extent[d]);
    choose_operand(&c, &x, of_x);
    choose_along(&c, of_x[o->axis]);
    if (o->k > 0) dims[o->axis] = o->k > 1 ? choose_dim(&c, o->k) : -1;
    if (dims[o->axis] >= 0) c.whole[c.whole_count++] = dims[o->axis];
    return choose_emit(im, op, &c, type, dims, false, out);
}

/* The first `k` of all in rising order: a view of these. */
static bool first_of_sorted(struct import *im, const struct model_op *op, const char *kind,
                            struct import_value x, const struct order *o, const struct model_type *type,
                            struct import_value *out)
{
    const struct order all = {.axis = o->axis};
    const struct model_type *whole = import_type(im, type->element, x.type->count, x.type->extent);
    struct import_value sorted;
    if (!whole || !ordered(im, op, kind, x, &all, whole, &sorted)) return false;
    *out = sorted;
    out->type = type;
    if (!view_slice(&sorted.view, o->axis, 0, 1, o->k, &out->view))
        return status_set(im->st, LX_E_LIMIT, "too many dimensions");
    return import_plain(im, out, op);
}

/* One element is in order: itself, at place 0. */
static bool only_one(struct import *im, const struct model_op *op, const struct import_value *x)
{
    for (int r = 0; r < op->result_count; r++) {
        struct import_value v = *x;
        if (op->results[r] < 0) continue;
        if (r > 0 && !import_whole(im, model_type_of(im->m, op->results[r]), 0, &v)) return false;
        if (!import_bind(im, op->results[r], &v, 1)) return false;
    }
    import_class(im, op, CLASS_FREE, "names");
    return true;
}

/* Each result that is wanted by an op of its own. */
static bool order_along(struct import *im, const struct model_op *op, const char *const kinds[2],
                        const struct order *o)
{
    struct import_value x = *import_in(im, op, 0), out;
    bool some = o->k > 0 && !o->descending;
    if (op->result_count <= 2 && o->axis >= 0 && o->axis < x.type->count && x.type->extent[o->axis] == 1)
        return only_one(im, op, &x);
    if (!order_fits(x.type, o) || op->result_count > 2) return import_generic(im, op, "form");
    for (int r = 0; r < op->result_count; r++)
        if (op->results[r] >= 0 && (!(some ? first_of_sorted : ordered)(
                                        im, op, kinds[r], x, o, model_type_of(im->m, op->results[r]), &out) ||
                                    !import_bind(im, op->results[r], &out, 1)))
            return false;
    import_class(im, op, CLASS_MAPPED, NULL);
    return true;
}

static const char *const topk_kinds[2] = {"topk", "topk_index"};
static const char *const sort_kinds[2] = {"sort", "sort_index"};

static bool topk(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_data *d =
        import_has(op, 1) ? im->m->values.at[op->operands[1]].data : NULL; /* ONNX: k is an operand */
    int64_t k = d && d->ints && d->type->elements == 1 ? d->ints[0] : model_attr_int(&op->attrs, "k", 0);
    int64_t axis = model_attr_int(&op->attrs, im->format == MODEL_ONNX ? "axis" : "dim", -1);
    int rank = model_type_of(im->m, op->operands[0])->count;
    (void)ours;
    if (axis < 0) axis += rank;
    if (k < 1 || axis < 0 || axis >= rank) return import_generic(im, op, "form");
    bool largest = model_attr_int(&op->attrs, "largest", 1) != 0;
    return order_along(im, op, largest ? topk_kinds : sort_kinds, &(struct order){(int)axis, k, largest});
}

static bool sort(struct import *im, const struct model_op *op, const char *ours)
{
    int64_t axis = model_attr_int(&op->attrs, "dim", -1), rank = model_type_of(im->m, op->operands[0])->count;
    (void)ours;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return import_generic(im, op, "schema");
    return order_along(im, op, sort_kinds,
                       &(struct order){(int)axis, 0, model_attr_int(&op->attrs, "descending", 0) == 1});
}

/* ---- HLO ---- */

/* All operands are tensors of one shape, and the result has a tensor for each. */
static bool same_shapes(const struct import *im, const struct model_op *op, int count)
{
    const struct model_type *type = import_type_out(im, op);
    bool ok = op->operand_count >= count && type->leaves == count;
    for (int i = 0; ok && i < count; i++)
        ok = import_is_tensor(im, op->operands[i]) &&
             model_same_shape(model_type_of(im->m, op->operands[i]), model_type_of(im->m, op->operands[0]));
    return ok;
}

/* 0, 1, 2 .. along that dimension? */
static bool counts_along(const struct import *im, const struct import_value *v, int axis)
{
    bool ok = v->storage >= 0 && im->storages.at[v->storage].counts &&
              im->storages.at[v->storage].elements == v->type->extent[axis];
    for (int d = 0; ok && d < v->view.rank; d++)
        for (int i = v->view.first[d]; ok && i < v->view.first[d + 1]; i++)
            ok = v->view.atom[i].low == 0 || (d == axis && v->view.first[d + 1] - v->view.first[d] == 1 &&
                                              v->view.atom[i].low == 1 && !view_is_part(&v->view));
    return ok;
}

/* What goes with elements that were ordered: from[.., index, ..]. */
static bool follow(struct import *im, const struct model_op *op, struct import_value from,
                   const struct import_value *index, int axis, struct import_value *out)
{
    struct choosing c = {.kind = "gather"};
    int of_from[VIEW_MAX_RANK], of_index[VIEW_MAX_RANK];
    for (int d = 0; d < from.type->count; d++)
        of_from[d] = of_index[d] = choose_dim(&c, from.type->extent[d]);
    of_index[axis] = choose_dim(&c, from.type->extent[axis]);
    choose_operand(&c, &from, of_from);
    choose_operand(&c, index, of_index);
    choose_along(&c, of_from[axis]);
    return choose_emit(im, op, &c, from.type, of_index, false, out);
}

/* The first operand is what is compared; others go with it. */
static bool sort_by_body(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value out[LX_MAX_INPUTS], key, index;
    int dims, count = op->operand_count;
    const int64_t *dim = model_attr_ints(&op->attrs, "dimensions", &dims);
    struct order o = {.axis = dims == 1 && dim[0] >= 0 && dim[0] < VIEW_MAX_RANK ? (int)dim[0] : -1};
    (void)ours;
    if (count > LX_MAX_INPUTS || !same_shapes(im, op, count)) return import_generic(im, op, "form");
    key = *import_in(im, op, 0);
    if (o.axis >= 0 && o.axis < key.type->count && key.type->extent[o.axis] == 1) { /* as they are */
        for (int i = 0; i < count; i++) out[i] = *import_in(im, op, i);
        import_class(im, op, CLASS_FREE, "names");
        return import_bind(im, op->results[0], out, count);
    }
    if (!order_fits(key.type, &o)) return import_generic(im, op, "form");
    if (!compare_orders(im, op, &o.descending)) return import_generic(im, op, "comparator");
    const struct model_type *places = import_type(im, MODEL_I32, key.type->count, key.type->extent);
    if (!places || !ordered(im, op, "sort", key, &o, key.type, &out[0])) return false;
    if (count > 1 && !ordered(im, op, "sort_index", key, &o, places, &index)) return false;
    for (int i = 1; i < count; i++) {
        struct import_value from = *import_in(im, op, i);
        bool counts = counts_along(im, &from, o.axis) && from.type->element == MODEL_I32;
        if (counts) out[i] = index;
        if (!counts && !follow(im, op, from, &index, o.axis, &out[i])) return false;
    }
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind(im, op->results[0], out, count);
}

/* The `k` largest of the last dimension and where they stand; k is an extent of the result. */
static bool topk_call(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]), *type = import_type_out(im, op);
    const struct model_type *values = type->leaves == 2 ? model_leaf_type(type, 0) : NULL;
    struct import_value out[2];
    (void)ours;
    bool fits = values && import_is_tensor(im, op->operands[0]) && values->count == x->count &&
                x->count > 0 && model_same_shape(values, model_leaf_type(type, 1));
    bool largest = model_attr_int(&op->attrs, "largest", 1) == 1 &&
                   strcmp(model_attr_word(&op->attrs, "largest", "true"), "false") != 0;
    if (!fits) return import_generic(im, op, "form");
    struct order o = {x->count - 1, values->extent[x->count - 1], true};
    for (int d = 0; fits && d < o.axis; d++) fits = values->extent[d] == x->extent[d];
    if (!fits || !order_fits(x, &o) || o.k < 1) return import_generic(im, op, "form");
    for (int r = 0; r < 2; r++)
        if (!(largest ? ordered : first_of_sorted)(im, op, (largest ? topk_kinds : sort_kinds)[r],
                                                   *import_in(im, op, 0), &o, model_leaf_type(type, r),
                                                   &out[r]))
            return false;
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind(im, op->results[0], out, 2);
}

static bool custom_call(struct import *im, const struct model_op *op, const char *ours)
{
    const char *target = model_attr_word(&op->attrs, "custom_call_target", "");
    size_t quoted = *target == '"';
    bool top = strncmp(target + quoted, "TopK", 4) == 0 || strncmp(target + quoted, "mhlo.topk", 9) == 0;
    return top && op->operand_count == 1 ? topk_call(im, op, ours) : import_generic(im, op, "kind");
}

/* One of the results of a reduction along an axis, which goes. */
static bool picked(struct import *im, const struct model_op *op, const char *kind,
                   const struct import_value *x, int axis, const struct model_type *type,
                   struct import_value *out)
{
    struct sketch_operand in = {x->storage, x->view, x->via};
    int dims[VIEW_MAX_RANK], n = 0;
    for (int d = 0; d < x->type->count; d++)
        if (d != axis) dims[n++] = d;
    return import_sketch(im, kind, op, x->type->count, x->type->extent, &in, 1, NULL, type, dims, out);
}

bool order_pairs(struct import *im, const struct model_op *op)
{
    const struct model_type *type = import_type_out(im, op);
    struct import_value out[2], x;
    int count;
    const int64_t *dims = model_attr_ints(&op->attrs, "dimensions", &count);
    bool least;
    if (op->operand_count != 4 || !same_shapes(im, op, 2) || count != 1)
        return import_generic(im, op, "reducer");
    x = *import_in(im, op, 0);
    if (dims[0] < 0 || dims[0] >= x.type->count || x.type->count > VIEW_MAX_RANK ||
        x.type->extent[dims[0]] < 2 || model_leaf_type(type, 0)->count != x.type->count - 1 ||
        !counts_along(im, import_in(im, op, 1), (int)dims[0]) || !compare_picks(im, op, &least) ||
        !import_neutral(import_in(im, op, 2), least ? "min" : "max"))
        return import_generic(im, op, "reducer");
    if (!import_plain(im, &x, op) ||
        !picked(im, op, least ? "min" : "max", &x, (int)dims[0], model_leaf_type(type, 0), &out[0]) ||
        !picked(im, op, least ? "argmin" : "argmax", &x, (int)dims[0], model_leaf_type(type, 1), &out[1]))
        return false;
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind(im, op->results[0], out, 2);
}

/* clang-format off */
const struct op_row import_order_rows[] = {
    {{"topk", NULL, "TopK"}, "topk", topk, LOOSE + 1},
    {{"sort", NULL, NULL}, "sort", sort, LOOSE + 1},
    {{NULL, "sort", NULL}, "sort", sort_by_body, ANY_TYPE + 1},
    {{NULL, "topk", NULL}, "topk", topk_call, ANY_TYPE + 1},
    {{NULL, "custom-call", NULL}, "topk", custom_call, ANY_TYPE},
    {.emit = NULL},
};
/* clang-format on */
