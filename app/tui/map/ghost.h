/* The ghost of a buffer that is off chip: its outline where it would cost least, and the price of forcing it on
 * chip, for which the rest is solved again. */
#pragma once

#include "tui/core/explorer.h"
#include "picture/raster.h"

/* The place in pool 0 whose buffers save least together. `others`: how many are in the way, `lost`: what they
 * save. False: the buffer is on chip, may not be, or has no place. O(n + k * k) for k buffers alive with it. */
struct ghost {
    int64_t address, lost;
    int32_t others;
};
bool ghost_find(const struct plan_index *x, int32_t buffer, struct ghost *out);
/* Its outline, dashed; buffers in its way are hatched. */
void ghost_draw(const struct scene *on, struct box map, const struct raster *r, int32_t buffer,
                const struct ghost *g);
/* "cheapest at 0x003000: 2 buffers in the way, 1.2 MiB; on chip it saves 900 KiB; F forces it" */
void ghost_add_words(const struct scene *on, const struct lx_plan *p, int32_t buffer, const struct ghost *g,
                     struct text *out);
/* Solves the plan's placement again with the buffer on chip, wherever; the price is news of the session. */
void ghost_force(struct explorer *x, int32_t buffer);
