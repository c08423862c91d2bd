/* The steps of the tensors that one op touches, listed once for all states of a beam that meet there: what a step is depends on the
 * tensor's own state and the op's choice only, and thousands of states share these. Private to the search over chains. */
#ifndef LX_COOPTIMISE_CHAIN_MOVES_H
#define LX_COOPTIMISE_CHAIN_MOVES_H

#include "base/vec.h"
#include "cooptimise/chain.h"

/* A step, and what it adds to a state. */
struct chain_move {
    struct chain_step step;
    int64_t future; /* what the tensor still costs behind it */
    int64_t load;   /* bytes on chip behind it, */
    int128 owed;    /* times the prices up to the tensor's next op */
    uint64_t hash, kind;
};

/* The moves of one touch from one state under one choice. */
struct chain_menu {
    int32_t first, count; /* first: -1, not listed yet */
    int64_t low;          /* least of cost and future; CHAIN_NEVER: there is none */
};

struct chain_moves {
    const struct chain_model *m;
    const struct chain_op *op;
    struct chain_menu *menus; /* per touch of the op, choice and state */
    int64_t from[CHAIN_MOST_TOUCHES], states[CHAIN_MOST_TOUCHES];
    VEC(struct chain_move) moves;
};

/* False: memory is out; free it either way. */
bool chain_moves_make(struct chain_moves *c, const struct chain_model *m);
void chain_moves_free(struct chain_moves *c);
/* An op begins: what is known is of the one before. */
void chain_moves_of(struct chain_moves *c, const struct chain_op *op);
/* NULL: memory is out. Valid until the next op; moves themselves until more are listed. */
const struct chain_menu *chain_moves_from(struct chain_moves *c, int32_t touch, int32_t choice,
                                          int32_t state);

/* Of a slot in a state; XORed together over slots. */
static inline uint64_t chain_mix(int32_t slot, int32_t x)
{
    uint64_t z = ((uint64_t)(uint32_t)slot << 32 | (uint32_t)x) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ? z ^ (z >> 31) : 0;
}

#endif
