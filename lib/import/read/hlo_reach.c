/* Who calls whom: which computations control goes into and which are applied to elements, and how often
 * loops run. */
#include "import/read/hlo.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Attributes that name computations, in the order in which an op has them. */
static const char *const naming[] = {"condition",
                                     "body",
                                     "to_apply",
                                     "calls",
                                     "branch_computations",
                                     "true_computation",
                                     "false_computation",
                                     "called_computations",
                                     "select",
                                     "scatter",
                                     NULL};

bool hlo_is_control(const struct model_op *op)
{
    static const char *const kinds[] = {"call",        "while",      "conditional",  "fusion",
                                        "async-start", "call-start", "fusion-start", NULL};
    for (int i = 0; kinds[i]; i++)
        if (strcmp(kinds[i], op->kind) == 0) return true;
    return false;
}

/* Binds what the op names: "%a" or "{%a, %b}" in each of these attributes. */
static bool reach_bind_op(struct hlo *h, struct model_op *op)
{
    struct source *s = &h->r.s;
    for (int i = 0; naming[i]; i++) {
        const char *text = model_attr_word(&op->attrs, naming[i], "");
        for (size_t n = 0; *text; text += n) {
            while (*text && !hlo_is_name(*text)) text++;
            for (n = 0; text[n] && hlo_is_name(text[n]);) n++;
            if (n == 0) break;
            const char *name = arena_copy(&s->m->memory, text, n);
            int32_t body = names_find(&h->computations, name);
            if (body < 0)
                return status_set_at(s->st, LX_E_UNKNOWN_NAME, s->m->file, op->line, op->column,
                                     "there is no computation %.80s", name);
            VEC_PUSH(&h->r.list, body);
        }
    }
    op->bodies = reader_list(&h->r, &op->body_count);
    return true;
}

/* Depth first, each computation once; `state`: 0 not seen, 1 on the way, 2 done. */
static bool reach_walk(struct hlo *h, int32_t body, char *state, int depth)
{
    const struct model_body *b = &h->r.s.m->bodies.at[body];
    if (state[body] == 2) return true;
    if (state[body] == 1 || depth > MODEL_MAX_DEPTH)
        return status_set_at(
            h->r.s.st, state[body] == 1 ? LX_E_CYCLE : LX_E_LIMIT, h->r.s.m->file, b->line, b->column,
            state[body] == 1 ? "computation %.80s calls itself" : "calls nest too deep at %.80s", b->name);
    state[body] = 1;
    for (int i = 0; i < b->op_count; i++)
        for (int k = 0; k < b->ops[i].body_count; k++)
            if (!reach_walk(h, b->ops[i].bodies[k], state, depth + 1)) return false;
    state[body] = 2;
    return true;
}

bool hlo_bind_bodies(struct hlo *h)
{
    struct lx_model *m = h->r.s.m;
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++)
            if (!reach_bind_op(h, &m->bodies.at[b].ops[i])) return false;
    char *state = mem_zeroed(m->bodies.count + 1, 1);
    bool ok = true;
    for (size_t b = 0; ok && b < m->bodies.count; b++) ok = reach_walk(h, (int32_t)b, state, 0);
    mem_free(state);
    return ok;
}

static void reach(const struct lx_model *m, int32_t body, enum hlo_use *use)
{
    const struct model_body *b = &m->bodies.at[body];
    if (use[body] == HLO_CONTROL) return;
    use[body] = HLO_CONTROL;
    for (int i = 0; i < b->op_count; i++)
        for (int k = 0; k < b->ops[i].body_count; k++)
            if (hlo_is_control(&b->ops[i])) reach(m, b->ops[i].bodies[k], use);
}

void hlo_uses(const struct lx_model *m, enum hlo_use *use)
{
    memset(use, 0, m->bodies.count * sizeof *use);
    reach(m, m->entry, use);
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            const struct model_op *op = &m->bodies.at[b].ops[i];
            for (int k = 0; k < op->body_count; k++)
                if (!hlo_is_control(op) && use[op->bodies[k]] == HLO_UNUSED) use[op->bodies[k]] = HLO_APPLIED;
        }
}

static const struct model_op *reach_maker(const struct lx_model *m, const struct model_body *b, int32_t value)
{
    const struct model_value *v = &m->values.at[value];
    return v->op >= 0 && v->op < b->op_count ? &b->ops[v->op] : NULL;
}

static const struct model_op *reach_root_of(const struct lx_model *m, const struct model_body *b)
{
    return b->result_count == 1 ? reach_maker(m, b, b->results[0]) : NULL;
}

static bool reach_constant_of(const struct lx_model *m, const struct model_body *b, int32_t value,
                              int64_t *out)
{
    const struct model_op *op = reach_maker(m, b, value);
    if (op && op->operand_count == 1 && (strcmp(op->kind, "copy") == 0 || strcmp(op->kind, "convert") == 0))
        op = reach_maker(m, b, op->operands[0]);
    if (!op || strcmp(op->kind, "constant") != 0) return false;
    const struct model_data *d = m->values.at[op->results[0]].data;
    if (!d || !d->ints || d->form != DATA_SPLAT) return false;
    *out = d->ints[0];
    return true;
}

/* The element of the argument tuple that a value is; -1: it is none. */
static int64_t reach_element_of(const struct lx_model *m, const struct model_body *b, int32_t value)
{
    const struct model_op *op = reach_maker(m, b, value);
    if (!op || strcmp(op->kind, "get-tuple-element") != 0 || op->operand_count != 1) return -1;
    const struct model_op *from = reach_maker(m, b, op->operands[0]);
    return from && strcmp(from->kind, "parameter") == 0 ? model_attr_int(&op->attrs, "index", -1) : -1;
}

/* Does the loop's body give back element `index` plus 1? */
static bool reach_counts_up(const struct lx_model *m, const struct model_body *b, int64_t index)
{
    const struct model_op *tuple = reach_root_of(m, b), *add;
    int64_t one;
    if (!tuple || strcmp(tuple->kind, "tuple") != 0 || index >= tuple->operand_count) return false;
    add = reach_maker(m, b, tuple->operands[index]);
    if (!add || strcmp(add->kind, "add") != 0 || add->operand_count != 2) return false;
    for (int i = 0; i < 2; i++)
        if (reach_element_of(m, b, add->operands[i]) == index &&
            reach_constant_of(m, b, add->operands[1 - i], &one) && one == 1)
            return true;
    return false;
}

int64_t hlo_trips(const struct lx_model *m, const struct model_body *body, const struct model_op *op)
{
    if (op->body_count != 2 || op->operand_count != 1) return -1;
    const struct model_body *condition = &m->bodies.at[op->bodies[0]];
    const struct model_op *test = reach_root_of(m, condition), *start = reach_maker(m, body, op->operands[0]);
    int64_t limit, first;
    if (!test || strcmp(test->kind, "compare") != 0 || test->operand_count != 2 ||
        strcmp(model_attr_word(&test->attrs, "direction", ""), "LT") != 0)
        return -1;
    int64_t index = reach_element_of(m, condition, test->operands[0]);
    if (index < 0 || !reach_constant_of(m, condition, test->operands[1], &limit)) return -1;
    if (!start || strcmp(start->kind, "tuple") != 0 || index >= start->operand_count) return -1;
    if (!reach_constant_of(m, body, start->operands[index], &first)) return -1;
    if (!reach_counts_up(m, &m->bodies.at[op->bodies[1]], index)) return -1;
    return limit > first ? limit - first : 0;
}
