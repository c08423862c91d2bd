/* What a device needs of a base, and for what part of it nobody else is needed. */
#include "team/distribution.h"
#include "base/checked.h"

/* offset + index * stride; a target far outside its view may lie beyond what 64 bits hold. */
static int64_t view_needs_place_of(int64_t offset, int64_t index, int64_t stride)
{
    const int64_t limit = INT64_MAX / 4;
    int128 at = (int128)offset + (int128)index * stride;
    return at > limit ? limit : at < -limit ? -limit : (int64_t)at;
}

struct lx_team_box lx_team_local_bounding_box(const struct lx_team_view *view,
                                              const struct lx_team_box *target, const struct lx_team_box *box,
                                              bool inner)
{
    struct lx_team_box need = {.rank = view->rank};
    for (int d = 0; d < view->rank; d++) {
        int64_t first = max_i64(target->offset[d], 0);
        int64_t count = min_i64(target->offset[d] + target->size[d], view->size[d]) - first;
        /* Of a target that misses the view, the place where it would begin is all there is. */
        need.offset[d] =
            view_needs_place_of(view->offset[d], count > 0 ? first : target->offset[d], view->stride[d]);
        need.size[d] = count > 0 ? view_needs_place_of(1, count - 1, view->stride[d]) : 0;
    }
    if (!box) return need;
    if (inner) return lx_team_box_meet(box, &need);
    return lx_team_box_empty(box) ? need : lx_team_box_hull(box, &need);
}

struct lx_team_box lx_team_local_core(const struct lx_team_array *a, const struct lx_team_view *view,
                                      const struct lx_team_box *target, const struct lx_team_box *core)
{
    struct lx_team_box parts[LX_TEAM_PARTS], found = *target;
    int count = lx_team_parts_of(a, parts);
    const struct lx_team_box *own = &parts[count == 1 ? 0 : LX_TEAM_OWN];
    for (int d = 0; d < a->rank; d++) {
        struct lx_team_overlap o =
            lx_team_overlap_of(own->offset[d], own->size[d], view->offset[d], view->size[d], view->stride[d]);
        int64_t end = min_i64(target->offset[d] + target->size[d], o.skip + o.size);
        found.offset[d] = max_i64(target->offset[d], o.skip);
        if (core) {
            found.offset[d] = max_i64(found.offset[d], core->offset[d]);
            end = min_i64(end, core->offset[d] + core->size[d]);
        }
        found.size[d] = max_i64(end - found.offset[d], 0);
    }
    return found;
}
