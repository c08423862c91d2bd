/* Older files of TTIR give each op an operand more per result: a tensor from "ttir.empty" that it shall write to. It says
 * nothing but the type, which the result has anyway: the op is read without it. */
#include "import/read/ttir.h"

#include <string.h>

static bool is_room(const struct lx_model *m, int32_t operand, int32_t result)
{
    const struct model_value *v = operand >= 0 ? &m->values.at[operand] : NULL;
    if (!v || v->from != FROM_OP) return false;
    const struct model_body *b = &m->bodies.at[v->body];
    const struct model_type *t = model_type_of(m, result);
    return v->op >= 0 && v->op < b->op_count && strcmp(b->ops[v->op].kind, "empty") == 0 &&
           v->type->element == t->element && model_same_shape(v->type, t);
}

/* One for each result, behind all other operands. */
static bool has_rooms(const struct lx_model *m, const struct model_op *op)
{
    int first = op->operand_count - op->result_count;
    bool all = op->result_count > 0 && first >= 0 && strcmp(op->kind, "call") != 0;
    for (int r = 0; all && r < op->result_count; r++)
        all = is_room(m, op->operands[first + r], op->results[r]);
    return all;
}

void ttir_drop_rooms(struct lx_model *m)
{
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            struct model_op *op = &m->bodies.at[b].ops[i];
            if (has_rooms(m, op)) op->operand_count -= op->result_count;
        }
}
