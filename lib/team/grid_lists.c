/* What a file says of grids, as lists of numbers: everything is taken as it stands, within the bounds that whoever uses the
 * plan relies on. */
#include "team/team_file.h"

/* Ranges of each variable that is cut, device by device; `from` says which these are. NULL: they do not lie in
 * `extent`. */
const struct lx_team_space *team_take_ranges(const struct lx_team_plan *p, const struct int_list *list,
                                             const struct lx_team_space *from, const int64_t *extent)
{
    int n = p->devices;
    struct lx_team_space *out = arena_array(p->memory, (size_t)n, sizeof *out);
    if (!out || list->count != 2 * n * from->loops) return NULL;
    for (int m = 0; m < n; m++) out[m] = *from;
    for (int k = 0; k < n * from->loops; k++) {
        struct lx_team_range range = {list->at[2 * k], list->at[2 * k + 1]};
        int64_t most = extent ? extent[from->var[k / n]] : INT64_MAX;
        if (range.begin < 0 || range.end < range.begin || range.end > most) return NULL;
        out[k % n].range[k / n] = range;
    }
    return out;
}

/* What each axis cuts, of `count` things, or that these are `parts` sorts of parts: a number of its own for a row. */
bool team_take_axes(const struct lx_team_plan *p, int64_t one, const struct int_list *all, int count,
                    int parts, int cut[LX_TEAM_AXES])
{
    int axes = p->grid.axes;
    for (int a = 0; a < LX_TEAM_AXES; a++) cut[a] = -1;
    if (all->count != 0 && (all->count != axes || one != -1)) return false;
    if (all->count == 0 && one != -1 && axes > 1) return false;
    for (int a = 0; a < axes; a++) {
        int64_t c = all->count ? all->at[a] : one;
        if (c <= LX_TEAM_PARTIAL - parts || c >= count) return false;
        cut[a] = (int)c;
    }
    return true;
}

/* The bounds of one dimension; they lie at `at` of the list. */
bool team_take_bounds(const struct lx_tensor *tensor, int dim, int blocks, const struct int_list *list,
                      int32_t *at, struct lx_team_tensor *out)
{
    if (list->count - *at < blocks + 1) return false;
    const int64_t *bound = list->at + *at;
    for (int b = 0; b <= blocks; b++)
        if (bound[b] < 0 || bound[b] > tensor->shape[dim] || (b > 0 && bound[b] < bound[b - 1])) return false;
    out->bound[dim] = bound;
    *at += blocks + 1;
    return true;
}

bool team_take_grid(struct lx_team_plan *p, const struct int_list *sizes)
{
    int64_t devices = 1;
    if (sizes->count > LX_TEAM_AXES) return false;
    p->grid = (struct lx_team_grid){sizes->count ? (int)sizes->count : 1, {p->devices}};
    for (int a = 0; a < sizes->count; a++) {
        if (sizes->at[a] < 1 || sizes->at[a] > p->devices) return false;
        p->grid.size[a] = (int)sizes->at[a];
        devices *= sizes->at[a];
    }
    return sizes->count == 0 || devices == p->devices;
}

bool team_lies_in(const struct lx_team_plan *p, const struct lx_team_space *core,
                  const struct lx_team_space *all)
{
    for (int m = 0; m < p->devices; m++) {
        if (core[m].loops != all[m].loops) return false;
        for (int l = 0; l < core[m].loops; l++)
            if (core[m].range[l].begin < all[m].range[l].begin || core[m].range[l].end > all[m].range[l].end)
                return false;
    }
    return true;
}
