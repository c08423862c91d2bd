/* Parts of derived bodies: each gets its result's type by the rules of ONNX as soon as it is made. */
#include "import/layers/layers.h"
#include "import/types/typing.h"
#include "base/fail.h"

#include <math.h>
#include <stdlib.h>

void layer_fail(struct layer *l)
{
    l->ok = false;
}

bool layer_has(const struct layer *l, int operand)
{
    return operand < l->op->operand_count && l->op->operands[operand] >= 0;
}

int32_t layer_in(const struct layer *l, int operand)
{
    return layer_has(l, operand) ? l->op->operands[operand] : -1;
}

const struct model_type *layer_type(const struct layer *l, int32_t value)
{
    static const struct model_type none = {.element = MODEL_F32};
    return value < 0 ? &none : model_type_of(l->m, value);
}

enum model_element layer_element(const struct layer *l, int32_t value)
{
    return layer_type(l, value)->element;
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
    if (l->attr_count == LAYER_MAX_ATTRS) {
        layer_fail(l);
        return;
    }
    l->attr[l->attr_count++] = (struct model_attr){.key = key, .form = ATTR_INT, .number = number};
}

void layer_put_real(struct layer *l, const char *key, double number)
{
    if (l->attr_count == LAYER_MAX_ATTRS) {
        layer_fail(l);
        return;
    }
    l->attr[l->attr_count++] = (struct model_attr){.key = key, .form = ATTR_REAL, .real = number};
}

void layer_put_list(struct layer *l, const char *key, int count, const int64_t *list)
{
    int64_t *own = arena_copy_array(&l->m->memory, list, (size_t)count, sizeof *list);
    if (l->attr_count == LAYER_MAX_ATTRS) {
        layer_fail(l);
        return;
    }
    l->attr[l->attr_count++] =
        (struct model_attr){.key = key, .form = ATTR_INTS, .count = count, .ints = own};
}

static int32_t layer_new_value(struct layer *l, const char *kind)
{
    struct model_value v = {.from = FROM_OP, .body = l->body, .op = (int32_t)l->ops.count};
    v.name = l->op->location ? arena_format(&l->m->memory, "%s/%s", l->op->location, kind) : kind;
    v.line = l->op->line;
    v.column = l->op->column;
    return v.name ? model_add_value(l->m, &v, l->st) : -1;
}

/* What the op of the file is called, and what this part of it is. */
static const char *layer_name_of(struct layer *l, const char *kind)
{
    if (!l->op->location) return NULL;
    return arena_format(&l->m->memory, "%.3000s/%s", l->op->location, kind);
}

bool layer_parts(struct layer *l, const char *kind, int count, const int32_t *operands, int result_count,
                 int32_t *results)
{
    struct model_op op = {.kind = kind,
                          .operand_count = count,
                          .result_count = result_count,
                          .line = l->op->line,
                          .column = l->op->column};
    for (int i = 0; i < result_count; i++) results[i] = -1;
    if (!l->ok || (int64_t)l->ops.count >= l->limits->ops) return l->ok = false;
    op.location = layer_name_of(l, kind);
    for (int i = 0; i < result_count; i++) results[i] = layer_new_value(l, kind);
    op.operands = arena_copy_array(&l->m->memory, operands, (size_t)count, sizeof *operands);
    op.results = arena_copy_array(&l->m->memory, results, (size_t)result_count, sizeof *results);
    op.attrs.count = l->attr_count;
    op.attrs.at = arena_copy_array(&l->m->memory, l->attr, (size_t)l->attr_count, sizeof *l->attr);
    l->attr_count = 0;
    for (int i = 0; i < result_count; i++) l->ok = l->ok && results[i] >= 0;
    l->ok = l->ok && onnx_infer_part(l->m, &op, l->st);
    if (l->ok) VEC_PUSH(&l->ops, op);
    return l->ok;
}

int32_t layer_like(struct layer *l, const struct model_op *like, int count, const int32_t *operands,
                   const struct model_type *type)
{
    struct model_op op = *like;
    if (!l->ok || !type || (int64_t)l->ops.count >= l->limits->ops) return l->ok = false, -1;
    int32_t result = layer_new_value(l, op.kind);
    op.instead = 0;
    op.location = layer_name_of(l, op.kind);
    op.operand_count = count;
    op.result_count = 1;
    op.operands = arena_copy_array(&l->m->memory, operands, (size_t)count, sizeof *operands);
    op.results = arena_copy_array(&l->m->memory, &result, 1, sizeof result);
    if (result < 0 || !l->ok) return l->ok = false, -1;
    l->m->values.at[result].type = type;
    VEC_PUSH(&l->ops, op);
    return l->ok ? result : -1;
}

int32_t layer_part(struct layer *l, const char *kind, int count, const int32_t *operands)
{
    int32_t result;
    return layer_parts(l, kind, count, operands, 1, &result) ? result : -1;
}

int32_t layer_one(struct layer *l, const char *kind, int32_t a)
{
    return layer_part(l, kind, 1, &a);
}

int32_t layer_two(struct layer *l, const char *kind, int32_t a, int32_t b)
{
    return layer_part(l, kind, 2, (int32_t[]){a, b});
}

/* A Constant with its numbers. */
static int32_t layer_constant(struct layer *l, enum model_element e, int rank, const int64_t *extent,
                              const int64_t *ints, const double *reals)
{
    struct model_data *d = arena_alloc(&l->m->memory, sizeof *d);
    size_t count = 1;
    for (int i = 0; i < rank; i++) count *= (size_t)extent[i];
    if (count > MODEL_MAX_KNOWN) layer_fail(l); /* its numbers would be lost */
    if (!l->ok) return -1;
    *d = (struct model_data){.form = rank ? DATA_LIST : DATA_SPLAT};
    d->type = model_type_make(l->m, e, rank, extent, l->st);
    if (ints) d->ints = arena_copy_array(&l->m->memory, ints, count, sizeof *ints);
    if (reals) d->reals = arena_copy_array(&l->m->memory, reals, count, sizeof *reals);
    struct model_op op = {.kind = "Constant", .result_count = 1, .line = l->op->line};
    int32_t result = layer_new_value(l, "Constant");
    op.results = arena_copy_array(&l->m->memory, &result, 1, sizeof result);
    op.location = layer_name_of(l, "Constant");
    if (result < 0 || !d->type) l->ok = false;
    if (!l->ok) return -1;
    l->m->values.at[result].type = d->type;
    l->m->values.at[result].data = d;
    VEC_PUSH(&l->ops, op);
    return l->ok ? result : -1;
}

int32_t layer_number(struct layer *l, enum model_element e, double number)
{
    bool real = model_element_row(e)->number == MODEL_FLOAT;
    if (!real && !(fabs(number) < 9e15)) return layer_fail(l), -1;
    int64_t whole = real ? 0 : (int64_t)number;
    return layer_constant(l, e, 0, NULL, real ? NULL : &whole, real ? &number : NULL);
}

int32_t layer_list(struct layer *l, int count, const int64_t *numbers)
{
    static const int64_t nothing[1]; /* a list of none is one, too */
    return layer_constant(l, MODEL_I64, 1, (int64_t[]){count}, numbers ? numbers : nothing, NULL);
}

int32_t layer_by(struct layer *l, const char *kind, int32_t a, double number)
{
    return layer_two(l, kind, a, layer_number(l, layer_element(l, a), number));
}

int32_t layer_cast(struct layer *l, int32_t a, enum model_element e)
{
    if (!l->ok || layer_element(l, a) == e) return a;
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

int32_t layer_gather(struct layer *l, int32_t a, int axis, int64_t count, const int64_t *from)
{
    int32_t index = count > MODEL_MAX_KNOWN ? (layer_fail(l), -1) : layer_list(l, (int)count, from);
    layer_put(l, "axis", axis);
    return layer_two(l, "Gather", a, index);
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

int32_t layer_reduce(struct layer *l, const char *kind, int32_t a, int count, const int64_t *axes, bool keep)
{
    layer_put_list(l, "axes", count, axes);
    layer_put(l, "keepdims", keep);
    return layer_one(l, kind, a);
}

int32_t layer_softmax(struct layer *l, int32_t a, int64_t axis)
{
    layer_put(l, "axis", axis);
    return layer_one(l, "Softmax", a);
}

int32_t layer_channels(struct layer *l, int32_t vector, int rank, int axis)
{
    int64_t extent[MODEL_MAX_RANK];
    if (axis < 0 || axis >= rank || rank > MODEL_MAX_RANK) return layer_fail(l), -1;
    for (int d = 0; d < rank; d++) extent[d] = d == axis ? layer_type(l, vector)->elements : 1;
    return layer_reshape(l, vector, rank, extent);
}

/* The type of a tensor of the results, counted through tuples; NULL: nobody wants it. */
static const struct model_type *layer_wanted(const struct layer *l, int leaf)
{
    for (int r = 0; r < l->op->result_count; r++) {
        const struct model_type *t = model_type_of(l->m, l->op->results[r]);
        int leaves = t ? t->leaves : 1;
        if (leaf < leaves) return t ? model_leaf_type(t, leaf) : NULL;
        leaf -= leaves;
    }
    return NULL;
}

void layer_result(struct layer *l, int result, int32_t value)
{
    const struct model_type *want = layer_wanted(l, result), *have = layer_type(l, value);
    if (!l->ok || !want) return;
    if (have->elements != want->elements) {
        layer_fail(l);
        return;
    }
    if (!model_same_shape(have, want)) value = layer_reshape(l, value, want->count, want->extent);
    l->results[result] = layer_cast(l, value, want->element);
}
