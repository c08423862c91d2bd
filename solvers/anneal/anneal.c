/* Simulated annealing over placement orders, and over placements.
 *
 * Two neighbourhoods take turns. In the first a state is an order of the buffers and a choice of handovers;
 * anneal/decode.c stacks it and decodes again only what a move changes (2 us per step at 256 buffers of a
 * graph). In the second (anneal/eject.c) a state is a placement, into which a buffer is put by ejecting
 * others; it is cheaper where stacks are high, but leaves gaps. What is minimised is an energy:
 *
 *     spill        the cost of what is off chip, plus a small part of it for how far each stands too high
 *     fit, height  the same with areas for costs; what ends above the capacity, or above a target somewhat
 *                  below the best height so far, counts as off chip, so that nearly fitting states pull the
 *                  search
 *
 * Each cycle cools geometrically from a temperature taken from the mean change of energy; the next one starts
 * from the best answer again. The answer is completed by filling holes that stacking cannot see, and written
 * down in the planner's usual order where that has room for it.
 *
 * Decisions are made in integers, so a seed gives the same answer on every machine. Problems with more
 * conflicting pairs than the option allows get the starting heuristics only. */
#include "anneal/eject.h"
#include "anneal/moves.h"
#include "anneal/pack_all.h"
#include "anneal/refill.h"
#include "anneal/schedule.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/log.h"
#include "common/first_answers.h"
#include "common/prices.h"
#include "solvers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option {
    EFFORT,
    MAX_EFFORT,
    CYCLES,
    HOT,
    REHEAT,
    EJECT_HOT,
    EJECT_COOL,
    REFILL_SHARE,
    REFILL_HOT,
    REFILL_WARM,
    REFILL_COLD,
    WINDOW,
    COLD,
    GUIDE,
    PATIENCE,
    OFF,
    CRITICAL,
    MERGE,
    TURN,
    FAR,
    SWAP,
    MAX_PAIRS,
    OPTIONS
};

static const struct lx_option options[OPTIONS] = {
    [EFFORT] = {"effort", 1000000, 1, INT64_C(1) << 40,
                "conflicts to look at for each buffer (when no steps are given)"},
    [MAX_EFFORT] = {"max-effort", 3000000000, 1, INT64_C(1) << 50,
                    "conflicts to look at in all: some seconds"},
    [CYCLES] = {"cycles", 16, 1, 1000, "times the search is heated up"},
    [HOT] = {"hot", 40, 1, 100000, "first temperature of a cycle, in 1000ths of the mean change of energy"},
    [REHEAT] = {"reheat", 10, 1, 1000, "how much hotter every second such cycle starts"},
    [EJECT_HOT] = {"eject-hot", 300, 1, 100000, "first temperature of a cycle of ejections"},
    [EJECT_COOL] = {"eject-cool", 10, 1, 100000, "first temperature of every second such cycle"},
    [REFILL_SHARE] = {"refill-share", 700, 0, 1000, "work spent on refilling bands, in 1000ths"},
    [REFILL_WARM] = {"refill-warm", 50, 1, 100000, "first temperature of refilling at the end"},
    [REFILL_HOT] = {"refill-hot", 300, 1, 100000,
                    "first temperature of refilling, in 1000ths of the mean cost"},
    [REFILL_COLD] = {"refill-cold", 10, 1, 100000, "last temperature of refilling"},
    [WINDOW] = {"window", 2000, 100, INT64_C(1) << 30, "buffers that are refilled together in a long list"},
    [COLD] = {"cold", 1, 1, 100000, "last temperature, in 1000ths of the mean change of energy"},
    [GUIDE] = {"guide", 50, 0, 1000, "weight of standing too high, in 1000ths of the cost of being off chip"},
    [PATIENCE] = {"patience", 100, 0, 1000000,
                  "excess at which decoding a move is given up, in 1000ths of the mean change"},
    [OFF] = {"off-share", 384, 0, 1024, "moves that start from a buffer that does not fit, of 1024"},
    [CRITICAL] = {"critical-share", 256, 0, 1024, "of those, moves in the stack below it, of 1024"},
    [MERGE] = {"merge-share", 100, 0, 1024, "moves that change a handover, of 1024"},
    [TURN] = {"turn-share", 300, 0, 1024, "moves that shut or open linked buffers, of 1024"},
    [FAR] = {"far-share", 128, 0, 1024, "moves to anywhere in the order, of 1024"},
    [SWAP] = {"swap-share", 384, 0, 1024, "swaps among the others, of 1024"},
    [MAX_PAIRS] = {"max-pairs", 16000000, 0, INT64_C(1) << 30,
                   "conflicting pairs above which only heuristics run"},
};

extern const struct lx_solver lx_solver_anneal;

enum {
    CHECK_STRIDE = 512,
    SAMPLE_MOVES = 256,
    AIM_PART = 64,
    STEP_WORK = 16,
    WORTH_PERCENT = 97,
    PACK_NODE = 256
};

struct search {
    const struct lx_problem *problem;
    const struct lx_run *run;
    struct items items;
    struct links links[2]; /* of the decoder, and of the ejector and all others */
    struct decoder decoder;
    struct ejector ejector;
    struct refiller refiller;
    int64_t *worth; /* per item, see common/prices.h; NULL: unknown */
    struct schedule schedule;
    struct move_mix mix;
    struct rng rng;
    int64_t option[OPTIONS];
    int64_t *best;        /* bases of the best answer */
    int64_t best_spilled; /* spill: cost of the items off chip in it, and of its links */
    int32_t best_broken;  /* what must not happen and does, in it; with any it is no answer */
    int64_t best_height;
    int32_t best_off; /* items off chip in it */
    int64_t steps;
    bool by_steps;        /* work is counted in steps; otherwise in conflicts looked at */
    double began;         /* on the clock */
    int64_t *shown, told; /* the last answer that was reported, and its objective */
    double tell_next;     /* not before this time another */
    bool stopped;
};

static int64_t current_objective(const struct search *s)
{
    return s->problem->objective == LX_HEIGHT ? s->best_height : s->items.lost + s->best_spilled;
}

/* The best answer goes out with the report when it is new, but not more often than people can see. */
static void report_progress(struct search *s)
{
    if (!s->run->progress) return;
    double now = clock_seconds();
    struct lx_progress so_far = {
        .steps = s->steps, .objective = current_objective(s), .bound = s->run->known_bound};
    bool complete = s->best_broken == 0 && (s->problem->objective != LX_HEIGHT || s->best_off == 0);
    if (complete && so_far.objective < s->told && now >= s->tell_next) {
        if (!s->shown) s->shown = malloc(((size_t)s->problem->count + 1) * sizeof *s->shown);
        if (s->shown) items_answer(&s->items, s->best, s->shown);
        so_far.address = s->shown;
        s->told = so_far.objective;
        s->tell_next = now + 0.1 + 1e-5 * s->problem->count;
    }
    s->run->progress(s->run->context, &so_far);
}

static bool must_stop(struct search *s)
{
    report_progress(s);
    if (lx_run_stopped(s->run)) s->stopped = true;
    if (s->run->time_limit > 0 && clock_seconds() - s->began >= s->run->time_limit) s->stopped = true;
    return s->stopped;
}

/* Nothing can be better than the best answer. */
static bool is_done(const struct search *s)
{
    if (s->problem->objective == LX_FIT) return s->best_off == 0;
    if (s->problem->objective == LX_HEIGHT) return s->best_off == 0 && s->best_height <= s->run->known_bound;
    if (s->best_off == 0 && !s->links[0].any) return true;
    return s->best_broken == 0 && s->items.lost + s->best_spilled <= s->run->known_bound;
}

static void measure_best(struct search *s)
{
    s->best_spilled = links_cost(&s->links[1], s->best, &s->best_broken);
    s->best_height = items_height(&s->items, s->best);
    s->best_off = 0;
    for (int32_t i = 0; i < s->items.count; i++) s->best_off += s->best[i] < 0;
}

struct dear {
    int64_t cost;
    int32_t item;
};

static int compare_dear(const void *a, const void *b)
{
    const struct dear *x = a, *y = b;
    if (x->cost != y->cost) return x->cost > y->cost ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* Items off chip that fit into a hole of the best answer: stacking cannot see holes. The dearest first. */
static bool fill_holes(struct search *s)
{
    const struct items *it = &s->items;
    size_t n = (size_t)it->count;
    struct sharing *share = malloc((n + 1) * sizeof *share);
    struct range *scratch = malloc((n + 1) * sizeof *scratch);
    struct dear *off = malloc((n + 1) * sizeof *off);
    int32_t count = 0;
    bool ok = share && scratch && off;
    for (int32_t i = 0; ok && i < it->count; i++) {
        share[i] =
            (struct sharing){i, i}; /* no slot is offered again: handovers are the decoder's business */
        if (s->best[i] < 0) off[count++] = (struct dear){it->item[i].cost, i};
    }
    if (ok) qsort(off, (size_t)count, sizeof *off, compare_dear);
    struct links *links = s->links[1].any ? &s->links[1] : NULL;
    if (ok && links) links_load(links, s->best);
    for (int32_t k = 0; ok && k < count; k++) {
        int32_t i = off[k].item;
        if (links && links_rise(links, i) >= 0) continue;
        s->best[i] = lowest_fit(it, i, s->best, share, scratch);
        if (links && s->best[i] >= 0) links_flip(links, i);
    }
    free(share);
    free(scratch);
    free(off);
    if (ok) measure_best(s);
    return ok;
}

/* The cost of the decoder's state, and what must not happen and does in it. */
static int64_t decoded_spill(const struct search *s, int32_t *broken)
{
    const struct links *links = s->decoder.links;
    *broken = links ? links->broken : 0;
    return s->decoder.spilled + (links ? links->value : 0);
}

static bool is_better(const struct search *s, int64_t spilled, int32_t broken)
{
    return broken != s->best_broken ? broken < s->best_broken : spilled < s->best_spilled;
}

/* Takes the decoder's state as the best. */
static void keep_best(struct search *s)
{
    decoder_save(&s->decoder, s->best);
    s->best_spilled = decoded_spill(s, &s->best_broken);
    s->best_off = s->decoder.off_count;
    if (s->problem->objective == LX_HEIGHT) s->best_height = items_height(&s->items, s->best);
}

/* Height: from now on everything must end below the best height, by a small part of what is still to be had,
 * so that the target does not move for every byte. */
static void aim_lower(struct search *s)
{
    struct decoder *d = &s->decoder;
    int64_t height = s->best_height - max_i64((s->best_height - s->run->known_bound) / AIM_PART, 1);
    for (int32_t i = 0; i < s->items.count; i++) {
        int64_t room = height - s->items.item[i].bytes;
        d->last[i] =
            room < 0 ? -1 : room / s->problem->alignment / s->items.item[i].align * s->items.item[i].align;
    }
    decoder_decode_all(d);
}

static bool state_is_better(const struct search *s)
{
    int32_t broken;
    int64_t spilled = decoded_spill(s, &broken);
    if (s->problem->objective == LX_SPILL) return is_better(s, spilled, broken);
    return s->decoder.off_count < (s->problem->objective == LX_FIT ? s->best_off : 1);
}

/* Standing too high counts by how much the item is worth. */
static void set_slopes(struct search *s)
{
    struct decoder *d = &s->decoder;
    int64_t room = max_i64(d->overflow_cap, 1);
    for (int32_t i = 0; i < s->items.count; i++)
        d->slope[i] = (int64_t)((int128)max_i64(d->fee[i], 0) * s->option[GUIDE] / 1000 / room);
}

static int64_t share_of(int64_t mean, int64_t thousandths)
{
    return (int64_t)((int128)mean * thousandths / 1000);
}

/* The mean change of energy by a move, from moves that are all taken back. */
static int64_t mean_change(struct search *s)
{
    struct decoder *d = &s->decoder;
    int64_t sum = 0, changes = 0;
    for (int i = 0; i < SAMPLE_MOVES; i++) {
        int64_t before = d->penalty;
        try_move(d, &s->mix, &s->rng);
        int64_t delta = d->penalty - before;
        if (delta != 0) {
            sum += (delta < 0 ? -delta : delta) / SAMPLE_MOVES;
            changes++;
        }
        decoder_undo(d);
    }
    return changes ? max_i64(sum / changes * SAMPLE_MOVES, 1) : 1;
}

/* One cycle over orders, from the best placement. */
static bool run_orders(struct search *s, int64_t work, bool hotter)
{
    struct decoder *d = &s->decoder;
    if (!decoder_load(d, s->best)) return false;
    decoder_decode_all(d);
    if (s->problem->objective == LX_HEIGHT) aim_lower(s);
    int64_t mean = mean_change(s), slack = share_of(mean, s->option[PATIENCE]);
    schedule_heat(&s->schedule, share_of(mean, s->option[HOT] * (hotter ? s->option[REHEAT] : 1)),
                  share_of(mean, s->option[COLD]), work);
    int64_t looks;
    do {
        looks = d->looks;
        int64_t before = d->penalty, allowance = schedule_allowance(&s->schedule, rng_next(&s->rng));
        d->ceiling = before + allowance + slack;
        try_move(d, &s->mix, &s->rng);
        s->steps++;
        int64_t delta = d->penalty - before;
        if (d->hopeless || delta > allowance) {
            decoder_undo(d);
        } else if (delta < 0 && state_is_better(s)) {
            keep_best(s);
            if (is_done(s)) return true;
            if (s->problem->objective == LX_HEIGHT) aim_lower(s);
        }
        if (s->steps % CHECK_STRIDE == 0 && must_stop(s)) return true;
    } while (schedule_spend(&s->schedule, s->by_steps ? 1 : d->looks - looks + STEP_WORK));
    return s->problem->objective == LX_HEIGHT || fill_holes(s);
}

/* Stacking has lost nothing. */
static bool no_worse_decoded(const struct search *s)
{
    int32_t broken;
    int64_t spilled = decoded_spill(s, &broken);
    if (s->links[0].any) return broken <= s->best_broken && spilled <= s->best_spilled;
    return spilled <= s->best_spilled && s->decoder.off_count <= s->best_off;
}

/* Takes the ejector's state as the best, if it is: with links the energy alone does not tell. */
static bool keep_ejected(struct search *s)
{
    const struct links *links = s->ejector.links;
    int64_t spilled = s->ejector.spilled + (links ? links->value : 0);
    int32_t broken = links ? links->broken : 0;
    if (links && !is_better(s, spilled, broken)) return false;
    ejector_save(&s->ejector, s->best);
    s->best_spilled = spilled;
    s->best_broken = broken;
    s->best_off = s->ejector.off_count;
    return true;
}

/* One cycle of ejections, from the best placement, stacked once to close its gaps. */
static bool run_ejections(struct search *s, int64_t work, bool hotter)
{
    struct ejector *e = &s->ejector;
    struct ejection plan;
    if (!decoder_load(&s->decoder, s->best)) return false;
    decoder_decode_all(&s->decoder);
    if (no_worse_decoded(s)) keep_best(s);
    ejector_load(e, s->best);
    int64_t best = e->energy, mean = 0, looks;
    for (int k = 0; k < SAMPLE_MOVES && ejector_plan(e, &s->rng, &plan); k++)
        mean += (plan.rise < 0 ? -plan.rise : plan.rise) / SAMPLE_MOVES;
    schedule_heat(&s->schedule, share_of(mean, s->option[hotter ? EJECT_HOT : EJECT_COOL]),
                  share_of(mean, s->option[COLD]), work);
    do {
        looks = e->looks;
        s->steps++;
        if (s->steps % CHECK_STRIDE == 0 && must_stop(s)) break;
        if (!ejector_plan(e, &s->rng, &plan)) break;
        if (plan.rise > schedule_allowance(&s->schedule, rng_next(&s->rng))) continue;
        ejector_apply(e, &s->rng, &plan);
        if (e->energy >= best && !e->links) continue;
        best = e->energy;
        if (keep_ejected(s) && is_done(s)) break;
    } while (schedule_spend(&s->schedule, s->by_steps ? 1 : e->looks - looks + STEP_WORK));
    return true;
}

/* Takes the refiller's state as the best, if it is. */
static bool keep_refilled(struct search *s)
{
    const struct links *links = s->refiller.links;
    int64_t spilled = s->refiller.spilled + (links ? links->value : 0);
    int32_t broken = links ? links->broken : 0;
    if (links && !is_better(s, spilled, broken)) return false;
    refiller_save(&s->refiller, s->best);
    s->best_spilled = spilled;
    s->best_broken = broken;
    s->best_off = s->refiller.off_all;
    return true;
}

static void refill_window(struct search *s, int64_t hot, int64_t cold, int64_t work)
{
    struct refiller *f = &s->refiller;
    int64_t best = f->energy, looks;
    schedule_heat(&s->schedule, hot, cold, work);
    do {
        looks = f->looks;
        s->steps++;
        if (s->steps % CHECK_STRIDE == 0 && must_stop(s)) break;
        if (!refiller_step(f, &s->rng, schedule_allowance(&s->schedule, rng_next(&s->rng)))) break;
        if (f->energy >= best && !f->links) continue;
        best = f->energy;
        if (keep_refilled(s) && is_done(s)) break;
    } while (schedule_spend(&s->schedule, s->by_steps ? 1 : f->looks - looks + STEP_WORK));
    refiller_restore(f, s->best);
}

/* Windows that overlap by half, each with its share of the work. */
static void run_refills(struct search *s, int64_t work, int64_t hot)
{
    int32_t n = s->items.count, wide = (int32_t)s->option[WINDOW], windows = n <= wide ? 1 : 2 * n / wide;
    int64_t mean = 0;
    for (int32_t i = 0; i < n; i++) mean += max_i64(s->links[1].fee[i], 0) / n;
    refiller_load(&s->refiller, s->best);
    for (int32_t k = 0; k < windows && !s->stopped && !is_done(s); k++) {
        int32_t from = 0, to = n;
        if (windows > 1) {
            from = (int32_t)((int64_t)n * k / (windows + 1));
            to = (int32_t)((int64_t)n * (k + 2) / (windows + 1));
        }
        refiller_window(&s->refiller, from, to);
        refill_window(s, share_of(mean, hot), share_of(mean, s->option[REFILL_COLD]),
                      work / windows + (k < work % windows));
    }
    LOG(anneal, "refilled %d windows: %" PRId64 ", %" PRId64 " steps", (int)windows, current_objective(s),
        s->steps);
}

/* Orders and ejections take turns, each with a mild and a hot cycle. Heights are a matter of orders alone. */
static bool run_cycles(struct search *s, int64_t work)
{
    /* Each cycle decodes everything once: no more cycles than leave most of the work to the search. */
    int64_t cycles = s->option[CYCLES];
    if (!s->by_steps) cycles = max_i64(min_i64(cycles, work / (8 * s->items.pairs + 1)), 1);
    bool only_orders = s->problem->objective == LX_HEIGHT;
    for (int64_t cycle = 0; cycle < cycles && !s->stopped && !is_done(s); cycle++) {
        int64_t share = work / cycles + (cycle < work % cycles);
        if (share == 0) break;
        bool hotter = only_orders ? cycle % 2 == 1 : cycle % 4 == 1 || cycle % 4 == 2;
        bool ok =
            only_orders || cycle % 2 == 0 ? run_orders(s, share, hotter) : run_ejections(s, share, hotter);
        if (!ok) return false;
        LOG(anneal, "cycle %" PRId64 " of %" PRId64 ": %" PRId64 ", %" PRId64 " steps", cycle + 1, cycles,
            current_objective(s), s->steps);
    }
    return true;
}

/* Packing everything is a matter of few good orders, which annealing seldom meets where hardly anything may be wasted:
 * first the engine that learns from what did not fit. */
static bool pack_in_orders(struct search *s, int64_t work)
{
    bool found;
    if (!pack_all(&s->items, s->run, work / PACK_NODE, s->best, &found)) return false;
    if (found) measure_best(s);
    return true;
}

/* Lists that are longer than a window are only refilled: to decode all of a long list takes more than it gains. */
static bool anneal(struct search *s)
{
    const int64_t *option = s->option;
    s->mix = (struct move_mix){(uint32_t)option[OFF], (uint32_t)option[CRITICAL], (uint32_t)option[MERGE],
                               (uint32_t)option[FAR], (uint32_t)option[SWAP],     (uint32_t)option[TURN]};
    if (!decoder_make(&s->decoder, &s->items, true)) return false;
    decoder_link(&s->decoder, &s->links[0]);
    if (!ejector_make(&s->ejector, &s->items, &s->links[1])) return false;
    set_slopes(s);
    cooling_make(&s->schedule);
    s->by_steps = s->run->work_limit > 0;
    int64_t work =
        s->by_steps ? s->run->work_limit : min_i64(option[MAX_EFFORT], option[EFFORT] * s->items.count);
    if (s->problem->objective == LX_FIT && !pack_in_orders(s, work)) return false;
    if (!s->worth) return run_cycles(s, work);
    if (!refiller_make(&s->refiller, &s->items, &s->links[1], s->worth)) return false;
    int64_t part = s->items.count > option[WINDOW] ? work : share_of(work, option[REFILL_SHARE]);
    run_refills(s, part - part / 3, option[REFILL_HOT]);
    if (part < work && !run_cycles(s, work - part)) return false;
    run_refills(s, part / 3, option[REFILL_WARM]);
    return true;
}

/* The same buffers at the addresses of the usual planner, where its order has room for all of them: people
 * compare plans, and equal ones should look equal. */
static void settle_addresses(struct search *s)
{
    size_t n = (size_t)s->items.count;
    bool *keep = malloc(n + 1);
    int64_t *usual = malloc((n + 1) * sizeof *usual);
    bool ok = keep && usual && s->items.near && s->problem->objective != LX_HEIGHT;
    for (size_t i = 0; ok && i < n; i++) keep[i] = s->best[i] >= 0;
    ok = ok && start_by_score(&s->items, keep, usual);
    for (size_t i = 0; ok && i < n; i++) ok = !keep[i] || usual[i] >= 0;
    if (ok) memcpy(s->best, usual, n * sizeof *usual);
    free(keep);
    free(usual);
}

enum { STAT_PAIRS, STAT_DECODED, STATS };

static const struct lx_stat_row stats[STATS] = {
    [STAT_PAIRS] = {"pairs", "pairs", "of buffers that live at the same time"},
    [STAT_DECODED] = {"decoded", "groups", "placed anew, over all moves"},
};

static void report(const struct search *s, struct lx_answer *answer)
{
    items_answer(&s->items, s->best, answer->address);
    bool complete = s->best_broken == 0 && (s->problem->objective != LX_HEIGHT || s->best_off == 0);
    answer->status = complete && (is_done(s) || !s->stopped) ? LX_FEASIBLE : LX_LIMIT;
    answer->steps = s->steps;
    answer->bound = 0;
    lx_answer_count(answer, &lx_solver_anneal, STAT_PAIRS, s->items.pairs);
    lx_answer_count(answer, &lx_solver_anneal, STAT_DECODED, s->decoder.visits);
    if (s->best_broken)
        snprintf(answer->message, sizeof answer->message,
                 "no answer found in which all is placed that must be, and nothing happens that must not");
    else if (!complete)
        snprintf(answer->message, sizeof answer->message, "fixed addresses leave no room for every buffer");
    else if (!s->items.near && s->items.count > 0)
        snprintf(answer->message, sizeof answer->message,
                 "more than %lld conflicting pairs: only the starting heuristics ran; raise max-pairs",
                 (long long)s->option[MAX_PAIRS]);
}

static bool solve(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    struct search s = {.problem = problem, .run = run, .rng = rng_seed(run->seed), .told = INT64_MAX};
    s.began = clock_seconds();
    for (int i = 0; i < OPTIONS; i++) s.option[i] = lx_run_option(&lx_solver_anneal, run, i);
    if (!items_make(&s.items, problem, s.option[MAX_PAIRS])) return false;
    s.best = malloc(((size_t)s.items.count + 1) * sizeof *s.best);
    bool ok = s.best != NULL && links_make(&s.links[0], &s.items) && links_make(&s.links[1], &s.items);
    if (ok && problem->objective == LX_SPILL && s.items.near) {
        s.worth = malloc(((size_t)s.items.count + 1) * sizeof *s.worth);
        ok = s.worth && prices_find(&s.items, WORTH_PERCENT, s.worth);
    }
    if (ok && run->incumbent) items_from_answer(&s.items, run->incumbent, s.best);
    ok = ok && start_best(&s.links[1], s.worth, run, run->incumbent != NULL, s.best);
    if (ok) {
        measure_best(&s);
        bool can = s.items.near && s.items.count > 0 && s.items.count < 1 << KEY_INDEX_BITS &&
                   (problem->objective != LX_HEIGHT || s.best_off == 0);
        if (can && !must_stop(&s)) ok = anneal(&s);
        settle_addresses(&s);
        report(&s, answer);
    }
    decoder_free(&s.decoder);
    ejector_free(&s.ejector);
    refiller_free(&s.refiller);
    free(s.worth);
    free(s.shown);
    links_free(&s.links[0]);
    links_free(&s.links[1]);
    items_free(&s.items);
    free(s.best);
    return ok;
}

const struct lx_solver lx_solver_anneal = {
    .abi = LX_SOLVER_ABI,
    .name = "anneal",
    .summary = "simulated annealing over placement orders, decoded incrementally",
    .caps = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT | LX_IS_SEEDED | LX_CAN_CHARGES | LX_CAN_MUST |
            LX_CAN_TOGETHER,
    .options = options,
    .option_count = OPTIONS,
    .stats = stats,
    .stat_count = STATS,
    .solve = solve,
};
