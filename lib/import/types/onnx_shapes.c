/* Shapes of everything that an ONNX graph makes, op by op: by the rule of its kind, else as the file declares it. Where
 * both are there they must agree. */
#include "import/layers/layers.h"
#include "import/read/onnx.h"
#include "base/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FOLDED = 1 << 24 }; /* elements that are computed ahead in one model */

const struct model_type *shaper_in(const struct shaper *x, int operand)
{
    return operand < x->op->operand_count ? model_type_of(x->m, x->op->operands[operand]) : NULL;
}

bool shaper_has(const struct shaper *x, int operand)
{
    return operand < x->op->operand_count && x->op->operands[operand] >= 0;
}

const struct model_data *shaper_data(const struct shaper *x, int operand)
{
    if (!shaper_has(x, operand)) return NULL;
    const struct model_data *d = x->m->values.at[x->op->operands[operand]].data;
    return d && (d->ints || d->reals) ? d : NULL;
}

static enum shaped wrong(struct shaper *x, enum lx_code code, const char *format, va_list args)
{
    char words[400];
    bool named = x->op->location && *x->op->location,
         makes = x->op->result_count > 0 && x->op->results[0] >= 0;
    const char *name = named ? x->op->location : makes ? x->m->values.at[x->op->results[0]].name : NULL;
    vsnprintf(words, sizeof words, format, args);
    status_set_at(x->st, code, x->m->file, 0, 0, "node %s%.100s (%.60s): %s", named || !name ? "" : "of ",
                  name ? name : "without a name", x->op->kind, words);
    return SHAPE_WRONG;
}

enum shaped shaper_wrong(struct shaper *x, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    wrong(x, LX_E_SHAPE, format, args);
    va_end(args);
    return SHAPE_WRONG;
}

enum shaped shaper_schema(struct shaper *x, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    wrong(x, LX_E_SCHEMA, format, args);
    va_end(args);
    return SHAPE_WRONG;
}

enum shaped shaper_set(struct shaper *x, int result, enum model_element e, int rank, const int64_t *extent)
{
    if (result >= x->op->result_count || x->op->results[result] < 0) return SHAPED;
    if (rank > MODEL_MAX_RANK) return shaper_wrong(x, "more than %d dimensions", MODEL_MAX_RANK);
    for (int d = 0; d < rank; d++)
        if (extent[d] < 0)
            return shaper_wrong(x, "dimension %d of the result would be %lld long", d, (long long)extent[d]);
    const struct model_type *t = model_type_make(x->m, e, rank, extent, x->st);
    if (!t)
        return x->st->code == LX_E_LIMIT ? shaper_wrong(x, "a result of more than 2^53 bytes") : SHAPE_WRONG;
    x->m->values.at[x->op->results[result]].type = t;
    return SHAPED;
}

int64_t shaper_int(const struct shaper *x, const char *key, int64_t otherwise)
{
    return model_attr_int(&x->op->attrs, key, otherwise);
}

bool shaper_ints(const struct shaper *x, const char *key, int operand, int64_t *out, int most, int *count)
{
    const struct model_attr *a = key ? model_attr_find(&x->op->attrs, key) : NULL;
    *count = -1;
    if (a && a->form == ATTR_INTS) {
        if (a->count > most) return false;
        *count = a->count;
        for (int i = 0; i < *count; i++) out[i] = a->ints[i];
        return true;
    }
    if (operand < 0 || !shaper_has(x, operand)) return true;
    const struct model_data *d = shaper_data(x, operand);
    if (!d || d->type->elements > most) return false;
    *count = (int)d->type->elements;
    for (int i = 0; i < *count; i++) out[i] = model_data_int(d, i);
    return true;
}

int shaper_axis(int64_t axis, int rank)
{
    if (axis < -rank || axis >= rank) return -1;
    return (int)(axis < 0 ? axis + rank : axis);
}

bool shaper_broadcast(int64_t *extent, int *rank, const struct model_type *with)
{
    int grow = with->count - *rank;
    if (grow > 0) {
        memmove(extent + grow, extent, (size_t)*rank * sizeof *extent);
        for (int d = 0; d < grow; d++) extent[d] = 1;
        *rank = with->count;
    }
    for (int d = 0; d < with->count; d++) {
        int64_t *e = &extent[*rank - 1 - d], other = with->extent[with->count - 1 - d];
        if (*e != other && *e != 1 && other != 1) return false;
        if (*e == 1) *e = other;
    }
    return true;
}

onnx_shape_of *onnx_shape_find(const struct onnx_shape_row *rows, const char *kind)
{
    for (; rows->kind; rows++)
        if (strcmp(rows->kind, kind) == 0) return rows->shape;
    return NULL;
}

static onnx_shape_of *rule_of(const char *kind)
{
    static onnx_shape_of *(*const tables[])(const char *) = {
        onnx_shape_basic, onnx_shape_view, onnx_shape_make, onnx_shape_window, onnx_shape_macro};
    onnx_shape_of *f = NULL;
    for (size_t i = 0; !f && i < sizeof tables / sizeof *tables; i++) f = tables[i](kind);
    return f;
}

static void words_of(const struct model_type *t, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "[");
    for (int d = 0; d < t->count && n + 24 < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%lld", d ? "," : "", (long long)t->extent[d]);
    if (n + 2 < size) snprintf(out + n, size - n, "]");
}

static enum shaped disagree(struct shaper *x, const struct model_value *v)
{
    char ours[160], theirs[160];
    words_of(v->type, ours, sizeof ours);
    words_of(v->declared, theirs, sizeof theirs);
    return shaper_wrong(x, "%.60s is %s, but the file declares %s", v->name, ours, theirs);
}

/* What no rule gave is taken as declared; what one gave must be as declared. */
static enum shaped settle(struct shaper *x)
{
    enum shaped all = SHAPED;
    for (int r = 0; r < x->op->result_count; r++) {
        if (x->op->results[r] < 0) continue;
        struct model_value *v = &x->m->values.at[x->op->results[r]];
        if (!v->type && v->declared && v->declared->elements >= 0) v->type = v->declared;
        if (!v->type) all = SHAPE_UNKNOWN;
        if (v->type && v->declared && v->declared_exact && !model_same_shape(v->type, v->declared))
            return disagree(x, v);
        if (v->type && v->declared && !x->one_opset && !onnx_check_declared(x, v)) return SHAPE_WRONG;
    }
    return all;
}

static bool body_shapes(struct shaper *x, int32_t body);

static bool op_shapes(struct shaper *x)
{
    onnx_shape_of *rule = rule_of(x->op->kind);
    struct model_op *op = x->op;
    for (int b = 0; rule && b < op->body_count; b++)
        if (!body_shapes(x, op->bodies[b])) return false;
    x->op = op;
    if (!x->one_opset) x->opset = onnx_opset(x->m, op->kind);
    if (!x->one_opset && !onnx_check_node(x)) return false;
    enum shaped by_rule = rule ? rule(x) : SHAPE_UNKNOWN;
    if (by_rule == SHAPE_WRONG) return false;
    enum shaped settled = settle(x);
    if (settled == SHAPE_UNKNOWN)
        shaper_wrong(
            x, rule ? "its shape depends on data; declare it (value_info), or fix the data (--value NAME=N)"
                    : "no rule for its shape, and the file declares none; declare it (value_info), as "
                      "onnx.shape_inference does");
    return settled == SHAPED && (by_rule != SHAPED || onnx_fold(x));
}

/* Inputs without a type, and results of functions that nobody makes. */
static bool all_typed(struct shaper *x, const int32_t *values, int count, const char *what)
{
    for (int i = 0; i < count; i++) {
        const struct model_value *v = values[i] < 0 ? NULL : &x->m->values.at[values[i]];
        if (v && (!v->type || v->type->elements < 0))
            return status_set_at(x->st, LX_E_SHAPE, x->m->file, 0, 0,
                                 "%s %.100s has no shape, and nobody makes it%s", what, v->name,
                                 v->body == x->m->entry ? "; declare its type and extents in the file"
                                                        : ", in a graph within a node; declare it there");
    }
    return true;
}

static bool body_shapes(struct shaper *x, int32_t body)
{
    const struct model_body *b = &x->m->bodies.at[body];
    if (!all_typed(x, b->arguments, b->argument_count, "input")) return false;
    for (int i = 0; i < b->op_count; i++) {
        x->op = &b->ops[i];
        if (!all_typed(x, x->op->operands, x->op->operand_count, "operand") || !op_shapes(x)) return false;
    }
    return all_typed(x, b->results, b->result_count, "output");
}

bool onnx_shapes(struct lx_model *m, const struct lx_model_options *options, lx_status *st)
{
    struct shaper x = {.m = m, .st = st, .budget = MOST_FOLDED, .options = options};
    if (!body_shapes(&x, m->entry)) return false;
    const struct model_body *b = &m->bodies.at[m->entry];
    return all_typed(&x, b->results, b->result_count, "output");
}

bool onnx_shape_part(struct lx_model *m, struct model_op *op, lx_status *st)
{
    struct shaper x = {
        .m = m, .op = op, .st = st, .budget = MOST_FOLDED, .opset = ONNX_DERIVED_OPSET, .one_opset = true};
    return op_shapes(&x);
}
