/* Problems of version 2 are rewritten before a solver sees them. Groups of one place become one buffer (a
 * block), touching lives are joined, blocks that are on or off chip in every legal answer are fixed, linked
 * costs are shortened accordingly, and uncoupled pools become parts: problems of their own. `constant` has
 * the costs of blocks that are off for sure and the linked costs that are always due. For fit and height
 * parts have no linked costs, groups, staging or reuse. A pool alone without reserved bytes becomes a plain
 * list. The value of an answer is the sum over the parts plus the constant. Linear, but for sorting. */
#pragma once

#include "base/base.h"
#include "placement/judge.h"

struct part {
    struct lx_problem problem;
    struct lx_buffer *buffers; /* the same as problem.buffers */
    struct lx_pool *pools;
    int32_t *block;     /* per buffer of the part: the least member of its block */
    int32_t *pool;      /* per pool of the part: its number in the problem */
    int64_t hard_limit; /* height limit of a plain list; or LX_NO_LIMIT */
};

enum fixed_state { IS_OFF = -1, IS_OPEN, IS_ON };

struct rewrite {
    const struct lx_problem *p;
    struct arena memory;
    int32_t *block;     /* per buffer: the least member of its block */
    int32_t *next;      /* per buffer: the next member of its block, or -1; the least member is the first */
    signed char *state; /* per block: enum fixed_state */
    struct lx_buffer *whole; /* per block, by its least member: the block as one buffer */
    bool *has_place;
    struct exclusive_pairs exclusive;
    bool impossible; /* no legal answer exists */
    char why[160];   /* the reason in words */
    int64_t constant;
    struct part *parts;
    int32_t part_count;
};

bool is_plain(const struct lx_problem *p);
/* Call rewrite_free in any case. */
void rewrite_make(struct rewrite *w, const struct lx_problem *p);
void rewrite_free(struct rewrite *w);
/* Copies the places of a part's answer into the problem's (all off chip at first; `pool` may be NULL). */
void rewrite_places(const struct rewrite *w, const struct part *part, const int64_t *address,
                    const int32_t *part_pool, int64_t *out, int32_t *pool);

void make_parts(struct rewrite *w, const struct lx_linked_cost *linked, int32_t linked_count);
