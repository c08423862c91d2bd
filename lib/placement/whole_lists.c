/* Plain lists of which every buffer must have a place: fixed addresses that exclude each other, and what is done about those
 * that a solver was stopped before. Both O(n log n) at most. */
#include "placement/solve.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>

static bool is_pinned(const struct lx_problem *p, int32_t i)
{
    return p->buffers[i].fixed >= 0 && lx_may_be_placed(p, &p->buffers[i]);
}

static bool whole_lists_is_plain_list(const struct lx_problem *p)
{
    return !p->pool_count && !lx_problem_needs(p);
}

/* The checker tells, of an answer in which nobody else is placed: whatever else is, two that share a byte go on sharing it. */
bool pins_clash(const struct lx_problem *p)
{
    int32_t pinned = 0;
    for (int32_t i = 0; i < p->count; i++) pinned += is_pinned(p, i);
    if (!whole_lists_is_plain_list(p) || pinned < 2) return false;
    struct lx_problem alone = *p;
    int64_t *address = mem_alloc(((size_t)p->count + 1) * sizeof *address), value;
    enum lx_rule rule = LX_RULE_NONE;
    lx_status why = {0};
    for (int32_t i = 0; i < p->count; i++) address[i] = is_pinned(p, i) ? p->buffers[i].fixed : LX_OFF_CHIP;
    alone.objective = LX_SPILL;
    if (p->objective == LX_HEIGHT) alone.capacity = INT64_MAX / 4;
    bool legal = lx_check_places(&alone, NULL, address, &value, &rule, &why);
    mem_free(address);
    return !legal && rule == LX_RULE_OVERLAP;
}

void stack_left_out(const struct lx_problem *p, int64_t *address)
{
    int64_t top = 0;
    if (p->objective != LX_HEIGHT || !whole_lists_is_plain_list(p)) return;
    /* Fixed ones first: where one of them had no place yet, others may lie there, and all of these begin anew. */
    bool late = false;
    for (int32_t i = 0; i < p->count; i++) late |= is_pinned(p, i) && address[i] < 0;
    for (int32_t i = 0; late && i < p->count; i++)
        address[i] = is_pinned(p, i) ? p->buffers[i].fixed : LX_OFF_CHIP;
    for (int32_t i = 0; i < p->count; i++)
        if (address[i] >= 0) top = max_i64(top, address[i] + p->buffers[i].size);
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (address[i] >= 0 || !lx_may_be_placed(p, b)) continue;
        address[i] = round_up_i64(top, lx_alignment_of(p, b));
        top = address[i] + b->size;
    }
}
