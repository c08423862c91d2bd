/* Ops that contract two tensors. */
#include "import/map/import_steps.h"

#include <string.h>

/* Dimensions of a contraction: batch, those of the left, those of the right, then the contracted ones. */
struct product {
    int rank, out; /* all dimensions; those of the result */
    int64_t extent[4 * VIEW_MAX_RANK];
    int of[2][VIEW_MAX_RANK]; /* by dimension of each operand */
};

static bool contract_sketch(struct import *im, const struct model_op *op, const struct product *p)
{
    const struct model_type *type = import_type_out(im, op);
    struct sketch_operand operand[2];
    struct import_value out;
    int dims[VIEW_MAX_RANK], next = 0;
    if (p->rank > VIEW_MAX_RANK) return import_generic(im, op, "rank");
    for (int d = 0; d < type->count; d++) {
        bool one = type->extent[d] == 1 && (next >= p->out || p->extent[next] != 1);
        if (!one && (next >= p->out || p->extent[next] != type->extent[d]))
            return import_generic(im, op, "schema");
        dims[d] = one ? -1 : next++;
    }
    for (int s = 0; s < 2; s++) {
        struct import_value v = *import_in(im, op, s);
        bool goes[VIEW_MAX_RANK] = {false};
        for (int d = 0; d < v.type->count; d++) goes[d] = p->of[s][d] >= p->out;
        import_without_repeats(im, op, &v, goes);
        operand[s] = import_over(&v, p->rank, p->of[s]);
    }
    struct sketching s = {.kind = "matmul",
                          .from = op,
                          .rank = p->rank,
                          .extent = p->extent,
                          .in = operand,
                          .count = 2,
                          .type = type,
                          .dims = dims};
    import_sketch(im, &s, &out);
    return import_mapped(im, op, &out);
}

bool map_dot(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const keys[2][4] = {
        {"batch_dims_lhs", "batch_dims_rhs", "contract_dims_lhs", "contract_dims_rhs"},
        {"lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims"}};
    const struct model_type *t[2] = {import_in(im, op, 0)->type, import_in(im, op, 1)->type};
    const int64_t *list[4];
    int count[4];
    struct product p = {0};
    (void)ours;
    memset(p.of, -1, sizeof p.of);
    for (int i = 0; i < 4; i++) {
        list[i] = model_attr_ints(&op->attrs, keys[im->format == MODEL_HLO][i], &count[i]);
        if (count[i] > t[i % 2]->count || (i % 2 && count[i] != count[i - 1]))
            return import_generic(im, op, "schema");
        for (int j = 0; j < count[i]; j++) {
            if (list[i][j] < 0 || list[i][j] >= t[i % 2]->count) return import_generic(im, op, "schema");
            if (i > 1) p.of[i % 2][list[i][j]] = -2; /* contracted */
        }
    }
    for (int j = 0; j < count[0]; j++) {
        p.of[0][list[0][j]] = p.of[1][list[1][j]] = p.rank;
        p.extent[p.rank++] = t[0]->extent[list[0][j]];
    }
    for (int s = 0; s < 2; s++)
        for (int d = 0; d < t[s]->count; d++)
            if (p.of[s][d] == -1) {
                p.of[s][d] = p.rank;
                p.extent[p.rank++] = t[s]->extent[d];
            }
    p.out = p.rank;
    for (int j = 0; j < count[2]; j++) {
        p.of[0][list[2][j]] = p.of[1][list[3][j]] = p.rank;
        p.extent[p.rank++] = t[0]->extent[list[2][j]];
    }
    return contract_sketch(im, op, &p);
}

/* The last two dimensions of both; those before them are shared, aligned at their end. A vector on the
 * left is a row, one on the right a column, and the result lacks that dimension. */
bool map_matmul(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *a = import_in(im, op, 0)->type, *b = import_in(im, op, 1)->type,
                            *y = import_type_out(im, op);
    bool onnx = im->format == MODEL_ONNX, rows = a->count > 1, columns = b->count > 1;
    bool turn_a = rows && model_attr_int(&op->attrs, onnx ? "transA" : "transpose_a", 0),
         turn_b = columns && model_attr_int(&op->attrs, onnx ? "transB" : "transpose_b", 0);
    int shared = y->count - rows - columns, of_a = a->count - 1 - rows, of_b = b->count - 1 - columns;
    struct product p = {.rank = y->count + 1, .out = y->count};
    (void)ours;
    if (op->operand_count != 2 || a->count < 1 || b->count < 1 || shared < of_a || shared < of_b)
        return import_generic(im, op, "form");
    memcpy(p.extent, y->extent, (size_t)y->count * sizeof *y->extent);
    p.extent[p.out] = a->extent[a->count - (turn_a ? 2 : 1)];
    for (int d = 0; d < of_a; d++) p.of[0][d] = shared - of_a + d;
    for (int d = 0; d < of_b; d++) p.of[1][d] = shared - of_b + d;
    if (rows) p.of[0][a->count - (turn_a ? 1 : 2)] = shared;
    p.of[0][a->count - (turn_a ? 2 : 1)] = p.of[1][b->count - (!columns || turn_b ? 1 : 2)] = p.out;
    if (columns) p.of[1][b->count - (turn_b ? 2 : 1)] = shared + rows;
    return contract_sketch(im, op, &p);
}
