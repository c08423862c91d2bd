/* The ghost of a buffer that is off chip: its outline where it would cost least, and the plan that has it on chip,
 * made in the background before the user takes it. */
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
/* Its outline, dashed; buffers in its way are hatched, or those that leave in the plan that has it on chip. */
void ghost_draw(const struct scene *on, struct box map, const struct raster *r, int32_t buffer,
                const struct ghost *g);
/* "cheapest at 0x003000: 2 buffers in the way, 1.2 MiB; on chip it saves 900 KiB; F plans with it there"; with that
 * plan, what it changes. */
void ghost_add_words(const struct scene *on, const struct lx_plan *p, int32_t buffer, const struct ghost *g,
                     struct text *out);
/* Plans with the buffer on chip, by a hint. */
void ghost_force(struct explorer *x, int32_t buffer);
/* The row of that plan; NULL: it was not asked for. */
const struct remedy *ghost_forced(const struct session *s, int32_t buffer);
void ghost_forget(struct session *s);
/* Takes that plan. False: there is none. */
bool ghost_take(struct explorer *x, int32_t buffer);
