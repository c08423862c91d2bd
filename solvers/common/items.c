/* Builds the searchable form of a problem; see items.h. */
#include "common/items.h"
#include "common/poll.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

ORDER(items_compare_items, struct item, ORDER_UP(start) ORDER_UP(buffer));

/* Can the buffer have any address at all, and does it matter where, or whether? */
static bool is_item(const struct items *it, const struct lx_buffer *b)
{
    const struct lx_problem *p = it->problem;
    if (!lx_may_be_placed(p, b) || (b->size == 0 && !it->has_empty)) return false;
    return b->fixed < 0 || p->objective == LX_HEIGHT || b->fixed <= p->capacity - b->size;
}

/* An empty buffer conflicts with nothing and is always placed, unless its one address is out of reach. */
static bool empty_is_placed(const struct items *it, const struct lx_buffer *b)
{
    const struct lx_problem *p = it->problem;
    return b->size == 0 && !it->has_empty && !b->reason &&
           (b->fixed <= p->capacity || p->objective == LX_HEIGHT);
}

static void items_fill_items(struct items *it, const struct lx_problem *p)
{
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (!is_item(it, b)) {
            if (empty_is_placed(it, b)) {
                it->empty_top = max_i64(it->empty_top, b->fixed);
                continue;
            }
            it->lost += b->spill_cost;
            it->hopeless += !b->reason;
            continue;
        }
        it->lost += lx_on_cost(b, 0);
        int64_t unit = p->alignment, align = lx_alignment_of(p, b) / unit;
        int64_t last =
            p->objective == LX_HEIGHT ? ITEM_NO_LIMIT : (p->capacity - b->size) / unit / align * align;
        it->item[it->count++] = (struct item){
            .start = b->start,
            .end = b->end,
            .size = ceil_div_i64(b->size, unit),
            .align = align,
            .fixed = b->fixed < 0 ? -1 : b->fixed / unit,
            .last = last,
            .bytes = b->size,
            .cost = b->spill_cost - lx_on_cost(b, 0),
            .buffer = i,
        };
    }
    qsort(it->item, (size_t)it->count, sizeof *it->item, items_compare_items);
}

/* One pass over the starts: `live` holds the earlier items that may still be alive. With `near` NULL it only
 * counts; it stops early once there are more pairs than allowed. */
static int64_t items_pair_up(const struct items *it, int32_t *live, size_t *fill, int32_t *near,
                             int64_t max_pairs, struct poll *poll)
{
    int64_t pairs = 0;
    int32_t alive = 0;
    for (int32_t i = 0; i < it->count; i++) {
        int32_t kept = 0;
        if (it->item[i].size == 0) continue;
        for (int32_t k = 0; k < alive; k++) {
            int32_t other = live[k];
            if (it->item[other].end <= it->item[i].start) continue;
            live[kept++] = other;
            if (near) {
                near[fill[i]] = other;
                near[fill[other]] = i;
            }
            fill[i]++;
            fill[other]++;
        }
        pairs += kept;
        if (pairs > max_pairs || poll_stopped(poll, 8 + alive)) return pairs;
        live[kept] = i;
        alive = kept + 1;
    }
    return pairs;
}

/* Stopped meanwhile it is as if there were too many. */
static void make_pairs(struct items *it, int64_t max_pairs, const struct lx_run *run)
{
    size_t n = (size_t)it->count;
    struct poll poll = {.run = run};
    int32_t *live = mem_alloc((n + 1) * sizeof *live);
    size_t *fill = mem_zeroed(n + 1, sizeof *fill);
    it->first = mem_zeroed(n + 1, sizeof *it->first);
    it->pairs = items_pair_up(it, live, fill, NULL, max_pairs, &poll);
    if (it->pairs <= max_pairs && !poll.stopped) {
        for (size_t i = 0; i < n; i++) {
            it->first[i + 1] = it->first[i] + fill[i];
            fill[i] = it->first[i];
        }
        it->near = mem_alloc((it->first[n] + 1) * sizeof *it->near);
        items_pair_up(it, live, fill, it->near, max_pairs, &poll);
    }
    if (poll.stopped) {
        mem_free(it->near);
        it->near = NULL;
    }
    mem_free(live);
    mem_free(fill);
}

/* Alignments never forbid it: 0 and every other common multiple is a base for both. */
static bool may_share(const struct item *parent, const struct item *child)
{
    if (parent->fixed >= 0 && child->fixed >= 0) return parent->fixed == child->fixed;
    return (parent->fixed < 0 || parent->fixed % child->align == 0) &&
           (child->fixed < 0 || child->fixed % parent->align == 0);
}

static void make_edges(struct items *it, const struct lx_problem *p)
{
    size_t n = (size_t)it->count, total = 0;
    int32_t *of_buffer = mem_alloc(((size_t)p->count + 1) * sizeof *of_buffer);
    it->edge_first = mem_zeroed(n + 2, sizeof *it->edge_first);
    for (int32_t i = 0; i < p->count; i++) of_buffer[i] = NO_ITEM;
    for (int32_t i = 0; i < it->count; i++) {
        of_buffer[it->item[i].buffer] = i;
        total += (size_t)p->buffers[it->item[i].buffer].parent_count;
    }
    it->edge = mem_alloc((total + 1) * sizeof *it->edge);
    it->edge_of = mem_alloc((2 * total + 1) * sizeof *it->edge_of);
    for (int32_t i = 0; i < it->count; i++) {
        const struct lx_buffer *b = &p->buffers[it->item[i].buffer];
        for (int32_t k = 0; k < b->parent_count; k++) {
            int32_t parent = of_buffer[b->parents[k]];
            if (parent == NO_ITEM || it->item[i].size == 0 || !may_share(&it->item[parent], &it->item[i]))
                continue;
            it->edge[it->edge_count++] = (struct edge){parent, i};
            it->edge_first[parent + 2]++;
            it->edge_first[i + 2]++;
        }
    }
    for (size_t i = 2; i < n + 2; i++) it->edge_first[i] += it->edge_first[i - 1];
    for (int32_t e = 0; e < it->edge_count; e++) {
        it->edge_of[it->edge_first[it->edge[e].parent + 1]++] = e;
        it->edge_of[it->edge_first[it->edge[e].child + 1]++] = e;
    }
    mem_free(of_buffer);
}

void items_free(struct items *it)
{
    mem_free(it->item);
    mem_free(it->first);
    mem_free(it->near);
    mem_free(it->edge);
    mem_free(it->edge_first);
    mem_free(it->edge_of);
    *it = (struct items){0};
}

void items_make(struct items *it, const struct lx_problem *p, int64_t max_pairs, const struct lx_run *run)
{
    /* Does it matter whether an empty buffer is placed? */
    *it = (struct items){.problem = p,
                         .has_empty =
                             p->objective == LX_SPILL &&
                             (lx_problem_needs(p) & (LX_CAN_CHARGES | LX_CAN_MUST | LX_CAN_TOGETHER)) != 0};
    it->item = mem_alloc(((size_t)p->count + 1) * sizeof *it->item);
    items_fill_items(it, p);
    make_pairs(it, max_pairs, run);
    make_edges(it, p);
}

void items_answer(const struct items *it, const int64_t *base, int64_t *address)
{
    const struct lx_problem *p = it->problem;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        address[i] = !empty_is_placed(it, b) ? LX_OFF_CHIP : b->fixed >= 0 ? b->fixed : 0;
    }
    for (int32_t i = 0; i < it->count; i++)
        if (base[i] >= 0) address[it->item[i].buffer] = base[i] * p->alignment;
}

void items_from_answer(const struct items *it, const int64_t *address, int64_t *base)
{
    for (int32_t i = 0; i < it->count; i++) {
        int64_t at = address[it->item[i].buffer];
        base[i] = at < 0 ? NOT_PLACED : at / it->problem->alignment;
    }
}

int64_t items_spill(const struct items *it, const int64_t *base)
{
    int64_t spill = 0;
    for (int32_t i = 0; i < it->count; i++)
        if (base[i] < 0) spill += it->item[i].cost;
    return spill;
}

int64_t items_height(const struct items *it, const int64_t *base)
{
    int64_t height = it->empty_top;
    for (int32_t i = 0; i < it->count; i++)
        if (base[i] >= 0) height = max_i64(height, base[i] * it->problem->alignment + it->item[i].bytes);
    return height;
}

bool items_all_placed(const struct items *it, const int64_t *base)
{
    for (int32_t i = 0; i < it->count; i++)
        if (base[i] < 0) return false;
    return true;
}
