/* Rules of result types: reads and writes at places that operands say. */
#include "base/checked.h"
#include "import/types/typing.h"

#include <string.h>

static bool type_listed(const int64_t *list, int count, int64_t n)
{
    bool there = false;
    for (int i = 0; i < count; i++) there |= list[i] == n;
    return there;
}

/* Gather of ONNX. */
enum typed type_of_gather_rows(struct typing *t)
{
    const struct model_type *x = t->in[0], *index = t->in[1];
    int axis = typing_dim(typing_int(t, "axis", 0), x->count);
    if (axis < 0) return typing_wrong(t, "there is no such axis");
    if (x->count + index->count - 1 > MODEL_MAX_RANK) return typing_wrong(t, "too many dimensions");
    for (int d = 0; d < axis; d++) typing_want(t, x->extent[d]);
    for (int d = 0; d < index->count; d++) typing_want(t, index->extent[d]);
    for (int d = axis + 1; d < x->count; d++) typing_want(t, x->extent[d]);
    return TYPED;
}

/* Sizes of the box that each index picks: within the operand; those that stay in the result. */
static enum typed type_picked_box(struct typing *t, int64_t *left, int *left_count)
{
    const struct model_attrs *a = &t->op->attrs;
    int sizes, collapsed, batching;
    const int64_t *size = model_attr_ints(a, "slice_sizes", &sizes),
                  *gone = model_attr_ints(a, "collapsed_slice_dims", &collapsed),
                  *batch = model_attr_ints(a, "operand_batching_dims", &batching);
    *left_count = 0;
    if (sizes != t->in[0]->count)
        return typing_schema(t, "it needs slice_sizes, one for each dimension of the operand");
    for (int d = 0; d < sizes; d++) {
        if (size[d] < 0 || size[d] > t->in[0]->extent[d])
            return typing_wrong(t, "its slice_sizes are beyond the operand");
        if (!type_listed(gone, collapsed, d) && !type_listed(batch, batching, d))
            left[(*left_count)++] = size[d];
    }
    return TYPED;
}

/* Dimensions of the index but the one that is a vector of coordinates, with those of the box in between. */
enum typed type_of_gather(struct typing *t)
{
    const struct model_type *index = t->in[1];
    int64_t left[MODEL_MAX_RANK], vector = typing_int(t, "index_vector_dim", index->count);
    int offsets, left_count, next = 0, from = 0;
    const int64_t *at = model_attr_ints(&t->op->attrs, "offset_dims", &offsets);
    if (vector < 0 || vector > index->count)
        return typing_wrong(t, "its index_vector_dim is outside of the index");
    if (type_picked_box(t, left, &left_count) == TYPE_WRONG) return TYPE_WRONG;
    if (offsets != left_count)
        return typing_schema(t, "as many offset_dims as dimensions of the box that stay");
    int rank = offsets + index->count - (vector < index->count);
    for (int d = 0; d < rank && d < MODEL_MAX_RANK; d++) {
        if (from == vector) from++;
        bool offset = type_listed(at, offsets, d);
        if (offset ? next >= left_count : from >= index->count)
            return typing_wrong(t, "its offset_dims are none");
        typing_want(t, offset ? left[next++] : index->extent[from++]);
    }
    return TYPED;
}

/* The index with a row of the table behind it; tables of more dimensions have leading ones of 1. */
enum typed type_of_embedding(struct typing *t)
{
    const struct model_type *table = t->in[1];
    int64_t all;
    if (table->count < 2) return TYPE_WRONG;
    typing_like(t, t->in[0]);
    typing_want(t, table->extent[table->count - 1]);
    if (t->stated->count == t->rank) return TYPED;
    return mul_i64(t->in[0]->elements, table->extent[table->count - 1], &all) && t->stated->elements == all
               ? TYPE_OPEN
               : TYPE_WRONG;
}

enum typed type_of_dynamic_slice(struct typing *t)
{
    int count, operands = t->op->operand_count;
    const int64_t *size = model_attr_ints(&t->op->attrs, "dynamic_slice_sizes", &count);
    if (count != t->in[0]->count)
        return typing_schema(t, "it needs dynamic_slice_sizes, one for each dimension");
    if (operands != 1 + count && operands != 2)
        return typing_schema(t, "it needs a start for each dimension");
    for (int d = 0; d < count; d++) {
        if (size[d] < 0 || size[d] > t->in[0]->extent[d])
            return typing_wrong(t, "its dynamic_slice_sizes are beyond the operand");
        typing_want(t, size[d]);
    }
    return TYPED;
}

enum typed type_of_dynamic_update(struct typing *t)
{
    const struct model_type *x = t->in[0], *update = t->in[1];
    int operands = t->op->operand_count;
    if (operands != 2 + x->count && operands != 3)
        return typing_schema(t, "it needs a start for each dimension");
    if (x->count != update->count) return TYPE_WRONG;
    for (int d = 0; d < x->count; d++)
        if (update->extent[d] > x->extent[d]) return TYPE_WRONG;
    return typing_like(t, x);
}

/* B, H, S, D of the cache. fill_cache has rows of S from the first on; update_cache one position for each of
 * B, which may stand third. */
enum typed type_of_cache(struct typing *t)
{
    const struct model_type *cache = t->in[0], *x = t->in[1];
    bool fills = strcmp(t->op->kind, "fill_cache") == 0;
    int64_t offset = typing_int(t, "batch_offset", 0);
    if (cache->count != 4 || x->count != 4) return TYPE_OPEN;
    int64_t many = x->extent[!fills && x->extent[0] == 1 ? 2 : 0];
    typing_like(t, cache);
    if (offset < 0 || offset > cache->extent[0])
        return typing_wrong(t, "its batch_offset is outside of the cache");
    bool fits = x->extent[3] == cache->extent[3] && x->extent[1] == cache->extent[1] &&
                offset + many <= cache->extent[0] && (fills ? x->extent[2] : 1) <= cache->extent[2];
    return fits ? TYPE_OPEN : TYPE_WRONG;
}

/* q [B,S,Hq D] (packed: all of q, k, v), caches [B,Hk,P,D] that become [B,Hk,total,D]. */
enum typed type_of_group_query(struct typing *t)
{
    const struct model_type *q = t->in[0], *past = t->in[3];
    const struct model_data *total = typing_data(t, 6);
    int64_t heads = typing_int(t, "num_heads", 0), kv = typing_int(t, "kv_num_heads", 0);
    if (heads < 1 || kv < 1 || q->count != 3) return TYPE_OPEN;
    int64_t width = t->in[1] ? q->extent[2] : q->extent[2] / (heads + 2 * kv) * heads;
    if (past && past->count != 4) return typing_wrong(t, "a cache must have four dimensions");
    int64_t before = past ? past->extent[2] : 0, length = before + q->extent[1];
    if (total) length = model_data_int(total, 0) > before ? model_data_int(total, 0) : before;
    int64_t cache[] = {q->extent[0], kv, length, width / heads};
    for (int r = 1; r < 3; r++) {
        int32_t result = r < t->op->result_count ? t->op->results[r] : -1;
        const struct model_type *declared = result < 0 ? NULL : t->m->values.at[result].declared;
        if (declared && declared->count == 4 && declared->extent[2] >= 0) cache[2] = declared->extent[2];
        typing_result(t, r, past ? past->element : q->element, 4, cache);
    }
    typing_want(t, q->extent[0]);
    typing_want(t, q->extent[1]);
    typing_want(t, width);
    return TYPED;
}

/* X [T,B,I], R [dirs,4 H,H]: Y [T,dirs,B,H], then the last states [dirs,B,H]; with a layout batches come
 * first. */
enum typed type_of_lstm(struct typing *t)
{
    const struct model_type *x = t->in[0], *r = t->in[2];
    if (x->count != 3 || r->count != 3) return typing_wrong(t, "X and R must have three dimensions");
    bool batch_first = typing_int(t, "layout", 0) != 0;
    int64_t steps = x->extent[batch_first], batch = x->extent[!batch_first], dirs = r->extent[0],
            h = r->extent[2];
    int64_t last[] = {batch_first ? batch : dirs, batch_first ? dirs : batch, h};
    for (int i = 1; i < 3; i++) typing_result(t, i, x->element, 3, last);
    typing_want(t, batch_first ? batch : steps);
    typing_want(t, batch_first ? steps : dirs);
    typing_want(t, batch_first ? dirs : batch);
    typing_want(t, h);
    return TYPED;
}
