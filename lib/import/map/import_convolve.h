/* A convolution of any format on its way to a sketch: where its parts stand, and its windows. Private to the folder. */
#ifndef LX_IMPORT_IMPORT_CONVOLVE_H
#define LX_IMPORT_IMPORT_CONVOLVE_H

#include "import/map/import_slide.h"

/* Where the parts of a convolution stand in its operands and result. */
struct conv_labels {
    int batch, channel;          /* of the input */
    int out_channel, in_channel; /* of the weight */
    int y_batch, y_channel;      /* of the result */
    int x[MODEL_MAX_WINDOWS], w[MODEL_MAX_WINDOWS], y[MODEL_MAX_WINDOWS];
};

struct conv {
    struct conv_labels at;
    int count; /* windows */
    struct model_window window[MODEL_MAX_WINDOWS];
    int64_t groups, batch_groups;
    bool
        by_channel; /* groups of the weight are of its channels, not of its outputs: transposed convolutions */
};

/* Extent of a dimension; -1: there is none. */
int64_t conv_extent(const struct model_type *t, int d);
/* Batch and channel alike in input and result. */
void conv_plain_labels(struct conv *k, int batch, int channel, int out, int in);
/* The op, with a bias where it has a third operand. Extents of windows are filled in. */
bool conv_emit(struct import *im, const struct model_op *op, struct conv *k);

#endif
