/* Which ops have derived bodies, and how the bodies are made. */
#include "import/layers/layers.h"
#include "import/read/onnx.h"
#include "base/memory.h"

#include <string.h>

/* The rule of an op; NULL: it has none here. Operands and results must be tensors that have elements and
 * are not complex; operands of ONNX beyond the first may be empty lists. */
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
        struct model_body b = {.name = op->location ? op->location : op->kind,
                               .op_count = (int)l.ops.count,
                               .results = l.results,
                               .result_count = l.result_count,
                               .derived = true};
        b.ops = arena_copy_array(&m->memory, l.ops.at, l.ops.count, sizeof *l.ops.at);
        VEC_PUSH(&m->bodies, b);
        op->instead = l.body + 1;
        left->ops -= (int64_t)l.ops.count;
    }
    VEC_FREE(&l.ops);
}

/* Drops results of ONNX beyond the first that nobody reads, whatever they are called. */
static void layers_drop_unread(struct lx_model *m)
{
    bool *read = mem_zeroed(m->values.count + 1, sizeof *read);
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
    mem_free(read);
}

/* TTIR states by `operandSegmentSizes` which optional operands are there. */
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
