/* Ops that go along dimensions: sums and the like. */
#include "import/map/import_steps.h"
#include "import/types/typing.h"

#include <math.h>
#include <string.h>

void import_without_repeats(struct import *im, const struct model_op *op, struct import_value *v,
                            const bool *goes)
{
    bool repeats = false;
    import_stored(im, v);
    for (int d = 0; d < v->view.rank; d++)
        for (int i = v->view.first[d]; goes[d] && i < v->view.first[d + 1]; i++)
            repeats |= v->view.atom[i].low == 0;
    if (!repeats) return;
    import_plain(im, v, op);
    im->sketches.at[im->sketches.count - 1].why = "repeats";
}

static bool reduce_value(struct import *im, const struct model_op *op, struct import_value v,
                         const char *ours, const bool *goes)
{
    struct import_value out;
    const struct model_type *x = v.type, *type = import_type_out(im, op);
    int dims[VIEW_MAX_RANK], next = 0;
    bool keeps = type->count == x->count;
    if (!lx_kind_find(ours)) return import_generic(im, op, "kind");
    for (int d = 0; d < x->count; d++)
        if (!goes[d] || keeps) {
            if (next == type->count) return import_generic(im, op, "schema");
            dims[next++] = goes[d] ? -1 : d;
        }
    if (next != type->count) return import_generic(im, op, "schema");
    import_without_repeats(im, op, &v, goes);
    struct sketch_operand in = {v.storage, v.view, v.via};
    struct sketching s = {.kind = ours,
                          .from = op,
                          .rank = x->count,
                          .extent = x->extent,
                          .in = &in,
                          .count = 1,
                          .type = type,
                          .dims = dims};
    import_sketch(im, &s, &out);
    return import_mapped(im, op, &out);
}

/* Places are counted in the order of the file: the operand is laid out that way. */
bool map_arg_reduce(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = *import_in(im, op, 0);
    const struct model_type *x = v.type;
    bool goes[VIEW_MAX_RANK] = {false}, onnx = im->format == MODEL_ONNX;
    int count = 0;
    const int64_t *list = onnx ? NULL : model_attr_ints(&op->attrs, "dim_arg", &count);
    int64_t length = 1;
    int dim = typing_dim(onnx ? model_attr_int(&op->attrs, "axis", 0) : count == 1 ? list[0] : 0, x->count);
    if (count > 1 || dim < 0 || model_attr_int(&op->attrs, "select_last_index", 0) != 0)
        return import_generic(im, op, "axis");
    for (int d = 0; d < x->count; d++) {
        goes[d] = d == dim || (!onnx && count == 0);
        if (goes[d]) length *= x->extent[d];
    }
    if (length == 1) return import_number(im, op, 0);
    import_plain(im, &v, op);
    return reduce_value(im, op, v, ours, goes);
}

bool map_reduce(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const keys[] = {
        [MODEL_TTIR] = "dim_arg", [MODEL_HLO] = "dimensions", [MODEL_ONNX] = "axes"};
    int count, rank = import_in(im, op, 0)->type->count;
    const int64_t *list = model_attr_ints(&op->attrs, keys[im->format], &count);
    const struct model_data *d =
        op->operand_count > 1 && im->format == MODEL_ONNX ? im->m->values.at[op->operands[1]].data : NULL;
    bool goes[VIEW_MAX_RANK] = {false};
    if (!list && d && d->ints && d->type->elements <= VIEW_MAX_RANK) {
        list = d->ints;
        count = (int)d->type->elements;
    }
    for (int i = 0; i < rank; i++) goes[i] = count == 0;
    for (int i = 0; i < count; i++) {
        int dim = typing_dim(list[i], rank);
        if (dim < 0) return import_generic(im, op, "schema");
        goes[dim] = true;
    }
    return reduce_value(im, op, *import_in(im, op, 0), ours, goes);
}

/* ---- computations of HLO ---- */

static const struct reducer reducers[] = {{"add", "sum", "add", 0},
                                          {"maximum", "max", "max", -INFINITY},
                                          {"minimum", "min", "min", INFINITY},
                                          {"multiply", "prod", "mul", 1},
                                          {"and", "all", "and", 1},
                                          {"or", "any", "or", 0}};

/* A value of the computation before casts to a wider type and back. */
static int32_t reduce_uncast(const struct import *im, const struct model_body *b, int32_t value)
{
    for (int steps = 0; steps < 4; steps++) {
        const struct model_value *v = &im->m->values.at[value];
        const struct model_op *o =
            v->from == FROM_OP && v->op >= 0 && v->op < b->op_count ? &b->ops[v->op] : NULL;
        if (!o || o->results[0] != value || strcmp(o->kind, "convert") != 0 || o->operand_count != 1) break;
        value = o->operands[0];
    }
    return value;
}

/* One op of the two numbers, in either order. No kind of ours reduces integers bit by bit. */
const struct reducer *import_reducer(const struct import *im, const struct model_op *op)
{
    const struct model_body *b = op->body_count == 1 ? &im->m->bodies.at[op->bodies[0]] : NULL;
    if (!b || b->op_count > 8 || b->argument_count != 2 || b->result_count != 1) return NULL;
    int32_t root = reduce_uncast(im, b, b->results[0]), x = b->arguments[0], y = b->arguments[1];
    enum model_element e = model_type_of(im->m, root)->element, f = model_type_of(im->m, x)->element;
    if (e == MODEL_TUPLE || f == MODEL_TUPLE) return NULL;
    if (model_element_row(e)->number != model_element_row(f)->number ||
        model_element_row(e)->bits < model_element_row(f)->bits)
        return NULL;
    for (int i = 0; i < b->op_count; i++)
        for (size_t k = 0; k < sizeof reducers / sizeof *reducers; k++) {
            const struct model_op *o = &b->ops[i];
            if (strcmp(o->kind, reducers[k].theirs) != 0 || o->operand_count != 2 || o->results[0] != root)
                continue;
            int32_t p = reduce_uncast(im, b, o->operands[0]), q = reduce_uncast(im, b, o->operands[1]);
            bool bits = (strcmp(o->kind, "and") == 0 || strcmp(o->kind, "or") == 0) && e != MODEL_BOOL;
            if ((p == x && q == y) || (p == y && q == x)) return bits ? NULL : &reducers[k];
        }
    return NULL;
}

/* The end of an integer type's range is as good as infinity. */
bool import_neutral(const struct import_value *v, const struct reducer *r)
{
    double number;
    int64_t whole;
    bool most = r->neutral > 0;
    if (!import_splat_exact(v, &number, &whole)) return false;
    if (!isinf(r->neutral)) return number == r->neutral;
    if (!v->known->ints)
        return number == r->neutral || ((number < 0) == (r->neutral < 0) && fabs(number) >= 3.3e38);
    const struct model_element_row *row = model_element_row(v->type->element);
    uint64_t all = UINT64_MAX >> (64 - row->bits), end = most ? all : 0;
    if (row->number == MODEL_SIGNED) end = most ? all >> 1 : ~(all >> 1);
    return whole == (v->type->element == MODEL_BOOL ? most : (int64_t)end);
}

/* A first number that is not neutral is combined at the end. */
bool map_reduce_by_body(struct import *im, const struct model_op *op, const char *ours)
{
    const struct reducer *r = op->operand_count == 2 ? import_reducer(im, op) : NULL;
    (void)ours;
    if (!r || !import_is_tensor(im, op->operands[0]) || !import_is_tensor(im, op->operands[1]) ||
        !import_is_tensor(im, op->results[0]))
        return import_generic(im, op, "reducer");
    struct import_value first = *import_in(im, op, 1);
    map_reduce(im, op, r->ours);
    if (import_neutral(&first, r) || import_class_of(im, op)->class == CLASS_GENERIC) return true;
    struct import_value y = import_point(im, op, r->two, *import_leaf(im, op->results[0], 0), &first);
    return import_mapped(im, op, &y);
}
