/* Ops of the table that slide windows: convolutions and pools of all formats.
 *
 * Whatever a format calls its dimensions, a convolution here is x[group, batch, channel, in..] * w[group, out channel,
 * channel, tap..] -> y[batch, group, out channel, out..]. A window that is none (one tap on its place) or that has all of
 * the input (one output) needs no letters of its own: its dimensions are the same. */
#include "graph/import/import_slide.h"
#include "base/fail.h"
#include "model/onnx.h"

#include <math.h>
#include <string.h>

/* Where the parts of a convolution stand in its operands and result. */
struct labels {
    int batch, channel;          /* of the input */
    int out_channel, in_channel; /* of the weight */
    int y_batch, y_channel;      /* of the result */
    int x[MODEL_MAX_WINDOWS], w[MODEL_MAX_WINDOWS], y[MODEL_MAX_WINDOWS];
};

struct conv {
    struct labels at;
    int count; /* windows */
    struct model_window window[MODEL_MAX_WINDOWS];
    int64_t groups, batch_groups;
    bool
        by_channel; /* groups of the weight are of its channels, not of its outputs: transposed convolutions */
};

static int64_t extent_at(const struct model_type *t, int d)
{
    return d >= 0 && d < t->count ? t->extent[d] : -1;
}

/* Extents of windows from the types, and do the groups fit? */
static bool conv_fits(struct conv *k, const struct model_type *x, const struct model_type *w,
                      const struct model_type *y)
{
    const struct labels *at = &k->at;
    int rank = k->count + 2;
    if (k->count < 0 || x->count != rank || w->count != rank || y->count != rank || k->groups < 1 ||
        k->batch_groups < 1 || (k->groups > 1 && k->batch_groups > 1))
        return false;
    int64_t groups = k->groups * k->batch_groups, c = extent_at(x, at->channel);
    int64_t o = extent_at(w, at->out_channel), i = extent_at(w, at->in_channel);
    int64_t all_o = k->by_channel ? o * groups : o, all_i = k->by_channel ? i : i * k->groups;
    bool ok = all_i == c && all_o == extent_at(y, at->y_channel) && all_o % groups == 0 &&
              (k->by_channel ? i : o) % groups == 0 && extent_at(x, at->batch) % k->batch_groups == 0 &&
              extent_at(x, at->batch) / k->batch_groups == extent_at(y, at->y_batch);
    for (int s = 0; ok && s < k->count; s++) {
        struct model_window *win = &k->window[s];
        win->in = extent_at(x, at->x[s]);
        win->size = extent_at(w, at->w[s]);
        win->out = extent_at(y, at->y[s]);
        ok = win->in > 0 && win->size > 0 && win->out > 0;
    }
    return ok;
}

/* The operand with its parts in our order. */
static bool conv_input(struct import *im, const struct model_op *op, const struct conv *k, struct slide *s)
{
    struct import_value v = *import_in(im, op, 0);
    int64_t perm[VIEW_MAX_RANK], shape[VIEW_MAX_RANK];
    int rank = 0, n = 0;
    int64_t groups = k->groups * k->batch_groups;
    perm[n++] = k->at.batch;
    perm[n++] = k->at.channel;
    for (int i = 0; i < k->count; i++) perm[n++] = k->at.x[i];
    shape[rank++] = k->batch_groups;
    shape[rank++] = v.type->extent[k->at.batch] / k->batch_groups;
    shape[rank++] = k->groups;
    shape[rank++] = v.type->extent[k->at.channel] / k->groups;
    for (int i = 0; i < k->count; i++) shape[rank++] = k->window[i].in;
    if (!slide_view(im, op, &v, perm, n, shape, rank)) return false;
    s->dim[0][0] = k->batch_groups > 1 ? slide_dim(s, SLIDE_GROUP, groups) : -1;
    s->dim[0][1] = slide_dim(s, SLIDE_BATCH, shape[1]);
    s->dim[0][2] = k->groups > 1 ? slide_dim(s, SLIDE_GROUP, groups) : -1;
    s->dim[0][3] = slide_dim(s, SLIDE_CHANNEL, shape[3]);
    for (int i = 0; i < k->count; i++) s->dim[0][4 + i] = slide_dim(s, SLIDE_IN + i, shape[4 + i]);
    s->operand[0] = v;
    return true;
}

static bool conv_weight(struct import *im, const struct model_op *op, const struct conv *k, struct slide *s)
{
    struct import_value v = *import_in(im, op, 1);
    int64_t perm[VIEW_MAX_RANK], shape[VIEW_MAX_RANK], groups = k->groups * k->batch_groups;
    int first = k->by_channel ? k->at.in_channel : k->at.out_channel,
        second = k->by_channel ? k->at.out_channel : k->at.in_channel, rank = 0, n = 0;
    perm[n++] = first;
    perm[n++] = second;
    for (int i = 0; i < k->count; i++) perm[n++] = k->at.w[i];
    shape[rank++] = groups;
    shape[rank++] = v.type->extent[first] / groups;
    shape[rank++] = v.type->extent[second];
    for (int i = 0; i < k->count; i++) shape[rank++] = k->window[i].size;
    if (!slide_view(im, op, &v, perm, n, shape, rank)) return false;
    s->dim[1][0] = slide_dim(s, SLIDE_GROUP, groups);
    s->dim[1][1] = slide_dim(s, k->by_channel ? SLIDE_CHANNEL : SLIDE_OUT_CHANNEL, shape[1]);
    s->dim[1][2] = slide_dim(s, k->by_channel ? SLIDE_OUT_CHANNEL : SLIDE_CHANNEL, shape[2]);
    for (int i = 0; i < k->count; i++) s->dim[1][3 + i] = slide_dim(s, SLIDE_TAP + i, shape[3 + i]);
    s->operand[1] = v;
    return true;
}

/* The result in its own order, the channels in groups. */
static void conv_result(const struct conv *k, const struct model_type *y, struct slide *s)
{
    int64_t groups = k->groups * k->batch_groups;
    for (int d = 0; d < y->count; d++) {
        int w = 0;
        while (w < k->count && k->at.y[w] != d) w++;
        if (d == k->at.y_batch)
            slide_result(s, SLIDE_BATCH, y->extent[d]);
        else if (d == k->at.y_channel) {
            slide_result(s, SLIDE_GROUP, groups);
            slide_result(s, SLIDE_OUT_CHANNEL, y->extent[d] / groups);
        } else
            slide_result(s, SLIDE_OUT + w, y->extent[d]);
    }
}

/* One number a channel, whatever dimensions of one element are around it. */
static bool add_bias(struct import *im, const struct model_op *op, int channel, struct import_value *y)
{
    struct import_value b = *import_in(im, op, 2), sum;
    struct sketch_operand in[2] = {{y->storage, y->view, y->via}};
    struct view line;
    int dims[VIEW_MAX_RANK];
    int64_t n = y->type->extent[channel];
    if (b.type->elements != n || !import_stored(im, &b) || !view_reshape(&b.view, 1, &n, &line))
        return status_set(im->st, LX_E_SHAPE, "a bias of %lld elements for %lld channels",
                          (long long)b.type->elements, (long long)n);
    in[1] = (struct sketch_operand){.storage = b.storage, .via = b.via};
    view_start(&in[1].view);
    for (int d = 0; d < y->type->count; d++) {
        dims[d] = d;
        if (d == channel ? !view_add_dim(&in[1].view, &line, 0) : !view_open_dim(&in[1].view))
            return status_set(im->st, LX_E_LIMIT, "too many dimensions");
    }
    if (!import_sketch(im, "add", op, y->type->count, y->type->extent, in, 2, NULL, y->type, dims, &sum))
        return false;
    *y = sum;
    import_class(im, op, CLASS_EXPANDED, NULL);
    return true;
}

static bool convolve(struct import *im, const struct model_op *op, struct conv *k)
{
    const struct model_type *y = import_type_out(im, op);
    struct slide s = {.kind = "matmul", .operands = 2};
    struct import_value out;
    bool generic;
    if (!conv_fits(k, model_type_of(im->m, op->operands[0]), model_type_of(im->m, op->operands[1]), y))
        return import_generic(im, op, "schema");
    if (!slide_windows(&s, k->window, k->count)) return import_generic(im, op, "window");
    if (!conv_input(im, op, k, &s) || !conv_weight(im, op, k, &s)) return false;
    conv_result(k, y, &s);
    if (!slide_emit(im, op, &s, y, &out, &generic)) return false;
    if (generic) return import_generic(im, op, "rank");
    import_class(im, op, CLASS_MAPPED, NULL);
    if (import_has(op, 2) && !add_bias(im, op, k->at.y_channel, &out)) return false;
    return import_bind_one(im, op, &out);
}

static void plain_labels(struct conv *k, int batch, int channel, int out, int in)
{
    struct labels *at = &k->at;
    at->batch = at->y_batch = batch;
    at->channel = at->y_channel = channel;
    at->out_channel = out;
    at->in_channel = in;
}

/* ---- ONNX ---- */

static bool onnx_conv(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]),
                            *w = model_type_of(im->m, op->operands[1]);
    struct conv k = {
        .count = x->count - 2, .groups = model_attr_int(&op->attrs, "group", 1), .batch_groups = 1};
    (void)ours;
    if (k.count < 1 || k.count > MODEL_MAX_WINDOWS || w->count != x->count ||
        onnx_windows(op, x, w->extent + 2, k.count, k.window) < 0)
        return import_generic(im, op, "window");
    plain_labels(&k, 0, 1, 0, 1);
    for (int i = 0; i < k.count; i++) k.at.x[i] = k.at.w[i] = k.at.y[i] = 2 + i;
    return convolve(im, op, &k);
}

static int64_t listed(const struct model_op *op, const char *key, int i, int64_t otherwise)
{
    int count;
    const int64_t *list = model_attr_ints(&op->attrs, key, &count);
    return i < count ? list[i] : otherwise;
}

/* Where out = stride in + dilation tap - pad, in is (out - dilation tap + pad) / stride. */
static void turn_window(const struct model_op *op, int i, int64_t in, int64_t out, int64_t size,
                        struct model_window *w)
{
    const char *mode = model_attr_word(&op->attrs, "auto_pad", "NOTSET");
    int64_t stride = listed(op, "strides", i, 1), dilation = listed(op, "dilations", i, 1);
    int64_t low = listed(op, "pads", i, 0), n = 0;
    int stated;
    model_attr_ints(&op->attrs, "output_shape", &stated);
    if (stated > 0 || strncmp(mode, "SAME", 4) == 0) {
        n = stride * (in - 1) + listed(op, "output_padding", i, 0) + dilation * (size - 1) + 1 - out;
        if (n < 0) n = 0; /* what is beyond is at the end */
        low = strcmp(mode, "SAME_UPPER") == 0 ? n / 2 : n - n / 2;
    }
    *w = (struct model_window){
        .in = in, .out = out, .size = size, .stride = 1, .dilation = -dilation, .low = -low, .hole = stride};
}

static bool onnx_conv_transpose(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]),
                            *w = model_type_of(im->m, op->operands[1]), *y = import_type_out(im, op);
    struct conv k = {.count = x->count - 2,
                     .groups = model_attr_int(&op->attrs, "group", 1),
                     .batch_groups = 1,
                     .by_channel = true};
    (void)ours;
    if (k.count < 1 || k.count > MODEL_MAX_WINDOWS || w->count != x->count || y->count != x->count)
        return import_generic(im, op, "window");
    plain_labels(&k, 0, 1, 1, 0);
    for (int i = 0; i < k.count; i++) {
        k.at.x[i] = k.at.w[i] = k.at.y[i] = 2 + i;
        turn_window(op, i, x->extent[2 + i], y->extent[2 + i], w->extent[2 + i], &k.window[i]);
    }
    return convolve(im, op, &k);
}

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
    for (int i = 0; i < count; i++) {
        at[i] = 2 + i;
        w[i].out = y->extent[2 + i];
    }
    return slide_pool(im, op, ours, w, at, count, model_attr_int(&op->attrs, "count_include_pad", 0) != 0);
}

/* One window that has all of each dimension. */
static bool global_pool(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]), *y = import_type_out(im, op);
    bool ttir = im->format == MODEL_TTIR;
    struct model_window w[MODEL_MAX_WINDOWS];
    int at[MODEL_MAX_WINDOWS], count = x->count - 2;
    if (count < 1 || count > MODEL_MAX_WINDOWS || y->count != x->count)
        return import_generic(im, op, "window");
    for (int i = 0; i < count; i++) {
        at[i] = i + (ttir ? 1 : 2);
        w[i] = (struct model_window){.in = x->extent[at[i]],
                                     .out = y->extent[at[i]],
                                     .size = x->extent[at[i]],
                                     .stride = 1,
                                     .dilation = 1,
                                     .hole = 1};
    }
    return slide_pool(im, op, ours, w, at, count, false);
}

/* ---- TTIR ---- */

/* One number stands for both of two; of padding two for top and left, four are top, left, bottom, right. */
static int64_t nth(const struct model_op *op, const char *key, int i, int64_t otherwise)
{
    int count;
    const int64_t *list = model_attr_ints(&op->attrs, key, &count);
    return count == 0 ? otherwise : list[count == 4 ? i : i % count];
}

static bool ttir_labels(const struct model_op *op, struct conv *k)
{
    static const char *const keys[] = {"batch_dim", "channel_dim", "height_dim", "width_dim"};
    static const int usual[] = {0, 3, 1, 2};
    int at[4];
    unsigned seen = 0;
    for (int i = 0; i < 4; i++) {
        int64_t d = model_attr_int(&op->attrs, keys[i], usual[i]);
        if (d < 0 || d > 3 || (seen >> d & 1)) return false;
        seen |= 1u << d;
        at[i] = (int)d;
    }
    plain_labels(k, at[0], at[1], k->by_channel ? 1 : 0, k->by_channel ? 0 : 1);
    for (int i = 0; i < 2; i++) {
        k->at.x[i] = k->at.y[i] = at[2 + i];
        k->at.w[i] = 2 + i;
    }
    return true;
}

static bool ttir_conv(struct import *im, const struct model_op *op, const char *ours)
{
    struct conv k = {.count = 2, .groups = model_attr_int(&op->attrs, "groups", 1), .batch_groups = 1};
    (void)ours;
    if (!ttir_labels(op, &k)) return import_generic(im, op, "schema");
    for (int i = 0; i < 2; i++)
        k.window[i] = (struct model_window){.stride = nth(op, "stride", i, 1),
                                            .dilation = nth(op, "dilation", i, 1),
                                            .low = nth(op, "padding", i, 0),
                                            .hole = 1};
    return convolve(im, op, &k);
}

static bool ttir_conv_transpose(struct import *im, const struct model_op *op, const char *ours)
{
    struct conv k = {
        .count = 2, .groups = model_attr_int(&op->attrs, "groups", 1), .batch_groups = 1, .by_channel = true};
    (void)ours;
    if (!ttir_labels(op, &k)) return import_generic(im, op, "schema");
    for (int i = 0; i < 2; i++)
        k.window[i] = (struct model_window){.stride = 1,
                                            .dilation = -nth(op, "dilation", i, 1),
                                            .low = -nth(op, "padding", i, 0),
                                            .hole = nth(op, "stride", i, 1)};
    return convolve(im, op, &k);
}

static bool ttir_pool(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]), *y = import_type_out(im, op);
    struct model_window w[2];
    static const int at[] = {1, 2};
    int given;
    if (!model_attr_ints(&op->attrs, "kernel", &given) || given < 1 || x->count != 4 || y->count != 4)
        return import_generic(im, op, "window");
    for (int i = 0; i < 2; i++)
        w[i] = (struct model_window){.in = x->extent[at[i]],
                                     .out = y->extent[at[i]],
                                     .size = nth(op, "kernel", i, 1),
                                     .stride = nth(op, "stride", i, 1),
                                     .dilation = nth(op, "dilation", i, 1),
                                     .low = nth(op, "padding", i, 0),
                                     .hole = 1};
    return slide_pool(im, op, ours, w, at, 2, model_attr_int(&op->attrs, "count_include_pad", 1) != 0);
}

/* ---- HLO ---- */

static void reverse_window(struct model_window *w, int64_t size)
{
    if (!w->reversed) return;
    w->low -= w->dilation * (size - 1);
    w->dilation = -w->dilation;
}

static bool hlo_conv(struct import *im, const struct model_op *op, const char *ours)
{
    const char *labels = model_attr_word(&op->attrs, "dim_labels", NULL);
    struct conv k = {.groups = model_attr_int(&op->attrs, "feature_group_count", 1),
                     .batch_groups = model_attr_int(&op->attrs, "batch_group_count", 1)};
    const struct model_type *w = model_type_of(im->m, op->operands[1]);
    (void)ours;
    k.count = hlo_windows(op, k.window);
    if (!labels || k.count < 0 || k.count > VIEW_MAX_RANK - 8) return import_generic(im, op, "window");
    k.at = (struct labels){.batch = hlo_label(labels, 0, 'b'),
                           .channel = hlo_label(labels, 0, 'f'),
                           .out_channel = hlo_label(labels, 1, 'o'),
                           .in_channel = hlo_label(labels, 1, 'i'),
                           .y_batch = hlo_label(labels, 2, 'b'),
                           .y_channel = hlo_label(labels, 2, 'f')};
    for (int i = 0; i < k.count; i++) {
        char digit = (char)('0' + i);
        k.at.x[i] = hlo_label(labels, 0, digit);
        k.at.w[i] = hlo_label(labels, 1, digit);
        k.at.y[i] = hlo_label(labels, 2, digit);
        reverse_window(&k.window[i], extent_at(w, k.at.w[i]));
    }
    return convolve(im, op, &k);
}

static bool hlo_reduce_window(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *x = model_type_of(im->m, op->operands[0]), *y = import_type_out(im, op);
    struct model_window w[MODEL_MAX_WINDOWS];
    int at[MODEL_MAX_WINDOWS], count = hlo_windows(op, w);
    ours = op->operand_count == 2 ? import_reducer(im, op) : NULL;
    if (!ours || (strcmp(ours, "sum") && strcmp(ours, "max") && strcmp(ours, "min")))
        return import_generic(im, op, "reducer");
    if (!import_neutral(import_in(im, op, 1), ours)) return import_generic(im, op, "init");
    if (count < 1 || x->count != count || y->count != count) return import_generic(im, op, "window");
    for (int i = 0; i < count; i++) {
        at[i] = i;
        w[i].in = x->extent[i];
        w[i].out = y->extent[i];
    }
    return slide_pool(im, op, ours, w, at, count, false);
}

/* clang-format off */
const struct op_row import_window_rows[] = {
    {{"conv2d", NULL, NULL}, "matmul", ttir_conv, LOOSE + 2},
    {{"conv_transpose2d", NULL, NULL}, "matmul", ttir_conv_transpose, LOOSE + 2},
    {{NULL, "convolution", NULL}, "matmul", hlo_conv, 2},
    {{NULL, NULL, "Conv"}, "matmul", onnx_conv, LOOSE + 2},
    {{NULL, NULL, "ConvTranspose"}, "matmul", onnx_conv_transpose, LOOSE + 2},
    {{"max_pool2d", NULL, NULL}, "max", ttir_pool, 1},
    {{"avg_pool2d", NULL, NULL}, "mean", ttir_pool, 1},
    {{"global_avg_pool2d", NULL, "GlobalAveragePool"}, "mean", global_pool, 1},
    {{NULL, NULL, "GlobalMaxPool"}, "max", global_pool, 1},
    {{NULL, NULL, "MaxPool"}, "max", onnx_pool, LOOSE + 1},
    {{NULL, NULL, "AveragePool"}, "mean", onnx_pool, 1},
    {{NULL, "reduce-window", NULL}, NULL, hlo_reduce_window, 2},
    {.emit = NULL},
};
/* clang-format on */
