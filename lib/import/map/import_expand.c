/* Layers that a file has as one op, in steps of ours: softmax, norms, Gemm. Narrow operands are cast to
 * fp32 first and the end is cast back. A step of a kind that is not there yet is generic. */
#include "import/map/import_steps.h"
#include "base/fail.h"

#include <string.h>

static bool expand_is_narrow(enum model_element e)
{
    return model_element_row(e)->bits < 32;
}

struct import_value step_operand(struct steps *s, int i)
{
    struct import_value v = *import_leaf(s->im, s->op->operands[i], 0);
    s->ok = s->ok && import_stored(s->im, &v);
    return v;
}

struct import_value step_point(struct steps *s, const char *kind, struct import_value a,
                               const struct import_value *b, const double *number, enum model_element e)
{
    struct sketch_operand in[2];
    struct import_value out = a;
    int dims[VIEW_MAX_RANK], count = 1, rank = a.type->count;
    const struct model_type *type = s->ok ? import_type(s->im, e, rank, a.type->extent) : NULL;
    s->ok = type && import_aligned(s->im, a, rank, &in[0]);
    if (s->ok && b) s->ok = import_aligned(s->im, *b, rank, &in[count++]);
    for (int d = 0; d < rank; d++) dims[d] = d;
    s->ok =
        s->ok && import_sketch(s->im, kind, s->op, rank, a.type->extent, in, count, number, type, dims, &out);
    return out;
}

struct import_value step_cast(struct steps *s, struct import_value a, enum model_element e)
{
    return a.type->element == e ? a : step_point(s, "cast", a, NULL, NULL, e);
}

struct import_value step_along(struct steps *s, const char *kind, struct import_value a, const bool *goes)
{
    struct import_value out = a;
    int64_t extent[VIEW_MAX_RANK];
    int dims[VIEW_MAX_RANK];
    for (int d = 0; d < a.type->count; d++) {
        extent[d] = goes[d] ? 1 : a.type->extent[d];
        dims[d] = goes[d] ? -1 : d;
    }
    const struct model_type *type = s->ok ? import_type(s->im, a.type->element, a.type->count, extent) : NULL;
    s->ok = type && import_without_repeats(s->im, s->op, &a, goes);
    struct sketch_operand in = {a.storage, a.view, a.via};
    s->ok = s->ok &&
            import_sketch(s->im, kind, s->op, a.type->count, a.type->extent, &in, 1, NULL, type, dims, &out);
    return out;
}

void steps_result(struct steps *s, int r, struct import_value y)
{
    if (!s->ok || r >= s->op->result_count || s->op->results[r] < 0) return;
    y.type = model_type_of(s->im->m, s->op->results[r]);
    s->ok = import_bind(s->im, s->op->results[r], &y, 1);
}

bool steps_end(struct steps *s)
{
    if (s->ok) import_class(s->im, s->op, CLASS_EXPANDED, NULL);
    return s->ok;
}

static bool expand_end(struct steps *s, struct import_value y)
{
    steps_result(s, 0, y);
    return steps_end(s);
}

bool steps_begin(struct steps *s, struct import *im, const struct model_op *op)
{
    *s = (struct steps){im, op, true};
    return op->operand_count > 0 && !im->options.no_expand &&
           model_type_of(im->m, op->operands[0])->count <= VIEW_MAX_RANK;
}

/* Most have one result. */
static bool expand_begin(struct steps *s, struct import *im, const struct model_op *op)
{
    for (int r = 1; r < op->result_count; r++)
        if (op->results[r] >= 0) return false;
    return steps_begin(s, im, op);
}

static enum model_element expand_wide(enum model_element e)
{
    return expand_is_narrow(e) ? MODEL_F32 : e;
}

/* The dimensions that softmax runs along: one, or (ONNX below 13) all from one on. */
static bool expand_softmax_dims(struct import *im, const struct model_op *op, bool *goes)
{
    int rank = model_type_of(im->m, op->operands[0])->count;
    bool onnx = im->format == MODEL_ONNX, old = onnx && import_opset(im) < 13;
    int64_t d = model_attr_int(&op->attrs, onnx ? "axis" : "dimension", old ? 1 : -1);
    if (d < 0) d += rank;
    for (int i = 0; i < rank; i++) goes[i] = i == d || (old && i > d);
    return d >= 0 && d < rank;
}

bool map_softmax(struct import *im, const struct model_op *op, const char *ours)
{
    struct steps s;
    bool goes[VIEW_MAX_RANK];
    (void)ours;
    if (!expand_begin(&s, im, op) || !expand_softmax_dims(im, op, goes))
        return import_generic(im, op, "form");
    struct import_value x = step_operand(&s, 0);
    enum model_element e = x.type->element, f = expand_wide(e);
    x = step_cast(&s, x, f);
    struct import_value m = step_along(&s, "max", x, goes);
    struct import_value p = step_point(&s, "sub", x, &m, NULL, f);
    p = step_point(&s, "exp", p, NULL, NULL, f);
    struct import_value z = step_along(&s, "sum", p, goes);
    p = step_point(&s, "div", p, &z, NULL, f);
    return expand_end(&s, step_cast(&s, p, e));
}

/* The last dimensions, as many as `normalized_shape` has, or from `axis` on. */
static bool expand_norm_dims(struct import *im, const struct model_op *op, bool *goes)
{
    int rank = model_type_of(im->m, op->operands[0])->count, count;
    model_attr_ints(&op->attrs, "normalized_shape", &count);
    int64_t axis = model_attr_int(&op->attrs, "axis", -1), first = count      ? rank - count
                                                                   : axis < 0 ? axis + rank
                                                                              : axis;
    for (int i = 0; i < rank; i++) goes[i] = i >= first;
    return first >= 0 && first < rank;
}

static double expand_epsilon_of(const struct model_op *op)
{
    const struct model_attr *a = model_attr_find(&op->attrs, "epsilon");
    return a && a->form == ATTR_REAL ? a->real : 1e-5;
}

/* Scaled by weight and shifted by bias, where there are some. */
static struct import_value expand_finished(struct steps *s, struct import_value y, int first)
{
    static const char *const kinds[] = {"mul", "add"};
    for (int i = 0; i < 2; i++)
        if (import_has(s->op, first + i)) {
            struct import_value w = step_operand(s, first + i);
            y = step_point(s, kinds[i], y, &w, NULL, y.type->element);
        }
    return y;
}

static bool expand_norm(struct import *im, const struct model_op *op, bool centred)
{
    struct steps s;
    bool goes[VIEW_MAX_RANK];
    double epsilon = expand_epsilon_of(op);
    if (!expand_begin(&s, im, op) || !expand_norm_dims(im, op, goes)) return import_generic(im, op, "form");
    struct import_value x = step_operand(&s, 0), f;
    enum model_element e = x.type->element, w = expand_wide(e);
    f = step_cast(&s, x, w);
    if (centred) {
        struct import_value u = step_along(&s, "mean", f, goes);
        f = step_point(&s, "sub", f, &u, NULL, w);
    }
    struct import_value q = step_point(&s, "mul", f, &f, NULL, w), v = step_along(&s, "mean", q, goes);
    v = step_point(&s, "add", v, NULL, &epsilon, w);
    v = step_point(&s, "rsqrt", v, NULL, NULL, w);
    f = step_cast(&s, step_point(&s, "mul", f, &v, NULL, w), e);
    return expand_end(&s, expand_finished(&s, f, 1));
}

bool map_rms_norm(struct import *im, const struct model_op *op, const char *ours)
{
    (void)ours;
    return expand_norm(im, op, false);
}

bool map_layer_norm(struct import *im, const struct model_op *op, const char *ours)
{
    (void)ours;
    return expand_norm(im, op, true);
}

/* A vector of channels along dimension `dim` of a value of that shape. */
static struct import_value expand_channels(struct steps *s, struct import_value v,
                                           const struct model_type *shape, int dim)
{
    struct view spread;
    s->ok =
        s->ok && v.type->count == 1 && view_broadcast(&v.view, &dim, shape->count, shape->extent, &spread);
    if (!s->ok) return v;
    v.view = spread;
    v.type = import_type(s->im, v.type->element, shape->count, shape->extent);
    s->ok = v.type != NULL;
    return v;
}

/* a = rsqrt(var + e) * scale, b = offset - mean * a, y = x * a + b; scale, offset, mean, var are operands
 * 1 to 4. */
bool map_batch_norm(struct import *im, const struct model_op *op, const char *ours)
{
    struct steps s;
    double epsilon = expand_epsilon_of(op);
    (void)ours;
    if (!expand_begin(&s, im, op) || op->operand_count != 5) return import_generic(im, op, "form");
    struct import_value x = step_operand(&s, 0), scale = step_operand(&s, 1), offset = step_operand(&s, 2),
                        mean = step_operand(&s, 3), a = step_operand(&s, 4);
    int64_t dim = model_attr_int(&op->attrs, "dimension", 1);
    bool fits = dim >= 0 && dim < x.type->count;
    for (int i = 1; i < 5; i++) fits = fits && model_type_of(im->m, op->operands[i])->count == 1;
    if (!s.ok || !fits) return s.ok ? import_generic(im, op, "form") : false;
    enum model_element e = a.type->element;
    a = step_point(&s, "add", a, NULL, &epsilon, e);
    a = step_point(&s, "rsqrt", a, NULL, NULL, e);
    a = step_point(&s, "mul", a, &scale, NULL, e);
    struct import_value b = step_point(&s, "mul", mean, &a, NULL, e);
    b = step_point(&s, "sub", offset, &b, NULL, e);
    a = expand_channels(&s, a, x.type, (int)dim);
    b = expand_channels(&s, b, x.type, (int)dim);
    struct import_value y = step_point(&s, "mul", x, &a, NULL, x.type->element);
    return expand_end(&s, step_point(&s, "add", y, &b, NULL, x.type->element));
}
