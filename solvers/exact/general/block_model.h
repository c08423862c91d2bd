/* A placement problem with all features of version 2, in the form of this engine. Block: the buffers of a
 * `same_place` group, or one buffer. Its bytes are those of the largest member, it is alive whenever a member
 * is, and its options are the pools that all members allow and that can hold it at all. Variable: one
 * yes-or-no per set of blocks that `together` joins (true: placed). A staging block has its owner's variable,
 * negated. Linked costs and costs refer to variables. Pair: the relation of two blocks, one byte in a matrix.
 * Code below this file reads lives only to find sections. Sizes: 5 to 500 blocks as a rule; more than
 * MOST_BLOCKS are refused. */
#pragma once

#include "common/taken_bits.h"

enum { MOST_BLOCKS = 4000 };

/* HARD: the two blocks share no byte. IN_PLACE: unless they have one address: the slot is handed over. FREE:
 * no constraint. */
enum pair_kind { PAIR_FREE, PAIR_HARD, PAIR_IN_PLACE };

struct option {
    int32_t pool;
    int64_t cost;
};

struct block {
    int64_t size, align, pin; /* pin: the only address, or -1 */
    int32_t buffer;           /* a member */
    int32_t variable;
    bool on_if; /* placed when its variable has this value */
    bool alone;
    int32_t first_option, option_count;
    int32_t first_life, life_count;
};

struct soft_pair {
    int32_t a, b;
    int64_t cost; /* paid if the two share a byte */
};

struct room {
    int64_t capacity, reserved_end; /* INT64_MAX: no limit */
    const struct lx_reserved *reserved;
    int32_t reserved_count;
};

struct blocks {
    const struct lx_problem *p;
    int32_t count, variable_count, pool_count, soft_count;
    struct block *at;
    int32_t *of; /* per buffer: its block */
    struct option *options;
    struct lx_life *lives;
    struct room *rooms;      /* per pool */
    int64_t *off_cost;       /* per variable: cost of its members that are off when it is false */
    signed char *fixed;      /* per variable: 0, 1, or -1 if free */
    unsigned char *kind;     /* count * count of enum pair_kind */
    struct soft_pair *softs; /* for objective spill */
    bool contradiction;      /* no answer is legal */
    bool too_many;
    struct arena memory;
};

/* The caller frees `memory`. */

void blocks_open(struct blocks *b, const struct lx_problem *p);

/* The option of the block in this pool, or -1. */
static inline int32_t blocks_option(const struct blocks *b, int32_t block, int32_t pool)
{
    const struct block *k = &b->at[block];
    for (int32_t o = k->first_option; o < k->first_option + k->option_count; o++)
        if (b->options[o].pool == pool) return o;
    return -1;
}

static inline enum pair_kind pair_of(const struct blocks *b, int32_t i, int32_t k)
{
    return (enum pair_kind)b->kind[(size_t)i * (size_t)b->count + (size_t)k];
}

/* The bytes of the pool reserved while the block is alive, ascending and joined; at most reserved_count
 * ranges. */
int32_t blocks_reserved(const struct blocks *b, int32_t block, int32_t pool, struct byte_range *out);

/* Do the two lists share a tick? */
bool lives_meet(const struct lx_life *a, int32_t an, const struct lx_life *b, int32_t bn);

/* The least address at or above `from` with `size` bytes outside `spans` (ascending, joined). */
static inline int64_t above_spans(int64_t from, int64_t size, int64_t align, const struct byte_range *spans,
                                  int32_t n)
{
    int64_t at = (from + align - 1) / align * align;
    for (int32_t k = 0; k < n && spans[k].from < at + size; k++)
        if (spans[k].to > at) at = (spans[k].to + align - 1) / align * align;
    return at;
}
