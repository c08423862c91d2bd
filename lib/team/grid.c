/* Devices as a grid: coordinates, and the blocks that follow from them. */
#include "team/team_private.h"

int lx_team_device_count(const struct lx_team_grid *grid)
{
    int devices = 1;
    for (int a = 0; a < grid->axes; a++) devices *= grid->size[a];
    return devices;
}

bool lx_team_grid_of_text(const char *text, struct lx_team_grid *grid, lx_status *st)
{
    const char *at = text;
    int64_t devices = 1;
    struct lx_team_grid read = {0};
    for (bool more = true; more && read.axes < LX_TEAM_AXES;) {
        char *end = NULL;
        long long n = strtoll(at, &end, 10);
        if (end == at || n < 1 || n > LX_TEAM_DEVICES) break;
        read.size[read.axes++] = (int)n;
        devices *= n;
        more = *end == 'x';
        at = end + more;
        if (!more && *end == 0 && devices <= LX_TEAM_DEVICES) return *grid = read, true;
    }
    return status_set(st, LX_E_USAGE,
                      "team %.60s: write how many devices there are, or a grid of up to %d axes (2x4); 1 to "
                      "%d devices in all",
                      text, LX_TEAM_AXES, LX_TEAM_DEVICES);
}

int lx_team_coordinate(const struct lx_team_grid *grid, int device, int axis)
{
    for (int a = grid->axes - 1; a > axis; a--) device /= grid->size[a];
    return device % grid->size[axis];
}

unsigned lx_team_axes_between(const struct lx_team_grid *grid, int a, int b)
{
    unsigned axes = 0;
    for (int i = 0; i < grid->axes; i++)
        if (lx_team_coordinate(grid, a, i) != lx_team_coordinate(grid, b, i)) axes |= 1u << i;
    return axes;
}

int lx_team_blocks(const struct lx_team_grid *grid, const int cut[LX_TEAM_AXES], int what)
{
    int blocks = 1;
    for (int a = 0; a < grid->axes; a++)
        if (cut[a] == what) blocks *= grid->size[a];
    return blocks;
}

int lx_team_block(const struct lx_team_grid *grid, const int cut[LX_TEAM_AXES], int what, int device)
{
    int block = 0;
    for (int a = 0; a < grid->axes; a++)
        if (cut[a] == what) block = block * grid->size[a] + lx_team_coordinate(grid, device, a);
    return block;
}

bool lx_team_is_replicated(const struct lx_team_tensor *t)
{
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (t->shard[a] != -1) return false;
    return true;
}

bool lx_team_is_partial(const struct lx_team_tensor *t)
{
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (t->shard[a] == LX_TEAM_PARTIAL) return true;
    return false;
}

bool lx_team_serves(const struct lx_team_grid *grid, const struct lx_team_tensor *t, int from, int to)
{
    for (int a = 0; a < grid->axes; a++)
        if (t->shard[a] < 0 && lx_team_coordinate(grid, from, a) != lx_team_coordinate(grid, to, a))
            return false;
    return true;
}

struct lx_team_box team_own_box(const struct lx_team_grid *grid, const struct lx_tensor *t,
                                const struct lx_team_tensor *how, int device)
{
    struct lx_team_box b = lx_team_box_of(t->rank, t->shape);
    for (int d = 0; d < t->rank; d++) {
        if (!how->bound[d]) continue;
        int block = lx_team_block(grid, how->shard, d, device);
        b.offset[d] = how->bound[d][block];
        b.size[d] = how->bound[d][block + 1] - how->bound[d][block];
    }
    return b;
}

struct lx_team_box lx_team_sent(const struct lx_team_grid *grid, const struct lx_tensor *tensor,
                                const struct lx_team_tensor *t, const struct lx_team_exchange *x, int from,
                                int to)
{
    struct lx_team_box theirs = team_own_box(grid, tensor, t, from), none = {.rank = 1};
    if (!lx_team_serves(grid, t, from, to)) return none;
    int apart = 0; /* dimensions along which `from` and `to` have different blocks */
    for (int d = 0; d < LX_MAX_RANK; d++)
        apart +=
            t->bound[d] && lx_team_block(grid, t->shard, d, from) != lx_team_block(grid, t->shard, d, to);
    if (x->sides && apart > 1) return none;
    return lx_team_box_meet(&theirs, &x->box[to]);
}

int team_beside(const struct lx_team_box *need, const struct lx_team_box *own)
{
    int dims = 0;
    for (int d = 0; d < need->rank && !lx_team_box_empty(need); d++)
        dims += need->offset[d] < own->offset[d] ||
                need->offset[d] + need->size[d] > own->offset[d] + own->size[d];
    return dims;
}

bool lx_team_space_empty(const struct lx_team_space *s)
{
    for (int l = 0; l < s->loops; l++)
        if (s->range[l].end <= s->range[l].begin) return true;
    return false;
}

int team_loop_of(const struct lx_team_space *s, int var)
{
    for (int l = 0; l < s->loops; l++)
        if (s->var[l] == var) return l;
    return -1;
}

bool team_shards_sum(const struct op_index *x, const int var[LX_TEAM_AXES], int axis)
{
    return var[axis] <= LX_TEAM_PARTIAL || (var[axis] >= 0 && op_index_reduced(x, var[axis]));
}

bool team_adds_with(const struct lx_team_grid *grid, const struct op_index *x, const int var[LX_TEAM_AXES],
                    int device, int other)
{
    for (int a = 0; a < grid->axes; a++)
        if (!team_shards_sum(x, var, a) &&
            lx_team_coordinate(grid, device, a) != lx_team_coordinate(grid, other, a))
            return false;
    return true;
}

bool team_scatters(const struct lx_team_grid *grid, const struct op_index *x, const int var[LX_TEAM_AXES],
                   const struct lx_team_tensor *out)
{
    for (int a = 0; a < grid->axes; a++)
        if (team_shards_sum(x, var, a) && out->shard[a] >= 0) return true;
    return false;
}

struct lx_team_box team_share_of(const struct lx_graph *g, const struct lx_team_grid *grid,
                                 const struct lx_team_tensor *tensors, const int var[LX_TEAM_AXES],
                                 int32_t op, int device)
{
    const struct lx_tensor *out = &g->tensors[g->ops[op].output];
    const struct lx_team_tensor *how = &tensors[g->ops[op].output];
    struct lx_team_box own = team_own_box(grid, out, how, device), none = {.rank = 1};
    struct op_index x;
    int parts = 1, part = 0;
    op_index_of(g, &g->ops[op], &x);
    if (team_scatters(grid, &x, var, how)) return own;
    for (int a = 0; a < grid->axes; a++) {
        if (!team_shards_sum(&x, var, a)) continue;
        parts *= grid->size[a];
        part = part * grid->size[a] + lx_team_coordinate(grid, device, a);
    }
    if (out->rank > 0) {
        /* An equal part of the box along its longest dimension, or along the first with at least `parts`
         * elements. */
        int longest = 0;
        for (int d = 1; d < own.rank; d++)
            if (own.size[d] > own.size[longest] && own.size[longest] < parts) longest = d;
        struct lx_team_box b = lx_team_default_partition(parts, part, own.rank, own.size, longest);
        for (int d = 0; d < own.rank; d++) b.offset[d] += own.offset[d];
        return b;
    }
    return part == 0 ? own : none; /* a box of rank 0 is never empty */
}
