/* Ops of the table that choose by indices: rows of tables, slices with starts of the run. */
#include "import/map/import_steps.h"
#include "import/map/import_choose.h"

#include <string.h>

static bool index_known_whole(const struct import_value *v, int64_t *number)
{
    double n;
    if (!import_splat(v, &n) || n < -9e15 || n > 9e15) return false;
    *number = (int64_t)n;
    return true;
}

/* ---- rows of a table ---- */

/* y[a.., i.., b..] = table[a.., index[i..], b..]. */
static bool index_gather_axis(struct import *im, const struct model_op *op, const struct import_value *table,
                              const struct import_value *index, int64_t axis)
{
    struct choosing c = {.kind = "gather"};
    const struct model_type *y = import_type_out(im, op);
    int of_table[VIEW_MAX_RANK], of_index[VIEW_MAX_RANK], dims[2 * VIEW_MAX_RANK], n = 0;
    int64_t number, rank = table->type->count;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || rank + index->type->count > VIEW_MAX_RANK ||
        y->count != rank + index->type->count - 1 || table->type->extent[axis] < 2)
        return import_generic(im, op, "form");
    for (int d = 0; d < rank; d++) of_table[d] = choose_dim(&c, table->type->extent[d]);
    for (int d = 0; d < index->type->count; d++) of_index[d] = choose_dim(&c, index->type->extent[d]);
    for (int d = 0; d < axis; d++) dims[n++] = of_table[d];
    for (int d = 0; d < index->type->count; d++) dims[n++] = of_index[d];
    for (int64_t d = axis + 1; d < rank; d++) dims[n++] = of_table[d];
    choose_operand(&c, table, of_table);
    choose_along(&c, of_table[axis]);
    if (index->type->elements == 1 && index_known_whole(index, &number)) { /* one row, known before */
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
    return index_gather_axis(im, op, &table, &index, table.type->count - 2);
}

bool map_gather_rows(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value table = *import_in(im, op, 0), index = *import_in(im, op, 1);
    int64_t axis = model_attr_int(&op->attrs, "axis", 0), number;
    (void)ours;
    if (axis < 0) axis += table.type->count;
    if (axis < 0 || axis >= table.type->count) return import_generic(im, op, "schema");
    if (!index_known_whole(&index, &number) && table.type->extent[axis] > 1 &&
        !choose_from_end(im, op, &index, &table.type->extent[axis], 1))
        return false;
    return index_gather_axis(im, op, &table, &index, axis);
}

/* ---- parts that begin where the run says ---- */

/* Dimensions that a part has less of than the whole are chosen along; how many of their starts only the
 * run knows. If any does, the others are constants beside them. */
static int index_starts_of(struct import *im, const struct model_op *op, int first,
                           const struct model_type *whole, const struct model_type *part, struct choosing *c,
                           const int *of_whole, int *of_part)
{
    int run = 0;
    int64_t number;
    for (int pass = 0; pass < 2; pass++) /* those of one element come first */
        for (int d = 0; d < whole->count; d++) {
            bool one = part->extent[d] == 1;
            if (part->extent[d] == whole->extent[d]) of_part[d] = of_whole[d];
            if (part->extent[d] == whole->extent[d] || one != (pass == 0)) continue;
            of_part[d] = one ? -1 : choose_dim(c, part->extent[d]);
            if (!one && of_part[d] >= 0) c->whole[c->whole_count++] = of_part[d];
            choose_along(c, of_whole[d]);
            if (c->full) return -1;
            if (index_known_whole(import_in(im, op, first + d), &number))
                c->start[c->chosen_count - 1] = number;
            else
                run++;
        }
    c->starts = run == 0;
    return run;
}

static void index_add_starts(struct import *im, const struct model_op *op, int first, struct choosing *c,
                             const int *of_whole, int rank)
{
    for (int i = 0; i < c->chosen_count; i++)
        for (int d = 0; d < rank; d++)
            if (of_whole[d] == c->chosen[i]) choose_operand(c, import_in(im, op, first + d), of_whole);
}

static bool index_has_scalars(const struct import *im, const struct model_op *op, int first, int rank)
{
    if (op->operand_count != first + rank || rank > LX_MAX_RANK) return false;
    for (int i = first; i < op->operand_count; i++)
        if (model_type_of(im->m, op->operands[i])->count != 0) return false;
    return true;
}

/* All starts are known, as in a loop that is unrolled: clamped, so that the part is within the whole. */
static bool index_known_box(struct import *im, const struct model_op *op, const struct model_type *x,
                            const struct model_type *y, int64_t *begin)
{
    for (int d = 0; d < x->count; d++) {
        int64_t most = x->extent[d] - y->extent[d];
        begin[d] = 0;
        if (most != 0 && !index_known_whole(import_in(im, op, 1 + d), &begin[d])) return false;
        begin[d] = begin[d] < 0 ? 0 : begin[d] > most ? most : begin[d];
    }
    return true;
}

bool map_dynamic_slice(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value x = *import_in(im, op, 0);
    const struct model_type *y = import_type_out(im, op);
    struct choosing c = {.kind = ours};
    int of_x[VIEW_MAX_RANK], of_y[VIEW_MAX_RANK], rank = x.type->count;
    int64_t begin[VIEW_MAX_RANK];
    if (y->count != rank || !index_has_scalars(im, op, 1, rank)) return import_generic(im, op, "form");
    if (index_known_box(im, op, x.type, y, begin)) return box_take(im, op, begin);
    for (int d = 0; d < rank; d++) of_x[d] = choose_dim(&c, x.type->extent[d]);
    int run = index_starts_of(im, op, 1, x.type, y, &c, of_x, of_y);
    if (run < 0) return import_generic(im, op, "starts");
    choose_operand(&c, &x, of_x);
    if (run > 0) index_add_starts(im, op, 1, &c, of_x, rank);
    return choose_finish(im, op, &c, y, of_y);
}

/* A copy of the first operand with the second in it. */
bool map_dynamic_insert(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value x = *import_in(im, op, 0), part = *import_in(im, op, 1);
    struct choosing c = {.kind = ours};
    int of_x[VIEW_MAX_RANK], of_part[VIEW_MAX_RANK], rank = x.type->count;
    if (part.type->count != rank || !index_has_scalars(im, op, 2, rank))
        return import_generic(im, op, "form");
    for (int d = 0; d < rank; d++) of_x[d] = choose_dim(&c, x.type->extent[d]);
    int run = index_starts_of(im, op, 2, x.type, part.type, &c, of_x, of_part);
    if (run < 0) return import_generic(im, op, "starts");
    if (c.chosen_count == 0) { /* nothing is left of it */
        import_class(im, op, CLASS_FREE, NULL);
        return import_bind_one(im, op, &part);
    }
    choose_operand(&c, &x, of_x);
    choose_operand(&c, &part, of_part);
    if (run > 0) index_add_starts(im, op, 2, &c, of_x, rank);
    return choose_finish(im, op, &c, import_type_out(im, op), of_x);
}
