/* Index recovery of an op's launch: from a core's arguments and a turn of its loop to ranges of the op's
 * variables.
 *
 * A tile is identified by its cell, one number per output dimension. In a global launch the order maps the
 * number start + turn to the cell. In a local launch start + turn is decomposed by mixed radix over the
 * tiles of the core's shard. Only fields of the launch are used, and any number that leads outside the grid
 * gives false. */
#include "launch/launch_grid.h"
#include "layout/op_index.h"

const struct lx_launch_core *lx_op_launch_core(const struct lx_op_launch *o, int64_t core)
{
    const struct lx_launch *l = o->launch;
    if (!l || core < 0) return NULL;
    /* common case: all cores from 0 on are launched */
    if (core < l->core_count && l->cores[core].core == core) return &l->cores[core];
    for (int32_t i = 0; i < l->core_count; i++)
        if (l->cores[i].core == core) return &l->cores[i];
    return NULL;
}

bool launch_is_local(const struct lx_op_launch *o)
{
    return o->launch->mode == LX_PARTITION_LOCAL_SHARD;
}

/* Blocks split rows and columns evenly. All tiles of a block, batch by batch, come before the next
 * block's. */
static bool cell_in_blocks(const struct lx_op_launch *o, int64_t t, struct lx_tile *tile)
{
    const struct lx_launch *l = o->launch;
    for (int64_t b = 0; b < o->blocks[0] * o->blocks[1]; b++) {
        int64_t row, rows, column, columns;
        lx_share_of(LX_SHARE_BALANCED, l->mt, o->blocks[0], b / o->blocks[1], &row, &rows);
        lx_share_of(LX_SHARE_BALANCED, l->nt, o->blocks[1], b % o->blocks[1], &column, &columns);
        int64_t each = rows * columns, all = each * l->batch;
        if (t < all) {
            *tile = (struct lx_tile){t / each, row + t % each / columns, column + t % columns, 0};
            return true;
        }
        t -= all;
    }
    return false;
}

bool launch_tile_at(const struct lx_op_launch *o, int64_t t, struct lx_tile *tile)
{
    const struct lx_launch *l = o->launch;
    int64_t each = l->mt * l->nt;
    if (t < 0 || t >= each * l->batch) return false;
    if (l->order == LX_BLOCK) return cell_in_blocks(o, t, tile);
    if (l->order == LX_LISTED) {
        if (t >= o->tile_count || o->tiles[t] < 0 || o->tiles[t] >= each * l->batch) return false;
        t = o->tiles[t];
    }
    *tile = lx_launch_tile(l, &(struct lx_launch_core){.start = t}, 0);
    return true;
}

static bool local_box(const struct lx_op_launch *o, const struct lx_launch_core *c, int64_t t, int64_t *from,
                      int64_t *to)
{
    int64_t slot[LX_MAX_RANK], sy = c->sy;
    if (t < 0 || c->sy < 0 || c->sx < 0) return false;
    /* The core's part of each dimension. */
    for (int d = o->rank - 2; d >= 0; d--) {
        slot[d] = sy % o->dim[d].parts;
        sy /= o->dim[d].parts;
    }
    if (o->rank > 0) slot[o->rank - 1] = c->sx;
    if (sy != 0 || c->sx >= (o->rank > 0 ? o->dim[o->rank - 1].parts : 1)) return false;
    for (int d = o->rank - 1; d >= 0; d--) {
        const struct lx_launch_dim *v = &o->dim[d];
        int64_t low = slot[d] > v->extent / v->part ? v->extent : min_i64(slot[d] * v->part, v->extent);
        int64_t high = v->parts == 1 ? v->extent : min_i64(low + v->part, v->extent);
        int64_t side = v->side, tiles = ceil_div_i64(high - low, side);
        if (tiles < 1) return false;
        from[d] = low + t % tiles * side;
        to[d] = min_i64(from[d] + side, high);
        t /= tiles;
    }
    return t == 0;
}

static void box_of(const struct lx_op_launch *o, const struct lx_tile *tile, int64_t *from, int64_t *to)
{
    int64_t cell[LX_MAX_RANK];
    /* One number per dimension from batch, row and column. */
    int64_t batch = tile->batch;
    if (o->rank > 0) cell[o->rank - 1] = tile->column;
    if (o->rank > 1) cell[o->rank - 2] = tile->row;
    for (int d = o->rank - 3; d >= 0; d--) {
        int64_t tiles = ceil_div_i64(o->dim[d].extent, o->dim[d].side);
        cell[d] = batch % tiles;
        batch /= tiles;
    }
    for (int d = 0; d < o->rank; d++) {
        from[d] = cell[d] * o->dim[d].side;
        to[d] = min_i64(from[d] + o->dim[d].side, o->dim[d].extent);
    }
}

void launch_box_of_number(const struct lx_op_launch *o, int64_t number, int64_t *from, int64_t *to)
{
    int64_t nt = o->launch->nt, each = o->launch->mt * nt;
    box_of(o, &(struct lx_tile){number / each, number % each / nt, number % nt, number}, from, to);
}

/* The i-th outer tile of a core. */
static bool outer_box(const struct lx_op_launch *o, const struct lx_launch_core *c, int64_t i, int64_t *from,
                      int64_t *to)
{
    int64_t t;
    if (i < 0 || i >= c->count || !add_i64(c->start, i, &t)) return false;
    if (launch_is_local(o)) return local_box(o, c, t, from, to);
    struct lx_tile tile;
    if (!launch_tile_at(o, t, &tile)) return false;
    box_of(o, &tile, from, to);
    return true;
}

bool lx_op_launch_two_levels(const struct lx_op_launch *o)
{
    for (int d = 0; d < o->rank; d++)
        if (o->dim[d].inner < o->dim[d].side) return true;
    return false;
}

/* Turns in the i-th tile of a core; 0: there is no such tile. */
static int64_t inner_tiles(const struct lx_op_launch *o, const struct lx_launch_core *c, int64_t i)
{
    int64_t from[LX_MAX_RANK], to[LX_MAX_RANK], n = 1;
    if (!outer_box(o, c, i, from, to)) return 0;
    for (int d = 0; d < o->rank; d++) {
        if (o->dim[d].inner < 1) return 0;
        n *= ceil_div_i64(to[d] - from[d], o->dim[d].inner);
    }
    return n;
}

/* A missing tile counts one turn, in which lx_op_launch_piece reports it. */
int64_t lx_op_launch_turns(const struct lx_op_launch *o, int64_t core)
{
    const struct lx_launch_core *c = lx_op_launch_core(o, core);
    int64_t turns = 0;
    if (!c || c->count <= 0) return 0;
    if (!lx_op_launch_two_levels(o)) return c->count;
    for (int64_t i = 0; i < c->count; i++) {
        int64_t n = inner_tiles(o, c, i);
        if (n == 0) return turns + 1;
        turns += n;
    }
    return turns;
}

bool lx_op_launch_box(const struct lx_op_launch *o, int64_t core, int64_t turn, int64_t *from, int64_t *to)
{
    const struct lx_launch_core *c = lx_op_launch_core(o, core);
    int64_t i = 0;
    if (!c || turn < 0) return false;
    if (!lx_op_launch_two_levels(o)) return outer_box(o, c, turn, from, to);
    for (int64_t n; (n = inner_tiles(o, c, i)) > 0 && turn >= n; i++) turn -= n;
    if (!outer_box(o, c, i, from, to)) return false;
    /* Narrow to the `turn`-th inner tile. */
    for (int d = o->rank - 1; d >= 0; d--) {
        int64_t inner = o->dim[d].inner, tiles = inner > 0 ? ceil_div_i64(to[d] - from[d], inner) : 0;
        if (tiles < 1) return false;
        from[d] += turn % tiles * inner;
        to[d] = min_i64(from[d] + inner, to[d]);
        turn /= tiles;
    }
    return turn == 0;
}

bool lx_op_launch_piece(const struct lx_op_launch *o, const struct op_index *x, int64_t core, int64_t turn,
                        struct lx_launch_piece *out)
{
    const struct lx_launch_core *c = lx_op_launch_core(o, core);
    int64_t from[LX_MAX_VARS], to[LX_MAX_VARS];
    int last = x->output, sums = 0;
    if (!lx_op_launch_box(o, core, turn, from, to)) return false;
    if (!x->known) return o->rank == 0 && o->sum_count == 0;
    if (o->rank != x->rank[last]) return false;
    for (int d = 0; d < o->rank; d++) {
        int v = x->var[last][d];
        out->from[v] = from[d];
        out->to[v] = to[d];
        if (o->dim[d].extent != x->extent[v]) return false;
    }
    if (c->k_slice < 0) return false;
    int64_t k_slice = c->k_slice;
    for (int i = o->sum_count - 1; i >= 0; i--) {
        const struct lx_launch_sum *s = &o->sum[i];
        int64_t slot = k_slice % s->parts;
        from[i] = slot > s->extent / s->part ? s->extent : min_i64(slot * s->part, s->extent);
        to[i] = s->parts == 1 ? s->extent : min_i64(from[i] + s->part, s->extent);
        k_slice /= s->parts;
    }
    if (k_slice != 0) return false;
    for (int v = 0; v < x->var_count; v++) {
        if (op_index_follows(x, v)) out->from[v] = 0, out->to[v] = x->extent[v];
        if (!op_index_summed(x, v)) continue;
        if (sums == o->sum_count || o->sum[sums].extent != x->extent[v]) return false;
        out->from[v] = from[sums];
        out->to[v] = to[sums++];
    }
    return sums == o->sum_count;
}
