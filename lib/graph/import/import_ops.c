/* The op mapping: one row a kind, with the names that the three formats have for it. A kind of ours that is not there
 * yet leaves the op generic. */
#include "graph/import/import_steps.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

typedef bool emit(struct import *im, const struct model_op *op, const char *ours);

static struct import_value *in(struct import *im, const struct model_op *op, int i)
{
    return import_leaf(im, op->operands[i], 0);
}

static const struct model_type *type_out(const struct import *im, const struct model_op *op)
{
    return model_type_of(im->m, op->results[0]);
}

bool import_generic(struct import *im, const struct model_op *op, const char *why)
{
    import_class(im, op, CLASS_GENERIC, why);
    return import_opaque(im, "generic", op);
}

/* A value as operand of an op with the dimensions of `type`: aligned at the end, extents of 1 repeated. */
bool import_aligned(struct import *im, struct import_value v, int rank, struct sketch_operand *out)
{
    if (!import_stored(im, &v)) return false;
    int shift = rank - v.view.rank;
    *out = (struct sketch_operand){.storage = v.storage, .via = v.via};
    view_start(&out->view);
    bool ok = shift >= 0;
    for (int d = 0; ok && d < rank; d++)
        ok = d < shift ? view_open_dim(&out->view) : view_add_dim(&out->view, &v.view, d - shift);
    return ok ? true : status_set(im->st, LX_E_SHAPE, "an operand has more dimensions than the result");
}

static bool commutes(const char *ours)
{
    return strcmp(ours, "add") == 0 || strcmp(ours, "mul") == 0 || strcmp(ours, "max") == 0 ||
           strcmp(ours, "min") == 0;
}

static bool is_tensor(const struct import *im, int32_t value)
{
    return value >= 0 && model_type_of(im->m, value)->element != MODEL_TUPLE &&
           model_type_of(im->m, value)->elements > 0;
}

static bool has_all(const struct import *im, const struct model_op *op)
{
    bool all = op->result_count == 1 && is_tensor(im, op->results[0]);
    for (int i = 0; i < op->operand_count; i++) all = all && is_tensor(im, op->operands[i]);
    return all;
}

static bool bind_one(struct import *im, const struct model_op *op, const struct import_value *v)
{
    return import_bind(im, op->results[0], v, 1);
}

/* Element by element. One operand that is a number for all elements goes into the op itself. */
static bool pointwise(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = type_out(im, op);
    const struct lx_kind *kind = lx_kind_find(ours);
    struct sketch_operand operand[LX_MAX_INPUTS];
    struct import_value out;
    int dims[VIEW_MAX_RANK], count = 0, splat = -1;
    double number = 0;
    if (!kind || op->operand_count < kind->least_inputs || op->operand_count > kind->most_inputs ||
        type->count > VIEW_MAX_RANK)
        return import_generic(im, op, "kind");
    if (kind->takes_value && op->operand_count == 2) {
        if (import_splat(in(im, op, 1), &number) && isfinite(number))
            splat = 1;
        else if (commutes(ours) && import_splat(in(im, op, 0), &number) && isfinite(number))
            splat = 0;
    }
    for (int i = 0; i < op->operand_count; i++)
        if (i != splat && !import_aligned(im, *in(im, op, i), type->count, &operand[count++])) return false;
    for (int d = 0; d < type->count; d++) dims[d] = d;
    if (!import_sketch(im, ours, op, type->count, type->extent, operand, count, splat >= 0 ? &number : NULL,
                       type, dims, &out))
        return false;
    import_class(im, op, CLASS_MAPPED, NULL);
    return bind_one(im, op, &out);
}

static bool compare(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const words[][2] = {{"GT", "greater"}, {"EQ", "eq"}, {"NE", "ne"},
                                           {"LT", "lt"},      {"LE", "le"}, {"GE", "ge"}};
    const char *direction = model_attr_word(&op->attrs, "direction", "");
    (void)ours;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], direction) == 0) return pointwise(im, op, words[i][1]);
    return import_generic(im, op, "kind");
}

/* A view of operand 0, or a copy of it where that is forced. */
static bool viewed(struct import *im, const struct model_op *op, const struct view *view, const char *cannot)
{
    struct op_class *c = import_class_of(im, op);
    struct import_value v = *in(im, op, 0), out;
    if (!cannot) cannot = c->forced ? c->forced : im->options.no_fold ? "no-fold" : NULL;
    out = v;
    out.type = type_out(im, op);
    if (!cannot) {
        out.view = *view;
        out.via = c;
        import_class(im, op, CLASS_FREE, "view");
        return bind_one(im, op, &out);
    }
    import_class(im, op, CLASS_COPIED, cannot);
    return import_opaque(im, "reshape", op);
}

/* The same for views that an index string can say: permutations and repetitions. */
static bool viewed_by_letters(struct import *im, const struct model_op *op, const struct view *view,
                              const char *cannot)
{
    struct op_class *c = import_class_of(im, op);
    bool copies = !cannot && (c->forced || im->options.no_fold);
    if (!copies) return viewed(im, op, view, cannot);
    struct import_value v = *in(im, op, 0);
    v.view = *view;
    v.type = type_out(im, op);
    import_class(im, op, CLASS_COPIED, c->forced ? c->forced : "no-fold");
    return import_plain(im, &v, op) && (v.via = NULL, bind_one(im, op, &v));
}

/* Numbers that are the same everywhere stay so in any shape. */
static bool still_splat(struct import *im, const struct model_op *op, bool *done)
{
    struct import_value v = *in(im, op, 0);
    double number;
    *done = import_splat(&v, &number);
    if (!*done) return import_stored(im, in(im, op, 0));
    v.type = type_out(im, op);
    import_class(im, op, CLASS_FOLDED, NULL);
    return bind_one(im, op, &v);
}

static bool reshape(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = type_out(im, op);
    struct view view;
    bool done;
    (void)ours;
    if (!still_splat(im, op, &done) || done) return done;
    bool ok = view_reshape(&in(im, op, 0)->view, type->count, type->extent, &view);
    return viewed(im, op, &view, ok ? NULL : "atoms");
}

static bool permute(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const keys[] = {
        [MODEL_TTIR] = "permutation", [MODEL_HLO] = "dimensions", [MODEL_ONNX] = "perm"};
    int count, rank = type_out(im, op)->count;
    const int64_t *perm = model_attr_ints(&op->attrs, keys[im->m->format], &count);
    int64_t order[VIEW_MAX_RANK];
    struct view view;
    bool done, swap = model_attr_find(&op->attrs, "dim0") != NULL;
    (void)ours;
    if (!still_splat(im, op, &done) || done) return done;
    if (rank > VIEW_MAX_RANK) return import_generic(im, op, "rank");
    for (int d = 0; d < rank; d++) order[d] = swap ? d : count == rank ? perm[d] : rank - 1 - d;
    if (swap) {
        int64_t a = model_attr_int(&op->attrs, "dim0", 0), b = model_attr_int(&op->attrs, "dim1", 0);
        a += a < 0 ? rank : 0;
        b += b < 0 ? rank : 0;
        if (a < 0 || b < 0 || a >= rank || b >= rank) return import_generic(im, op, "schema");
        order[a] = b;
        order[b] = a;
    }
    bool ok = view_permute(&in(im, op, 0)->view, order, &view);
    return viewed_by_letters(im, op, &view, ok ? NULL : "rank");
}

static bool broadcast(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = type_out(im, op), *from = model_type_of(im->m, op->operands[0]);
    int count, to[VIEW_MAX_RANK];
    const int64_t *dims = model_attr_ints(&op->attrs, "dimensions", &count);
    struct view view;
    bool done, hlo = im->m->format == MODEL_HLO;
    (void)ours;
    if (!still_splat(im, op, &done) || done) return done;
    if (from->count > VIEW_MAX_RANK || (hlo && count != from->count) || from->count > type->count)
        return import_generic(im, op, "schema");
    for (int d = 0; d < from->count; d++) to[d] = hlo ? (int)dims[d] : type->count - from->count + d;
    bool ok = view_broadcast(&in(im, op, 0)->view, to, type->count, type->extent, &view);
    return viewed_by_letters(im, op, &view, ok ? NULL : "rank");
}

static bool same(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = *in(im, op, 0);
    (void)ours;
    import_class(im, op, CLASS_FREE, "names");
    return bind_one(im, op, &v);
}

static bool constant(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_attr *a = model_attr_find(&op->attrs, "value");
    struct import_value v = {.storage = -1, .type = type_out(im, op)};
    (void)ours;
    v.known = im->m->values.at[op->results[0]].data;
    if (!v.known && a && a->form == ATTR_DATA) v.known = a->data;
    import_class(im, op, CLASS_FOLDED, NULL);
    return bind_one(im, op, &v);
}

/* Repetition within a dimension that goes would have to be counted: such an operand is laid out first. */
bool import_without_repeats(struct import *im, const struct model_op *op, struct import_value *v,
                            const bool *goes)
{
    if (!import_stored(im, v)) return false;
    for (int d = 0; d < v->view.rank; d++)
        for (int i = v->view.first[d]; goes[d] && i < v->view.first[d + 1]; i++)
            if (v->view.atom[i].low == 0) return import_plain(im, v, op);
    return true;
}

static bool reduced(struct import *im, const struct model_op *op, const char *ours, const bool *goes)
{
    struct import_value v = *in(im, op, 0), out;
    const struct model_type *x = v.type, *type = type_out(im, op);
    struct sketch_operand operand;
    int dims[VIEW_MAX_RANK], next = 0;
    if (x->count > VIEW_MAX_RANK || !lx_kind_find(ours)) return import_generic(im, op, "kind");
    bool keeps = type->count == x->count;
    for (int d = 0; d < x->count; d++)
        if (!goes[d] || keeps) {
            if (next == type->count) return import_generic(im, op, "schema");
            dims[next++] = goes[d] ? -1 : d;
        }
    if (next != type->count) return import_generic(im, op, "schema");
    if (!import_without_repeats(im, op, &v, goes)) return false;
    operand = (struct sketch_operand){v.storage, v.view, v.via};
    if (!import_sketch(im, ours, op, x->count, x->extent, &operand, 1, NULL, type, dims, &out)) return false;
    import_class(im, op, CLASS_MAPPED, NULL);
    return bind_one(im, op, &out);
}

static bool reduce(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const keys[] = {
        [MODEL_TTIR] = "dim_arg", [MODEL_HLO] = "dimensions", [MODEL_ONNX] = "axes"};
    int count, rank = model_type_of(im->m, op->operands[0])->count;
    const int64_t *list = model_attr_ints(&op->attrs, keys[im->m->format], &count);
    const struct model_data *d =
        op->operand_count > 1 && im->m->format == MODEL_ONNX ? im->m->values.at[op->operands[1]].data : NULL;
    bool goes[VIEW_MAX_RANK] = {false};
    if (rank > VIEW_MAX_RANK) return import_generic(im, op, "rank");
    if (!list && d && d->ints && d->type->elements <= VIEW_MAX_RANK) {
        list = d->ints;
        count = (int)d->type->elements;
    }
    for (int i = 0; i < rank; i++) goes[i] = count == 0;
    for (int i = 0; i < count; i++) {
        int64_t dim = list[i] < 0 ? list[i] + rank : list[i];
        if (dim < 0 || dim >= rank) return import_generic(im, op, "schema");
        goes[dim] = true;
    }
    return reduced(im, op, ours, goes);
}

/* What the computation of an HLO reduce does with two elements. */
static const char *reducer(const struct import *im, const struct model_op *op)
{
    static const char *const words[][2] = {{"add", "sum"},       {"maximum", "max"}, {"minimum", "min"},
                                           {"multiply", "prod"}, {"and", "all"},     {"or", "any"}};
    const struct model_body *b = op->body_count == 1 ? &im->m->bodies.at[op->bodies[0]] : NULL;
    if (!b || b->op_count != 3 || b->argument_count != 2) return NULL;
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (strcmp(b->ops[i].kind, words[k][0]) == 0) return words[k][1];
    return NULL;
}

static bool reduce_by_body(struct import *im, const struct model_op *op, const char *ours)
{
    ours = op->operand_count == 2 ? reducer(im, op) : NULL;
    return ours ? reduce(im, op, ours) : import_generic(im, op, "reducer");
}

/* Dimensions of a contraction: batch, those of the left, those of the right, and the contracted ones, which come last. */
struct product {
    int rank, out; /* all dimensions; those of the result */
    int64_t extent[VIEW_MAX_RANK];
    int of[2][VIEW_MAX_RANK]; /* by dimension of each operand */
};

static bool over_product(struct import *im, const struct product *p, int side, struct import_value v,
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

static bool contracted(struct import *im, const struct model_op *op, const struct product *p)
{
    const struct model_type *type = type_out(im, op);
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
        struct import_value v = *in(im, op, s);
        bool goes[VIEW_MAX_RANK] = {false};
        for (int d = 0; d < v.type->count; d++) goes[d] = p->of[s][d] >= p->out;
        if (!import_without_repeats(im, op, &v, goes) || !over_product(im, p, s, v, &operand[s]))
            return false;
    }
    if (!import_sketch(im, "matmul", op, p->rank, p->extent, operand, 2, NULL, type, dims, &out))
        return false;
    import_class(im, op, CLASS_MAPPED, NULL);
    return bind_one(im, op, &out);
}

static bool add_dim(struct product *p, int64_t extent)
{
    if (p->rank == VIEW_MAX_RANK) return false;
    p->extent[p->rank++] = extent;
    return true;
}

static bool dot_general(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const keys[2][4] = {
        {"batch_dims_lhs", "batch_dims_rhs", "contract_dims_lhs", "contract_dims_rhs"},
        {"lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims"}};
    const char *const *k = keys[im->m->format == MODEL_HLO];
    const struct model_type *t[2] = {in(im, op, 0)->type, in(im, op, 1)->type};
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
        ok = add_dim(&p, t[0]->extent[list[0][j]]);
    }
    for (int j = 0; j < count[2]; j++) p.of[0][list[2][j]] = p.of[1][list[3][j]] = -2 - j;
    for (int s = 0; s < 2; s++)
        for (int d = 0; ok && d < t[s]->count; d++)
            if (p.of[s][d] == -1) {
                p.of[s][d] = p.rank;
                ok = add_dim(&p, t[s]->extent[d]);
            }
    p.out = p.rank;
    for (int j = 0; ok && j < count[2]; j++) {
        p.of[0][list[2][j]] = p.of[1][list[3][j]] = p.rank;
        ok = add_dim(&p, t[0]->extent[list[2][j]]);
    }
    return ok ? contracted(im, op, &p) : import_generic(im, op, "rank");
}

/* The last two dimensions of both; those before them are shared, aligned at their end. */
static bool matmul(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *a = in(im, op, 0)->type, *b = in(im, op, 1)->type, *y = type_out(im, op);
    bool onnx = im->m->format == MODEL_ONNX;
    bool turn_a = model_attr_int(&op->attrs, onnx ? "transA" : "transpose_a", 0),
         turn_b = model_attr_int(&op->attrs, onnx ? "transB" : "transpose_b", 0);
    struct product p = {0};
    (void)ours;
    if (op->operand_count != 2 || a->count < 2 || b->count < 2 || a->count > VIEW_MAX_RANK ||
        b->count > VIEW_MAX_RANK || y->count < 2 || y->count > VIEW_MAX_RANK - 1)
        return import_generic(im, op, "form");
    p.rank = p.out = y->count;
    memcpy(p.extent, y->extent, (size_t)y->count * sizeof *y->extent);
    add_dim(&p, a->extent[a->count - (turn_a ? 2 : 1)]);
    for (int d = 0; d < a->count - 2; d++) p.of[0][d] = y->count - a->count + d;
    for (int d = 0; d < b->count - 2; d++) p.of[1][d] = y->count - b->count + d;
    p.of[0][a->count - (turn_a ? 1 : 2)] = y->count - 2;
    p.of[0][a->count - (turn_a ? 2 : 1)] = p.of[1][b->count - (turn_b ? 1 : 2)] = p.out;
    p.of[1][b->count - (turn_b ? 2 : 1)] = y->count - 1;
    return contracted(im, op, &p);
}

struct op_row {
    const char *name[MODEL_FORMAT_COUNT]; /* TTIR, HLO, ONNX; NULL: it has none */
    const char *ours;
    emit *emit;
    int operands; /* at least */
};

/* clang-format off */
static const struct op_row rows[] = {
    {{"add", "add", "Add"}, "add", pointwise, 2},
    {{"subtract", "subtract", "Sub"}, "sub", pointwise, 2},
    {{"multiply", "multiply", "Mul"}, "mul", pointwise, 2},
    {{"div", "divide", "Div"}, "div", pointwise, 2},
    {{"pow", "power", "Pow"}, "pow", pointwise, 2},
    {{"maximum", "maximum", "Max"}, "max", pointwise, 2},
    {{"minimum", "minimum", "Min"}, "min", pointwise, 2},
    {{NULL, NULL, "Sum"}, "add", expand_chain, 1},
    {{"softmax", NULL, "Softmax"}, NULL, expand_softmax, 1},
    {{"rms_norm", NULL, "RMSNormalization"}, NULL, expand_rms_norm, 1},
    {{NULL, NULL, "SimplifiedLayerNormalization"}, NULL, expand_rms_norm, 1},
    {{"layer_norm", NULL, "LayerNormalization"}, NULL, expand_layer_norm, 1},
    {{"batch_norm_inference", NULL, "BatchNormalization"}, NULL, expand_batch_norm, 5},
    {{"remainder", "remainder", "Mod"}, "rem", pointwise, 2},
    {{"neg", "negate", "Neg"}, "neg", pointwise, 1},
    {{"abs", "abs", "Abs"}, "abs", pointwise, 1},
    {{"exp", "exponential", "Exp"}, "exp", pointwise, 1},
    {{"log", "log", "Log"}, "log", pointwise, 1},
    {{"sqrt", "sqrt", "Sqrt"}, "sqrt", pointwise, 1},
    {{"rsqrt", "rsqrt", NULL}, "rsqrt", pointwise, 1},
    {{"reciprocal", NULL, "Reciprocal"}, "reciprocal", pointwise, 1},
    {{"tanh", "tanh", "Tanh"}, "tanh", pointwise, 1},
    {{"sigmoid", "logistic", "Sigmoid"}, "sigmoid", pointwise, 1},
    {{"relu", NULL, "Relu"}, "relu", pointwise, 1},
    {{"cos", "cosine", "Cos"}, "cos", pointwise, 1},
    {{"sin", "sine", "Sin"}, "sin", pointwise, 1},
    {{"erf", "erf", "Erf"}, "erf", pointwise, 1},
    {{NULL, "log-plus-one", NULL}, "log1p", pointwise, 1},
    {{"floor", "floor", "Floor"}, "floor", pointwise, 1},
    {{"ceil", "ceil", "Ceil"}, "ceil", pointwise, 1},
    {{"sign", "sign", "Sign"}, "sign", pointwise, 1},
    {{"isfinite", "is-finite", NULL}, "is_finite", pointwise, 1},
    {{"gelu", NULL, "Gelu"}, "gelu_erf", pointwise, 1},
    {{"gt", NULL, "Greater"}, "greater", pointwise, 2},
    {{"eq", NULL, "Equal"}, "eq", pointwise, 2},
    {{"ne", NULL, NULL}, "ne", pointwise, 2},
    {{"lt", NULL, "Less"}, "lt", pointwise, 2},
    {{"le", NULL, "LessOrEqual"}, "le", pointwise, 2},
    {{"ge", NULL, "GreaterOrEqual"}, "ge", pointwise, 2},
    {{NULL, "compare", NULL}, NULL, compare, 2},
    {{"logical_and", "and", "And"}, "and", pointwise, 2},
    {{"logical_or", "or", "Or"}, "or", pointwise, 2},
    {{"logical_xor", "xor", "Xor"}, "xor", pointwise, 2},
    {{"logical_not", "not", "Not"}, "not", pointwise, 1},
    {{NULL, "shift-left", NULL}, "shl", pointwise, 2},
    {{NULL, "shift-right-logical", NULL}, "shr", pointwise, 2},
    {{NULL, "shift-right-arithmetic", NULL}, "sar", pointwise, 2},
    {{"where", "select", "Where"}, "where", pointwise, 3},
    {{NULL, "clamp", NULL}, "clamp", pointwise, 3},
    {{"typecast", "convert", "Cast"}, "cast", pointwise, 1},
    {{NULL, "bitcast-convert", NULL}, "bitcast", pointwise, 1},
    {{"sum", NULL, "ReduceSum"}, "sum", reduce, 1},
    {{"mean", NULL, "ReduceMean"}, "mean", reduce, 1},
    {{"max", NULL, "ReduceMax"}, "max", reduce, 1},
    {{"min", NULL, "ReduceMin"}, "min", reduce, 1},
    {{"prod", NULL, "ReduceProd"}, "prod", reduce, 1},
    {{"reduce_or", NULL, NULL}, "any", reduce, 1},
    {{"reduce_and", NULL, NULL}, "all", reduce, 1},
    {{NULL, "reduce", NULL}, NULL, reduce_by_body, 1},
    {{"dot_general", "dot", NULL}, "matmul", dot_general, 2},
    {{"matmul", NULL, "MatMul"}, "matmul", matmul, 2},
    {{"reshape", "reshape", "Reshape"}, "reshape", reshape, 1},
    {{"squeeze", "bitcast", "Squeeze"}, "reshape", reshape, 1},
    {{"unsqueeze", NULL, "Unsqueeze"}, "reshape", reshape, 1},
    {{NULL, NULL, "Flatten"}, "reshape", reshape, 1},
    {{"permute", "transpose", "Transpose"}, "clone", permute, 1},
    {{"transpose", NULL, NULL}, "clone", permute, 1},
    {{"broadcast", "broadcast", "Expand"}, "clone", broadcast, 1},
    {{"constant", "constant", "Constant"}, "constant", constant, 0},
    {{NULL, "copy", "Identity"}, "clone", same, 1},
    {{NULL, "opt-barrier", "Dropout"}, "clone", same, 1},
};
/* clang-format on */

static const struct op_row *row_of(const struct import *im, const struct model_op *op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = rows[i].name[im->m->format];
        if (name && strcmp(name, op->kind) == 0) return &rows[i];
    }
    return NULL;
}

/* What ONNX knows ahead is a constant, whatever made it. */
static bool known_ahead(const struct import *im, const struct model_op *op)
{
    const struct model_value *v =
        op->result_count == 1 && op->results[0] >= 0 ? &im->m->values.at[op->results[0]] : NULL;
    return im->m->format == MODEL_ONNX && v && v->data && (v->data->ints || v->data->reals);
}

/* ONNX: optional results that nobody wants do not keep an op from its row. */
bool import_op(struct import *im, const struct model_op *op)
{
    const struct op_row *row = row_of(im, op);
    if (known_ahead(im, op)) return constant(im, op, NULL);
    if (!row) return import_generic(im, op, "kind");
    if (row->emit == constant && op->result_count == 1 && is_tensor(im, op->results[0]))
        return constant(im, op, NULL);
    if (op->operand_count < row->operands || !has_all(im, op)) return import_generic(im, op, "form");
    return row->emit(im, op, row->ours);
}
