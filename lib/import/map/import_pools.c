/* Ops of the table that reduce windows to one element each: pools of all formats, running sums of HLO. */
#include "import/map/import_slide.h"

#include <string.h>

bool map_pool(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]), *y = import_type_out(im, op);
    struct model_window w[MODEL_MAX_WINDOWS];
    int at[MODEL_MAX_WINDOWS], count = op_pool(im->format, op, x, w, at);
    bool count_all = model_attr_int(&op->attrs, "count_include_pad", im->format == MODEL_TTIR) != 0;
    for (int r = 1; r < op->result_count; r++)
        if (op->results[r] >= 0) return import_generic(im, op, "several results");
    if (count < 1 || y->count != x->count) return import_generic(im, op, "window");
    for (int i = 0; i < count; i++) {
        w[i].out = y->extent[at[i]];
        int64_t end = (w[i].out - 1) * w[i].stride + w[i].dilation * (w[i].size - 1) + 1;
        if (im->format == MODEL_ONNX && count_all && end > w[i].in + w[i].low + w[i].high)
            return import_generic(im, op, "ceil_mode");
    }
    return slide_pool(im, op, ours, w, at, count, count_all);
}

/* ---- HLO ---- */

/* All that is before an element of one dimension, or behind it, and the element (without it: exclusive). */
struct running {
    int axis;
    bool exclusive, reverse;
};

static bool pool_stays(const struct model_window *w)
{
    return w->size == 1 && w->stride == 1 && w->low == 0 && w->high == 0 && w->hole == 1;
}

/* Windows that have all of a dimension on one side of each element are a running sum. */
static bool pool_is_running(const struct model_window *w, int count, struct running *r)
{
    *r = (struct running){.axis = -1};
    for (int i = 0; i < count; i++) {
        if (pool_stays(&w[i])) continue;
        bool slides = w[i].stride == 1 && w[i].dilation == 1 && w[i].hole == 1 && w[i].in == w[i].out &&
                      w[i].in > 1 && w[i].size >= w[i].in && r->axis < 0;
        bool with = w[i].low + w[i].high == w[i].size - 1 && (w[i].low == 0 || w[i].high == 0);
        bool without = w[i].low + w[i].high == w[i].size - 1 && (w[i].low == -1 || w[i].high == -1);
        if (!slides || !(with || without)) return false;
        *r = (struct running){i, without, w[i].high > w[i].low};
    }
    return r->axis >= 0;
}

/* What it begins with, and what is around it, is another number than none: it counts once, which is the
 * same as often of a maximum; a sum must have nothing around it. */
static bool pool_combine_first(struct import *im, const struct model_op *op, const char *two)
{
    struct steps s = {im, op, true};
    if (import_class_of(im, op)->class == CLASS_GENERIC) return true;
    struct import_value y = *import_leaf(im, op->results[0], 0), first = *import_in(im, op, 1);
    double number;
    bool one = import_splat(&first, &number);
    y = step_point(&s, two, y, one ? NULL : &first, one ? &number : NULL, y.type->element);
    return s.ok && import_bind_one(im, op, &y);
}

static bool pool_nothing_around(const struct model_window *w, int count)
{
    bool none = true;
    for (int i = 0; i < count; i++) none = none && w[i].low <= 0 && w[i].high <= 0 && w[i].hole == 1;
    return none;
}

bool map_reduce_window(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]), *y = import_type_out(im, op);
    struct model_window w[MODEL_MAX_WINDOWS];
    struct running r;
    int at[MODEL_MAX_WINDOWS], count = op_pool(MODEL_HLO, op, x, w, at);
    ours = op->operand_count == 2 ? import_reducer(im, op) : NULL;
    bool sums = ours && strcmp(ours, "sum") == 0;
    bool truth = model_type_of(im->m, op->operands[0])->element == MODEL_BOOL;
    if (!ours || strcmp(ours, "prod") == 0) return import_generic(im, op, "reducer");
    if (count < 1 || x->count != count || y->count != count) return import_generic(im, op, "window");
    for (int i = 0; i < count; i++) w[i].out = y->extent[i];
    bool neutral = import_neutral(import_in(im, op, 1), ours);
    bool idempotent = strcmp(ours, "max") == 0 || strcmp(ours, "min") == 0;
    if (!neutral && !idempotent && !(sums && pool_nothing_around(w, count)))
        return import_generic(im, op, "init");
    if (strcmp(ours, "any") == 0 || strcmp(ours, "all") == 0) { /* of truths: the largest, the least */
        if (!truth || !neutral) return import_generic(im, op, "reducer");
        ours = strcmp(ours, "any") == 0 ? "max" : "min";
    }
    if (neutral && sums && pool_is_running(w, count, &r))
        return import_scan(im, op, r.axis, r.exclusive, r.reverse);
    return slide_pool(im, op, ours, w, at, count, false) &&
           (neutral || pool_combine_first(im, op, sums ? "add" : ours));
}
