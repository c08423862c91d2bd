/* Ops of the table that write caches: an argument is changed where it is, and what is read from then on has
 * the new rows.
 *
 * A cache is [B,H,S,D]. Ops without a result write their first operand; those with one give the cache as it
 * is then, and change it where it is only if nothing later reads what it was. */
#include "import/map/import_choose.h"
#include "graph/op_params.h"
#include "base/fail.h"

#include <string.h>

/* Is the value read by a later op of the body under way, or returned? */
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

/* What the operand was, whatever it is called, is not needed any more. Values of other bodies are not
 * looked for. */
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

static bool cache_can_change(const struct import *im, const struct import_value *cache)
{
    if (cache->storage < 0) return false;
    const struct storage *s = &im->storages.at[cache->storage];
    return s->role != LX_WEIGHT && view_is_plain(&cache->view, s->elements);
}

/* What cannot be changed where it is has the new rows in a copy, which is what the operand is called from
 * now on. */
static bool cache_emit_on_copy(struct import *im, const struct model_op *op, struct choosing *c,
                               const int *of_cache)
{
    struct import_value out;
    import_class(im, op, CLASS_MAPPED, NULL);
    return choose_emit(im, op, c, model_type_of(im->m, op->operands[0]), of_cache, false, &out) &&
           import_bind(im, op->operands[0], &out, 1);
}

/* The argument is changed where it is; a result is the same tensor under another name, or a copy with the
 * new rows. */
static bool cache_emit_on_state(struct import *im, const struct model_op *op, struct choosing *c,
                                const int *of_cache)
{
    struct import_value cache = *import_in(im, op, 0);
    bool names = op->result_count == 1,
         changes = cache_can_change(im, &cache) && choose_in_one_piece(im, c, 0);
    if (names && !(changes && cache_dies_here(im, op, cache.storage)))
        return choose_finish(im, op, c, import_type_out(im, op), of_cache);
    if (c->full || op->result_count > 1) return import_generic(im, op, "form");
    if (im->owner && im->owner->unmapped) return import_generic(im, op, "letters");
    if (!changes) return cache_emit_on_copy(im, op, c, of_cache);
    if (im->storages.at[cache.storage].role == LX_INPUT) im->storages.at[cache.storage].role = LX_STATE;
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_keep_old(im, cache.storage, op->operands[0], op) &&
           choose_emit(im, op, c, NULL, NULL, true, NULL) && (!names || import_bind_one(im, op, &cache));
}

/* cache[o + b, h, index, :] = input[0, h, b, :]; the index is one, or one a batch. */
bool map_update_cache(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value cache = *import_in(im, op, 0), x = *import_in(im, op, 1), at = *import_in(im, op, 2);
    const int64_t *n = cache.type->extent, *m = x.type->extent;
    int64_t first = model_attr_int(&op->attrs, "batch_offset", 0);
    struct choosing c = {.kind = ours};
    int of_cache[4], of_x[4], of_at[1];
    if (cache.type->count != 4 || x.type->count != 4 || at.type->count > 1 || m[0] != 1 || m[1] != n[1] ||
        m[3] != n[3] || n[2] < 2 || first < 0 || first > n[0] - m[2] ||
        (at.type->elements != 1 && at.type->elements != m[2]))
        return import_generic(im, op, "form");
    if (m[2] != n[0]) return import_generic(im, op, "form");
    for (int d = 0; d < 4; d++) of_cache[d] = choose_dim(&c, n[d]);
    of_x[0] = -1, of_x[1] = of_cache[1], of_x[2] = of_cache[0], of_x[3] = of_cache[3];
    of_at[0] = at.type->elements == 1 ? -1 : of_cache[0];
    choose_operand(&c, &cache, of_cache);
    choose_operand(&c, &x, of_x);
    choose_operand(&c, &at, of_at);
    choose_along(&c, of_cache[2]);
    return cache_emit_on_state(im, op, &c, of_cache);
}

/* Is it the slice of one batch of `*whole`, all of its other dimensions? */
static bool cache_slices_batch(const struct import *im, const struct model_op *op, int64_t batch,
                               int32_t *whole)
{
    int begins, ends, steps;
    if (strcmp(op->kind, "slice_static") != 0 || op->operand_count != 1 || op->result_count != 1)
        return false;
    const int64_t *begin = model_attr_ints(&op->attrs, "begins", &begins);
    const int64_t *end = model_attr_ints(&op->attrs, "ends", &ends);
    const int64_t *step = model_attr_ints(&op->attrs, "step", &steps);
    const struct model_type *x = model_type_of(im->m, op->operands[0]);
    if (begins != x->count || ends != x->count || steps != x->count || x->count != 4) return false;
    bool all = begin[0] == batch && end[0] == batch + 1;
    for (int d = 0; d < 4; d++)
        all = all && step[d] == 1 && (d == 0 || (begin[d] == 0 && end[d] == x->extent[d]));
    all = all && (*whole < 0 || *whole == op->operands[0]);
    *whole = op->operands[0];
    return all;
}

/* Fills of all batches, one behind the other, each from a slice of one value: that value, or -1. */
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

/* cache[o, h, 0.., :] = input[0, h, .., :]; all batches at once where they come one behind the other. */
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
    if (cache.type->count != 4 || x.type->count != 4) return import_generic(im, op, "form");
    const int64_t *n = cache.type->extent, *m = x.type->extent;
    if (m[0] != 1 || m[1] != n[1] || m[3] != n[3] || m[2] > n[2] || batch < 0 || batch >= n[0])
        return import_generic(im, op, "form");
    int32_t all = batch == 0 && n[0] > 1 ? cache_filled_from(im, op, n[0]) : -1;
    if (all >= 0) x = *import_leaf(im, all, 0);
    for (int d = 0; d < 4; d++) of_cache[d] = of_x[d] = choose_dim(&c, n[d]);
    if (all < 0) of_x[0] = -1;
    if (all < 0 && n[0] > 1) c.start[c.chosen_count] = batch, choose_along(&c, of_cache[0]);
    if (m[2] < n[2]) {
        of_x[2] = m[2] > 1 ? choose_dim(&c, m[2]) : -1;
        if (of_x[2] >= 0) c.whole[c.whole_count++] = of_x[2];
        choose_along(&c, of_cache[2]);
    }
    if (c.chosen_count == 0) return import_generic(im, op, "form");
    choose_operand(&c, &cache, of_cache);
    choose_operand(&c, &x, of_x);
    return cache_emit_on_state(im, op, &c, of_cache);
}

/* ---- pages ---- */
