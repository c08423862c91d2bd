/* Which ops have derived bodies, and the making of these. */
#include "import/layers/layers.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Complex numbers have no parts. */
static bool layers_is_complex(const struct lx_model *m, int32_t value)
{
    const struct model_type *t = value >= 0 ? model_type_of(m, value) : NULL;
    return t && (t->element == MODEL_C64);
}

static bool layers_has_complex(const struct lx_model *m, const struct model_op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (layers_is_complex(m, op->operands[i])) return true;
    for (int i = 0; i < op->result_count; i++)
        if (layers_is_complex(m, op->results[i])) return true;
    return false;
}

static derive_op *layers_rule_of(const struct lx_model *m, const struct model_op *op, bool derived,
                                 bool macros)
{
    enum model_format dialect = derived && !op->native ? MODEL_ONNX : m->format;
    const struct op_row *row = op_find(dialect, op->kind);
    if (!row || layers_has_complex(m, op) || (row->macro && !macros)) return NULL;
    return row->onnx_layer && dialect != MODEL_ONNX ? NULL : row->layer;
}

/* Tensors of the results; those that nobody wants count as one. */
static int layers_leaves_of(const struct lx_model *m, const struct model_op *op)
{
    int n = 0;
    for (int r = 0; r < op->result_count; r++)
        n += op->results[r] < 0 ? 1 : model_type_of(m, op->results[r])->leaves;
    return n;
}

static bool layers_all_there(const struct layer *l)
{
    bool all = l->ok;
    for (int r = 0, leaf = 0; r < l->op->result_count; r++) {
        bool wanted = l->op->results[r] >= 0;
        int leaves = wanted ? model_type_of(l->m, l->op->results[r])->leaves : 1;
        for (int i = 0; i < leaves; i++, leaf++)
            all = all && (!wanted || l->results[leaf] >= 0 ||
                          model_leaf_type(model_type_of(l->m, l->op->results[r]), i)->elements == 0);
    }
    return all;
}

/* Operands and results must be tensors that have elements; lists of ONNX and parts to be joined need not. */
static bool layers_can_be(const struct lx_model *m, const struct model_op *op)
{
    bool can = op->result_count > 0;
    for (int i = 0; i < op->operand_count; i++) {
        const struct model_type *t = model_type_of(m, op->operands[i]);
        bool empty = m->format == MODEL_ONNX && i > 0 && t && t->elements == 0;
        can = can && (op->operands[i] < 0 || (t && t->element != MODEL_TUPLE && (t->elements > 0 || empty)));
    }
    for (int i = 0; i < op->result_count; i++) {
        const struct model_type *t = model_type_of(m, op->results[i]);
        can = can && (op->results[i] < 0 || (t && t->elements > 0));
    }
    return can;
}

static void layers_derive(struct lx_model *m, struct model_op *op, derive_op *derive,
                          struct layer_limits *left)
{
    lx_status why = {0};
    struct layer l = {
        .m = m, .op = op, .limits = left, .ok = true, .st = &why, .body = (int32_t)m->bodies.count};
    l.result_count = layers_leaves_of(m, op);
    l.results = arena_array(&m->memory, (size_t)l.result_count + 1, sizeof *l.results);
    for (int i = 0; i < l.result_count; i++) l.results[i] = -1;
    derive(&l);
    if (layers_all_there(&l)) {
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

static void layers_count_reads(const struct lx_model *m, const int32_t *values, int count, bool *read)
{
    for (int i = 0; i < count; i++)
        if (values[i] >= 0 && (size_t)values[i] < m->values.count) read[values[i]] = true;
}

/* Results of ONNX beyond the first that nobody reads are not wanted, whatever they are called. */
static void layers_drop_unread(struct lx_model *m)
{
    bool *read = mem_zeroed(m->values.count + 1, sizeof *read);
    for (size_t b = 0; b < m->bodies.count; b++) {
        const struct model_body *body = &m->bodies.at[b];
        layers_count_reads(m, body->results, body->result_count, read);
        for (int i = 0; i < body->op_count; i++)
            layers_count_reads(m, body->ops[i].operands, body->ops[i].operand_count, read);
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

/* TTIR says by `operandSegmentSizes` which optional operands are there. */
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
            if (m->format == MODEL_TTIR && !m->bodies.at[b].derived) layers_spread_operands(m, op);
            derive_op *derive = layers_rule_of(m, op, m->bodies.at[b].derived, limits->macros);
            if (derive && layers_can_be(m, op)) layers_derive(m, op, derive, &left);
        }
}
