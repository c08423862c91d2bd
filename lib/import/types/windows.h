/* One dimension of a window that slides: convolutions and pools of all formats. */
#pragma once

#include "import/model_parts.h"

enum { MODEL_MAX_WINDOWS = 8 };

struct model_window {
    int64_t in, out, size; /* extents of operand and result, and how many taps */
    int64_t stride, dilation, low, high;
    int64_t hole; /* an operand position exists where `hole` divides it: 1 for all but gradients */
    bool reversed;
};

/* Over all output positions: how many taps meet an element of the operand. */
int64_t window_valid_taps(const struct model_window *w);

/* A convolution of any dialect: where its parts stand, and its windows. */
struct model_conv {
    int batch, channel;          /* dimensions of the input; -1: none */
    int out_channel, in_channel; /* of the weight */
    int y_batch, y_channel;      /* of the result */
    int x[MODEL_MAX_WINDOWS], w[MODEL_MAX_WINDOWS], y[MODEL_MAX_WINDOWS]; /* of each window */
    int count;
    struct model_window window[MODEL_MAX_WINDOWS]; /* `out` follows from the others */
    int64_t groups, batch_groups;
};

/* False: its attributes are not as they must be. */
bool op_conv(enum model_format dialect, const struct model_op *op, const struct model_type *x,
             const struct model_type *w, struct model_conv *c);
/* The windows of a pool or reduce-window, `out` included, and the dimension of each; -1: they cannot be
 * read. */
int op_pool(enum model_format dialect, const struct model_op *op, const struct model_type *x,
            struct model_window *w, int *at);
/* Extent of a dimension; -1: there is none. */
int64_t conv_extent(const struct model_type *t, int d);
