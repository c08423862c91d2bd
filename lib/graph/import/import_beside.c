/* Ops of HLO that begin something and end it later, and notes that keep ops in order: what runs beside others is done at
 * once, where it begins. */
#include "graph/import/import_steps.h"
#include "base/fail.h"

#include <string.h>

static int leaves_of(const struct import *im, int32_t value)
{
    return model_type_of(im->m, value)->leaves;
}

typedef VEC(struct import_value) value_list;

static bool add_leaves(struct import *im, int32_t value, value_list *to)
{
    for (int k = 0; k < leaves_of(im, value); k++)
        if (!VEC_PUSH(to, *import_leaf(im, value, k))) return status_no_memory(im->st);
    return true;
}

/* The rest of what it gives are notes that nobody reads. */
static bool bind_with_notes(struct import *im, const struct model_op *op, value_list *all)
{
    const struct model_type *type = model_type_of(im->m, op->results[0]);
    bool ok = (int)all->count <= type->leaves;
    for (int i = (int)all->count; ok && i < type->leaves; i++) {
        struct import_value v = {.storage = -1, .type = model_leaf_type(type, i)};
        if (v.type->elements > 0 && v.type->bytes > 0) ok = import_whole(im, v.type, 0, &v);
        ok = ok && (VEC_PUSH(all, v) || status_no_memory(im->st));
    }
    import_class(im, op, CLASS_FREE, "names");
    return ok && import_bind(im, op->results[0], all->at, type->leaves);
}

/* Its operands, the results of its body, and notes; a copy is the operand twice. */
static bool begun(struct import *im, const struct model_op *op)
{
    const struct model_body *b = op->body_count == 1 ? &im->m->bodies.at[op->bodies[0]] : NULL;
    int32_t back = im->body;
    value_list all = {0};
    bool ok = !b || b->argument_count == op->operand_count;
    for (int i = 0; ok && b && i < op->operand_count; i++)
        ok = leaves_of(im, b->arguments[i]) == leaves_of(im, op->operands[i]) &&
             import_pass_on(im, op->operands[i], 0, leaves_of(im, op->operands[i]), b->arguments[i]);
    if (!ok && im->st->code == LX_OK) return import_generic(im, op, "form");
    for (int i = 0; ok && i < op->operand_count; i++) ok = add_leaves(im, op->operands[i], &all);
    if (!b) ok = ok && add_leaves(im, op->operands[0], &all);
    if (b && ok) {
        if (++im->depth > MODEL_MAX_DEPTH)
            ok = status_set_at(im->st, LX_E_LIMIT, im->m->file, op->line, op->column, "calls nest too deep");
        ok = ok && import_body(im, op->bodies[0]);
        im->body = back;
        im->depth--;
        for (int i = 0; ok && i < b->result_count; i++) ok = add_leaves(im, b->results[i], &all);
    }
    if (ok && (int)all.count > leaves_of(im, op->results[0])) {
        VEC_FREE(&all);
        return import_generic(im, op, "form");
    }
    ok = ok && bind_with_notes(im, op, &all);
    VEC_FREE(&all);
    return ok;
}

/* All of the beginning, or what it gave beside its operands. */
static bool ended(struct import *im, const struct model_op *op, bool *done)
{
    const struct model_type *t = model_type_of(im->m, op->operands[0]);
    int wanted = leaves_of(im, op->results[0]), first = 0;
    if (t->leaves != wanted) {
        *done = t->element == MODEL_TUPLE && t->count >= 2 && t->parts[1]->leaves == wanted;
        if (!*done) return true;
        first = t->parts[0]->leaves;
    }
    import_class(im, op, CLASS_FREE, "names");
    return import_pass_on(im, op->operands[0], first, wanted, op->results[0]);
}

static bool is_one_of(const char *kind, const char *const *words)
{
    while (*words && strcmp(*words, kind) != 0) words++;
    return *words != NULL;
}

bool import_beside(struct import *im, const struct model_op *op, bool *done)
{
    static const char *const begins[] = {"async-start", "call-start", "fusion-start", "copy-start", NULL},
                             *const ends[] = {"async-done",
                                              "call-done",
                                              "fusion-done",
                                              "copy-done",
                                              "async-update",
                                              "all-reduce-done",
                                              "all-gather-done",
                                              "all-to-all-done",
                                              "reduce-scatter-done",
                                              "collective-permute-done",
                                              "collective-broadcast-done",
                                              NULL},
                             *const notes[] = {"after-all", "create-token", NULL};
    value_list none = {0};
    *done = im->format == MODEL_HLO && op->result_count == 1 && op->results[0] >= 0;
    if (*done && is_one_of(op->kind, notes)) return bind_with_notes(im, op, &none);
    *done = *done && op->operand_count > 0 && op->operands[0] >= 0;
    if (*done && is_one_of(op->kind, ends)) return ended(im, op, done);
    *done =
        *done && is_one_of(op->kind, begins) && (op->body_count == 1 || strncmp(op->kind, "copy", 4) == 0);
    return !*done || begun(im, op);
}
