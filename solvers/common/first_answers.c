/* First answers: each order of the items, placed one by one at the lowest address that is free.
 *
 * The first order is the score of the established first-fit planner, so that on easy problems people see the
 * addresses they know; the others favour cost per byte and tick, cost per byte, size, area, time. One lowest
 * fit costs O(d log d) for d conflicts. Problems too dense for lists of conflicts are swept over time with
 * the sorted list of live ranges instead: O(n * live), in practice far less than a search step per buffer. */
#include "common/first_answers.h"
#include "common/poll.h"
#include "base/arena.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

static bool clear_of_others(const struct items *it, int32_t i, int32_t partner, int64_t at,
                            const int64_t *base)
{
    int64_t top = at + it->item[i].size;
    for (size_t k = it->first[i]; k < it->first[i + 1]; k++) {
        int32_t other = it->near[k];
        if (other != partner && base[other] >= 0 && base[other] < top &&
            at < base[other] + it->item[other].size)
            return false;
    }
    return true;
}

/* A partner's slot, if one can be shared: the child no larger than its parent, each slot handed over once. */
static int64_t shared_fit(const struct items *it, int32_t i, const int64_t *base, struct sharing *share)
{
    const struct item *b = &it->item[i];
    for (int32_t k = it->edge_first[i]; k < it->edge_first[i + 1]; k++) {
        struct edge e = it->edge[it->edge_of[k]];
        int32_t other = e.parent == i ? e.child : e.parent;
        int64_t at = base[other];
        if (at < 0 || share[e.parent].child != NO_ITEM || share[e.child].parent != NO_ITEM) continue;
        if (at % b->align != 0 || at > b->last || (b->fixed >= 0 && b->fixed != at)) continue;
        if (!clear_of_others(it, i, other, at, base)) continue;
        share[e.parent].child = e.child;
        share[e.child].parent = e.parent;
        return at;
    }
    return NOT_PLACED;
}

int64_t lowest_fit(const struct items *it, int32_t i, const int64_t *base, struct sharing *share,
                   struct byte_range *scratch, struct taken_bits *map)
{
    const struct item *b = &it->item[i];
    int64_t at = shared_fit(it, i, base, share);
    if (at >= 0) return at;
    if (b->fixed >= 0) return clear_of_others(it, i, NO_ITEM, b->fixed, base) ? b->fixed : NOT_PLACED;
    size_t taken = 0;
    for (size_t k = it->first[i]; k < it->first[i + 1]; k++) {
        int32_t other = it->near[k];
        if (base[other] >= 0)
            scratch[taken++] = (struct byte_range){base[other], base[other] + it->item[other].size};
    }
    taken = taken_join(map, scratch, taken);
    at = 0;
    for (size_t k = 0; k < taken && scratch[k].from < at + b->size; k++)
        if (scratch[k].to > at) at = item_align(b, scratch[k].to);
    return at <= b->last ? at : NOT_PLACED;
}

void lowest_fit_map(const struct items *it, struct taken_bits *map)
{
    const struct lx_problem *p = it->problem;
    bool limited = p->objective != LX_HEIGHT && p->capacity < INT64_MAX / 4;
    taken_bits_of_units(map, limited ? ceil_div_i64(p->capacity, p->alignment) : 0);
}

struct ranked {
    double major, minor; /* smaller comes first, the problem's own order decides ties */
    int32_t buffer, item;
};

ORDER(first_answers_compare_ranked, struct ranked, ORDER_UP(major) ORDER_UP(minor) ORDER_UP(buffer));

enum start_order {
    BY_WORTH, /* what belongs on chip by its size, then the others by their worth */
    BY_SCORE,
    BY_DENSITY,
    BY_COST_PER_BYTE,
    BY_SIZE,
    BY_AREA,
    BY_COST,
    BY_START,
    START_ORDERS
};

static void rank_item(const struct items *it, const int64_t *worth, int32_t i, enum start_order order,
                      struct ranked *r)
{
    const struct item *b = &it->item[i];
    const struct lx_buffer *buffer = &it->problem->buffers[b->buffer];
    double span = (double)(b->end - b->start), size = (double)b->size, cost = (double)b->cost;
    double uses = buffer->use_count + (buffer->first_use_is_read ? 0.0 : 0.5);
    bool is_parent = false, is_child = false;
    *r = (struct ranked){.item = i, .buffer = b->buffer, .minor = span};
    switch (order) {
    case BY_WORTH:
        r->major = worth[i] >= WORTH_ONE ? -size : 2 - (double)worth[i] / (double)WORTH_ONE;
        break;
    case BY_SCORE:
        for (int32_t k = it->edge_first[i]; k < it->edge_first[i + 1]; k++) {
            bool as_child = it->edge[it->edge_of[k]].child == i;
            is_child |= as_child;
            is_parent |= !as_child;
        }
        r->major = (span - 0.25 * is_child - 0.25 * is_parent) / (uses > 0 ? uses : 0.5);
        break;
    case BY_DENSITY:
        r->major = -cost / (size * span);
        break;
    case BY_COST_PER_BYTE:
        r->major = -cost / size;
        break;
    case BY_SIZE:
        r->major = -size;
        break;
    case BY_AREA:
        r->major = -size * span;
        break;
    case BY_COST:
        r->major = -cost;
        break;
    case BY_START:
    default:
        r->major = (double)b->start;
        break;
    }
}

struct placing {
    const struct items *it;
    const bool *keep;
    int64_t *base;
    bool *done;
    bool by_rank; /* parents wait for their turn */
    struct sharing *share;
    struct byte_range *scratch;
    struct taken_bits map;
    struct poll *poll;
};

/* Parents before children, so that their slots can be offered (not before fixed ones, which nothing may
 * get in the way of); edges strictly go forward in time, and a
 * chain of them is followed with an explicit stack of one path. */
static void place_one(struct placing *p, int32_t i, int32_t *stack)
{
    const struct items *it = p->it;
    int32_t depth = 0;
    stack[depth++] = i;
    while (depth > 0) {
        int32_t now = stack[depth - 1], waits = NO_ITEM;
        if (poll_stopped(p->poll, 64 + 16 * (int64_t)(it->first[now + 1] - it->first[now]))) return;
        for (int32_t k = it->edge_first[now]; k < it->edge_first[now + 1] && waits == NO_ITEM; k++) {
            struct edge e = it->edge[it->edge_of[k]];
            if (e.child == now && !p->by_rank && it->item[now].fixed < 0 && !p->done[e.parent] &&
                (!p->keep || p->keep[e.parent]))
                waits = e.parent;
        }
        if (waits != NO_ITEM) {
            stack[depth++] = waits;
            continue;
        }
        p->done[now] = true;
        p->base[now] = lowest_fit(it, now, p->base, p->share, p->scratch, &p->map);
        depth--;
    }
}

static void place_in_order(const struct items *it, const int64_t *worth, enum start_order order,
                           const bool *keep, struct poll *poll, int64_t *base)
{
    struct arena memory = {0};
    size_t n = (size_t)it->count;
    struct ranked *ranked = arena_array(&memory, n + 1, sizeof *ranked);
    int32_t *stack = arena_array(&memory, n + 1, sizeof *stack);
    struct placing p = {.it = it, .keep = keep, .base = base, .by_rank = order == BY_WORTH, .poll = poll};
    p.done = arena_array(&memory, n + 1, sizeof *p.done);
    p.share = arena_array(&memory, n + 1, sizeof *p.share);
    p.scratch = arena_array(&memory, n + 1, sizeof *p.scratch);
    lowest_fit_map(it, &p.map);
    for (size_t i = 0; i < n; i++) {
        base[i] = NOT_PLACED;
        p.share[i] = (struct sharing){NO_ITEM, NO_ITEM};
    }
    /* Stopped before the order is known: nothing has a place. */
    /* Fixed addresses go first: nothing else may stand in their way. */
    for (int32_t i = 0; i < it->count; i++) {
        rank_item(it, worth, i, order, &ranked[i]);
        if (it->item[i].fixed >= 0) ranked[i].major = -1e300;
    }
    qsort(ranked, (size_t)it->count, sizeof *ranked, first_answers_compare_ranked);
    for (size_t i = 0; i < n && !poll->stopped; i++)
        if (!p.done[ranked[i].item] && (!keep || keep[ranked[i].item])) place_one(&p, ranked[i].item, stack);
    arena_free(&memory);
    taken_bits_free(&p.map);
}

/* An order costs about a microsecond for ten pairs: with many only the first few are tried. */
enum { MANY_PAIRS = 2000000, FEW_ORDERS = 4 };

struct live_range {
    int64_t from, to, end;
};

enum { SWEEP_FIXED_MAX = 4096 }; /* fixed items beyond that are placed, but nothing is placed around them */

static bool hits_fixed(const struct items *it, const int32_t *fixed, int32_t count, const struct item *b,
                       int64_t at, int64_t *beyond)
{
    for (int32_t k = 0; k < count; k++) {
        const struct item *f = &it->item[fixed[k]];
        if (f->start >= b->end || b->start >= f->end || f->fixed >= at + b->size || at >= f->fixed + f->size)
            continue;
        *beyond = f->fixed + f->size;
        return true;
    }
    return false;
}

/* Time forwards, each item at the lowest gap between the live ranges, which are kept sorted. */
static void sweep_time(const struct items *it, struct poll *poll, int64_t *base)
{
    size_t n = (size_t)it->count;
    struct live_range *live = mem_alloc((n + 1) * sizeof *live);
    int32_t *fixed = mem_alloc((n + 1) * sizeof *fixed), fixed_count = 0;
    for (int32_t i = 0; i < it->count; i++)
        if (it->item[i].fixed >= 0) fixed[fixed_count++] = i;
    size_t alive = 0;
    for (int32_t i = 0; i < it->count; i++) {
        const struct item *b = &it->item[i];
        size_t kept = 0;
        base[i] = NOT_PLACED;
        if (poll_stopped(poll, 64 + 2 * (int64_t)alive + fixed_count)) continue;
        for (size_t k = 0; k < alive; k++)
            if (live[k].end > b->start) live[kept++] = live[k];
        alive = kept;
        int64_t at = b->fixed >= 0 ? b->fixed : 0, beyond = 0;
        if (b->fixed < 0 && fixed_count > SWEEP_FIXED_MAX) continue;
        size_t slot = 0;
        for (bool moved = true; moved;) {
            moved = false;
            for (; slot < alive && live[slot].from < at + b->size; slot++)
                if (live[slot].to > at) {
                    if (b->fixed >= 0)
                        at = ITEM_NO_LIMIT;
                    else
                        at = item_align(b, live[slot].to);
                }
            if (b->fixed < 0 && at <= b->last && hits_fixed(it, fixed, fixed_count, b, at, &beyond)) {
                moved = !poll_stopped(poll, fixed_count);
                at = moved ? item_align(b, beyond) : ITEM_NO_LIMIT;
            }
        }
        if (at > b->last || at == ITEM_NO_LIMIT) continue;
        memmove(&live[slot + 1], &live[slot], (alive - slot) * sizeof *live);
        live[slot] = (struct live_range){at, at + b->size, b->end};
        alive++;
        base[i] = at;
    }
    mem_free(live);
    mem_free(fixed);
}

bool start_better(const struct items *it, const int64_t *a, const int64_t *b)
{
    if (it->problem->objective == LX_HEIGHT) {
        bool all_a = items_all_placed(it, a), all_b = items_all_placed(it, b);
        if (!all_a || !all_b) return all_a;
        return items_height(it, a) < items_height(it, b);
    }
    if (it->problem->objective == LX_FIT) {
        int64_t left_a = 0, left_b = 0;
        for (int32_t i = 0; i < it->count; i++) {
            left_a += a[i] < 0;
            left_b += b[i] < 0;
        }
        return left_a < left_b;
    }
    return items_spill(it, a) < items_spill(it, b);
}

bool start_is_best(const struct items *it, const struct lx_run *run, const int64_t *base)
{
    if (it->problem->objective == LX_HEIGHT)
        return items_all_placed(it, base) && items_height(it, base) <= run->known_bound;
    if (items_all_placed(it, base)) return true;
    if (it->problem->objective == LX_FIT) return false;
    return it->lost + items_spill(it, base) <= run->known_bound;
}

void start_by_score(const struct items *it, const bool *keep, const struct lx_run *run, int64_t *base)
{
    struct poll poll = {.run = run};
    place_in_order(it, NULL, BY_SCORE, keep, &poll, base);
}

static bool linked_better(struct links *links, const int64_t *a, const int64_t *b)
{
    int32_t broken_a, broken_b;
    if (!links->any) return start_better(links->it, a, b);
    int64_t cost_b = links_cost(links, b, &broken_b), cost_a = links_cost(links, a, &broken_a);
    return broken_a != broken_b ? broken_a < broken_b : cost_a < cost_b;
}

void start_best(struct links *links, const int64_t *worth, const struct lx_run *run, bool have, int64_t *base)
{
    const struct items *it = links->it;
    int64_t *trial = mem_alloc(((size_t)it->count + 1) * sizeof *trial);
    struct poll poll = {.run = run};
    int orders = !it->near ? 1 : it->pairs > MANY_PAIRS ? FEW_ORDERS : START_ORDERS;
    for (int order = worth || !it->near ? 0 : 1; order < orders; order++) {
        if (have && ((!links->any && start_is_best(it, run, base)) || lx_run_stopped(run))) break;
        if (it->near)
            place_in_order(it, worth, (enum start_order)order, NULL, &poll, trial);
        else
            sweep_time(it, &poll, trial);
        links_trim(links, trial);
        if ((have && !linked_better(links, trial, base))) continue;
        memcpy(base, trial, (size_t)it->count * sizeof *base);
        have = true;
    }
    mem_free(trial);
}
