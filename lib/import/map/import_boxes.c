/* Ops that slice, join or pad tensors: slices, reversals, splits, concatenations, pads. A part is a view
 * where storages allow it, else a slice that copies.
 *
 * Operands differ in extents along some dimensions, and cuts of other ops may not fit there. From the next
 * round on copies shield such an op: first of the operands that are cut themselves or, if none is, of the
 * result; then of all. */
#include "import/map/import_steps.h"
#include "import/types/typing.h"

enum { STICK_BYTES = 128 };

/* First element and step of each dimension. */
struct box {
    int64_t begin[MODEL_MAX_RANK], step[MODEL_MAX_RANK];
};

/* Gives the value its own tensor, cut by its own dimensions only: a reshape stops cuts. */
static void box_set_apart(struct import *im, const struct model_op *op, struct import_value *v)
{
    *v = import_opaque_leaf(im, "reshape", op, *v, v->type);
}

/* Shields operands, which differ in `dims`; returns whether the result needs it too. */
static bool box_operands_apart(struct import *im, const struct model_op *op, struct import_value *v,
                               int count, unsigned dims)
{
    int how = import_class_of(im, op)->apart;
    bool some = false;
    for (int i = 0; i < count; i++) {
        bool pieces = false;
        for (int d = 0; d < v[i].view.rank; d++)
            pieces |= (dims >> d & 1) && v[i].view.first[d + 1] - v[i].view.first[d] > 1;
        some |= pieces;
        if (how == APART_ALL || (how == APART_SOME && pieces)) box_set_apart(im, op, &v[i]);
    }
    return how == APART_ALL || (how == APART_SOME && !some);
}

/* Does a part begin or end within a stick, or skip elements of sticks? */
static bool box_breaks_sticks(const struct view *v, enum model_element e)
{
    int bits = model_element_row(e)->bits;
    bool breaks = false;
    for (int i = 0; i < v->first[v->rank]; i++) {
        const struct atom *a = &v->atom[i];
        breaks |= a->span && a->low == 1 &&
                  (a->step != 1 || a->offset * bits / 8 % STICK_BYTES || a->extent * bits / 8 % STICK_BYTES);
    }
    for (int i = 0; i < v->fixed_count; i++) breaks |= v->fixed[i].low == 1;
    return breaks;
}

static bool box_view(const struct view *from, const struct box *b, const struct model_type *type,
                     struct view *out)
{
    struct view now = *from, next;
    for (int d = 0; d < type->count; d++) {
        if (b->begin[d] == 0 && b->step[d] == 1 && type->extent[d] == view_extent(&now, d)) continue;
        if (!view_slice(&now, d, b->begin[d], b->step[d], type->extent[d], &next)) return false;
        now = next;
    }
    *out = now;
    return true;
}

/* One result: box `b` of operand 0. */
static bool box_take_part(struct import *im, const struct model_op *op, const struct box *b, int result)
{
    struct op_class *c = import_class_of(im, op);
    struct import_value v = *import_in(im, op, 0), out;
    const struct model_type *type = model_type_of(im->m, op->results[result]);
    double number;
    if (v.type->count != type->count) return import_generic(im, op, "schema");
    for (int d = 0; d < type->count; d++) {
        int64_t last = b->begin[d] + b->step[d] * (type->extent[d] - 1), n = v.type->extent[d];
        if (b->begin[d] < 0 || b->begin[d] >= n || last < 0 || last >= n)
            return import_generic(im, op, "schema");
    }
    if (import_splat(&v, &number)) {
        v.type = type;
        import_class(im, op, CLASS_FOLDED, NULL);
        import_bind(im, op->results[result], &v, 1);
        return true;
    }
    import_stored(im, &v);
    bool apart = box_operands_apart(im, op, &v, 1, ~0u);
    out = v;
    out.type = type;
    if (!box_view(&v.view, b, type, &out.view)) {
        import_plain(im, &v, op);
        out.storage = v.storage;
        out.via = NULL;
        if (!box_view(&v.view, b, type, &out.view)) return import_generic(im, op, "rank");
    }
    const char *why = c->forced                                     ? c->forced
                      : im->options.no_fold                         ? "no-fold"
                      : box_breaks_sticks(&out.view, type->element) ? "stick"
                                                                    : NULL;
    c->bytes = type->bytes;
    import_class(im, op, why ? CLASS_COPIED : CLASS_FREE, why ? why : "view");
    if (why) {
        size_t before = im->sketches.count;
        import_plain(im, &out, op);
        if (im->sketches.count > before) im->sketches.at[im->sketches.count - 1].own = c;
        out.via = NULL;
        if (apart) box_set_apart(im, op, &out);
    } else {
        c->behind = v.via;
        out.via = c;
    }
    import_bind(im, op->results[result], &out, 1);
    return true;
}

static void box_all(struct box *b)
{
    for (int d = 0; d < VIEW_MAX_RANK; d++) b->begin[d] = 0, b->step[d] = 1;
}

bool box_take(struct import *im, const struct model_op *op, const int64_t *begin)
{
    struct box b;
    box_all(&b);
    memcpy(b.begin, begin, (size_t)import_type_out(im, op)->count * sizeof *begin);
    return box_take_part(im, op, &b, 0);
}

bool map_slice(struct import *im, const struct model_op *op, const char *ours)
{
    struct typing t = typing_open(im->m, op, im->format, import_opset(im));
    struct box b;
    (void)ours;
    enum typed typed = typing_slice(&t, b.begin, b.step);
    if (typed == TYPE_WRONG || (typed == TYPE_OPEN && t.dialect == MODEL_ONNX))
        return import_generic(im, op, "schema");
    return box_take_part(im, op, &b, 0);
}

bool map_reverse(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *in = import_in(im, op, 0)->type;
    int count;
    const int64_t *dims = model_attr_ints(&op->attrs, "dimensions", &count);
    struct box b;
    (void)ours;
    box_all(&b);
    for (int i = 0; i < count; i++) {
        int d = typing_dim(dims[i], in->count);
        if (d < 0) return import_generic(im, op, "schema");
        b.begin[d] = in->extent[d] - 1;
        b.step[d] = in->extent[d] > 1 ? -1 : 1;
    }
    return box_take_part(im, op, &b, 0);
}

/* An unread part has only a length. */
bool map_split(struct import *im, const struct model_op *op, const char *ours)
{
    struct typing t = typing_open(im->m, op, im->format, import_opset(im));
    int64_t sizes[MODEL_MAX_KNOWN];
    struct box b;
    int axis;
    (void)ours;
    box_all(&b);
    if (!onnx_split(&t, &axis, sizes)) return import_generic(im, op, "schema");
    for (int r = 0; r < op->result_count; b.begin[axis] += sizes[r++])
        if (op->results[r] >= 0) box_take_part(im, op, &b, r);
    return true;
}

/* Stores an operand with each of its elements once. */
static void box_lay_out(struct import *im, const struct model_op *op, struct import_value *v)
{
    bool plain = v->storage >= 0 && !view_is_part(&v->view);
    for (int i = 0; plain && i < v->view.first[v->view.rank]; i++) plain = v->view.atom[i].low > 0;
    if (!plain) import_plain(im, v, op);
}

/* Joins at most LX_MAX_INPUTS parts along a dimension. */
static struct import_value box_join(struct import *im, const struct model_op *op,
                                    const struct import_value *part, int count, int axis,
                                    const struct model_type *like)
{
    struct sketch_operand in[LX_MAX_INPUTS];
    struct import_value out;
    int64_t grain = 0, extent[VIEW_MAX_RANK];
    memcpy(extent, like->extent, (size_t)like->count * sizeof *extent);
    extent[axis] = 0;
    for (int i = 0; i < count; i++) {
        in[i] = (struct sketch_operand){part[i].storage, part[i].view, part[i].via};
        grain = gcd_i64(grain, part[i].type->extent[axis]);
        extent[axis] += part[i].type->extent[axis];
    }
    struct sketching k = {.kind = "concat", .from = op, .in = in, .count = count, .whole = true};
    k.type = import_type(im, like->element, like->count, extent);
    struct sketch *s = import_sketch(im, &k, &out);
    s->own = import_class_of(im, op);
    s->apart = 1u << axis;
    s->grain[axis] = grain;
    return out;
}

bool map_concat(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_type_out(im, op);
    const char *key = im->format == MODEL_TTIR ? "dim" : im->format == MODEL_HLO ? "dimensions" : "axis";
    int count, parts = 0;
    const int64_t *dims = model_attr_ints(&op->attrs, key, &count);
    int axis = typing_dim(count > 0 ? dims[0] : 0, type->count);
    struct import_value *part = arena_array(&im->memory, (size_t)op->operand_count, sizeof *part);
    (void)ours;
    if (axis < 0) return import_generic(im, op, "schema");
    for (int i = 0; i < op->operand_count; i++) {
        if (!import_is_tensor(im, op->operands[i])) continue; /* empty operand */
        part[parts] = *import_in(im, op, i);
        if (part[parts++].type->count != type->count) return import_generic(im, op, "schema");
    }
    if (parts == 0) return import_generic(im, op, "form");
    for (int i = 0; i < parts; i++) box_lay_out(im, op, &part[i]);
    bool joins = parts > 1, apart = joins && box_operands_apart(im, op, part, parts, 1u << axis);
    while (parts > 1) { /* joins groups, then the joined groups */
        int groups = 0;
        for (int i = 0; i < parts; i += LX_MAX_INPUTS) {
            int n = parts - i < LX_MAX_INPUTS ? parts - i : LX_MAX_INPUTS;
            part[groups++] = box_join(im, op, part + i, n, axis, type);
        }
        parts = groups;
    }
    if (joins) part[0].type = type;
    if (apart) box_set_apart(im, op, &part[0]);
    return import_mapped(im, op, &part[0]);
}

/* ---- pads ---- */

struct amounts {
    int64_t low[MODEL_MAX_RANK], high[MODEL_MAX_RANK], between[MODEL_MAX_RANK];
};

/* `v` padded with `value`. */
static struct import_value pad_around(struct import *im, const struct model_op *op, struct import_value v,
                                      const struct amounts *a, double value, const struct model_type *type)
{
    struct import_value out;
    unsigned dims = 0;
    for (int d = 0; d < type->count; d++)
        if (a->low[d] || a->high[d] || a->between[d]) dims |= 1u << d;
    box_lay_out(im, op, &v);
    bool apart = box_operands_apart(im, op, &v, 1, dims);
    struct sketch_operand from = {v.storage, v.view, v.via};
    struct sketching k = {
        .kind = "pad", .from = op, .in = &from, .count = 1, .value = &value, .type = type, .whole = true};
    struct sketch *s = import_sketch(im, &k, &out);
    s->own = import_class_of(im, op);
    s->low = arena_copy_array(&im->memory, a->low, VIEW_MAX_RANK, sizeof *a->low);
    s->high = arena_copy_array(&im->memory, a->high, VIEW_MAX_RANK, sizeof *a->high);
    s->between = arena_copy_array(&im->memory, a->between, VIEW_MAX_RANK, sizeof *a->between);
    s->apart = dims;
    for (int d = 0; d < type->count; d++)
        s->grain[d] = a->between[d] ? 1 : llabs(gcd_i64(gcd_i64(v.type->extent[d], a->low[d]), a->high[d]));
    if (apart) box_set_apart(im, op, &out);
    return out;
}

/* The padding value is known only at run time: it fills the places where a padded mask is 0. */
static struct import_value pad_filled(struct import *im, const struct model_op *op, const struct amounts *a,
                                      const struct model_type *x, struct import_value around,
                                      struct import_value y)
{
    const struct model_type *type = y.type;
    int64_t one = 1;
    struct import_value mask = import_whole(im, import_type(im, MODEL_BOOL, x->count, x->extent), &one, 1);
    mask = pad_around(im, op, mask, a, 0, import_type(im, MODEL_BOOL, type->count, type->extent));
    struct sketch_operand in[3] = {import_aligned(im, mask, type->count), import_aligned(im, y, type->count),
                                   import_aligned(im, around, type->count)};
    struct sketching k = {.kind = "where", .from = op, .in = in, .count = 3, .type = type};
    import_sketch(im, &k, &y);
    return y;
}

/* A dimension cropped to one element would have no letter left: crop it first. */
static void pad_crop_to_one(struct import *im, const struct model_op *op, struct amounts *a,
                            struct import_value *v, const struct model_type *type)
{
    int64_t extent[VIEW_MAX_RANK];
    memcpy(extent, v->type->extent, (size_t)type->count * sizeof *extent);
    for (int d = 0; d < type->count; d++) {
        struct view part;
        if (type->extent[d] != 1 || extent[d] == 1 || a->between[d] || a->low[d] > 0 || a->high[d] > 0)
            continue;
        import_plain(im, v, op);
        if (!view_slice(&v->view, d, -a->low[d], 1, 1, &part)) continue;
        v->view = part;
        extent[d] = 1;
        a->low[d] = a->high[d] = 0;
        v->type = import_type(im, v->type->element, type->count, extent);
    }
}

bool map_pad(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *in = import_in(im, op, 0)->type, *type = import_type_out(im, op);
    const int64_t most = INT64_C(1) << 40;
    const struct model_attr *attr = model_attr_find(&op->attrs, "value");
    double value = !attr ? 0 : attr->form == ATTR_REAL ? attr->real : (double)attr->number;
    struct amounts a = {.low = {0}};
    int64_t begin[VIEW_MAX_RANK];
    bool crops = true;
    struct typing t = typing_open(im->m, op, im->format, import_opset(im));
    (void)ours;
    if (strcmp(model_attr_word(&op->attrs, "mode", "constant"), "constant") != 0 ||
        typing_pads(&t, a.low, a.high, a.between) != TYPED || in->count != type->count)
        return import_generic(im, op, "schema");
    for (int d = 0; d < in->count; d++) {
        int64_t n = in->extent[d];
        if (llabs(a.low[d]) >= most || llabs(a.high[d]) >= most || a.between[d] < 0 ||
            a.between[d] >= most / n || a.low[d] + a.high[d] + n + (n - 1) * a.between[d] != type->extent[d])
            return import_generic(im, op, "schema");
        crops = crops && a.low[d] <= 0 && a.high[d] <= 0 && a.between[d] == 0 && -a.low[d] < n;
        begin[d] = -a.low[d];
    }
    int operand = im->format == MODEL_HLO ? 1 : im->format == MODEL_ONNX ? 2 : -1;
    bool stated = operand >= 0 && import_has(op, operand);
    bool known = !stated || import_splat(import_in(im, op, operand), &value);
    struct import_value v = *import_in(im, op, 0), around = known ? v : *import_in(im, op, operand);
    if (!known && around.type->elements != 1) return import_generic(im, op, "schema");
    if (crops) return box_take(im, op, begin);
    pad_crop_to_one(im, op, &a, &v, type);
    struct import_value out = pad_around(im, op, v, &a, known ? value : 0, type);
    if (!known) out = pad_filled(im, op, &a, v.type, around, out);
    return import_mapped(im, op, &out);
}
