/* Sketches of ops, and what their results look like before storages are cut. */
#include "import/map/import.h"
#include "base/fail.h"

#include <string.h>

void import_force(struct import *im, struct op_class *owner, const struct sketch_operand *operand, int count,
                  const char *reason)
{
    const struct sketch_operand *least = NULL; /* the smallest is the cheapest to copy */
    for (int i = count - 1; i >= 0; i--)
        if (operand[i].via && !operand[i].via->forced &&
            (!least ||
             im->storages.at[operand[i].storage].elements < im->storages.at[least->storage].elements))
            least = &operand[i];
    if (least) {
        least->via->forced = reason;
        im->retry = true;
        return;
    }
    bool sticks = !im->short_sticks && strcmp(reason, "stick") == 0;
    if (!sticks && owner && !owner->alone && !im->last) {
        owner->alone = im->retry = true;
        return;
    }
    if (im->options.no_fold && !sticks) return;
    im->retry = true;
    im->short_sticks |= sticks;
    im->give_up |= !sticks;
}

/* Does the storage of this operand have the digits of dimension `dim` from `low` on? */
static bool sketch_has_piece(const struct sketch_operand *o, int dim, int64_t low)
{
    int64_t base = 1;
    for (int i = o->view.first[dim + 1] - 1; i >= o->view.first[dim]; i--) {
        if (low < base * o->view.atom[i].extent) return o->view.atom[i].low > 0;
        base *= o->view.atom[i].extent;
    }
    return false;
}

struct pieces {
    struct cuts cuts[VIEW_MAX_RANK]; /* by dimension of the result */
    bool there[VIEW_MAX_RANK][VIEW_MAX_CUTS];
    int64_t elements;
};

/* The pieces of a dimension, and which of them any operand has. */
static void sketch_find_pieces(struct import *im, const struct sketch_operand *in, int count, int dim,
                               int64_t extent, struct cuts *cuts, bool *there)
{
    bool changed;
    cuts_whole(cuts, extent);
    for (int i = 0; i < count; i++)
        if (!cuts_of_dim(cuts, &in[i].view, dim, &changed)) import_force(im, im->owner, in, count, "atoms");
    for (int k = 0; k + 1 < cuts->count; k++) {
        there[k] = im->whole_result || count == 0;
        for (int i = 0; i < count; i++) there[k] |= sketch_has_piece(&in[i], dim, cuts->at[k]);
    }
}

/* The view of the result over its own dimensions, storage row-major in what is there. */
static bool sketch_lay_out(struct pieces *p, int rank, struct view *v)
{
    int64_t low = p->elements;
    view_start(v);
    for (int d = 0; d < rank; d++) {
        const struct cuts *c = &p->cuts[d];
        if (!view_open_dim(v)) return false;
        for (int k = c->count - 2; k >= 0; k--) {
            int64_t extent = c->at[k + 1] / c->at[k];
            if (p->there[d][k]) low /= extent;
            if (!view_add(v, atom_of(p->there[d][k] ? low : 0, extent))) return false;
        }
    }
    return true;
}

/* The same over the dimensions of the op. */
static bool sketch_over_op(const struct view *v, int op_rank, const int *dims, struct view *out)
{
    view_start(out);
    for (int d = 0; d < op_rank; d++) {
        int r = 0;
        while (r < v->rank && dims[r] != d) r++;
        if (r < v->rank ? !view_add_dim(out, v, r) : !view_open_dim(out)) return false;
    }
    return true;
}

/* Its own dimensions are what a storage is cut by first, however short they are. */
static void sketch_cut_by_view(struct storage *s, const struct view *v)
{
    bool changed;
    for (int i = v->first[v->rank] - 1; i >= 0; i--)
        if (v->atom[i].low > 1 && s->cuts.count <= LX_MAX_RANK) cuts_add(&s->cuts, v->atom[i].low, &changed);
}

static bool sketch_result(struct import *im, const struct model_op *from, const int64_t *extent,
                          const struct sketch_operand *in, int count, const struct model_type *type,
                          const int *dims, struct import_value *out)
{
    struct pieces p = {.elements = 1};
    for (int d = 0; d < type->count; d++) {
        if (dims[d] < 0) {
            cuts_whole(&p.cuts[d], 1);
            continue;
        }
        sketch_find_pieces(im, in, count, dims[d], extent[dims[d]], &p.cuts[d], p.there[d]);
        for (int k = 0; k + 1 < p.cuts[d].count; k++)
            if (p.there[d][k]) p.elements *= p.cuts[d].at[k + 1] / p.cuts[d].at[k];
    }
    *out = (struct import_value){.type = type};
    if (!sketch_lay_out(&p, type->count, &out->view)) {
        import_force(im, im->owner, in, count, "rank");
        return import_fresh(im, "value", type, from, out);
    }
    out->storage = import_storage(im, im->result_name, type->element, p.elements, from);
    if (out->storage >= 0) sketch_cut_by_view(&im->storages.at[out->storage], &out->view);
    return out->storage >= 0;
}

/* Where a result is cut otherwise than its own dimensions are, the view of an operand is why. */
static struct op_class *sketch_origin_of(const struct view *v, const struct sketch_operand *in, int count)
{
    bool plain = v->first[v->rank] <= v->rank;
    for (int i = 0; i < v->first[v->rank]; i++) plain &= v->atom[i].low > 0;
    for (int i = count - 1; !plain && i >= 0; i--)
        if (in[i].via && !in[i].via->forced) return in[i].via;
    return NULL;
}

static bool sketch_opaque_result(struct import *im, const char *kind, const struct model_op *op,
                                 const int32_t *inputs, int count, const struct model_type *type,
                                 struct import_value *out);

/* What has no elements has no storage, and no place in an index map: the op is known by its other
 * operands. */
static bool sketch_of_rest(struct import *im, const struct model_op *from, const struct sketch_operand *in,
                           int count, const struct model_type *type, struct import_value *out)
{
    int32_t *there = arena_array(&im->memory, (size_t)count + 1, sizeof *there);
    int n = 0;
    for (int i = 0; i < count; i++)
        if (in[i].storage >= 0) there[n++] = in[i].storage;
    if (!from) return import_fresh(im, im->result_name, type, from, out);
    return sketch_opaque_result(im, "generic", from, there, n, type, out);
}

bool import_sketch(struct import *im, const char *kind, const struct model_op *from, int rank,
                   const int64_t *extent, const struct sketch_operand *in, int count, const double *value,
                   const struct model_type *type, const int *dims, struct import_value *out)
{
    struct sketch s = {.kind = kind,
                       .from = from,
                       .rank = rank,
                       .input_count = count,
                       .has_value = value != NULL,
                       .owner = im->owner};
    if (type->count > VIEW_MAX_RANK || rank > VIEW_MAX_RANK)
        return status_set(im->st, LX_E_LIMIT, "more than %d dimensions", VIEW_MAX_RANK);
    for (int i = 0; i < count; i++)
        if (in[i].storage < 0) return sketch_of_rest(im, from, in, count, type, out);
    if (!sketch_result(im, from, extent, in, count, type, dims, out)) return false;
    out->via = sketch_origin_of(&out->view, in, count);
    memcpy(s.extent, extent, (size_t)rank * sizeof *extent);
    if (value) s.value = *value;
    s.operand = arena_array(&im->memory, (size_t)count + 1, sizeof *s.operand);
    memcpy(s.operand, in, (size_t)count * sizeof *in);
    s.operand[count].storage = out->storage;
    if (!sketch_over_op(&out->view, rank, dims, &s.operand[count].view))
        import_force(im, im->owner, in, count, "rank");
    VEC_PUSH(&im->sketches, s);
    return true;
}

/* One sketch with plain operands. */
static bool opaque_sketch(struct import *im, const char *kind, const struct model_op *op,
                          const int32_t *inputs, int count, int32_t output)
{
    struct sketch s = {.kind = kind, .from = op, .rank = -1, .input_count = count, .owner = im->owner};
    s.operand = arena_array(&im->memory, (size_t)count + 1, sizeof *s.operand);
    for (int i = 0; i <= count; i++) s.operand[i].storage = i < count ? inputs[i] : output;
    VEC_PUSH(&im->sketches, s);
    return true;
}

typedef VEC(int32_t) storage_list;

/* Tensors of all operands, stored in their own order. */
static bool sketch_all_inputs(struct import *im, const struct model_op *op, storage_list *to)
{
    for (int i = 0; i < op->operand_count; i++) {
        if (op->operands[i] < 0) continue;
        for (int k = 0; k < model_type_of(im->m, op->operands[i])->leaves; k++) {
            struct import_value v = *import_leaf(im, op->operands[i], k);
            if (!import_plain(im, &v, op)) return false;
            if (v.storage >= 0) VEC_PUSH(to, v.storage);
        }
    }
    return true;
}

/* More than an op can have are read by further ops, each of which gives a note that it is done. */
static bool sketch_join_inputs(struct import *im, const struct model_op *op, storage_list *list)
{
    while (list->count > LX_MAX_INPUTS) {
        size_t kept = 0;
        for (size_t at = 0; at < list->count; at += LX_MAX_INPUTS) {
            size_t n = list->count - at < LX_MAX_INPUTS ? list->count - at : LX_MAX_INPUTS;
            int32_t note = import_storage(im, "joined", MODEL_I32, 1, op);
            if (note < 0 || !opaque_sketch(im, "generic", op, list->at + at, (int)n, note)) return false;
            list->at[kept++] = note;
        }
        list->count = kept;
    }
    return true;
}

static bool sketch_opaque_result(struct import *im, const char *kind, const struct model_op *op,
                                 const int32_t *inputs, int count, const struct model_type *type,
                                 struct import_value *out)
{
    if (!import_fresh(im, im->result_name, type, op, out)) return false;
    return out->storage < 0 || opaque_sketch(im, kind, op, inputs, count, out->storage);
}

bool import_opaque_leaf(struct import *im, const char *kind, const struct model_op *op,
                        struct import_value in, const struct model_type *type, struct import_value *out)
{
    if (!import_plain(im, &in, op)) return false;
    return sketch_opaque_result(im, kind, op, &in.storage, in.storage >= 0, type, out);
}

static bool sketch_opaque_value(struct import *im, const char *kind, const struct model_op *op,
                                const int32_t *inputs, int count, int32_t value,
                                const struct model_type *type)
{
    VEC(struct import_value) leaves = {0};
    bool ok = true;
    for (int i = 0; ok && i < type->leaves; i++) {
        const struct model_type *leaf = model_leaf_type(type, i);
        struct import_value v;
        ok = sketch_opaque_result(im, kind, op, inputs, count, leaf, &v);
        if (ok) VEC_PUSH(&leaves, v);
    }
    ok = ok && import_bind(im, value, leaves.at, (int)leaves.count);
    VEC_FREE(&leaves);
    return ok;
}

static bool sketch_opaque_results(struct import *im, const char *kind, const struct model_op *op,
                                  const int32_t *inputs, int count)
{
    /* An op without a result writes its first operand: what is read from now on is the new content. */
    if (op->result_count == 0 && op->operand_count > 0)
        return sketch_opaque_value(im, kind, op, inputs, count, op->operands[0],
                                   model_type_of(im->m, op->operands[0]));
    for (int r = 0; r < op->result_count; r++)
        if (op->results[r] >= 0 && !sketch_opaque_value(im, kind, op, inputs, count, op->results[r],
                                                        model_type_of(im->m, op->results[r])))
            return false;
    return true;
}

bool import_opaque(struct import *im, const char *kind, const struct model_op *op)
{
    storage_list list = {0};
    bool ok = sketch_all_inputs(im, op, &list) && sketch_join_inputs(im, op, &list) &&
              sketch_opaque_results(im, kind, op, list.at, (int)list.count);
    VEC_FREE(&list);
    return ok;
}
