/* One dimension of a window that slides: convolutions and pools of all formats. */
#ifndef LX_IMPORT_WINDOWS_H
#define LX_IMPORT_WINDOWS_H

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
/* floor((in + low + high - dilation (size - 1) - 1) / stride) + 1, with holes in between; 0 if none fits. */
int64_t window_out(const struct model_window *w, bool ceil);

/* The windows of an HLO op: `window={...}`, one per number in it; -1: it cannot be read. */
int hlo_windows(const struct model_op *op, struct model_window *w);
/* Places of the labels of `dim_labels=b01f_01io->b01f`: which dimension of operand `which` (0, 1, 2: the result) has
 * this label; -1: none. */
int hlo_label(const char *labels, int which, char label);

#endif
