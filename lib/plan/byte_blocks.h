/* The bytes of a plan as disjoint blocks of address and time. Exclusive buffers and same-place buffers may
 * share bytes; their heap is cut into few blocks. Other buffers are one block per life. On the tick of a
 * handover the parent owns the bytes. Private to the library. */
#pragma once

#include "base/base.h"
#include "plan/plan.h"

/* A life on chip. Lives that share bytes, directly or through others, have the same heap. */
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

/* `pool`: a pool, or LX_ALL_POOLS. */
void byte_blocks_make(const struct lx_plan *p, int32_t pool, struct byte_blocks *out);
/* Adds the names of the block's buffers: "a + b". */
void add_block_names(const struct lx_plan *p, const struct byte_blocks *b, const struct byte_block *block,
                     struct text *out);
void byte_blocks_free(struct byte_blocks *b);
