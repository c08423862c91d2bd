/* Ops of the table that write caches: an argument is changed where it is, and what is read from then on has the new rows.
 *
 * A cache is [B,H,S,D]. Ops without a result write their first operand; those with one give the cache as it is then, and
 * change it where it is only if nothing later reads what it was. */
#include "graph/import/import_choose.h"
#include "graph/op_params.h"
#include "base/fail.h"

#include <string.h>

/* Is the value read by a later op of the body under way, or returned? */
static bool read_later(const struct import *im, const struct model_op *op, int32_t value)
{
    const struct model_body *b = &im->m->bodies.at[im->body];
    for (const struct model_op *o = op + 1; o < b->ops + b->op_count; o++)
        for (int i = 0; i < o->operand_count; i++)
            if (o->operands[i] == value) return true;
    for (int i = 0; i < b->result_count; i++)
        if (b->results[i] == value) return true;
    return false;
}

/* What the operand was, whatever it is called, is not needed any more. Values of other bodies are not looked for. */
static bool dies_here(struct import *im, const struct model_op *op, int32_t storage)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    if (im->body != im->m->entry || read_later(im, op, op->operands[0])) return false;
    for (int i = 0; i < b->argument_count; i++)
        if (model_type_of(im->m, b->arguments[i])->leaves == 1 &&
            import_leaf(im, b->arguments[i], 0)->storage == storage && read_later(im, op, b->arguments[i]))
            return false;
    return true;
}

static bool can_change(const struct import *im, const struct import_value *cache)
{
    if (cache->storage < 0) return false;
    const struct storage *s = &im->storages.at[cache->storage];
    return s->role != LX_WEIGHT && view_is_plain(&cache->view, s->elements);
}

/* What cannot be changed where it is has the new rows in a copy, which is what the operand is called from now on. */
static bool emit_on_copy(struct import *im, const struct model_op *op, struct choosing *c,
                         const int *of_cache)
{
    struct import_value out;
    import_class(im, op, CLASS_MAPPED, NULL);
    return choose_emit(im, op, c, model_type_of(im->m, op->operands[0]), of_cache, false, &out) &&
           import_bind(im, op->operands[0], &out, 1);
}

/* The argument is changed where it is; a result is the same tensor under another name, or a copy with the new rows. */
static bool emit_on_state(struct import *im, const struct model_op *op, struct choosing *c,
                          const int *of_cache)
{
    struct import_value cache = *import_in(im, op, 0);
    bool names = op->result_count == 1, changes = can_change(im, &cache) && choose_in_one_piece(im, c, 0);
    if (names && !(changes && dies_here(im, op, cache.storage)))
        return choose_finish(im, op, c, import_type_out(im, op), of_cache);
    if (c->full || op->result_count > 1) return import_generic(im, op, "form");
    if (im->owner && im->owner->unmapped) return import_generic(im, op, "letters");
    if (!changes) return emit_on_copy(im, op, c, of_cache);
    if (im->storages.at[cache.storage].role == LX_INPUT) im->storages.at[cache.storage].role = LX_STATE;
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_keep_old(im, cache.storage, op->operands[0], op) &&
           choose_emit(im, op, c, NULL, NULL, true, NULL) && (!names || import_bind_one(im, op, &cache));
}

/* 0, 1, .. from `first` on, beside the positions, one or one a row: [rows, 2]. */
static bool row_and_position(struct import *im, const struct model_op *op, int64_t first, int64_t rows,
                             struct import_value at, struct import_value *out)
{
    const int64_t column[] = {rows, 1}, both[] = {rows, 2};
    const struct model_type *one = import_type(im, at.type->element, 2, column),
                            *type = import_type(im, at.type->element, 2, both);
    struct lx_op_params p = op_params_none();
    struct import_value part[2] = {{.type = one}, at};
    struct view view;
    p.start = (double)first;
    if (!one || !type || !import_stored(im, &at)) return false;
    part[0].storage = import_storage(im, "rows", one->element, rows, op);
    if (part[0].storage < 0 || !import_made(im, "iota", op, -1, part[0].storage, &p, NULL)) return false;
    bool ok = view_plain(&part[0].view, 2, column);
    ok = ok && (at.type->elements == 1 ? view_broadcast(&at.view, (int[]){0}, 2, column, &view)
                                       : view_reshape(&at.view, 2, column, &view));
    if (!ok) return status_set(im->st, LX_E_LIMIT, "too many dimensions");
    part[1] = (struct import_value){.storage = at.storage, .view = view, .type = one, .via = at.via};
    return import_join(im, op, part, 2, 1, type, out);
}

/* Some of the rows, each at a position of its own. */
static bool update_rows(struct import *im, const struct model_op *op, const struct import_value *cache,
                        const struct import_value *x, struct import_value at, int64_t first)
{
    struct choosing c = {.kind = "scatter", .combine = LX_COMBINE_REPLACE};
    int of_cache[4], of_x[4], of_index[2];
    int64_t rows = x->type->extent[2];
    struct import_value index;
    if (!row_and_position(im, op, first, rows, at, &index)) return false;
    for (int d = 0; d < 4; d++) of_cache[d] = choose_dim(&c, cache->type->extent[d]);
    of_index[0] = choose_dim(&c, rows);
    of_index[1] = choose_dim(&c, 2);
    c.whole[c.whole_count++] = of_index[1];
    of_x[0] = -1, of_x[1] = of_cache[1], of_x[2] = of_index[0], of_x[3] = of_cache[3];
    choose_operand(&c, cache, of_cache);
    choose_operand(&c, &index, of_index);
    choose_operand(&c, x, of_x);
    choose_along(&c, of_cache[0]);
    choose_along(&c, of_cache[2]);
    return emit_on_state(im, op, &c, of_cache);
}

/* Rows from `first` on, all at one position. */
static bool update_block(struct import *im, const struct model_op *op, const struct import_value *cache,
                         const struct import_value *x, const struct import_value *at, int64_t first)
{
    struct choosing c = {.kind = "dynamic_insert"};
    int of_cache[4], of_x[4] = {-1, -1, -1, -1}, none[1] = {-1};
    struct import_value row;
    if (!import_whole(im, import_type(im, at->type->element, 0, NULL), first, &row)) return false;
    for (int d = 0; d < 4; d++) of_cache[d] = choose_dim(&c, cache->type->extent[d]);
    of_x[1] = of_cache[1], of_x[3] = of_cache[3];
    if (x->type->extent[2] > 1) {
        of_x[2] = choose_dim(&c, x->type->extent[2]);
        c.whole[c.whole_count++] = of_x[2];
    }
    choose_operand(&c, cache, of_cache);
    choose_operand(&c, x, of_x);
    choose_operand(&c, at, none);
    choose_operand(&c, &row, none);
    choose_along(&c, of_cache[2]);
    choose_along(&c, of_cache[0]); /* what has several rows comes last */
    return emit_on_state(im, op, &c, of_cache);
}

/* cache[o + b, h, index, :] = input[0, h, b, :]; the index is one, or one a batch. */
static bool update_cache(struct import *im, const struct model_op *op, const char *ours)
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
    if (m[2] != n[0])
        return at.type->elements == 1 ? update_block(im, op, &cache, &x, &at, first)
                                      : update_rows(im, op, &cache, &x, at, first);
    for (int d = 0; d < 4; d++) of_cache[d] = choose_dim(&c, n[d]);
    of_x[0] = -1, of_x[1] = of_cache[1], of_x[2] = of_cache[0], of_x[3] = of_cache[3];
    of_at[0] = at.type->elements == 1 ? -1 : of_cache[0];
    choose_operand(&c, &cache, of_cache);
    choose_operand(&c, &x, of_x);
    choose_operand(&c, &at, of_at);
    choose_along(&c, of_cache[2]);
    return emit_on_state(im, op, &c, of_cache);
}

/* Is it the slice of one batch of `*whole`, all of its other dimensions? */
static bool slices_batch(const struct import *im, const struct model_op *op, int64_t batch, int32_t *whole)
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
static int32_t filled_from(struct import *im, const struct model_op *op, int64_t batches)
{
    const struct model_body *b = &im->m->bodies.at[im->body];
    int64_t at = op - b->ops;
    int32_t whole = -1;
    if (at < 1 || at + 2 * (batches - 1) >= b->op_count) return -1;
    for (int64_t k = 0; k < batches; k++) {
        const struct model_op *fill = &b->ops[at + 2 * k];
        if (strcmp(fill->kind, "fill_cache") != 0 || fill->operand_count != 2 ||
            fill->operands[0] != op->operands[0] || fill->result_count != 0 ||
            model_attr_int(&fill->attrs, "batch_offset", 0) != k || !slices_batch(im, fill - 1, k, &whole) ||
            fill[-1].results[0] != fill->operands[1])
            return -1;
    }
    for (int64_t k = 1; k < batches; k++) import_class_of(im, &b->ops[at + 2 * k])->merged = true;
    return whole;
}

/* cache[o, h, 0.., :] = input[0, h, .., :]; all batches at once where they come one behind the other. */
static bool fill_cache(struct import *im, const struct model_op *op, const char *ours)
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
    int32_t all = batch == 0 && n[0] > 1 ? filled_from(im, op, n[0]) : -1;
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
    return emit_on_state(im, op, &c, of_cache);
}

/* ---- pages ---- */

static bool reshaped(struct import *im, struct import_value *v, int rank, const int64_t *extent)
{
    struct view view;
    if (!import_stored(im, v)) return false;
    if (!view_reshape(&v->view, rank, extent, &view))
        return status_set(im->st, LX_E_LIMIT, "too many dimensions");
    v->view = view;
    v->type = import_type(im, v->type->element, rank, extent);
    return v->type != NULL;
}

static bool first_of(struct import *im, const struct model_op *op, struct import_value *v, int dim, int64_t n)
{
    int64_t extent[4];
    struct view view;
    if (v->type->extent[dim] == n) return true;
    if (!import_plain(im, v, op)) return false;
    memcpy(extent, v->type->extent, (size_t)v->type->count * sizeof *extent);
    extent[dim] = n;
    if (!view_slice(&v->view, dim, 0, 1, n, &view))
        return status_set(im->st, LX_E_LIMIT, "too many dimensions");
    v->view = view;
    v->type = import_type(im, v->type->element, v->type->count, extent);
    return v->type && import_plain(im, v, op);
}

/* Entry `row` of each user's list of pages: table[u, row[u]]. */
static bool page_of(struct import *im, const struct model_op *op, struct import_value table,
                    const struct import_value *row, struct import_value *out)
{
    struct choosing c = {.kind = "gather"};
    const int64_t users = table.type->extent[0];
    const struct model_type *type = import_type(im, table.type->element, 1, &users);
    *out = table;
    if (table.type->extent[1] == 1 || !type) return type && reshaped(im, out, 1, &users);
    int of_table[] = {choose_dim(&c, users), choose_dim(&c, table.type->extent[1])};
    choose_operand(&c, &table, of_table);
    choose_operand(&c, row, of_table);
    choose_along(&c, of_table[1]);
    return choose_emit(im, op, &c, type, of_table, false, out);
}

/* The first `n` of the first row of the table, or of the one that operand 3 names. */
static bool pages_of(struct import *im, const struct model_op *op, struct import_value table, int64_t n,
                     struct import_value *out)
{
    struct choosing c = {.kind = "gather"};
    const int none[1] = {-1};
    const int64_t all = table.type->extent[1];
    const struct model_type *type = import_type(im, table.type->element, 1, &all);
    *out = table;
    if (!type) return false;
    if (table.type->extent[0] > 1 && import_has(op, 3)) {
        int of_table[] = {choose_dim(&c, table.type->extent[0]), choose_dim(&c, all)};
        choose_operand(&c, &table, of_table);
        choose_operand(&c, import_in(im, op, 3), none);
        choose_along(&c, of_table[0]);
        if (!choose_emit(im, op, &c, type, of_table + 1, false, out)) return false;
    } else if (!first_of(im, op, out, 0, 1) || !reshaped(im, out, 1, &all))
        return false;
    return first_of(im, op, out, 0, n);
}

/* Pages and places in them, as pairs: [users, 2]. */
static bool page_and_place(struct import *im, const struct model_op *op, const struct import_value *table,
                           struct import_value at, double size, struct import_value *out)
{
    struct steps s = {im, op, true};
    const int64_t users = at.type->elements, column[] = {users, 1}, both[] = {users, 2};
    enum model_element e = table->type->element;
    struct import_value part[2];
    at = step_cast(&s, at, e);
    struct import_value row = step_point(&s, "div", at, NULL, &size, e);
    part[1] = step_point(&s, "rem", at, NULL, &size, e);
    const struct model_type *type = import_type(im, e, 2, both);
    return s.ok && type && page_of(im, op, *table, &row, &part[0]) && reshaped(im, &part[0], 2, column) &&
           reshaped(im, &part[1], 2, column) && import_join(im, op, part, 2, 1, type, out);
}

/* cache[table[u, at[u] / P], h, at[u] mod P, :] = input[0, u, h, :]; the input may have more heads. */
static bool update_pages(struct import *im, const struct model_op *op, const char *ours)
{
    if (!import_has(op, 3)) return import_generic(im, op, "form");
    struct import_value cache = *import_in(im, op, 0), x = *import_in(im, op, 1), at = *import_in(im, op, 2),
                        table = *import_in(im, op, 3), index;
    struct choosing c = {.kind = ours};
    const int64_t *n = cache.type->extent, *m = x.type->extent, users = at.type->elements;
    int of_cache[4], of_index[2];
    if (cache.type->count != 4 || x.type->count != 4 || at.type->count != 1 || table.type->count != 2 ||
        m[0] != 1 || m[1] != users || m[2] < n[1] || m[3] != n[3] || n[0] < 2 || n[2] < 2 ||
        table.type->extent[0] != users)
        return import_generic(im, op, "form");
    if (!page_and_place(im, op, &table, at, (double)n[2], &index) || !first_of(im, op, &x, 2, n[1]))
        return false;
    for (int d = 0; d < 4; d++) of_cache[d] = choose_dim(&c, n[d]);
    of_index[0] = choose_dim(&c, users);
    of_index[1] = choose_dim(&c, 2);
    c.whole[c.whole_count++] = of_index[1];
    const int of_x[] = {-1, of_index[0], of_cache[1], of_cache[3]};
    choose_operand(&c, &cache, of_cache);
    choose_operand(&c, &index, of_index);
    choose_operand(&c, &x, of_x);
    choose_along(&c, of_cache[0]);
    choose_along(&c, of_cache[2]);
    return emit_on_state(im, op, &c, of_cache);
}

/* cache[table[b, s / P], h, s mod P, :] = input[0, h, s, :], whole pages of it. */
static bool fill_pages(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value cache = *import_in(im, op, 0), x = *import_in(im, op, 1),
                        table = *import_in(im, op, 2), index;
    const int64_t *n = cache.type->extent, *m = x.type->extent;
    struct choosing c = {.kind = ours};
    int of_cache[4];
    if (cache.type->count != 4 || x.type->count != 4 || table.type->count != 2 || m[0] != 1 || m[1] != n[1] ||
        m[3] != n[3] || n[0] < 2 || m[2] % n[2] != 0 || m[2] / n[2] > table.type->extent[1] ||
        (import_has(op, 3) && import_in(im, op, 3)->type->elements != 1))
        return import_generic(im, op, "form");
    const int64_t pages = m[2] / n[2], shape[] = {1, n[1], pages, n[2], n[3]};
    if (!pages_of(im, op, table, pages, &index) || !import_plain(im, &x, op) || !reshaped(im, &x, 5, shape))
        return false;
    for (int d = 0; d < 4; d++) of_cache[d] = choose_dim(&c, n[d]);
    const int of_index[] = {choose_dim(&c, pages)},
              of_x[] = {-1, of_cache[1], of_index[0], of_cache[2], of_cache[3]};
    choose_operand(&c, &cache, of_cache);
    choose_operand(&c, &index, of_index);
    choose_operand(&c, &x, of_x);
    choose_along(&c, of_cache[0]);
    return emit_on_state(im, op, &c, of_cache);
}

/* clang-format off */
const struct op_row import_cache_rows[] = {
    {{"update_cache", NULL, NULL}, "dynamic_insert", update_cache, LOOSE + 3},
    {{"fill_cache", NULL, NULL}, "dynamic_insert", fill_cache, LOOSE + 2},
    {{"paged_update_cache", NULL, NULL}, "scatter", update_pages, LOOSE + 3},
    {{"paged_fill_cache", NULL, NULL}, "scatter", fill_pages, LOOSE + 3},
    {.emit = NULL},
};
/* clang-format on */
