/* Ops of the table that order along a dimension: top-k and sorts. */
#include "import/map/import_choose.h"

#include <string.h>

static const char *const order_topk[] = {"topk", "topk_index"}, *const order_sort[] = {"sort", "sort_index"};

/* Operand 0 in order along an axis, or where its elements stood, by `kind`; the first k of it (0: all). */
static bool order_emit(struct import *im, const struct model_op *op, const char *kind, int axis, int64_t k,
                       bool descending, const struct model_type *type, struct import_value *out)
{
    struct choosing c = {.kind = kind, .k = k, .descending = descending};
    struct import_value x = *import_in(im, op, 0);
    int of_x[VIEW_MAX_RANK], dims[VIEW_MAX_RANK];
    for (int d = 0; d < x.type->count; d++) of_x[d] = dims[d] = choose_dim(&c, x.type->extent[d]);
    choose_operand(&c, &x, of_x);
    choose_along(&c, of_x[axis]);
    if (k > 0) dims[axis] = k > 1 ? choose_dim(&c, k) : -1;
    if (dims[axis] >= 0) c.whole[c.whole_count++] = dims[axis];
    return choose_emit(im, op, &c, type, dims, false, out);
}

/* TopK of ONNX, whose two results stand apart, and of HLO, a tuple. k is an extent of the results. */
bool map_topk(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]), *type[2];
    bool hlo = im->format == MODEL_HLO, fits = x->element != MODEL_TUPLE && x->count < VIEW_MAX_RANK;
    int64_t axis = hlo ? -1 : model_attr_int(&op->attrs, "axis", -1);
    struct import_value out[2];
    (void)ours;
    if (axis < 0) axis += x->count;
    if (model_attr_int(&op->attrs, "largest", 1) != 1 ||
        strcmp(model_attr_word(&op->attrs, "largest", "true"), "false") == 0)
        return import_generic(im, op, "order");
    fits = fits && axis >= 0 && x->extent[axis] >= 2 &&
           (hlo ? model_type_of(im->m, op->results[0])->leaves == 2 : op->result_count <= 2);
    for (int r = 0; fits && r < 2; r++) {
        type[r] = hlo                    ? model_leaf_type(model_type_of(im->m, op->results[0]), r)
                  : r < op->result_count ? model_type_of(im->m, op->results[r])
                                         : NULL;
        fits = !type[r] || (type[r]->count == x->count && type[r]->extent[axis] <= x->extent[axis]);
    }
    if (!fits) return import_generic(im, op, "form");
    for (int r = 0; r < 2; r++) {
        if (!type[r]) continue;
        if (!order_emit(im, op, order_topk[r], (int)axis, type[r]->extent[axis], false, type[r], &out[r]))
            return false;
        if (!hlo && !import_bind(im, op->results[r], &out[r], 1)) return false;
    }
    import_class(im, op, CLASS_MAPPED, NULL);
    return !hlo || import_bind(im, op->results[0], out, 2);
}

bool map_custom_call(struct import *im, const struct model_op *op, const char *ours)
{
    const char *target = model_attr_word(&op->attrs, "custom_call_target", "");
    bool top = strncmp(target + (*target == '"'), "TopK", 4) == 0 && op->operand_count == 1;
    return top ? map_topk(im, op, ours) : import_generic(im, op, "kind");
}

/* Is the computation a compare of its first two parameters? */
static bool order_compares(const struct import *im, const struct model_op *op, bool *descending)
{
    const struct model_body *b = op->body_count == 1 ? &im->m->bodies.at[op->bodies[0]] : NULL;
    if (!b || b->argument_count != 2 * op->operand_count || b->result_count != 1) return false;
    const struct model_value *root = &im->m->values.at[b->results[0]];
    const struct model_op *c = root->from == FROM_OP ? &b->ops[root->op] : NULL;
    if (!c || strcmp(c->kind, "compare") != 0 || c->operand_count != 2) return false;
    const char *direction = model_attr_word(&c->attrs, "direction", "");
    bool turned = c->operands[0] == b->arguments[1] && c->operands[1] == b->arguments[0];
    if (!turned && (c->operands[0] != b->arguments[0] || c->operands[1] != b->arguments[1])) return false;
    *descending = (strcmp(direction, "GT") == 0) != turned;
    return strcmp(direction, "GT") == 0 || strcmp(direction, "LT") == 0;
}

/* 0, 1, 2 .. along that dimension? */
static bool order_counts(const struct import *im, const struct import_value *v, int64_t axis)
{
    bool ok = v->storage >= 0 && im->storages.at[v->storage].counts && v->type->element == MODEL_I32 &&
              im->storages.at[v->storage].elements == v->type->extent[axis] && !view_is_part(&v->view);
    for (int d = 0; ok && d < v->view.rank; d++)
        for (int i = v->view.first[d]; ok && i < v->view.first[d + 1]; i++)
            ok = v->view.atom[i].low == (d == axis);
    return ok;
}

/* Sort of HLO: of one operand, or of one and its places. */
bool map_sort(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]), *type = import_type_out(im, op);
    int dims, count = op->operand_count;
    const int64_t *dim = model_attr_ints(&op->attrs, "dimensions", &dims);
    struct import_value out[2];
    bool descending;
    (void)ours;
    bool fits = count <= 2 && type->leaves == count && x->element != MODEL_TUPLE && dims == 1 &&
                dim[0] >= 0 && dim[0] < x->count && x->count < VIEW_MAX_RANK && x->extent[dim[0]] >= 2 &&
                (count < 2 || order_counts(im, import_in(im, op, 1), dim[0]));
    if (!fits) return import_generic(im, op, "form");
    if (!order_compares(im, op, &descending)) return import_generic(im, op, "comparator");
    for (int r = 0; r < count; r++)
        if (!order_emit(im, op, order_sort[r], (int)dim[0], 0, descending, model_leaf_type(type, r), &out[r]))
            return false;
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind(im, op->results[0], out, count);
}
