/* Co-optimisation of a divided graph: the goals, and the divisions that reach them.
 *
 * Goal time is the joint problem as it is. Goal traffic asks for the fewest bytes among the plans that take
 * no longer than the old divisions do. First bytes outweigh all times; if the plan that comes out is too
 * slow, the price of a byte, in picoseconds, is halved in until the plan is as fast: from a high price, where
 * only bytes count, to the rate of the memory itself. Every price proves a bound: a plan of the problem takes
 * the old time at most, so its bytes are at least (bound - old time) / price. The old plan is always among
 * the plans. */
#include "cooptimise/cooptimise.h"
#include "base/checked.h"
#include "base/memory.h"
#include "cooptimise/cooptimise_problem.h"
#include "cooptimise/joint_model.h"

#include <math.h>

enum {
    MOST_STEPS = 8000000, /* of all searches together */
    LEAST_STEPS = 1000000,
    STEPS_AN_OP = 10000,
    PRICES = 16,   /* of a byte: BYTE_TIME times 1, 2, 4, ... picoseconds */
    BYTE_TIME = 7, /* at 150 GB/s */
    TRAFFIC_SEARCHES = 6,
};

/* Tolls stay below this. */
static const int64_t most_toll = (int64_t)1 << 58;

/* A plan, and what was proved on the way to it. */
struct outcome {
    int32_t *choice;
    int64_t *address;
    struct lx_cooptimise_figures figures;
    int64_t units; /* of its time */
};

struct goal_search {
    struct graph_problem w;
    const struct lx_cooptimise_options *how;
    struct outcome seed, best;
    int64_t bound; /* bytes, or time units */
    int64_t steps, leaves;
    double deadline; /* of the monotonic clock, in seconds; 0: none */
    bool flipped;    /* the published search has been tried, it does not depend on prices */
    enum lx_verdict status;
};

/* One joint search with a byte at this price; `*answer` says what was proved of bytes and time together. */
static bool cooptimise_run_search(struct goal_search *s, enum lx_joint_mode mode, int64_t units_per_byte,
                                  int64_t steps, struct outcome *plan, struct lx_joint_answer *answer,
                                  lx_status *st)
{
    struct lx_joint_options how = {
        .mode = mode, .solver = s->how->solver, .run = s->how->run, .without_flip = s->flipped};
    how.run.work_limit = steps;
    if (s->deadline > 0) how.run.time_limit = fmax(s->deadline - clock_seconds(), 1e-3);
    s->flipped |= mode == LX_JOINT_FULL;
    graph_problem_toll(&s->w, units_per_byte);
    if (!lx_joint_search(&s->w.problem, &how, &s->w.memory, answer, st)) return false;
    plan->choice = answer->choice;
    plan->address = answer->address;
    s->steps += answer->steps;
    s->leaves += answer->leaves;
    if (answer->status == LX_LIMIT) s->status = LX_LIMIT;
    graph_problem_measure(&s->w, plan->choice, plan->address, &plan->figures, &plan->units);
    return true;
}

static void keep_if_less(struct goal_search *s, const struct outcome *plan)
{
    const struct lx_cooptimise_figures *a = &plan->figures, *b = &s->best.figures;
    if (a->traffic_bytes > b->traffic_bytes) return;
    if (a->traffic_bytes < b->traffic_bytes || plan->units < s->best.units) s->best = *plan;
}

/* What the search at this price proves of every plan that takes `time` at most. */
static void prove_bytes(struct goal_search *s, int64_t bound, int64_t time, int64_t units_per_byte)
{
    if (bound <= time) return;
    int64_t bytes = round_up_i64(ceil_div_i64(bound - time, units_per_byte), max_i64(s->w.grain, 1));
    s->bound = max_i64(s->bound, bytes);
}

/* A byte outweighs the times of all ops together, or as much of them as there is room for. */
static int64_t top_price(const struct goal_search *s)
{
    int64_t top = 1;
    while (top < (int64_t)1 << 40 && s->w.traffic <= most_toll / (top * 2)) top *= 2;
    return top;
}

/* What is left of the work, shared with the searches that may still come. */
static int64_t next_share(const struct goal_search *s, int64_t steps, int searches)
{
    return max_i64((steps - s->steps) / max_i64(searches, 1), 1);
}

static bool traffic_search(struct goal_search *s, int64_t steps, lx_status *st)
{
    struct lx_joint_answer a;
    struct outcome plan;
    int64_t top = top_price(s);
    bool paced = !s->how->any_pace && s->how->mode == LX_JOINT_FULL;
    int64_t allowed = paced ? s->seed.units : s->w.worst_time;
    int searches = paced ? TRAFFIC_SEARCHES : 1;
    /* Time alone: a plan that is fast enough, and often one of little traffic. */
    if (paced && !cooptimise_run_search(s, LX_JOINT_FULL, 0, next_share(s, steps, searches--), &plan, &a, st))
        return false;
    if (paced) keep_if_less(s, &plan);
    if (!cooptimise_run_search(s, s->how->mode, top, next_share(s, steps, searches--), &plan, &a, st))
        return false;
    prove_bytes(s, a.bound, allowed, top);
    if (plan.units <= allowed) return keep_if_less(s, &plan), true;
    int low = -1, high = PRICES; /* prices that gave plans fast enough, and too slow */
    while (high - low > 1 && s->best.figures.traffic_bytes > s->bound && !lx_run_stopped(&s->how->run) &&
           (s->deadline <= 0 || clock_seconds() <= s->deadline)) {
        int middle = (low + high) / 2;
        int64_t price = min_i64(max_i64(((int64_t)BYTE_TIME << middle) >> s->w.shift, 1), top);
        if (!cooptimise_run_search(s, LX_JOINT_FULL, price, next_share(s, steps, searches--), &plan, &a, st))
            return false;
        prove_bytes(s, a.bound, allowed, price);
        if (plan.units <= allowed) {
            keep_if_less(s, &plan);
            low = middle;
        } else
            high = middle;
    }
    return true;
}

static bool time_search(struct goal_search *s, int64_t steps, lx_status *st)
{
    struct lx_joint_answer a;
    struct outcome plan;
    if (!cooptimise_run_search(s, s->how->mode, 0, steps, &plan, &a, st)) return false;
    s->bound = a.bound;
    if (plan.units <= s->best.units) s->best = plan;
    return true;
}

static bool reach_goal(struct goal_search *s, lx_status *st)
{
    int64_t steps = min_i64(MOST_STEPS, LEAST_STEPS + (int64_t)STEPS_AN_OP * s->w.g->op_count);
    if (s->how->run.work_limit > 0) steps = s->how->run.work_limit;
    bool traffic = s->how->goal == LX_GOAL_TRAFFIC;
    struct lx_joint_answer a;
    s->status = LX_FEASIBLE;
    if (s->how->run.time_limit > 0) s->deadline = clock_seconds() + s->how->run.time_limit;
    if (!cooptimise_run_search(s, LX_JOINT_SEED, traffic ? top_price(s) : 0, steps, &s->seed, &a, st))
        return false;
    s->best = s->seed;
    if (s->how->mode != LX_JOINT_SEED &&
        !(traffic ? traffic_search(s, steps, st) : time_search(s, steps, st)))
        return false;
    int64_t reached = traffic ? s->best.figures.traffic_bytes : s->best.units;
    s->bound = min_i64(s->bound, reached);
    if (s->bound == reached) s->status = LX_OPTIMAL;
    return true;
}

static bool choose_division(const struct goal_search *s, int32_t op, struct lx_cooptimised *out,
                            lx_status *st)
{
    const struct op_menu *m = &s->w.menus.at[s->w.menus.of_op[op]];
    int32_t choice = s->best.choice[op];
    if (choice == m->seed) return true;
    struct lx_division *chosen = arena_alloc(out->memory, sizeof *chosen);
    out->divided[op] = chosen;
    out->changed++;
    return lx_division_with(s->w.d, op, &m->splits[(int64_t)choice * m->split_count], out->memory, chosen,
                            st);
}

static bool choose_divisions(const struct goal_search *s, struct lx_cooptimised *out, lx_status *st)
{
    out->divided = arena_array(out->memory, (size_t)s->w.d->count, sizeof *out->divided);
    bool ok = true;
    for (int32_t o = 0; ok && o < s->w.d->count; o++) ok = choose_division(s, o, out, st);
    return ok;
}

static void cooptimise_report(const struct goal_search *s, struct lx_cooptimised *out)
{
    out->address =
        arena_copy_array(out->memory, s->best.address, (size_t)s->w.g->tensor_count, sizeof *out->address);
    out->seed = s->seed.figures;
    out->now = s->best.figures;
    out->status = s->status;
    out->steps = s->steps;
    out->leaves = s->leaves;
    if (s->how->goal == LX_GOAL_TRAFFIC) {
        out->bound_bytes = s->bound;
        out->gap = lx_gap(out->now.traffic_bytes, s->bound);
    } else {
        out->bound_us = (double)s->bound * (double)((int64_t)1 << s->w.shift) / 1e6;
        out->gap = lx_gap(s->best.units, s->bound);
    }
}

bool lx_cooptimise(const struct lx_divisions *d, const struct lx_cooptimise_options *how,
                   struct lx_cooptimised *out, lx_status *st)
{
    struct goal_search s = {.how = how, .flipped = how->without_flip};
    *out = (struct lx_cooptimised){.status = LX_ERROR, .memory = mem_zeroed(1, sizeof *out->memory)};
    bool ok = graph_problem_make(&s.w, d, how, st) && reach_goal(&s, st);
    if (ok) cooptimise_report(&s, out);
    ok = ok && choose_divisions(&s, out, st);
    graph_problem_free(&s.w);
    if (!ok) lx_cooptimised_free(out);
    return ok;
}

void lx_cooptimised_free(struct lx_cooptimised *c)
{
    if (!c) return;
    if (c->memory) arena_free(c->memory);
    mem_free(c->memory);
    *c = (struct lx_cooptimised){.status = LX_ERROR};
}
