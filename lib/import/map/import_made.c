/* Tensors that the model makes by itself: constants, numbers that count, running sums. Their ops know no
 * index map: what they make is plain, whatever pieces it is cut into. */
#include "import/map/import_steps.h"
#include "graph/op_params.h"
#include "base/checked.h"
#include "base/fail.h"

#include <string.h>

void import_made(struct import *im, const char *kind, const struct model_op *at, int32_t from,
                 int32_t storage, const struct lx_op_params *params, const struct lx_op_data *data)
{
    struct sketch s = {.kind = kind, .from = at, .rank = -1, .input_count = from >= 0, .data = data};
    s.operand = arena_array(&im->memory, 2, sizeof *s.operand);
    if (params) s.params = arena_copy_array(&im->memory, params, 1, sizeof *params);
    if (from >= 0) s.operand[0].storage = from;
    s.operand[s.input_count].storage = storage;
    VEC_PUSH(&im->sketches, s);
}

void import_made_constant(struct import *im, const struct import_value *v, int32_t storage, bool *done)
{
    const struct model_data *d = v->known;
    int64_t count = im->storages.at[storage].elements;
    *done = d && (d->reals || d->ints) && count <= LX_MAX_DATA &&
            (d->form == DATA_SPLAT || d->type->elements >= count);
    if (!*done) return;
    struct lx_op_data *data = arena_alloc(&im->memory, sizeof *data);
    double *numbers = arena_array(&im->memory, (size_t)count, sizeof *numbers);
    int64_t *wholes = arena_array(&im->memory, (size_t)count, sizeof *wholes);
    for (int64_t i = 0; i < count; i++) {
        int64_t k = d->form == DATA_SPLAT ? 0 : i;
        numbers[i] = model_data_real(d, k);
        wholes[i] = 0;
        if (d->ints)
            wholes[i] = d->ints[k];
        else
            whole_of_double(numbers[i], &wholes[i]);
    }
    *data = (struct lx_op_data){.count = count, .numbers = numbers, .wholes = wholes};
    import_made(im, "constant", NULL, -1, storage, NULL, data);
}

/* One row of numbers, repeated along the other dimensions. */
/* Where it begins and how it goes on: attributes of TTIR, operands of ONNX that are known; HLO counts from
 * 0. */
static bool made_counts_how(struct import *im, const struct model_op *op, struct lx_op_params *p)
{
    p->start = 0;
    p->step = 1;
    if (im->format == MODEL_ONNX)
        return import_splat(import_in(im, op, 0), &p->start) && import_splat(import_in(im, op, 2), &p->step);
    if (im->format == MODEL_HLO) return true;
    p->start = (double)model_attr_int(&op->attrs, "start", 0);
    p->step = (double)model_attr_int(&op->attrs, "step", 1);
    return true;
}

bool map_iota(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_type_out(im, op);
    bool hlo = im->format == MODEL_HLO;
    int64_t dim = model_attr_int(&op->attrs, hlo ? "iota_dimension" : "arange_dimension", 0);
    struct import_value out = {.type = type};
    struct lx_op_params p = op_params_none();
    if (dim < 0) dim += type->count;
    if (dim < 0 || dim >= type->count || type->count > VIEW_MAX_RANK || type->elements == 0)
        return import_generic(im, op, "schema");
    if (!made_counts_how(im, op, &p)) return import_generic(im, op, "data");
    out.storage = import_storage(im, im->result_name, type->element, type->extent[dim], op);
    if (out.storage < 0) return false;
    import_made(im, ours, op, -1, out.storage, &p, NULL);
    im->storages.at[out.storage].counts = p.start == 0 && p.step == 1;
    view_start(&out.view);
    for (int d = 0; d < type->count; d++) {
        bool own = d == dim && type->extent[d] > 1;
        if (!view_open_dim(&out.view) || !view_add(&out.view, atom_of(own, type->extent[d])))
            return status_set(im->st, LX_E_LIMIT, "more than %d dimensions", VIEW_MAX_RANK);
    }
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind_one(im, op, &out);
}

static bool made_scan_axis(struct import *im, const struct model_op *op, int rank, int64_t *axis)
{
    double number = 0;
    bool known =
        im->format != MODEL_ONNX || (op->operand_count > 1 && import_splat(import_in(im, op, 1), &number));
    *axis = im->format == MODEL_ONNX ? (int64_t)number : model_attr_int(&op->attrs, "dim", 0);
    if (*axis < 0) *axis += rank;
    return known && *axis >= 0 && *axis < rank;
}

bool import_scan(struct import *im, const struct model_op *op, int64_t axis, bool exclusive, bool reverse)
{
    struct import_value v = *import_in(im, op, 0), out;
    struct lx_op_params p = op_params_none();
    int64_t low = 1;
    for (int d = v.type->count - 1; d > axis; d--) low *= v.type->extent[d];
    if (!import_plain(im, &v, op) || !import_fresh(im, im->result_name, import_type_out(im, op), op, &out))
        return false;
    struct sketch_operand in = {.storage = v.storage, .via = v.via};
    struct atom along = atom_of(low, v.type->extent[axis]); /* one piece, in what is summed and in the sums */
    if (import_is_cut(im, v.storage, &along)) import_force(im, im->owner, &in, 1, "window");
    p.exclusive = exclusive;
    p.reverse = reverse;
    p.axis = axis;
    if (!import_keep_whole(im, v.storage, along) || !import_keep_whole(im, out.storage, along))
        return import_generic(im, op, "axis");
    import_made(im, "scan", op, v.storage, out.storage, &p, NULL);
    im->sketches.at[im->sketches.count - 1].axis_low = low;
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind_one(im, op, &out);
}

/* The sum of one element is the element, and of none it is 0. */
bool map_scan(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = *import_in(im, op, 0);
    bool exclusive = model_attr_int(&op->attrs, "exclusive", 0) != 0;
    int64_t axis;
    (void)ours;
    if (!made_scan_axis(im, op, v.type->count, &axis)) return import_generic(im, op, "axis");
    if (v.type->extent[axis] == 1 && exclusive) return import_number(im, op, 0);
    if (v.type->extent[axis] == 1) {
        import_class(im, op, CLASS_FREE, "names");
        return import_bind_one(im, op, &v);
    }
    return import_scan(im, op, axis, exclusive, model_attr_int(&op->attrs, "reverse", 0) != 0);
}
