/* Do the arguments of a launch agree with each other? Tiles are recovered from extents, sides and parts;
 * what cores are told beside that, Mt, Kt, Nt, the shard grid and their own place, must follow from the
 * same. */
#include "device/execute/execute.h"

#include <string.h>

/* Counts that the launch states and those that follow from its dimensions and sums. */
static bool grid_follows(const struct lx_op_launch *o)
{
    struct lx_launch grid = *o->launch;
    struct lx_op_launch again = *o;
    again.launch = &grid;
    const struct lx_launch *l = o->launch;
    return lx_op_launch_settle(&again) && grid.batch == l->batch && grid.mt == l->mt && grid.nt == l->nt &&
           grid.kt == l->kt && again.k_slices == o->k_slices &&
           memcmp(grid.shard_grid, l->shard_grid, sizeof grid.shard_grid) == 0 &&
           memcmp(grid.shard_tiles, l->shard_tiles, sizeof grid.shard_tiles) == 0;
}

/* Each core once, at its own place in the grid of cores. */
static bool cores_in_place(const struct lx_launch *l, int64_t cores)
{
    for (int32_t i = 0; i < l->core_count; i++) {
        const struct lx_launch_core *c = &l->cores[i];
        bool there = c->core >= 0 && c->core < cores && c->x >= 0 && c->x < l->core_grid[1] && c->y >= 0 &&
                     c->y < l->core_grid[0] && c->core == c->y * l->core_grid[1] + c->x;
        if (!there || (i > 0 && c->core <= l->cores[i - 1].core)) return false;
    }
    return true;
}

/* The loops around it are those of its nest, and tiles begin one behind the other: what begins elsewhere
 * might show no other numbers. */
static bool loops_follow(const struct machine *m, const struct lx_launch *l)
{
    const struct lx_nest *n = m->at.nest;
    struct op_index x;
    if (l->level_count != (n ? n->level_count : 0)) return false;
    if (n) op_index_of(m->graph, machine_op(m), &x);
    for (int i = 0; i < l->level_count; i++) {
        int v = n->var[m->tick - n->first][i];
        if (l->level[i].tiles != n->tiles[i] || l->level[i].var != v ||
            l->level[i].step != x.extent[v] / n->tiles[i])
            return false;
    }
    return true;
}

void check_arguments(struct machine *m)
{
    const struct lx_op_launch *o = &m->launches[m->tick];
    if (o->kind == LX_LAUNCH_REFUSED)
        fault_plain(m, LX_FAULT_PLAN, NULL, "it cannot be launched: %.300s", o->why ? o->why : "");
    if (!o->launch) return;
    if (o->kind == LX_LAUNCH_TILES && !grid_follows(o))
        fault_plain(m, LX_FAULT_GRID, NULL, "counts of tiles do not follow from extents and sides");
    if (o->kind == LX_LAUNCH_TILES && !loops_follow(m, o->launch))
        fault_plain(m, LX_FAULT_GRID, NULL, "it is launched in other loops than those of its nest");
    if (!cores_in_place(o->launch, m->cores))
        fault_plain(m, LX_FAULT_GRID, NULL, "a core is launched twice, or at a place that is not its own");
}

void check_whole(struct machine *m)
{
    const struct lx_op_launch *o = &m->launches[m->tick];
    int64_t turns = 0;
    for (int64_t c = 0; c < m->cores; c++)
        turns += lx_op_launch_turns(o, c) > 0 ? lx_op_launch_turns(o, c) : 0;
    if (machine_op(m)->kind->traits & LX_EXTERN) {
        if (o->kind != LX_LAUNCH_NONE || turns > 0)
            fault_plain(m, LX_FAULT_PLAN, NULL, "it runs off the device and cannot be launched");
    } else if (turns == 0)
        fault_plain(m, LX_FAULT_NEVER, NULL, "no core computes it");
    else if (turns > 1)
        fault_plain(m, LX_FAULT_TWICE, NULL, "%lld turns compute it, but it is one piece", (long long)turns);
    else if (lx_op_launch_turns(o, 0) != 1)
        fault_plain(m, LX_FAULT_PART, NULL, "its operands are on the first core");
}
