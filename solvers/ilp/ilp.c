/* Integer programming with GLPK, for problems of up to a few dozen buffers, and bounds for somewhat more.
 *
 * 1. A first answer: the one given, or a short annealing.
 * 2. Spill: the relaxation without addresses (residency, handovers and section capacities only). It is small,
 *    and its optimum is often the cost of the first answer: then that is the best.
 * 3. The full model, with the answer so far as GLPK's first solution and as cutoff.
 *
 * GLPK's results are claims. Its answers are only read as an order of the items: they are stacked again in
 * integers (anneal/decode.c), so a base that is off by a tolerance does no harm, and items that do not fit
 * are evicted and paid for. Its bounds are believed only without its cuts (with them GLPK 5.0 has returned
 * wrong optima), if the largest coefficient times the integrality tolerance stays far below one unit, and if
 * the objective is small enough for one unit to be visible; they are lowered by a margin and then rounded up
 * to integers. An optimum that cannot be confirmed is reported as feasible, with the best confirmed bound. */
#include "anneal/decode.h"
#include "common/first_answers.h"
#include "ilp/ilp_row.h"
#include "ilp/ilp_search.h"
#include "solvers.h"

/* Up to here one unit is above GLPK's tolerances. */
#define SAFE_COEFFICIENT 50000.0
#define SAFE_OBJECTIVE   2e8
#define BOUND_MARGIN     1e-6

/* The cost of a placement that breaks a rule. */
#define NO_ANSWER (INT64_MAX / 4)

struct work {
    const struct lx_problem *problem;
    const struct lx_run *run;
    struct items items;
    struct links links;
    struct ilp_limits limits;
    struct ilp_result result;
    int64_t option[OPTIONS];
    int64_t *best, *guess, *stacked;
    bool have; /* `best` is an answer (height: everything placed; spill: nothing broken) */
    int64_t bound;
    int64_t nodes, effort, rows, binaries;
    bool infeasible, failed, limited;
    char message[160];
};

static int64_t ilp_objective_of(struct work *w, const int64_t *base)
{
    int32_t broken = 0;
    if (w->problem->objective == LX_HEIGHT) return items_height(&w->items, base);
    if (!w->links.any) return w->items.lost + items_spill(&w->items, base);
    int64_t cost = w->items.lost + links_cost(&w->links, base, &broken);
    return broken ? NO_ANSWER : cost;
}

static bool is_done(struct work *w)
{
    if (!w->have) return false;
    if (w->problem->objective == LX_FIT)
        return w->items.hopeless == 0 && items_all_placed(&w->items, w->best);
    return ilp_objective_of(w, w->best) <= w->bound;
}

static void first_answer(struct work *w)
{
    const struct lx_problem *p = w->problem;
    int64_t *address = mem_alloc(((size_t)p->count + 1) * sizeof *address);
    if (w->run->incumbent) {
        memcpy(address, w->run->incumbent, (size_t)p->count * sizeof *address);
    } else {
        struct lx_answer answer = {.address = address};
        struct lx_run run = *w->run;
        run.work_limit = w->option[START_STEPS];
        run.options = NULL;
        run.progress = NULL;
        for (int32_t i = 0; i < p->count; i++) address[i] = LX_OFF_CHIP;
        lx_solver_anneal.solve(p, &run, &answer);
    }
    items_from_answer(&w->items, address, w->best);
    w->have = p->objective != LX_HEIGHT || items_all_placed(&w->items, w->best);
    if (w->links.any) {
        links_trim(&w->links, w->best);
        w->have = ilp_objective_of(w, w->best) < NO_ANSWER;
    }
    mem_free(address);
}

/* Stacks the guess again in integers, so that the result is legal whatever GLPK returned. */
static void restack(struct work *w)
{
    struct decoder d;
    decoder_make(&d, &w->items, w->problem->objective != LX_HEIGHT);
    for (int32_t i = 0; i < w->items.count; i++) d.fee[i] = 1;
    decoder_load(&d, w->guess);
    struct cancel *token = cancel_current();
    cancel_share(NULL); /* ignores a cancel: keep GLPK's find */
    decoder_decode_all(&d);
    cancel_share(token);
    decoder_save(&d, w->stacked);
    for (int32_t i = 0; i < w->items.count; i++) /* with links, placing more is not always better */
        if (!w->links.any || w->guess[i] >= 0) w->guess[i] = w->stacked[i];
    arena_free(&d.memory);
}

static bool is_believable(const struct work *w)
{
    const struct ilp_result *r = &w->result;
    return !w->limits.cuts && (double)r->widest <= SAFE_COEFFICIENT;
}

/* GLPK's bound as an integer that certainly holds, or 0. */
static int64_t safe_bound(const struct work *w)
{
    const struct ilp_result *r = &w->result;
    if (!r->has_bound || !is_believable(w) || fabs(r->bound) > SAFE_OBJECTIVE) return 0;
    if (r->bound <= 0 && !w->links.any) return 0;
    double margin = BOUND_MARGIN + BOUND_MARGIN * fabs(r->bound) / 100;
    if (w->problem->objective == LX_SPILL)
        return w->items.lost + (int64_t)ceil(r->bound - margin) * r->cost_unit;
    if (w->problem->objective != LX_HEIGHT) return 0;
    return (int64_t)ceil((r->bound - margin) * (double)(r->grain * w->problem->alignment));
}

static const char *const outcome_words[] = {
    [ILP_SOLVED] = "solved",       [ILP_NONE] = "no solution", [ILP_STOPPED] = "stopped",
    [ILP_TOO_LARGE] = "too large", [ILP_FAILED] = "failed",    [ILP_NO_MEMORY] = "out of memory"};

/* Runs GLPK on one of the two models and takes over the results that it can confirm. */
static bool run_model(struct work *w, bool relaxed)
{
    struct ilp_result *r = &w->result;
    bool height = w->problem->objective == LX_HEIGHT, fit = w->problem->objective == LX_FIT;
    int64_t ceiling = height ? ilp_objective_of(w, w->best) - 1 : 0;
    bool known = w->have && !height && !fit;
    r->guess = w->guess;
    ilp_search(&w->items, relaxed, ceiling, known ? w->best : NULL, &w->limits, r);
    w->nodes += r->nodes;
    LOG(ilp, "%s model, %" PRId64 " rows: %" PRId64 " nodes, bound %.0f%s, %s", relaxed ? "relaxed" : "whole",
        r->rows, r->nodes, r->bound, r->has_bound ? "" : " (none)", outcome_words[r->outcome]);
    w->effort += r->effort;
    w->rows = max_i64(w->rows, r->rows);
    w->binaries = max_i64(w->binaries, r->binaries);
    switch (r->outcome) {
    case ILP_NO_MEMORY: return false;
    case ILP_FAILED:
        w->failed = true;
        snprintf(w->message, sizeof w->message, "GLPK failed: %.120s", r->text);
        return true;
    case ILP_TOO_LARGE:
        w->limited = true;
        snprintf(w->message, sizeof w->message, "the model has more than %lld rows; raise max-rows",
                 (long long)w->limits.max_rows);
        return true;
    case ILP_STOPPED: w->limited = w->limited || !relaxed; break;
    case ILP_NONE:
        if (is_believable(w) && fit) w->infeasible = true;
        if (is_believable(w) && height) w->bound = ceiling + 1;
        if (is_believable(w) && w->links.any && !w->have) w->infeasible = true;
        return true;
    case ILP_SOLVED: break;
    }
    w->bound = max_i64(w->bound, safe_bound(w));
    if (relaxed || !r->found) return true;
    restack(w);
    if (w->links.any) links_trim(&w->links, w->guess);
    bool better = w->links.any ? !w->have || ilp_objective_of(w, w->guess) < ilp_objective_of(w, w->best)
                               : start_better(&w->links, w->guess, w->best);
    if (w->links.any && ilp_objective_of(w, w->guess) == NO_ANSWER) better = false;
    if (better) {
        memcpy(w->best, w->guess, (size_t)w->items.count * sizeof *w->best);
        w->have = true;
    }
    return true;
}

static bool ilp_run_search(struct work *w)
{
    if (w->items.count > w->option[MAX_BUFFERS] || !w->items.near) {
        w->limited = true;
        snprintf(w->message, sizeof w->message,
                 "%d buffers are more than GLPK is given (max-buffers %lld): the first answer stands",
                 (int)w->items.count, (long long)w->option[MAX_BUFFERS]);
        return true;
    }
    if (w->problem->objective == LX_HEIGHT) {
        if (!w->have) return w->limited = true;
        /* No answer is below the tallest buffer; the model would have empty ranges. */
        int64_t height = ilp_objective_of(w, w->best);
        bool least = w->items.empty_top >= height;
        for (int32_t i = 0; i < w->items.count && !least; i++) {
            const struct item *b = &w->items.item[i];
            least = max_i64(b->fixed, 0) * w->problem->alignment + b->bytes >= height;
        }
        if (least) {
            w->bound = height;
            return true;
        }
    }
    if (w->problem->objective == LX_SPILL && !run_model(w, true)) return false;
    if (w->failed || w->infeasible || is_done(w)) return true;
    return run_model(w, false);
}

static void ilp_report(struct work *w, struct lx_answer *answer)
{
    if (w->have || w->problem->objective != LX_SPILL) items_answer(&w->items, w->best, answer->address);
    answer->bound = w->bound;
    answer->steps = w->nodes;
    const int64_t counted[STATS] = {[STAT_ROWS] = w->rows,
                                    [STAT_BINARIES] = w->binaries,
                                    [STAT_NODES] = w->nodes,
                                    [STAT_EFFORT] = w->effort};
    for (int row = 0; row < STATS; row++) lx_answer_count(answer, &lx_solver_ilp, row, counted[row]);
    snprintf(answer->message, sizeof answer->message, "%s", w->message);
    if (w->failed)
        answer->status = LX_ERROR;
    else if (is_done(w))
        answer->status = LX_OPTIMAL;
    else if (w->infeasible)
        answer->status = LX_INFEASIBLE;
    else
        answer->status = w->limited ? LX_LIMIT : LX_FEASIBLE;
    if (!answer->message[0] && answer->status == LX_FEASIBLE)
        snprintf(answer->message, sizeof answer->message,
                 "GLPK finished, but its claim cannot be told from its tolerances or was not confirmed");
}

static bool ilp_solve_watched(const struct lx_problem *problem, const struct lx_run *run,
                              struct lx_answer *answer)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct work w = {.problem = problem, .run = run, .bound = run->known_bound};
    for (int i = 0; i < OPTIONS; i++) w.option[i] = lx_run_option(&lx_solver_ilp, run, i);
    w.limits = (struct ilp_limits){
        .run = run,
        .nodes = run->work_limit > 0 ? run->work_limit : w.option[NODES],
        .effort = w.option[EFFORT],
        .max_rows = w.option[MAX_ROWS],
        .memory = (int)w.option[MEMORY],
        .cuts = w.option[CUTS] != 0,
    };
    w.limits.began = clock_seconds();
    items_make(&w.items, problem, w.option[MAX_BUFFERS] * w.option[MAX_BUFFERS], run);
    w.best = arena_array(&memory, (size_t)w.items.count + 1, sizeof *w.best);
    w.guess = arena_array(&memory, (size_t)w.items.count + 1, sizeof *w.guess);
    w.stacked = arena_array(&memory, (size_t)w.items.count + 1, sizeof *w.stacked);
    links_make(&w.links, &w.items);
    if (problem->objective == LX_SPILL && !w.links.any) w.bound = max_i64(w.bound, w.items.lost);
    w.infeasible = (problem->objective != LX_SPILL && placing_all_is_wrong(problem)) ||
                   (problem->objective == LX_FIT && w.items.hopeless > 0);
    first_answer(&w);
    /* A buffer must be placed and cannot be. */
    int64_t must = 0;
    for (int32_t i = 0; i < problem->count; i++) must += problem->buffers[i].must;
    for (int32_t i = 0; i < w.items.count; i++) must -= problem->buffers[w.items.item[i].buffer].must;
    if (problem->objective == LX_SPILL && must > 0) w.infeasible = true;
    if (w.links.any && w.items.count == 0) { /* nothing to choose */
        w.infeasible = !w.have;
        if (w.have) w.bound = ilp_objective_of(&w, w.best);
    }
    bool ok = is_done(&w) || w.infeasible || w.items.count == 0 || ilp_run_search(&w);
    if (ok) ilp_report(&w, answer);
    arena_free(&w.links.memory);
    arena_free(&w.items.memory);
    return ok;
}

/* A plug-in has its own border and cancel token. */
bool ilp_solve(const struct lx_problem *problem, const struct lx_run *run, struct lx_answer *answer)
{
    struct border border;
    struct cancel token;
    if (border_begin(&border) != 0) return false;
    cancel_begin(&token, run->time_limit);
    bool ok = ilp_solve_watched(problem, run, answer);
    cancel_end(&token);
    border_end(&border);
    return ok;
}
