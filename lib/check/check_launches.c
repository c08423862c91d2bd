/* The launches of a plan: does each group of a split sum compute every element of the output exactly once,
 * does each core compute what it holds, and do no two cores write one stick? Checked by arithmetic on the
 * counts of the launch (dims, sums, cores, order); tiles are never listed.
 *
 * A launch over shards gives a core all tiles of its shard. In a global launch tiles are numbered, and the
 * runs of tiles of a group's cores, sorted by first tile, must follow each other without a gap, in any order
 * of tiles. */
#include "check/check.h"

struct launched {
    const struct checker *c;
    const struct lx_op *op;
    const struct lx_op_launch *o;
    struct cut cut;
    bool on_chip;      /* some operand is on chip */
    int64_t item_bits; /* of the widest operand on chip */
};

static bool check_launches_refuse(const struct launched *x, const char *why)
{
    return status_set(x->c->st, LX_E_NO, "launch of op %s: %s", x->op->name, why);
}

static bool refuse_core(const struct launched *x, const struct lx_launch_core *k, const char *why)
{
    return status_set(x->c->st, LX_E_NO, "launch of op %s: core %d %s", x->op->name, (int)k->core, why);
}

/* Sets [*from, *to) to part `slot` of a dimension. */
static void check_launches_range_of(int64_t extent, int64_t parts, int64_t part, int64_t slot, int64_t *from,
                                    int64_t *to)
{
    if (parts == 1 || !mul_i64(slot, part, from)) *from = parts == 1 ? 0 : extent;
    *from = min_i64(*from, extent);
    *to = parts == 1 ? extent : min_i64(*from + part, extent);
}

/* A side may have any length within the dimension; beyond it only the side asked for, in whole sticks or
 * tiles. */
static bool side_right(const struct launched *x, int d, const int64_t tile[2], int64_t side)
{
    int var = x->cut.x.var[x->cut.x.output][d];
    const struct lx_device *device = &x->c->g->device;
    int64_t asked = d < x->o->rank - 2 ? 1 : tile[d == x->o->rank - 1], extent = x->cut.x.extent[var];
    return side <= extent || side == round_up_i64(asked, x->cut.unit[var]) ||
           (device->tiled && (side == round_up_i64(asked, gcd_i64(extent, device->tile_rows)) ||
                              side == round_up_i64(asked, gcd_i64(extent, device->tile_columns))));
}

static bool dims_right(const struct launched *x)
{
    const struct op_index *i = &x->cut.x;
    if (x->o->rank != i->rank[i->output])
        return check_launches_refuse(x, "it has another rank than the output");
    for (int d = 0; d < x->o->rank; d++) {
        const struct lx_launch_dim *v = &x->o->dim[d];
        if (v->extent != i->extent[x->cut.x.var[x->cut.x.output][d]])
            return check_launches_refuse(x, "a dimension is not as long as that of the output");
        if (v->side < 1 || v->inner < 1 || v->inner > v->side || v->parts < 1 || v->part < 1 ||
            v->part > v->extent)
            return check_launches_refuse(x, "a dimension has tiles or parts of no size");
        if (v->parts == 1 ? v->part != v->extent : v->part < ceil_div_i64(v->extent, v->parts))
            return check_launches_refuse(x, "the parts of a dimension do not cover it");
        for (int out = i->output; out < i->operand_count; out++) {
            /* Cores with neighbouring tiles would write one stick of a result. */
            const struct lx_layout *l = &x->c->l->layouts[op_operand(x->op, out)];
            bool cuts = v->inner < v->extent && (v->inner % l->stick_elements != 0 ||
                                                 (v->side < v->extent && v->side % l->stick_elements != 0) ||
                                                 op_index_stride(i, out, d) != 1 ||
                                                 op_index_offset(i, out, d) % l->stick_elements != 0);
            if (d == l->stick_dim && (cuts || (v->parts > 1 && v->part % l->stick_elements != 0)))
                return check_launches_refuse(x, "tiles end within sticks of the output");
        }
    }
    /* The tile that the plan asks for, or the device's, with half the rows until its operands on chip fit in
     * LX_LAUNCH_TILE_BYTES. */
    const struct lx_launch_options *asked = &x->c->p->launch;
    int64_t tile[2] = {asked->tile[0] ? asked->tile[0] : x->c->g->device.tile_rows,
                       asked->tile[0] ? asked->tile[1] : x->c->g->device.tile_columns};
    while (!asked->tile[0] && tile[0] > 1 &&
           tile[0] * tile[1] * x->item_bits > 8 * (int64_t)LX_LAUNCH_TILE_BYTES)
        tile[0] /= 2;
    for (int d = 0; d < x->o->rank; d++) {
        const struct lx_launch_dim *v = &x->o->dim[d];
        if (!side_right(x, d, tile, v->side))
            return check_launches_refuse(
                x, "a tile is longer than its dimension, and neither the device's nor that of tile_sides");
        if (v->inner != v->side && !side_right(x, d, asked->inner, v->inner))
            return check_launches_refuse(
                x, "a tile in a tile is longer than its dimension, and not that of tile_sides");
    }
    return true;
}

static bool core_there(const struct launched *x, const struct lx_launch_core *k)
{
    const struct lx_launch *l = x->o->launch;
    if (k->core < 0 || k->core >= x->c->p->divisions->cores) return refuse_core(x, k, "is not there");
    if (l->core_grid[1] < 1 || k->y != k->core / l->core_grid[1] || k->x != k->core % l->core_grid[1])
        return refuse_core(x, k, "does not stand where its number says");
    if (k->k_slice < 0 || k->k_slice >= x->cut.sum_slices)
        return refuse_core(x, k, "has a slice of the sum that is none");
    return true;
}

static bool grid_right(const struct launched *x)
{
    const struct lx_launch *l = x->o->launch;
    const struct lx_device *d = &x->c->g->device;
    int64_t rows = max_i64(d->grid_y, ceil_div_i64(d->cores, d->grid_x));
    return (l->core_grid[1] == d->grid_x && l->core_grid[0] == rows) ||
           check_launches_refuse(x, "core_grid is not the device's");
}

ORDER(by_group_and_start, struct lx_launch_core, ORDER_UP(k_slice) ORDER_UP(start) ORDER_UP(count));

/* Are all cores there, and none twice? */
static bool cores_right(const struct launched *x)
{
    const struct lx_launch *l = x->o->launch;
    bool *taken = arena_array(x->c->memory, (size_t)x->c->p->divisions->cores, sizeof *taken);
    for (int32_t i = 0; i < l->core_count; i++) {
        if (!core_there(x, &l->cores[i])) return false;
        if (x->on_chip && l->cores[i].core >= x->cut.cores)
            return refuse_core(x, &l->cores[i], "holds nothing of what is on chip");
        if (taken[l->cores[i].core]) return refuse_core(x, &l->cores[i], "is launched twice");
        taken[l->cores[i].core] = true;
    }
    return true;
}

/* With operands on chip a core computes just the slice whose parts it holds. */
static bool shard_is_slice(const struct launched *x, const struct lx_launch_core *k, const int64_t *slot)
{
    for (int d = 0; d < x->o->rank; d++) {
        const struct lx_launch_dim *v = &x->o->dim[d];
        int var = x->cut.x.var[x->cut.x.output][d];
        int64_t from, to, own, end;
        check_launches_range_of(v->extent, v->parts, v->part, slot[d], &from, &to);
        int64_t slice = x->cut.split[var] > 1 ? k->core / x->cut.stride[var] % x->cut.split[var] : 0;
        check_launches_range_of(v->extent, x->cut.split[var], x->cut.width[var], slice, &own, &end);
        if (from != own || to != end) return refuse_core(x, k, "computes another slice than it holds");
    }
    int64_t group = 0;
    for (int v = 0; v < x->cut.x.var_count; v++)
        if (x->cut.split[v] > 1 && op_index_summed(&x->cut.x, v))
            group = group * x->cut.split[v] + k->core / x->cut.stride[v] % x->cut.split[v];
    return k->k_slice == group || refuse_core(x, k, "sums another slice than it holds");
}

static bool local_right(const struct launched *x)
{
    const struct lx_launch *l = x->o->launch;
    int64_t shards = x->cut.sum_slices;
    if (l->order != LX_MATCH_SHARD)
        return check_launches_refuse(x, "tiles of shards are in the order match_shard");
    for (int d = 0; d < x->o->rank; d++)
        if (!mul_i64(shards, x->o->dim[d].parts, &shards)) shards = INT64_MAX;
    if (shards != l->core_count) return check_launches_refuse(x, "not every shard has one core");
    bool *taken = arena_array(x->c->memory, (size_t)shards, sizeof *taken);
    int64_t slot[LX_MAX_RANK], columns = x->o->rank > 0 ? x->o->dim[x->o->rank - 1].parts : 1;
    for (int32_t i = 0; i < l->core_count; i++) {
        const struct lx_launch_core *k = &l->cores[i];
        /* The slot of each output dimension that sy and sx name. */
        int64_t sy = k->sy;
        if (k->sy < 0 || k->sx < 0) return refuse_core(x, k, "has a shard that is none");
        for (int d = x->o->rank - 2; d >= 0; d--) {
            slot[d] = x->o->dim[d].parts > 1 ? sy % x->o->dim[d].parts : 0;
            if (x->o->dim[d].parts > 1) sy /= x->o->dim[d].parts;
        }
        if (x->o->rank > 0) slot[x->o->rank - 1] = k->sx;
        if (sy != 0 || k->sx >= (x->o->rank > 0 ? x->o->dim[x->o->rank - 1].parts : 1))
            return refuse_core(x, k, "has a shard that is none");
        int64_t tiles = 1;
        for (int d = 0; d < x->o->rank; d++) {
            const struct lx_launch_dim *v = &x->o->dim[d];
            int64_t from, to;
            check_launches_range_of(v->extent, v->parts, v->part, slot[d], &from, &to);
            if (to - from > v->side || from == to) tiles *= ceil_div_i64(to - from, v->side);
        }
        if (k->start != 0 || k->count != tiles)
            return refuse_core(x, k, "does not compute all tiles of its shard");
        if (x->on_chip && !shard_is_slice(x, k, slot)) return false;
        int64_t number = ((int64_t)k->sy * columns + k->sx) * x->cut.sum_slices + k->k_slice;
        if (taken[number]) return refuse_core(x, k, "computes a shard that another one computes, too");
        taken[number] = true;
    }
    return true;
}

/* Do the runs of tiles of each group follow each other? */
static bool runs_cover(const struct launched *x, int64_t all)
{
    int32_t n = x->o->launch->core_count;
    int64_t next = 0, group = 0;
    struct lx_launch_core *sorted =
        arena_copy_array(x->c->memory, x->o->launch->cores, (size_t)n, sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_group_and_start);
    for (int32_t i = 0; i < n; i++) {
        const struct lx_launch_core *k = &sorted[i];
        if (k->sy != 0 || k->sx != 0) return refuse_core(x, k, "has a shard, but there are none");
        if (k->count < 0 || k->start < 0) return refuse_core(x, k, "has tiles that are none");
        if (k->k_slice != group && next != all)
            return check_launches_refuse(x, "tiles of a slice of the sum are left out");
        if (k->k_slice != group) group++, next = 0;
        if (k->k_slice != group) return check_launches_refuse(x, "a slice of the sum has no cores");
        if (k->start != next)
            return refuse_core(x, k, "begins with a tile that another one computes, or leaves some out");
        next += k->count;
        if (next > all) return refuse_core(x, k, "goes beyond the last tile");
    }
    return (next == all && group == x->cut.sum_slices - 1) || check_launches_refuse(x, "tiles are left out");
}

static bool global_right(const struct launched *x)
{
    const struct lx_launch *l = x->o->launch;
    int64_t all = 1;
    if (x->on_chip && l->core_count > 1)
        return check_launches_refuse(x, "an operand is on chip, but tiles are dealt out to all cores");
    if (l->order == LX_MATCH_SHARD) return check_launches_refuse(x, "there are no shards to match");
    if (l->order == LX_BLOCK &&
        (x->o->blocks[0] < 1 || x->o->blocks[1] < 1 || x->o->blocks[0] > l->mt || x->o->blocks[1] > l->nt))
        return check_launches_refuse(x, "there are less blocks than one by one, or more than tiles");
    for (int d = 0; d < x->o->rank; d++) {
        const struct lx_launch_dim *v = &x->o->dim[d];
        if (v->parts != 1) return check_launches_refuse(x, "a global launch has no parts");
        if (!mul_i64(all, ceil_div_i64(v->extent, v->side), &all) || all > LX_INT_MAX)
            return check_launches_refuse(x, "it has more than 2^53 tiles");
    }
    if (l->order != LX_LISTED && x->o->tiles)
        return check_launches_refuse(x, "only the order listed has a list");
    if (l->order == LX_LISTED && (!x->o->tiles || x->o->tile_count != all))
        return check_launches_refuse(x, "its list does not have as many tiles as there are");
    bool *seen = l->order == LX_LISTED ? arena_array(x->c->memory, (size_t)all, sizeof *seen) : NULL;
    for (int64_t i = 0; seen && i < all; i++) {
        int64_t t = x->o->tiles[i];
        if (t < 0 || t >= all || seen[t])
            return check_launches_refuse(x, "its list has a tile twice, or one that is not there");
        seen[t] = true;
    }
    return runs_cover(x, all);
}

static bool tiles_right(const struct launched *x)
{
    const struct lx_launch *l = x->o->launch;
    if (!dims_right(x)) return false;
    /* Sums are split like the op. */
    const struct op_index *i = &x->cut.x;
    int n = 0;
    for (int v = 0; v < i->var_count; v++) {
        if (!op_index_summed(i, v)) continue;
        if (n == x->o->sum_count) return check_launches_refuse(x, "a sum is missing");
        const struct lx_launch_sum *s = &x->o->sum[n++];
        if (s->extent != i->extent[v] || s->parts != x->cut.split[v] || s->part != x->cut.width[v])
            return check_launches_refuse(x, "a sum is cut in another way than the op");
    }
    if (n < x->o->sum_count) return check_launches_refuse(x, "it has a sum that the op does not have");
    if (!grid_right(x) || !cores_right(x)) return false;
    return l->mode == LX_PARTITION_LOCAL_SHARD ? local_right(x) : global_right(x);
}

static bool launch_right(struct launched *x)
{
    const struct lx_access *a = &x->c->p->accesses[x->c->p->access_at[x->o->op]];
    enum lx_launch_kind wanted = x->op->kind->traits & LX_EXTERN ? LX_LAUNCH_NONE
                                 : x->cut.x.known                ? LX_LAUNCH_TILES
                                                                 : LX_LAUNCH_WHOLE;
    for (int i = 0; i < op_operand_count(x->op); i++)
        if (a[i].stay >= 0 && x->c->p->answer.address[a[i].stay] >= 0) {
            int32_t tensor = op_operand(x->op, i);
            enum { STICK = 128 };
            int64_t items = lx_stick_elements(x->c->g->tensors[tensor].dtype, STICK);
            x->on_chip = true;
            x->item_bits = max_i64(x->item_bits, STICK * 8 / items);
        }
    if (x->o->kind == LX_LAUNCH_REFUSED)
        return check_launches_refuse(x, "it is refused, so that nothing runs the op");
    if (x->o->kind != wanted) return check_launches_refuse(x, "it is of another kind than the op");
    if (wanted == LX_LAUNCH_NONE) return true;
    if (!x->o->launch) return check_launches_refuse(x, "it has no cores");
    /* The loops of the launch are the nest's, with the step of a tile. */
    const struct lx_launch *l = x->o->launch;
    const struct lx_nest *n = x->cut.nest;
    bool ok = l->level_count == (n ? n->level_count : 0);
    for (int i = 0; ok && i < l->level_count; i++)
        ok = l->level[i].var == x->cut.level_var[i] && l->level[i].tiles == n->tiles[i] &&
             l->level[i].step == x->cut.x.extent[x->cut.level_var[i]];
    if (!ok) return check_launches_refuse(x, "it is in other loops than its op");
    if (x->o->k_tile != x->c->g->device.tile_columns)
        return check_launches_refuse(x, "k_tile is not the columns of the device's tile");
    if (wanted == LX_LAUNCH_TILES) return tiles_right(x);
    if (x->o->rank != 0 || x->o->sum_count != 0 || l->core_count != 1 || l->cores[0].core != 0 ||
        l->cores[0].start != 0 || l->cores[0].count != 1 || l->cores[0].k_slice != 0 || l->cores[0].sy != 0 ||
        l->cores[0].sx != 0)
        return check_launches_refuse(x, "an op of which only the operands are known is one piece on core 0");
    return core_there(x, &l->cores[0]) && grid_right(x);
}

bool check_launches(const struct checker *c)
{
    for (int32_t o = 0; c->p->launches && o < c->g->op_count; o++) {
        struct launched x = {.c = c, .op = &c->g->ops[o], .o = &c->p->launches[o]};
        if (x.o->op != o) return check_launches_refuse(&x, "it is of another op");
        cut_of_op(c, o, &x.cut);
        if (!launch_right(&x)) return false;
    }
    return true;
}
