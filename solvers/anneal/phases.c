/* The phases of the annealing: cycles over orders, cycles of ejections, refilling of windows. */
#include "anneal/annealing.h"
#include "exact/fit/fit.h"

void cooling_make(struct schedule *s)
{
    *s = (struct schedule){0};
    for (uint32_t i = 0; i < 1u << LOG_TABLE_BITS; i++) {
        /* log2(x) for x in [1, 2) with 31 fraction bits: squaring doubles the logarithm, whose integer
         * part is the next binary digit. */
        uint64_t x = (UINT64_C(1) << 31) + ((uint64_t)i << (31 - LOG_TABLE_BITS));
        uint32_t log = 0;
        for (int digit = LOG_FRACTION_BITS - 1; digit >= 0; digit--) {
            x = (x * x) >> 31;
            if (x >> 32) {
                log |= UINT32_C(1) << digit;
                x >>= 1;
            }
        }
        s->log2_table[i] = log;
    }
    s->log2_table[1 << LOG_TABLE_BITS] = 1u << LOG_FRACTION_BITS;
}

int64_t schedule_allowance(const struct schedule *s, uint64_t random)
{
    /* -log2(u), u = (random + 1/2) / 2^64, 16 fraction bits. */
    random |= 1;
    int zeros = __builtin_clzll(random);
    uint64_t mantissa = random << zeros << 1; /* the bits after the leading one */
    uint32_t index = (uint32_t)(mantissa >> (64 - LOG_TABLE_BITS));
    uint64_t part = (mantissa << LOG_TABLE_BITS) >> 48;
    uint64_t low = s->log2_table[index], high = s->log2_table[index + 1];
    uint64_t fraction = low + (((high - low) * part) >> 16);
    uint64_t minus_log2 = ((uint64_t)(zeros + 1) << LOG_FRACTION_BITS) - fraction;
    const uint64_t ln2 = 45426; /* ln 2 with 16 fraction bits */
    return (int64_t)(((int128)s->now * (int128)((minus_log2 * ln2) >> 16)) >> LOG_FRACTION_BITS);
}

void schedule_heat(struct schedule *s, int64_t hot, int64_t cold, int64_t work)
{
    s->hot = max_i64(hot, 1);
    s->cold = min_i64(max_i64(cold, 1), s->hot);
    s->left = max_i64(work, 1);
    s->stage = max_i64(s->left / COOLING_STAGES, 1);
    s->next = s->left - s->stage;
    /* The k-th root of cold / hot by bisection on the 32-bit fraction. */
    int64_t k = max_i64(s->left / s->stage, 1);
    uint64_t low = 0, high = UINT64_C(1) << 32;
    uint64_t wanted = (uint64_t)(((int128)s->cold << 32) / s->hot);
    for (int i = 0; i < 33 && low + 1 < high; i++) {
        uint64_t middle = (low + high) / 2, power = UINT64_C(1) << 32, factor = middle;
        for (int64_t e = k; e > 0; e >>= 1) {
            if (e & 1) power = (uint64_t)(((int128)power * factor) >> 32);
            factor = (uint64_t)(((int128)factor * factor) >> 32);
        }
        if (power <= wanted)
            low = middle;
        else
            high = middle;
    }
    s->ratio = low > 0 ? low : 1;
    s->now = s->hot;
}

bool schedule_spend(struct schedule *s, int64_t work)
{
    s->left -= work;
    for (; s->left <= s->next && s->next > 0; s->next -= s->stage)
        s->now = max_i64((int64_t)(((int128)s->now * (int128)s->ratio) >> 32), 1);
    return s->left > 0;
}

enum { CHECK_STRIDE = 512, CHECK_LOOKS = 1 << 19, SAMPLE_MOVES = 256, AIM_PART = 64, STEP_WORK = 16 };

/* Polls every CHECK_STRIDE steps, or after CHECK_LOOKS visited neighbours if steps are long. */
static bool phases_is_cancelled(struct search *s, int64_t looks)
{
    int64_t since = looks - s->looked_at;
    if (s->steps % CHECK_STRIDE != 0 && since >= 0 && since < CHECK_LOOKS) return false;
    s->looked_at = looks;
    return annealing_must_stop(s);
}

struct dear {
    int64_t cost;
    int32_t item;
};

ORDER(compare_dear, struct dear, ORDER_DOWN(cost) ORDER_UP(item));

/* Places items off chip into holes of the best answer, the most expensive first: stacking cannot see
 * holes. */
static void fill_holes(struct search *s)
{
    SCOPED(arena_free) struct arena memory = {0};
    const struct items *it = &s->items;
    size_t n = (size_t)it->count;
    struct sharing *share = arena_array(&memory, n + 1, sizeof *share);
    struct byte_range *scratch = arena_array(&memory, n + 1, sizeof *scratch);
    struct dear *off = arena_array(&memory, n + 1, sizeof *off);
    int32_t count = 0;
    struct taken_bits map;
    lowest_fit_map(it, &map);
    for (int32_t i = 0; i < it->count; i++) {
        share[i] = (struct sharing){i, i}; /* no handovers here: the decoder chooses them */
        if (s->best[i] < 0) off[count++] = (struct dear){it->item[i].cost, i};
    }
    qsort(off, (size_t)count, sizeof *off, compare_dear);
    struct links *links = s->links[1].any ? &s->links[1] : NULL;
    if (links) links_load(links, s->best);
    for (int32_t k = 0; k < count; k++) {
        int32_t i = off[k].item;
        if (links && links_rise(links, i) >= 0) continue;
        s->best[i] = lowest_fit(it, i, s->best, share, scratch, &map);
        if (links && s->best[i] >= 0) links_flip(links, i);
    }
    mem_free(map.bits);
    annealing_measure_best(s);
}

/* The cost of the decoder's state; `*broken` counts the rules that it breaks. */
static int64_t decoded_spill(const struct search *s, int32_t *broken)
{
    const struct links *links = s->decoder.links;
    *broken = links ? links->broken : 0;
    return s->decoder.spilled + (links ? links->value : 0);
}

static bool phases_is_better(const struct search *s, int64_t spilled, int32_t broken)
{
    return broken != s->best_broken ? broken < s->best_broken : spilled < s->best_spilled;
}

/* Stores the decoder's state as the best answer. */
static void phases_keep_best(struct search *s)
{
    decoder_save(&s->decoder, s->best);
    s->best_spilled = decoded_spill(s, &s->best_broken);
    s->best_off = s->decoder.off.count;
    if (s->problem->objective == LX_HEIGHT) s->best_height = items_height(&s->items, s->best);
}

/* Height: lowers the target below the best height, by a small part of the remaining gap, so that the target
 * does not move for every byte. */
static bool aim_lower(struct search *s)
{
    struct decoder *d = &s->decoder;
    int64_t height = s->best_height - max_i64((s->best_height - s->run->known_bound) / AIM_PART, 1);
    for (int32_t i = 0; i < s->items.count; i++) {
        int64_t room = height - s->items.item[i].bytes;
        d->last[i] =
            room < 0 ? -1 : room / s->problem->alignment / s->items.item[i].align * s->items.item[i].align;
    }
    return decoder_decode_all(d);
}

static bool state_is_better(const struct search *s)
{
    int32_t broken;
    int64_t spilled = decoded_spill(s, &broken);
    if (s->problem->objective == LX_SPILL) return phases_is_better(s, spilled, broken);
    return s->decoder.off.count < (s->problem->objective == LX_FIT ? s->best_off : 1);
}

/* The mean change of energy by a move; each move is undone. */
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
static void run_orders(struct search *s, int64_t work, bool hotter)
{
    struct decoder *d = &s->decoder;
    decoder_load(d, s->best);
    s->stopped = !decoder_decode_all(d) || (s->problem->objective == LX_HEIGHT && !aim_lower(s));
    if (s->stopped) return;
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
            phases_keep_best(s);
            if (annealing_is_done(s)) return;
            s->stopped = s->problem->objective == LX_HEIGHT && !aim_lower(s);
        }
        if (s->stopped || phases_is_cancelled(s, d->looks)) return;
    } while (schedule_spend(&s->schedule, s->by_steps ? 1 : d->looks - looks + STEP_WORK));
    if (s->problem->objective != LX_HEIGHT) fill_holes(s);
}

/* Keeps a state if it is the best: with links its energy alone does not tell. */
static bool keep_if_better(struct search *s, const struct links *links, int64_t spilled, int32_t off)
{
    int32_t broken = links ? links->broken : 0;
    if (links) spilled += links->value;
    if (links && !phases_is_better(s, spilled, broken)) return false;
    s->best_spilled = spilled;
    s->best_broken = broken;
    s->best_off = off;
    return true;
}

/* One cycle of ejections, from the best placement, stacked once to close its gaps. */
static void run_ejections(struct search *s, int64_t work, bool hotter)
{
    struct ejector *e = &s->ejector;
    struct ejection plan;
    decoder_load(&s->decoder, s->best);
    s->stopped = !decoder_decode_all(&s->decoder);
    if (s->stopped) return;
    /* The stacking is kept unless it is worse. */
    int32_t broken;
    int64_t spilled = decoded_spill(s, &broken);
    bool no_worse = s->links[0].any ? broken <= s->best_broken : s->decoder.off.count <= s->best_off;
    if (no_worse && spilled <= s->best_spilled) phases_keep_best(s);
    ejector_load(e, s->best);
    int64_t best = e->energy, mean = 0, looks;
    for (int k = 0; k < SAMPLE_MOVES && ejector_plan(e, &s->rng, &plan); k++)
        mean += (plan.rise < 0 ? -plan.rise : plan.rise) / SAMPLE_MOVES;
    schedule_heat(&s->schedule, share_of(mean, s->option[hotter ? EJECT_HOT : EJECT_COOL]),
                  share_of(mean, s->option[COLD]), work);
    do {
        looks = e->looks;
        s->steps++;
        if (phases_is_cancelled(s, e->looks)) break;
        if (!ejector_plan(e, &s->rng, &plan)) break;
        if (plan.rise > schedule_allowance(&s->schedule, rng_next(&s->rng))) continue;
        ejector_apply(e, &s->rng, &plan);
        if (e->energy >= best && !e->links) continue;
        best = e->energy;
        if (!keep_if_better(s, e->links, e->spilled, e->off.count)) continue;
        ejector_save(e, s->best);
        if (annealing_is_done(s)) break;
    } while (schedule_spend(&s->schedule, s->by_steps ? 1 : e->looks - looks + STEP_WORK));
}

static void refill_window(struct search *s, int64_t hot, int64_t cold, int64_t work)
{
    struct refiller *f = &s->refiller;
    int64_t best = f->energy, looks;
    schedule_heat(&s->schedule, hot, cold, work);
    do {
        looks = f->looks;
        s->steps++;
        if (phases_is_cancelled(s, f->looks)) break;
        if (!refiller_step(f, &s->rng, schedule_allowance(&s->schedule, rng_next(&s->rng)))) break;
        if (f->energy >= best && !f->links) continue;
        best = f->energy;
        if (!keep_if_better(s, f->links, f->spilled, f->off_all)) continue;
        refiller_save(f, s->best);
        if (annealing_is_done(s)) break;
    } while (schedule_spend(&s->schedule, s->by_steps ? 1 : f->looks - looks + STEP_WORK));
    refiller_restore(f, s->best);
}

void phase_refills(struct search *s, int64_t work, int64_t hot)
{
    int32_t n = s->items.count, wide = (int32_t)s->option[WINDOW], windows = n <= wide ? 1 : 2 * n / wide;
    int64_t mean = 0;
    for (int32_t i = 0; i < n; i++) mean += max_i64(s->links[1].fee[i], 0) / n;
    refiller_load(&s->refiller, s->best);
    for (int32_t k = 0; k < windows && !s->stopped && !annealing_is_done(s); k++) {
        int32_t from = 0, to = n;
        if (windows > 1) {
            from = (int32_t)((int64_t)n * k / (windows + 1));
            to = (int32_t)((int64_t)n * (k + 2) / (windows + 1));
        }
        refiller_window(&s->refiller, from, to);
        refill_window(s, share_of(mean, hot), share_of(mean, s->option[REFILL_COLD]),
                      work / windows + (k < work % windows));
    }
    LOG(anneal, "refilled %d windows: %" PRId64 ", %" PRId64 " steps", (int)windows, annealing_objective(s),
        s->steps);
}

void phase_cycles(struct search *s, int64_t work)
{
    /* Each cycle decodes everything once: limit the cycles so that the search gets most of the work. */
    int64_t cycles = s->option[CYCLES];
    if (!s->by_steps) cycles = max_i64(min_i64(cycles, work / (8 * s->items.pairs + 1)), 1);
    bool only_orders = s->problem->objective == LX_HEIGHT;
    for (int64_t cycle = 0; cycle < cycles && !s->stopped && !annealing_is_done(s); cycle++) {
        int64_t share = work / cycles + (cycle < work % cycles);
        if (share == 0) break;
        bool hotter = only_orders ? cycle % 2 == 1 : cycle % 4 == 1 || cycle % 4 == 2;
        (only_orders || cycle % 2 == 0 ? run_orders : run_ejections)(s, share, hotter);
        LOG(anneal, "cycle %" PRId64 " of %" PRId64 ": %" PRId64 ", %" PRId64 " steps", cycle + 1, cycles,
            annealing_objective(s), s->steps);
    }
}

struct ending {
    const struct lx_run *run;
    double deadline; /* 0: none */
};

static bool pack_all_stopped(void *context)
{
    const struct ending *e = context;
    return lx_run_stopped(e->run) || (e->deadline > 0 && clock_seconds() > e->deadline);
}

bool pack_all(const struct items *it, const struct lx_run *run, int64_t nodes, int64_t *base)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)it->count + 1;
    struct fit_item *items = arena_array(&memory, n, sizeof *items);
    struct fit_piece *pieces = arena_array(&memory, n, sizeof *pieces);
    int64_t *trial = arena_array(&memory, n, sizeof *trial);
    struct ending ending = {run, run->time_limit > 0 ? clock_seconds() + run->time_limit : 0};
    struct fit_limits limits = {
        .nodes = nodes, .seed = run->seed, .stop = pack_all_stopped, .context = &ending};
    struct fit_stats stats;
    for (int32_t i = 0; i < it->count; i++) {
        const struct item *b = &it->item[i];
        pieces[i] = (struct fit_piece){b->start, b->end, b->size};
        items[i] = (struct fit_item){i, 1, b->align, b->fixed};
    }
    struct fit_problem p = {.capacity = it->problem->capacity / it->problem->alignment,
                            .item_count = it->count,
                            .piece_count = it->count,
                            .items = items,
                            .pieces = pieces};
    bool found = fit_solve(&p, &limits, trial, &stats) == FIT_YES;
    for (int32_t i = 0; found && i < it->count; i++) base[i] = trial[i];
    return found;
}
