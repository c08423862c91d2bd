/* The Fit engine: scale, split, try cheap orders, then search the rest in interleaved runs.
 *
 * Parts share no tick, so each is solved alone; they take turns, so that a hard part does not delay one that
 * proves infeasibility. A run ends after a number of dead ends from Luby's sequence; a run that ends earlier
 * decides its part. */
#include "exact/fit/fit.h"

#include "exact/fit/fit_search.h"

enum { DEAD_ENDS_A_TURN = 150, FIRST_FIT_PASSES = 3 };

/* 1 1 2 1 1 2 4 1 1 2 ... */
static int64_t luby(int64_t i)
{
    for (;;) {
        int64_t power = 1;
        while (power - 1 < i + 1) power *= 2;
        if (power - 1 == i + 1) return power / 2;
        i -= power / 2 - 1;
    }
}

struct part_run {
    struct fit_search search;
    bool open, done;
    int64_t run;
};

static enum fit_result fit_search_all(const struct fit_scaled *scaled, const struct fit_limits *limits,
                                      struct part_run *runs, int64_t *base, struct fit_stats *stats)
{
    int32_t open = 0;
    for (int32_t i = 0; i < scaled->part_count; i++) {
        if (!runs[i].done && !scaled->parts[i].near) return FIT_LIMIT;
        open += !runs[i].done;
    }
    while (open > 0) {
        for (int32_t i = 0; i < scaled->part_count; i++) {
            struct part_run *r = &runs[i];
            if (r->done) continue;
            if (!r->open) fit_search_open(&r->search, &scaled->parts[i], limits->seed + (uint64_t)i);
            r->open = true;
            int64_t nodes = limits->nodes ? limits->nodes - stats->nodes : INT64_MAX / 4;
            int64_t before = r->search.nodes;
            if (nodes <= 0) return FIT_LIMIT;
            fit_branch_prepare(&r->search, r->run);
            enum fit_result result = fit_search_run(&r->search, nodes, luby(r->run++) * DEAD_ENDS_A_TURN,
                                                    limits->stop, limits->context);
            stats->nodes += r->search.nodes - before;
            stats->restarts++;
            if (result == FIT_LIMIT) {
                if (limits->stop && limits->stop(limits->context)) return FIT_LIMIT;
                continue;
            }
            if (result != FIT_YES) return result;
            for (int32_t k = 0; k < r->search.part->count; k++)
                base[r->search.part->origin[k]] = r->search.base[k] * scaled->unit;
            r->done = true;
            open--;
        }
    }
    return FIT_YES;
}

enum fit_result fit_solve(const struct fit_problem *p, const struct fit_limits *limits, int64_t *base,
                          struct fit_stats *stats)
{
    struct fit_scaled scaled;
    *stats = (struct fit_stats){0};
    for (int32_t i = 0; i < p->item_count; i++) base[i] = p->items[i].fixed >= 0 ? p->items[i].fixed : 0;
    fit_scale(p, !limits->dense, &scaled);
    enum fit_result result = FIT_NO;
    if (!scaled.impossible) {
        OWNED struct part_run *runs = mem_zeroed((size_t)scaled.part_count + 1, sizeof *runs);
        /* Cheap orders first. Marks solved parts. */
        for (int32_t i = 0; i < scaled.part_count; i++) {
            const struct fit_part *part = &scaled.parts[i];
            int64_t passes = FIRST_FIT_PASSES;
            if (limits->nodes)
                passes = max_i64(1, min_i64(passes, (limits->nodes - stats->nodes) / part->count));
            fit_unit excess = FIT_FAR, *trial = mem_alloc((size_t)part->count * sizeof *trial);
            struct fit_heuristic_run run = {0, limits->stop, limits->context, &stats->nodes};
            if (!part->near) fit_skyline(part, &run, trial, &excess);
            if (excess > 0) fit_first_fit(part, (int)passes, &run, trial, &excess);
            if (excess <= 0) {
                runs[i].done = true;
                for (int32_t k = 0; k < part->count; k++) base[part->origin[k]] = trial[k] * scaled.unit;
            }
            mem_free(trial);
        }
        result = fit_search_all(&scaled, limits, runs, base, stats);
        for (int32_t i = 0; i < scaled.part_count; i++)
            if (runs[i].open) fit_search_close(&runs[i].search);
        if (result == FIT_YES) fit_place_peeled(&scaled, base);
    }
    arena_free(&scaled.memory);
    return result;
}

/* --- Least height by questions to Fit.
 *
 * Between the lower bound (the peak of the load, at first) and the height of the best packing known, Fit is
 * asked at chosen capacities: at the bound itself first, for on most instances it is the answer; then in the
 * middle of the open range. "Yes" lowers the height to the packing's, "no" raises the bound above the
 * capacity asked. A question that runs into its budget decides nothing: the round goes on above it, and the
 * next round asks again with a larger budget. Without a limit the rounds end only when bound and height meet.
 * Parts too large for the search keep the heuristics' packing. --- */

enum { FIRST_BUDGET = 50000, QUESTIONS = 5, BUDGET_GROWTH = 4, MOST_PASSES = 24, HUGE_PASSES = 3 };
/* First fit takes quadratic time; this caps items times passes. A heuristic placement counts as an eighth of
 * a node. */
enum { FIRST_FIT_ITEMS = 48000, PLACEMENTS_A_NODE = 8 };

struct change {
    int64_t time, delta;
};

ORDER(height_by_time, struct change, ORDER_UP(time) ORDER_UP(delta));

/* The greatest load of a tick, the largest size, the highest fixed end. Bases are multiples of a step, so an
 * item under another counts rounded up to a step; the topmost item of a tick does not. */
static int64_t simple_bound(const struct fit_problem *p)
{
    size_t n = 2 * (size_t)p->piece_count;
    OWNED struct change *changes = mem_alloc((n + 1) * sizeof *changes);
    int64_t bound = 0, step = 0, saved = 0;
    for (int32_t i = 0; i < p->item_count; i++) step = gcd_i64(step, p->items[i].alignment);
    for (int32_t i = 0; i < p->item_count; i++)
        for (int32_t k = 0; k < p->items[i].piece_count; k++) {
            int32_t piece = p->items[i].first_piece + k;
            const struct fit_piece *x = &p->pieces[piece];
            int64_t size = round_up_i64(x->size, step);
            changes[2 * piece] = (struct change){x->start, size};
            changes[2 * piece + 1] = (struct change){x->end, -size};
            saved = max_i64(saved, size - x->size);
            bound = max_i64(bound, x->size + max_i64(p->items[i].fixed, 0));
        }
    qsort(changes, n, sizeof *changes, height_by_time);
    int64_t load = 0;
    for (size_t i = 0; i < n; i++) {
        load += changes[i].delta;
        bound = max_i64(bound, load - saved);
    }
    return bound;
}

/* Without alignments a canonical height is a sum of sizes above the ground or a fixed base, so only multiples
 * of their greatest common divisor are candidates. */
static int64_t height_step(const struct fit_problem *p)
{
    int64_t step = 0;
    for (int32_t i = 0; i < p->item_count; i++) {
        if (p->items[i].alignment != 1) return 1;
        for (int32_t k = -1; k < p->items[i].piece_count; k++) {
            int64_t a = k < 0 ? max_i64(p->items[i].fixed, 0) : p->pieces[p->items[i].first_piece + k].size;
            step = gcd_i64(step, a);
        }
    }
    return step ? step : 1;
}

static int64_t height_of_answer(const struct fit_problem *p, const int64_t *base)
{
    int64_t height = 0;
    for (int32_t i = 0; i < p->item_count; i++)
        for (int32_t k = 0; k < p->items[i].piece_count; k++)
            height = max_i64(height, base[i] + p->pieces[p->items[i].first_piece + k].size);
    return height;
}

/* Stacks all items above the highest fixed end, with alignment lost at each: no useful packing is higher. */
static int64_t generous_capacity(const struct fit_problem *p, int64_t bound)
{
    int64_t sum = bound;
    for (int32_t i = 0; i < p->item_count; i++) {
        int64_t size = 0;
        for (int32_t k = 0; k < p->items[i].piece_count; k++)
            size = max_i64(size, p->pieces[p->items[i].first_piece + k].size);
        if (!add_i64(sum, size + p->items[i].alignment, &sum) || sum > FIT_FAR / 4) return FIT_FAR / 4;
    }
    return sum;
}

/* The best heuristic packing of one part. On a huge part first fit is slow and seldom better. */
static void pack_part(const struct fit_part *part, const struct fit_limits *limits, fit_unit enough,
                      fit_unit *base, fit_unit *excess, int64_t *steps)
{
    struct fit_heuristic_run run = {enough, limits->stop, limits->context, steps};
    fit_skyline(part, &run, base, excess);
    if (*excess <= enough || (!part->near && *excess < FIT_FAR)) return;
    fit_unit *other = mem_alloc((size_t)part->count * sizeof *other), reached;
    int passes = FIRST_FIT_ITEMS / (part->count + 1) + 1;
    if (passes > MOST_PASSES) passes = MOST_PASSES;
    fit_first_fit(part, part->near ? passes : HUGE_PASSES, &run, other, &reached);
    if (reached < *excess) {
        *excess = reached;
        memcpy(base, other, (size_t)part->count * sizeof *base);
    }
    mem_free(other);
}

/* A first packing without regard to capacity. `*huge`: a part above the bound is too large for the search. */
static enum height_result pack_first(const struct fit_problem *p, const struct fit_limits *limits,
                                     int64_t *base, struct height_answer *answer, bool *huge)
{
    struct fit_problem open = *p;
    open.capacity = generous_capacity(p, answer->bound);
    struct fit_scaled scaled;
    for (int32_t i = 0; i < p->item_count; i++) base[i] = max_i64(p->items[i].fixed, 0);
    fit_scale(&open, false, &scaled);
    enum height_result result = scaled.impossible ? HEIGHT_NONE : HEIGHT_LIMIT;
    for (int32_t i = 0; i < scaled.part_count && result == HEIGHT_LIMIT; i++) {
        const struct fit_part *part = &scaled.parts[i];
        fit_unit *trial = mem_alloc((size_t)part->count * sizeof *trial), excess;
        fit_unit enough = (answer->bound - open.capacity) / scaled.unit;
        int64_t placements = 0;
        pack_part(part, limits, enough, trial, &excess, &placements);
        answer->nodes += placements / PLACEMENTS_A_NODE;
        if (excess >= FIT_FAR)
            result = HEIGHT_NONE;
        else
            for (int32_t k = 0; k < part->count; k++) base[part->origin[k]] = trial[k] * scaled.unit;
        mem_free(trial);
        if (result == HEIGHT_LIMIT && !part->near && excess > enough) *huge = true;
    }
    arena_free(&scaled.memory);
    answer->height = height_of_answer(p, base);
    return result;
}

static void height_report(const struct height_watch *watch, const int64_t *base,
                          const struct height_answer *so_far)
{
    if (watch) watch->report(watch->context, base, so_far);
}

/* Asks Fit once; on FIT_YES takes the packing. */
static enum fit_result height_ask(const struct fit_problem *p, const struct fit_limits *limits,
                                  const struct height_watch *watch, int64_t capacity, int64_t budget,
                                  int64_t *base, int64_t *trial, struct height_answer *answer)
{
    struct fit_problem question = *p;
    question.capacity = capacity;
    struct fit_limits share = *limits;
    share.nodes = budget;
    struct fit_stats stats;
    enum fit_result result = fit_solve(&question, &share, trial, &stats);
    answer->nodes += stats.nodes;
    answer->probes++;
    if (result == FIT_YES) {
        memcpy(base, trial, (size_t)p->item_count * sizeof *base);
        answer->height = height_of_answer(p, base);
        height_report(watch, base, answer);
    }
    return result;
}

static enum height_result close_gap(const struct fit_problem *p, const struct fit_limits *limits,
                                    const struct height_watch *watch, int64_t *base, int64_t *trial,
                                    struct height_answer *answer)
{
    int64_t step = height_step(p); /* divides the bound and all heights */
    /* Starts with enough nodes for a few dives and several questions. */
    int64_t budget = FIRST_BUDGET;
    if (limits->nodes)
        budget = max_i64(2 * (int64_t)p->item_count, min_i64(FIRST_BUDGET, limits->nodes / QUESTIONS));
    for (;; budget = budget < INT64_MAX / 8 ? budget * BUDGET_GROWTH : budget) {
        int64_t open = answer->bound; /* lower capacities are decided, or were too hard in this round */
        bool at_bound = true;
        while (open < answer->height) {
            if (limits->nodes && answer->nodes >= limits->nodes) return HEIGHT_LIMIT;
            if (limits->stop && limits->stop(limits->context)) return HEIGHT_LIMIT;
            int64_t capacity = at_bound ? open : open + (answer->height - step - open) / 2 / step * step;
            int64_t share = limits->nodes ? min_i64(budget, limits->nodes - answer->nodes) : budget;
            enum fit_result result = height_ask(p, limits, watch, capacity, share, base, trial, answer);
            if (result == FIT_NO) {
                answer->bound = capacity + step;
                height_report(watch, NULL, answer);
            }
            if (result != FIT_YES) open = capacity + step;
            at_bound = false;
        }
        if (answer->bound >= answer->height) break;
    }
    answer->bound = answer->height;
    return HEIGHT_OPTIMAL;
}

enum height_result height_solve(const struct fit_problem *p, const struct fit_limits *limits,
                                const struct height_watch *watch, int64_t *base, struct height_answer *answer)
{
    *answer = (struct height_answer){0};
    answer->bound = simple_bound(p);
    OWNED int64_t *trial = mem_alloc(((size_t)p->item_count + 1) * sizeof *trial);
    bool huge = false;
    enum height_result result = pack_first(p, limits, base, answer, &huge);
    if (result == HEIGHT_NONE) { /* first fit is not exact for fixed chains */
        int64_t capacity = generous_capacity(p, answer->bound);
        enum fit_result fits = height_ask(p, limits, watch, capacity, limits->nodes, base, trial, answer);
        if (fits == FIT_YES) result = HEIGHT_LIMIT;
    }
    if (result == HEIGHT_LIMIT) height_report(watch, base, answer);
    if (result == HEIGHT_LIMIT && answer->height <= answer->bound) result = HEIGHT_OPTIMAL;
    if (result == HEIGHT_LIMIT && !huge) result = close_gap(p, limits, watch, base, trial, answer);
    return result;
}
