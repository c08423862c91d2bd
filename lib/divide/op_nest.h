/* Nests: runs of consecutive ops inside counted loops. A nest walks its ops, the body, once per iteration; a
 * level cuts an axis, one variable of every op of the run, into equal tiles. Division, residency and launch
 * are those of one tile. Up to three levels, some hundred ops. */
#ifndef LX_DIVIDE_OP_NEST_H
#define LX_DIVIDE_OP_NEST_H

#include "layout/layout.h"

enum { LX_MAX_LEVELS = 3 };

struct lx_nest {
    int32_t first, last; /* ops, both included */
    int level_count;
    int64_t tiles[LX_MAX_LEVELS]; /* outermost first */
    /* Per op of the run: the variable that is each level's axis, as op_index numbers them. */
    const signed char (*var)[LX_MAX_LEVELS];
};

/* What a nest does to a tensor that its ops access. Sets of levels are bits: level l is bit l - 1. */
struct nest_tensor {
    bool accessed;
    unsigned indexed;               /* levels whose axis indexes it */
    unsigned summed;                /* levels over which the op that makes it here sums: an accumulator's */
    signed char dim[LX_MAX_LEVELS]; /* the dimension that a level cuts, or -1 */
    bool made;                      /* by an op of the run */
};

static inline unsigned level_bit(int level)
{
    return 1u << level;
}

/* Is it a nest of this graph? `st` says what is wrong with it. */
bool nest_valid(const struct lx_layouts *l, const struct lx_nest *n, lx_status *st);
struct nest_tensor nest_tensor_of(const struct lx_layouts *l, const struct lx_nest *n, int32_t tensor);

/* Can the op be in any nest: does it have variables, and its output no other writer? */
bool nest_walks_op(const struct lx_layouts *l, int32_t op); /* the first of the two */
bool nest_takes_op(const struct lx_layouts *l, int32_t op);
/* Tiles of a dimension (-1: none) of a tensor divide this: no stick and no padding is cut. */
int64_t nest_tile_basis(const struct lx_layout *y, int dim);
/* Tiles per variable of an op of the run, ones for the others. */
void nest_op_tiles(const struct lx_nest *n, int32_t op, int64_t *tiles);
struct op_index;
/* The index map of one tile of the op: its extents are those of a tile. */
void nest_tile_index(const struct lx_nest *nests, int32_t count, int32_t op, struct op_index *x);
int64_t nest_product(const struct lx_nest *n, unsigned levels);
static inline unsigned levels_to(int level)
{
    return (1u << level) - 1;
}
static inline int64_t nest_iterations(const struct lx_nest *n)
{
    return nest_product(n, levels_to(n->level_count));
}
/* How often an op runs; how often a buffer with hold `hold` and the view of the op is filled. */
int64_t nest_runs(const struct lx_nest *nests, int32_t count, int32_t op);
int64_t nest_fills(const struct lx_nest *nests, int32_t count, int32_t op, int hold);
/* The letter of a level's axis in an op of the run. */
char nest_letter(const struct lx_layouts *l, const struct lx_nest *n, int32_t op, int level);
/* The nest of an op, or -1; they stand in order of time. */
int32_t nest_of_op(const struct lx_nest *nests, int32_t count, int32_t op);

/* Reads of a nest's sums before they are complete. A `logsumexp` l over levels of a nest may be read in it by
 * `sub(s, l)` of its own scores s; the result only by `exp`, and that only by `blend` as its weights, over
 * the same levels: a blend makes up for the rest of the rows when they come. Copies with other sticks count
 * as their source. Any op may read l after the nest. */

/* May op `op` of the nest, which reads it, read a tensor whose sum over levels of the nest is incomplete? */
bool nest_reads_running(const struct lx_layouts *l, const struct lx_nest *n, int32_t op, int32_t tensor);
/* Are the op's sums over levels of the nest right in the end? A blend needs weights of a running sum. */
bool nest_sums_op(const struct lx_layouts *l, const struct lx_nest *n, int32_t op);

#endif
