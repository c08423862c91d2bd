/* Sketches of ops that choose by indices: a dimension that is chosen along is one piece of its storage,
 * and has one letter. */
#include "import/map/import_choose.h"
#include "base/fail.h"

#include <string.h>

int choose_dim(struct choosing *c, int64_t extent)
{
    if (c->rank == VIEW_MAX_RANK) c->full = true;
    if (c->full) return -1;
    c->extent[c->rank] = extent;
    return c->rank++;
}

void choose_operand(struct choosing *c, const struct import_value *v, const int *dim)
{
    if (c->count == CHOOSE_OPERANDS || v->type->count > VIEW_MAX_RANK) c->full = true;
    if (c->full) return;
    memcpy(c->dim[c->count], dim, (size_t)v->type->count * sizeof *dim);
    c->operand[c->count++] = *v;
}

void choose_along(struct choosing *c, int dim)
{
    if (c->chosen_count == LX_MAX_RANK || dim < 0) c->full = true;
    if (!c->full) c->chosen[c->chosen_count++] = (signed char)dim;
}

static bool choose_stays_whole(const struct choosing *c, int dim)
{
    for (int i = 0; i < c->chosen_count; i++)
        if (c->chosen[i] == dim) return true;
    for (int i = 0; i < c->whole_count; i++)
        if (c->whole[i] == dim) return true;
    return false;
}

bool choose_in_one_piece(const struct import *im, const struct choosing *c, int i)
{
    const struct import_value *v = &c->operand[i];
    bool whole = true;
    for (int d = 0; d < v->view.rank; d++)
        if (c->dim[i][d] >= 0 && choose_stays_whole(c, c->dim[i][d]))
            whole = whole && import_in_one_piece(im, v, d);
    return whole;
}

/* As it is where its elements stand in order and nobody has cut it; else a copy that is cut by its own
 * dimensions. */
static bool choose_lay_out(struct import *im, const struct model_op *op, struct choosing *c, int i)
{
    struct import_value *v = &c->operand[i], copy;
    int dims[VIEW_MAX_RANK];
    if (view_is_plain(&v->view, im->storages.at[v->storage].elements)) {
        if (!view_plain(&v->view, v->type->count, v->type->extent)) return false;
        if (choose_in_one_piece(im, c, i)) return true;
    }
    struct sketch_operand in = {v->storage, v->view, v->via};
    for (int d = 0; d < v->type->count; d++) dims[d] = d;
    bool whole = im->whole_result;
    im->whole_result = true;
    bool ok =
        import_sketch(im, "clone", op, v->type->count, v->type->extent, &in, 1, NULL, v->type, dims, &copy);
    im->whole_result = whole;
    if (!ok) return false;
    *v = copy;
    return view_plain(&v->view, v->type->count, v->type->extent);
}

static bool choose_over_op(struct import *im, const struct model_op *op, struct choosing *c, int i,
                           struct sketch_operand *o)
{
    struct import_value *v = &c->operand[i];
    if (!import_stored(im, v) || (view_is_part(&v->view) && !import_plain(im, v, op)) ||
        (!choose_in_one_piece(im, c, i) && !choose_lay_out(im, op, c, i)))
        return false;
    *o = (struct sketch_operand){.storage = v->storage, .via = v->via};
    view_start(&o->view);
    for (int d = 0; d < c->rank; d++) {
        int k = 0;
        while (k < v->view.rank && c->dim[i][k] != d) k++;
        if (k < v->view.rank ? !view_add_dim(&o->view, &v->view, k) : !view_open_dim(&o->view))
            return status_set(im->st, LX_E_LIMIT, "too many dimensions");
    }
    return true;
}

/* What only such sketches have. */
static void choose_settle_3(struct import *im, const struct choosing *c, struct sketch *s)
{
    s->choice_count = c->chosen_count;
    s->combine = c->combine;
    s->k = c->k;
    s->descending = c->descending;
    memcpy(s->choice, c->chosen, sizeof s->choice);
    if (c->starts)
        s->starts = arena_copy_array(&im->memory, c->start, (size_t)c->chosen_count, sizeof *c->start);
    for (int d = 0; d < c->rank; d++)
        for (int i = 0; choose_stays_whole(c, d) && i <= s->input_count; i++)
            import_keep_dim(im, &s->operand[i], d);
}

static bool choose_push_in_place(struct import *im, const struct model_op *op, const struct choosing *c,
                                 const struct sketch_operand *in)
{
    struct sketch s = {
        .kind = c->kind, .from = op, .rank = c->rank, .input_count = c->count, .owner = im->owner};
    memcpy(s.extent, c->extent, (size_t)c->rank * sizeof *c->extent);
    s.operand = arena_array(&im->memory, (size_t)c->count + 1, sizeof *s.operand);
    memcpy(s.operand, in, (size_t)c->count * sizeof *in);
    s.operand[c->count] = in[0];
    s.in_place = true;
    VEC_PUSH(&im->sketches, s);
    return true;
}

/* Has operand i elements of its own along that dimension of the op, not one that is repeated? */
static bool choose_goes_along(const struct choosing *c, int i, int dim)
{
    const struct view *v = &c->operand[i].view;
    bool own = false;
    for (int k = 0; k < v->rank; k++) {
        if (c->dim[i][k] != dim) continue;
        own = true;
        for (int a = v->first[k]; a < v->first[k + 1]; a++) own = own && v->atom[a].low > 0;
    }
    return own;
}

/* What is only repeated, by all operands that have it, is laid out in one of them. */
static bool choose_lay_out_repeated(struct import *im, const struct model_op *op, struct choosing *c)
{
    for (int i = 0; i < c->count; i++)
        if (!import_stored(im, &c->operand[i])) return false;
    for (int i = 0; i < c->count; i++)
        for (int k = 0; k < c->operand[i].view.rank; k++) {
            bool own = c->dim[i][k] < 0 || c->operand[i].type->extent[k] == 1;
            for (int j = 0; !own && j < c->count; j++) own = choose_goes_along(c, j, c->dim[i][k]);
            if (!own && !import_plain(im, &c->operand[i], op)) return false;
        }
    return true;
}

/* Does operand i of an op that changes its first one lack a letter that it needs? What goes into it
 * (`moved`) has an element for each place; an index has one for each that only they have. */
static bool choose_lacks_letters(const struct choosing *c, int i, int moved)
{
    for (int k = 0; k < c->operand[i].view.rank; k++) {
        int dim = c->dim[i][k];
        if (dim >= 0 && c->extent[dim] > 1 && !choose_goes_along(c, i, dim) &&
            (i == moved || !choose_goes_along(c, 0, dim)))
            return true;
    }
    return false;
}

/* What is changed is a tensor as the result will be, in its order. */
static bool choose_lay_out_changed(struct import *im, const struct model_op *op, struct choosing *c)
{
    const struct lx_kind *kind = lx_kind_find(c->kind);
    int moved = kind && kind->id == LX_KIND_SCATTER ? 2 : 1;
    if (!kind || !(kind->traits & LX_ALTERS)) return true;
    if (!import_plain(im, &c->operand[0], op)) return false;
    for (int i = 1; i < c->count; i++)
        if (!import_stored(im, &c->operand[i]) ||
            (choose_lacks_letters(c, i, moved) && !import_plain(im, &c->operand[i], op)))
            return false;
    return true;
}

bool choose_emit(struct import *im, const struct model_op *op, struct choosing *c,
                 const struct model_type *type, const int *dims, bool in_place, struct import_value *out)
{
    struct sketch_operand in[CHOOSE_OPERANDS];
    if (!choose_lay_out_changed(im, op, c) || !choose_lay_out_repeated(im, op, c)) return false;
    for (int i = 0; i < c->count; i++)
        if (!choose_over_op(im, op, c, i, &in[i])) return false;
    im->whole_result = true;
    bool ok = in_place
                  ? choose_push_in_place(im, op, c, in)
                  : import_sketch(im, c->kind, op, c->rank, c->extent, in, c->count, NULL, type, dims, out);
    im->whole_result = false;
    if (!ok) return false;
    choose_settle_3(im, c, &im->sketches.at[im->sketches.count - 1]);
    return true;
}

bool choose_finish(struct import *im, const struct model_op *op, struct choosing *c,
                   const struct model_type *type, const int *dims)
{
    struct import_value out;
    if (c->full) return import_generic(im, op, "rank");
    if (im->owner && im->owner->unmapped) return import_generic(im, op, "letters");
    if (!choose_emit(im, op, c, type, dims, false, &out)) return false;
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind_one(im, op, &out);
}

static bool choose_below_zero(const struct import_value *index)
{
    const struct model_data *d = index->known;
    int64_t n = d && d->form == DATA_SPLAT ? 1 : index->type->elements;
    if (model_element_row(index->type->element)->number == MODEL_UNSIGNED) return false;
    bool known = d && d->ints;
    for (int64_t i = 0; known && i < n; i++)
        if (d->ints[i] < 0) return true;
    return !known;
}

/* A list of whole numbers, as a constant. */
static bool choose_constant_list(struct import *im, const int64_t *list, int count, enum model_element e,
                                 struct import_value *out)
{
    int64_t extent = count;
    struct model_data *d = arena_alloc(&im->memory, sizeof *d);
    *out = (struct import_value){.storage = -1, .type = import_type(im, e, 1, &extent)};
    const int64_t *copy = arena_copy_array(&im->memory, list, (size_t)count, sizeof *list);
    *d = (struct model_data){.form = DATA_LIST, .type = out->type, .ints = copy};
    out->known = d;
    return true;
}

/* (i + n) rem n. */
bool choose_from_end(struct import *im, const struct model_op *op, struct import_value *index,
                     const int64_t *extent, int count)
{
    struct steps s = {im, op, true};
    double number = (double)extent[0];
    enum model_element e = index->type->element;
    struct import_value list;
    if (!choose_below_zero(index)) return true;
    if (count > 1 && !choose_constant_list(im, extent, count, e, &list)) return false;
    const struct import_value *all = count > 1 ? &list : NULL;
    *index = step_point(&s, "add", *index, all, all ? NULL : &number, e);
    *index = step_point(&s, "rem", *index, all, all ? NULL : &number, e);
    return s.ok;
}

/* ---- ops that order along a dimension: top-k and sorts ---- */

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
