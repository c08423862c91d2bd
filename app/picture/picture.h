/* Pictures of a plan: addresses against time. */
#ifndef LX_APP_PICTURE_PICTURE_H
#define LX_APP_PICTURE_PICTURE_H

#include "command.h"

/* Bytes that are taken on chip over time: from tick[i] until tick[i + 1], bytes[i]. */
struct timeline {
    int64_t *tick, *bytes;
    size_t count;
    int64_t peak, peak_tick;
    int64_t first, last; /* the lives of all buffers that may be placed lie in [first, last) */
};

/* False when memory is out. */
bool timeline_make(const struct lx_plan *p, struct timeline *out);
/* The most that is taken during [from, to). */
int64_t timeline_most(const struct timeline *t, int64_t from, int64_t to);
void timeline_free(struct timeline *t);

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
