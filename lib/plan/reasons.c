/* The reason why each buffer is off chip, or the parent whose place it took. Buffers with the same life share
 * one list of neighbours; after MOST_STEPS neighbours, holes are no longer searched. */
#include "plan/plan_make.h"
#include "plan/occupancy.h"
#include "stays/stay_reasons.h"
#include "base/words/words.h"

enum { MOST_STEPS = 1 << 24 };

struct placed_at {
    int64_t address;
    int32_t buffer;
};

/* State of the search for reasons. */
struct looking {
    const struct lx_plan *plan;
    struct lx_occupancy taken;
    int32_t *placed; /* buffers on chip, by start */
    int64_t *latest; /* per index of `placed`: latest end up to there */
    int32_t placed_count;
    struct placed_at *near;       /* buffers on chip during the current life, by address */
    int64_t near_start, near_end; /* the current life */
    int32_t near_count;
    int64_t widest; /* largest hole between them, or above the last */
    int64_t steps;  /* neighbours seen so far */
    bool plain;     /* only room matters: one pool, one life each, no other rules */
};

struct starting {
    int64_t start;
    int32_t buffer;
};

ORDER(reasons_by_start, struct starting, ORDER_UP(start) ORDER_UP(buffer));
ORDER(by_address, struct placed_at, ORDER_UP(address) ORDER_UP(buffer));

static void list_placed(struct looking *l)
{
    size_t n = (size_t)l->plan->problem.count + 1;
    OWNED struct starting *all = mem_alloc(n * sizeof *all);
    l->placed = mem_alloc(n * sizeof *l->placed);
    l->latest = mem_alloc(n * sizeof *l->latest);
    l->near = mem_alloc(n * sizeof *l->near);
    const struct lx_problem *p = &l->plan->problem;
    int64_t latest = INT64_MIN;
    for (int32_t i = 0; i < p->count; i++)
        if (l->plan->answer.address[i] >= 0 && p->buffers[i].size > 0)
            all[l->placed_count++] = (struct starting){p->buffers[i].start, i};
    qsort(all, (size_t)l->placed_count, sizeof *all, reasons_by_start);
    for (int32_t k = 0; k < l->placed_count; k++) {
        l->placed[k] = all[k].buffer;
        l->latest[k] = latest = max_i64(latest, p->buffers[all[k].buffer].end);
    }
}

static void look_around(struct looking *l, const struct lx_buffer *b)
{
    if (l->near_start == b->start && l->near_end == b->end) return;
    /* The list by start and `latest` limits the scan to buffers that may live at the same time. */
    int32_t count = 0, started; /* the first `started` begin before its end */
    BISECT(started, 0, l->placed_count, l->plan->problem.buffers[l->placed[started]].start < b->end);
    for (int32_t k = started; k-- > 0 && l->latest[k] > b->start; l->steps++) {
        int32_t i = l->placed[k];
        if (l->plan->problem.buffers[i].end > b->start)
            l->near[count++] = (struct placed_at){l->plan->answer.address[i], i};
    }
    qsort(l->near, (size_t)count, sizeof *l->near, by_address);
    l->near_start = b->start;
    l->near_end = b->end;
    l->near_count = count;
    const struct lx_problem *p = &l->plan->problem;
    int64_t end = 0;
    l->widest = 0;
    for (int32_t k = 0; k < l->near_count; k++) {
        l->widest = max_i64(l->widest, l->near[k].address - end);
        end = max_i64(end, l->near[k].address + p->buffers[l->near[k].buffer].size);
    }
    l->widest = max_i64(l->widest, p->capacity - end);
}

/* True if a hole, of all its life, fits the buffer, at its fixed address if it has one. */
static bool has_hole(struct looking *l, const struct lx_buffer *b)
{
    const struct lx_problem *p = &l->plan->problem;
    int64_t alignment = b->fixed >= 0 ? 1 : lx_alignment_of(p, b), at = max_i64(b->fixed, 0);
    look_around(l, b);
    if (l->widest < b->size) return false;
    for (int32_t k = 0; k < l->near_count; k++, l->steps++) {
        int64_t from = l->near[k].address, to = from + p->buffers[l->near[k].buffer].size;
        if (to <= at) continue;
        if (at <= from - b->size) return true;
        if (b->fixed >= 0) return false;
        at = round_up_i64(to, alignment);
    }
    return at <= p->capacity - b->size;
}

/* The reason of a buffer that may not be on chip. */
static const char *reasons_why_barred(const struct lx_plan *plan, int32_t buffer)
{
    if (plan->draft && plan->stays[buffer].exclusion == LX_EXCLUDED_NO_GAIN)
        return reason_of_no_gain(plan->draft, buffer);
    return plan->problem.buffers[buffer].reason;
}

static const char *why_off_chip(struct looking *l, int32_t buffer)
{
    const struct lx_plan *plan = l->plan;
    const struct lx_buffer *b = &plan->problem.buffers[buffer];
    const struct lx_bonds *bonds = &plan->problem.bonds;
    int64_t taken = lx_occupancy_most(&l->taken, b->start, b->end), capacity = plan->problem.capacity;
    for (int32_t i = 0; i < bonds->staging_count; i++)
        if (bonds->staging[i].a == buffer && plan->answer.address[bonds->staging[i].b] >= 0)
            return "staging that is not needed: its owner is on chip";
    if (b->reason) return reasons_why_barred(plan, buffer);
    if (plan->answer.status == LX_ERROR) return "the solver gave no plan";
    if (b->size > capacity)
        return reason_text(plan->memory, REASON_SIZE,
                           (struct reason_facts){.bytes = b->size, .room = capacity});
    if (!l->plain)
        return plan->answer.status == LX_INFEASIBLE
                   ? "no legal answer exists"
                   : "no place was found for it that is legal and worth its cost";
    if (taken + b->size > capacity)
        return arena_format(
            plan->memory,
            "no room on scratchpad: others take up to %s of %s bytes while it lives, it needs %s",
            grouped(taken).at, grouped(capacity).at, grouped(b->size).at);
    if (!plan->asks_time && l->steps > MOST_STEPS)
        return arena_format(plan->memory,
                            "left off chip: others take at most %s of %s bytes while it lives; too many to "
                            "look for a hole between them",
                            grouped(taken).at, grouped(capacity).at);
    if (plan->asks_time || has_hole(l, b)) {
        /* No other buffer is in its way. */
        if (plan->answer.status == LX_INFEASIBLE) return "no legal answer exists";
        if (plan->asks_time) return "left off chip: no less time was found with it on chip";
        if (plan->answer.status == LX_OPTIMAL || lx_plan_gap(plan) <= 0)
            return "left off chip: there is room for it, but it saves nothing there";
        if (plan->answer.status == LX_LIMIT)
            return arena_format(
                plan->memory, "left off chip: there is room for it, but %s ended before it was placed there",
                plan->solver);
        return arena_format(
            plan->memory, "left off chip: there is room for it, but %s did not place it there", plan->solver);
    }
    if (b->fixed >= 0)
        return arena_format(plan->memory,
                            "no room on scratchpad: others lie at its fixed address %s while it lives",
                            grouped(b->fixed).at);
    return arena_format(
        plan->memory,
        "no room on scratchpad: fragmentation; others take at most %s of %s bytes while it lives, but no "
        "hole of %s lasts as long",
        grouped(taken).at, grouped(capacity).at, grouped(b->size).at);
}

static void reasons_find_reasons(struct lx_plan *plan)
{
    struct looking l = {.plan = plan, .near_start = INT64_MAX};
    l.plain =
        !plan->problem.pool_count && !(lx_problem_needs(&plan->problem) & ~(unsigned)LX_CAN_LINKED_COSTS);
    lx_occupancy_make(plan, LX_ALL_POOLS, &l.taken);
    list_placed(&l);
    for (int32_t i = 0; i < plan->problem.count; i++)
        if (plan->answer.address[i] < 0) {
            plan->reason[i] = why_off_chip(&l, i);
            if (plan->stays && plan->reason[i] && plan_wants_on_chip(plan, plan->stays[i].tensor))
                plan->reason[i] = arena_format(plan->memory, "%s; the pattern says lx", plan->reason[i]);
        }
    lx_occupancy_free(&l.taken);
    mem_free(l.placed);
    mem_free(l.latest);
    mem_free(l.near);
}

void plan_complete(struct lx_plan *plan, bool quickly)
{
    const struct lx_problem *p = &plan->problem;
    const int64_t *address = plan->answer.address;
    size_t n = (size_t)p->count;
    OWNED bool *given = mem_zeroed(n + 1, sizeof *given);
    plan->took_slot_of = arena_array(plan->memory, n, sizeof *plan->took_slot_of);
    /* A child takes a parent's place if both have the same address and no earlier child took it (exclusive
     * children may share it), by ascending number as in the checker. */
    for (int32_t i = 0; i < p->count; i++) {
        plan->took_slot_of[i] = -1;
        if (address[i] < 0 || p->buffers[i].size == 0) continue;
        for (int32_t k = 0; k < p->buffers[i].parent_count; k++) {
            int32_t parent = p->buffers[i].parents[k];
            if (address[parent] != address[i] || (given[parent] && !p->bonds.exclusive_count)) continue;
            if (plan->answer.pool && plan->answer.pool[parent] != plan->answer.pool[i]) continue;
            given[parent] = true;
            plan->took_slot_of[i] = parent;
            break;
        }
    }
    plan_totals(plan);
    plan->reason = arena_array(plan->memory, n, sizeof *plan->reason);
    if (!quickly) reasons_find_reasons(plan);
    for (int32_t i = 0; quickly && i < p->count; i++)
        if (address[i] < 0)
            plan->reason[i] = p->buffers[i].reason ? reasons_why_barred(plan, i)
                                                   : "no room in this answer; a better one is looked for";
}
