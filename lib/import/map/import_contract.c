/* Ops of the table that contract two tensors. */
#include "import/map/import_steps.h"
#include "base/fail.h"

#include <string.h>

/* Dimensions of a contraction: batch, those of the left, those of the right, and the contracted ones,
 * which come last. */
struct product {
    int rank, out; /* all dimensions; those of the result */
    int64_t extent[VIEW_MAX_RANK];
    int of[2][VIEW_MAX_RANK]; /* by dimension of each operand */
};

static bool contract_over_product(struct import *im, const struct product *p, int side, struct import_value v,
                                  struct sketch_operand *o)
{
    *o = (struct sketch_operand){.storage = v.storage, .via = v.via};
    view_start(&o->view);
    for (int d = 0; d < p->rank; d++) {
        int k = 0;
        while (k < v.view.rank && p->of[side][k] != d) k++;
        if (k < v.view.rank ? !view_add_dim(&o->view, &v.view, k) : !view_open_dim(&o->view))
            return status_set(im->st, LX_E_LIMIT, "too many dimensions");
    }
    return true;
}

static bool contract_contracted(struct import *im, const struct model_op *op, const struct product *p)
{
    const struct model_type *type = import_type_out(im, op);
    struct sketch_operand operand[2];
    struct import_value out;
    int dims[VIEW_MAX_RANK], next = 0;
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
        if (!import_without_repeats(im, op, &v, goes) || !contract_over_product(im, p, s, v, &operand[s]))
            return false;
    }
    if (!import_sketch(im, "matmul", op, p->rank, p->extent, operand, 2, NULL, type, dims, &out))
        return false;
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind_one(im, op, &out);
}

static bool contract_add_dim(struct product *p, int64_t extent)
{
    if (p->rank == VIEW_MAX_RANK) return false;
    p->extent[p->rank++] = extent;
    return true;
}

bool map_dot(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const keys[2][4] = {
        {"batch_dims_lhs", "batch_dims_rhs", "contract_dims_lhs", "contract_dims_rhs"},
        {"lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims"}};
    const char *const *k = keys[im->format == MODEL_HLO];
    const struct model_type *t[2] = {import_in(im, op, 0)->type, import_in(im, op, 1)->type};
    const int64_t *list[4];
    int count[4];
    struct product p = {0};
    (void)ours;
    for (int i = 0; i < 4; i++) list[i] = model_attr_ints(&op->attrs, k[i], &count[i]);
    if (t[0]->count > VIEW_MAX_RANK || t[1]->count > VIEW_MAX_RANK || count[0] != count[1] ||
        count[2] != count[3])
        return import_generic(im, op, "schema");
    for (int s = 0; s < 2; s++)
        for (int d = 0; d < t[s]->count; d++) p.of[s][d] = -1;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < count[i]; j++)
            if (list[i][j] < 0 || list[i][j] >= t[i % 2]->count) return import_generic(im, op, "schema");
    bool ok = true;
    for (int j = 0; ok && j < count[0]; j++) {
        p.of[0][list[0][j]] = p.of[1][list[1][j]] = p.rank;
        ok = contract_add_dim(&p, t[0]->extent[list[0][j]]);
    }
    for (int j = 0; j < count[2]; j++) p.of[0][list[2][j]] = p.of[1][list[3][j]] = -2 - j;
    for (int s = 0; s < 2; s++)
        for (int d = 0; ok && d < t[s]->count; d++)
            if (p.of[s][d] == -1) {
                p.of[s][d] = p.rank;
                ok = contract_add_dim(&p, t[s]->extent[d]);
            }
    p.out = p.rank;
    for (int j = 0; ok && j < count[2]; j++) {
        p.of[0][list[2][j]] = p.of[1][list[3][j]] = p.rank;
        ok = contract_add_dim(&p, t[0]->extent[list[2][j]]);
    }
    return ok ? contract_contracted(im, op, &p) : import_generic(im, op, "rank");
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
    struct product p = {0};
    (void)ours;
    if (op->operand_count != 2 || a->count < 1 || b->count < 1 || shared < of_a || shared < of_b ||
        y->count > VIEW_MAX_RANK - 1)
        return import_generic(im, op, "form");
    p.rank = p.out = y->count;
    memcpy(p.extent, y->extent, (size_t)y->count * sizeof *y->extent);
    contract_add_dim(&p, a->extent[a->count - (turn_a ? 2 : 1)]);
    for (int d = 0; d < of_a; d++) p.of[0][d] = shared - of_a + d;
    for (int d = 0; d < of_b; d++) p.of[1][d] = shared - of_b + d;
    if (rows) p.of[0][a->count - (turn_a ? 1 : 2)] = shared;
    p.of[0][a->count - (turn_a ? 2 : 1)] = p.of[1][b->count - (!columns || turn_b ? 1 : 2)] = p.out;
    if (columns) p.of[1][b->count - (turn_b ? 2 : 1)] = shared + rows;
    return contract_contracted(im, op, &p);
}
