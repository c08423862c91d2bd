/* Private to the checker: what its files share. The checker shares no code with any solver and takes
 * nothing on trust but the validated problem. */
#ifndef LX_PLACEMENT_JUDGE_H
#define LX_PLACEMENT_JUDGE_H

#include "placement/problem.h"

struct judge {
    const struct lx_problem *p;
    const int32_t *pool; /* NULL: all in pool 0 */
    const int64_t *address;
    lx_status *st;
    enum lx_rule rule; /* the one that was found broken */
    int32_t *block;    /* per buffer the least member of its block; NULL: everybody is alone */
    int64_t *bytes;    /* with it: the size of the block; of single buffers their own */
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

/* judge_overlaps.c: alive together, reserved, alone. */
bool judge_overlaps(struct judge *j);
/* judge_bonds.c: same place (before all others: blocks rest on it), the other bonds, and what is linked. */
bool judge_same_place(struct judge *j);
bool judge_bonds(struct judge *j);
/* Charges and reuse that are paid; false: a forbidden one is triggered,. */
bool judge_linked(struct judge *j, int64_t *cost);

/* exclusive_pairs.c: is there an exclusive pair of the two? Sorted once. */
struct exclusive_pairs {
    struct lx_pair *at; /* a < b */
    int32_t count;
};
void exclusive_sorted(const struct lx_problem *p, struct exclusive_pairs *e);
bool exclusive_has(const struct exclusive_pairs *e, int32_t a, int32_t b);

#endif
