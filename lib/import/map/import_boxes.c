/* Ops of the table that take parts or put parts together: slices, reversals, splits, concatenations,
 * repetition of pixels. A part is a view where storages allow it; what cannot be one is a slice that
 * copies. */
#include "import/map/import_steps.h"
#include "import/types/typing.h"
#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

/* First element and step of each dimension. */
struct box {
    int64_t begin[MODEL_MAX_RANK], step[MODEL_MAX_RANK];
};

enum { STICK_BYTES = 128 };

/* Does a part begin or end within a stick, or leave elements of sticks out? */
static bool box_breaks_sticks(const struct view *v, enum model_element e)
{
    int bits = model_element_row(e)->bits;
    for (int i = 0; i < v->first[v->rank]; i++) {
        const struct atom *a = &v->atom[i];
        if (a->span && a->low == 1 &&
            (a->step != 1 || a->offset * bits / 8 % STICK_BYTES || a->extent * bits / 8 % STICK_BYTES))
            return true;
    }
    for (int i = 0; i < v->fixed_count; i++)
        if (v->fixed[i].low == 1) return true;
    return false;
}

static bool take_box(const struct view *from, const struct box *b, const struct model_type *type,
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

static bool box_within(const struct model_type *in, const struct model_type *out, const struct box *b)
{
    bool ok = in->count == out->count && in->count <= VIEW_MAX_RANK;
    for (int d = 0; ok && d < in->count; d++) {
        int64_t last = b->begin[d] + b->step[d] * (out->extent[d] - 1);
        ok = b->begin[d] >= 0 && b->begin[d] < in->extent[d] && last >= 0 && last < in->extent[d];
    }
    return ok;
}

/* What is cut so that no slice can be told is kept apart in the next round. */
static bool box_copy_part(struct import *im, const struct model_op *op, struct import_value *v)
{
    size_t before = im->sketches.count;
    if (!import_plain(im, v, op)) return false;
    if (im->sketches.count > before) im->sketches.at[im->sketches.count - 1].own = import_class_of(im, op);
    v->via = NULL;
    return import_apart_result(im, op, v);
}

/* One result: the box of operand 0. */
static bool box_take_part(struct import *im, const struct model_op *op, const struct box *b, int result)
{
    struct op_class *c = import_class_of(im, op);
    struct import_value v = *import_in(im, op, 0), out;
    const struct model_type *type = model_type_of(im->m, op->results[result]);
    double number;
    if (!box_within(v.type, type, b)) return import_generic(im, op, "schema");
    if (import_splat(&v, &number)) {
        v.type = type;
        import_class(im, op, CLASS_FOLDED, NULL);
        return import_bind(im, op->results[result], &v, 1);
    }
    if (!import_stored(im, &v) || !import_apart_operands(im, op, &v, 1, ~0u)) return false;
    out = v;
    out.type = type;
    if (!take_box(&v.view, b, type, &out.view)) {
        if (!import_plain(im, &v, op)) return false;
        out.storage = v.storage;
        out.via = NULL;
        if (!take_box(&v.view, b, type, &out.view)) return import_generic(im, op, "rank");
    }
    const char *why = c->forced                                     ? c->forced
                      : im->options.no_fold                         ? "no-fold"
                      : box_breaks_sticks(&out.view, type->element) ? "stick"
                                                                    : NULL;
    if (!why) out.via = c;
    import_class(im, op, why ? CLASS_COPIED : CLASS_FREE, why ? why : "view");
    if (why && !box_copy_part(im, op, &out)) return false;
    return import_bind(im, op->results[result], &out, 1);
}

int64_t box_from_end(int64_t at, int64_t extent)
{
    return at < 0 ? at + extent : at;
}

static void box_all_of(struct box *b, int rank)
{
    for (int d = 0; d < rank && d < VIEW_MAX_RANK; d++) b->begin[d] = 0, b->step[d] = 1;
}

bool box_take(struct import *im, const struct model_op *op, const int64_t *begin)
{
    struct box b;
    box_all_of(&b, VIEW_MAX_RANK);
    memcpy(b.begin, begin, (size_t)import_type_out(im, op)->count * sizeof *begin);
    return box_take_part(im, op, &b, 0);
}

bool map_slice(struct import *im, const struct model_op *op, const char *ours)
{
    struct typing t = typing_open(im->m, op, im->format, import_opset(im));
    struct box b;
    (void)ours;
    if (t.in[0]->count > VIEW_MAX_RANK) return import_generic(im, op, "rank");
    enum typed typed = typing_slice(&t, b.begin, b.step);
    if (typed == TYPE_WRONG || (typed == TYPE_OPEN && t.dialect == MODEL_ONNX))
        return import_generic(im, op, "schema");
    return box_take_part(im, op, &b, 0);
}

bool map_reverse(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *in = model_type_of(im->m, op->operands[0]);
    int count;
    const int64_t *dims = model_attr_ints(&op->attrs, "dimensions", &count);
    struct box b;
    (void)ours;
    box_all_of(&b, VIEW_MAX_RANK);
    for (int i = 0; i < count; i++) {
        int64_t d = box_from_end(dims[i], in->count);
        if (d < 0 || d >= in->count || d >= VIEW_MAX_RANK) return import_generic(im, op, "schema");
        b.begin[d] = in->extent[d] - 1;
        b.step[d] = in->extent[d] > 1 ? -1 : 1;
    }
    return box_take_part(im, op, &b, 0);
}

/* A part that nobody reads has its length, and is nothing else. */
bool map_split(struct import *im, const struct model_op *op, const char *ours)
{
    struct typing t = typing_open(im->m, op, im->format, import_opset(im));
    int64_t sizes[MODEL_MAX_KNOWN];
    struct box b;
    int axis;
    (void)ours;
    box_all_of(&b, VIEW_MAX_RANK);
    if (!onnx_split(&t, &axis, sizes) || axis >= VIEW_MAX_RANK) return import_generic(im, op, "schema");
    for (int r = 0; r < op->result_count; b.begin[axis] += sizes[r++])
        if (op->results[r] >= 0 && !box_take_part(im, op, &b, r)) return false;
    return true;
}

/* ---- concat ---- */

/* An operand whose storage has all its elements, each once. */
bool box_laid_out(struct import *im, const struct model_op *op, struct import_value *v)
{
    bool plain = v->storage >= 0 && !view_is_part(&v->view);
    for (int i = 0; plain && i < v->view.first[v->view.rank]; i++) plain = v->view.atom[i].low > 0;
    return plain || import_plain(im, v, op);
}

int64_t box_common(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static bool box_join(struct import *im, const struct model_op *op, const struct import_value *part, int count,
                     int axis, const struct model_type *type, struct import_value *out)
{
    struct sketch_operand in[LX_MAX_INPUTS];
    int dims[VIEW_MAX_RANK];
    int64_t grain = 0;
    for (int d = 0; d < type->count; d++) dims[d] = d;
    for (int i = 0; i < count; i++) {
        in[i] = (struct sketch_operand){.storage = part[i].storage, .view = part[i].view, .via = part[i].via};
        grain = box_common(grain, part[i].type->extent[axis]);
    }
    im->whole_result = true;
    bool ok = import_sketch(im, "concat", op, type->count, type->extent, in, count, NULL, type, dims, out);
    im->whole_result = false;
    if (!ok) return false;
    struct sketch *s = &im->sketches.at[im->sketches.count - 1];
    s->own = import_class_of(im, op);
    s->apart = 1u << axis;
    s->joined = axis;
    s->grain[axis] = grain;
    return true;
}

/* At most LX_MAX_INPUTS at a time: groups are joined, then these. */
static bool box_join_all(struct import *im, const struct model_op *op, struct import_value *part, int count,
                         int axis, const struct model_type *type, struct import_value *out)
{
    while (count > LX_MAX_INPUTS) {
        int groups = 0;
        for (int i = 0; i < count; i += LX_MAX_INPUTS) {
            int n = count - i < LX_MAX_INPUTS ? count - i : LX_MAX_INPUTS;
            int64_t extent[VIEW_MAX_RANK];
            memcpy(extent, type->extent, (size_t)type->count * sizeof *extent);
            extent[axis] = 0;
            for (int k = 0; k < n; k++) extent[axis] += part[i + k].type->extent[axis];
            const struct model_type *some = import_type(im, type->element, type->count, extent);
            struct import_value joined;
            if (!some || !box_join(im, op, part + i, n, axis, some, &joined)) return false;
            part[groups++] = joined;
        }
        count = groups;
    }
    return box_join(im, op, part, count, axis, type, out);
}

bool import_join(struct import *im, const struct model_op *op, struct import_value *part, int count, int axis,
                 const struct model_type *type, struct import_value *out)
{
    for (int i = 0; i < count; i++)
        if (!box_laid_out(im, op, &part[i])) return false;
    return import_apart_operands(im, op, part, count, 1u << axis) &&
           box_join_all(im, op, part, count, axis, type, out) && import_apart_result(im, op, out);
}

bool map_concat(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_type_out(im, op);
    const char *key = im->format == MODEL_TTIR ? "dim" : im->format == MODEL_HLO ? "dimensions" : "axis";
    int count, parts = 0;
    const int64_t *dims = model_attr_ints(&op->attrs, key, &count);
    int64_t axis = box_from_end(count > 0 ? dims[0] : 0, type->count);
    struct import_value *part = arena_array(&im->memory, (size_t)op->operand_count, sizeof *part), out;
    (void)ours;
    if (axis < 0 || axis >= type->count || type->count > VIEW_MAX_RANK)
        return import_generic(im, op, "schema");
    for (int i = 0; i < op->operand_count; i++) {
        if (!import_is_tensor(im, op->operands[i])) continue; /* an extent of 0 */
        part[parts] = *import_in(im, op, i);
        if (part[parts++].type->count != type->count) return import_generic(im, op, "schema");
    }
    if (parts == 0) return import_generic(im, op, "form");
    if (parts == 1 && !box_laid_out(im, op, part)) return false;
    if (parts == 1) out = part[0];
    if (parts > 1 && !import_join(im, op, part, parts, (int)axis, type, &out)) return false;
    import_class(im, op, CLASS_MAPPED, NULL);
    return import_bind_one(im, op, &out);
}
