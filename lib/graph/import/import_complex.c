/* Complex numbers: a tensor of them is one of real numbers with one more dimension of 2, the innermost. What has such an
 * operand or result is mapped here; the rest of the table never sees them. Products are made of their parts. */
#include "graph/import/import_steps.h"

#include <string.h>

const struct model_type *import_real_type(struct import *im, const struct model_type *t)
{
    int64_t extent[VIEW_MAX_RANK + 1];
    bool narrow = t->element == MODEL_C64;
    if ((!narrow && t->element != MODEL_C128) || t->count >= VIEW_MAX_RANK) return t;
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    extent[t->count] = 2;
    return import_type(im, narrow ? MODEL_F32 : MODEL_F64, t->count + 1, extent);
}

static bool is_complex(const struct import *im, int32_t value)
{
    const struct model_type *t = value >= 0 ? model_type_of(im->m, value) : NULL;
    return t && (t->element == MODEL_C64 || t->element == MODEL_C128);
}

bool import_is_complex(const struct import *im, const struct model_op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (is_complex(im, op->operands[i])) return true;
    for (int i = 0; i < op->result_count; i++)
        if (is_complex(im, op->results[i])) return true;
    return false;
}

/* The dimensions in front of the last, then `last`; 0: none. */
static const struct model_type *with_last(struct import *im, const struct model_type *t, int64_t last)
{
    int64_t extent[VIEW_MAX_RANK + 1];
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    extent[t->count - 1] = last;
    return import_type(im, t->element, t->count - (last == 0), extent);
}

/* Real (0) or imaginary (1) parts, with a last dimension of 1: a copy, for they lie within sticks. */
static struct import_value part_of(struct steps *s, struct import_value v, int which)
{
    struct import_value part = v;
    part.type = s->ok ? with_last(s->im, v.type, 1) : NULL;
    s->ok = part.type && import_plain(s->im, &v, s->op) &&
            view_slice(&v.view, v.type->count - 1, which, 1, 1, &part.view);
    part.storage = v.storage;
    part.via = NULL;
    s->ok = s->ok && import_plain(s->im, &part, s->op);
    return part;
}

static struct import_value both(struct steps *s, struct import_value re, struct import_value im)
{
    struct import_value part[2] = {re, im}, out = re;
    const struct model_type *type = s->ok ? with_last(s->im, re.type, 2) : NULL;
    s->ok = type && import_join(s->im, s->op, part, 2, type->count - 1, type, &out);
    out.type = type;
    return out;
}

static bool result(struct steps *s, struct import_value y, enum import_class class)
{
    if (s->ok) import_class(s->im, s->op, class, NULL);
    return s->ok && import_bind_one(s->im, s->op, &y);
}

static bool point(struct import *im, const struct model_op *op, const char *ours)
{
    struct steps s = {im, op, true};
    struct import_value a = step_operand(&s, 0), b = a;
    if (op->operand_count > 1) b = step_operand(&s, 1);
    return result(&s, step_point(&s, ours, a, op->operand_count > 1 ? &b : NULL, NULL, a.type->element),
                  CLASS_MAPPED);
}

/* (a + bi)(c + di) = ac - bd + (ad + bc)i */
static bool multiply(struct import *im, const struct model_op *op, const char *ours)
{
    struct steps s = {im, op, true};
    struct import_value x = step_operand(&s, 0), y = step_operand(&s, 1), p[2], q[2], m[4];
    enum model_element e = x.type->element;
    for (int i = 0; i < 2; i++) p[i] = part_of(&s, x, i);
    for (int i = 0; i < 2; i++) q[i] = part_of(&s, y, i);
    for (int i = 0; i < 4; i++) m[i] = step_point(&s, ours, p[i & 1], &q[(i >> 1) ^ (i & 1)], NULL, e);
    struct import_value re = step_point(&s, "sub", m[0], &m[1], NULL, e);
    struct import_value imaginary = step_point(&s, "add", m[2], &m[3], NULL, e);
    return result(&s, both(&s, re, imaginary), CLASS_EXPANDED);
}

/* The imaginary part with its sign turned. */
static bool conjugate(struct import *im, const struct model_op *op, const char *ours)
{
    struct steps s = {im, op, true};
    struct import_value x = step_operand(&s, 0), re = part_of(&s, x, 0), turned = part_of(&s, x, 1);
    turned = step_point(&s, ours, turned, NULL, NULL, x.type->element);
    return result(&s, both(&s, re, turned), CLASS_EXPANDED);
}

static bool make(struct import *im, const struct model_op *op, const char *ours)
{
    struct steps s = {im, op, true};
    struct import_value v[2];
    (void)ours;
    for (int i = 0; s.ok && i < 2; i++) {
        v[i] = step_operand(&s, i);
        const struct model_type *whole = import_real_type(im, import_type_out(im, op));
        s.ok = s.ok && whole && import_plain(im, &v[i], op) && view_open_dim(&v[i].view);
        if (s.ok) v[i].type = with_last(im, whole, 1);
        s.ok = s.ok && v[i].type;
    }
    return s.ok && result(&s, both(&s, v[0], v[1]), CLASS_MAPPED);
}

static bool take(struct import *im, const struct model_op *op, const char *ours)
{
    struct steps s = {im, op, true};
    struct import_value v = part_of(&s, step_operand(&s, 0), strcmp(op->kind, "imag") == 0), out = v;
    (void)ours;
    out.type = import_type_out(im, op);
    s.ok = s.ok && view_reshape(&v.view, out.type->count, out.type->extent, &out.view);
    return result(&s, out, CLASS_MAPPED);
}

/* A view of its pairs: as such, or copied where that is wanted. */
static bool seen_as(struct import *im, const struct model_op *op, struct import_value v)
{
    struct op_class *c = import_class_of(im, op);
    const char *why = c->forced ? c->forced : im->options.no_fold ? "no-fold" : NULL;
    v.type = import_real_type(im, import_type_out(im, op));
    if (!v.type) return false;
    v.via = why ? NULL : c;
    import_class(im, op, why ? CLASS_COPIED : CLASS_FREE, why ? why : "view");
    return (!why || import_plain(im, &v, op)) && import_bind_one(im, op, &v);
}

static bool reshape(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_real_type(im, import_type_out(im, op));
    struct import_value v = *import_in(im, op, 0), out = v;
    if (!type) return false;
    if (!import_class_of(im, op)->forced && !im->options.no_fold &&
        view_reshape(&v.view, type->count, type->extent, &out.view))
        return seen_as(im, op, out);
    import_class(im, op, CLASS_COPIED, "atoms");
    return import_opaque_leaf(im, ours, op, v, type, &out) && import_bind_one(im, op, &out);
}

static bool transpose(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = *import_in(im, op, 0), out = v;
    int64_t order[VIEW_MAX_RANK];
    int count;
    const int64_t *list = model_attr_ints(&op->attrs, "dimensions", &count);
    (void)ours;
    if (count != v.type->count - 1) return import_generic(im, op, "schema");
    for (int d = 0; d < count; d++) order[d] = list[d];
    order[count] = count;
    return view_permute(&v.view, order, &out.view) ? seen_as(im, op, out) : import_generic(im, op, "rank");
}

static bool broadcast(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_real_type(im, import_type_out(im, op));
    struct import_value v = *import_in(im, op, 0), out = v;
    int to[VIEW_MAX_RANK], count;
    const int64_t *list = model_attr_ints(&op->attrs, "dimensions", &count);
    (void)ours;
    if (!type) return false;
    if (count != v.type->count - 1) return import_generic(im, op, "schema");
    for (int d = 0; d < count; d++) to[d] = (int)list[d];
    to[count] = type->count - 1;
    bool ok = view_broadcast(&v.view, to, type->count, type->extent, &out.view);
    return ok ? seen_as(im, op, out) : import_generic(im, op, "rank");
}

static bool same(struct import *im, const struct model_op *op, const char *ours)
{
    struct import_value v = *import_in(im, op, 0);
    (void)ours;
    import_class(im, op, CLASS_FREE, "names");
    return import_bind_one(im, op, &v);
}

static const struct complex_row {
    const char *name, *ours; /* of HLO */
    import_emit *emit;
    int operands;
} rows[] = {
    {"complex", "concat", make, 2},       {"real", "slice", take, 1},
    {"imag", "slice", take, 1},           {"add", "add", point, 2},
    {"subtract", "sub", point, 2},        {"negate", "neg", point, 1},
    {"multiply", "mul", multiply, 2},     {"conj", "neg", conjugate, 1},
    {"reshape", "reshape", reshape, 1},   {"bitcast", "reshape", reshape, 1},
    {"transpose", "clone", transpose, 1}, {"broadcast", "clone", broadcast, 1},
    {"copy", "clone", same, 1},           {"constant", "constant", import_unknown_constant, 0},
};

static bool is_stored_real(const struct import_value *v)
{
    return v->type->element != MODEL_C64 && v->type->element != MODEL_C128;
}

bool import_complex(struct import *im, const struct model_op *op)
{
    bool fits = op->result_count == 1 && import_is_tensor(im, op->results[0]) &&
                import_type_out(im, op)->count < VIEW_MAX_RANK;
    for (int i = 0; i < op->operand_count; i++)
        fits = fits && import_is_tensor(im, op->operands[i]) && is_stored_real(import_in(im, op, i));
    for (size_t i = 0; im->format == MODEL_HLO && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, op->kind) == 0 && op->operand_count >= rows[i].operands)
            return fits || rows[i].operands == 0 ? rows[i].emit(im, op, rows[i].ours)
                                                 : import_generic(im, op, "form");
    return import_generic(im, op, "complex");
}
