/* Simulated annealing over placement orders, and over placements.
 *
 * Three neighbourhoods take turns. In the first a state is an order of the buffers and a choice of handovers;
 * anneal/decode.c stacks it and decodes again only what a move changes (2 us per step at 256 buffers of a
 * graph). In the second (anneal/eject.c) a state is a placement, into which a buffer is put by ejecting
 * others; it is cheaper where stacks are high, but leaves gaps. In the third (anneal/refill.c) a band of
 * addresses is cleared and filled again; it finds most for objective spill, and is the only one for long
 * lists, window by window. The search minimises an energy:
 *
 *     spill        the cost of the buffers off chip, with linked costs; plus, if one stands too high, a
 *                  small part of its cost, by how far
 *     fit, height  the same with areas for costs; a buffer that ends above the capacity, or above a target
 *                  just below the best height so far, counts as off chip, so that nearly fitting states pull
 *                  the search
 *
 * Each cycle cools geometrically from a temperature taken from the mean change of energy; the next one starts
 * from the best answer again. The answer is completed by filling holes that stacking cannot see, and given
 * first-fit's addresses if it fits at them.
 *
 * Decisions are made in integers, so a seed gives the same answer on every machine. Problems with more
 * conflicting pairs than the option allows get the starting heuristics only. */
#include "anneal/annealing.h"
#include "solvers.h"

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

enum { WORTH_PERCENT = 97, PACK_NODE = 256 };

int64_t annealing_objective(const struct search *s)
{
    return s->problem->objective == LX_HEIGHT ? s->best_height : s->items.lost + s->best_spilled;
}

bool annealing_must_stop(struct search *s)
{
    /* A new best answer goes out with the report, at most ten times a second. */
    if (s->run->progress) {
        double now = clock_seconds();
        struct lx_progress so_far = {
            .steps = s->steps, .objective = annealing_objective(s), .bound = s->run->known_bound};
        bool complete = s->best_broken == 0 && (s->problem->objective != LX_HEIGHT || s->best_off == 0);
        if (complete && so_far.objective < s->reported && now >= s->report_next) {
            items_answer(&s->items, s->best, s->shown);
            so_far.address = s->shown;
            s->reported = so_far.objective;
            s->report_next = now + 0.1 + 1e-5 * s->problem->count;
        }
        s->run->progress(s->run->context, &so_far);
    }
    if (lx_run_stopped(s->run)) s->stopped = true;
    if (s->run->time_limit > 0 && clock_seconds() - s->began >= s->run->time_limit) s->stopped = true;
    return s->stopped;
}

bool annealing_is_done(const struct search *s)
{
    if (s->problem->objective == LX_FIT) return s->best_off == 0;
    if (s->problem->objective == LX_HEIGHT) return s->best_off == 0 && s->best_height <= s->run->known_bound;
    if (s->best_off == 0 && !s->links[0].any) return true;
    return s->best_broken == 0 && s->items.lost + s->best_spilled <= s->run->known_bound;
}

void annealing_measure_best(struct search *s)
{
    s->best_spilled = links_cost(&s->links[1], s->best, &s->best_broken);
    s->best_height = items_height(&s->items, s->best);
    s->best_off = 0;
    for (int32_t i = 0; i < s->items.count; i++) s->best_off += s->best[i] < 0;
}

/* Lists longer than a window are only refilled: decoding all of a long list costs more than it gains. */
static void anneal_rounds(struct search *s)
{
    const int64_t *option = s->option;
    s->mix = (struct move_mix){(uint32_t)option[OFF], (uint32_t)option[CRITICAL], (uint32_t)option[MERGE],
                               (uint32_t)option[FAR], (uint32_t)option[SWAP],     (uint32_t)option[TURN]};
    decoder_make(&s->decoder, &s->items, true);
    decoder_link(&s->decoder, &s->links[0]);
    ejector_make(&s->ejector, &s->items, &s->links[1]);

    /* Overflow counts in proportion to the fee of the item. */
    struct decoder *d = &s->decoder;
    int64_t room = max_i64(d->overflow_cap, 1);
    for (int32_t i = 0; i < s->items.count; i++)
        d->slope[i] = (int64_t)((int128)max_i64(d->fee[i], 0) * s->option[GUIDE] / 1000 / room);

    cooling_make(&s->schedule);
    s->by_steps = s->run->work_limit > 0;
    int64_t work =
        s->by_steps ? s->run->work_limit : min_i64(option[MAX_EFFORT], option[EFFORT] * s->items.count);
    /* Annealing seldom finds the few orders that pack everything without waste: the fit search goes first. */
    if (s->problem->objective == LX_FIT && pack_all(&s->items, s->run, work / PACK_NODE, s->best))
        annealing_measure_best(s);
    if (!s->worth) {
        phase_cycles(s, work);
        return;
    }
    refiller_make(&s->refiller, &s->items, &s->links[1], s->worth);
    int64_t part = s->items.count > option[WINDOW] ? work : share_of(work, option[REFILL_SHARE]);
    phase_refills(s, part - part / 3, option[REFILL_HOT]);
    if (part < work) phase_cycles(s, work - part);
    phase_refills(s, part / 3, option[REFILL_WARM]);
}

enum { STAT_PAIRS, STAT_DECODED, STATS };

static const struct lx_stat_row stats[STATS] = {
    [STAT_PAIRS] = {"pairs", "pairs", "of buffers that live at the same time"},
    [STAT_DECODED] = {"decoded", "groups", "placed anew, over all moves"},
};

static void anneal_report(const struct search *s, struct lx_answer *answer)
{
    items_answer(&s->items, s->best, answer->address);
    bool complete = s->best_broken == 0 && (s->problem->objective != LX_HEIGHT || s->best_off == 0);
    answer->status = complete && (annealing_is_done(s) || !s->stopped) ? LX_FEASIBLE : LX_LIMIT;
    answer->steps = s->steps;
    answer->bound = 0;
    lx_answer_count(answer, &lx_solver_anneal, STAT_PAIRS, s->items.pairs);
    lx_answer_count(answer, &lx_solver_anneal, STAT_DECODED, s->decoder.visits);
    if (s->best_broken)
        snprintf(answer->message, sizeof answer->message,
                 "no answer found in which all is placed that must be, and nothing happens that must not");
    else if (!complete)
        snprintf(answer->message, sizeof answer->message, "fixed addresses leave no room for every buffer");
    else if (s->items.pairs > s->option[MAX_PAIRS])
        snprintf(answer->message, sizeof answer->message,
                 "more than %lld conflicting pairs: only the starting heuristics ran; raise max-pairs",
                 (long long)s->option[MAX_PAIRS]);
}

/* Uses the addresses of first-fit's order if all placed buffers fit there: people compare plans, and equal
 * ones should look equal. */
static void anneal_use_common_addresses(struct search *s)
{
    size_t n = (size_t)s->items.count;
    bool *keep = arena_array(&s->memory, n + 1, sizeof *keep);
    int64_t *usual = arena_array(&s->memory, n + 1, sizeof *usual);
    if (!s->items.near || s->problem->objective == LX_HEIGHT) return;
    for (size_t i = 0; i < n; i++) keep[i] = s->best[i] >= 0;
    start_by_score(&s->items, keep, s->run, usual);
    for (size_t i = 0; i < n; i++)
        if (keep[i] && usual[i] < 0) return;
    memcpy(s->best, usual, n * sizeof *usual);
}

static bool anneal_solve(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    struct search s = {.problem = problem, .run = run, .rng = rng_seed(run->seed), .reported = INT64_MAX};
    s.began = clock_seconds();
    for (int i = 0; i < OPTIONS; i++) s.option[i] = lx_run_option(&lx_solver_anneal, run, i);
    items_make(&s.items, problem, s.option[MAX_PAIRS], run);
    s.best = arena_array(&s.memory, (size_t)s.items.count + 1, sizeof *s.best);
    s.shown = arena_array(&s.memory, (size_t)problem->count + 1, sizeof *s.shown);
    links_make(&s.links[0], &s.items);
    links_make(&s.links[1], &s.items);
    if (problem->objective == LX_SPILL && s.items.near) {
        s.worth = arena_array(&s.memory, (size_t)s.items.count + 1, sizeof *s.worth);
        prices_find(&s.items, WORTH_PERCENT, run, s.worth);
    }

    if (run->incumbent) items_from_answer(&s.items, run->incumbent, s.best);
    start_best(&s.links[1], s.worth, run, run->incumbent != NULL, s.best);
    annealing_measure_best(&s);
    bool can = s.items.near && s.items.count > 0 && s.items.count < 1 << KEY_INDEX_BITS &&
               (problem->objective != LX_HEIGHT || s.best_off == 0);
    if (can && !annealing_must_stop(&s)) anneal_rounds(&s);
    anneal_use_common_addresses(&s);
    anneal_report(&s, answer);

    arena_free(&s.decoder.memory);
    arena_free(&s.ejector.memory);
    arena_free(&s.refiller.memory);
    arena_free(&s.links[0].memory);
    arena_free(&s.links[1].memory);
    arena_free(&s.items.memory);
    arena_free(&s.memory);
    return true;
}

const struct lx_solver lx_solver_anneal = {
    .abi = LX_SOLVER_ABI,
    .name = "anneal",
    .summary = "simulated annealing over placement orders, decoded incrementally",
    .caps = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT | LX_IS_SEEDED | LX_CAN_LINKED_COSTS | LX_CAN_MUST |
            LX_CAN_TOGETHER,
    .options = options,
    .option_count = OPTIONS,
    .stats = stats,
    .stat_count = STATS,
    .solve = anneal_solve,
};
