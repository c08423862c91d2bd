/* Rules of result types: reads and writes at places that operands say. */
#include "import/types/rulings.h"
#include "base/checked.h"

#include <string.h>

static bool listed(const int64_t *list, int count, int64_t n)
{
    bool there = false;
    for (int i = 0; i < count; i++) there |= list[i] == n;
    return there;
}

/* Sizes of the box that each index picks: within the operand, and those that stay in the result. */
static bool picked_box(struct ruling *r, int64_t *left, int *left_count)
{
    int sizes, collapsed, batching;
    const int64_t *size = rule_ints(r, "slice_sizes", &sizes),
                  *gone = rule_ints(r, "collapsed_slice_dims", &collapsed),
                  *batch = rule_ints(r, "operand_batching_dims", &batching);
    *left_count = 0;
    if (sizes != r->in[0]->count)
        return rule_schema(r, "it needs slice_sizes, one for each dimension of the operand");
    for (int d = 0; d < sizes; d++) {
        if (size[d] < 0 || size[d] > r->in[0]->extent[d])
            return rule_wrong(r, "its slice_sizes are beyond the operand");
        if (!listed(gone, collapsed, d) && !listed(batch, batching, d)) left[(*left_count)++] = size[d];
    }
    return true;
}

/* Dimensions of the index but the one that is a vector of coordinates, with those of the box in between. */
bool rule_gather(struct ruling *r)
{
    const struct model_type *index = r->in[1];
    int64_t left[RULE_RANK], vector = model_attr_int(&r->op->attrs, "index_vector_dim", index->count);
    int offsets, left_count, next = 0, from = 0;
    const int64_t *at = rule_ints(r, "offset_dims", &offsets);
    if (vector < 0 || vector > index->count)
        return rule_wrong(r, "its index_vector_dim is outside of the index");
    if (!picked_box(r, left, &left_count)) return false;
    if (offsets != left_count)
        return rule_schema(r, "as many offset_dims as dimensions of the box that stay");
    int rank = offsets + index->count - (vector < index->count);
    for (int d = 0; d < rank && d < RULE_RANK; d++) {
        if (from == vector) from++;
        bool offset = listed(at, offsets, d);
        if (offset ? next >= left_count : from >= index->count)
            return rule_wrong(r, "its offset_dims are none");
        rule_want(r, offset ? left[next++] : index->extent[from++]);
    }
    return rule_as_wanted(r);
}

/* The index with a row of the table behind it; tables of more dimensions have leading ones of 1. */
bool rule_embedding(struct ruling *r)
{
    const struct model_type *table = r->in[1];
    if (table->count < 2) return false;
    rule_like(r, r->in[0]);
    rule_want(r, table->extent[table->count - 1]);
    if (r->y->count == r->rank) return rule_as_wanted(r);
    int64_t all;
    return mul_i64(r->in[0]->elements, table->extent[table->count - 1], &all) && r->y->elements == all;
}

bool rule_dynamic_slice(struct ruling *r)
{
    int count, operands = r->op->operand_count;
    const int64_t *size = rule_ints(r, "dynamic_slice_sizes", &count);
    if (count != r->in[0]->count)
        return rule_schema(r, "it needs dynamic_slice_sizes, one for each dimension");
    if (operands != 1 + count && operands != 2) return rule_schema(r, "it needs a start for each dimension");
    for (int d = 0; d < count; d++) {
        if (size[d] < 0 || size[d] > r->in[0]->extent[d])
            return rule_wrong(r, "its dynamic_slice_sizes are beyond the operand");
        rule_want(r, size[d]);
    }
    return rule_as_wanted(r);
}

bool rule_dynamic_update(struct ruling *r)
{
    const struct model_type *x = r->in[0], *update = r->in[1];
    int operands = r->op->operand_count;
    if (operands != 2 + x->count && operands != 3)
        return rule_schema(r, "it needs a start for each dimension");
    if (x->count != update->count) return false;
    for (int d = 0; d < x->count; d++)
        if (update->extent[d] > x->extent[d]) return false;
    return rule_same_shape(r);
}

/* B, H, S, D of the cache; rows for `many` of B, from the offset on. */
static bool into_cache(struct ruling *r, int64_t many, int64_t length)
{
    const struct model_type *cache = r->in[0], *x = r->in[1];
    int64_t offset = model_attr_int(&r->op->attrs, "batch_offset", 0);
    rule_like(r, cache);
    if (offset < 0 || offset > cache->extent[0])
        return rule_wrong(r, "its batch_offset is outside of the cache");
    return x->extent[3] == cache->extent[3] && x->extent[1] == cache->extent[1] &&
           offset + many <= cache->extent[0] && length <= cache->extent[2];
}

bool rule_fill_cache(struct ruling *r)
{
    if (r->in[0]->count != 4 || r->in[1]->count != 4) return true;
    return into_cache(r, r->in[1]->extent[0], r->in[1]->extent[2]);
}

/* The input has one position for each of B, which stands third. */
bool rule_update_cache(struct ruling *r)
{
    if (r->in[0]->count != 4 || r->in[1]->count != 4) return true;
    bool turned = r->in[1]->extent[0] == 1;
    return into_cache(r, turned ? r->in[1]->extent[2] : r->in[1]->extent[0], 1);
}
