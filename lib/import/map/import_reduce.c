/* Ops of the table that go along dimensions: sums and the like. */
#include "import/map/import_choose.h"

#include <math.h>
#include <string.h>

/* Repetition within a dimension that goes would have to be counted: such an operand is laid out first. */
bool import_without_repeats(struct import *im, const struct model_op *op, struct import_value *v,
                            const bool *goes)
{
    if (!import_stored(im, v)) return false;
    for (int d = 0; d < v->view.rank; d++)
        for (int i = v->view.first[d]; goes[d] && i < v->view.first[d + 1]; i++)
            if (v->view.atom[i].low == 0) {
                if (!import_plain(im, v, op)) return false;
                im->sketches.at[im->sketches.count - 1].why = "repeats";
                return true;
            }
    return true;
}

static bool reduce_reduced_value(struct import *im, const struct model_op *op, struct import_value v,
                                 const char *ours, const bool *goes)
{
    struct import_value out;
    const struct model_type *x = v.type, *type = import_type_out(im, op);
    struct sketch_operand operand;
    int dims[VIEW_MAX_RANK], next = 0;
    if (x->count > VIEW_MAX_RANK || !lx_kind_find(ours)) return import_generic(im, op, "kind");
    bool keeps = type->count == x->count;
    for (int d = 0; d < x->count; d++)
        if (!goes[d] || keeps) {
            if (next == type->count) return import_generic(im, op, "schema");
            dims[next++] = goes[d] ? -1 : d;
        }
    if (next != type->count) return import_generic(im, op, "schema");
    if (!import_without_repeats(im, op, &v, goes)) return false;
    operand = (struct sketch_operand){v.storage, v.view, v.via};
    if (!import_sketch(im, ours, op, x->count, x->extent, &operand, 1, NULL, type, dims, &out)) return false;
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind_one(im, op, &out);
}

static bool reduce_reduced(struct import *im, const struct model_op *op, const char *ours, const bool *goes)
{
    return reduce_reduced_value(im, op, *import_in(im, op, 0), ours, goes);
}

/* Places are counted in the order of the file: the operand is laid out that way. */
bool map_arg_reduce(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = *import_in(im, op, 0);
    const struct model_type *x = v.type;
    bool goes[VIEW_MAX_RANK] = {false}, onnx = im->format == MODEL_ONNX;
    int count = 0;
    const int64_t *list = onnx ? NULL : model_attr_ints(&op->attrs, "dim_arg", &count);
    int64_t dim = onnx ? model_attr_int(&op->attrs, "axis", 0) : count == 1 ? list[0] : 0, length = 1;
    if (dim < 0) dim += x->count;
    if (x->count > VIEW_MAX_RANK || count > 1 || dim < 0 || dim >= x->count ||
        model_attr_int(&op->attrs, "select_last_index", 0) != 0)
        return import_generic(im, op, "axis");
    for (int d = 0; d < x->count; d++) {
        goes[d] = d == dim || (!onnx && count == 0);
        if (goes[d]) length *= x->extent[d];
    }
    if (length == 1) return import_number(im, op, 0);
    return import_plain(im, &v, op) && reduce_reduced_value(im, op, v, ours, goes);
}

bool map_reduce(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const keys[] = {
        [MODEL_TTIR] = "dim_arg", [MODEL_HLO] = "dimensions", [MODEL_ONNX] = "axes"};
    int count, rank = model_type_of(im->m, op->operands[0])->count;
    const int64_t *list = model_attr_ints(&op->attrs, keys[im->format], &count);
    const struct model_data *d =
        op->operand_count > 1 && im->format == MODEL_ONNX ? im->m->values.at[op->operands[1]].data : NULL;
    bool goes[VIEW_MAX_RANK] = {false};
    if (rank > VIEW_MAX_RANK) return import_generic(im, op, "rank");
    if (!list && d && d->ints && d->type->elements <= VIEW_MAX_RANK) {
        list = d->ints;
        count = (int)d->type->elements;
    }
    for (int i = 0; i < rank; i++) goes[i] = count == 0;
    for (int i = 0; i < count; i++) {
        int64_t dim = list[i] < 0 ? list[i] + rank : list[i];
        if (dim < 0 || dim >= rank) return import_generic(im, op, "schema");
        goes[dim] = true;
    }
    return reduce_reduced(im, op, ours, goes);
}

/* What the computation of an HLO reduce does with two elements: ours for a reduction and for two operands,
 * and the number that changes nothing. */
struct reducer {
    const char *theirs, *ours, *two;
    double neutral;
};

static const struct reducer reducers[] = {{"add", "sum", "add", 0},
                                          {"maximum", "max", "max", -INFINITY},
                                          {"minimum", "min", "min", INFINITY},
                                          {"multiply", "prod", "mul", 1},
                                          {"and", "all", "and", 1},
                                          {"or", "any", "or", 0}};

/* Bit by bit, where numbers are no truths: no kind of ours reduces so. */
static bool reduce_combines_bits(const struct import *im, const struct model_op *op)
{
    bool bits = strcmp(op->kind, "and") == 0 || strcmp(op->kind, "or") == 0;
    return bits && model_type_of(im->m, op->results[0])->element != MODEL_BOOL;
}

/* What a value of the computation is before it was cast to a wider type and back. */
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

/* One op of the two numbers, in either order. */
static const struct reducer *reduce_reducer_of(const struct import *im, const struct model_op *op)
{
    const struct model_body *b = op->body_count == 1 ? &im->m->bodies.at[op->bodies[0]] : NULL;
    if (!b || b->op_count > 8 || b->argument_count != 2 || b->result_count != 1) return NULL;
    int32_t root = reduce_uncast(im, b, b->results[0]), x = b->arguments[0], y = b->arguments[1];
    if (model_type_of(im->m, root)->element == MODEL_TUPLE || model_type_of(im->m, x)->element == MODEL_TUPLE)
        return NULL;
    const struct model_element_row *inside = model_element_row(model_type_of(im->m, root)->element),
                                   *outside = model_element_row(model_type_of(im->m, x)->element);
    if (inside->number != outside->number || inside->bits < outside->bits) return NULL;
    for (int i = 0; i < b->op_count; i++)
        for (size_t k = 0; k < sizeof reducers / sizeof *reducers; k++) {
            const struct model_op *o = &b->ops[i];
            if (strcmp(o->kind, reducers[k].theirs) != 0 || o->operand_count != 2 || o->results[0] != root)
                continue;
            int32_t p = reduce_uncast(im, b, o->operands[0]), q = reduce_uncast(im, b, o->operands[1]);
            if ((p == x && q == y) || (p == y && q == x))
                return reduce_combines_bits(im, o) ? NULL : &reducers[k];
        }
    return NULL;
}

const char *import_reducer(const struct import *im, const struct model_op *op)
{
    const struct reducer *r = reduce_reducer_of(im, op);
    return r ? r->ours : NULL;
}

bool import_replaces(const struct import *im, const struct model_op *op)
{
    const struct model_body *b = op->body_count == 1 ? &im->m->bodies.at[op->bodies[0]] : NULL;
    return b && b->argument_count == 2 && b->result_count == 1 && b->results[0] == b->arguments[1];
}

/* The largest or the least number of an integer type, as its 64 bits. */
static int64_t reduce_end_of_range(enum model_element e, bool most)
{
    int bits = model_element_row(e)->bits;
    bool with_sign = model_element_row(e)->number == MODEL_SIGNED;
    uint64_t all = UINT64_MAX >> (64 - bits);
    if (e == MODEL_BOOL) return most;
    return (int64_t)(with_sign ? (most ? all >> 1 : ~(all >> 1)) : most ? all : 0);
}

/* Does the number that the reduction begins with change nothing? The least whole number is as good as
 * none. */
static bool reduce_is_neutral(const struct import_value *v, const struct reducer *r)
{
    double number;
    int64_t whole;
    if (!import_splat_exact(v, &number, &whole)) return false;
    if (v->known->ints && isinf(r->neutral))
        return whole == reduce_end_of_range(v->type->element, r->neutral > 0);
    return number == r->neutral ||
           (isinf(r->neutral) && (number < 0) == (r->neutral < 0) && fabs(number) >= 3.3e38);
}

bool import_neutral(const struct import_value *v, const char *ours)
{
    for (size_t k = 0; k < sizeof reducers / sizeof *reducers; k++)
        if (strcmp(reducers[k].ours, ours) == 0) return reduce_is_neutral(v, &reducers[k]);
    return false;
}

bool map_reduce_by_body(struct import *im, const struct model_op *op, const char *ours)
{
    const struct reducer *r = op->operand_count == 2 ? reduce_reducer_of(im, op) : NULL;
    struct steps s = {im, op, true};
    double number;
    (void)ours;
    if (!r || !import_is_tensor(im, op->operands[0]) || !import_is_tensor(im, op->operands[1]) ||
        !import_is_tensor(im, op->results[0]))
        return import_generic(im, op, "reducer");
    bool neutral = reduce_is_neutral(import_in(im, op, 1), r);
    if (!map_reduce(im, op, r->ours) || neutral || import_class_of(im, op)->class == CLASS_GENERIC)
        return im->st->code == LX_OK;
    struct import_value y = *import_leaf(im, op->results[0], 0), first = *import_in(im, op, 1);
    bool one = import_splat(&first, &number);
    y = step_point(&s, r->two, y, one ? NULL : &first, one ? &number : NULL, y.type->element);
    return s.ok && import_bind_one(im, op, &y);
}
