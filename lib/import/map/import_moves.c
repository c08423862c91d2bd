/* Ops that only move or rename (reshapes, permutations, repetitions), and tensors made without operands
 * (constants, counters) or by scans. The latter ops have no index map: their results are plain, however they
 * are cut. */
#include "import/map/import_steps.h"
#include "import/types/typing.h"
#include "graph/op_params.h"

/* Makes the result a view of operand 0, or a copy if forced or if there is no such view (`cannot`). An index
 * string can state permutations and repetitions (`letters`), but not reshapes. */
static bool move_viewed(struct import *im, const struct model_op *op, const struct view *view,
                        const char *cannot, bool letters)
{
    struct op_class *c = import_class_of(im, op);
    struct import_value v = *import_in(im, op, 0);
    const char *why = cannot ? cannot : c->forced ? c->forced : im->options.no_fold ? "no-fold" : NULL;
    const struct model_type *type = import_type_out(im, op);
    bool same = !cannot && view_same(&v.view, view);
    c->bytes = type->bytes;
    if (why && (cannot || !letters)) { /* shape operands of ONNX are no data */
        v = import_opaque_leaf(im, "reshape", op, v, type);
        return import_done(im, op, CLASS_COPIED, why, &v);
    }
    v.view = *view;
    v.type = type;
    if (why) {
        import_plain(im, &v, op);
        v.via = NULL;
        return import_done(im, op, CLASS_COPIED, why, &v);
    }
    if (same) return import_done(im, op, CLASS_FREE, "view", &v);
    c->behind = v.via;
    v.via = c;
    return import_done(im, op, CLASS_FREE, "view", &v);
}

/* A splat stays a splat in any shape. Other constants are stored. */
static bool move_still_splat(struct import *im, const struct model_op *op)
{
    struct import_value v = *import_in(im, op, 0);
    double number;
    if (!import_splat(&v, &number)) {
        import_stored(im, &v);
        *import_in(im, op, 0) = v;
        return false;
    }
    v.type = import_type_out(im, op);
    return import_done(im, op, CLASS_FOLDED, NULL, &v);
}

bool map_reshape(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_type_out(im, op);
    struct view view;
    (void)ours;
    if (move_still_splat(im, op)) return true;
    bool ok = view_reshape(&import_in(im, op, 0)->view, type->count, type->extent, &view);
    import_class_of(im, op)->regroups = true;
    return move_viewed(im, op, &view, ok ? NULL : "atoms", false);
}

bool map_permute(struct import *im, const struct model_op *op, const char *ours)
{
    struct typing t = typing_open(im->m, op, im->format, import_opset(im));
    int64_t order[MODEL_MAX_RANK];
    struct view view;
    (void)ours;
    if (move_still_splat(im, op)) return true;
    if (typing_permutation(&t, order) != TYPED) return import_generic(im, op, "schema");
    bool ok = view_permute(&import_in(im, op, 0)->view, order, &view);
    return move_viewed(im, op, &view, ok ? NULL : "rank", true);
}

bool map_broadcast(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_type_out(im, op), *from = import_in(im, op, 0)->type;
    int count, to[VIEW_MAX_RANK];
    const int64_t *dims = model_attr_ints(&op->attrs, "dimensions", &count);
    struct view view;
    bool hlo = im->format == MODEL_HLO;
    (void)ours;
    if (move_still_splat(im, op)) return true;
    if ((hlo && count != from->count) || from->count > type->count) return import_generic(im, op, "schema");
    for (int d = 0; d < from->count; d++) to[d] = hlo ? (int)dims[d] : type->count - from->count + d;
    bool ok = view_broadcast(&import_in(im, op, 0)->view, to, type->count, type->extent, &view);
    return move_viewed(im, op, &view, ok ? NULL : "rank", true);
}

/* Does an upsampling take the nearest element, with whole factors? A pixel's centre then rounds to its source
 * pixel. */
static bool move_is_nearest(const struct import *im, const struct model_op *op, const struct model_type *from,
                            const struct model_type *to)
{
    const struct model_attrs *a = &op->attrs;
    bool onnx = im->format == MODEL_ONNX, old = !onnx || import_opset(im) < 11;
    const char *place =
                   model_attr_word(a, "coordinate_transformation_mode", old ? "asymmetric" : "half_pixel"),
               *way = model_attr_word(a, "nearest_mode", old ? "floor" : "round_prefer_floor");
    int scales = old ? 1 : 2;
    const struct model_data *d =
        onnx && import_has(op, scales) ? im->m->values.at[op->operands[scales]].data : NULL;
    bool ok = strcmp(model_attr_word(a, "mode", "nearest"), "nearest") == 0 && from->count == to->count;
    for (int i = 0; ok && d && d->reals && i < d->type->elements && i < to->count; i++)
        ok = model_data_real(d, i) * (double)from->extent[i] == (double)to->extent[i];
    if (strcmp(place, "asymmetric") == 0) return ok && strcmp(way, "floor") == 0;
    return ok && strstr(place, "half_pixel") && !strstr(place, "symmetric") &&
           strncmp(way, "round_prefer", 12) == 0;
}

/* Repeats each element, or a whole dimension (Tile): adds a digit that the storage lacks. */
bool map_repeat(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *from = import_in(im, op, 0)->type, *to = import_type_out(im, op);
    bool tiles = strcmp(op->kind, "Tile") == 0;
    struct view view;
    (void)ours;
    if (!tiles && !move_is_nearest(im, op, from, to)) return import_generic(im, op, "mode");
    if (move_still_splat(im, op)) return true;
    const struct view *v = &import_in(im, op, 0)->view;
    view_start(&view);
    bool ok = from->count == to->count && view_keep_fixed(&view, v);
    for (int d = 0; ok && d < to->count; d++) {
        struct atom times = atom_of(0, to->extent[d] / from->extent[d]);
        ok = to->extent[d] % from->extent[d] == 0 && view_open_dim(&view) &&
             (!tiles || view_add(&view, times));
        for (int i = v->first[d]; ok && i < v->first[d + 1]; i++) ok = view_add(&view, v->atom[i]);
        ok = ok && (tiles || view_add(&view, times));
    }
    return ok ? move_viewed(im, op, &view, NULL, true) : import_generic(im, op, "factor");
}

bool map_identity(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = *import_in(im, op, 0);
    (void)ours;
    v.copied |= im->format == MODEL_HLO;
    return import_done(im, op, CLASS_FREE, "names", &v);
}

/* ---- without operands ---- */

bool map_constant(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_attr *a = model_attr_find(&op->attrs, "value");
    struct import_value v = {.storage = -1, .type = import_type_out(im, op)};
    (void)ours;
    v.known = im->m->values.at[op->results[0]].data;
    if (!v.known && a && a->form == ATTR_DATA) v.known = a->data;
    return import_done(im, op, CLASS_FOLDED, NULL, &v);
}

/* A ConstantOfShape too large to be known is a weight: files without weights use it. */
bool map_unknown_constant(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = import_fresh(im, import_type_out(im, op), op);
    (void)ours;
    if (v.storage >= 0) im->storages.at[v.storage].role = LX_WEIGHT;
    return import_done(im, op, CLASS_FOLDED, NULL, &v);
}

bool import_made_constant(struct import *im, const struct import_value *v, int32_t storage)
{
    const struct model_data *d = v->known;
    int64_t count = im->storages.at[storage].elements;
    if (!d || (!d->reals && !d->ints) || count > LX_MAX_DATA ||
        (d->form != DATA_SPLAT && d->type->elements < count))
        return false;
    struct lx_op_data *data = arena_alloc(&im->memory, sizeof *data);
    double *numbers = arena_array(&im->memory, (size_t)count, sizeof *numbers);
    int64_t *wholes = arena_array(&im->memory, (size_t)count, sizeof *wholes);
    for (int64_t i = 0; i < count; i++) {
        int64_t k = d->form == DATA_SPLAT ? 0 : i;
        numbers[i] = model_data_real(d, k);
        if (d->ints)
            wholes[i] = d->ints[k];
        else if (!whole_of_double(numbers[i], &wholes[i]))
            wholes[i] = 0;
    }
    *data = (struct lx_op_data){.count = count, .numbers = numbers, .wholes = wholes};
    struct sketch *s = import_opaque_sketch(im, "constant", NULL, NULL, 0, storage);
    s->data = data;
    s->owner = NULL;
    return true;
}

/* One row of numbers, repeated along other dimensions. TTIR has start and step as attributes, ONNX as known
 * operands; HLO counts from 0. */
bool map_iota(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_type_out(im, op);
    const char *key = im->format == MODEL_HLO ? "iota_dimension" : "arange_dimension";
    int dim = typing_dim(model_attr_int(&op->attrs, key, 0), type->count);
    struct import_value out = {.type = type};
    struct lx_op_params p = op_params_none();
    p.start = 0;
    p.step = 1;
    if (dim < 0 || type->elements == 0) return import_generic(im, op, "schema");
    if (im->format == MODEL_ONNX &&
        (!import_splat(import_in(im, op, 0), &p.start) || !import_splat(import_in(im, op, 2), &p.step)))
        return import_generic(im, op, "data");
    if (im->format == MODEL_TTIR) {
        p.start = (double)model_attr_int(&op->attrs, "start", 0);
        p.step = (double)model_attr_int(&op->attrs, "step", 1);
    }
    out.storage = import_storage(im, type->element, type->extent[dim], op);
    struct sketch *s = import_opaque_sketch(im, ours, op, NULL, 0, out.storage);
    s->params = arena_copy_array(&im->memory, &p, 1, sizeof p);
    im->storages.at[out.storage].counts = p.start == 0 && p.step == 1;
    view_start(&out.view);
    for (int d = 0; d < type->count; d++) {
        view_open_dim(&out.view);
        view_add(&out.view, atom_of(d == dim && type->extent[d] > 1, type->extent[d]));
    }
    return import_mapped(im, op, &out);
}

bool import_scan(struct import *im, const struct model_op *op, int64_t axis, bool exclusive, bool reverse)
{
    struct import_value v = *import_in(im, op, 0);
    struct lx_op_params p = op_params_none();
    int64_t low = 1;
    for (int d = v.type->count - 1; d > axis; d--) low *= v.type->extent[d];
    import_plain(im, &v, op);
    struct import_value out = import_fresh(im, import_type_out(im, op), op);
    struct sketch_operand in = {.storage = v.storage, .via = v.via};
    struct atom along = atom_of(low, v.type->extent[axis]); /* one piece in operand and result */
    if (import_is_cut(im, v.storage, &along)) import_force(im, im->owner, &in, 1, -1, "window");
    p.exclusive = exclusive;
    p.reverse = reverse;
    p.axis = axis;
    if (!import_keep_whole(im, v.storage, along) || !import_keep_whole(im, out.storage, along))
        return import_generic(im, op, "axis");
    struct sketch *s = import_opaque_sketch(im, "scan", op, &v.storage, 1, out.storage);
    s->params = arena_copy_array(&im->memory, &p, 1, sizeof p);
    s->axis_from[0] = low * along.extent;
    return import_mapped(im, op, &out);
}

/* The sum of one element is the element, the sum of none is 0. */
bool map_scan(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = *import_in(im, op, 0);
    bool exclusive = model_attr_int(&op->attrs, "exclusive", 0) != 0, onnx = im->format == MODEL_ONNX;
    double number = (double)model_attr_int(&op->attrs, "dim", 0);
    (void)ours;
    if (onnx && (op->operand_count < 2 || !import_splat(import_in(im, op, 1), &number)))
        return import_generic(im, op, "axis");
    int axis = typing_dim((int64_t)number, v.type->count);
    if (axis < 0) return import_generic(im, op, "axis");
    if (v.type->extent[axis] == 1)
        return exclusive ? import_number(im, op, 0) : import_done(im, op, CLASS_FREE, "names", &v);
    return import_scan(im, op, axis, exclusive, model_attr_int(&op->attrs, "reverse", 0) != 0);
}
