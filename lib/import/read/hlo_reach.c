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

/* ---- loops ---- */

/* The op of that kind and of so many operands (-1: any) that makes a value of the body; NULL: none such. */
static const struct model_op *reach_made(const struct lx_model *m, const struct model_body *b, int32_t value,
                                         const char *kind, int operands)
{
    const struct model_value *v = &m->values.at[value];
    const struct model_op *op = v->op >= 0 && v->op < b->op_count ? &b->ops[v->op] : NULL;
    bool fits = op && strcmp(op->kind, kind) == 0 && (operands < 0 || op->operand_count == operands);
    return fits ? op : NULL;
}

static bool reach_constant(const struct lx_model *m, const struct model_body *b, int32_t value, int64_t *out)
{
    const struct model_op *same = reach_made(m, b, value, "copy", 1);
    if (!same) same = reach_made(m, b, value, "convert", 1);
    const struct model_op *op = reach_made(m, b, same ? same->operands[0] : value, "constant", 0);
    const struct model_data *d = op ? m->values.at[op->results[0]].data : NULL;
    if (!d || !d->ints || d->form != DATA_SPLAT) return false;
    *out = d->ints[0];
    return true;
}

/* The element of the argument tuple that a value is; -1: it is none. */
static int64_t reach_element(const struct lx_model *m, const struct model_body *b, int32_t value)
{
    const struct model_op *op = reach_made(m, b, value, "get-tuple-element", 1);
    return op && reach_made(m, b, op->operands[0], "parameter", -1) ? model_attr_int(&op->attrs, "index", -1)
                                                                    : -1;
}

/* Counted: an element that starts at a constant is compared with one, and the body adds 1 to it. */
int64_t hlo_trips(const struct lx_model *m, const struct model_body *body, const struct model_op *op)
{
    if (op->body_count != 2 || op->operand_count != 1) return -1;
    const struct model_body *condition = &m->bodies.at[op->bodies[0]], *again = &m->bodies.at[op->bodies[1]];
    const struct model_op *test = reach_made(m, condition, condition->results[0], "compare", 2),
                          *start = reach_made(m, body, op->operands[0], "tuple", -1),
                          *next = reach_made(m, again, again->results[0], "tuple", -1), *add;
    int64_t limit, first, one, index = test ? reach_element(m, condition, test->operands[0]) : -1;
    if (!start || !next || index < 0 || index >= start->operand_count || index >= next->operand_count ||
        strcmp(model_attr_word(&test->attrs, "direction", ""), "LT") != 0 ||
        !reach_constant(m, condition, test->operands[1], &limit) ||
        !reach_constant(m, body, start->operands[index], &first) ||
        !(add = reach_made(m, again, next->operands[index], "add", 2)))
        return -1;
    for (int i = 0; i < 2; i++)
        if (reach_element(m, again, add->operands[i]) == index &&
            reach_constant(m, again, add->operands[1 - i], &one) && one == 1)
            return limit > first ? limit - first : 0;
    return -1;
}
