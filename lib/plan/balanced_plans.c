/* Objectives that take several plans. `bytes`: where divisions, and not the room, make a plan move much, the
 * better of it and one with co-optimisation. `time`: the faster of a plan by time and of one that starts from a plan by
 * bytes. `balanced`: least bytes among plans at most SLOWER times as slow as the fastest.
 *
 * A plan by bytes is the answer if its time is near the bound of time. Else a plan by time says how fast the
 * graph can be, and where the first is slower, further searches look for the least bytes within the limit. They
 * start from the fastest plan, and from the one with the fewest bytes within the limit that any search by time
 * came to; without it, from the first. */
#include "plan/plan_make.h"
#include "plan/plan_slot.h"
#include "nests/nest_candidates.h"
#include "search/time.h"

static const double SLOWER = 1.1, CLOSE = 1.01; /* CLOSE: to the bound of time */

/* Tensors where the pattern wants them; less time, as far as it is above `fast_us`; then fewer bytes, then less time
 * at all. */
static bool balanced_is_better(const struct lx_plan *p, const struct lx_plan *than, double fast_us)
{
    const double own = p->figures.end_to_end_us, other = than->figures.end_to_end_us;
    const int64_t fewer = than->figures.hbm_bytes - p->figures.hbm_bytes;
    const bool met = lx_plan_stated_met(p, NULL);
    if (met != lx_plan_stated_met(than, NULL)) return met;
    if (fmax(own, fast_us) != fmax(other, fast_us)) return fmax(own, fast_us) < fmax(other, fast_us);
    return fewer ? fewer > 0 : own < other;
}

/* The plans of a search: by bytes, by time, from the first and without co-optimisation, and two within the
 * limit. */
struct balanced {
    const struct lx_graph *g;
    const struct lx_plan_options *asked;
    struct lx_plan *made[6];
    int count;
    double fastest;
    lx_status *st;
    struct search_states *states;
};

/* Adds a plan by the objective, which starts from a plan unless that is NULL; `left`: the plans that share the
 * time left. False: `st`. */
static bool balanced_add(struct balanced *b, struct lx_plan_options *how, enum lx_ask objective,
                         const struct lx_plan *from, int left)
{
    how->objective = objective;
    how->passes.by_time = true;
    how->fast_us = objective == LX_ASK_BALANCED ? SLOWER * b->fastest : 0;
    how->keeps_quiet = true;
    how->states = b->states;
    how->run = plan_run_share(&b->asked->run, left);
    how->from = from;
    how->like = from ? from : b->made[0];
    if (cancel_requested()) return true;
    struct lx_plan *p = plan_best(b->g, how, b->st);
    if (!p && b->st->code == LX_E_STOPPED) return *b->st = (lx_status){0}, true;
    if (p) b->made[b->count++] = p;
    return p;
}

static bool balanced_try(struct balanced *b, enum lx_ask objective, const struct lx_plan *from, int left)
{
    struct lx_plan_options how = *b->asked;
    return balanced_add(b, &how, objective, from, left);
}

/* By time without co-optimisation, which may lead elsewhere. */
static bool balanced_try_plainly(struct balanced *b, int left)
{
    struct lx_plan_options how = *b->asked;
    if (how.passes.cooptimise == LX_COOPTIMISE_NONE) return true;
    how.passes.cooptimise = LX_COOPTIMISE_NONE;
    return balanced_add(b, &how, LX_ASK_TIME, NULL, left);
}

/* The plan with the fewest bytes that a search by time came to within the limit; else `fast`. */
static const struct lx_plan *balanced_leanest(const struct balanced *b, const struct lx_plan *fast)
{
    for (size_t i = 0; i < b->states->lean.count; i++)
        if (balanced_is_better(b->states->lean.at[i], fast, SLOWER * b->fastest))
            fast = b->states->lean.at[i];
    return fast;
}

/* Makes the plans; false: `st`. */
static bool balanced_try_all(struct balanced *b)
{
    const struct lx_plan *first = b->made[0], *fast = first;
    const double us = first->figures.end_to_end_us;
    if (!balanced_try(b, LX_ASK_TIME, NULL, 5)) return false;
    bool close = b->count > 1 && b->made[1]->figures.end_to_end_us <= CLOSE * b->made[1]->figures.bound_us;
    if (!close && !(balanced_try(b, LX_ASK_TIME, first, 4) && balanced_try_plainly(b, 3))) return false;
    for (int i = 1; i < b->count; i++)
        if (b->made[i]->figures.end_to_end_us < fast->figures.end_to_end_us) fast = b->made[i];
    b->fastest = fast->figures.end_to_end_us;
    /* Nothing is left to gain if the fastest moves as little as the first, which is by bytes. */
    if (us <= SLOWER * b->fastest || fast->figures.hbm_bytes <= first->figures.hbm_bytes) return true;
    const struct lx_plan *lean = balanced_leanest(b, fast);
    return balanced_try(b, LX_ASK_BALANCED, fast, 2) &&
           balanced_try(b, LX_ASK_BALANCED, lean == fast ? first : lean, 1);
}

/* The best plan; frees the others. */
static struct lx_plan *balanced_take(struct balanced *b)
{
    struct lx_plan *p = b->made[0];
    double seconds = 0;
    for (int i = 0; i < b->count; i++) {
        b->fastest = fmin(b->fastest, b->made[i]->figures.end_to_end_us);
        seconds += b->made[i]->seconds;
    }
    for (int i = 1; i < b->count; i++)
        if (balanced_is_better(b->made[i], p, b->fastest * SLOWER)) p = b->made[i];
    if (p != b->made[0]) p->seconds = seconds;
    p->limit_us = b->fastest * SLOWER;
    for (int i = 0; i < b->count; i++)
        if (b->made[i] != p) lx_plan_free(b->made[i]);
    return p;
}

/* Judges the plan by bytes; `least` of them is proved, and `least_us` of time. */
static void balanced_settle(struct lx_plan *p, int64_t least, double least_us)
{
    if (p->asks_time) p->unproved = NULL;
    p->asks_time = false;
    p->balanced = true;
    p->figures.bound_us = least_us;
    p->figures.perfect_hbm_bytes =
        p->figures.perfect_hbm_bytes < 0 ? least : min_i64(p->figures.perfect_hbm_bytes, least);
    p->figures.bound_bytes = least - p->figures.perfect_hbm_bytes;
    p->figures.spill_bytes = p->figures.hbm_bytes - p->figures.perfect_hbm_bytes;
    plan_settle(p);
    if (p->answer.status != LX_OPTIMAL && !p->unproved)
        p->unproved = "not proved optimal: a plan with fewer bytes may be as fast";
}

/* Faster plans than `first`, which is by bytes. */
static struct lx_plan *balanced_search(const struct lx_graph *g, const struct lx_plan_options *options,
                                       struct lx_plan *first, lx_status *st)
{
    const int64_t bytes = first->figures.hbm_bytes;
    const double by_bytes_us = first->figures.end_to_end_us, least_us = first->figures.bound_us;
    const struct lx_joint joint = first->joint;
    int64_t least = lx_plan_least(first);
    first = plan_offer_twin(first);
    struct search_states states = {.slower = SLOWER};
    struct balanced b = {g, options, {first}, 1, by_bytes_us, st, &states};
    /* The bound of given divisions is none of plans with others. */
    if (!first->joint.searched) least = min_i64(least, crossing_traffic(first->draft));
    bool ok = balanced_try_all(&b);
    for (size_t i = 0; i < states.lean.count; i++) lx_plan_free(states.lean.at[i]);
    VEC_FREE(&states.lean);
    VEC_FREE(&states.of);
    if (!ok) {
        for (int i = 0; i < b.count; i++) lx_plan_free(b.made[i]);
        return NULL;
    }
    struct lx_plan *p = balanced_take(&b);
    if (p == first) return p;
    if (joint.searched) { /* its bound is that of all divisions */
        p->joint.searched = true;
        p->joint.bound_bytes = joint.bound_bytes;
    }
    balanced_settle(p, least, least_us);
    if (bytes < p->figures.hbm_bytes) {
        p->fewer_bytes = bytes;
        p->fewer_bytes_us = by_bytes_us;
    }
    return p;
}

struct lx_plan *plan_balanced(const struct lx_graph *g, const struct lx_plan_options *options, lx_status *st)
{
    struct lx_plan_options how = *options;
    how.objective = LX_ASK_TRAFFIC;
    how.overlaps = true;
    how.run = plan_run_share(&options->run, 6);
    struct lx_plan *p = plan_best(g, &how, st);
    if (!p || p->graph->list || p->problem.objective != LX_SPILL || p->answer.status == LX_ERROR || !p->draft)
        return p;
    double least_us = fmin(time_bound_divided(p->draft, NULL), plan_other_least_us(p, options));
    balanced_settle(p, lx_plan_least(p), least_us);
    p->limit_us = p->figures.end_to_end_us;
    bool fast = p->figures.end_to_end_us <= SLOWER * least_us || how.run.quick;
    return fast || cancel_requested() ? p : balanced_search(g, options, p, st);
}

/* A plan by time from a plan by bytes, and one without co-optimisation: each may be faster than the plan by time
 * in `b`. False: `st`. */
static bool fastest_try_others(struct balanced *b)
{
    struct lx_plan_options how = *b->asked;
    how.keeps_quiet = true;
    how.objective = LX_ASK_TRAFFIC;
    how.passes.by_time = false;
    how.overlaps = true;
    how.like = b->made[0];
    how.run = plan_run_share(&b->asked->run, 3);
    SCOPED(plan_free_at) struct lx_plan *bytes = plan_best(b->g, &how, b->st);
    bool ok = bytes || b->st->code == LX_E_STOPPED;
    if (bytes && bytes->draft) ok = balanced_try(b, LX_ASK_TIME, bytes, 2);
    *b->st = ok ? (lx_status){0} : *b->st;
    return ok && balanced_try_plainly(b, 1);
}

/* Takes over from `p`, whose bound is of all graphs. */
static void balanced_succeed(struct lx_plan *better, const struct lx_plan *p)
{
    better->seconds += p->seconds;
    better->figures.bound_us = fmin(better->figures.bound_us, p->figures.bound_us);
    plan_settle(better);
    if (better->answer.status != LX_OPTIMAL && !better->unproved)
        better->unproved = "not proved optimal: the bound holds with and without running sums";
}

struct lx_plan *plan_fastest(const struct lx_graph *g, const struct lx_plan_options *options, lx_status *st)
{
    struct lx_plan_options how = *options;
    struct search_states states = {0};
    how.states = &states;
    how.run = plan_run_share(&options->run, 4);
    struct lx_plan *p = plan_best(g, &how, st);
    bool others = p && p->asks_time && p->draft && !options->from && !*options->nests &&
                  !options->run.quick && !cancel_requested() &&
                  p->figures.end_to_end_us > CLOSE * p->figures.bound_us;
    if (others) p = plan_offer_twin(p);
    struct balanced b = {g, options, {p}, 1, 0, st, &states};
    bool ok = !others || fastest_try_others(&b);
    VEC_FREE(&states.of);
    for (int i = 1; i < b.count; i++) {
        bool better = ok && balanced_is_better(b.made[i], p, 0);
        if (better) balanced_succeed(b.made[i], p);
        lx_plan_free(better ? p : b.made[i]);
        if (better) p = b.made[i];
    }
    if (!ok) lx_plan_free(p);
    return ok ? p : NULL;
}

struct lx_plan *plan_fewest(const struct lx_graph *g, const struct lx_plan_options *options, lx_status *st)
{
    static const double MUCH = 1.2; /* times what must cross HBM */
    struct lx_plan *p = plan_best(g, options, st);
    bool open = p && options->any_division && p->draft && p->problem.objective == LX_SPILL &&
                !options->from && !*options->nests && !options->run.quick && !cancel_requested();
    if (!open || 2 * p->figures.height_bytes > p->problem.capacity ||
        (double)p->figures.hbm_bytes < MUCH * (double)crossing_traffic(p->draft))
        return p;
    struct lx_plan_options how = *options;
    how.passes.cooptimise = LX_COOPTIMISE_FULL;
    how.like = p = plan_offer_twin(p);
    struct lx_plan *other = plan_best(g, &how, st);
    bool better = other && other->figures.hbm_bytes < p->figures.hbm_bytes &&
                  lx_plan_stated_met(other, NULL) >= lx_plan_stated_met(p, NULL);
    if (better) other->seconds += p->seconds;
    if (!other) *st = (lx_status){0};
    lx_plan_free(better ? p : other);
    return better ? other : p;
}
