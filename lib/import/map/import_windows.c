/* Ops of the table that convolve: what each format calls dimensions, strides and padding. */
#include "import/map/import_convolve.h"
#include "import/read/onnx.h"

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

/* clang-format off */
const struct op_row import_window_rows[] = {
    {{"conv2d", NULL, NULL}, "matmul", ttir_conv, LOOSE + 2},
    {{"conv3d", NULL, NULL}, "matmul", ttir_conv, LOOSE + 2},

    {{NULL, "convolution", NULL}, "matmul", hlo_conv, 2},
    {{NULL, NULL, "Conv"}, "matmul", onnx_conv, LOOSE + 2},

    {.emit = NULL},
};
/* clang-format on */
