/* Derives bodies for ops from smaller parts. Each part's result gets its type by the rules of ONNX at
 * once. */
#include "import/layers/layers.h"
#include "import/read/onnx.h"
#include "import/tensor_views.h"
#include "import/types/typing.h"

/* The layer rule of an op; NULL: none. Operands and results must be tensors with elements, not complex; later
 * operands of ONNX may be empty lists. */
static derive_op *layers_rule(const struct lx_model *m, const struct model_op *op, bool derived, bool macros)
{
    enum model_format dialect = derived && !op->native ? MODEL_ONNX : m->format;
    const struct op_row *row = op_find(dialect, op->kind);
    if (!row || (row->macro && !macros) || (row->onnx_layer && dialect != MODEL_ONNX) || op->result_count < 1)
        return NULL;
    for (int i = 0; i < op->operand_count; i++) {
        const struct model_type *t = op->operands[i] < 0 ? NULL : model_type_of(m, op->operands[i]);
        bool empty = m->format == MODEL_ONNX && i > 0 && t && t->elements == 0;
        if (op->operands[i] >= 0 &&
            (!t || t->element == MODEL_TUPLE || t->element == MODEL_C64 || (t->elements <= 0 && !empty)))
            return NULL;
    }
    for (int i = 0; i < op->result_count; i++) {
        const struct model_type *t = op->results[i] < 0 ? NULL : model_type_of(m, op->results[i]);
        if (op->results[i] >= 0 && (!t || t->element == MODEL_C64 || t->elements <= 0)) return NULL;
    }
    return row->layer;
}

static void layers_derive(struct lx_model *m, struct model_op *op, derive_op *derive, bool derived,
                          struct layer_limits *left)
{
    lx_status why = {0};
    struct layer l = {
        .m = m, .op = op, .limits = left, .ok = true, .st = &why, .body = (int32_t)m->bodies.count};
    l.opset = m->format == MODEL_ONNX && !derived ? onnx_opset(m, op->kind) : ONNX_DERIVED_OPSET;
    for (int r = 0; r < op->result_count; r++)
        l.result_count += op->results[r] < 0 ? 1 : model_type_of(m, op->results[r])->leaves;
    l.results = arena_array(&m->memory, (size_t)l.result_count + 1, sizeof *l.results);
    for (int i = 0; i < l.result_count; i++) l.results[i] = -1;
    bool all = derive(&l) && l.ok;
    for (int r = 0, leaf = 0; r < op->result_count; r++) {
        const struct model_type *t = op->results[r] < 0 ? NULL : model_type_of(m, op->results[r]);
        for (int i = 0; i < (t ? t->leaves : 1); i++, leaf++)
            all = all && (!t || l.results[leaf] >= 0 || model_leaf_type(t, i)->elements == 0);
    }
    if (all) {
        struct model_body b = {.results = l.results, .result_count = l.result_count, .derived = true};
        b.name = op->location ? op->location : op->kind;
        b.op_count = (int)l.ops.count;
        b.ops = arena_copy_array(&m->memory, l.ops.at, l.ops.count, sizeof *l.ops.at);
        VEC_PUSH(&m->bodies, b);
        op->instead = l.body + 1;
        left->ops -= (int64_t)l.ops.count;
    }
    VEC_FREE(&l.ops);
}

/* Drops unread results of ONNX beyond the first. */
static void layers_drop_unread(struct lx_model *m)
{
    OWNED bool *read = mem_zeroed(m->values.count + 1, sizeof *read);
    for (size_t b = 0; b < m->bodies.count; b++) {
        const struct model_body *body = &m->bodies.at[b];
        for (int i = 0; i < body->result_count; i++)
            if (body->results[i] >= 0) read[body->results[i]] = true;
        for (int i = 0; i < body->op_count; i++)
            for (int k = 0; k < body->ops[i].operand_count; k++)
                if (body->ops[i].operands[k] >= 0) read[body->ops[i].operands[k]] = true;
    }
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            struct model_op *op = &m->bodies.at[b].ops[i];
            if (op->result_count < 2 || op->body_count) continue;
            int32_t *own = arena_copy_array(&m->memory, op->results, (size_t)op->result_count, sizeof *own);
            for (int r = 1; r < op->result_count; r++)
                if (own[r] >= 0 && !read[own[r]]) own[r] = -1;
            op->results = own;
        }
}

/* TTIR states in `operandSegmentSizes` which optional operands are present. */
static void layers_spread_operands(struct lx_model *m, struct model_op *op)
{
    static const char *const words[] = {"norm", "attention", "conv", "linear"};
    int count, next = 0;
    const int64_t *sizes = model_attr_ints(&op->attrs, "operandSegmentSizes", &count);
    int64_t sum = 0;
    bool optional = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) optional |= strstr(op->kind, words[i]) != NULL;
    for (int i = 0; i < count; i++) sum += sizes[i] == 0 || sizes[i] == 1 ? sizes[i] : MODEL_MAX_OPS;
    if (!optional || sum >= count || sum < op->operand_count || sum > op->operand_count + op->result_count)
        return;
    int32_t *all = arena_array(&m->memory, (size_t)count, sizeof *all);
    for (int i = 0; i < count; i++) all[i] = sizes[i] && next < op->operand_count ? op->operands[next++] : -1;
    while (count > 0 && all[count - 1] < 0) count--;
    op->operands = all;
    op->operand_count = count;
}

void model_expand(struct lx_model *m, const struct layer_limits *limits)
{
    struct layer_limits left = *limits;
    if (m->format == MODEL_ONNX) layers_drop_unread(m);
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            struct model_op *op = &m->bodies.at[b].ops[i];
            bool derived = m->bodies.at[b].derived;
            if (m->format == MODEL_TTIR && !derived) layers_spread_operands(m, op);
            derive_op *derive = layers_rule(m, op, derived, limits->macros);
            if (derive) layers_derive(m, op, derive, derived, &left);
        }
}

/* ---- parts ---- */

int32_t layer_fail(struct layer *l)
{
    l->ok = false;
    return -1;
}

int32_t layer_in(const struct layer *l, int operand)
{
    return operand < l->op->operand_count ? l->op->operands[operand] : -1;
}

const struct model_type *layer_type(const struct layer *l, int32_t value)
{
    static const struct model_type none = {.element = MODEL_F32};
    return value < 0 ? &none : model_type_of(l->m, value);
}

const struct model_type *layer_out(const struct layer *l)
{
    return model_type_of(l->m, l->op->results[0]);
}

int64_t layer_int(const struct layer *l, const char *key, int64_t otherwise)
{
    return model_attr_int(&l->op->attrs, key, otherwise);
}

double layer_real(const struct layer *l, const char *key, double otherwise)
{
    const struct model_attr *a = model_attr_find(&l->op->attrs, key);
    if (!a) return otherwise;
    if (a->form == ATTR_REAL) return a->real;
    if (a->form == ATTR_INT) return (double)a->number;
    char *end = NULL; /* HLO has such numbers as text */
    double number = a->text ? strtod(a->text, &end) : 0;
    return end && end != a->text ? number : otherwise;
}

void layer_put(struct layer *l, const char *key, int64_t number)
{
    l->attr[l->attr_count++] = (struct model_attr){.key = key, .form = ATTR_INT, .number = number};
}

void layer_put_list(struct layer *l, const char *key, int count, const int64_t *list)
{
    struct model_attr *a = &l->attr[l->attr_count++];
    *a = (struct model_attr){.key = key, .form = ATTR_INTS, .count = count};
    a->ints = arena_copy_array(&l->m->memory, list, (size_t)count, sizeof *list);
}

int32_t layer_add(struct layer *l, struct model_op op, int count, const int32_t *operands,
                  const struct model_type *type, const struct model_data *data)
{
    struct arena *memory = &l->m->memory;
    if (!l->ok || (int64_t)l->ops.count >= l->limits->ops) return layer_fail(l);
    struct model_value v = {.name = op.kind, .from = FROM_OP, .body = l->body, .type = type, .data = data};
    v.op = (int32_t)l->ops.count;
    v.line = l->op->line, v.column = l->op->column;
    op.location = NULL;
    if (l->op->location) v.name = op.location = arena_format(memory, "%.3000s/%s", l->op->location, op.kind);
    int32_t result = model_add_value(l->m, &v, l->st);
    op.instead = 0;
    op.line = l->op->line;
    op.column = l->op->column;
    op.operand_count = count;
    op.operands = arena_copy_array(memory, operands, (size_t)count, sizeof *operands);
    op.result_count = 1;
    op.results = arena_copy_array(memory, &result, 1, sizeof result);
    if (result < 0 || (!type && !onnx_infer_part(l->m, &op, l->st)) ||
        layer_type(l, result)->count > VIEW_MAX_RANK)
        return layer_fail(l);
    if (!type && l->runs) l->m->values.at[result].data = NULL;
    VEC_PUSH(&l->ops, op);
    return result;
}

int32_t layer_part(struct layer *l, const char *kind, int count, const int32_t *operands)
{
    struct model_op op = {.kind = kind, .attrs.count = l->attr_count};
    op.attrs.at = arena_copy_array(&l->m->memory, l->attr, (size_t)l->attr_count, sizeof *l->attr);
    l->attr_count = 0;
    return layer_add(l, op, count, operands, NULL, NULL);
}

int32_t layer_one(struct layer *l, const char *kind, int32_t a)
{
    return layer_part(l, kind, 1, &a);
}

int32_t layer_two(struct layer *l, const char *kind, int32_t a, int32_t b)
{
    return layer_part(l, kind, 2, (int32_t[]){a, b});
}

/* A Constant: a number of rank 0, or a list of at most MODEL_MAX_KNOWN; longer lists would be lost. */
static int32_t layer_constant(struct layer *l, enum model_element e, int rank, int64_t count,
                              const int64_t *ints, const double *reals)
{
    struct model_data *d = arena_alloc(&l->m->memory, sizeof *d);
    if (!l->ok || count > MODEL_MAX_KNOWN) return layer_fail(l);
    *d = (struct model_data){.form = rank ? DATA_LIST : DATA_SPLAT};
    d->type = model_type_make(l->m, e, rank, &count, l->st);
    if (ints) d->ints = arena_copy_array(&l->m->memory, ints, (size_t)count, sizeof *ints);
    if (reals) d->reals = arena_copy_array(&l->m->memory, reals, (size_t)count, sizeof *reals);
    return layer_add(l, (struct model_op){.kind = "Constant"}, 0, NULL, d->type, d);
}

int32_t layer_number(struct layer *l, enum model_element e, double number)
{
    bool real = model_element_row(e)->number == MODEL_FLOAT;
    if (!real && !(fabs(number) < 9e15)) return layer_fail(l);
    int64_t whole = real ? 0 : (int64_t)number;
    return layer_constant(l, e, 0, 1, real ? NULL : &whole, real ? &number : NULL);
}

int32_t layer_list(struct layer *l, int count, const int64_t *numbers)
{
    static const int64_t nothing[1]; /* an empty list needs an array, too */
    return layer_constant(l, MODEL_I64, 1, count, numbers ? numbers : nothing, NULL);
}

int32_t layer_by(struct layer *l, const char *kind, int32_t a, double number)
{
    return layer_two(l, kind, a, layer_number(l, layer_type(l, a)->element, number));
}

int32_t layer_cast(struct layer *l, int32_t a, enum model_element e)
{
    if (!l->ok || layer_type(l, a)->element == e) return a;
    layer_put(l, "to", model_element_row(e)->onnx);
    return layer_one(l, "Cast", a);
}

int32_t layer_reshape(struct layer *l, int32_t a, int rank, const int64_t *extent)
{
    int32_t shape = layer_list(l, rank, extent);
    layer_put(l, "allowzero", 1);
    return layer_two(l, "Reshape", a, shape);
}

int32_t layer_permute(struct layer *l, int32_t a, int rank, const int64_t *perm)
{
    layer_put_list(l, "perm", rank, perm);
    return layer_one(l, "Transpose", a);
}

int32_t layer_expand_to(struct layer *l, int32_t a, int rank, const int64_t *extent)
{
    return layer_two(l, "Expand", a, layer_list(l, rank, extent));
}

int32_t layer_slice(struct layer *l, int32_t a, int axis, int64_t begin, int64_t end)
{
    int32_t from = layer_list(l, 1, &begin), to = layer_list(l, 1, &end);
    int32_t along = layer_list(l, 1, (int64_t[]){axis});
    return layer_part(l, "Slice", 4, (int32_t[]){a, from, to, along});
}

int32_t layer_concat(struct layer *l, int axis, int count, const int32_t *parts)
{
    if (count == 1) return parts[0];
    layer_put(l, "axis", axis);
    return layer_part(l, "Concat", count, parts);
}

int32_t layer_reduce(struct layer *l, const char *kind, int32_t a, int count, const int64_t *axes)
{
    layer_put_list(l, "axes", count, axes);
    layer_put(l, "keepdims", 1);
    return layer_one(l, kind, a);
}

int32_t layer_channels(struct layer *l, int32_t vector, int rank, int64_t axis)
{
    int64_t extent[MODEL_MAX_RANK];
    if (axis < 0 || axis >= rank || rank > MODEL_MAX_RANK) return layer_fail(l);
    for (int d = 0; d < rank; d++) extent[d] = d == axis ? layer_type(l, vector)->elements : 1;
    return layer_reshape(l, vector, rank, extent);
}

bool layer_result(struct layer *l, int result, int32_t value)
{
    const struct model_type *want = NULL, *have = layer_type(l, value);
    for (int r = 0, leaf = result; !want && r < l->op->result_count; r++) {
        const struct model_type *t = l->op->results[r] < 0 ? NULL : model_type_of(l->m, l->op->results[r]);
        int leaves = t ? t->leaves : 1;
        if (leaf >= 0 && leaf < leaves && t) want = model_leaf_type(t, leaf);
        leaf -= leaves;
    }
    if (!l->ok || !want) return l->ok;
    if (have->elements != want->elements) return layer_fail(l), false;
    for (int i = 0; i < l->op->operand_count; i++)
        if (value == l->op->operands[i]) value = layer_one(l, "Identity", value);
    if (!model_same_shape(have, want)) value = layer_reshape(l, value, want->count, want->extent);
    l->results[result] = layer_cast(l, value, want->element);
    return l->ok;
}
