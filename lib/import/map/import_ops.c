/* The op mapping: the parts that all rows of ops.def share. */
#include "import/map/import_steps.h"
#include "import/layers/layers.h"

#include <string.h>

struct import_value *import_in(struct import *im, const struct model_op *op, int i)
{
    return import_leaf(im, op->operands[i], 0);
}

bool import_has(const struct model_op *op, int i)
{
    return i < op->operand_count && op->operands[i] >= 0;
}

const struct model_type *import_type_out(const struct import *im, const struct model_op *op)
{
    return model_type_of(im->m, op->results[0]);
}

bool import_is_tensor(const struct import *im, int32_t value)
{
    const struct model_type *t = value >= 0 ? model_type_of(im->m, value) : NULL;
    return t && t->element != MODEL_TUPLE && t->elements > 0;
}

static bool op_is_empty(const struct import *im, int32_t value)
{
    const struct model_type *t = value >= 0 ? model_type_of(im->m, value) : NULL;
    return t && t->element != MODEL_TUPLE && t->elements == 0;
}

int64_t import_opset(const struct import *im)
{
    return im->m->bodies.at[im->body].derived ? ONNX_DERIVED_OPSET : model_attr_int(&im->m->attrs, "", 1);
}

bool import_done(struct import *im, const struct model_op *op, enum import_class class, const char *reason,
                 const struct import_value *v)
{
    import_class(im, op, class, reason);
    import_bind(im, op->results[0], v, 1);
    return true;
}

bool import_mapped(struct import *im, const struct model_op *op, const struct import_value *v)
{
    return import_done(im, op, CLASS_MAPPED, NULL, v);
}

bool import_generic(struct import *im, const struct model_op *op, const char *why)
{
    import_class(im, op, CLASS_GENERIC, why);
    import_opaque(im, "generic", op);
    return true;
}

bool import_number(struct import *im, const struct model_op *op, int64_t number)
{
    struct import_value v = import_whole(im, import_type_out(im, op), &number, 1);
    return import_done(im, op, CLASS_FOLDED, NULL, &v);
}

bool import_known_ahead(const struct import *im, const struct model_op *op)
{
    const struct model_value *v =
        op->result_count == 1 && op->results[0] >= 0 ? &im->m->values.at[op->results[0]] : NULL;
    return im->format == MODEL_ONNX && v && v->data && (v->data->ints || v->data->reals);
}

/* Are operands and results as the row wants them? A list of no extents or axes is an operand of ONNX, too;
 * concat leaves empty parts out; any part of a Split may be unread. */
static bool op_has_all(const struct import *im, const struct model_op *op, const struct op_row *row)
{
    bool joins = row->map == map_concat, loose = row->form == OP_LOOSE, onnx = im->format == MODEL_ONNX;
    if (op->operand_count < row->least || (!loose && op->result_count < 1)) return false;
    if (row->form == OP_ANY_TYPE) return op->result_count == 1 && op->results[0] >= 0;
    for (int i = 0; i < op->result_count; i++) {
        if (op->results[i] < 0 && (i > 0 || row->map == map_split)) continue;
        if ((!loose && i > 0) || !import_is_tensor(im, op->results[i])) return false;
    }
    for (int i = 0; i < op->operand_count; i++) {
        bool more = i >= row->least, absent = loose && more && op->operands[i] < 0,
             empty = (joins || (onnx && more)) && op->operands[i] >= 0 &&
                     model_type_of(im->m, op->operands[i])->elements == 0;
        if (!absent && !empty && !import_is_tensor(im, op->operands[i])) return false;
    }
    return true;
}

static bool op_has_complex(const struct import *im, const struct model_op *op)
{
    bool some = false;
    for (int i = 0; i < op->operand_count; i++)
        some |= op->operands[i] >= 0 && model_type_of(im->m, op->operands[i])->element == MODEL_C64;
    for (int i = 0; i < op->result_count; i++)
        some |= op->results[i] >= 0 && model_type_of(im->m, op->results[i])->element == MODEL_C64;
    return some;
}

/* Results without elements: nothing is to be done. */
static bool op_makes_nothing(struct import *im, const struct model_op *op)
{
    for (int r = 0; r < op->result_count; r++)
        if (!op_is_empty(im, op->results[r])) return false;
    if (op->result_count == 0) return false;
    import_class(im, op, CLASS_FREE, "empty");
    for (int r = 0; r < op->result_count; r++) {
        struct import_value v = {.storage = -1, .type = model_type_of(im->m, op->results[r])};
        import_bind(im, op->results[r], &v, 1);
    }
    return true;
}

/* From an operand without elements: the sum of nothing, padding around nothing. */
static bool op_from_nothing(struct import *im, const struct model_op *op)
{
    static const struct {
        const char *kind;
        int64_t number; /* -1: the second operand of HLO has it */
    } rows[] = {{"dot", 0},       {"reduce", -1},    {"pad", -1},          {"sum", 0},         {"prod", 1},
                {"reduce_or", 0}, {"reduce_and", 1}, {"matmul", 0},        {"dot_general", 0}, {"MatMul", 0},
                {"ReduceSum", 0}, {"ReduceProd", 1}, {"reduce-window", -1}};
    size_t row = 0, count = sizeof rows / sizeof *rows;
    double number;
    while (row < count && strcmp(rows[row].kind, op->kind) != 0) row++;
    if (row == count || op->operand_count < 1 || op->result_count != 1 ||
        !import_is_tensor(im, op->results[0]) || !op_is_empty(im, op->operands[0]))
        return false;
    if (rows[row].number >= 0) return import_number(im, op, rows[row].number);
    if (im->format != MODEL_HLO || op->operand_count != 2 || !import_is_tensor(im, op->operands[1]))
        return false;
    struct import_value v = *import_in(im, op, 1);
    if (!import_splat(&v, &number)) return false;
    v.type = import_type_out(im, op);
    return import_done(im, op, CLASS_FOLDED, NULL, &v);
}

/* A value is a copy from now on, cut by its own dimensions only: a reshape has no index map that cuts would
 * go through. A splat has no storage that could be cut. */
static void op_copy_apart(struct import *im, const struct model_op *op, int32_t value)
{
    struct import_value v = *import_leaf(im, value, 0);
    const struct model_data *known = v.known;
    double number;
    if (import_splat(&v, &number)) return;
    v = import_opaque_leaf(im, "reshape", op, v, v.type);
    v.known = known;
    import_bind(im, value, &v, 1);
}

/* An op that is alone: its operands are copies while it is mapped, its results are copied behind it. */
static bool op_map_alone(struct import *im, const struct model_op *op, const struct op_row *row)
{
    int32_t *was = arena_array(&im->memory, (size_t)op->operand_count + 1, sizeof *was);
    for (int i = 0; i < op->operand_count; i++) {
        was[i] = op->operands[i] >= 0 ? im->leaf[op->operands[i]] : -1;
        if (import_is_tensor(im, op->operands[i])) op_copy_apart(im, op, op->operands[i]);
    }
    if (!row->map(im, op, row->ours)) return false;
    for (int i = op->operand_count - 1; i >= 0; i--)
        if (op->operands[i] >= 0) im->leaf[op->operands[i]] = was[i];
    for (int r = 0; r < op->result_count; r++)
        if (import_is_tensor(im, op->results[r])) op_copy_apart(im, op, op->results[r]);
    return true;
}

bool import_op(struct import *im, const struct model_op *op)
{
    const struct op_row *row = op_find(im->format, op->kind);
    if (op_makes_nothing(im, op) || op_from_nothing(im, op) || import_computed(im, op)) return true;
    if (import_known_ahead(im, op)) return map_constant(im, op, NULL);
    if (!row || !row->map) return import_generic(im, op, "kind");
    if (row->map == map_constant && op->result_count == 1 && import_is_tensor(im, op->results[0]))
        return map_constant(im, op, NULL);
    if (op_has_complex(im, op)) return import_generic(im, op, "complex");
    if (!op_has_all(im, op, row)) return import_generic(im, op, "form");
    /* An op without a result writes its first operand: a copy of that would be lost. */
    if (import_class_of(im, op)->alone && op->result_count > 0) return op_map_alone(im, op, row);
    return row->map(im, op, row->ours);
}
