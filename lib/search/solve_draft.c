/* Gives a draft to a solver: for least traffic, time or height, at true prices or at the clone rule's. */
#include "search/search_steps.h"
#include "search/trial.h"
#include "search/time.h"

bool draft_valid(const struct draft *x, lx_status *st)
{
    lx_status why = {0};
    int64_t all_off;
    if (!lx_problem_validate(&x->problem, &why))
        return status_set_at(st, why.code, x->graph->file, why.line, why.column, "%s", why.text);
    if (traffic_count(x, NULL, &all_off) && all_off <= LX_INT_MAX) return true;
    return status_set_at(
        st, LX_E_RANGE, x->graph->file, 0, 0,
        "the traffic of all operands together is beyond 2^53 bytes, the most that a plan file can say");
}

/* The solver's run under the effort. */
static struct lx_run trial_run(const struct trial *trial)
{
    struct lx_run run = trial->effort.run;
    run.quick = trial->effort.quick;
    return run;
}

/* Placements of one draft that were timed, by hash. */
struct timed {
    uint64_t hash[8];
    int count;
};

static bool placement_is_new(struct timed *timed, const struct attempt *with)
{
    enum { MOST = sizeof timed->hash / sizeof *timed->hash };
    const size_t n = (size_t)with->draft.problem.count;
    uint64_t hash = hash_words(HASH_START, with->answer.address, n * sizeof *with->answer.address);
    for (int i = 0; i < timed->count; i++)
        if (timed->hash[i] == hash) return false;
    if (timed->count < MOST) timed->hash[timed->count++] = hash;
    return true;
}

/* Takes over another placement of the draft if it is the first or takes less time. */
static bool keep_placement(const struct trial *trial, struct attempt *a, struct attempt *with,
                           struct timed *timed)
{
    const bool first = timed->count == 0;
    const double most_us = first ? trial->most_us : fmin(a->us, trial->most_us);
    if (!placement_is_new(timed, with)) return a->answer.steps += with->answer.steps, true;
    if (!attempt_bytes(&with->draft, with->answer.address, &with->hbm_bytes)) return false;
    with->us = attempt_us(trial->search, &with->draft, with->answer.address, most_us);
    int64_t *address = a->answer.address, steps = a->answer.steps + with->answer.steps;
    if (first || with->us < a->us || (with->us == a->us && with->hbm_bytes < a->hbm_bytes)) {
        memcpy(address, with->answer.address, (size_t)a->draft.problem.count * sizeof *address);
        a->answer = with->answer;
        a->answer.address = address;
        a->us = with->us;
        a->hbm_bytes = with->hbm_bytes;
    }
    a->answer.steps = steps;
    return true;
}

/* Reports the step and the best of the search, whichever draft the solver works on. */
struct watched {
    const struct lx_run *run;
    const struct search *search;
    int64_t base;
};

static bool watched_stop(void *context)
{
    return lx_run_stopped(((const struct watched *)context)->run);
}

/* Passes on only the objective: bound and answer refer to the draft, or to the window of one. */
static void watched_progress(void *context, const struct lx_progress *so_far)
{
    const struct watched *t = context;
    const struct search *whole = t->search;
    while (whole->whole) whole = whole->whole;
    struct lx_progress out = {
        .steps = so_far->steps, .objective = INT64_MAX, .bound = whole->bound, .step = t->search->step};
    if (whole->best.memory && whole->best.hbm_bytes > 0)
        out.objective = whole->best.hbm_bytes;
    else if (whole == t->search && so_far->objective < INT64_MAX)
        out.objective = so_far->objective + t->base;
    t->run->progress(t->run->context, &out);
}

static bool solve_unlinked(const struct lx_problem *p, const struct lx_solver *solver,
                           const struct lx_run *run, struct lx_answer *answer, lx_status *st)
{
    struct lx_problem plain = *p;
    struct lx_buffer *buffers = mem_alloc(((size_t)p->count + 1) * sizeof *buffers);
    for (int32_t i = 0; i < p->count; i++) buffers[i] = p->buffers[i];
    for (int32_t i = 0; i < p->bonds.linked_cost_count; i++) {
        const struct lx_linked_cost *c = &p->bonds.linked_costs[i];
        int32_t absent = c->all_off.count + c->any_off.count;
        if (absent == 0 && c->all_on.count == 1)
            buffers[c->all_on.at[0]].spill_cost -= c->cost;
        else if (absent) {
            for (int32_t k = 0; k < c->all_off.count; k++)
                buffers[c->all_off.at[k]].spill_cost += c->cost / absent;
            for (int32_t k = 0; k < c->any_off.count; k++)
                buffers[c->any_off.at[k]].spill_cost += c->cost / absent;
        }
    }
    for (int32_t i = 0; i < p->count; i++) buffers[i].spill_cost = max_i64(0, buffers[i].spill_cost);
    plain.buffers = buffers;
    plain.bonds = (struct lx_bonds){0};
    bool ok = solve_valid(&plain, solver, run, answer, st);
    answer->bound = ok && !run->quick ? lx_bound(p) : 0;
    ok = ok && lx_problem_check(p, answer->address, &answer->objective, st);
    mem_free(buffers);
    if (ok && answer->status == LX_OPTIMAL && answer->objective != answer->bound)
        answer->status = LX_FEASIBLE;
    return ok;
}

/* Solves with linked costs if the solver supports them. */
static bool solve_linked(const struct trial *trial, int64_t base, const struct lx_problem *p,
                         struct lx_answer *answer)
{
    const struct lx_solver *solver = trial->effort.solver;
    struct lx_run own = trial_run(trial), run = own;
    struct watched watcher = {&own, trial->search, base};
    if (run.progress) {
        run.progress = watched_progress;
        run.stop = run.stop ? watched_stop : NULL;
        run.context = &watcher;
    }
    if (lx_problem_needs(p) & ~solver->caps)
        return solve_unlinked(p, solver, &run, answer, trial->search->st);
    run.stop_at = max_i64(0, trial->stop_at - base);
    if (trial->below < INT64_MAX) run.most = max_i64(0, trial->below - base);
    run.default_steps = trial->effort.solver_steps;
    run.quick |= trial->effort.one_round;
    return solve_valid(p, solver, &run, answer, trial->search->st);
}

/* Buffers priced by bytes. */
static bool solve_priced_by_bytes(const struct trial *trial, struct attempt *a, struct attempt *with,
                                  struct timed *timed)
{
    return solve_linked(trial, a->draft.base_bytes, &a->draft.problem, &with->answer) &&
           (with->answer.status == LX_ERROR || keep_placement(trial, a, with, timed));
}

/* Buffers priced by time, on each clock. Linked costs are in bytes and are left out. */
static bool solve_priced_by_time(const struct trial *trial, struct attempt *a, struct attempt *with,
                                 struct timed *timed)
{
    struct lx_run run = trial->effort.run;
    struct lx_problem p = a->draft.problem;
    struct lx_buffer *priced = mem_alloc(((size_t)p.count + 1) * sizeof *priced);
    bool ok = true;
    p.buffers = priced;
    p.bonds = (struct lx_bonds){0};
    run.default_steps = trial->effort.solver_steps;
    run.progress = NULL; /* its objectives are times */
    for (int clock = 0; ok && clock < PRICE_COUNT && !lx_run_stopped(&run); clock++) {
        price_buffers(&a->draft, (enum price)clock, priced);
        ok = solve_valid(&p, trial->effort.solver, &run, &with->answer, trial->search->st) &&
             (with->answer.status == LX_ERROR || keep_placement(trial, a, with, timed));
    }
    mem_free(priced);
    return ok;
}

/* The fastest of placements with nothing on chip, with buffers priced by bytes, and priced by time. The
 * solver's objective and bound refer to these prices, not to the plan. Prices in time are estimates, and many
 * decisions are tried: only those near the limit are worth more than the quick solver. */
static bool solve_by_time(const struct trial *trial, struct attempt *a)
{
    static const double near = 1.1;
    const struct search *search = trial->search;
    size_t n = (size_t)a->draft.problem.count;
    struct timed timed = {0};
    struct attempt with = {0};
    struct trial full = *trial;
    full.effort.solver_steps = trial_draft_steps(trial);
    struct trial first = full;
    bool many = (a->draft.how.nest_count > 0 || !isinf(trial->most_us)) && search->request->quick_solver;
    if (many) first.effort = effort_quick_solver(search);
    with.answer.address = mem_alloc((n + 1) * sizeof *with.answer.address);
    for (size_t i = 0; i < n; i++) with.answer.address[i] = LX_OFF_CHIP;
    with.answer.status = LX_FEASIBLE;
    draft_weigh(&a->draft);
    draft_rings(&a->draft);
    with.draft = a->draft;
    bool ok = keep_placement(trial, a, &with, &timed) && solve_priced_by_bytes(&first, a, &with, &timed) &&
              solve_priced_by_time(&first, a, &with, &timed);
    if (ok && many && search->request->other_solver) {
        first.effort.solver = search->request->other_solver;
        ok = solve_priced_by_bytes(&first, a, &with, &timed);
    }
    if (ok && many && a->us <= near * trial->most_us) ok = solve_priced_by_bytes(&full, a, &with, &timed);
    mem_free(with.answer.address);
    a->bound = a->answer.bound = 0;
    if (ok) a->answer.status = LX_FEASIBLE;
    return ok && lx_problem_check(&a->draft.problem, a->answer.address, &a->answer.objective, search->st);
}

/* The heuristic clone rule prices a copy of an input with several reads like an intermediate. The answer's
 * cost and bound are at true prices. */
static bool solve_by_rule(const struct trial *trial, const struct lx_problem *p, struct attempt *a)
{
    const struct draft *x = &a->draft;
    size_t n = (size_t)p->count;
    struct lx_problem by_rule = *p;
    struct lx_answer true_one = {.address = mem_alloc((n + 1) * sizeof *true_one.address)};
    struct lx_buffer *ruled = mem_alloc((n + 1) * sizeof *ruled);
    for (size_t i = 0; i < n; i++) {
        ruled[i] = p->buffers[i];
        if (i < (size_t)x->problem.count && !x->stays[i].exclusion && !x->stays[i].begins_written &&
            ruled[i].use_count > 1)
            ruled[i].spill_cost += 2 * tensor_bytes(x->layouts, x->stays[i].tensor);
    }
    by_rule.buffers = ruled;
    bool ok = solve_linked(trial, x->base_bytes, &by_rule, &a->answer) &&
              solve_linked(trial, x->base_bytes, p, &true_one) &&
              lx_problem_check(p, a->answer.address, &a->answer.objective, trial->search->st);
    if (ok) a->answer.bound = true_one.bound;
    mem_free(ruled);
    mem_free(true_one.address);
    return ok;
}

/* A lax draft has extra buffers for waiting sources. For the objectives fit and height linked costs are
 * dropped. */
bool trial_solve_draft(const struct trial *trial, struct attempt *a)
{
    struct lx_problem *p = &a->draft.problem, packed = *p;
    struct lx_run run = trial_run(trial);
    packed.objective = p->objective = lx_asked(trial->search->request->objective, p->objective);
    packed.bonds = (struct lx_bonds){0};
    if (!draft_valid(&a->draft, trial->search->st)) return false;
    draft_waits(&a->draft, a->memory, &a->asked);
    a->answer.address = arena_array(a->memory, (size_t)a->asked.problem.count, sizeof *a->answer.address);
    if (asks_time(trial->search)) return solve_by_time(trial, a);
    bool traffic = p->objective == LX_SPILL, by_rule = a->draft.how.passes.clone == LX_CLONE_HEURISTIC;
    if (!traffic  ? !solve_valid(&packed, trial->effort.solver, &run, &a->answer, trial->search->st)
        : by_rule ? !solve_by_rule(trial, &a->asked.problem, a)
                  : !solve_linked(trial, a->draft.base_bytes, &a->asked.problem, &a->answer))
        return false;
    a->bound = a->answer.bound + (traffic ? a->draft.base_bytes : 0);
    return attempt_bytes(&a->draft, a->answer.address, &a->hbm_bytes);
}

/* Tensors that the pattern wants in lx: the last draft is solved again with them on chip, whatever that costs. If no
 * placement has them all, the best one stands. */
bool places_stated(struct search *search)
{
    struct attempt *best = &search->best;
    const struct draft *x = &best->draft;
    const size_t n = (size_t)x->problem.count;
    struct lx_problem p = x->problem;
    struct lx_buffer *buffers = arena_copy_array(best->memory, p.buffers, n, sizeof *buffers);
    struct lx_answer answer = {.address = arena_array(best->memory, n, sizeof *answer.address)};
    int64_t bytes;
    lx_status ignored = {0};
    struct search own = *search;
    const struct trial trial = {.search = &own, .effort = search->effort, .below = INT64_MAX};
    own.st = &ignored;
    p.buffers = buffers;
    for (size_t i = 0; i < n; i++)
        buffers[i].must = x->graph->tensors[x->stays[i].tensor].memory == 1 + LX_MEMORY_LX &&
                          lx_may_be_placed(&p, &buffers[i]);
    if (!solve_linked(&trial, x->base_bytes, &p, &answer) ||
        !lx_problem_check(&p, answer.address, &answer.objective, &ignored) ||
        !attempt_bytes(x, answer.address, &bytes))
        return true;
    best->hbm_bytes = bytes;
    memcpy(best->answer.address, answer.address, n * sizeof *answer.address);
    best->answer.objective = answer.objective;
    best->answer.status = LX_FEASIBLE;
    search->unproved = "not proved optimal: the bound lets tensors be off chip that are asked for in lx";
    if (asks_time(search)) best->us = attempt_us(search, x, answer.address, INFINITY);
    return true;
}
