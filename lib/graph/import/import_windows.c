/* Ops of the table that convolve: what each format calls dimensions, strides and padding. */
#include "graph/import/import_convolve.h"
#include "model/onnx.h"

#include <stdlib.h>
#include <string.h>

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
    conv_plain_labels(&k, 0, 1, 0, 1);
    for (int i = 0; i < k.count; i++) k.at.x[i] = k.at.w[i] = k.at.y[i] = 2 + i;
    return conv_emit(im, op, &k);
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
    conv_plain_labels(&k, 0, 1, 1, 0);
    for (int i = 0; i < k.count; i++) {
        k.at.x[i] = k.at.w[i] = k.at.y[i] = 2 + i;
        turn_window(op, i, x->extent[2 + i], y->extent[2 + i], w->extent[2 + i], &k.window[i]);
    }
    return conv_emit(im, op, &k);
}

/* ---- TTIR ---- */

/* Dimensions by their keys, from `least` on: depth is there in three dimensions only. */
static bool ttir_labels(const struct model_op *op, struct conv *k)
{
    static const char *const keys[] = {"depth_dim", "height_dim", "width_dim"};
    int at[3], batch = (int)model_attr_int(&op->attrs, "batch_dim", 0), n = k->count;
    int channel = (int)model_attr_int(&op->attrs, "channel_dim", n + 1);
    unsigned seen = 0;
    for (int i = 0; i < n; i++) at[i] = (int)model_attr_int(&op->attrs, keys[3 - n + i], i + 1);
    for (int i = -2; i < n; i++) {
        int d = i == -2 ? batch : i == -1 ? channel : at[i];
        if (d < 0 || d > n + 1 || (seen >> d & 1)) return false;
        seen |= 1u << d;
    }
    conv_plain_labels(k, batch, channel, k->by_channel ? 1 : 0, k->by_channel ? 0 : 1);
    for (int i = 0; i < n; i++) {
        k->at.x[i] = k->at.y[i] = at[i];
        k->at.w[i] = 2 + i;
    }
    return true;
}

/* In two dimensions, or three. */
static bool ttir_conv(struct import *im, const struct model_op *op, const char *ours)
{
    int n = strcmp(op->kind, "conv3d") == 0 ? 3 : 2;
    struct conv k = {.count = n, .groups = model_attr_int(&op->attrs, "groups", 1), .batch_groups = 1};
    (void)ours;
    if (!ttir_labels(op, &k)) return import_generic(im, op, "schema");
    for (int i = 0; i < n; i++)
        k.window[i] = (struct model_window){.stride = slide_nth(op, "stride", i, 1),
                                            .dilation = slide_nth(op, "dilation", i, 1),
                                            .low = slide_nth(op, "padding", i, 0),
                                            .hole = 1};
    return conv_emit(im, op, &k);
}

static bool ttir_conv_transpose(struct import *im, const struct model_op *op, const char *ours)
{
    struct conv k = {
        .count = 2, .groups = model_attr_int(&op->attrs, "groups", 1), .batch_groups = 1, .by_channel = true};
    (void)ours;
    if (!ttir_labels(op, &k)) return import_generic(im, op, "schema");
    for (int i = 0; i < 2; i++)
        k.window[i] = (struct model_window){.stride = 1,
                                            .dilation = -slide_nth(op, "dilation", i, 1),
                                            .low = -slide_nth(op, "padding", i, 0),
                                            .hole = slide_nth(op, "stride", i, 1)};
    return conv_emit(im, op, &k);
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
    k.at = (struct conv_labels){.batch = hlo_label(labels, 0, 'b'),
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
        reverse_window(&k.window[i], conv_extent(w, k.at.w[i]));
    }
    return conv_emit(im, op, &k);
}

/* ---- TTIR, with the words of StableHLO ---- */

/* "key = 2x3" of a layout; how many. */
static int layout_dims(const char *layout, const char *key, int *to)
{
    const char *at = layout ? strstr(layout, key) : NULL;
    int count = 0;
    while (at && at > layout && at[-1] == '_') at = strstr(at + 1, key); /* the end of a longer word */
    at = at ? strchr(at, '=') : NULL;
    while (at && count < MODEL_MAX_WINDOWS) {
        char *end;
        long d = strtol(at + 1, &end, 10);
        if (end == at + 1 || d < 0 || d > VIEW_MAX_RANK) break;
        to[count++] = (int)d;
        at = *end == 'x' ? end : NULL;
    }
    return count;
}

static bool layout_labels(const char *layout, struct conv *k)
{
    struct conv_labels *at = &k->at;
    const struct {
        const char *key;
        int *to;
    } ones[] = {{"input_batch", &at->batch},
                {"input_feature", &at->channel},
                {"kernel_output_feature", &at->out_channel},
                {"kernel_input_feature", &at->in_channel},
                {"output_batch", &at->y_batch},
                {"output_feature", &at->y_channel}};
    int found[MODEL_MAX_WINDOWS];
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) {
        if (layout_dims(layout, ones[i].key, found) != 1) return false;
        *ones[i].to = found[0];
    }
    k->count = layout_dims(layout, "input_spatial_dimensions", at->x);
    return layout_dims(layout, "kernel_spatial_dimensions", at->w) == k->count &&
           layout_dims(layout, "output_spatial_dimensions", at->y) == k->count;
}

/* Pairs of padding, a dimension each. */
static bool ttir_convolution(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_attr *layout = model_attr_find(&op->attrs, "convolution_layout");
    struct conv k = {.groups = model_attr_int(&op->attrs, "feature_group_count", 1),
                     .batch_groups = model_attr_int(&op->attrs, "batch_group_count", 1)};
    const struct model_type *w = model_type_of(im->m, op->operands[1]);
    int pads;
    const int64_t *pad = model_attr_ints(&op->attrs, "padding", &pads);
    (void)ours;
    if (!layout || !layout_labels(layout->text, &k) || (pads && pads != 2 * k.count))
        return import_generic(im, op, "schema");
    for (int i = 0; i < k.count; i++) {
        k.window[i] = (struct model_window){.stride = slide_nth(op, "window_strides", i, 1),
                                            .dilation = slide_nth(op, "weight_dilation", i, 1),
                                            .low = pads ? pad[2 * i] : 0,
                                            .hole = slide_nth(op, "input_dilation", i, 1),
                                            .reversed = slide_nth(op, "window_reversal", i, 0) != 0};
        reverse_window(&k.window[i], conv_extent(w, k.at.w[i]));
    }
    return conv_emit(im, op, &k);
}

/* clang-format off */
const struct op_row import_window_rows[] = {
    {{"conv2d", NULL, NULL}, "matmul", ttir_conv, LOOSE + 2},
    {{"conv3d", NULL, NULL}, "matmul", ttir_conv, LOOSE + 2},
    {{"conv_transpose2d", NULL, NULL}, "matmul", ttir_conv_transpose, LOOSE + 2},
    {{"convolution", NULL, NULL}, "matmul", ttir_convolution, LOOSE + 2},
    {{NULL, "convolution", NULL}, "matmul", hlo_conv, 2},
    {{NULL, NULL, "Conv"}, "matmul", onnx_conv, LOOSE + 2},
    {{NULL, NULL, "ConvTranspose"}, "matmul", onnx_conv_transpose, LOOSE + 2},
    {.emit = NULL},
};
/* clang-format on */
