/* Ops along dimensions: reductions, and contractions of two tensors. */
#include "import/map/import_steps.h"
#include "import/types/typing.h"

/* Copies an operand that repeats within a reduced dimension, as repetition would have to be counted. */
static void reduce_without_repeats(struct import *im, const struct model_op *op, struct import_value *v,
                                   const bool *goes)
{
    bool repeats = false;
    import_stored(im, v);
    for (int d = 0; d < v->view.rank; d++)
        for (int i = v->view.first[d]; goes[d] && i < v->view.first[d + 1]; i++)
            repeats |= v->view.atom[i].low == 0;
    if (!repeats) return;
    import_plain(im, v, op);
    im->sketches.at[im->sketches.count - 1].why = "repeats";
}

static bool reduce_value(struct import *im, const struct model_op *op, struct import_value v,
                         const char *ours, const bool *goes)
{
    struct import_value out;
    const struct model_type *x = v.type, *type = import_type_out(im, op);
    int dims[VIEW_MAX_RANK], next = 0;
    bool keeps = type->count == x->count;
    if (!lx_kind_find(ours)) return import_generic(im, op, "kind");
    for (int d = 0; d < x->count; d++)
        if (!goes[d] || keeps) {
            if (next == type->count) return import_generic(im, op, "schema");
            dims[next++] = goes[d] ? -1 : d;
        }
    if (next != type->count) return import_generic(im, op, "schema");
    reduce_without_repeats(im, op, &v, goes);
    struct sketch_operand in = {v.storage, v.view, v.via};
    struct sketching s = {.kind = ours, .from = op, .in = &in, .count = 1, .type = type, .dims = dims};
    s.rank = x->count, s.extent = x->extent;
    import_sketch(im, &s, &out);
    return import_mapped(im, op, &out);
}

/* Places count in the order of the file: lays the operand out that way. */
bool map_arg_reduce(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = *import_in(im, op, 0);
    const struct model_type *x = v.type;
    bool goes[VIEW_MAX_RANK] = {false}, onnx = im->format == MODEL_ONNX;
    int count = 0;
    const int64_t *list = onnx ? NULL : model_attr_ints(&op->attrs, "dim_arg", &count);
    int64_t length = 1;
    int dim = typing_dim(onnx ? model_attr_int(&op->attrs, "axis", 0) : count == 1 ? list[0] : 0, x->count);
    if (count > 1 || dim < 0 || model_attr_int(&op->attrs, "select_last_index", 0) != 0)
        return import_generic(im, op, "axis");
    for (int d = 0; d < x->count; d++) {
        goes[d] = d == dim || (!onnx && count == 0);
        if (goes[d]) length *= x->extent[d];
    }
    if (length == 1) return import_number(im, op, 0);
    import_plain(im, &v, op);
    return reduce_value(im, op, v, ours, goes);
}

bool map_reduce(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const keys[] = {
        [MODEL_TTIR] = "dim_arg", [MODEL_HLO] = "dimensions", [MODEL_ONNX] = "axes"};
    struct typing t = typing_open(im->m, op, im->format, import_opset(im));
    int64_t list[VIEW_MAX_RANK];
    int count, rank = t.in[0]->count;
    bool goes[VIEW_MAX_RANK] = {false};
    if (!typing_ints(&t, keys[im->format], im->format == MODEL_ONNX ? 1 : -1, list, VIEW_MAX_RANK, &count))
        return import_generic(im, op, "schema");
    if (count <= 0 && model_attr_int(&op->attrs, "noop_with_empty_axes", 0))
        return import_done(im, op, CLASS_FREE, "names", import_in(im, op, 0));
    for (int i = 0; i < rank; i++) goes[i] = count <= 0;
    for (int i = 0; i < count; i++) {
        int dim = typing_dim(list[i], rank);
        if (dim < 0) return import_generic(im, op, "schema");
        goes[dim] = true;
    }
    return reduce_value(im, op, *import_in(im, op, 0), ours, goes);
}

/* ---- computations of HLO ---- */

static const struct reducer reducers[] = {{"add", "sum", "add", 0, LX_COMBINE_ADD},
                                          {"maximum", "max", "max", -INFINITY, LX_COMBINE_MAX},
                                          {"minimum", "min", "min", INFINITY, LX_COMBINE_MIN},
                                          {"multiply", "prod", "mul", 1, LX_COMBINE_MUL},
                                          {"and", "all", "and", 1, LX_COMBINE_MIN},
                                          {"or", "any", "or", 0, LX_COMBINE_MAX}};

/* A value of the computation, ignoring casts to a wider type and back. */
static int32_t reduce_uncast(const struct import *im, const struct model_body *b, int32_t value)
{
    for (int steps = 0; steps < 4; steps++) {
        const struct model_value *v = &im->m->values.at[value];
        const struct model_op *o =
            v->from == FROM_OP && v->op >= 0 && v->op < b->op_count ? &b->ops[v->op] : NULL;
        if (!o || o->results[0] != value || strcmp(o->kind, "convert") != 0 || o->operand_count != 1) break;
        value = o->operands[0];
    }
    return value;
}

/* One op on the two numbers, in either order. No pattern kind reduces integers bitwise. */
const struct reducer *import_reducer(const struct import *im, const struct model_op *op)
{
    const struct model_body *b = op->body_count == 1 ? &im->m->bodies.at[op->bodies[0]] : NULL;
    const char *word = model_attr_word(&op->attrs, "reduce_type", "sum");
    for (size_t k = 0; im->format == MODEL_TTIR && k < sizeof reducers / sizeof *reducers; k++)
        if (strstr(word, reducers[k].ours)) return &reducers[k];
    if (!b || b->op_count > 8 || b->argument_count != 2 || b->result_count != 1) return NULL;
    int32_t root = reduce_uncast(im, b, b->results[0]), x = b->arguments[0], y = b->arguments[1];
    enum model_element e = model_type_of(im->m, root)->element, f = model_type_of(im->m, x)->element;
    if (e == MODEL_TUPLE || f == MODEL_TUPLE) return NULL;
    if (model_element_row(e)->number != model_element_row(f)->number ||
        model_element_row(e)->bits < model_element_row(f)->bits)
        return NULL;
    for (int i = 0; i < b->op_count; i++)
        for (size_t k = 0; k < sizeof reducers / sizeof *reducers; k++) {
            const struct model_op *o = &b->ops[i];
            if (strcmp(o->kind, reducers[k].theirs) != 0 || o->operand_count != 2 || o->results[0] != root)
                continue;
            int32_t p = reduce_uncast(im, b, o->operands[0]), q = reduce_uncast(im, b, o->operands[1]);
            bool bits = (strcmp(o->kind, "and") == 0 || strcmp(o->kind, "or") == 0) && e != MODEL_BOOL;
            if ((p == x && q == y) || (p == y && q == x)) return bits ? NULL : &reducers[k];
        }
    return NULL;
}

/* The end of an integer type's range serves as infinity. */
bool import_neutral(const struct import_value *v, const struct reducer *r)
{
    double number;
    int64_t whole;
    if (!import_splat_exact(v, &number, &whole)) return false;
    if (!isinf(r->neutral)) return number == r->neutral;
    if (!v->known->ints)
        return number == r->neutral || ((number < 0) == (r->neutral < 0) && fabs(number) >= 3.3e38);
    return whole ==
           (v->type->element == MODEL_BOOL ? r->neutral > 0 : fold_to_int(v->type->element, r->neutral));
}

/* A non-neutral first number is combined at the end. */
bool map_reduce_by_body(struct import *im, const struct model_op *op, const char *ours)
{
    const struct reducer *r = op->operand_count == 2 ? import_reducer(im, op) : NULL;
    (void)ours;
    if (!r || !import_is_tensor(im, op->operands[0]) || !import_is_tensor(im, op->operands[1]) ||
        !import_is_tensor(im, op->results[0]))
        return import_generic(im, op, "reducer");
    struct import_value first = *import_in(im, op, 1);
    map_reduce(im, op, r->ours);
    if (import_neutral(&first, r) || import_class_of(im, op)->class == CLASS_GENERIC) return true;
    struct import_value y = import_point(im, op, r->two, *import_leaf(im, op->results[0], 0), &first);
    return import_mapped(im, op, &y);
}

/* ---- contractions ---- */

/* Dimensions of a contraction: batch, free of the left, free of the right, contracted. */
struct product {
    int rank, out; /* all dimensions; the result's */
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
        reduce_without_repeats(im, op, &v, goes);
        operand[s] = import_over(&v, p->rank, p->of[s]);
    }
    struct sketching s = {
        .kind = "matmul", .from = op, .in = operand, .count = 2, .type = type, .dims = dims};
    s.rank = p->rank, s.extent = p->extent;
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

/* The last two dimensions of both; leading ones broadcast, right-aligned. A vector on the left is a row, one
 * on the right a column, and the result lacks that dimension. */
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
