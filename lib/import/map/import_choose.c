/* Ops that choose by index: rows of tables, slices with run-time starts, sorts, writes into caches. A chosen
 * dimension is one piece of its storage and has one letter. */
#include "import/map/import_steps.h"
#include "import/types/typing.h"

int choose_dim(struct choosing *c, int64_t extent)
{
    if (c->rank >= VIEW_MAX_RANK) c->full = true;
    if (c->full || c->rank >= VIEW_MAX_RANK) return -1;
    c->extent[c->rank] = extent;
    return c->rank++;
}

void choose_operand(struct choosing *c, const struct import_value *v, const int *dim)
{
    if (c->count == CHOOSE_OPERANDS) c->full = true;
    if (c->full) return;
    memcpy(c->dim[c->count], dim, (size_t)v->type->count * sizeof *dim);
    c->operand[c->count++] = *v;
}

void choose_along(struct choosing *c, int dim)
{
    if (c->chosen_count == LX_MAX_RANK || dim < 0) c->full = true;
    if (c->full) return;
    c->chosen[c->chosen_count++] = (signed char)dim;
    c->whole |= 1u << dim;
}

/* Is each uncuttable dimension of operand i a single piece of its storage? */
static bool choose_in_one_piece(const struct import *im, const struct choosing *c, int i)
{
    const struct import_value *v = &c->operand[i];
    bool whole = true;
    for (int d = 0; d < v->view.rank; d++)
        if (c->dim[i][d] >= 0 && c->whole >> c->dim[i][d] & 1) whole = whole && import_in_one_piece(im, v, d);
    return whole;
}

/* Operand i over the dimensions of the op: unchanged if its elements are in order and uncut; else a copy cut
 * by its own dimensions. */
static struct sketch_operand choose_over(struct import *im, const struct model_op *op, struct choosing *c,
                                         int i)
{
    struct import_value *v = &c->operand[i];
    if (view_is_part(&v->view)) import_plain(im, v, op);
    if (!choose_in_one_piece(im, c, i)) {
        bool plain = view_is_plain(&v->view, im->storages.at[v->storage].elements);
        if (plain) view_plain(&v->view, v->type->count, v->type->extent);
        if (!plain || !choose_in_one_piece(im, c, i)) {
            import_copy(im, v, op, true, false);
            view_plain(&v->view, v->type->count, v->type->extent);
        }
    }
    return import_over(v, c->rank, c->dim[i]);
}

/* Does operand i have its own elements along this dimension of the op, not a repeated one? */
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

/* Does operand i lack a needed letter? Usually one that no operand has. If the op changes its first operand:
 * the moved operand has an element per place, an index one for each place that only they have. */
static bool choose_lacks(const struct choosing *c, int i, int k, int moved)
{
    int dim = c->dim[i][k];
    bool own = dim < 0 || c->extent[dim] == 1;
    if (moved >= 0)
        return !own && !choose_goes_along(c, i, dim) && (i == moved || !choose_goes_along(c, 0, dim));
    own |= c->operand[i].type->extent[k] == 1;
    for (int j = 0; !own && j < c->count; j++) own = choose_goes_along(c, j, dim);
    return !own;
}

static void choose_lay_out(struct import *im, const struct model_op *op, struct choosing *c)
{
    const struct lx_kind *kind = lx_kind_find(c->kind);
    bool alters = kind && kind->traits & LX_ALTERS;
    int moved = kind && kind->id == LX_KIND_SCATTER ? 2 : 1;
    if (alters) import_plain(im, &c->operand[0], op); /* like the result, in its order */
    for (int i = 0; i < c->count; i++) import_stored(im, &c->operand[i]);
    for (int pass = alters ? 0 : 1; pass < 2; pass++)
        for (int i = pass == 0; i < c->count; i++)
            for (int k = 0; k < c->operand[i].view.rank; k++)
                if (choose_lacks(c, i, k, pass == 0 ? moved : -1)) import_plain(im, &c->operand[i], op);
}

/* `type` NULL: the first operand is changed in place. */
static struct import_value choose_emit(struct import *im, const struct model_op *op, struct choosing *c,
                                       const struct model_type *type, const int *dims)
{
    struct sketch_operand in[CHOOSE_OPERANDS];
    struct import_value out = c->operand[0];
    choose_lay_out(im, op, c);
    for (int i = 0; i < c->count; i++) in[i] = choose_over(im, op, c, i);
    struct sketching how = {.kind = c->kind, .from = op, .in = in, .count = c->count, .whole = true};
    how.rank = c->rank, how.extent = c->extent;
    how.type = type, how.dims = dims;
    struct sketch *s = import_sketch(im, &how, &out);
    s->choice_count = c->chosen_count;
    s->combine = c->combine;
    s->k = c->k;
    s->descending = c->descending;
    memcpy(s->choice, c->chosen, sizeof s->choice);
    if (c->starts)
        s->starts = arena_copy_array(&im->memory, c->start, (size_t)c->chosen_count, sizeof *c->start);
    for (int d = 0; d < c->rank; d++)
        for (int i = 0; (c->whole >> d & 1) && i <= s->input_count; i++)
            import_keep_dim(im, &s->operand[i], d);
    return out;
}

bool choose_finish(struct import *im, const struct model_op *op, struct choosing *c,
                   const struct model_type *type, const int *dims)
{
    if (c->full) return import_generic(im, op, "rank");
    struct import_value out = choose_emit(im, op, c, type, dims);
    return import_mapped(im, op, &out);
}

/* ---- rows of a table ---- */

/* y[a.., i.., b..] = table[a.., index[i..], b..]. */
static bool choose_rows(struct import *im, const struct model_op *op, const struct import_value *table,
                        const struct import_value *index, int axis)
{
    struct choosing c = {.kind = "gather"};
    const struct model_type *y = import_type_out(im, op);
    int of_table[VIEW_MAX_RANK], of_index[VIEW_MAX_RANK], dims[2 * VIEW_MAX_RANK], n = 0;
    int rank = table->type->count;
    int64_t number;
    if (axis < 0 || y->count != rank + index->type->count - 1 || table->type->extent[axis] < 2)
        return import_generic(im, op, "form");
    for (int d = 0; d < rank; d++) of_table[d] = choose_dim(&c, table->type->extent[d]);
    for (int d = 0; d < index->type->count; d++) of_index[d] = choose_dim(&c, index->type->extent[d]);
    for (int d = 0; d < axis; d++) dims[n++] = of_table[d];
    for (int d = 0; d < index->type->count; d++) dims[n++] = of_index[d];
    for (int d = axis + 1; d < rank; d++) dims[n++] = of_table[d];
    choose_operand(&c, table, of_table);
    choose_along(&c, of_table[axis]);
    if (index->type->elements == 1 && import_known(index, &number)) { /* one known row */
        c.kind = "dynamic_slice";
        c.starts = true;
        c.start[0] = number < 0 ? number + table->type->extent[axis] : number;
    } else
        choose_operand(&c, index, of_index);
    return choose_finish(im, op, &c, y, dims);
}

bool map_embedding(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value index = *import_in(im, op, 0), table = *import_in(im, op, 1);
    (void)ours;
    return choose_rows(im, op, &table, &index, typing_dim(-2, table.type->count));
}

/* Indices that may be negative count from the end: (i + n) rem n. */
bool map_gather_rows(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value table = *import_in(im, op, 0), index = *import_in(im, op, 1);
    int axis = typing_dim(model_attr_int(&op->attrs, "axis", 0), table.type->count);
    const struct model_data *d = index.known;
    int64_t number;
    (void)ours;
    if (axis < 0) return import_generic(im, op, "schema");
    bool below = !d || !d->ints;
    for (int64_t i = 0; !below && i < (d->form == DATA_SPLAT ? 1 : index.type->elements); i++)
        below = d->ints[i] < 0;
    if (below && model_element_row(index.type->element)->number != MODEL_UNSIGNED &&
        !import_known(&index, &number) && table.type->extent[axis] > 1) {
        struct import_value n = import_whole(im, index.type, &table.type->extent[axis], 1);
        index = import_point(im, op, "add", index, &n);
        index = import_point(im, op, "rem", index, &n);
    }
    return choose_rows(im, op, &table, &index, axis);
}

/* ---- slices with run-time starts ---- */

/* An op over the whole (operand 0) and a part, with one start per dimension from operand `first` on.
 * Dimensions in which the part is shorter are chosen, those with one element first. False: generic. */
static bool choose_part(struct import *im, const struct model_op *op, int first,
                        const struct model_type *part, struct choosing *c, int *of_whole, int *of_part)
{
    const struct model_type *whole = import_in(im, op, 0)->type;
    bool known = true;
    if (part->count != whole->count || op->operand_count != first + whole->count ||
        whole->count > LX_MAX_RANK)
        return false;
    for (int i = first; i < op->operand_count; i++)
        if (model_type_of(im->m, op->operands[i])->count != 0) return false;
    for (int d = 0; d < whole->count; d++) of_whole[d] = of_part[d] = choose_dim(c, whole->extent[d]);
    for (int pass = 0; pass < 2; pass++)
        for (int d = 0; d < whole->count; d++) {
            bool one = part->extent[d] == 1;
            if (part->extent[d] == whole->extent[d] || one != (pass == 0)) continue;
            of_part[d] = one ? -1 : choose_dim(c, part->extent[d]);
            if (of_part[d] >= 0) c->whole |= 1u << of_part[d];
            choose_along(c, of_whole[d]);
            if (c->full) return false;
            known &= import_known(import_in(im, op, first + d), &c->start[c->chosen_count - 1]);
        }
    c->starts = known;
    return true;
}

/* If any start is known only at run time, all starts are operands. */
static void choose_starts(struct import *im, const struct model_op *op, int first, struct choosing *c)
{
    for (int i = 0; !c->starts && i < c->chosen_count; i++)
        choose_operand(c, import_in(im, op, first + c->chosen[i]), c->dim[0]);
}

bool map_dynamic_slice(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value x = *import_in(im, op, 0);
    const struct model_type *y = import_type_out(im, op);
    struct choosing c = {.kind = ours};
    int of_x[VIEW_MAX_RANK], of_y[VIEW_MAX_RANK];
    int64_t begin[VIEW_MAX_RANK] = {0};
    bool fits = choose_part(im, op, 1, y, &c, of_x, of_y);
    if (!fits) return import_generic(im, op, c.full ? "starts" : "form");
    if (c.starts) { /* clamped so that the part lies within the whole, as in an unrolled loop */
        for (int i = 0; i < c.chosen_count; i++) {
            int d = c.chosen[i];
            int64_t most = x.type->extent[d] - y->extent[d];
            begin[d] = c.start[i] < 0 ? 0 : c.start[i] > most ? most : c.start[i];
        }
        return box_take(im, op, begin);
    }
    choose_operand(&c, &x, of_x);
    choose_starts(im, op, 1, &c);
    return choose_finish(im, op, &c, y, of_y);
}

/* A copy of the first operand with the second inserted. */
bool map_dynamic_insert(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value x = *import_in(im, op, 0), part = *import_in(im, op, 1);
    struct choosing c = {.kind = ours};
    int of_x[VIEW_MAX_RANK], of_part[VIEW_MAX_RANK];
    if (!choose_part(im, op, 2, part.type, &c, of_x, of_part))
        return import_generic(im, op, c.full ? "starts" : "form");
    if (c.chosen_count == 0) /* the part covers all */
        return import_done(im, op, CLASS_FREE, NULL, &part);
    choose_operand(&c, &x, of_x);
    choose_operand(&c, &part, of_part);
    choose_starts(im, op, 2, &c);
    return choose_finish(im, op, &c, import_type_out(im, op), of_x);
}

/* ---- ops that order along a dimension: top-k and sorts ---- */

/* Operand 0 sorted along an axis, or the places of its elements, by `kind`; the first k (0: all). */
static struct import_value order_emit(struct import *im, const struct model_op *op, const char *kind,
                                      int axis, int64_t k, bool descending, const struct model_type *type)
{
    struct choosing c = {.kind = kind, .k = k, .descending = descending};
    struct import_value x = *import_in(im, op, 0);
    int of_x[VIEW_MAX_RANK], dims[VIEW_MAX_RANK];
    for (int d = 0; d < x.type->count; d++) of_x[d] = dims[d] = choose_dim(&c, x.type->extent[d]);
    choose_operand(&c, &x, of_x);
    choose_along(&c, of_x[axis]);
    if (k > 0) dims[axis] = k > 1 ? choose_dim(&c, k) : -1;
    if (dims[axis] >= 0) c.whole |= 1u << dims[axis];
    return choose_emit(im, op, &c, type, dims);
}

/* TopK of ONNX has two results, of HLO a tuple. k is an extent of the results. */
bool map_topk(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const kinds[] = {"topk", "topk_index"};
    const struct model_type *x = model_type_of(im->m, op->operands[0]), *type[2];
    bool hlo = im->format == MODEL_HLO, fits = x->element != MODEL_TUPLE && x->count < VIEW_MAX_RANK;
    int axis = fits ? typing_dim(hlo ? -1 : model_attr_int(&op->attrs, "axis", -1), x->count) : -1;
    struct import_value out[2];
    (void)ours;
    if (model_attr_int(&op->attrs, "largest", 1) != 1 ||
        strcmp(model_attr_word(&op->attrs, "largest", "true"), "false") == 0)
        return import_generic(im, op, "order");
    fits = axis >= 0 && x->extent[axis] >= 2 &&
           (hlo ? import_type_out(im, op)->leaves == 2 : op->result_count <= 2);
    for (int r = 0; fits && r < 2; r++) {
        type[r] = hlo                    ? model_leaf_type(import_type_out(im, op), r)
                  : r < op->result_count ? model_type_of(im->m, op->results[r])
                                         : NULL;
        fits = !type[r] || (type[r]->count == x->count && type[r]->extent[axis] <= x->extent[axis]);
    }
    if (!fits) return import_generic(im, op, "form");
    for (int r = 0; r < 2; r++) {
        if (!type[r]) continue;
        out[r] = order_emit(im, op, kinds[r], axis, type[r]->extent[axis], false, type[r]);
        if (!hlo) import_bind(im, op->results[r], &out[r], 1);
    }
    import_class(im, op, CLASS_MAPPED, NULL);
    if (hlo) import_bind(im, op->results[0], out, 2);
    return true;
}

bool map_custom_call(struct import *im, const struct model_op *op, const char *ours)
{
    const char *target = model_attr_word(&op->attrs, "custom_call_target", "");
    bool top = strncmp(target + (*target == '"'), "TopK", 4) == 0 && op->operand_count == 1;
    return top ? map_topk(im, op, ours) : import_generic(im, op, "kind");
}

/* Does the computation compare its first two parameters? */
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

/* Are the elements 0, 1, 2 .. along this dimension? */
static bool order_counts(const struct import *im, const struct import_value *v, int64_t axis)
{
    bool ok = v->storage >= 0 && im->storages.at[v->storage].counts && v->type->element == MODEL_I32 &&
              im->storages.at[v->storage].elements == v->type->extent[axis] && !view_is_part(&v->view);
    for (int d = 0; ok && d < v->view.rank; d++)
        for (int i = v->view.first[d]; ok && i < v->view.first[d + 1]; i++)
            ok = v->view.atom[i].low == (d == axis);
    return ok;
}

/* Sort of HLO: one operand, or one and its places. */
bool map_sort(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const kinds[] = {"sort", "sort_index"};
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
        out[r] = order_emit(im, op, kinds[r], (int)dim[0], 0, descending, model_leaf_type(type, r));
    import_class(im, op, CLASS_MAPPED, NULL);
    import_bind(im, op->results[0], out, count);
    return true;
}

/* ---- caches ----
 *
 * A cache is [B,H,S,D]. Ops without a result write their first operand; others return the new cache, and
 * change it in place only if nothing later reads the old one. */

/* Does a later op of the current body read the value, or is it returned? */
static bool cache_read_later(const struct import *im, const struct model_op *op, int32_t value)
{
    const struct model_body *b = &im->m->bodies.at[im->body];
    for (const struct model_op *o = op + 1; o < b->ops + b->op_count; o++)
        for (int i = 0; i < o->operand_count; i++)
            if (o->operands[i] == value) return true;
    for (int i = 0; i < b->result_count; i++)
        if (b->results[i] == value) return true;
    return false;
}

/* Is the old content unread from here on, under any name? Values of other bodies count as read. */
static bool cache_dies_here(struct import *im, const struct model_op *op, int32_t storage)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    if (im->body != im->m->entry || cache_read_later(im, op, op->operands[0])) return false;
    for (int i = 0; i < b->argument_count; i++)
        if (model_type_of(im->m, b->arguments[i])->leaves == 1 &&
            import_leaf(im, b->arguments[i], 0)->storage == storage &&
            cache_read_later(im, op, b->arguments[i]))
            return false;
    return true;
}

/* Changes the cache in place, or in a copy that becomes the op's result or, without a result, its first
 * operand. */
static bool cache_emit(struct import *im, const struct model_op *op, struct choosing *c, const int *of_cache)
{
    struct import_value cache = *import_in(im, op, 0);
    struct storage *s = cache.storage >= 0 ? &im->storages.at[cache.storage] : NULL;
    bool names = op->result_count == 1, changes = s && s->role != LX_WEIGHT &&
                                                  view_is_plain(&cache.view, s->elements) &&
                                                  choose_in_one_piece(im, c, 0);
    if (names && !(changes && cache_dies_here(im, op, cache.storage)))
        return choose_finish(im, op, c, import_type_out(im, op), of_cache);
    if (c->full || op->result_count > 1) return import_generic(im, op, "form");
    import_class(im, op, CLASS_MAPPED, NULL);
    if (!changes) {
        struct import_value out = choose_emit(im, op, c, cache.type, of_cache);
        import_bind(im, op->operands[0], &out, 1);
        return true;
    }
    if (s->role == LX_INPUT) s->role = LX_STATE;
    import_keep_old(im, cache.storage, op->operands[0], op);
    choose_emit(im, op, c, NULL, NULL);
    if (names) import_bind(im, op->results[0], &cache, 1);
    return true;
}

/* cache[b, h, index, :] = input[0, h, b, :]; one index in all, or one per batch. */
bool map_update_cache(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value cache = *import_in(im, op, 0), x = *import_in(im, op, 1), at = *import_in(im, op, 2);
    const int64_t *n = cache.type->extent, *m = x.type->extent;
    struct choosing c = {.kind = ours};
    int of_cache[4];
    if (cache.type->count != 4 || x.type->count != 4 || at.type->count > 1 || m[0] != 1 || m[1] != n[1] ||
        m[2] != n[0] || m[3] != n[3] || n[2] < 2 || model_attr_int(&op->attrs, "batch_offset", 0) != 0 ||
        (at.type->elements != 1 && at.type->elements != m[2]))
        return import_generic(im, op, "form");
    for (int d = 0; d < 4; d++) of_cache[d] = choose_dim(&c, n[d]);
    choose_operand(&c, &cache, of_cache);
    choose_operand(&c, &x, (int[]){-1, of_cache[1], of_cache[0], of_cache[3]});
    choose_operand(&c, &at, (int[]){at.type->elements == 1 ? -1 : of_cache[0]});
    choose_along(&c, of_cache[2]);
    return cache_emit(im, op, &c, of_cache);
}

/* Is the operand a slice of one batch of `*whole`, full in its other dimensions? */
static bool cache_slices_batch(const struct import *im, const struct model_op *op, int64_t batch,
                               int32_t *whole)
{
    static const char *const keys[] = {"begins", "ends", "step"};
    const int64_t *list[3];
    int count;
    if (strcmp(op->kind, "slice_static") != 0 || op->operand_count != 1 || op->result_count != 1)
        return false;
    const struct model_type *x = model_type_of(im->m, op->operands[0]);
    for (int i = 0; i < 3; i++) {
        list[i] = model_attr_ints(&op->attrs, keys[i], &count);
        if (count != 4 || x->count != 4) return false;
    }
    for (int d = 0; d < 4; d++)
        if (list[2][d] != 1 || list[0][d] != (d ? 0 : batch) || list[1][d] != (d ? x->extent[d] : batch + 1))
            return false;
    if (*whole >= 0 && *whole != op->operands[0]) return false;
    *whole = op->operands[0];
    return true;
}

/* If consecutive fills of all batches each read a slice of one value: that value; else -1. */
static int32_t cache_filled_from(struct import *im, const struct model_op *op, int64_t batches)
{
    const struct model_body *b = &im->m->bodies.at[im->body];
    int64_t at = op - b->ops;
    int32_t whole = -1;
    if (at < 1 || at + 2 * (batches - 1) >= b->op_count) return -1;
    for (int64_t k = 0; k < batches; k++) {
        const struct model_op *fill = &b->ops[at + 2 * k];
        if (strcmp(fill->kind, "fill_cache") != 0 || fill->operand_count != 2 ||
            fill->operands[0] != op->operands[0] || fill->result_count != 0 ||
            model_attr_int(&fill->attrs, "batch_offset", 0) != k ||
            !cache_slices_batch(im, fill - 1, k, &whole) || fill[-1].results[0] != fill->operands[1])
            return -1;
    }
    for (int64_t k = 1; k < batches; k++) import_class_of(im, &b->ops[at + 2 * k])->merged = true;
    return whole;
}

/* cache[o, h, 0.., :] = input[0, h, .., :]; consecutive fills of all batches are one op. */
bool map_fill_cache(struct import *im, const struct model_op *op, const char *ours)
{
    struct op_class *class = import_class_of(im, op);
    struct import_value cache = *import_in(im, op, 0), x = *import_in(im, op, 1);
    int64_t batch = model_attr_int(&op->attrs, "batch_offset", 0);
    struct choosing c = {.kind = ours, .starts = true};
    int of_cache[4], of_x[4];
    if (class->merged) {
        class->merged = false;
        import_class(im, op, CLASS_FREE, "merged");
        return true;
    }
    const int64_t *n = cache.type->extent, *m = x.type->extent;
    if (cache.type->count != 4 || x.type->count != 4 || m[0] != 1 || m[1] != n[1] || m[3] != n[3] ||
        m[2] > n[2] || batch < 0 || batch >= n[0])
        return import_generic(im, op, "form");
    int32_t all = batch == 0 && n[0] > 1 ? cache_filled_from(im, op, n[0]) : -1;
    if (all >= 0) x = *import_leaf(im, all, 0);
    for (int d = 0; d < 4; d++) of_cache[d] = of_x[d] = choose_dim(&c, n[d]);
    if (all < 0) of_x[0] = -1;
    if (all < 0 && n[0] > 1) c.start[c.chosen_count] = batch, choose_along(&c, of_cache[0]);
    if (m[2] < n[2]) {
        of_x[2] = m[2] > 1 ? choose_dim(&c, m[2]) : -1;
        if (of_x[2] >= 0) c.whole |= 1u << of_x[2];
        choose_along(&c, of_cache[2]);
    }
    if (c.chosen_count == 0) return import_generic(im, op, "form");
    choose_operand(&c, &cache, of_cache);
    choose_operand(&c, &x, of_x);
    return cache_emit(im, op, &c, of_cache);
}
