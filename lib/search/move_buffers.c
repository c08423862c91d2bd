/* Moves: buffers change their addresses.
 *
 * With moves only the load counts: buffers that fit by bytes on every tick can be placed by pushing blocks
 * together. The model of keeping (keep.h) chooses the tensors to keep; its choices are placed tick by tick
 * (room_insert), and each pushed buffer becomes a new stay with a copy inside the scratchpads. The plan is
 * kept if it moves less, or takes less time, copies included. */
#include "search/keep.h"
#include "search/time.h"

struct moved {
    struct cut move;
    int64_t address;
};

struct moving {
    const struct draft *x; /* without moves */
    const bool *wanted;    /* per stay: to be placed */
    const bool *fixed;     /* per stay: cannot be moved */
    int64_t *address;      /* per stay: address at its start */
    /* Stays sorted by start tick; tick t begins at started[start_at[t]]. */
    int32_t *start_at, *started;
    struct room room;
    VEC(struct moved) moves;
};

static int by_move(const void *a, const void *b)
{
    return cut_compare(&((const struct moved *)a)->move, &((const struct moved *)b)->move);
}

static bool move_buffers_place_all(struct moving *v)
{
    /* Counting sort by start. Stays that start after the last op come last and are not placed. */
    int64_t ticks = v->x->graph->op_count;
    const struct lx_buffer *all = v->x->buffers;
    v->start_at = mem_zeroed((size_t)ticks + 3, sizeof *v->start_at);
    v->started = mem_alloc(((size_t)v->x->problem.count + 1) * sizeof *v->started);
    for (int32_t i = 0; i < v->x->problem.count; i++) v->start_at[min_i64(all[i].start, ticks) + 2]++;
    for (int64_t t = 1; t < ticks + 3; t++) v->start_at[t] += v->start_at[t - 1];
    for (int32_t i = 0; i < v->x->problem.count; i++)
        v->started[v->start_at[min_i64(all[i].start, ticks) + 1]++] = i;
    for (int32_t tick = 0; tick < v->x->graph->op_count; tick++) {
        /* A block that has ended is removed, or passes to its heir. */
        size_t kept = 0;
        for (size_t i = 0; i < v->room.blocks.count; i++) {
            struct room_block b = v->room.blocks.at[i];
            if (v->x->buffers[b.owner].end <= tick) {
                if (b.heir < 0) continue;
                b = (struct room_block){b.heir,          -1, b.address, v->x->buffers[b.heir].size, 0,
                                        v->fixed[b.heir]};
            }
            b.old = b.address;
            v->room.blocks.at[kept++] = b;
        }
        v->room.blocks.count = kept;
        for (int pass = 0; pass < 2; pass++) /* copies are placed before the op's outputs */
            for (int32_t k = v->start_at[tick]; k < v->start_at[tick + 1]; k++) {
                int32_t i = v->started[k];
                const struct lx_buffer *b = &v->x->buffers[i];
                if (!v->wanted[i] || v->x->stays[i].begins_written != (pass == 1)) continue;
                bool taken = false; /* written over a block that ends at this tick */
                for (int32_t n = 0; pass == 1 && !taken && n < b->parent_count; n++)
                    for (size_t at = 0; !taken && at < v->room.blocks.count; at++) {
                        struct room_block *on = &v->room.blocks.at[at];
                        taken = on->owner == b->parents[n] && on->heir < 0 &&
                                v->x->buffers[on->owner].end == b->start + 1;
                        if (taken) on->heir = i;
                    }
                if (taken) continue;
                int64_t size = round_up_i64(b->size, v->x->problem.alignment);
                if (!room_insert(&v->room, (struct room_block){i, -1, 0, size, -1, v->fixed[i]}))
                    return false;
            }
        for (size_t i = 0; i < v->room.blocks.count; i++) {
            const struct room_block *b = &v->room.blocks.at[i];
            if (b->old < 0) v->address[b->owner] = b->address;
            if (b->heir >= 0) v->address[b->heir] = b->address;
            if (b->old < 0 || b->old == b->address) continue;
            struct moved m = {{v->x->stays[b->owner].tensor, tick}, b->address};
            VEC_PUSH(&v->moves, m);
        }
    }
    return true;
}

/* Makes the draft with the moves and addresses, and offers it if it is legal. */
static bool realise(struct search *search, struct moving *v)
{
    struct attempt next = {.memory = mem_zeroed(1, sizeof *next.memory)};
    struct decisions how = v->x->how;
    lx_status why = {0};
    size_t n = v->moves.count, stays = (size_t)v->x->problem.count;
    struct cut *moves = arena_array(next.memory, n, sizeof *moves);
    next.answer.address = arena_array(next.memory, stays + n, sizeof *next.answer.address);
    if (n) qsort(v->moves.at, n, sizeof *v->moves.at, by_move);
    for (size_t i = 0; i < n; i++) moves[i] = v->moves.at[i].move;
    how.moves = moves;
    how.move_count = (int32_t)n;
    bool ok = draft_make(v->x->divided, &how, next.memory, &next.draft, search->st);
    bool legal = ok && (size_t)next.draft.problem.count == stays + n;
    for (size_t i = 0; legal && i < stays + n; i++)
        next.answer.address[i] = i < stays ? v->address[i] : v->moves.at[i - stays].address;
    if (!legal || !lx_problem_check(&next.draft.problem, next.answer.address, &next.answer.objective, &why) ||
        !attempt_bytes(&next.draft, next.answer.address, &next.hbm_bytes)) {
        attempt_free(&next);
        return ok;
    }
    next.answer.status = LX_FEASIBLE;
    next.perfect_bytes = search->best.perfect_bytes;
    next.bound = search->best.bound;
    if (asks_time(search)) next.us = attempt_us(search, &next.draft, next.answer.address, INFINITY);
    LOG(move, "%d moves, HBM %" PRId64, (int)n, next.hbm_bytes);
    offer_attempt(search, &next);
    return true;
}

/* True in `*fits` if all wanted buffers fit without moves. */
static bool fits_still(const struct search *search, const struct moving *v, bool *fits)
{
    struct lx_problem q = v->x->problem;
    struct lx_answer a = {.address = v->address};
    const struct lx_solver *solver = search->effort.solver;
    struct lx_buffer *some = mem_alloc(((size_t)q.count + 1) * sizeof *some);
    for (int32_t i = 0; i < q.count; i++) {
        some[i] = q.buffers[i];
        if (!v->wanted[i] && !some[i].reason) some[i].reason = "the choice leaves it off chip";
    }
    q.buffers = some;
    struct lx_run run = search->effort.run;
    run.progress = NULL; /* its objective is not the plan's */
    q.objective = LX_FIT;
    q.bonds = (struct lx_bonds){0};
    bool ok = !lx_can(solver, LX_FIT) || solve_valid(&q, solver, &run, &a, search->st);
    *fits = ok && lx_can(solver, LX_FIT) && !lx_left_out(&q, v->address);
    mem_free(some);
    return ok;
}

bool move_try(struct search *search, const struct keep_model *m, const struct keep_choice *c,
              const struct decisions *how)
{
    SCOPED(arena_free) struct arena memory = {0};
    SCOPED(draft_free) struct draft x = {0};
    bool ok = draft_make(search->divided, how, &memory, &x, search->st);
    size_t n = (size_t)x.problem.count;
    bool *wanted = mem_zeroed(n + 1, sizeof *wanted), *fixed = mem_zeroed(n + 1, sizeof *fixed);
    int64_t *address = mem_alloc((n + 1) * sizeof *address);
    struct moving v = {.x = &x, .wanted = wanted, .fixed = fixed, .address = address};
    v.room.capacity = x.problem.capacity;
    for (size_t i = 0; ok && i < n; i++) address[i] = LX_OFF_CHIP;
    if (ok) {
        for (int32_t i = 0; i < x.problem.count; i++) {
            const struct lx_stay *s = &x.stays[i];
            const struct keep_use *u = NULL; /* the model's use with which the stay begins */
            int32_t op = c->order ? c->order[s->first] : s->first;
            for (int32_t k = m->op_at[op]; !s->exclusion && !u && k < m->op_at[op + 1]; k++)
                if (m->uses[m->op_use[k]].tensor == s->tensor) u = &m->uses[m->op_use[k]];
            wanted[i] = u && x.buffers[i].use_count > 0 &&
                        (c->kept[u - m->uses] || u->served > m->tensors[u->tensor].whole);
        }
        stays_find_fixed(&x, fixed);
    }
    bool placed = false;
    ok = ok && fits_still(search, &v, &placed);
    for (size_t i = 0; ok && !placed && i < n; i++) address[i] = LX_OFF_CHIP;
    placed = ok && (placed || move_buffers_place_all(&v));
    ok = ok && (!placed || realise(search, &v));
    VEC_FREE(&v.moves);
    VEC_FREE(&v.room.blocks);
    mem_free(v.start_at);
    mem_free(v.started);
    mem_free(wanted);
    mem_free(fixed);
    mem_free(address);
    return ok;
}

bool move_search(struct search *search)
{
    enum { TRIES = 64 };
    SCOPED(keep_answer_free) struct keep_answer a;
    bool ok = keep_ask(search, engine_runs(search, ENGINE_EVICT), TRIES, false, &a);
    for (int32_t i = 0; ok && i < a.found.count; i++) {
        const struct keep_choice *c = &a.found.at[i];
        struct decisions how = a.plain.how;
        if (search_is_over(search) || (!asks_time(search) && c->cost >= search->best.hbm_bytes)) break;
        how.cuts = c->cuts;
        how.cut_count = c->cut_count;
        ok = move_try(search, &a.model, c, &how);
    }
    return ok;
}

/* Making room: over all windows of adjacent blocks with enough free bytes, and all positions of the hole in
 * them, picks the hole for which the fewest bytes move. Blocks below the hole go down, blocks above it up. */

enum { WIDEST = 48 }; /* limit on the blocks of a window */

struct hole {
    size_t from, at, to; /* blocks [from, at) go down, [at, to) go up */
    int64_t moved;
};

static int64_t end_below(const struct room *r, size_t i)
{
    return i == 0 ? 0 : r->blocks.at[i - 1].address + r->blocks.at[i - 1].size;
}

static int64_t begin_above(const struct room *r, size_t i)
{
    return i == r->blocks.count ? r->capacity : r->blocks.at[i].address;
}

static bool find_hole(const struct room *r, int64_t size, struct hole *best)
{
    best->moved = INT64_MAX;
    for (size_t from = 0; from < r->blocks.count; from++) {
        int64_t taken = 0;
        for (size_t to = from + 1; to <= r->blocks.count && to - from <= WIDEST; to++) {
            if (r->blocks.at[to - 1].fixed) break;
            taken += r->blocks.at[to - 1].size;
            if (begin_above(r, to) - end_below(r, from) - taken < size) continue;
            for (size_t at = from; at <= to; at++) {
                struct hole h = {from, at, to, 0};
                int64_t low = end_below(r, h.from), high = begin_above(r, h.to), cost = 0;
                for (size_t i = h.from; i < h.at; low += r->blocks.at[i++].size)
                    if (r->blocks.at[i].old >= 0 && low != r->blocks.at[i].old) cost += r->blocks.at[i].size;
                for (size_t i = h.to; i-- > h.at;) {
                    high -= r->blocks.at[i].size;
                    if (r->blocks.at[i].old >= 0 && high != r->blocks.at[i].old) cost += r->blocks.at[i].size;
                }
                h.moved = cost;
                if (h.moved < best->moved) *best = h;
            }
        }
    }
    return best->moved != INT64_MAX;
}

bool room_insert(struct room *r, struct room_block new)
{
    size_t at = SIZE_MAX;
    int64_t best = INT64_MAX;
    struct hole h = {0};
    for (size_t i = 0; i <= r->blocks.count; i++) {
        int64_t gap = begin_above(r, i) - end_below(r, i);
        if (gap >= new.size && gap < best) best = gap, at = i;
    }
    VEC_RESERVE(&r->blocks, r->blocks.count + 1);
    if (at == SIZE_MAX) {
        if (!find_hole(r, new.size, &h)) return false;
        int64_t low = end_below(r, h.from), high = begin_above(r, h.to);
        for (size_t i = h.from; i < h.at; i++) {
            r->blocks.at[i].address = low;
            low += r->blocks.at[i].size;
        }
        for (size_t i = h.to; i > h.at; i--) {
            high -= r->blocks.at[i - 1].size;
            r->blocks.at[i - 1].address = high;
        }
        at = h.at;
    }
    new.address = end_below(r, at);
    for (size_t i = r->blocks.count++; i > at; i--) r->blocks.at[i] = r->blocks.at[i - 1];
    r->blocks.at[at] = new;
    return true;
}
