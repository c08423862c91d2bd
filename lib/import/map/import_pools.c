/* Ops of the table that reduce windows to one element each: pools of all formats, running sums of HLO. */
#include "import/map/import_slide.h"
#include "import/read/onnx.h"

#include <string.h>

/* ---- ONNX ---- */

static bool onnx_pool(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]), *y = import_type_out(im, op);
    struct model_window w[MODEL_MAX_WINDOWS];
    int count, at[MODEL_MAX_WINDOWS];
    const int64_t *size = model_attr_ints(&op->attrs, "kernel_shape", &count);
    for (int r = 1; r < op->result_count; r++)
        if (op->results[r] >= 0) return import_generic(im, op, "several results");
    if (count < 1 || count > MODEL_MAX_WINDOWS || x->count != count + 2 || y->count != x->count ||
        onnx_windows(op, x, size, count, w) < 0)
        return import_generic(im, op, "window");
    bool count_all = model_attr_int(&op->attrs, "count_include_pad", 0) != 0;
    for (int i = 0; i < count; i++) {
        at[i] = 2 + i;
        w[i].out = y->extent[2 + i];
        int64_t end = (w[i].out - 1) * w[i].stride + w[i].dilation * (w[i].size - 1) + 1;
        if (count_all && end > w[i].in + w[i].low + w[i].high) return import_generic(im, op, "ceil_mode");
    }
    return slide_pool(im, op, ours, w, at, count, count_all);
}

/* ---- TTIR ---- */

/* Of height and width by one key, or (older files) by two. */
static int64_t of_side(const struct model_op *op, const char *key, const char *const sides[2], int i,
                       int64_t otherwise)
{
    return slide_nth(op, key, i, model_attr_int(&op->attrs, sides[i], otherwise));
}

static bool ttir_pool(struct import *im, const struct model_op *op, const char *ours)
{
    static const char *const sizes[] = {"kernel_height", "kernel_width"},
                             *const strides[] = {"stride_height", "stride_width"},
                             *const dilations[] = {"dilation_height", "dilation_width"},
                             *const pads[] = {"padding_top", "padding_left"};
    const struct model_type *x = model_type_of(im->m, op->operands[0]), *y = import_type_out(im, op);
    struct model_window w[2];
    static const int at[] = {1, 2};
    if (x->count != 4 || y->count != 4) return import_generic(im, op, "window");
    for (int i = 0; i < 2; i++)
        w[i] = (struct model_window){.in = x->extent[at[i]],
                                     .out = y->extent[at[i]],
                                     .size = of_side(op, "kernel", sizes, i, 0),
                                     .stride = of_side(op, "stride", strides, i, 1),
                                     .dilation = of_side(op, "dilation", dilations, i, 1),
                                     .low = of_side(op, "padding", pads, i, 0),
                                     .hole = 1};
    return slide_pool(im, op, ours, w, at, 2, model_attr_int(&op->attrs, "count_include_pad", 1) != 0);
}

/* ---- HLO ---- */

/* All that is before an element of one dimension, or behind it, and the element (without it: exclusive). */
struct running {
    int axis;
    bool exclusive, reverse;
};

static bool stays(const struct model_window *w)
{
    return w->size == 1 && w->stride == 1 && w->low == 0 && w->high == 0 && w->hole == 1;
}

/* Windows that have all of a dimension on one side of each element are a running sum. */
static bool is_running(const struct model_window *w, int count, struct running *r)
{
    *r = (struct running){.axis = -1};
    for (int i = 0; i < count; i++) {
        if (stays(&w[i])) continue;
        bool slides = w[i].stride == 1 && w[i].dilation == 1 && w[i].hole == 1 && w[i].in == w[i].out &&
                      w[i].in > 1 && w[i].size >= w[i].in && r->axis < 0;
        bool with = w[i].low + w[i].high == w[i].size - 1 && (w[i].low == 0 || w[i].high == 0);
        bool without = w[i].low + w[i].high == w[i].size - 1 && (w[i].low == -1 || w[i].high == -1);
        if (!slides || !(with || without)) return false;
        *r = (struct running){i, without, w[i].high > w[i].low};
    }
    return r->axis >= 0;
}

/* What it begins with, and what is around it, is another number than none: it counts once, which is the same as often of a
 * maximum; a sum must have nothing around it. */
static bool combine_first(struct import *im, const struct model_op *op, const char *two)
{
    struct steps s = {im, op, true};
    if (import_class_of(im, op)->class == CLASS_GENERIC) return true;
    struct import_value y = *import_leaf(im, op->results[0], 0), first = *import_in(im, op, 1);
    double number;
    bool one = import_splat(&first, &number);
    y = step_point(&s, two, y, one ? NULL : &first, one ? &number : NULL, y.type->element);
    return s.ok && import_bind_one(im, op, &y);
}

static bool nothing_around(const struct model_window *w, int count)
{
    bool none = true;
    for (int i = 0; i < count; i++) none = none && w[i].low <= 0 && w[i].high <= 0 && w[i].hole == 1;
    return none;
}

static bool hlo_reduce_window(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]), *y = import_type_out(im, op);
    struct model_window w[MODEL_MAX_WINDOWS];
    struct running r;
    int at[MODEL_MAX_WINDOWS], count = hlo_windows(op, w);
    ours = op->operand_count == 2 ? import_reducer(im, op) : NULL;
    bool sums = ours && strcmp(ours, "sum") == 0;
    bool truth = model_type_of(im->m, op->operands[0])->element == MODEL_BOOL;
    if (!ours || strcmp(ours, "prod") == 0) return import_generic(im, op, "reducer");
    if (count < 1 || x->count != count || y->count != count) return import_generic(im, op, "window");
    for (int i = 0; i < count; i++) {
        at[i] = i;
        w[i].in = x->extent[i];
        w[i].out = y->extent[i];
    }
    bool neutral = import_neutral(import_in(im, op, 1), ours);
    bool idempotent = strcmp(ours, "max") == 0 || strcmp(ours, "min") == 0;
    if (!neutral && !idempotent && !(sums && nothing_around(w, count))) return import_generic(im, op, "init");
    if (strcmp(ours, "any") == 0 || strcmp(ours, "all") == 0) { /* of truths: the largest, the least */
        if (!truth || !neutral) return import_generic(im, op, "reducer");
        ours = strcmp(ours, "any") == 0 ? "max" : "min";
    }
    if (neutral && sums && is_running(w, count, &r))
        return import_scan(im, op, r.axis, r.exclusive, r.reverse);
    return slide_pool(im, op, ours, w, at, count, false) &&
           (neutral || combine_first(im, op, sums ? "add" : ours));
}

/* clang-format off */
const struct op_row import_pool_rows[] = {
    {{"max_pool2d", NULL, NULL}, "max", ttir_pool, 1},
    {{"avg_pool2d", NULL, NULL}, "mean", ttir_pool, 1},

    {{NULL, NULL, "MaxPool"}, "max", onnx_pool, LOOSE + 1},
    {{NULL, NULL, "AveragePool"}, "mean", onnx_pool, 1},
    {{NULL, "reduce-window", NULL}, NULL, hlo_reduce_window, 2},
    {.emit = NULL},
};
/* clang-format on */
