/* Numbers for extents that the file leaves open, in the order of the file: makers stand before readers, so
 * that what a rule needs of the operands is there. A number from the user goes before a rule; whether it
 * fits the rule is judged when all types are. */
#include "import/types/typing.h"
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

bool model_extent_given(struct lx_model *m, const struct lx_model_options *o, const char *name, int64_t *out)
{
    bool bare = m->format != MODEL_ONNX;
    for (int i = 0; i < o->dim_count; i++) {
        const char *said = o->dims[i].name;
        if (strcmp(said, name) != 0 && strcmp(said + (bare && *said == '%'), name + (*name == '%')) != 0)
            continue;
        *out = o->dims[i].value;
        m->dim_used[i] = true;
        return true;
    }
    return false;
}

void model_extent_ask(struct text *unbound, const char *name)
{
    char line[MODEL_MAX_NAME + 64];
    size_t n = (size_t)snprintf(line, sizeof line, " --dim %s=N", name);
    if (unbound->length > 600 || n > 200) return;
    if (!unbound->at || !strstr(unbound->at, line)) text_add(unbound, line);
}

bool model_extents_told(const struct lx_model *m, const struct text *unbound, lx_status *st)
{
    if (unbound->length == 0) return true;
    return status_set_at(st, LX_E_SHAPE, m->file, 0, 0,
                         "extents without a number; give each one, as in \"lxplan import FILE%s\"",
                         unbound->at);
}

/* What is under way. */
struct binding {
    struct lx_model *m;
    const struct lx_model_options *o;
    struct text unbound;
    bool unknown; /* something had no number, asked for or not */
    lx_status *st;
};

static bool extent_is_open(const struct model_type *t)
{
    return t && t->elements < 0;
}

/* Open extents of a result that follow from the operands; that of a reshape is the rest of the elements. */
static void extent_follow(struct binding *b, struct model_op *op, const struct model_type *y, int64_t *extent)
{
    static const char *const views[] = {"reshape", "squeeze", "unsqueeze", "bitcast"};
    const struct model_type *x = op->operand_count > 0 ? model_type_of(b->m, op->operands[0]) : NULL;
    int64_t product = 1;
    int open = -1;
    bool view = false;
    for (int i = 0; x && x->elements > 0 && i < 4; i++) view |= strcmp(op->kind, views[i]) == 0;
    if (!view) model_follow_types(b->m, op, extent);
    for (int d = 0; view && d < y->count; d++) {
        if ((extent[d] < 0 && open >= 0) || extent[d] == 0) return;
        if (extent[d] < 0) open = d;
        if (extent[d] > 0 && product <= x->elements) product *= extent[d];
    }
    if (open >= 0 && product <= x->elements && x->elements % product == 0)
        extent[open] = x->elements / product;
}

/* `op` NULL: an argument. */
static bool extent_bind_tensor(struct binding *b, struct model_op *op, struct model_value *v)
{
    const struct model_type *t = v->type;
    int64_t extent[MODEL_MAX_RANK];
    char name[MODEL_MAX_NAME + 32];
    bool root = true, all = true; /* root: nothing that it is made of is open */
    for (int i = 0; op && i < op->operand_count; i++)
        root &= !extent_is_open(model_type_of(b->m, op->operands[i]));
    for (int pass = 0; pass < 2; pass++) {
        if (pass > 0 && op && !all) extent_follow(b, op, t, extent);
        for (int d = 0; d < t->count; d++) {
            snprintf(name, sizeof name, "%%%s:%d", v->name ? v->name : "", d);
            if (pass == 0) extent[d] = t->extent[d];
            if (pass == 0 && extent[d] < 0) model_extent_given(b->m, b->o, name, &extent[d]);
            all &= extent[d] >= 0;
            if (pass == 0 || extent[d] >= 0) continue;
            if (root) model_extent_ask(&b->unbound, name);
            b->unknown = true;
        }
    }
    const struct model_type *made = model_type_make(b->m, t->element, t->count, extent, b->st);
    if (!made) return false;
    struct model_type *turned = arena_copy_array(&b->m->memory, made, 1, sizeof *made);
    turned->order = t->order;
    v->type = turned;
    return true;
}

/* A tuple has the types of its operands, and an element that of the tuple. */
static bool extent_bind_value(struct binding *b, struct model_op *op, int32_t value)
{
    struct model_value *v = &b->m->values.at[value];
    if (!extent_is_open(v->type)) return true;
    if (op && op->operand_count == 1 && strcmp(op->kind, "get-tuple-element") == 0) {
        const struct model_type *from = model_type_of(b->m, op->operands[0]);
        int64_t index = model_attr_int(&op->attrs, "index", -1);
        bool inside = from->element == MODEL_TUPLE && index >= 0 && index < from->count;
        if (inside && from->parts[index]->element == v->type->element &&
            from->parts[index]->count == v->type->count)
            v->type = from->parts[index];
    }
    if (op && strcmp(op->kind, "tuple") == 0 && op->operand_count <= MODEL_MAX_RANK) {
        const struct model_type *parts[MODEL_MAX_RANK];
        for (int i = 0; i < op->operand_count; i++) parts[i] = model_type_of(b->m, op->operands[i]);
        v->type = model_tuple_make(b->m, parts, op->operand_count, b->st);
        if (!v->type) return false;
    }
    if (extent_is_open(v->type) && v->type->element != MODEL_TUPLE) return extent_bind_tensor(b, op, v);
    b->unknown |= extent_is_open(v->type);
    return true;
}

bool model_extents_bind(struct lx_model *m, const struct lx_model_options *o, lx_status *st)
{
    struct binding b = {.m = m, .o = o, .st = st};
    bool ok = true;
    for (size_t i = 0; i < m->bodies.count; i++) {
        const struct model_body *body = &m->bodies.at[i];
        for (int k = 0; ok && k < body->argument_count; k++)
            ok = extent_bind_value(&b, NULL, body->arguments[k]);
        for (int k = 0; ok && k < body->op_count; k++)
            for (int r = 0; ok && r < body->ops[k].result_count; r++)
                ok = extent_bind_value(&b, &body->ops[k], body->ops[k].results[r]);
    }
    ok = ok && model_extents_told(m, &b.unbound, st);
    if (ok && b.unknown)
        ok = status_set_at(st, LX_E_SHAPE, m->file, 0, 0,
                           "extents without a number that have no name to give");
    text_free(&b.unbound);
    return ok;
}
