/* The op mapping: what the rows of ops.def have in common. */
#include "import/map/import_steps.h"
#include "import/map/import_together.h"
#include "import/layers/layers.h"
#include "base/fail.h"

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

bool import_generic(struct import *im, const struct model_op *op, const char *why)
{
    import_class(im, op, CLASS_GENERIC, why);
    return import_opaque(im, "generic", op);
}

bool import_bind_one(struct import *im, const struct model_op *op, const struct import_value *v)
{
    return import_bind(im, op->results[0], v, 1);
}

bool import_aligned(struct import *im, struct import_value v, int rank, struct sketch_operand *out)
{
    if (!import_stored(im, &v)) return false;
    int shift = rank - v.view.rank;
    *out = (struct sketch_operand){.storage = v.storage, .via = v.via};
    view_start(&out->view);
    bool ok = shift >= 0 && view_keep_fixed(&out->view, &v.view);
    for (int d = 0; ok && d < rank; d++)
        ok = d < shift ? view_open_dim(&out->view) : view_add_dim(&out->view, &v.view, d - shift);
    return ok ? true : status_set(im->st, LX_E_SHAPE, "an operand has more dimensions than the result");
}

bool import_is_tensor(const struct import *im, int32_t value)
{
    return value >= 0 && model_type_of(im->m, value)->element != MODEL_TUPLE &&
           model_type_of(im->m, value)->elements > 0;
}

/* Operands and results as the row wants them. */
static bool op_has_all(const struct import *im, const struct model_op *op, const struct op_row *row)
{
    bool joins = row->ours && strcmp(row->ours, "concat") == 0; /* what has no element is left out */
    bool loose = row->form == OP_LOOSE, all = op->operand_count >= row->least;
    bool onnx = im->format == MODEL_ONNX;                       /* a list of no extents or axes is one, too */
    bool parts = row->map == map_split || row->map == map_topk; /* any of them may be unread */
    if (row->form == OP_ANY_TYPE) return all && op->result_count == 1 && op->results[0] >= 0;
    for (int i = 0; i < op->result_count; i++)
        all = all && ((i > 0 || parts) && op->results[i] < 0
                          ? true
                          : (loose || i == 0) && import_is_tensor(im, op->results[i]));
    all = all && (loose || op->result_count > 0);
    for (int i = 0; i < op->operand_count; i++)
        all = all &&
              ((loose && i >= row->least && op->operands[i] < 0) || import_is_tensor(im, op->operands[i]) ||
               ((joins || (onnx && i >= row->least)) && op->operands[i] >= 0 &&
                model_type_of(im->m, op->operands[i])->elements == 0));
    return all;
}

int64_t import_opset(const struct import *im)
{
    return im->m->bodies.at[im->body].derived ? ONNX_DERIVED_OPSET : model_attr_int(&im->m->attrs, "", 1);
}

bool import_known_ahead(const struct import *im, const struct model_op *op)
{
    const struct model_value *v =
        op->result_count == 1 && op->results[0] >= 0 ? &im->m->values.at[op->results[0]] : NULL;
    return im->format == MODEL_ONNX && v && v->data && (v->data->ints || v->data->reals);
}

/* Results without elements: nothing is to be done. */
static bool op_makes_nothing(const struct import *im, const struct model_op *op)
{
    bool nothing = op->result_count > 0;
    for (int r = 0; r < op->result_count; r++) {
        const struct model_type *t = model_type_of(im->m, op->results[r]);
        nothing = nothing && t && t->element != MODEL_TUPLE && t->elements == 0;
    }
    return nothing;
}

static bool op_bind_nothing(struct import *im, const struct model_op *op)
{
    import_class(im, op, CLASS_FREE, "empty");
    for (int r = 0; r < op->result_count; r++) {
        struct import_value v = {.storage = -1, .type = model_type_of(im->m, op->results[r])};
        if (!import_bind(im, op->results[r], &v, 1)) return false;
    }
    return true;
}

/* What comes of nothing: a number, or what the second operand of HLO says. */
static const struct {
    const char *kind;
    int64_t number;
    bool stated;
} of_nothing[] = {{"dot", 0, false},         {"reduce", 0, true},     {"pad", 0, true},
                  {"sum", 0, false},         {"prod", 1, false},      {"reduce_or", 0, false},
                  {"reduce_and", 1, false},  {"matmul", 0, false},    {"dot_general", 0, false},
                  {"MatMul", 0, false},      {"ReduceSum", 0, false}, {"ReduceProd", 1, false},
                  {"reduce-window", 0, true}};

/* Nothing is summed, nothing is padded. */
static void op_from_nothing(struct import *im, const struct model_op *op, bool *done)
{
    size_t row = 0, rows = sizeof of_nothing / sizeof *of_nothing;
    double number;
    while (row < rows && strcmp(of_nothing[row].kind, op->kind) != 0) row++;
    bool stated = row < rows && of_nothing[row].stated;
    *done = row < rows && op->operand_count >= (stated ? 2 : 1) && op->result_count == 1 &&
            import_is_tensor(im, op->results[0]) && op->operands[0] >= 0 &&
            model_type_of(im->m, op->operands[0])->element != MODEL_TUPLE &&
            model_type_of(im->m, op->operands[0])->elements == 0 && !(stated && im->format != MODEL_HLO);
    if (!*done) return;
    if (!stated) {
        import_number(im, op, of_nothing[row].number);
        return;
    }
    *done = op->operand_count == 2 && import_is_tensor(im, op->operands[1]);
    struct import_value v = *done ? *import_in(im, op, 1) : (struct import_value){.storage = -1};
    *done = *done && import_splat(&v, &number);
    if (!*done) return;
    v.type = import_type_out(im, op);
    import_class(im, op, CLASS_FOLDED, NULL);
    import_bind_one(im, op, &v);
}

/* What writes an operand cannot do that to a copy. */
static bool op_emit(struct import *im, const struct model_op *op, const struct op_row *row)
{
    if (!import_class_of(im, op)->alone || op->result_count == 0) return row->map(im, op, row->ours);
    int32_t *was = arena_array(&im->memory, (size_t)op->operand_count + 1, sizeof *was);
    return import_alone(im, op, was) && row->map(im, op, row->ours) && import_together(im, op, was);
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

bool import_op(struct import *im, const struct model_op *op)
{
    const struct op_row *row = op_find(im->format, op->kind);
    bool done;
    if (op_makes_nothing(im, op)) return op_bind_nothing(im, op);
    op_from_nothing(im, op, &done);
    if (done) return done;
    if (!import_computed(im, op, &done) || done) return done;
    if (import_known_ahead(im, op)) return map_constant(im, op, NULL);
    if (!row || !row->map) return import_generic(im, op, "kind");
    if (row->map == map_constant && op->result_count == 1 && import_is_tensor(im, op->results[0]))
        return map_constant(im, op, NULL);
    if (op_has_complex(im, op)) return import_generic(im, op, "complex");
    if (!op_has_all(im, op, row)) return import_generic(im, op, "form");
    return op_emit(im, op, row);
}
