/* Greedy: walks through time and places each buffer when it is born, and never moves it.
 *
 * On its first tick a buffer takes, in this order: the slot of its first in-place parent if not handed over
 * yet; address 0, if free; the space above all live buffers; the lowest gap between them. If none of these is
 * large enough it stays off chip. O(n log n) plus, for each buffer, the number of buffers alive with it.
 * Buffers with fixed addresses are obstacles from the start. */
#include "common/gap_fit.h"
#include "common/taken_bits.h"
#include "common/crowds.h"
#include "common/items.h"
#include "solvers.h"

struct range {
    int64_t from, to, end; /* addresses [from, to) until tick `end` */
};

struct greedy {
    const struct lx_problem *p;
    int64_t *address, capacity;
    struct range *live; /* by address; a child and its parent may overlap */
    int32_t live_count;
    int64_t top; /* the highest end of the live ranges */
    bool *handed_over;
    struct live_index fixed; /* placed buffers with fixed addresses */
    bool has_fixed;
    int32_t *found;
    struct byte_range *fixed_now; /* those alive with the current buffer, by address; they may overlap */
    int32_t fixed_count;
};

static bool free_of_fixed(const struct greedy *g, const struct lx_buffer *b, int32_t self, int64_t at)
{
    if (!g->has_fixed) return true;
    int32_t n = live_index_find(&g->fixed, b->start, b->end, g->found);
    for (int32_t i = 0; i < n; i++) {
        int64_t from = g->address[g->found[i]], to = from + g->p->buffers[g->found[i]].size;
        if (g->found[i] != self && at < to && from < at + b->size) return false;
    }
    return true;
}

/* The lowest aligned address >= `at` where the buffer overlaps no fixed one. `*next` counts the fixed ranges
 * passed for good: start with 0 and never lower `at`. */
static int64_t past_fixed(const struct greedy *g, const struct lx_buffer *b, int64_t at, int32_t *next)
{
    int64_t alignment = lx_alignment_of(g->p, b);
    at = round_up_i64(at, alignment);
    for (; *next < g->fixed_count && g->fixed_now[*next].from < at + b->size; (*next)++)
        if (g->fixed_now[*next].to > at) at = round_up_i64(g->fixed_now[*next].to, alignment);
    return at;
}

/* The slot of a parent that has not handed it over; a fixed buffer needs the slot at its own address. */
static int64_t parents_slot(struct greedy *g, int32_t i)
{
    const struct lx_buffer *b = &g->p->buffers[i];
    for (int32_t k = 0; k < b->parent_count; k++) {
        int32_t parent = b->parents[k];
        int64_t at = g->address[parent];
        if (at < 0 || g->handed_over[parent]) continue;
        if (b->fixed >= 0 ? at != b->fixed : at % lx_alignment_of(g->p, b) != 0) continue;
        /* A fixed parent is no obstacle: the child takes over its range. */
        if (!free_of_fixed(g, b, parent, at)) continue;
        g->handed_over[parent] = true;
        return at;
    }
    return LX_OFF_CHIP;
}

static int64_t free_slot(struct greedy *g, int32_t i)
{
    const struct lx_buffer *b = &g->p->buffers[i];
    int32_t passed = 0;
    g->fixed_count = g->has_fixed ? live_index_find(&g->fixed, b->start, b->end, g->found) : 0;
    for (int32_t j = 0; j < g->fixed_count; j++) {
        int64_t from = g->address[g->found[j]];
        g->fixed_now[j] = (struct byte_range){from, from + g->p->buffers[g->found[j]].size};
    }
    if (g->fixed_count) range_sort(g->fixed_now, (size_t)g->fixed_count);
    int64_t at = past_fixed(g, b, 0, &passed);
    if (g->live_count == 0) return at + b->size <= g->capacity ? at : LX_OFF_CHIP;
    if (at + b->size <= g->live[0].from && at + b->size <= g->capacity) return at;
    at = past_fixed(g, b, max_i64(g->top, at), &passed);
    if (at + b->size <= g->capacity) return at;
    int64_t covered = g->live[0].to;
    at = passed = 0;
    for (int32_t k = 1; k < g->live_count; k++) {
        at = past_fixed(g, b, max_i64(covered, at), &passed);
        if (at + b->size <= g->live[k].from) return at;
        covered = max_i64(covered, g->live[k].to);
    }
    return LX_OFF_CHIP;
}

struct birth {
    int64_t tick;
    int32_t buffer;
};

/* Parents are placed before their children: buffers without parents first, then by birth (a child that is a
 * parent itself is born before its own children). */
static void place_fixed(struct greedy *g, const struct birth *births, struct poll *poll)
{
    int32_t placed = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < g->p->count && !poll_stopped(poll, 8 + placed); k++) {
            int32_t i = births[k].buffer;
            const struct lx_buffer *b = &g->p->buffers[i];
            if (b->fixed < 0 || b->reason || b->size == 0 || b->fixed + b->size > g->capacity) continue;
            if ((b->parent_count > 0) != (pass == 1)) continue;
            if (!free_of_fixed(g, b, i, b->fixed) && parents_slot(g, i) < 0) continue;
            g->address[i] = b->fixed;
            live_index_add(&g->fixed, i);
            g->has_fixed = true;
            placed++;
        }
}

ORDER(greedy_compare_births, struct birth, ORDER_UP(tick) ORDER_UP(buffer));

static void sort_births(const struct lx_problem *p, struct birth *births)
{
    for (int32_t i = 0; i < p->count; i++) births[i] = (struct birth){p->buffers[i].start, i};
    qsort(births, (size_t)p->count, sizeof *births, greedy_compare_births);
}

static void walk_through_time(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)p->count;
    struct greedy g = {.p = p, .address = answer->address};
    struct poll poll = {.run = run};
    g.capacity = p->objective == LX_HEIGHT ? INT64_MAX / 2 : p->capacity;
    struct birth *births = arena_array(&memory, n + 1, sizeof *births);
    g.live = arena_array(&memory, n + 1, sizeof *g.live);
    g.handed_over = arena_array(&memory, n + 1, sizeof *g.handed_over);
    g.found = arena_array(&memory, n + 1, sizeof *g.found);
    g.fixed_now = arena_array(&memory, n + 1, sizeof *g.fixed_now);
    live_index_init(&g.fixed, p, NULL, 0);
    sort_births(p, births);
    place_fixed(&g, births, &poll);
    poll.work = POLL_STEPS; /* poll at the first call */
    for (size_t k = 0; k < n && !poll_stopped(&poll, 64 + g.live_count + 16 * (int64_t)g.fixed_count); k++) {
        int32_t i = births[k].buffer;
        const struct lx_buffer *b = &p->buffers[i];
        /* Expire ranges even if the first buffer born on this tick is barred: the others need the space. */
        if (k == 0 || births[k].tick != births[k - 1].tick) {
            int32_t kept = 0;
            g.top = 0;
            for (int32_t m = 0; m < g.live_count; m++)
                if (g.live[m].end > b->start) {
                    g.top = max_i64(g.top, g.live[m].to);
                    g.live[kept++] = g.live[m];
                }
            g.live_count = kept;
        }
        if (!lx_may_be_placed(p, b)) continue;
        if (b->size == 0) { /* conflicts with nothing */
            if (b->fixed <= g.capacity) g.address[i] = max_i64(b->fixed, 0);
            continue;
        }
        int64_t at = b->fixed >= 0 ? g.address[i] : parents_slot(&g, i);
        if (at < 0 && b->fixed < 0) at = free_slot(&g, i);
        answer->steps++;
        if (at < 0) continue;
        int32_t slot = g.live_count++;
        for (; slot > 0 && g.live[slot - 1].from > at; slot--) g.live[slot] = g.live[slot - 1];
        g.live[slot] = (struct range){at, at + b->size, b->end};
        g.top = max_i64(g.top, at + b->size);
        g.address[i] = at;
    }
    arena_free(&g.fixed.memory);
}

/* Problems with pools or bonds go to full_fit, in the same order. */
static bool greedy_solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    bool linked = is_list_with_linked_costs(p), plain = linked || !(p->pool_count || lx_problem_needs(p));
    if (plain) walk_through_time(p, run, answer);
    if (plain && !linked) return true;
    size_t n = (size_t)p->count;
    OWNED struct birth *births = mem_alloc((n + 1) * sizeof *births);
    OWNED int32_t *order = mem_alloc((n + 1) * sizeof *order);
    sort_births(p, births);
    for (size_t k = 0; k < n; k++) order[k] = births[k].buffer;
    full_fit(p, order, false, linked, run, answer);
    return true;
}

const struct lx_solver lx_solver_greedy = {
    .abi = LX_SOLVER_ABI,
    .name = "greedy",
    .summary = "in order of time: parent's slot, bottom, top, first gap",
    .caps = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT | FULL_FIT_CAPS,
    .solve = greedy_solve,
};
