/* Two buffers of a list that share bytes only because a loop goes on: which loop, and what it finds lost. */
#include "check/check.h"

/* The innermost loop that needs `lost` in its next iteration, and in which `by` is written; NULL: none. */
static const struct lx_list_loop *loop_between(const struct lx_list *list, const struct lx_buffer *lost,
                                               const struct lx_buffer *by)
{
    const struct lx_list_loop *found = NULL;
    bool carried = lost->first_use_is_read; /* by a loop, to the next iteration */
    int64_t least = lost->uses[0], most = lost->uses[lost->use_count - 1];
    int64_t first = carried ? most : least, last = carried ? least : most;
    int64_t written = by->uses[by->first_use_is_read ? by->use_count - 1 : 0];
    if (!carried && written <= last) return NULL; /* they overlap in one iteration */
    for (int32_t k = 0; k < list->loop_count; k++) {
        const struct lx_list_loop *l = &list->loops[k];
        bool has_first = l->first <= first && first < l->end;
        if (l->times != 1 && l->first <= last && last < l->end && l->first <= written && written < l->end &&
            carried == has_first)
            found = l;
    }
    return found;
}

bool check_loops(const struct lx_list *list, const int64_t *address, const int32_t *pool, lx_status *st)
{
    for (int32_t i = 0; list->loop_count && i < list->buffer_count; i++)
        for (int32_t k = 0; k < list->buffer_count; k++) {
            const struct lx_buffer *lost = &list->buffers[i], *by = &list->buffers[k];
            int64_t from = max_i64(address[i], address[k]),
                    to = min_i64(address[i] + lost->size, address[k] + by->size);
            if (i == k || address[i] < 0 || address[k] < 0 || (pool && pool[i] != pool[k]) || from >= to ||
                !lx_lives_meet(lost, by))
                continue;
            const struct lx_list_loop *l = loop_between(list, lost, by);
            if (!l) continue;
            return status_set(st, LX_E_NO,
                              "buffer %s at [%lld, %lld) overwrites bytes [%lld, %lld) of %s at [%lld, "
                              "%lld), which loop %s "
                              "uses at %lld again: iteration 2 finds them lost",
                              by->name, (long long)address[k], (long long)(address[k] + by->size),
                              (long long)from, (long long)to, lost->name, (long long)address[i],
                              (long long)(address[i] + lost->size), l->name,
                              (long long)lost->uses[lost->first_use_is_read ? 0 : lost->use_count - 1]);
        }
    return true;
}
