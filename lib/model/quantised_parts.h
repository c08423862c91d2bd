/* What quantised kinds share: numbers of few bits to those of scales, and back. `zero` may be left out (-1). */
#ifndef LX_MODEL_QUANTISED_PARTS_H
#define LX_MODEL_QUANTISED_PARTS_H

#include "model/layers.h"

/* A scale or zero point, ready to be combined with x: one number, one a channel along `axis`, or one a block of it. */
int32_t quantised_spread(struct layer *l, int32_t s, int32_t x, int64_t axis);
/* (x - z) * s */
int32_t quantised_back(struct layer *l, int32_t x, int32_t scale, int32_t zero, int64_t axis);
/* clamp(round(x / s) + z) */
int32_t quantised_to(struct layer *l, int32_t x, int32_t scale, int32_t zero, int64_t axis,
                     enum model_element to);
/* x - z in int32; `axis`: of zero points that are a vector. */
int32_t quantised_shifted(struct layer *l, int32_t x, int32_t zero, int64_t axis);
/* Numbers of 4 or 2 bits out of bytes, the lowest bits first: [.., n] as [.., 2 n] or [.., 4 n]. */
int32_t quantised_apart(struct layer *l, int32_t x, int64_t bits);
/* A Conv with the windows of the op. */
int32_t quantised_conv(struct layer *l, int32_t x, int32_t w);

#endif
