/* Pictures of a plan: addresses against time. */
#ifndef LX_APP_PICTURE_PICTURE_H
#define LX_APP_PICTURE_PICTURE_H

#include "command.h"

/* The buffers off chip that could have been on chip, the costliest first, then the barred ones. malloc'ed;
 * `*count` of them. NULL when memory is out. */
int32_t *off_chip_by_cost(const struct lx_plan *p, int32_t *count);
/* The highest address that a picture shows: the capacity, or less if most of it is empty. */
int64_t picture_top(const struct lx_plan *p);

struct picture {
    int width, height; /* characters or pixels; 0: as it suits */
    bool ascii, all;   /* all: lists are not cut */
};

void show_text(const struct lx_plan *p, const struct picture *how, struct text *out);
void show_svg(const struct lx_plan *p, const struct picture *how, struct text *out);

#endif
