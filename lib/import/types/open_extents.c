/* Numbers for extents that the file leaves open, in the order of the file: makers stand before readers, so
 * that what a rule needs of the operands is there. A number from the user goes before a rule; whether it
 * fits the rule is judged when all types are. */
#include "import/types/typing.h"
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

static const char *extent_bare(const char *name)
{
    return *name == '%' ? name + 1 : name;
}

bool model_extent_given(struct lx_model *m, const struct lx_model_options *o, const char *name, int64_t *out)
{
    for (int i = 0; i < o->dim_count; i++) {
        const char *said = o->dims[i].name;
        if (strcmp(m->format == MODEL_ONNX ? said : extent_bare(said), extent_bare(name)) != 0 &&
            strcmp(said, name) != 0)
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

/* What a reshape leaves: its one open extent is the rest of the elements. */
static void extent_fill_rest(const struct model_type *x, const struct model_type *y, int64_t *extent)
{
    int64_t product = 1;
    int open = -1;
    for (int d = 0; d < y->count; d++) {
        if (extent[d] < 0 && open >= 0) return;
        if (extent[d] < 0) open = d;
        if (extent[d] > 0 && product <= x->elements) product *= extent[d];
        if (extent[d] == 0) return;
    }
    if (open >= 0 && product <= x->elements && x->elements % product == 0)
        extent[open] = x->elements / product;
}

static void extent_follow(struct binding *b, struct model_op *op, const struct model_type *y, int64_t *extent)
{
    static const char *const views[] = {"reshape", "squeeze", "unsqueeze", "bitcast"};
    const struct model_type *x = op->operand_count > 0 ? model_type_of(b->m, op->operands[0]) : NULL;
    for (int i = 0; x && x->elements > 0 && i < 4; i++)
        if (strcmp(op->kind, views[i]) == 0) {
            extent_fill_rest(x, y, extent);
            return;
        }
    model_follow_types(b->m, op, extent);
}

static bool extent_all_known(const int64_t *extent, int rank)
{
    bool known = true;
    for (int d = 0; d < rank; d++) known &= extent[d] >= 0;
    return known;
}

/* What follows from something open is open because of that. */
static bool extent_is_root(const struct binding *b, const struct model_op *op)
{
    for (int i = 0; op && i < op->operand_count; i++)
        if (extent_is_open(model_type_of(b->m, op->operands[i]))) return false;
    return true;
}

/* `op` NULL: an argument. */
static bool extent_bind_tensor(struct binding *b, struct model_op *op, int32_t value)
{
    const struct model_value *v = &b->m->values.at[value];
    const struct model_type *t = v->type;
    int64_t extent[MODEL_MAX_RANK];
    char name[MODEL_MAX_NAME + 32];
    for (int d = 0; d < t->count; d++) {
        snprintf(name, sizeof name, "%%%s:%d", v->name ? v->name : "", d);
        extent[d] = t->extent[d];
        if (extent[d] < 0) model_extent_given(b->m, b->o, name, &extent[d]);
    }
    if (op && !extent_all_known(extent, t->count)) extent_follow(b, op, t, extent);
    for (int d = 0; d < t->count; d++) {
        if (extent[d] >= 0) continue;
        snprintf(name, sizeof name, "%%%s:%d", v->name ? v->name : "", d);
        if (extent_is_root(b, op)) model_extent_ask(&b->unbound, name);
        b->unknown = true;
    }
    const struct model_type *made = model_type_make(b->m, t->element, t->count, extent, b->st);
    if (!made) return false;
    struct model_type *turned = arena_copy_array(&b->m->memory, made, 1, sizeof *made);
    turned->order = t->order;
    b->m->values.at[value].type = turned;
    return true;
}

/* A tuple has the types of its operands, and an element that of the tuple. */
static bool extent_bind_tuple(struct binding *b, const struct model_op *op, int32_t value)
{
    const struct model_type *parts[MODEL_MAX_RANK];
    struct model_value *v = &b->m->values.at[value];
    if (!op || strcmp(op->kind, "tuple") != 0 || op->operand_count > MODEL_MAX_RANK) return true;
    for (int i = 0; i < op->operand_count; i++) parts[i] = model_type_of(b->m, op->operands[i]);
    v->type = model_tuple_make(b->m, parts, op->operand_count, b->st);
    return v->type != NULL;
}

static bool extent_bind_element(struct binding *b, const struct model_op *op, int32_t value)
{
    struct model_value *v = &b->m->values.at[value];
    const struct model_type *from = op->operand_count == 1 ? model_type_of(b->m, op->operands[0]) : NULL;
    int64_t index = model_attr_int(&op->attrs, "index", -1);
    if (!from || from->element != MODEL_TUPLE || index < 0 || index >= from->count) return true;
    if (from->parts[index]->element == v->type->element && from->parts[index]->count == v->type->count)
        v->type = from->parts[index];
    return true;
}

static bool extent_bind_value(struct binding *b, struct model_op *op, int32_t value)
{
    const struct model_type *t = model_type_of(b->m, value);
    if (!extent_is_open(t)) return true;
    if (op && strcmp(op->kind, "get-tuple-element") == 0 && !extent_bind_element(b, op, value)) return false;
    t = model_type_of(b->m, value);
    if (!extent_is_open(t)) return true;
    if (t->element != MODEL_TUPLE) return extent_bind_tensor(b, op, value);
    if (!extent_bind_tuple(b, op, value)) return false;
    b->unknown |= extent_is_open(model_type_of(b->m, value));
    return true;
}

static bool extent_bind_body(struct binding *b, const struct model_body *body)
{
    for (int i = 0; i < body->argument_count; i++)
        if (!extent_bind_value(b, NULL, body->arguments[i])) return false;
    for (int i = 0; i < body->op_count; i++)
        for (int k = 0; k < body->ops[i].result_count; k++)
            if (!extent_bind_value(b, &body->ops[i], body->ops[i].results[k])) return false;
    return true;
}

bool model_extents_bind(struct lx_model *m, const struct lx_model_options *o, lx_status *st)
{
    struct binding b = {.m = m, .o = o, .st = st};
    bool ok = true;
    for (size_t i = 0; ok && i < m->bodies.count; i++) ok = extent_bind_body(&b, &m->bodies.at[i]);
    ok = ok && model_extents_told(m, &b.unbound, st);
    if (ok && b.unknown)
        ok = status_set_at(st, LX_E_SHAPE, m->file, 0, 0,
                           "extents without a number that have no name to give");
    text_free(&b.unbound);
    return ok;
}
