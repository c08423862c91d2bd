/* Solves the joint problem: seeds, then the published search, then beams; the best by the true objective
 * wins.
 *
 * Messages and prices give a bound (joint_bound.c); beams look for choices (joint_beam.c); the solver finds
 * addresses. If the solver cannot place all buffers of a beam, further beams keep those off chip, then plan
 * for a smaller scratchpad. Then come branching (joint_branch.c) and wider beams, until bound and objective
 * are equal or the steps are used up. The clock is only a safeguard. */
#include "cooptimise/joint_model.h"

enum {
    FLIP_LEAVES = 1024,  /* limit on the published search */
    FLIP_WORK = 1 << 16, /* limit on leaves times buffers */
    REPAIRS = 3,
    PRICE_ROUNDS = 24,
    FIRST_WIDTH = 16,
    FIRST_STATES = 1 << 16, /* limit on width times ops */
    SECOND_WIDTH = 64,
    WIDTH_GROWTH = 8,
    MAX_WIDTH = 1 << 15,
    DEFAULT_STEPS = 10000000,
};

/* Shares of the scratchpad, in 64ths, tried in turn until the solver can place a beam's plan. */
static const int64_t tight_shares[] = {63, 61, 58, 54};

bool joint_leaf_solve(const struct lx_joint_problem *p, const struct lx_joint_options *how,
                      struct joint_leaf *leaf, lx_status *st)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct lx_problem placement;
    struct lx_answer answer = {.address = leaf->address};
    struct lx_run run = {.seed = how->run.seed,
                         .time_limit = how->run.time_limit,
                         .options = how->run.options,
                         .stop = how->run.stop,
                         .context = how->run.context};
    OWNED bool *on = mem_zeroed((size_t)p->buffer_count + 1, sizeof *on);
    lx_joint_placement(p, leaf->choice, &memory, &placement);
    bool ok = lx_problem_solve(&placement, how->solver, &run, &answer, st);
    leaf->proved = ok && answer.status == LX_OPTIMAL;
    leaf->unpinned = 0;
    for (int32_t i = 0; ok && i < p->buffer_count; i++) {
        on[i] = leaf->address[i] >= 0;
        if (!on[i]) leaf->unpinned += max_i64(p->buffers[i].bytes, 0);
    }
    if (ok) leaf->objective = lx_joint_cost(p, leaf->choice, on);
    return ok;
}

static void swap_if_better(struct joint_search *s)
{
    s->last = &s->trial;
    if (s->trial.objective >= s->best.objective) return;
    s->last = &s->best;
    struct joint_leaf t = s->best;
    s->best = s->trial;
    s->trial = t;
}

bool joint_try_leaf(struct joint_search *s, lx_status *st)
{
    if (!joint_leaf_solve(s->p, s->how, &s->trial, st)) return false;
    s->steps++;
    s->leaves++;
    swap_if_better(s);
    return true;
}

bool joint_try_beam(struct joint_search *s, int32_t width, int64_t capacity, struct joint_beam_result *r,
                    bool *placed, lx_status *st)
{
    struct joint_beam_options how = {.width = width,
                                     .capacity = capacity,
                                     .cut = s->best.objective,
                                     .step_limit = s->step_limit - s->steps,
                                     .run = &s->how->run,
                                     .deadline = s->deadline};
    *r = (struct joint_beam_result){.choice = s->trial.choice};
    joint_beam(&s->model, &how, r);
    s->steps += r->steps;
    s->stopped |= r->stopped;
    *placed = true;
    if (!r->found) return true;
    if (!joint_leaf_solve(s->p, s->how, &s->trial, st)) return false;
    s->leaves++;
    *placed = s->trial.objective <= r->cost;
    swap_if_better(s);
    const struct lx_run *run = &s->how->run;
    struct lx_progress now = {.steps = s->steps,
                              .objective = INT64_MAX}; /* its costs are not the plan's bytes */
    if (run->progress) run->progress(run->context, &now);
    LOG(cooptimise, "%" PRId64 ", bound %" PRId64 ", %" PRId64 " steps", s->best.objective, s->bound,
        s->steps);
    return true;
}

bool joint_finished(const struct joint_search *s)
{
    return s->stopped || s->steps >= s->step_limit || s->bound >= s->best.objective;
}

/* Fixes the buffers that the solver could not place off chip and chooses again. Proves nothing. */
static bool joint_solve_repair(struct joint_search *s, int32_t width, bool *placed, lx_status *st)
{
    struct joint_model *m = &s->model;
    struct joint_beam_result r;
    bool ok = true;
    for (int k = 0; ok && !*placed && k < REPAIRS && !joint_finished(s); k++) {
        bool any = false;
        for (int32_t v = 0; v < m->var_count; v++) {
            int32_t buffer = m->vars[v].buffer;
            if (m->vars[v].fixed || s->last->address[buffer] >= 0 ||
                lx_joint_label(s->p, s->last->choice, buffer) < 0)
                continue;
            m->vars[v].fixed = -1;
            any = true;
        }
        if (!any) break;
        joint_messages(m, &s->steps);
        ok = joint_try_beam(s, width, m->room.capacity, &r, placed, st);
    }
    for (int32_t v = 0; v < m->var_count; v++) m->vars[v].fixed = 0;
    joint_messages(m, &s->steps);
    return ok;
}

/* Runs beams with nothing decided. `*exact`: no state was dropped, so wider beams find nothing new. */
static bool root_search(struct joint_search *s, int32_t width, bool *exact, lx_status *st)
{
    struct joint_beam_result r;
    bool placed;
    if (!joint_try_beam(s, width, s->model.room.capacity, &r, &placed, st)) return false;
    s->bound = max_i64(s->bound, r.bound);
    *exact = r.exact && !r.stopped;
    bool repaired = placed;
    if (!placed && !joint_solve_repair(s, width, &repaired, st)) return false;
    for (unsigned i = 0; !placed && i < sizeof tight_shares / sizeof *tight_shares && !joint_finished(s); i++)
        if (!joint_try_beam(s, width, s->model.room.capacity * tight_shares[i] / 64, &r, &placed, st))
            return false;
    return true;
}

static bool full_search(struct joint_search *s, lx_status *st)
{
    bool exact = false;
    s->bound = joint_messages(&s->model, &s->steps);
    /* The first beam always runs to its end; on a very large problem it is narrower. */
    int64_t first = min_i64(FIRST_WIDTH, max_i64(2, FIRST_STATES / max_i64(1, s->p->op_count)));
    if (s->bound < s->best.objective && !root_search(s, (int32_t)first, &exact, st)) return false;
    if (joint_finished(s)) return true;
    int64_t bound = joint_price(&s->model, s->best.objective, PRICE_ROUNDS, s->step_limit / 4, &s->steps);
    s->bound = max_i64(s->bound, bound);
    LOG(cooptimise, "priced bound %" PRId64 " for %" PRId64, bound, s->best.objective);
    if (!joint_finished(s) && !joint_branch(s, st)) return false;
    for (int32_t w = SECOND_WIDTH; w <= MAX_WIDTH && !exact && !joint_finished(s); w *= WIDTH_GROWTH)
        if (!root_search(s, w, &exact, st)) return false;
    return true;
}

static bool run_modes(struct joint_search *s, struct lx_joint_answer *out, lx_status *st)
{
    const struct lx_joint_problem *p = s->p;
    for (int32_t o = 0; o < p->op_count; o++) s->best.choice[o] = p->ops[o].seed;
    if (!joint_leaf_solve(p, s->how, &s->best, st)) return false;
    s->leaves = 1;
    out->seed_objective = s->best.objective;
    if (p->tiled) return s->how->mode == LX_JOINT_SEED || joint_walk(s, st);
    if (s->how->mode != LX_JOINT_FULL) s->bound = joint_messages(&s->model, &s->steps);
    if (s->how->mode == LX_JOINT_SEED) return true;
    int64_t cap = min_i64(FLIP_LEAVES, max_i64(1, FLIP_WORK / max_i64(1, p->buffer_count)));
    if (s->how->mode == LX_JOINT_FLIP) return joint_flip(p, s->how, cap, &s->best, &s->leaves, st);
    if (!s->how->without_flip && !joint_flip(p, s->how, cap, &s->trial, &s->leaves, st)) return false;
    swap_if_better(s);
    LOG(cooptimise, "divisions as they come %" PRId64 ", after flips %" PRId64, out->seed_objective,
        s->best.objective);
    return full_search(s, st);
}

bool lx_joint_search(const struct lx_joint_problem *p, const struct lx_joint_options *how,
                     struct arena *memory, struct lx_joint_answer *out, lx_status *st)
{
    struct joint_search s = {.p = p, .how = how, .trial.objective = INT64_MAX};
    *out = (struct lx_joint_answer){.status = LX_ERROR};
    if (!lx_joint_validate(p, st)) return false;
    s.best.choice = arena_array(memory, (size_t)p->op_count, sizeof *s.best.choice);
    s.best.address = arena_array(memory, (size_t)p->buffer_count, sizeof *s.best.address);
    s.trial.choice = arena_array(memory, (size_t)p->op_count, sizeof *s.trial.choice);
    s.trial.address = arena_array(memory, (size_t)p->buffer_count, sizeof *s.trial.address);
    out->label = arena_array(memory, (size_t)p->buffer_count, sizeof *out->label);
    s.step_limit = how->run.work_limit > 0 ? how->run.work_limit : DEFAULT_STEPS;
    if (how->run.time_limit > 0) s.deadline = clock_seconds() + how->run.time_limit;
    if (!joint_model_make(&s.model, p, st)) return false;
    bool ok = run_modes(&s, out, st);
    arena_free(&s.model.memory);
    if (!ok) return false;
    out->choice = s.best.choice;
    out->address = s.best.address;
    for (int32_t i = 0; i < p->buffer_count; i++)
        out->label[i] = p->buffers[i].reason && out->address[i] < 0 ? -1 : lx_joint_label(p, out->choice, i);
    out->objective = s.best.objective;
    out->bound = min_i64(s.bound, s.best.objective);
    out->steps = s.steps;
    out->leaves = s.leaves;
    out->status = out->bound == out->objective           ? LX_OPTIMAL
                  : s.stopped || s.steps >= s.step_limit ? LX_LIMIT
                                                         : LX_FEASIBLE;
    return true;
}
