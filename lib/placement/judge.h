/* Shared by the checker and the data model. The checker shares no code with any solver and trusts only the
 * validated problem. */
#pragma once

#include "placement/problem.h"

struct judge {
    const struct lx_problem *p;
    const int32_t *pool; /* NULL: all in pool 0 */
    const int64_t *address;
    lx_status *st;
    enum lx_rule rule; /* the broken rule */
    int32_t *block;    /* per buffer the least member of its block; NULL: no blocks */
    int64_t *bytes;    /* per buffer the size of its block; NULL with `block` */
};

/* Reports a broken rule; returns false. */
__attribute__((format(printf, 3, 4))) bool broken(struct judge *j, enum lx_rule rule, const char *format,
                                                  ...);

static inline bool judge_is_placed(const struct judge *j, int32_t i)
{
    return j->address[i] >= 0;
}

static inline int32_t judge_pool(const struct judge *j, int32_t i)
{
    return j->pool ? j->pool[i] : 0;
}

static inline int64_t judge_bytes(const struct judge *j, int32_t i)
{
    return j->bytes ? j->bytes[i] : j->p->buffers[i].size;
}

static inline int32_t judge_block(const struct judge *j, int32_t i)
{
    return j->block ? j->block[i] : i;
}

/* Do both have a place, in one pool, with a byte in common? */
static inline bool share_a_byte(const struct judge *j, int32_t a, int32_t b)
{
    return judge_is_placed(j, a) && judge_is_placed(j, b) && judge_pool(j, a) == judge_pool(j, b) &&
           j->address[a] < j->address[b] + judge_bytes(j, b) &&
           j->address[b] < j->address[a] + judge_bytes(j, a) && judge_bytes(j, a) > 0 &&
           judge_bytes(j, b) > 0;
}

/* judge_overlaps.c: the rules overlap, reserved and alone. */
bool judge_overlaps(struct judge *j);
/* The exclusive pairs, sorted for lookups. */
struct exclusive_pairs {
    struct lx_pair *at; /* a < b */
    int32_t count;
};
void exclusive_sorted(const struct lx_problem *p, struct exclusive_pairs *e);
bool exclusive_has(const struct exclusive_pairs *e, int32_t a, int32_t b);

/* lx_problem_check for several pools. */
bool check_so_far(const struct lx_problem *p, const int32_t *pool, const int64_t *address, int64_t *value,
                  lx_status *st);

/* --- The data model (valid.c). Every message names the wrong key by the words of pattern files. --- */

__attribute__((format(printf, 4, 5))) bool buffer_error(const struct lx_buffer *b, lx_status *st,
                                                        enum lx_code code, const char *format, ...);

/* The pools; a buffer's lives, pools and pin. */
bool valid_pools(const struct lx_problem *p, lx_status *st);
bool valid_in_pools(const struct lx_problem *p, const struct lx_buffer *b, lx_status *st);
/* `costs`: the sum of the buffers' costs. */
bool valid_bonds(const struct lx_problem *p, int64_t costs, lx_status *st);

/* same_place ties the members of a block to one address. Returns per buffer the least member of its block;
 * the caller frees it. */
int32_t *blocks_of(const struct lx_problem *p);
/* Per buffer the next member of its block, or -1; the least member is the first. */
void block_chains(const int32_t *block, int32_t count, int32_t *next);
/* Are members of two blocks, given by their least ones, ever alive together? */
bool blocks_alive_together(const struct lx_problem *p, const int32_t *next, const struct exclusive_pairs *e,
                           int32_t a, int32_t b);
