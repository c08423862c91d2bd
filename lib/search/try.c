/* One try: makes a draft under some decisions, solves it and counts its real traffic. */
#include "search/trial.h"
#include "search/search_steps.h"
#include "search/keep.h"
#include "search/time.h"

void attempt_free(struct attempt *a)
{
    draft_free(&a->draft);
    if (a->memory) arena_free(a->memory);
    mem_free(a->memory);
    *a = (struct attempt){0};
}

bool attempt_copy(const struct search *search, const struct attempt *from, struct attempt *out)
{
    *out = *from;
    out->draft = (struct draft){0};
    out->memory = mem_zeroed(1, sizeof *out->memory);
    bool ok = draft_make(search->divided, &from->draft.how, out->memory, &out->draft, search->st);
    if (ok) draft_waits(&out->draft, out->memory, &out->asked);
    if (ok && from->draft.work) /* the same divisions */
        out->draft.work = arena_copy_array(out->memory, from->draft.work,
                                           (size_t)out->draft.graph->op_count + 1, sizeof *out->draft.work);
    out->draft.problem.objective = from->draft.problem.objective;
    out->answer.address = arena_copy_array(out->memory, from->answer.address,
                                           (size_t)out->asked.problem.count, sizeof *out->answer.address);
    if (!ok) attempt_free(out);
    return ok;
}

bool attempt_is_better(const struct attempt *a, const struct attempt *b)
{
    return a->us < b->us || (a->us == b->us && a->hbm_bytes < b->hbm_bytes);
}

/* `best` becomes the better of the two, and `next` the other. */
static bool attempt_sort(struct attempt *best, struct attempt *next)
{
    bool better = attempt_is_better(next, best);
    if (better) {
        struct attempt old = *best;
        *best = *next;
        *next = old;
    }
    return better;
}

bool attempt_keep_better(struct attempt *best, struct attempt *next)
{
    LOG(attempt, "HBM %" PRId64 " against %" PRId64, next->hbm_bytes, best->hbm_bytes);
    bool better = attempt_sort(best, next);
    attempt_free(next);
    return better;
}

static bool trial_make_draft(const struct trial *trial, const struct decisions *decisions,
                             struct attempt *out)
{
    *out = (struct attempt){.perfect_bytes = -1, .memory = mem_zeroed(1, sizeof *out->memory)};
    struct decisions plain = *decisions;
    plain.move_count = 0; /* moves belong to other addresses */
    if (!draft_make(trial->search->divided, &plain, out->memory, &out->draft, trial->search->st))
        return attempt_free(out), false;
    if (asks_time(trial->search) && plain.passes.prefetch == LX_PREFETCH_AUTO)
        stream_slow_operands(&out->draft);
    return true;
}

static bool trial_end(const struct trial *trial, struct attempt *a)
{
    if (!trial_solve_draft(trial, a)) {
        attempt_free(a);
        return false;
    }
    lean_note(trial->search, a);
    if (a->us > trial->most_us) return attempt_free(a), true;
    LOG(attempt, "%d cuts, %d loaded: HBM %" PRId64 ", cost %" PRId64 ", bound %" PRId64,
        (int)a->draft.how.cut_count, (int)a->draft.how.loaded_count, a->hbm_bytes, a->answer.objective,
        a->bound);
    return true;
}

bool trial_solve(const struct trial *trial, const struct decisions *decisions, struct attempt *out)
{
    return trial_make_draft(trial, decisions, out) && trial_end(trial, out);
}

/* True if relayouts are chosen by total traffic. If all buffers must be placed, all relayouts are kept. */
static bool decides_relayouts(const struct trial *trial)
{
    return !asks_time(trial->search) && !trial->effort.quick &&
           lx_asked(trial->search->request->objective, LX_SPILL) == LX_SPILL;
}

/* Number of drafts to solve. More pay off only with a solver that proves optimality; capped by the graph's
 * size. */
static int draft_budget(const struct trial *trial)
{
    int64_t size = trial->search->divided->layouts->graph->tensor_count + 1;
    unsigned both = LX_CAN_PROVE | LX_CAN_LINKED_COSTS;
    int least = size > 2000 ? 1 : 4;
    return (trial->effort.solver->caps & both) == both ? (int)max_i64(least, min_i64(64, 8000 / size))
                                                       : least;
}

/* If a source that waits for its copies found no room, loads the copies from HBM, so that the source is on
 * chip for its own uses only. */
bool try_loading_copies(const struct search *search, const struct effort *effort, struct limit limit,
                        struct attempt *attempt)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct decisions decisions = attempt->draft.how;
    struct effort as_decided = *effort;
    struct attempt next = {0};
    int32_t stays = attempt->draft.problem.count, count = 0;
    int64_t saved = 0;
    struct cut *copies = arena_array(&memory, (size_t)stays, sizeof *copies);
    for (int32_t i = 0; i < stays; i++) {
        /* Is the source of this copy off chip, and would it save bytes on chip? */
        const struct draft *x = &attempt->draft;
        int32_t source = x->stays[i].ring_source;
        if (source < 0 || attempt->answer.address[source] >= 0 ||
            x->stays[source].exclusion != LX_EXCLUDED_NONE || x->buffers[source].spill_cost <= 0 ||
            x->buffers[source].end <= x->stays[i].first)
            continue;
        saved += attempt->draft.buffers[attempt->draft.stays[i].ring_source].spill_cost;
        copies[count++] = (struct cut){attempt->draft.stays[i].tensor, attempt->draft.stays[i].first};
    }
    if (count > 1) qsort(copies, (size_t)count, sizeof *copies, cut_compare);
    decisions.loaded = copies;
    decisions.loaded_count = count;
    as_decided.drafts = DRAFTS_AS_DECIDED;
    struct limit less = {attempt->us, attempt->hbm_bytes - 1};
    bool worth = count > 0 && attempt->hbm_bytes - saved <= limit_bytes(search, limit);
    bool ok = !worth || try_decisions(search, &decisions, &as_decided, less, &next);
    if (ok && next.memory) attempt_keep_better(attempt, &next);
    return ok;
}

/* Decides relayouts, with at most `drafts` drafts; by time solves the draft of `out`, if there is one. On a large graph all sources wait for their copies; then
 * copies whose sources found no room are loaded. */
static bool decide(const struct trial *trial, const struct decisions *decisions, int drafts,
                   struct attempt *out)
{
    if (!decides_relayouts(trial))
        return out->memory ? trial_end(trial, out) : trial_solve(trial, decisions, out);
    if (!is_large(trial->search)) return trial_decide_relayouts(trial, decisions, drafts, out);
    struct trial once = *trial;
    once.effort.solver_steps = trial_draft_steps(trial);
    if (!trial_solve(&once, decisions, out)) return false;
    if (out->hbm_bytes > trial->stop_at && !lx_run_stopped(&trial->effort.run) &&
        !try_loading_copies(trial->search, &once.effort, no_limit, out)) {
        attempt_free(out);
        return false;
    }
    out->bound = min_i64(trial->stop_at, out->hbm_bytes);
    out->open_relayouts = true;
    return true;
}

/* Tries with all sources waiting for their copies. A solver that proves nothing may find a better answer
 * here. */
static bool try_all_kept(const struct trial *trial, const struct decisions *decisions, struct attempt *best)
{
    enum { STEPS = 5000 }; /* if there is no limit: most of the effort is spent by now */
    struct trial once = *trial;
    struct attempt next;
    int64_t bound = best->bound;
    bool open = best->open_relayouts;
    once.effort.solver_steps = STEPS;
    if (best->hbm_bytes <= bound) return true;
    if (!trial_solve(&once, decisions, &next)) return false;
    attempt_keep_better(best, &next);
    best->bound = min_i64(bound, best->hbm_bytes);
    best->open_relayouts = open;
    return true;
}

/* Objective time: tries to load relayout copies from HBM if only one side was placed. */
static bool try_loaded(const struct trial *trial, struct attempt *best, bool *better)
{
    struct decisions decisions = best->draft.how;
    struct attempt next;
    size_t most = (size_t)best->draft.problem.count + (size_t)decisions.loaded_count;
    struct cut *list = mem_alloc((most + 1) * sizeof *list);
    int32_t before = decisions.loaded_count;
    *better = false;
    /* Copies with a place for source or copy, but not for both. */
    const struct draft *x = &best->draft;
    int32_t count = x->how.loaded_count;
    if (count) memcpy(list, x->how.loaded, (size_t)count * sizeof *list);
    for (int32_t i = 0; i < x->problem.count; i++) {
        int32_t source = x->stays[i].ring_source;
        if (source < 0 || (best->answer.address[i] >= 0) == (best->answer.address[source] >= 0)) continue;
        list[count++] = (struct cut){x->stays[i].tensor, x->stays[i].first};
    }
    if (count > 1) qsort(list, (size_t)count, sizeof *list, cut_compare);
    decisions.loaded_count = count;
    decisions.loaded = list;
    bool ok = decisions.loaded_count == before || trial_solve(trial, &decisions, &next);
    if (ok && decisions.loaded_count > before && next.memory) {
        next.perfect_bytes = best->perfect_bytes;
        *better = attempt_keep_better(best, &next);
    }
    mem_free(list);
    return ok;
}

static bool try_many(const struct trial *trial, const struct decisions *decisions, struct attempt *out)
{
    enum { ROUNDS = 3 };
    const struct lx_run *run = &trial->effort.run;
    bool relayouts = decides_relayouts(trial);
    if (!decide(trial, decisions, draft_budget(trial), out)) return false;
    if (!out->memory) return true;
    bool ok = true, better = asks_time(trial->search) && !trial->effort.quick;
    if (relayouts && decisions->passes.clone == LX_CLONE_HEURISTIC && !lx_run_stopped(run)) {
        /* The rule of the heuristic may make copies that cost more than they save: try without any. */
        struct decisions none = *decisions;
        struct attempt next;
        int64_t bound = out->bound;
        none.passes.clone = LX_CLONE_NONE;
        next.memory = NULL;
        ok = decide(trial, &none, draft_budget(trial), &next);
        if (next.memory) bound = min_i64(bound, next.bound); /* each bound holds for its own copies */
        if (ok) attempt_keep_better(out, &next);
        out->bound = bound;
    }
    if (ok && relayouts && !is_large(trial->search) && !lx_run_stopped(run))
        ok = try_all_kept(trial, decisions, out);
    struct lx_passes kept = out->draft.how.passes;
    out->draft.how.passes.clone = decisions->passes.clone; /* the bound is that of the request */
    ok = ok && perfect_traffic(&out->draft, &out->perfect_bytes, trial->search->st);
    out->draft.how.passes = kept;
    for (int round = 0; ok && better && round < ROUNDS && !lx_run_stopped(run); round++)
        ok = try_loaded(trial, out, &better);
    if (!ok) attempt_free(out);
    return ok;
}

int64_t limit_bytes(const struct search *search, struct limit limit)
{
    return limit.us <= search->request->fast_us ? limit.bytes : INT64_MAX;
}

/* True if the draft takes longer than the trial's limit, whatever is on chip. */
static bool trial_takes_longer(const struct trial *trial, struct draft *x)
{
    return !isinf(trial->most_us) && draft_least_us(x) > trial->most_us;
}

bool try_decisions(const struct search *search, const struct decisions *decisions,
                   const struct effort *effort, struct limit limit, struct attempt *out)
{
    enum { FEW = 3 };
    int64_t below = limit_bytes(search, limit);
    struct trial trial = {search, *effort, 0, INT64_MAX, asks_time(search) ? limit.us : INFINITY};
    struct decisions plain = *decisions;
    *out = (struct attempt){0};
    if (effort->drafts != DRAFTS_MANY) trial.below = below;
    if (effort->drafts == DRAFTS_AS_DECIDED) {
        if (!trial_make_draft(&trial, decisions, out)) return false;
        struct draft *x = &out->draft;
        if (below < INT64_MAX || effort->quick) trial.stop_at = x->least_bytes;
        /* bound by the room on each tick */
        if (x->least_bytes <= below && effort->quick && !asks_time(search)) {
            int64_t bound = lx_bound(&x->problem);
            if (bound < INT64_MAX) trial.stop_at = x->base_bytes + bound;
        }
        if (trial.stop_at <= below && !trial_takes_longer(&trial, x)) return trial_end(&trial, out);
        attempt_free(out);
        return true;
    }
    /* Relayout choices and early loads refer to one draft's stays: drop them before making another. */
    plain.loaded_count = plain.kept_count = plain.early_count = 0;
    plain.lax = false;
    if (below < INT64_MAX || !isinf(trial.most_us)) {
        if (!trial_make_draft(&trial, &plain, out)) return false;
        bool above = out->draft.least_bytes > below || trial_takes_longer(&trial, &out->draft);
        if (above || decides_relayouts(&trial)) attempt_free(out);
        if (above) return true;
    }
    /* A cheap lower bound. It would not hold for the prices of the heuristic clone rule. */
    if (!(is_large(search) && plain.nest_count > 0) && decides_relayouts(&trial) &&
        plain.passes.clone != LX_CLONE_HEURISTIC && plain.cut_count == 0 &&
        effort->solver != search->request->quick_solver && !keep_least(search, &plain, &trial.stop_at))
        return false;
    if (trial.stop_at > below) return true;
    return effort->drafts == DRAFTS_MANY
               ? try_many(&trial, &plain, out)
               : decide(&trial, &plain, (int)min_i64(FEW, draft_budget(&trial)), out);
}

bool try_with(const struct search *search, enum drafts drafts, const struct decisions *decisions,
              struct attempt *out)
{
    struct effort effort = search->effort;
    effort.drafts = drafts;
    return try_decisions(search, decisions, &effort, no_limit, out);
}

static uint64_t try_mix(uint64_t hash, int64_t value)
{
    hash = (hash ^ (uint64_t)value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

uint64_t decisions_hash(const struct decisions *how, int32_t ops, uint64_t seed)
{
    uint64_t hash = seed, holds = 0; /* holds: in any order */
    for (int32_t o = 0; how->order && o < ops; o++) hash = try_mix(hash, how->order[o]);
    for (int32_t i = 0; i < how->nest_count; i++) {
        const struct lx_nest *n = &how->nests[i];
        hash = try_mix(try_mix(hash, n->first), n->last);
        for (int l = 0; l < n->level_count; l++) hash = try_mix(try_mix(hash, n->tiles[l]), n->var[0][l]);
    }
    for (int32_t i = 0; i < how->hold_count; i++)
        holds += try_mix(try_mix(try_mix(3, how->holds[i].tensor), how->holds[i].nest), how->holds[i].level);
    for (int32_t i = 0; i < how->cut_count; i++)
        hash = try_mix(try_mix(hash, how->cuts[i].tensor), how->cuts[i].before);
    for (int32_t i = 0; i < how->apart_count; i++) hash = try_mix(hash, how->apart[i]);
    return try_mix(hash, (int64_t)holds);
}

/* The note of decisions that try_and_offer tried; NULL: there is none, or tries are not noted. */
static struct tried *try_known(const struct search *search, const struct decisions *how)
{
    int32_t ops = search->divided->count;
    tried_list *list = search->tried;
    if (!list) return NULL;
    uint64_t hash = decisions_hash(how, ops, how->order ? 5 : 4);
    for (int32_t o = 0; how->divided && o < ops; o++) /* a division has one place in memory */
        hash = try_mix(hash, (int64_t)(intptr_t)how->divided[o]);
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i].hash == hash) return &list->at[i];
    VEC_PUSH(list, ((struct tried){hash, 0, -1}));
    return &list->at[list->count - 1];
}

bool try_and_offer(struct search *search, const struct decisions *decisions, bool *better)
{
    struct attempt next;
    struct tried *known = try_known(search, decisions);
    *better = false;
    struct limit less = {useful_us(search), search->best.hbm_bytes - 1};
    const int64_t below = limit_bytes(search, less);
    if (known && known->us >= less.us && (known->least == INT64_MAX || known->least > below)) return true;
    if (!try_decisions(search, decisions, &search->effort, less, &next)) return false;
    if (next.memory) {
        next.perfect_bytes = search->best.perfect_bytes;
        *better = offer_attempt(search, &next);
    }
    if (known && !search_is_over(search)) {
        known->us = less.us;
        known->least = below < INT64_MAX ? search->best.hbm_bytes : INT64_MAX;
    }
    return true;
}

struct effort effort_asked(const struct lx_plan_options *request)
{
    struct effort effort = {
        .solver = request->solver, .run = request->run, .drafts = DRAFTS_FEW, .quick = request->run.quick};
    effort.run.quick = false;
    return effort;
}

struct effort effort_quick_solver(const struct search *search)
{
    struct effort effort = search->effort;
    effort.solver = search->request->quick_solver;
    effort.run.options = NULL;
    effort.run.work_limit = 0;
    return effort;
}

struct effort effort_last(const struct search *search)
{
    struct effort effort = search->effort;
    effort.run.stop = NULL;
    effort.run.time_limit = 0;
    effort.quick = true;
    effort.drafts = DRAFTS_AS_DECIDED;
    if (search->request->quick_solver) effort.solver = search->request->quick_solver;
    return effort;
}

bool engine_runs(const struct search *search, enum engine engine)
{
    const struct lx_passes *passes = &search->best.draft.how.passes;
    const bool on[] = {[ENGINE_NESTS] = passes->tile != LX_TILE_NONE,
                       [ENGINE_ORDER] = passes->reorder,
                       [ENGINE_EVICT] = passes->evict,
                       [ENGINE_MOVE] = passes->move};
    return on[engine] && !(search->skipped >> engine & 1);
}

/* Do both divide the ops alike, or cost the same? */
static bool attempt_is_like(const struct attempt *a, const struct attempt *b)
{
    if (!a->memory || !b->memory) return false;
    const struct lx_division *const *x = a->draft.how.divided, *const *y = b->draft.how.divided;
    if ((a->us == b->us && a->hbm_bytes == b->hbm_bytes) || x == y) return true;
    for (int32_t o = 0; o < a->draft.graph->op_count; o++)
        if ((x ? x[o] : NULL) != (y ? y[o] : NULL)) return false;
    return true;
}

/* Takes the attempt over. */
static void runners_add(struct search *search, struct attempt *next)
{
    struct attempt *at = search->runners ? search->runners->at[search->runners->level] : NULL;
    bool known = !at || !next->memory || ops_too_wide(&next->draft) || attempt_is_like(&search->best, next);
    for (int i = 0; i < RUNNERS && !known; i++) {
        known = attempt_is_like(&at[i], next);
        if (known) attempt_sort(&at[i], next);
    }
    for (int i = 0; i < RUNNERS && !known && next->memory; i++)
        if (!at[i].memory || attempt_is_better(next, &at[i])) {
            struct attempt old = at[i];
            at[i] = *next;
            *next = old;
        }
    attempt_free(next);
}

double useful_us(const struct search *search)
{
    static const double SLOWER = 1.15;
    const struct runners *r = search->runners;
    const struct attempt *last = r ? &r->at[r->level][RUNNERS - 1] : NULL;
    double most = r ? SLOWER * search->best.us : search->best.us;
    return last && last->memory ? fmax(search->best.us, fmin(most, last->us)) : most;
}

void runners_free(struct runners *runners)
{
    for (int l = 0; l < RUNNER_LEVELS; l++)
        for (int i = 0; i < RUNNERS; i++) attempt_free(&runners->at[l][i]);
}

bool offer_attempt(struct search *search, struct attempt *next)
{
    bool better = attempt_sort(&search->best, next);
    runners_add(search, next);
    if (better && search->offers) search->offers->offer(search, false);
    return better;
}

void replace_best(struct search *search, struct attempt *next)
{
    attempt_free(&search->best);
    search->best = *next;
    if (search->offers) search->offers->offer(search, false);
}
