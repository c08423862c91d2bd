/* Boxes of an index space, and distributed tensors: partitions, parts, slices, repartitions, insertions, and
 * loops over parts. */
#include "team/distribution.h"
#include "base/base.h"

bool lx_team_box_empty(const struct lx_team_box *b)
{
    for (int d = 0; d < b->rank; d++)
        if (b->size[d] <= 0) return true;
    return false;
}

/* A tensor's box has at most 2^53 bytes; larger boxes saturate. */
int64_t lx_team_box_elements(const struct lx_team_box *b)
{
    int64_t n = 1;
    if (lx_team_box_empty(b)) return 0;
    for (int d = 0; d < b->rank; d++)
        if (!mul_i64(n, b->size[d], &n)) return INT64_MAX;
    return n;
}

struct lx_team_box lx_team_box_of(int rank, const int64_t *shape)
{
    struct lx_team_box b = {.rank = rank};
    for (int d = 0; d < rank; d++) b.size[d] = shape[d];
    return b;
}

struct lx_team_box lx_team_box_meet(const struct lx_team_box *a, const struct lx_team_box *b)
{
    struct lx_team_box m = {.rank = a->rank};
    for (int d = 0; d < a->rank; d++) {
        int64_t end = min_i64(a->offset[d] + a->size[d], b->offset[d] + b->size[d]);
        m.offset[d] = max_i64(a->offset[d], b->offset[d]);
        m.size[d] = max_i64(end - m.offset[d], 0);
    }
    return m;
}

struct lx_team_box lx_team_box_hull(const struct lx_team_box *a, const struct lx_team_box *b)
{
    if (lx_team_box_empty(b)) return *a;
    if (lx_team_box_empty(a)) return *b;
    struct lx_team_box h = {.rank = a->rank};
    for (int d = 0; d < a->rank; d++) {
        int64_t end = max_i64(a->offset[d] + a->size[d], b->offset[d] + b->size[d]);
        h.offset[d] = min_i64(a->offset[d], b->offset[d]);
        h.size[d] = end - h.offset[d];
    }
    return h;
}

bool lx_team_box_within(const struct lx_team_box *inner, const struct lx_team_box *outer)
{
    if (lx_team_box_empty(inner)) return true;
    for (int d = 0; d < inner->rank; d++)
        if (inner->offset[d] < outer->offset[d] ||
            inner->offset[d] + inner->size[d] > outer->offset[d] + outer->size[d])
            return false;
    return true;
}

bool lx_team_box_equal(const struct lx_team_box *a, const struct lx_team_box *b)
{
    bool same = a->rank == b->rank;
    for (int d = 0; d < a->rank && same; d++) same = a->offset[d] == b->offset[d] && a->size[d] == b->size[d];
    return same;
}

/* The number of slice elements below `bound`: ceil((bound - offset) / stride) within 0 .. size. `unlimited`
 * drops the upper end. 128 bits: the last element may lie beyond 2^63. */
static int64_t distribution_below(int64_t bound, int64_t offset, int64_t size, int64_t stride, bool unlimited)
{
    int128 distance = (int128)bound - offset;
    if (distance <= 0) return 0;
    int128 n = (distance + stride - 1) / stride;
    return n > size && !unlimited ? size : (int64_t)n;
}

struct lx_team_overlap lx_team_overlap_of(int64_t from, int64_t length, int64_t offset, int64_t size,
                                          int64_t stride)
{
    int64_t first = distribution_below(from, offset, size, stride, false);
    int64_t end = distribution_below(from + length, offset, size, stride, false);
    int128 at = (int128)offset + (int128)distribution_below(from, offset, size, stride, true) * stride - from;
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

/* offset + index * stride; a target far outside its view may lie beyond what 64 bits hold. */
static int64_t distribution_place(int64_t offset, int64_t index, int64_t stride)
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
        /* A target that misses the view needs only the position where it would begin. */
        need.offset[d] =
            distribution_place(view->offset[d], count > 0 ? first : target->offset[d], view->stride[d]);
        need.size[d] = count > 0 ? distribution_place(1, count - 1, view->stride[d]) : 0;
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

struct lx_team_array lx_team_repartition(const struct lx_team_array *a, const struct lx_team_box *box,
                                         int64_t own_view[LX_MAX_RANK])
{
    struct lx_team_array r = *a;
    struct lx_team_box parts[LX_TEAM_PARTS], whole;
    const struct lx_team_box *own = &parts[lx_team_parts_of(a, parts) == 1 ? 0 : LX_TEAM_OWN];
    if (!box) {
        whole = lx_team_box_of(a->rank, a->shape);
        box = lx_team_box_elements(&whole) == 1 ? &whole : own;
    }
    for (int d = 0; d < a->rank; d++) {
        r.offset[d] = box->offset[d];
        r.size[d] = box->size[d];
        own_view[d] = max_i64(box->offset[d] - own->offset[d], 0);
    }
    if (a->shard < 0) return r;
    int64_t o = own->offset[a->shard], end = box->offset[a->shard] + box->size[a->shard];
    int64_t first = max_i64(o, box->offset[a->shard]);
    int64_t held = max_i64(min_i64(o + own->size[a->shard], end) - first, 0);
    /* A box entirely left of the own part is all left halo, to the right all right halo. */
    r.part[LX_TEAM_LEFT] = min_i64(first, end) - box->offset[a->shard];
    r.part[LX_TEAM_OWN] = held;
    r.part[LX_TEAM_RIGHT] = max_i64(end - (first + held), 0);
    return r;
}

struct lx_team_subview lx_team_subview_of(const struct lx_team_array *a, const struct lx_team_view *view,
                                          const struct lx_team_box *target)
{
    struct lx_team_subview s = {0};
    struct lx_team_box parts[LX_TEAM_PARTS];
    int count = lx_team_parts_of(a, parts);
    for (int d = 0; d < a->rank; d++) {
        int64_t skipped = target ? target->offset[d] : 0;
        int64_t offset = view->offset[d] + skipped * view->stride[d];
        s.shape[d] = target ? target->size[d] : view->size[d];
        for (int i = 0; i < count; i++) {
            struct lx_team_overlap o =
                lx_team_overlap_of(parts[i].offset[d], parts[i].size[d], offset, s.shape[d], view->stride[d]);
            if (i == 0) s.offset[d] = o.skip + skipped;
            s.part[i].rank = a->rank;
            s.part[i].offset[d] = o.local;
            s.part[i].size[d] = o.size;
        }
    }
    return s;
}

int lx_team_elementwise_loops(const int64_t *const *parts, int operands, const struct lx_team_range *core,
                              struct lx_team_range out[LX_TEAM_LOOPS])
{
    int64_t cut[LX_TEAM_LOOPS + 1] = {0}, total = 0;
    int cuts = 1, loops = 0;
    for (int i = 0; i < operands; i++) {
        int64_t at = 0;
        for (int p = 0; parts[i] && p < LX_TEAM_PARTS; p++) cut[cuts++] = at += parts[i][p];
        total = max_i64(total, at);
    }
    struct lx_team_range middle = {0, 0};
    if (core) {
        middle.begin = max_i64(0, min_i64(core->begin, total));
        middle.end = max_i64(middle.begin, min_i64(core->end, total));
        cut[cuts++] = middle.begin;
        cut[cuts++] = middle.end;
    }
    for (int i = 1; i < cuts; i++)
        for (int k = i; k > 0 && cut[k - 1] > cut[k]; k--) {
            int64_t swap = cut[k];
            cut[k] = cut[k - 1];
            cut[k - 1] = swap;
        }
    if (middle.end > middle.begin) out[loops++] = middle;
    for (int i = 1; i < cuts; i++) {
        bool in_core = cut[i - 1] >= middle.begin && cut[i] <= middle.end;
        if (cut[i] > cut[i - 1] && !in_core) out[loops++] = (struct lx_team_range){cut[i - 1], cut[i]};
    }
    return loops;
}

struct lx_team_box lx_team_reduction_of(const struct lx_team_array *a, unsigned reduced, bool *combine)
{
    struct lx_team_box parts[LX_TEAM_PARTS];
    int count = lx_team_parts_of(a, parts);
    *combine = a->shard >= 0 && (reduced >> a->shard & 1);
    return parts[count == 1 ? 0 : LX_TEAM_OWN];
}

struct lx_team_insertion lx_team_insert_slice(const struct lx_team_array *destination,
                                              const struct lx_team_view *slice,
                                              const struct lx_team_array *source)
{
    struct lx_team_insertion r = {0};
    struct lx_team_target t = lx_team_local_target_of_slice(destination, slice);
    int64_t own_view[LX_MAX_RANK];
    int along = destination->shard < 0 ? 0 : destination->shard;
    r.source = lx_team_repartition(source, &t.target, own_view);
    if (destination->rank == 0) return r;
    int64_t done = 0;
    for (int i = 0; i < LX_TEAM_PARTS; i++) {
        /* A replicated source, or one sharded along another dimension, is one piece along this one. */
        bool same = source->shard == along;
        int64_t size = same ? r.source.part[i] : i == LX_TEAM_OWN ? t.target.size[along] : 0;
        r.piece[i].source = done;
        r.piece[i].destination = t.local[along] + done * slice->stride[along];
        r.piece[i].size = size;
        done += size;
    }
    return r;
}
