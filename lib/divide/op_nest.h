/* Nests: runs of consecutive ops inside counted loops. A nest runs its ops once per iteration. A level cuts
 * an axis (one variable of every op in the run) into equal tiles. Division, residency and launch refer to
 * one tile. At most three levels, some hundred ops. */
#pragma once

#include "layout/layout.h"

enum { LX_MAX_LEVELS = 3 };

struct lx_nest {
    int32_t first, last; /* ops, both included */
    int level_count;
    int64_t tiles[LX_MAX_LEVELS]; /* outermost first */
    /* Per op of the run: the variable of each level's axis, in op_index numbers. */
    const signed char (*var)[LX_MAX_LEVELS];
};

/* How a nest tiles a tensor of its ops. Sets of levels are bit masks: the level with index l is bit l. */
struct nest_tensor {
    bool accessed;
    unsigned indexed; /* levels whose axis indexes the tensor */
    /* levels over which the op that writes it in the nest sums; nonzero for an accumulator */
    unsigned summed;
    signed char dim[LX_MAX_LEVELS]; /* the dimension that each level tiles, or -1 */
    bool made;                      /* an op of the run writes it */
};

static inline unsigned level_bit(int level)
{
    return 1u << level;
}

/* Whether `n` is a legal nest; `st` gives the reason if not. */
bool nest_valid(const struct lx_layouts *l, const struct lx_nest *n, lx_status *st);
struct nest_tensor nest_tensor_of(const struct lx_layouts *l, const struct lx_nest *n, int32_t tensor);

/* Why no nest can have the op; NULL: one can. nest_walks_op does not ask whether other ops write its
 * results. */
const char *nest_never_takes(const struct lx_layouts *l, int32_t op);
bool nest_walks_op(const struct lx_layouts *l, int32_t op);
/* The number of tiles of dimension `dim` must divide this, so that no stick and no padding is cut. `dim` -1:
 * none. */
int64_t nest_tile_basis(const struct lx_layout *y, int dim);
/* Fills `tiles` per variable of an op of the run; 1 for untiled ones. */
void nest_op_tiles(const struct lx_nest *n, int32_t op, int64_t *tiles);
struct op_index;
/* Shrinks the extents in the op's index map to one tile. */
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
/* How often an op runs; how often a buffer of the op with hold level `hold` is filled. */
int64_t nest_runs(const struct lx_nest *nests, int32_t count, int32_t op);
int64_t nest_fills(const struct lx_nest *nests, int32_t count, int32_t op, int hold);
/* The letter of a level's axis in an op of the run. */
char nest_letter(const struct lx_layouts *l, const struct lx_nest *n, int32_t op, int level);
/* The index of the op's nest, or -1. Nests are in execution order. */
int32_t nest_of_op(const struct lx_nest *nests, int32_t count, int32_t op);

/* Reads of a nest's sums before they are complete. A `logsumexp` l over nest levels may be read inside the
 * nest by `sub(s, l)` of its own scores s. Only `exp` may read that difference, and only `blend` may read
 * the `exp`, as its weights over the same levels: a blend rescales when the remaining rows come. Copies with
 * other sticks count as their source. Any op may read l after the nest. */

/* Whether op `op` of the nest may read `tensor`, whose sum over nest levels is incomplete. */
bool nest_reads_running(const struct lx_layouts *l, const struct lx_nest *n, int32_t op, int32_t tensor);
/* Whether the op's sums over nest levels are right in the end. A blend needs weights of a running sum. */
bool nest_sums_op(const struct lx_layouts *l, const struct lx_nest *n, int32_t op);
