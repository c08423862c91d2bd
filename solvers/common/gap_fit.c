/* First-fit and best-fit: buffers are placed in order of their worth.
 *
 * The order: ascending (life - discount) / (uses + 1/2 if computed), where taking part in an in-place edge
 * discounts a quarter on either side; then shorter lives; then input order; a parent always before its
 * children. A buffer takes the slot of its first parent that lies wholly in free space, else the first (or
 * the tightest) gap between the placed buffers that live with it. Buffers with fixed addresses go first.
 *
 * A buffer that lives with a whole crowd (crowds.h) searches the crowd's gaps: O(log n) a crowd and gap
 * tried. The other k contemporaries are listed and sorted: O(k log n + k log k). */
#include "common/gap_fit.h"
#include "common/items.h"
#include "common/crowds.h"
#include "common/taken_bits.h"
#include "solvers.h"

struct fitter {
    const struct lx_problem *p;
    int64_t *address, capacity;
    bool tightest;
    struct crowds placed;
    int32_t *found;
    struct byte_range *taken; /* of buffers, and between the gaps of crowds */
    struct taken_bits map;
};

/* Collects the ranges of placed contemporaries by address, with or without the buffer's parents. */
static int32_t gap_fit_gather(struct fitter *f, const struct lx_buffer *b, int32_t found, bool with_parents)
{
    int32_t n = 0;
    for (int32_t i = 0; i < found; i++) {
        int32_t other = f->found[i];
        if (!with_parents && item_is_listed(b->parents, b->parent_count, other)) continue;
        f->taken[n++] = (struct byte_range){f->address[other], f->address[other] + f->p->buffers[other].size};
    }
    return (int32_t)taken_join(&f->map, f->taken, (size_t)n);
}

/* Does [from, to) lie in free space, in a gap that can hold `size` at its first aligned address? */
static bool lies_in_gap(const struct fitter *f, int32_t taken, int64_t from, int64_t to, int64_t size,
                        int64_t alignment)
{
    int64_t gap = 0;
    for (int32_t i = 0; i <= taken; i++) {
        int64_t end = i < taken ? f->taken[i].from : f->capacity;
        if (gap <= from && to <= end) return round_up_i64(gap, alignment) + size <= end;
        if (i < taken) gap = max_i64(gap, f->taken[i].to);
    }
    return false;
}

static int64_t choose_gap(const struct fitter *f, int32_t taken, int64_t size, int64_t alignment)
{
    int64_t gap = 0, best = LX_OFF_CHIP, least = INT64_MAX;
    for (int32_t i = 0; i <= taken; i++) {
        int64_t end = i < taken ? f->taken[i].from : f->capacity, at = round_up_i64(gap, alignment);
        if (at <= end - size && end - at - size < least) {
            if (!f->tightest) return at;
            best = at;
            least = end - at - size;
        }
        if (i < taken) gap = max_i64(gap, f->taken[i].to);
    }
    return best;
}

/* The lowest base at or above `at` that is free in the crowds and among the taken ranges; -1: none. Ranges
 * passed stay below the base, which only rises. */
static int64_t lowest_free(const struct fitter *f, const struct in_the_way *way, int32_t taken, int64_t at,
                           int64_t size, int64_t alignment)
{
    int32_t passed = 0;
    for (int64_t before = -1; before != at;) {
        before = at;
        for (int32_t k = 0; k < way->whole_count; k++) {
            at = gap_tree_first(way->whole[k], at, size, alignment);
            if (at < 0) return LX_OFF_CHIP;
        }
        for (; passed < taken && f->taken[passed].from < at + size; passed++)
            if (f->taken[passed].to > at) at = round_up_i64(f->taken[passed].to, alignment);
    }
    return at <= f->capacity - size ? at : LX_OFF_CHIP;
}

static int64_t beside_crowds(struct fitter *f, const struct lx_buffer *b, const struct in_the_way *way,
                             int64_t alignment)
{
    int32_t taken = gap_fit_gather(f, b, way->found, true);
    if (b->fixed >= 0) return lowest_free(f, way, taken, b->fixed, b->size, 1) == b->fixed ? b->fixed : -1;
    if (f->tightest) {
        /* A single crowd knows its tightest gap; otherwise all ranges are joined. */
        const struct gap_tree *only = way->whole[0];
        if (way->whole_count == 1 && taken == 0 && alignment == only->alignment)
            return gap_tree_tightest(only, b->size);
        for (int32_t k = 0; k < way->whole_count; k++) {
            int64_t from = 0;
            for (const struct gap_node *gap; (gap = gap_tree_above(way->whole[k], from)); from = gap->to)
                f->taken[taken++] = (struct byte_range){from, gap->from};
            f->taken[taken++] = (struct byte_range){from, f->capacity};
        }
        taken = (int32_t)taken_join(&f->map, f->taken, (size_t)taken);
        return choose_gap(f, taken, b->size, alignment);
    }
    return lowest_free(f, way, taken, 0, b->size, alignment);
}

static int64_t among_listed(struct fitter *f, const struct lx_buffer *b, int32_t found, int64_t alignment)
{
    int32_t taken = gap_fit_gather(f, b, found, b->parent_count == 0);
    for (int32_t k = 0; k < b->parent_count; k++) {
        int64_t slot = f->address[b->parents[k]];
        /* A fixed buffer needs only its own bytes free, others the parent's whole slot. */
        int64_t end = slot + (b->fixed < 0 ? f->p->buffers[b->parents[k]].size : b->size);
        if (slot >= 0 && slot % alignment == 0 && (b->fixed < 0 || b->fixed == slot) &&
            lies_in_gap(f, taken, slot, end, b->size, alignment))
            return slot;
    }
    if (b->parent_count) taken = gap_fit_gather(f, b, found, true);
    if (b->fixed < 0) return choose_gap(f, taken, b->size, alignment);
    bool free_there =
        b->fixed <= f->capacity - b->size && lies_in_gap(f, taken, b->fixed, b->fixed + b->size, b->size, 1);
    return free_there ? b->fixed : LX_OFF_CHIP;
}

void gap_fit_place(const struct lx_problem *p, const int32_t *order, int32_t count, bool tightest,
                   const struct lx_run *run, struct lx_answer *answer)
{
    size_t n = (size_t)p->count;
    struct fitter f = {.p = p, .address = answer->address, .tightest = tightest};
    struct poll poll = {.run = run, .work = POLL_STEPS};
    f.capacity = p->objective == LX_HEIGHT ? INT64_MAX / 2 : p->capacity;
    f.found = mem_alloc((n + 1) * sizeof *f.found);
    f.taken = mem_alloc((2 * n + 4 * MOST_CROWDS) * sizeof *f.taken);
    crowds_init(&f.placed, p, f.capacity, tightest);
    taken_bits_init(&f.map, p, f.capacity);
    for (int pass = 0; pass < 2; pass++) /* fixed addresses first: others can move */
        for (int32_t k = 0; k < count && !poll_stopped(&poll, 4096); k++) {
            const struct lx_buffer *b = &p->buffers[order[k]];
            if ((b->fixed >= 0) != (pass == 0) || !lx_may_be_placed(p, b)) continue;
            answer->steps++;
            if (b->size == 0) { /* conflicts with nothing */
                if (b->fixed <= f.capacity) f.address[order[k]] = max_i64(b->fixed, 0);
                continue;
            }
            struct in_the_way way = crowds_find(&f.placed, order[k], b->parent_count > 0, f.found);
            int64_t alignment = lx_alignment_of(p, b), at = way.whole_count
                                                                ? beside_crowds(&f, b, &way, alignment)
                                                                : among_listed(&f, b, way.found, alignment);
            if (at < 0) continue;
            f.address[order[k]] = at;
            crowds_add(&f.placed, order[k], at);
        }
    mem_free(f.found);
    mem_free(f.taken);
    mem_free(f.map.bits);
    crowds_free(&f.placed);
}

static bool gap_fit_solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer,
                          bool tightest)
{
    OWNED int32_t *order = mem_alloc(((size_t)p->count + 1) * sizeof *order);
    bool linked = is_list_with_linked_costs(p), plain = linked || !(p->pool_count || lx_problem_needs(p));
    worth_order(p, order);
    if (plain) gap_fit_place(p, order, p->count, tightest, run, answer);
    if (linked || !plain) full_fit(p, order, tightest, linked, run, answer);
    return true;
}

static bool firstfit_solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    return gap_fit_solve(p, run, answer, false);
}

static bool bestfit_solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    return gap_fit_solve(p, run, answer, true);
}

const struct lx_solver lx_solver_firstfit = {
    .abi = LX_SOLVER_ABI,
    .name = "firstfit",
    .summary = "by worth, each into the first gap that is free for its whole life",
    .caps = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT | FULL_FIT_CAPS,
    .solve = firstfit_solve,
};

const struct lx_solver lx_solver_bestfit = {
    .abi = LX_SOLVER_ABI,
    .name = "bestfit",
    .summary = "by worth, each into the tightest gap that is free for its whole life",
    .caps = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT | FULL_FIT_CAPS,
    .solve = bestfit_solve,
};
