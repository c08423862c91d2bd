/* One more start for a list of buffers: the places that one of the same structure in other sizes has. They are tried as they
 * are, which is legal where only the memory is larger or buffers are smaller, and packed anew in the order of their
 * addresses, lowest place first, with what was off chip behind them. The checker judges each; the better of it and of the
 * solver's own answer is kept, so that the plan is never worse for it. O(n^2) of n buffers. */
#include "plan/planner.h"
#include "base/checked.h"
#include "base/fail.h"
#include "placement/solve.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PACKED = 5000 };

struct packed_by {
    int64_t key; /* what is least comes first */
    int32_t buffer;
};

struct packing {
    const struct lx_problem *p;
    const struct lx_plan *near;
    int64_t *address;
    int32_t *pool;
    int32_t *placed; /* buffers by their addresses */
    int32_t placed_count;
    struct packed_by *order;
};

static int near_list_by_key(const void *a, const void *b)
{
    const struct packed_by *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static int32_t near_list_pool_of(const struct lx_plan *near, int32_t i)
{
    return near->answer.pool ? near->answer.pool[i] : 0;
}

static int64_t near_list_aligned(const struct lx_problem *p, const struct lx_buffer *b, int64_t address)
{
    int64_t unit = max_i64(b->alignment ? b->alignment : p->alignment, 1), over = address % unit;
    return over ? address + (unit - over) : address;
}

/* The lowest address where nobody is who is alive at once. */
static int64_t near_list_lowest(const struct packing *k, const struct lx_buffer *b, int32_t pool)
{
    int64_t at = 0;
    if (b->fixed >= 0) return b->fixed;
    for (int32_t i = 0; i < k->placed_count; i++) {
        const struct lx_buffer *other = &k->p->buffers[k->placed[i]];
        int64_t from = k->address[k->placed[i]];
        if (k->pool[k->placed[i]] != pool || !lx_lives_meet(b, other)) continue;
        if (at + b->size <= from) break;
        at = max_i64(at, near_list_aligned(k->p, b, from + other->size));
    }
    return at;
}

static void near_list_place(struct packing *k, int32_t buffer, int32_t pool, int64_t address)
{
    int32_t at = k->placed_count++;
    k->address[buffer] = address;
    k->pool[buffer] = pool;
    for (; at > 0 && k->address[k->placed[at - 1]] > address; at--) k->placed[at] = k->placed[at - 1];
    k->placed[at] = buffer;
}

static void near_list_pack(struct packing *k, int32_t i)
{
    const struct lx_buffer *b = &k->p->buffers[i];
    int32_t pool = k->near->answer.address[i] < 0 ? 0 : near_list_pool_of(k->near, i),
            parent = k->near->took_slot_of[i];
    int64_t capacity = lx_pool_capacity(k->p, pool), at = near_list_lowest(k, b, pool);
    if (!lx_may_be_placed(k->p, b)) return;
    if (parent >= 0 && k->address[parent] >= 0) at = k->address[parent], pool = k->pool[parent];
    if (capacity == LX_NO_LIMIT || at + b->size <= capacity) near_list_place(k, i, pool, at);
}

/* What was on chip by address; the rest behind it, what costs most off chip first. */
static void near_list_sort(struct packing *k)
{
    for (int32_t i = 0; i < k->p->count; i++) {
        int64_t address = k->near->answer.address[i];
        k->order[i] =
            (struct packed_by){address >= 0 ? address - INT64_MAX : -k->p->buffers[i].spill_cost, i};
    }
    qsort(k->order, (size_t)k->p->count, sizeof *k->order, near_list_by_key);
}

static void near_list_pack_all(struct packing *k)
{
    for (int32_t i = 0; i < k->p->count; i++) k->address[i] = LX_OFF_CHIP;
    near_list_sort(k);
    for (int32_t i = 0; i < k->p->count; i++) {
        bool was_on = k->near->answer.address[k->order[i].buffer] >= 0;
        if (was_on || !k->p->pool_count) near_list_pack(k, k->order[i].buffer);
    }
}

static void near_list_take_over(struct packing *k)
{
    for (int32_t i = 0; i < k->p->count; i++) {
        k->address[i] = k->near->answer.address[i];
        k->pool[i] = near_list_pool_of(k->near, i);
    }
}

/* The better of it and of what there is. False: memory is out. */
static bool keep_better(const struct packing *k, struct lx_answer *answer)
{
    lx_status why = {0};
    int64_t value;
    size_t n = (size_t)k->p->count;
    if (!check_so_far(k->p, answer->pool ? k->pool : NULL, k->address, &value, &why))
        return why.code != LX_E_MEMORY;
    if (value >= answer->objective || value < answer->bound) return true;
    if (k->p->objective == LX_HEIGHT && lx_left_out(k->p, k->address)) return true;
    memcpy(answer->address, k->address, n * sizeof *k->address);
    if (answer->pool) memcpy(answer->pool, k->pool, n * sizeof *k->pool);
    answer->status = value == answer->bound           ? LX_OPTIMAL
                     : answer->objective == INT64_MAX ? LX_FEASIBLE
                                                      : answer->status;
    answer->objective = value;
    return true;
}

static bool is_a_start(const struct lx_plan *p, const struct lx_plan *near)
{
    return near && near->graph->is_list && near->problem.count == p->problem.count &&
           near->problem.pool_count == p->problem.pool_count && near->took_slot_of &&
           p->problem.objective != LX_FIT && p->problem.count > 0 &&
           (p->answer.status == LX_FEASIBLE || p->answer.status == LX_LIMIT);
}

bool near_list(struct lx_plan *p, const struct lx_plan *near, lx_status *st)
{
    struct arena memory = {0};
    size_t n = (size_t)p->problem.count;
    if (!is_a_start(p, near)) return true;
    struct packing k = {.p = &p->problem,
                        .near = near,
                        .address = arena_array(&memory, n, sizeof *k.address),
                        .pool = arena_array(&memory, n, sizeof *k.pool),
                        .placed = arena_array(&memory, n, sizeof *k.placed),
                        .order = arena_array(&memory, n, sizeof *k.order)};
    bool ok = k.address && k.pool && k.placed && k.order;
    if (ok) near_list_take_over(&k);
    ok = ok && keep_better(&k, &p->answer);
    if (ok && n <= MOST_PACKED) {
        near_list_pack_all(&k);
        ok = keep_better(&k, &p->answer);
    }
    arena_free(&memory);
    return ok ? true : status_no_memory(st);
}
