/* Lower bounds on the cost of shards.
 *
 * An exchange brings every device a box around all needs of its reads, so at least each single need outside
 * its own block. Around a block there are two directions along each dimension (a corner counts for the
 * first). In each direction at least the part of the largest read is received, and these parts are disjoint.
 * New contents are exchanged again. A device that joins n partial sums gets every element from n - 1 others.
 * If all want the result, n - 1 get it from the one that joined it.
 *
 * Blocks are the default ones, or several of them if a sum is scattered along a sharded dimension
 * (block_bounds.c); readers pass them on to their element-wise operands. So a block begins between the least
 * and the most of these positions. A device's need is counted from the most on, its own part from the least.
 * An inserted tensor and its operands may have any blocks (`loose`): nothing is counted for them. */
#include "team/shard/shard_layers.h"

enum { SIDES = 2 * LX_MAX_RANK, WORDS = 2 * SIDES };

/* Elements received by all devices, per direction: below and above along each dimension. */
struct sides {
    int64_t at[SIDES];
};

struct shard_least {
    const struct lx_graph *g;
    const struct lx_team_grid *grid;
    int devices;
    bool *loose;       /* per tensor: it may have other blocks than the default ones */
    VEC(int32_t) rows; /* of sides, as words */
    size_t count;
    struct shard_index index;
};

/* Whether some dimension of an operand differs in extent from its variable. */
static bool shard_least_other_extents(const struct lx_graph *g, const struct lx_op *op,
                                      const struct op_index *x, int operand)
{
    const struct lx_tensor *t = &g->tensors[op_operand(op, operand)];
    for (int d = 0; d < t->rank; d++)
        if (x->var[operand][d] < 0 || x->extent[x->var[operand][d]] != t->shape[d]) return true;
    return false;
}

/* Passes `loose` from results to operands; views and windows pass nothing on. Returns whether it changed. */
static bool shard_least_find_loose(struct shard_least *l)
{
    const struct lx_graph *g = l->g;
    bool changed = false;
    for (int32_t o = g->op_count; o-- > 0;) {
        const struct lx_op *op = &g->ops[o];
        struct op_index x;
        op_index_of(g, op, &x);
        if (!x.known) continue;
        bool moved = op_index_shifted(&x, x.output) || shard_least_other_extents(g, op, &x, x.output);
        for (int r = op->input_count; r < op_operand_count(op); r++) moved |= l->loose[op_operand(op, r)];
        for (int i = 0; i < op->input_count; i++) {
            bool *loose = &l->loose[op->inputs[i]];
            if (*loose || g->tensors[op->inputs[i]].role != LX_INTERMEDIATE) continue;
            *loose = moved ||
                     (shard_least_other_extents(g, op, &x, i) && !x.window_count && !op_index_shifted(&x, i));
            changed |= *loose;
        }
    }
    return changed;
}

struct shard_least *shard_least_make(const struct lx_graph *g, const struct lx_team_grid *grid)
{
    struct shard_least *l = mem_zeroed(1, sizeof *l);
    *l = (struct shard_least){.g = g, .grid = grid, .devices = lx_team_device_count(grid), .count = 1};
    l->loose = mem_zeroed((size_t)g->tensor_count + 1, sizeof *l->loose);
    for (int i = 0; i < WORDS; i++) VEC_PUSH(&l->rows, 0); /* row 0: nothing */
    /* until stable: an op may precede the tensor that makes its operand loose */
    for (bool changed = true; changed;) changed = shard_least_find_loose(l);
    return l;
}

void shard_least_free(struct shard_least *l)
{
    mem_free(l->loose);
    mem_free(l->index.table);
    VEC_FREE(&l->rows);
    mem_free(l);
}

bool shard_least_loose(const struct shard_least *l, int32_t tensor)
{
    return l->loose[tensor];
}

static uint32_t shard_least_number_of(struct shard_least *l, const struct sides *s)
{
    int32_t row[WORDS];
    memcpy(row, s, sizeof row);
    int32_t *place = shard_index_find(&l->index, l->rows.at, l->count, WORDS, row);
    if (*place >= 0) return (uint32_t)*place;
    for (int i = 0; i < WORDS; i++) VEC_PUSH(&l->rows, row[i]);
    *place = (int32_t)l->count;
    return (uint32_t)l->count++;
}

static int64_t shard_least_bytes_of(const struct lx_tensor *t, const struct sides *s)
{
    int128 elements = 0;
    for (int k = 0; k < SIDES; k++) elements += s->at[k];
    return (int64_t)(elements * lx_dtype_bits(t->dtype) / 8);
}

static int64_t shard_least_begin(int64_t blocks, int64_t block, int64_t extent)
{
    return lx_team_default_partition((int)blocks, (int)block, 1, &extent, 0).offset[0];
}

/* The smallest (or with `most` the largest) block of a device, over all ways that other axes shard `what`
 * further. */
static struct lx_team_range shard_least_block_of(const struct shard_least *l, const int cut[LX_TEAM_AXES],
                                                 int what, int64_t extent, int m, bool most)
{
    int blocks = lx_team_blocks(l->grid, cut, what), block = lx_team_block(l->grid, cut, what, m);
    struct lx_team_range r = {most ? extent : 0, most ? 0 : extent};
    for (unsigned axes = 0; axes < 1u << l->grid->axes; axes++) {
        int64_t further = 1;
        for (int a = 0; a < l->grid->axes; a++)
            if ((axes >> a & 1) && cut[a] != what) further *= l->grid->size[a];
        if (further > 1 && blocks * further > extent) continue; /* no sum is scattered that far */
        int64_t begin = shard_least_begin(blocks * further, block * further, extent);
        int64_t end = shard_least_begin(blocks * further, (block + 1) * further, extent);
        r.begin = most ? min_i64(r.begin, begin) : max_i64(r.begin, begin);
        r.end = most ? max_i64(r.end, end) : min_i64(r.end, end);
    }
    return r;
}

/* Whether partial sums over `v` have the same blocks as tensors. */
static bool shard_least_by_blocks(const struct shard_least *l, const struct lx_op *op,
                                  const struct op_index *x, int v)
{
    for (int i = 0; i < op->input_count; i++) {
        int d = op_index_dim(x, i, v);
        const struct lx_tensor *t = &l->g->tensors[op->inputs[i]];
        if (d >= 0 && (l->loose[op->inputs[i]] || op_index_shifted(x, i) || t->shape[d] != x->extent[v]))
            return false;
    }
    return true;
}

/* Adds the elements of `need` outside `own`, by direction. */
static void shard_least_add_outside(const struct lx_team_box *need, const struct lx_team_box *own,
                                    struct sides *to)
{
    struct lx_team_box rest = *need;
    for (int d = 0; d < need->rank && !lx_team_box_empty(&rest); d++) {
        int64_t begin = rest.offset[d], end = begin + rest.size[d];
        int64_t low = min_i64(max_i64(own->offset[d], begin), end);
        int64_t high = min_i64(max_i64(own->offset[d] + own->size[d], low), end);
        struct lx_team_box beside = rest;
        beside.size[d] = low - begin;
        to->at[2 * d] += lx_team_box_elements(&beside);
        beside.size[d] = end - high;
        to->at[2 * d + 1] += lx_team_box_elements(&beside);
        rest.offset[d] = low;
        rest.size[d] = high - low;
    }
}

uint32_t shard_least_read(struct shard_least *l, int32_t o, int i, struct shard_state in,
                          struct shard_state var, int64_t *bytes)
{
    const struct lx_op *op = &l->g->ops[o];
    struct sides s = {{0}};
    struct op_index x;
    op_index_of(l->g, op, &x);
    *bytes = 0;
    if (l->loose[op->inputs[i]]) return 0;
    for (int w = 0; w < x.window_count; w++) /* a window with holes may need nothing, or one more element */
        if (x.windows[w].hole != 1) return 0;
    for (int m = 0; m < l->devices; m++) {
        /* The least part of an op that a device computes. */
        struct lx_team_space space = {0};
        for (int a = 0; a < l->grid->axes; a++) {
            int v = var.at[a], n = space.loops;
            if (v < 0 || team_loop_of(&space, v) >= 0) continue;
            int dim = op_index_dim(&x, x.output, v);
            int64_t extent = dim >= 0 ? l->g->tensors[op->output].shape[dim] : x.extent[v];
            bool known = dim >= 0 ? !l->loose[op->output] : shard_least_by_blocks(l, op, &x, v);
            struct lx_team_range r = shard_least_block_of(l, var.at, v, extent, m, false);
            space.var[space.loops++] = v;
            if (known && r.begin < r.end) space.range[n] = dim >= 0 ? team_range_of_block(&x, v, r) : r;
        }
        /* The most of a tensor that a device may own. */
        int32_t tensor = op->inputs[i];
        const struct lx_tensor *t = &l->g->tensors[tensor];
        struct lx_team_box own = lx_team_box_of(t->rank, t->shape);
        for (int a = 0; a < l->grid->axes && !l->loose[tensor]; a++) {
            int dim = in.at[a];
            if (dim < 0) continue;
            struct lx_team_range r = shard_least_block_of(l, in.at, dim, t->shape[dim], m, true);
            own.offset[dim] = r.begin;
            own.size[dim] = max_i64(r.end - r.begin, 0);
        }
        struct lx_team_box need = team_need_box(l->g, op, &x, i, &space);
        if (!lx_team_space_empty(&space)) shard_least_add_outside(&need, &own, &s);
    }
    *bytes = shard_least_bytes_of(&l->g->tensors[op->inputs[i]], &s);
    return shard_least_number_of(l, &s);
}

uint32_t shard_least_both(struct shard_least *l, int32_t tensor, uint32_t first, uint32_t second,
                          int64_t *more)
{
    struct sides a, b;
    memcpy(&a, l->rows.at + (size_t)first * WORDS, sizeof a);
    memcpy(&b, l->rows.at + (size_t)second * WORDS, sizeof b);
    int64_t before = shard_least_bytes_of(&l->g->tensors[tensor], &a);
    for (int k = 0; k < SIDES; k++) a.at[k] = max_i64(a.at[k], b.at[k]);
    *more = shard_least_bytes_of(&l->g->tensors[tensor], &a) - before;
    return shard_least_number_of(l, &a);
}

/* Whether every device has some terms of the sum, whichever variables are sharded. If some variable is long
 * enough for an axis, ways shard no shorter one (shard_ways.c). */
static bool shard_least_all_add(const struct shard_least *l, const struct lx_op *op, struct shard_state made)
{
    struct op_index x;
    int64_t longest = 0;
    op_index_of(l->g, op, &x);
    if (!x.known || op_index_shifted(&x, x.output) || l->loose[op->output]) return false;
    for (int v = 0; v < x.var_count; v++) {
        if (!team_may_shard(op, &x, v)) continue;
        if (op_index_reduced(&x, v) && !shard_least_by_blocks(l, op, &x, v)) return false;
        longest = max_i64(longest, x.extent[v]);
    }
    for (int a = 0; a < l->grid->axes; a++)
        if (made.at[a] <= LX_TEAM_PARTIAL && longest < l->grid->size[a]) return false;
    return true;
}

int64_t shard_least_join(const struct shard_least *l, int32_t o, struct shard_state made,
                         struct shard_state joined)
{
    const struct lx_op *op = &l->g->ops[o];
    const struct lx_tensor *t = &l->g->tensors[op->output];
    struct lx_team_box all = lx_team_box_of(t->rank, t->shape);
    int64_t n = 1, copies = 1;
    bool scatters = false;
    for (int a = 0; a < l->grid->axes; a++) {
        bool parts = made.at[a] <= LX_TEAM_PARTIAL;
        if (parts) n *= l->grid->size[a];
        if (made.at[a] == -1) copies *= l->grid->size[a];
        scatters |= parts && joined.at[a] >= 0;
    }
    int64_t times = (n - 1) * (shard_least_all_add(l, op, made) + !scatters) * copies;
    return (int64_t)((int128)lx_team_box_elements(&all) * lx_dtype_bits(t->dtype) / 8 * times);
}
