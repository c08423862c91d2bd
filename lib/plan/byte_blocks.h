/* What a plan has allocated, as blocks of bytes and time that share nothing: every byte that is in use at a tick is in one
 * block, however many buffers are on it. Exclusive buffers and those of one place may be on the same bytes at a time; such
 * a heap of buffers is cut into as few blocks as its corners allow. All others are a block per life. On the tick of a
 * handover the parent has the bytes. What is in use over time (occupancy.h) is the sum of these. Private to the library. */
#ifndef LX_PLAN_BYTE_BLOCKS_H
#define LX_PLAN_BYTE_BLOCKS_H

#include "base/text.h"
#include "plan/plan.h"

/* A life on chip; of one heap those that share bytes, directly or through others. */
struct byte_life {
    int64_t address, size, start, end;
    int32_t buffer, heap;
};

struct byte_block {
    int64_t address, size, start, end;
    size_t first, count; /* the lives of its heap */
};

struct byte_blocks {
    struct byte_life *lives;
    struct byte_block *at;
    size_t life_count, count, room;
};

/* Of one pool, or LX_ALL_POOLS. False when memory is out. */
void byte_blocks_make(const struct lx_plan *p, int32_t pool, struct byte_blocks *out);
/* "a + b": whose bytes a block has. */
void add_block_names(const struct lx_plan *p, const struct byte_blocks *b, const struct byte_block *block,
                     struct text *out);
void byte_blocks_free(struct byte_blocks *b);

#endif
