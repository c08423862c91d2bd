/* Plain evaluation of an op on a region, for teams: what every member runs, and one device to compare with.
 *
 * Elements are doubles; `fp32` rounds each one that is stored to fp32, whatever the tensor's type. Sums are
 * taken in double, in the order of the op's variables, so that an element comes out the same bit for bit
 * whatever region it is computed in, as long as its sum is not cut. Private to the stage. */
#ifndef LX_TEAM_RUN_TEAM_EVAL_H
#define LX_TEAM_RUN_TEAM_EVAL_H

#include "team/team.h"

/* A part of a tensor, row by row. */
struct team_block {
    struct lx_team_box box;
    double *at; /* NULL: not there */
};

/* Values of the cut variable (`var` -1: none is cut), and how to store what comes out. */
struct team_region {
    int var;
    struct lx_team_range range;
    bool fp32;
    bool partial; /* of a mean: leave the division to who combines */
};

bool team_block_make(struct team_block *b, const struct lx_team_box *box, lx_status *st);
void team_block_free(struct team_block *b);
/* The elements of `box`, which lies within the block, packed row by row: as fp32 or as fp64. */
size_t team_element_bytes(bool fp32);
void team_block_pack(const struct team_block *b, const struct lx_team_box *box, bool fp32, void *to);
void team_block_unpack(struct team_block *b, const struct lx_team_box *box, bool fp32, const void *from);
/* The input `t`: a function of seed, name and global index. In [-1, 1). */
void team_block_seed(struct team_block *b, const struct lx_tensor *t, uint64_t seed, bool fp32);

/* Blocks hold at least what the region reads and writes; elements outside the region stay as they are. */
bool team_eval(const struct lx_graph *g, const struct lx_op *op, const struct team_block *const *in,
               struct team_block *out, const struct team_region *how, lx_status *st);

/* What an accumulated result is divided by: the count of a mean, else 1. */
double team_divisor(const struct lx_graph *g, const struct lx_op *op);

#endif
