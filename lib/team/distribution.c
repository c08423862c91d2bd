/* Where the elements of a distributed tensor are: partition, offsets, parts, slices of what is local. */
#include "team/distribution.h"
#include "base/checked.h"

/* The number of slice elements below `bound`: ceil((bound - offset) / stride) within 0 .. size. `unlimited`
 * drops the upper end. 128 bits: the last element may lie beyond 2^63. */
static int64_t elements_below(int64_t bound, int64_t offset, int64_t size, int64_t stride, bool unlimited)
{
    int128 distance = (int128)bound - offset;
    if (distance <= 0) return 0;
    int128 n = (distance + stride - 1) / stride;
    return n > size && !unlimited ? size : (int64_t)n;
}

struct lx_team_overlap lx_team_overlap_of(int64_t from, int64_t length, int64_t offset, int64_t size,
                                          int64_t stride)
{
    int64_t first = elements_below(from, offset, size, stride, false);
    int64_t end = elements_below(from + length, offset, size, stride, false);
    int128 at = (int128)offset + (int128)elements_below(from, offset, size, stride, true) * stride - from;
    return (struct lx_team_overlap){first, max_i64(end - first, 0), at > length ? length : (int64_t)at};
}

struct lx_team_box lx_team_default_partition(int devices, int device, int rank, const int64_t *shape, int cut)
{
    struct lx_team_box b = lx_team_box_of(rank, shape);
    if (cut < 0) return b;
    int64_t each = shape[cut] / devices, extra = shape[cut] % devices;
    b.size[cut] = each + (device + extra >= devices);
    b.offset[cut] = device * each + max_i64(0, extra - (devices - device));
    return b;
}

struct lx_team_array lx_team_array_of_box(int rank, const int64_t *shape, int cut,
                                          const struct lx_team_box *own)
{
    struct lx_team_array a = {.rank = rank, .shard = cut};
    for (int d = 0; d < rank; d++) {
        a.shape[d] = shape[d];
        a.offset[d] = own->offset[d];
        a.size[d] = own->size[d];
    }
    if (cut >= 0) a.part[LX_TEAM_OWN] = own->size[cut];
    return a;
}

struct lx_team_array lx_team_array_make(int devices, int device, int rank, const int64_t *shape, int cut)
{
    struct lx_team_box own = lx_team_default_partition(devices, device, rank, shape, cut);
    return lx_team_array_of_box(rank, shape, cut, &own);
}

int lx_team_parts_of(const struct lx_team_array *a, struct lx_team_box out[LX_TEAM_PARTS])
{
    int count = a->rank == 0 ? 1 : LX_TEAM_PARTS;
    int along = a->shard < 0 ? 0 : a->shard;
    int64_t at = a->rank > 0 ? a->offset[along] : 0;
    for (int i = 0; i < count; i++) {
        out[i] = lx_team_box_of(a->rank, a->size);
        for (int d = 0; d < a->rank; d++) out[i].offset[d] = a->offset[d];
        if (a->rank == 0) continue;
        int64_t extent = a->shard >= 0 ? a->part[i] : i == LX_TEAM_OWN ? a->size[along] : 0;
        if (a->shard < 0 && i == LX_TEAM_RIGHT) at = a->offset[along] + a->size[along];
        out[i].offset[along] = at;
        out[i].size[along] = extent;
        if (a->shard >= 0) at += extent;
    }
    return count;
}

struct lx_team_target lx_team_local_target_of_slice(const struct lx_team_array *a,
                                                    const struct lx_team_view *slice)
{
    struct lx_team_target t = {.target = {.rank = a->rank}};
    for (int d = 0; d < a->rank; d++) {
        struct lx_team_overlap o =
            lx_team_overlap_of(a->offset[d], a->size[d], slice->offset[d], slice->size[d], slice->stride[d]);
        t.target.offset[d] = o.skip;
        t.target.size[d] = o.size;
        t.local[d] = o.local;
    }
    return t;
}
