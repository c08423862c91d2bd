/* Ops of the table that only move or name: reshapes, permutations, repetitions, constants. */
#include "import/map/import_steps.h"
#include "import/types/typing.h"

#include <string.h>

/* A view of operand 0, or a copy of it where that is forced. */
static bool move_viewed(struct import *im, const struct model_op *op, const struct view *view,
                        const char *cannot)
{
    struct op_class *c = import_class_of(im, op);
    struct import_value v = *import_in(im, op, 0), out;
    if (!cannot) cannot = c->forced ? c->forced : im->options.no_fold ? "no-fold" : NULL;
    out = v;
    out.type = import_type_out(im, op);
    if (!cannot) {
        out.view = *view;
        out.via = c;
        c->behind = v.via;
        c->bytes = out.type->bytes;
        import_class(im, op, CLASS_FREE, "view");
        return import_bind_one(im, op, &out);
    }
    import_class(im, op, CLASS_COPIED, cannot);
    /* ONNX says shapes by operands: these are no data. */
    return import_opaque_leaf(im, "reshape", op, v, out.type, &out) && import_bind_one(im, op, &out);
}

/* The same for views that an index string can say: permutations and repetitions. */
static bool move_viewed_by_letters(struct import *im, const struct model_op *op, const struct view *view,
                                   const char *cannot)
{
    struct op_class *c = import_class_of(im, op);
    bool copies = !cannot && (c->forced || im->options.no_fold);
    if (!copies) return move_viewed(im, op, view, cannot);
    struct import_value v = *import_in(im, op, 0);
    v.view = *view;
    v.type = import_type_out(im, op);
    import_class(im, op, CLASS_COPIED, c->forced ? c->forced : "no-fold");
    return import_plain(im, &v, op) && (v.via = NULL, import_bind_one(im, op, &v));
}

/* Numbers that are the same everywhere stay so in any shape. */
static bool move_still_splat(struct import *im, const struct model_op *op, bool *done)
{
    struct import_value v = *import_in(im, op, 0);
    double number;
    *done = import_splat(&v, &number);
    if (!*done) return import_stored(im, import_in(im, op, 0));
    v.type = import_type_out(im, op);
    import_class(im, op, CLASS_FOLDED, NULL);
    return import_bind_one(im, op, &v);
}

bool map_reshape(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_type_out(im, op);
    struct view view;
    bool done;
    (void)ours;
    if (!move_still_splat(im, op, &done) || done) return done;
    bool ok = view_reshape(&import_in(im, op, 0)->view, type->count, type->extent, &view);
    import_class_of(im, op)->regroups = true;
    return move_viewed(im, op, &view, ok ? NULL : "atoms");
}

bool map_permute(struct import *im, const struct model_op *op, const char *ours)
{
    struct typing t = typing_open(im->m, op, im->format, import_opset(im));
    int64_t order[MODEL_MAX_RANK];
    struct view view;
    bool done;
    (void)ours;
    if (!move_still_splat(im, op, &done) || done) return done;
    if (t.in[0]->count > VIEW_MAX_RANK) return import_generic(im, op, "rank");
    if (typing_permutation(&t, order) != TYPED) return import_generic(im, op, "schema");
    bool ok = view_permute(&import_in(im, op, 0)->view, order, &view);
    return move_viewed_by_letters(im, op, &view, ok ? NULL : "rank");
}

bool map_broadcast(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_type_out(im, op), *from = model_type_of(im->m, op->operands[0]);
    int count, to[VIEW_MAX_RANK];
    const int64_t *dims = model_attr_ints(&op->attrs, "dimensions", &count);
    struct view view;
    bool done, hlo = im->format == MODEL_HLO;
    (void)ours;
    if (!move_still_splat(im, op, &done) || done) return done;
    if (from->count > VIEW_MAX_RANK || (hlo && count != from->count) || from->count > type->count)
        return import_generic(im, op, "schema");
    for (int d = 0; d < from->count; d++) to[d] = hlo ? (int)dims[d] : type->count - from->count + d;
    bool ok = view_broadcast(&import_in(im, op, 0)->view, to, type->count, type->extent, &view);
    return move_viewed_by_letters(im, op, &view, ok ? NULL : "rank");
}

/* Does an upsampling take the nearest element, with whole factors? The middle of a pixel then rounds to the
 * pixel that it is in. */
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

/* Each element several times behind itself, or a dimension several times (Tile): a digit that the storage
 * lacks. */
bool map_repeat(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *from = model_type_of(im->m, op->operands[0]), *to = import_type_out(im, op);
    bool done, tiles = strcmp(op->kind, "Tile") == 0;
    struct view view;
    (void)ours;
    if (!tiles && !move_is_nearest(im, op, from, to)) return import_generic(im, op, "mode");
    if (!move_still_splat(im, op, &done) || done) return done;
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
    if (!ok) return import_generic(im, op, "factor");
    return move_viewed_by_letters(im, op, &view, NULL);
}

bool map_identity(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = *import_in(im, op, 0);
    (void)ours;
    v.copied |= im->format == MODEL_HLO;
    import_class(im, op, CLASS_FREE, "names");
    return import_bind_one(im, op, &v);
}

bool map_constant(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_attr *a = model_attr_find(&op->attrs, "value");
    struct import_value v = {.storage = -1, .type = import_type_out(im, op)};
    (void)ours;
    v.known = im->m->values.at[op->results[0]].data;
    if (!v.known && a && a->form == ATTR_DATA) v.known = a->data;
    import_class(im, op, CLASS_FOLDED, NULL);
    return import_bind_one(im, op, &v);
}

/* One that is too large to be known is as good as a weight: files without their weights have these in
 * their place. */
bool map_unknown_constant(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v;
    (void)ours;
    if (!import_fresh(im, im->result_name, import_type_out(im, op), op, &v)) return false;
    if (v.storage >= 0) im->storages.at[v.storage].role = LX_WEIGHT;
    import_class(im, op, CLASS_FOLDED, NULL);
    return import_bind_one(im, op, &v);
}
