/* Walking through bodies: calls are inlined, of branches one is taken, loops are walked through once. Values may be
 * tuples of tensors. */
#include "graph/import/import.h"
#include "base/fail.h"

#include <string.h>

struct op_class *import_class_of(const struct import *im, const struct model_op *op)
{
    const struct model_body *b = &im->m->bodies.at[im->body];
    return &im->classes[im->body][op - b->ops];
}

/* A body that is called often is classed once. */
void import_class(struct import *im, const struct model_op *op, enum import_class class, const char *reason)
{
    struct op_class *c = import_class_of(im, op);
    if (c->seen) return;
    c->class = class;
    c->reason = reason;
    c->seen = true;
}

static int leaves_of(const struct import *im, int32_t value)
{
    return model_type_of(im->m, value)->leaves;
}

/* The leaves of a value that exists become those of another. */
static bool pass_on(struct import *im, int32_t from, int first, int count, int32_t to)
{
    VEC(struct import_value) copy = {0};
    bool ok = true;
    for (int i = 0; ok && i < count; i++)
        ok = VEC_PUSH(&copy, *import_leaf(im, from, first + i)) ? true : status_no_memory(im->st);
    ok = ok && import_bind(im, to, copy.at, count);
    VEC_FREE(&copy);
    return ok;
}

static bool tuple(struct import *im, const struct model_op *op)
{
    VEC(struct import_value) all = {0};
    bool ok = true;
    for (int i = 0; ok && i < op->operand_count; i++)
        for (int k = 0; ok && k < leaves_of(im, op->operands[i]); k++)
            ok = VEC_PUSH(&all, *import_leaf(im, op->operands[i], k)) ? true : status_no_memory(im->st);
    if (ok && (int)all.count != leaves_of(im, op->results[0]))
        ok = status_set_at(im->st, LX_E_SHAPE, im->m->file, op->line, op->column,
                           "the tuple has another type than its parts");
    ok = ok && import_bind(im, op->results[0], all.at, (int)all.count);
    VEC_FREE(&all);
    import_class(im, op, CLASS_FREE, "names");
    return ok;
}

static bool element(struct import *im, const struct model_op *op)
{
    const struct model_type *t = model_type_of(im->m, op->operands[0]);
    int64_t index = model_attr_int(&op->attrs, "index", -1);
    int first = 0;
    if (t->element != MODEL_TUPLE || index < 0 || index >= t->count)
        return status_set_at(im->st, LX_E_SHAPE, im->m->file, op->line, op->column,
                             "the tuple has no element %lld", (long long)index);
    for (int64_t i = 0; i < index; i++) first += t->parts[i]->leaves;
    import_class(im, op, CLASS_FREE, "names");
    if (t->parts[index]->leaves != leaves_of(im, op->results[0]))
        return status_set_at(im->st, LX_E_SHAPE, im->m->file, op->line, op->column,
                             "element %lld of the tuple has another type", (long long)index);
    return pass_on(im, op->operands[0], first, t->parts[index]->leaves, op->results[0]);
}

/* A body with these operands; its results become those of the op. */
static bool enter(struct import *im, const struct model_op *op, int32_t number, const int32_t *operands,
                  int count)
{
    const struct model_body *b = &im->m->bodies.at[number];
    int32_t back = im->body;
    if (++im->depth > MODEL_MAX_DEPTH)
        return status_set_at(im->st, LX_E_LIMIT, im->m->file, op->line, op->column, "calls nest too deep");
    bool fits = b->argument_count == count && b->result_count >= op->result_count;
    for (int i = 0; fits && i < count; i++)
        fits = leaves_of(im, b->arguments[i]) == leaves_of(im, operands[i]);
    for (int i = 0; fits && i < op->result_count; i++)
        fits = leaves_of(im, b->results[i]) == leaves_of(im, op->results[i]);
    if (!fits)
        return status_set_at(im->st, LX_E_SHAPE, im->m->file, op->line, op->column,
                             "operands are not those of %.80s", b->name);
    for (int i = 0; i < count; i++)
        if (!pass_on(im, operands[i], 0, leaves_of(im, operands[i]), b->arguments[i])) return false;
    import_class(im, op, CLASS_FREE, "inlined");
    if (!import_body(im, number)) return false;
    im->body = back;
    im->depth--;
    for (int i = 0; i < op->result_count; i++)
        if (!pass_on(im, b->results[i], 0, leaves_of(im, b->results[i]), op->results[i])) return false;
    return true;
}

/* One branch: what was asked for, else the one with most ops. */
static bool branches(struct import *im, const struct model_op *op)
{
    int taken = 0;
    bool by_number = im->options.branch >= 0 && im->options.branch < op->body_count;
    for (int k = 1; k < op->body_count; k++)
        if (im->m->bodies.at[op->bodies[k]].op_count > im->m->bodies.at[op->bodies[taken]].op_count)
            taken = k;
    if (by_number) taken = (int)im->options.branch;
    if (im->m->format == MODEL_ONNX) return enter(im, op, op->bodies[taken], NULL, 0);
    if (taken + 1 >= op->operand_count) return import_opaque(im, "generic", op);
    return enter(im, op, op->bodies[taken], op->operands + 1 + taken, 1);
}

static bool control(struct import *im, const struct model_op *op, bool *done)
{
    *done = true;
    if (strcmp(op->kind, "tuple") == 0) return tuple(im, op);
    if (strcmp(op->kind, "get-tuple-element") == 0 && op->operand_count == 1) return element(im, op);
    if (op->body_count == 1 && (strcmp(op->kind, "call") == 0 || strcmp(op->kind, "fusion") == 0))
        return enter(im, op, op->bodies[0], op->operands, op->operand_count);
    if (op->body_count == 2 && strcmp(op->kind, "while") == 0)
        return enter(im, op, op->bodies[1], op->operands, op->operand_count);
    if (op->body_count > 0 && (strcmp(op->kind, "conditional") == 0 || strcmp(op->kind, "If") == 0))
        return branches(im, op);
    *done = false;
    return true;
}

bool import_body(struct import *im, int32_t number)
{
    const struct model_body *b = &im->m->bodies.at[number];
    for (int i = 0; i < b->op_count; i++) {
        const struct model_op *op = &b->ops[i];
        bool done;
        im->body = number;
        if (strcmp(op->kind, "parameter") == 0 && im->m->format == MODEL_HLO) {
            import_class(im, op, CLASS_FREE, "names");
            continue;
        }
        if (++im->walked > LX_MAX_ITEMS || im->sketches.count > LX_MAX_ITEMS)
            return status_set_at(im->st, LX_E_LIMIT, im->m->file, op->line, op->column,
                                 "more than %d ops after inlining", LX_MAX_ITEMS);
        struct op_class *c = import_class_of(im, op);
        bool first = !c->seen;
        if (first) c->first = (int32_t)im->sketches.count;
        im->result_name = op->location                              ? op->location
                          : op->result_count && op->results[0] >= 0 ? im->m->values.at[op->results[0]].name
                                                                    : op->kind;
        if (!control(im, op, &done) || (!done && !import_op(im, op))) return false;
        im->body = number;
        if (first) c->end = (int32_t)im->sketches.count;
    }
    return true;
}
