/* Auto, the default solver. Heuristics first; if one of them meets the bound, it returns within microseconds.
 * Otherwise annealing and exact search improve the best answer and raise the bound, as far as their budgets
 * allow. The table of stages lists solvers and budgets; budgets are counted in steps, so a level means the
 * same on every machine. A solver that lacks a capability the problem needs is skipped. */
#include "common/items.h"
#include "common/gap_fit.h"
#include "solvers.h"

enum { LEVEL, OPTION_COUNT };
/* Limits on the number of buffers for objective spill; for exact search, of the largest part. Above SMALL
 * exact search needs time, above EXACT_MOST too much unless the gap is small; up to RELAXED_MOST its linear
 * programme still raises the bound in seconds. Above ORDERS_MOST trying all orders costs too much. */
enum {
    SMALL = 128,
    MEDIUM = 512,
    EXACT_MOST = 1200,
    RELAXED_SOON = 2000,
    RELAXED_MOST = 12000,
    CLOSE_MOST = 20000,
    ORDERS_MOST = 20000
};
enum { CLOSE_PART = 50 }; /* a gap of 1/50 counts as small */

static const struct lx_option auto_options[OPTION_COUNT] = {
    [LEVEL] = {"level", 5, 0, 9, "effort: 0 heuristics only, 9 all that can be tried"},
};

/* A stage: which solver runs from which level on, and for how many steps. A level runs its own stages and all
 * of lower levels in this order; the best answer wins, so a higher level is never worse. `ALONE`: without the
 * incumbent, as if the solver were called directly, so auto is never worse than it. */
enum start { FROM_BEST, ALONE };
enum covered { NEEDED, COVERED_IF_LONG, COVERED };

static const struct stage {
    int level;
    const struct lx_solver *solver; /* NULL: order_place in each order */
    int64_t steps;                  /* 0: the solver's default */
    enum start start;
    int32_t most;         /* largest number of buffers with objective spill; 0: any */
    bool or_close;        /* also up to CLOSE_MOST if the gap is small */
    bool early;           /* only for plain lists, and with linked costs: there proofs are most likely */
    enum covered covered; /* by exact search of a plain list, if nothing better was found since */
} stages[] = {
    {0, &lx_solver_greedy, 0, ALONE, 0, false, false, NEEDED},
    {0, &lx_solver_firstfit, 0, ALONE, 0, false, false, NEEDED},
    {0, &lx_solver_bestfit, 0, ALONE, 0, false, false, NEEDED},
    {1, NULL, 0, FROM_BEST, ORDERS_MOST, false, false, NEEDED},
    {2, &lx_solver_exact, 20000, FROM_BEST, EXACT_MOST, false, false,
     NEEDED}, /* a proof in milliseconds, on most graphs */
    {3, &lx_solver_anneal, 2000, FROM_BEST, SMALL, false, false, NEEDED},
    {4, &lx_solver_exact, 200000, FROM_BEST, MEDIUM, false, false, NEEDED},
    {5, &lx_solver_exact, 0, ALONE, EXACT_MOST, false, true, NEEDED},
    {5, &lx_solver_anneal, 0, ALONE, 0, false, false, COVERED_IF_LONG},
    {5, &lx_solver_exact, 2000, FROM_BEST, RELAXED_MOST, false, false, COVERED},
    {5, &lx_solver_exact, 0, ALONE, EXACT_MOST, true, false, NEEDED},
    {5, &lx_solver_exact, 200000, FROM_BEST, MEDIUM, true, false, NEEDED},
    {6, &lx_solver_anneal, 1000000, FROM_BEST, 0, false, false, NEEDED},
    {6, &lx_solver_exact, 5000000, FROM_BEST, EXACT_MOST, true, false, NEEDED},
    {7, &lx_solver_anneal, 4000000, FROM_BEST, 0, false, false, NEEDED},
    {7, &lx_solver_exact, 20000000, FROM_BEST, CLOSE_MOST, false, false, NEEDED},
    {8, &lx_solver_anneal, 16000000, FROM_BEST, 0, false, false, NEEDED},
    {8, &lx_solver_exact, 100000000, FROM_BEST, CLOSE_MOST, false, false, NEEDED},
    {9, &lx_solver_anneal, 64000000, FROM_BEST, 0, false, false, NEEDED},
    {9, &lx_solver_exact, 1000000000, FROM_BEST, 0, false, false, NEEDED},
};

struct best {
    const struct lx_problem *p;
    const struct lx_run *run;
    struct lx_answer *answer; /* the best so far, in the caller's arrays */
    struct lx_answer trial;   /* the next candidate, in arrays of our own */
    int64_t objective, bound;
    int64_t reported; /* the objective of the last answer that was reported */
    unsigned needs;
    int tried; /* solvers called */
    bool have;
    bool asked_exact; /* it has run ALONE, and then the best answer had: */
    int64_t exact_objective;
    bool worked[2]; /* with `quick`: exact, anneal have searched already */
    /* Exact search's last run FROM_BEST: its step limit, and the objective it began with. */
    int64_t last_steps, last_objective;
    int32_t together;      /* buffers of the largest part */
    double deadline;       /* by the clock; 0: none */
    int64_t default_steps; /* step limit of a stage when the caller gives none; 0: the stage's own */
};

/* The answer cannot be better, or not so much that it is of use. */
static bool proved(const struct best *b)
{
    if (b->run->most > 0 && b->bound > b->run->most && b->p->objective == LX_SPILL && b->have) return true;
    int64_t least = b->p->objective == LX_FIT ? 0 : b->bound;
    return b->answer->status == LX_INFEASIBLE || (b->have && b->objective <= least);
}

/* Reports progress; passes on the solver's answer in `so_far` only if it is better than the last reported. */
static void auto_report(void *context, const struct lx_progress *so_far)
{
    struct best *b = context;
    struct lx_progress all = {
        b->answer->steps, b->have ? b->objective : INT64_MAX, b->bound, NULL, NULL, NULL};
    if (!b->run->progress) return;
    all.steps += so_far->steps;
    if (so_far->address && so_far->objective < b->reported) {
        all.address = so_far->address;
        all.pool = so_far->pool;
        b->reported = so_far->objective;
    }
    all.objective = min_i64(all.objective, b->reported);
    b->run->progress(b->run->context, &all);
}

static bool auto_is_over(void *context)
{
    const struct best *b = context;
    return lx_run_stopped(b->run) || (b->deadline > 0 && clock_seconds() >= b->deadline);
}

/* Keeps the trial if it is legal and better. After the deadline the first answer of a plain list is kept
 * unchecked: the caller checks it. */
static void auto_consider(struct best *b)
{
    const struct lx_answer *a = &b->trial;
    int64_t objective = INT64_MAX;
    size_t n = (size_t)b->p->count;
    bool plain = !b->p->pool_count && !b->needs;
    if (b->have || !plain || !auto_is_over(b)) {
        lx_status why;
        enum lx_rule rule;
        bool legal = plain ? lx_problem_check(b->p, a->address, &objective, &why)
                           : lx_check_places(b->p, a->pool, a->address, &objective, &rule, &why);
        if (!legal) return;
        /* Fit: the objective counts the buffers off chip. */
        if (b->p->objective == LX_FIT && plain) {
            objective = 0;
            for (int32_t i = 0; i < b->p->count; i++)
                objective += a->address[i] < 0 && !b->p->buffers[i].reason;
        }
        if (b->have && objective >= b->objective) return;
    }
    memcpy(b->answer->address, a->address, n * sizeof *a->address);
    if (b->answer->pool) memcpy(b->answer->pool, a->pool, n * sizeof *a->pool);
    LOG(auto, "better: %" PRId64 ", bound %" PRId64, objective, b->bound);
    b->objective = objective;
    b->have = true;
    if (objective >= b->reported) return;
    auto_report(b, &(struct lx_progress){0, objective, b->bound, b->answer->address, b->answer->pool, NULL});
}

static void clear_trial(struct best *b)
{
    b->trial = (struct lx_answer){.address = b->trial.address, .pool = b->trial.pool, .status = LX_FEASIBLE};
    for (int32_t i = 0; i < b->p->count; i++) {
        b->trial.address[i] = LX_OFF_CHIP;
        if (b->trial.pool) b->trial.pool[i] = 0;
    }
}

static bool takes(const struct best *b, const struct lx_solver *solver)
{
    return lx_can(solver, b->p->objective) && !(b->needs & ~solver->caps);
}

/* The step limit of a stage. ALONE gets all of the caller's limit, others at most their row's steps. `spare`
 * is such a limit up to the default level. */
static int64_t auto_steps_of(const struct best *b, const struct stage *stage)
{
    int64_t limit = b->run->work_limit;
    if (!limit) limit = b->default_steps;
    return !limit ? stage->steps : stage->start == ALONE ? limit : min_i64(limit, stage->steps);
}

static void try_solver(struct best *b, const struct stage *stage)
{
    const struct lx_solver *solver = stage->solver;
    bool alone = stage->start == ALONE;
    struct lx_run run = *b->run;
    run.options = NULL;
    run.work_limit = auto_steps_of(b, stage);
    run.time_limit = b->deadline > 0 ? fmax(b->deadline - clock_seconds(), 1e-3) : 0;
    run.incumbent = b->have && !alone ? b->answer->address : NULL;
    run.incumbent_pool = run.incumbent ? b->answer->pool : NULL;
    run.known_bound = alone ? b->run->known_bound : b->bound;
    run.stop = auto_is_over;
    run.progress = b->run->progress ? auto_report : NULL;
    run.context = b;
    LOG(auto, "try %s, work limit %" PRId64, solver->name, run.work_limit);
    clear_trial(b);
    b->tried++;
    solver->solve(b->p, &run, &b->trial);
    b->answer->steps += b->trial.steps;
    bool proves = solver->caps & LX_CAN_PROVE;
    if (proves) b->bound = max_i64(b->bound, b->trial.bound);
    auto_consider(b);
    if (alone && solver == &lx_solver_exact) b->exact_objective = b->objective;
    if (proves && b->trial.status == LX_INFEASIBLE) b->answer->status = LX_INFEASIBLE;
}

/* Spill of a plain list without limits: exact search of all of it runs at any size. It begins with all of
 * annealing if the list is long. */
static bool is_unlimited_list(const struct best *b)
{
    return b->p->objective == LX_SPILL && !b->needs && !b->run->work_limit && !b->default_steps;
}

/* Exact search solves one part after the other, so the largest part counts. If annealing cannot take the
 * problem, exact search runs at any size. */
static bool is_too_large(const struct best *b, const struct stage *s)
{
    bool exact = s->solver == &lx_solver_exact;
    int32_t count = exact ? b->together : b->p->count;
    /* A step limit leaves no seconds for a large linear programme. */
    if (exact && b->p->objective == LX_SPILL && (b->run->work_limit > 0 || b->default_steps > 0) && b->have &&
        count > RELAXED_SOON)
        return true;
    if (exact && s->start == ALONE && is_unlimited_list(b)) return false;
    if (!s->most || !b->have || b->p->objective != LX_SPILL || count <= s->most) return false;
    if (exact && s->start == ALONE && !takes(b, &lx_solver_anneal)) return false;
    return !(s->or_close && b->have && b->p->count <= CLOSE_MOST &&
             b->objective - b->bound <= b->objective / CLOSE_PART);
}

/* With `quick` each search runs once. */
static bool has_worked(struct best *b, const struct lx_solver *solver)
{
    if (!b->run->quick || (solver != &lx_solver_exact && solver != &lx_solver_anneal)) return false;
    bool *place = &b->worked[solver == &lx_solver_anneal], worked = *place;
    *place = true;
    return worked;
}

static bool is_needless(struct best *b, const struct stage *s)
{
    bool whole = s->solver == &lx_solver_exact && s->start == ALONE, list = is_unlimited_list(b);
    if ((s->early && !list && !b->p->bonds.linked_cost_count) || (whole && b->asked_exact)) return true;
    b->asked_exact |= whole;
    if (list && s->covered == COVERED && b->objective == b->exact_objective) return true;
    if (list && s->covered == COVERED_IF_LONG && b->p->count > LONG_LIST) return true;
    if (whole && b->run->quick && b->last_steps == auto_steps_of(b, s)) return true; /* same limit before */
    if (s->solver != &lx_solver_exact || s->start != FROM_BEST) return false;
    /* With a step limit several rows become equal; skip a run from the same answer. */
    int64_t steps = auto_steps_of(b, s);
    bool again = steps < s->steps && b->last_steps == steps && b->last_objective == b->objective;
    b->last_steps = steps;
    b->last_objective = b->objective;
    return again;
}

static void climb(struct best *b, int level)
{
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        const struct stage *s = &stages[i];
        bool first = i == 0 || !b->have;
        if (s->level > level || proved(b) || (!first && auto_is_over(b))) break;
        if (is_too_large(b, s) || is_needless(b, s)) continue;
        if (s->solver && (!takes(b, s->solver) || has_worked(b, s->solver))) continue;
        if (s->solver) {
            try_solver(b, s);
            continue;
        }
        bool can = takes(b, &lx_solver_firstfit);
        for (int k = 0; can && k < ORDER_PLANS && !proved(b) && !auto_is_over(b); k++) {
            LOG(auto, "try order %d", k);
            clear_trial(b);
            order_place(b->p, k, b->run, &b->trial);
            b->answer->steps += b->trial.steps;
            auto_consider(b);
        }
    }
}

static bool auto_solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    int64_t level = lx_run_option(&lx_solver_auto, run, LEVEL);
    struct best b = {.p = p, .run = run, .answer = answer, .bound = run->known_bound, .reported = INT64_MAX};
    size_t n = (size_t)p->count + 1;
    b.needs = lx_problem_needs(p);
    b.together = largest_part(p);
    b.default_steps = level <= auto_options[LEVEL].def ? run->default_steps : 0;
    if (run->time_limit > 0) b.deadline = clock_seconds() + run->time_limit;
    b.trial.address = mem_alloc(n * sizeof *b.trial.address);
    b.trial.pool = answer->pool ? mem_alloc(n * sizeof *b.trial.pool) : NULL;
    answer->status = LX_FEASIBLE;
    climb(&b, (int)level);
    answer->bound = b.bound;
    if (b.tried == 0) {
        answer->status = LX_ERROR;
        snprintf(answer->message, sizeof answer->message,
                 "no solver takes all that this problem asks for at once");
    } else if (answer->status != LX_INFEASIBLE && (!b.have || (auto_is_over(&b) && !proved(&b))))
        answer->status = LX_LIMIT;
    mem_free(b.trial.address);
    mem_free(b.trial.pool);
    return true;
}

const struct lx_solver lx_solver_auto = {
    .abi = LX_SOLVER_ABI,
    .name = "auto",
    .summary = "the best of all: heuristics, annealing, exact search, until the bound is met",
    .caps = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT | LX_CAN_PROVE | LX_IS_SEEDED | LX_CAN_ALL,
    .options = auto_options,
    .option_count = OPTION_COUNT,
    .solve = auto_solve,
};
