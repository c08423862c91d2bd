/* Rules of result types: element by element, reductions, products, calls, indexed reads and writes. */
#include "import/facts.h"
#include "import/types/typing.h"

enum typed type_of_same(struct typing *t)
{
    return typing_like(t, t->in[0]);
}

/* Right-aligned broadcast. HLO: equal shapes, or a scalar in select and clamp. ONNX below 7: the first
 * operand has the shape. */
enum typed type_of_broadcast(struct typing *t)
{
    bool hlo = t->dialect == MODEL_HLO,
         numbers = strcmp(t->op->kind, "select") == 0 || strcmp(t->op->kind, "clamp") == 0;
    if (t->dialect == MODEL_ONNX && t->opset < 7 && !strchr(t->op->kind, ':'))
        return typing_like(t, t->in[0]);
    for (int i = 0; i < t->op->operand_count; i++) {
        const struct model_type *x = model_type_of(t->m, t->op->operands[i]);
        size_t size = (size_t)x->count * sizeof *x->extent;
        if (hlo && numbers && x->count == 0) continue;
        if (hlo && t->rank == 0 && (i == 0 || numbers))
            typing_like(t, x);
        else if (hlo ? x->count != t->rank || (size && memcmp(x->extent, t->want, size) != 0)
                     : !typing_spread(t, x->count, x->extent))
            return TYPE_WRONG;
    }
    return TYPED;
}

enum typed type_of_cast(struct typing *t)
{
    const char *word = model_attr_word(&t->op->attrs, "to", NULL); /* below 6 */
    if (t->dialect != MODEL_ONNX) return typing_like(t, t->in[0]);
    t->element = t->in[1] ? t->in[1]->element : model_element_of_onnx(typing_int(t, "to", 0));
    if (word && *word) t->element = model_element_find(MODEL_ONNX, word);
    if (t->element == MODEL_ELEMENT_COUNT)
        return typing_wrong(t, "\"to\" is no element type that has a size");
    return typing_like(t, t->in[0]);
}

enum typed type_of_quantize(struct typing *t)
{
    enum model_element stated = model_element_of_onnx(typing_int(t, "output_dtype", 0));
    t->element = t->in[2] ? t->in[2]->element : stated != MODEL_ELEMENT_COUNT ? stated : MODEL_U8;
    return typing_like(t, t->in[0]);
}

enum typed type_of_dropout(struct typing *t)
{
    typing_result(t, 1, MODEL_BOOL, t->in[0]->count, t->in[0]->extent);
    return typing_like(t, t->in[0]);
}

enum typed type_of_along(struct typing *t)
{
    int64_t axis = typing_int(t, "axis", 0);
    int rank = t->in[0]->count;
    if (t->dialect == MODEL_ONNX && rank > 0 && typing_dim(axis, rank) < 0 &&
        !(t->opset < 13 && axis == rank))
        return typing_wrong(t, "there is no such axis");
    return typing_like(t, t->in[0]);
}

/* Mean and inverse deviation, the further results, have extent 1 in averaged dimensions. */
enum typed type_of_layer_norm(struct typing *t)
{
    const struct model_type *x = t->in[0];
    int64_t extent[MODEL_MAX_RANK];
    if (t->dialect != MODEL_ONNX) return typing_like(t, x);
    int axis = typing_dim(typing_int(t, "axis", -1), x->count);
    if (axis < 0) return typing_wrong(t, "there is no such axis");
    bool skip = strncmp(t->op->kind, "com.microsoft:Skip", 18) == 0,
         plain = strcmp(t->op->kind, "LayerNormalization") == 0;
    typing_like(t, x);
    for (int i = 1; i < 3; i++)
        if (plain && t->in[i] && !typing_fits(t, t->in[i]->count, t->in[i]->extent, false)) return TYPE_WRONG;
    for (int d = 0; d < x->count; d++) extent[d] = d >= axis ? 1 : x->extent[d];
    for (int r = 1; r < 3; r++) typing_result(t, r, MODEL_F32, x->count, extent);
    if (skip) typing_result(t, 3, x->element, x->count, x->extent);
    return TYPED;
}

enum typed type_of_batch_norm(struct typing *t)
{
    const struct model_type *x = t->in[0], *scale = t->in[1];
    if (t->dialect != MODEL_ONNX) return typing_like(t, x);
    if (x->count < 1 || (x->count > 1 && scale->elements != x->extent[1])) return TYPE_WRONG;
    for (int r = 1; r < t->op->result_count; r++)
        typing_result(t, r, scale->element, scale->count, scale->extent);
    return typing_like(t, x);
}

/* Reduced dimensions: `dim_arg`, `dimensions`, `axes` (an operand in newer versions), `axis` of ArgMax; none:
 * all. */
enum typed type_of_reduce(struct typing *t)
{
    static const char *const keys[] = {
        [MODEL_TTIR] = "dim_arg", [MODEL_HLO] = "dimensions", [MODEL_ONNX] = "axes"};
    const struct model_type *x = t->in[0];
    bool onnx = t->dialect == MODEL_ONNX, picks = onnx && strncmp(t->op->kind, "Arg", 3) == 0,
         goes[MODEL_MAX_RANK] = {false}, keep = typing_int(t, onnx ? "keepdims" : "keep_dim", onnx) != 0;
    int64_t axes[MODEL_MAX_RANK] = {0};
    int count = 1;
    if (t->dialect == MODEL_HLO && t->op->operand_count != 2) return TYPE_OPEN;
    if (t->dialect == MODEL_HLO && t->in[1]->elements != 1)
        return typing_wrong(t, "its second operand is the number it begins with");
    if (picks) {
        t->element = MODEL_I64;
        axes[0] = typing_int(t, "axis", 0);
    } else if (!typing_ints(t, keys[t->dialect], onnx ? 1 : -1, axes, MODEL_MAX_RANK, &count))
        return TYPE_OPEN;
    bool all = count < 1 && t->dialect != MODEL_HLO && !typing_int(t, "noop_with_empty_axes", 0);
    for (int d = 0; d < x->count; d++) goes[d] = all;
    for (int i = 0; i < count; i++) {
        int d = typing_dim(axes[i], x->count);
        if (d < 0) return typing_wrong(t, "a dimension that goes is none of the operand's");
        goes[d] = true;
    }
    for (int d = 0; d < x->count; d++)
        if (!goes[d] || keep) typing_want(t, goes[d] ? 1 : x->extent[d]);
    return TYPED;
}

/* Batch, free of the left, free of the right; contracted dimensions have equal extents. */
enum typed type_of_dot(struct typing *t)
{
    static const char *const keys[2][4] = {
        {"batch_dims_lhs", "batch_dims_rhs", "contract_dims_lhs", "contract_dims_rhs"},
        {"lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims"}};
    bool used[2][MODEL_MAX_RANK] = {{false}};
    const int64_t *list[4];
    int count[4];
    for (int i = 0; i < 4; i++) {
        list[i] = model_attr_ints(&t->op->attrs, keys[t->dialect == MODEL_HLO][i], &count[i]);
        for (int k = 0; k < count[i]; k++) {
            if (list[i][k] < 0 || list[i][k] >= t->in[i % 2]->count || used[i % 2][list[i][k]])
                return typing_wrong(t, "its batch and contracted dimensions are none, or stand twice");
            used[i % 2][list[i][k]] = true;
        }
    }
    if (count[0] != count[1] || count[2] != count[3])
        return typing_schema(t, "as many dimensions of the left as of the right");
    for (int i = 0; i < 4; i += 2)
        for (int k = 0; k < count[i]; k++) {
            int64_t a = t->in[0]->extent[list[i][k]], b = t->in[1]->extent[list[i + 1][k]];
            if (i == 0) typing_want(t, a);
            if (a != b) return TYPE_WRONG;
        }
    for (int s = 0; s < 2; s++)
        for (int d = 0; d < t->in[s]->count; d++)
            if (!used[s][d]) typing_want(t, t->in[s]->extent[d]);
    return TYPED;
}

/* A vector on the left is a row, on the right a column, which the result lacks. Leading dimensions
 * broadcast. */
enum typed type_of_matmul(struct typing *t)
{
    const struct model_type *a = t->in[0], *b = t->in[1], *c = t->in[2];
    bool onnx = t->dialect == MODEL_ONNX;
    bool turn_a = typing_int(t, onnx ? "transA" : "transpose_a", 0) && a->count > 1,
         turn_b = typing_int(t, onnx ? "transB" : "transpose_b", 0) && b->count > 1;
    if (a->count < 1 || b->count < 1) return typing_wrong(t, "a product of a scalar");
    if (a->extent[a->count - (turn_a ? 2 : 1)] != b->extent[b->count - (turn_b || b->count == 1 ? 1 : 2)])
        return TYPE_WRONG;
    if ((a->count > 2 && !typing_spread(t, a->count - 2, a->extent)) ||
        (b->count > 2 && !typing_spread(t, b->count - 2, b->extent)))
        return typing_wrong(t, "leading dimensions do not broadcast");
    if (a->count > 1) typing_want(t, a->extent[a->count - (turn_a ? 1 : 2)]);
    if (b->count > 1) typing_want(t, b->extent[b->count - (turn_b ? 2 : 1)]);
    if (!onnx || strcmp(t->op->kind, "Gemm") != 0 || t->opset < 7) return TYPED;
    if (a->count != 2 || b->count != 2) return typing_wrong(t, "its operands are no matrices");
    return !c || typing_fits(t, c->count, c->extent, false)
               ? TYPED
               : typing_wrong(t, "the third operand is not broadcast to rows and columns");
}

enum typed type_of_tuple(struct typing *t)
{
    const struct model_type *y = t->stated;
    bool same = y->element == MODEL_TUPLE && y->count == t->op->operand_count;
    for (int i = 0; same && i < y->count; i++)
        same = model_same_types(y->parts[i], model_type_of(t->m, t->op->operands[i]));
    return same ? TYPE_OPEN : TYPE_WRONG;
}

enum typed type_of_tuple_part(struct typing *t)
{
    int64_t index = typing_int(t, "index", -1);
    const struct model_type *whole = t->in[0];
    if (whole->element != MODEL_TUPLE || index < 0 || index >= whole->count)
        return typing_schema(t, "it needs a tuple and an index=N within it");
    const struct model_type *part = whole->parts[index];
    if (part->element == MODEL_TUPLE || t->stated->element == MODEL_TUPLE)
        return model_same_types(part, t->stated) ? TYPE_OPEN : TYPE_WRONG;
    return typing_like(t, part);
}

/* A body takes the operands and returns the results; a loop's body feeds itself. */
enum typed type_of_call(struct typing *t)
{
    const struct model_op *op = t->op;
    bool loops = strcmp(op->kind, "while") == 0, fits = true;
    for (int i = 0; fits && i < op->body_count; i++) {
        const struct model_body *b = &t->m->bodies.at[op->bodies[i]];
        fits = b->argument_count == op->operand_count;
        for (int k = 0; fits && k < b->argument_count; k++)
            fits =
                model_same_types(model_type_of(t->m, b->arguments[k]), model_type_of(t->m, op->operands[k]));
        const struct model_type *gives = b->result_count > 0 ? model_type_of(t->m, b->results[0]) : NULL;
        bool decides = loops && gives && gives->element == MODEL_BOOL && gives->count == 0;
        for (int k = 0; fits && !decides && k < b->result_count && k < op->result_count; k++)
            fits = model_same_types(model_type_of(t->m, b->results[k]), model_type_of(t->m, op->results[k]));
    }
    return fits && (!loops || model_same_types(t->in[0], t->stated)) ? TYPE_OPEN : TYPE_WRONG;
}

static bool type_is_as_declared(const struct typing *t, int32_t body)
{
    const struct model_body *b = &t->m->bodies.at[body];
    for (int r = 0; r < t->op->result_count && r < b->result_count; r++) {
        const struct model_value *v = t->op->results[r] < 0 ? NULL : &t->m->values.at[t->op->results[r]];
        const struct model_type *gives = model_type_of(t->m, b->results[r]);
        if (v && v->declared && gives && v->declared_exact && !model_same_shape(gives, v->declared))
            return false;
    }
    return true;
}

/* If: the results of the branch that the importer takes, by predicate, --branch, declared shapes, or
 * bytes. */
enum typed type_of_branch(struct typing *t)
{
    const struct model_data *known = typing_data(t, 0);
    int64_t asked = t->options ? t->options->branch : 0;
    const struct model_attr *branch[] = {model_attr_find(&t->op->attrs, "then_branch"),
                                         model_attr_find(&t->op->attrs, "else_branch")};
    int32_t body[2];
    for (int i = 0; i < 2; i++) {
        if (!branch[i] || branch[i]->form != ATTR_BODY) return typing_wrong(t, "a branch is missing");
        body[i] = branch[i]->body;
    }
    bool fits[] = {type_is_as_declared(t, body[0]), type_is_as_declared(t, body[1])};
    int taken = known                      ? model_data_int(known, 0) == 0
                : asked == 1 || asked == 2 ? (int)asked - 1
                : fits[0] != fits[1]       ? fits[1]
                                           : fact_body_bytes(t->m, body[1]) > fact_body_bytes(t->m, body[0]);
    t->op->by_data = !known;
    t->op->taken = 1 + taken;
    const struct model_body *b = &t->m->bodies.at[body[taken]];
    if (b->result_count < t->op->result_count) return typing_wrong(t, "a branch gives fewer results");
    for (int r = 0; r < t->op->result_count; r++) {
        const struct model_type *gives = model_type_of(t->m, b->results[r]);
        if (!gives) return TYPE_OPEN;
        typing_result(t, r, gives->element, gives->count, gives->extent);
        if (r == 0) t->element = gives->element;
        if (r == 0) typing_like(t, gives);
    }
    return TYPED;
}

/* ---- indexed reads and writes, layers ---- */

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

/* Dimensions of the index without its coordinate dimension; between these, at offset_dims, the kept
 * dimensions of each gathered box. */
enum typed type_of_gather(struct typing *t)
{
    const struct model_type *x = t->in[0], *index = t->in[1];
    const struct model_attrs *a = &t->op->attrs;
    int64_t left[MODEL_MAX_RANK], vector = typing_int(t, "index_vector_dim", index->count);
    int offsets, sizes, collapsed, batching, left_count = 0, next = 0, from = 0;
    const int64_t *at = model_attr_ints(a, "offset_dims", &offsets),
                  *size = model_attr_ints(a, "slice_sizes", &sizes),
                  *gone = model_attr_ints(a, "collapsed_slice_dims", &collapsed),
                  *batch = model_attr_ints(a, "operand_batching_dims", &batching);
    if (vector < 0 || vector > index->count)
        return typing_wrong(t, "its index_vector_dim is outside of the index");
    if (sizes != x->count)
        return typing_schema(t, "it needs slice_sizes, one for each dimension of the operand");
    for (int d = 0; d < sizes; d++) {
        if (size[d] < 0 || size[d] > x->extent[d])
            return typing_wrong(t, "its slice_sizes are beyond the operand");
        if (!type_listed(gone, collapsed, d) && !type_listed(batch, batching, d))
            left[left_count++] = size[d];
    }
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

/* The index shape followed by a table row; leading dimensions of the table are 1. */
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

/* B, H, S, D of the cache. fill_cache writes rows of S from the first on; update_cache one position per
 * batch, which may be the third dimension. */
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

/* X [T,B,I], R [dirs,4 H,H]: Y [T,dirs,B,H], then the last states [dirs,B,H]; with `layout` batches come
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
