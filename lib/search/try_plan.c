/* One try at a plan: a draft under some decisions, solved and weighed by what it really moves. */
#include "search/keep.h"
#include "search/nest_edits.h"
#include "search/planner.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/memory.h"
#include "placement/solve.h"

#include <stdlib.h>
#include <string.h>

void attempt_free(struct attempt *a)
{
    draft_free(&a->draft);
    if (a->memory) arena_free(a->memory);
    mem_free(a->memory);
    *a = (struct attempt){0};
}

static bool begin_attempt(const struct planner *p, const struct decisions *how, struct attempt *out)
{
    *out = (struct attempt){.perfect_bytes = -1, .memory = mem_zeroed(1, sizeof *out->memory)};
    if (!out->memory) return status_no_memory(p->st);
    struct decisions plain = *how;
    plain.move_count = 0; /* moves are of other addresses */
    if (draft_make(p->divided, &plain, out->memory, &out->draft, p->st)) return true;
    attempt_free(out);
    return false;
}

static bool end_attempt(const struct planner *p, struct attempt *a)
{
    if (!attempt_solve(p, a)) {
        attempt_free(a);
        return false;
    }
    LOG(attempt, "%d cuts, %d loaded: HBM %" PRId64 ", cost %" PRId64 ", bound %" PRId64,
        (int)a->draft.how.cut_count, (int)a->draft.how.loaded_count, a->hbm_bytes, a->answer.objective,
        a->bound);
    return true;
}

bool attempt_once(const struct planner *p, const struct decisions *how, struct attempt *out)
{
    return begin_attempt(p, how, out) && end_attempt(p, out);
}

/* What the draft moves at least: with all room, then with what is there on each tick; the latter where nothing but the
 * solver decides, while it may be as little as `most`. */
static bool find_least(const struct planner *p, const struct draft *x, int64_t most, int64_t *least)
{
    *least = x->least_bytes;
    if (*least > most || !p->options->run.hasty || asks_time(p)) return true;
    int64_t bound = lx_bound(&x->problem);
    if (bound < INT64_MAX) *least = x->base_bytes + bound;
    return true;
}

/* Are relayouts decided by what the whole moves? Where all must be placed, all are kept. */
static bool decides_relayouts(const struct planner *p)
{
    return !asks_time(p) && !p->options->run.hasty && lx_asked(p->options->objective, LX_SPILL) == LX_SPILL;
}

/* What is decided about relayouts is of the draft that it was decided for. */
static struct decisions without_relayouts(const struct decisions *how)
{
    struct decisions plain = *how;
    plain.loaded_count = plain.kept_count = 0;
    plain.lax = false;
    return plain;
}

/* Below what is nothing under these decisions, where that is known sooner than a solver answers; else 0. By the rule of
 * the heuristic it is solved by other prices. */
static bool find_enough(const struct planner *p, const struct decisions *how, int64_t *enough)
{
    const struct lx_plan_options *options = p->options;
    *enough = 0;
    if (is_large(p) && how->nest_count > 0) return true; /* it would tell the solver alone when to stop */
    if (!decides_relayouts(p) || how->passes.clone == LX_CLONE_HEURISTIC || how->cut_count > 0 ||
        options->solver == options->quick_solver)
        return true;
    return keep_least(p, how, enough);
}

/* Who proves nothing gains little by many tries; who does may take long on large graphs. */
static int tries_of(const struct planner *p)
{
    int64_t size = p->divided->layouts->graph->tensor_count + 1;
    unsigned both = LX_CAN_PROVE | LX_CAN_CHARGES;
    int least = size > 2000 ? 1 : 4;
    return (p->options->solver->caps & both) == both ? (int)max_i64(least, min_i64(64, 8000 / size)) : least;
}

/* What is there stands, then: nothing better is looked for. */
static bool try_plan_is_stopped(const struct planner *p)
{
    return lx_run_stopped(&p->options->run);
}

/* Of a large graph: all sources wait for their copies; then copies are loaded whose sources found no room. */
static bool attempt_waiting(const struct planner *p, const struct decisions *plain, struct attempt *out)
{
    struct planner by = *p;
    by.spare = relayout_steps(p);
    if (!attempt_once(&by, plain, out)) return false;
    if (out->hbm_bytes > p->enough && !try_plan_is_stopped(p) && !nest_let_go(&by, 0, out)) {
        attempt_free(out);
        return false;
    }
    out->bound = min_i64(p->enough, out->hbm_bytes);
    out->open_relayouts = true;
    return true;
}

/* Relayouts decided anew, with at most so many drafts. */
static bool attempt_decided(const struct planner *p, const struct decisions *plain, int tries,
                            struct attempt *out)
{
    if (!decides_relayouts(p)) return attempt_once(p, plain, out);
    return is_large(p) ? attempt_waiting(p, plain, out) : relayout_search(p, plain, tries, out);
}

/* Where many attempts are made. */
static int few_tries(const struct planner *p)
{
    enum { TRIES = 3 };
    return tries_of(p) < TRIES ? tries_of(p) : TRIES;
}

bool attempt_make(const struct planner *p, const struct decisions *how, struct attempt *out)
{
    struct planner tries = *p;
    struct decisions plain = without_relayouts(how);
    return find_enough(p, &plain, &tries.enough) && attempt_decided(&tries, &plain, few_tries(p), out);
}

bool attempt_below(const struct planner *p, const struct decisions *how, int64_t below, struct attempt *out)
{
    struct planner by = *p;
    int64_t most = below > 0 && !asks_time(p) ? below : INT64_MAX;
    if (!begin_attempt(p, how, out)) return false;
    bool ok = find_least(p, &out->draft, most, &by.enough);
    /* Relayouts of large graphs are decided as the decisions say. */
    if (ok && by.enough <= most && (p->options->run.hasty || is_large(p))) return end_attempt(&by, out);
    bool worth = ok && by.enough <= most;
    attempt_free(out);
    return ok && (!worth || attempt_make(p, how, out));
}

bool attempt_keep_better(struct attempt *best, struct attempt *next)
{
    bool better = next->us < best->us || (next->us == best->us && next->hbm_bytes < best->hbm_bytes);
    LOG(attempt, "%s: HBM %" PRId64 " against %" PRId64, better ? "kept" : "dropped", next->hbm_bytes,
        best->hbm_bytes);
    if (better) {
        struct attempt old = *best;
        *best = *next;
        *next = old;
    }
    attempt_free(next);
    return better;
}

bool attempt_copy(const struct planner *p, const struct attempt *from, struct attempt *out)
{
    *out = *from;
    out->draft = (struct draft){0};
    out->memory = mem_zeroed(1, sizeof *out->memory);
    if (!out->memory) return status_no_memory(p->st);
    bool ok = draft_make(p->divided, &from->draft.how, out->memory, &out->draft, p->st);
    if (ok) draft_waits(&out->draft, out->memory, &out->asked);
    out->draft.problem.objective = from->draft.problem.objective;
    out->answer.address = arena_copy_array(out->memory, from->answer.address,
                                           (size_t)out->asked.problem.count, sizeof *out->answer.address);
    if (ok && out->answer.address) return true;
    attempt_free(out);
    return ok ? status_no_memory(p->st) : false;
}

bool planner_try(struct planner *p, const struct decisions *how, bool *better)
{
    struct planner tries = *p;
    struct decisions plain = without_relayouts(how);
    struct attempt next;
    *better = false;
    if (!find_enough(p, &plain, &tries.enough)) return false;
    if (tries.enough > 0 && tries.enough >= p->best.hbm_bytes) return true; /* none of them is better */
    if (!attempt_decided(&tries, &plain, few_tries(p), &next)) return false;
    next.perfect_bytes = p->best.perfect_bytes;
    *better = attempt_keep_better(&p->best, &next);
    return true;
}

/* Copies of which only one side found a place: they are filled from HBM. */
static int32_t find_loaded(const struct attempt *a, struct cut *list)
{
    const struct draft *x = &a->draft;
    int32_t count = x->how.loaded_count;
    if (count) memcpy(list, x->how.loaded, (size_t)count * sizeof *list);
    for (int32_t i = 0; i < x->problem.count; i++) {
        int32_t source = x->stays[i].ring_source;
        if (source < 0 || (a->answer.address[i] >= 0) == (a->answer.address[source] >= 0)) continue;
        list[count++] = (struct cut){x->stays[i].tensor, x->stays[i].first};
    }
    if (count > 1) qsort(list, (size_t)count, sizeof *list, cut_compare);
    return count;
}

/* Where time is asked for: a relayout of which only one side was placed is better planned through HBM. */
static bool try_loaded(struct planner *p, bool *better)
{
    struct decisions how = p->best.draft.how;
    struct attempt next;
    size_t most = (size_t)p->best.draft.problem.count + (size_t)how.loaded_count;
    struct cut *list = mem_alloc((most + 1) * sizeof *list);
    int32_t before = how.loaded_count;
    *better = false;
    if (!list) return status_no_memory(p->st);
    how.loaded_count = find_loaded(&p->best, list);
    how.loaded = list;
    bool ok = how.loaded_count == before || attempt_once(p, &how, &next);
    if (ok && how.loaded_count > before) {
        next.perfect_bytes = p->best.perfect_bytes;
        *better = attempt_keep_better(&p->best, &next);
    }
    mem_free(list);
    return ok;
}

/* What the rule of the heuristic copies may cost more than it saves: then nothing is copied. */
static bool try_without_copies(struct planner *p, const struct decisions *how)
{
    struct decisions none = *how;
    struct attempt next;
    int64_t bound = p->best.bound;
    none.passes.clone = LX_CLONE_NONE;
    if (!attempt_decided(p, &none, tries_of(p), &next)) return false;
    attempt_keep_better(&p->best, &next);
    p->best.bound = bound;
    return true;
}

/* All sources wait for their copies: the question that solvers are compared by. One who proves nothing may answer it
 * better than those above. */
static bool try_all_kept(struct planner *p, const struct decisions *how)
{
    enum { STEPS = 5000 }; /* where no limit is asked for: most of the effort is spent by now */
    struct planner once = *p;
    struct attempt next;
    int64_t bound = p->best.bound;
    bool open = p->best.open_relayouts;
    once.spare = STEPS;
    if (p->best.hbm_bytes <= bound || p->options->run.hasty) return true;
    if (!attempt_once(&once, how, &next)) return false;
    attempt_keep_better(&p->best, &next);
    p->best.bound = min_i64(bound, p->best.hbm_bytes);
    p->best.open_relayouts = open;
    return true;
}

bool attempt_plain(const struct planner *p, const struct decisions *how, struct attempt *out)
{
    enum { ROUNDS = 3 };
    struct planner tries = *p;
    struct decisions plain = without_relayouts(how);
    if (!find_enough(p, &plain, &tries.enough)) return false;
    bool ok = attempt_decided(&tries, &plain, tries_of(p), &tries.best);
    if (!ok) return false;
    if (decides_relayouts(p) && how->passes.clone == LX_CLONE_HEURISTIC && !try_plan_is_stopped(p))
        ok = try_without_copies(&tries, &plain);
    ok = ok &&
         (!decides_relayouts(p) || is_large(p) || try_plan_is_stopped(p) || try_all_kept(&tries, &plain));
    ok = ok && perfect_traffic(&tries.best.draft, &tries.best.perfect_bytes, p->st);
    bool better = asks_time(p) && !p->options->run.hasty;
    for (int round = 0; ok && better && round < ROUNDS && !try_plan_is_stopped(p); round++)
        ok = try_loaded(&tries, &better);
    *out = tries.best;
    if (!ok) attempt_free(out);
    return ok;
}
