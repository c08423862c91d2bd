/* Distributed tensors made of others: repartitions, slices, insertions; and the loops over their parts. */
#include "team/distribution.h"
#include "base/checked.h"

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
    /* A box that lies wholly to the left of the own part is all left halo; one to the right, all right. */
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
        /* A source that is cut along another dimension, or not at all, is one piece along this one. */
        bool same = source->shard == along;
        int64_t size = same ? r.source.part[i] : i == LX_TEAM_OWN ? t.target.size[along] : 0;
        r.piece[i].source = done;
        r.piece[i].destination = t.local[along] + done * slice->stride[along];
        r.piece[i].size = size;
        done += size;
    }
    return r;
}
