/* Plans: made, checked and freed. Their files are in plan_json.c. */
#include "scratchpad/plan.h"
#include "base/fail.h"
#include "scratchpad/build.h"
#include "base/checked.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct lx_plan *new_plan(struct lx_graph *g, lx_status *st)
{
    struct arena *memory = calloc(1, sizeof *memory);
    struct lx_plan *p = memory ? arena_alloc(memory, sizeof *p) : NULL;
    if (!p) {
        free(memory);
        lx_graph_free(g);
        status_no_memory(st);
        return NULL;
    }
    p->memory = memory;
    p->graph = g;
    p->solver = "";
    p->options = "";
    return p;
}

void lx_plan_free(struct lx_plan *p)
{
    if (!p) return;
    struct arena *memory = p->memory;
    lx_graph_free(p->graph);
    arena_free(memory);
    free(memory);
}

/* The problem and an address for each buffer, all off chip. */
struct lx_plan *plan_begin(struct lx_graph *g, int objective, lx_status *st)
{
    struct lx_plan *p = new_plan(g, st);
    if (!p) return NULL;
    bool ok = problem_from_graph(g, objective, p->memory, &p->problem, st);
    if (ok) {
        p->answer.address = arena_array(p->memory, (size_t)p->problem.count, sizeof *p->answer.address);
        ok = p->answer.address ? true : status_no_memory(st);
    }
    if (!ok) {
        lx_plan_free(p);
        return NULL;
    }
    for (int32_t i = 0; i < p->problem.count; i++) p->answer.address[i] = LX_OFF_CHIP;
    return p;
}

/* "name=value ..." of the options that differ from their defaults. */
static const char *describe_options(struct arena *memory, const struct lx_solver *s, const int64_t *values)
{
    struct text t = {0};
    for (int i = 0; values && i < s->option_count; i++)
        if (values[i] != s->options[i].def)
            text_format(&t, "%s%s=%lld", t.length ? " " : "", s->options[i].name, (long long)values[i]);
    const char *text = t.failed ? NULL : arena_string(memory, t.at ? t.at : "");
    text_free(&t);
    return text;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct lx_plan *lx_plan_make(struct lx_graph *g, const struct lx_plan_options *options, lx_status *st)
{
    const char *wrong =
        !options->solver ? "there is no such solver; lx_solvers() lists those there are"
        : options->run.seed > (uint64_t)LX_INT_MAX
            ? "the seed is beyond 2^53, the most that a plan file can say; choose a smaller one"
            : NULL;
    if (wrong) {
        lx_graph_free(g);
        status_set(st, LX_E_USAGE, "%s", wrong);
        return NULL;
    }
    struct lx_plan *p = plan_begin(g, options->objective, st);
    if (!p) return NULL;
    p->solver = options->solver->name;
    p->seed = options->run.seed;
    p->work_limit = options->run.work_limit;
    p->options = describe_options(p->memory, options->solver, options->run.options);
    double start = now();
    bool ok = p->options ? lx_solve(&p->problem, options->solver, &options->run, &p->answer, st)
                         : status_no_memory(st);
    p->seconds = now() - start;
    if (ok && plan_complete(p, st)) return p;
    lx_plan_free(p);
    return NULL;
}

bool lx_plan_meets_target(const struct lx_plan *p)
{
    return p->graph->target_hbm_bytes < 0 || p->hbm_bytes <= p->graph->target_hbm_bytes;
}

bool lx_plan_check(const struct lx_plan *p, lx_status *st)
{
    int64_t objective, hbm = traffic_of(p->graph, &p->problem, p->answer.address), spill = 0, height = 0;
    /* A solver that was stopped before it had a complete placement for the height question has nothing to
     * be checked; one that was stopped later has. */
    if (p->answer.status == LX_ERROR ||
        (p->problem.objective == LX_HEIGHT && p->answer.status == LX_LIMIT && p->height_bytes == 0))
        return status_set(st, LX_E_NO, "solver %s gave no plan: %s", p->solver,
                          p->answer.message[0] ? p->answer.message : lx_verdict_word(p->answer.status));
    if (!lx_check(&p->problem, p->answer.address, &objective, st)) return false;
    if (p->problem.objective == LX_FIT && lx_left_out(&p->problem, p->answer.address))
        return status_set(st, LX_E_NO, "not every buffer is placed (%s): %s is not",
                          lx_verdict_word(p->answer.status),
                          lx_left_out(&p->problem, p->answer.address)->name);
    if (objective != p->answer.objective)
        return status_set(st, LX_E_NO, "the plan claims %lld bytes of %s, but has %lld",
                          (long long)p->answer.objective, lx_objective_word(p->problem.objective),
                          (long long)objective);
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] < 0)
            spill += p->problem.buffers[i].spill_cost;
        else
            height = max_i64(height, p->answer.address[i] + p->problem.buffers[i].size);
    const struct {
        const char *what;
        int64_t claimed, real;
    } totals[] = {
        {"HBM traffic", p->hbm_bytes, hbm},
        {"HBM traffic with all off chip", p->baseline_hbm_bytes, traffic_of(p->graph, &p->problem, NULL)},
        {"spill", p->spill_bytes, spill},
        {"height", p->height_bytes, height}};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        if (totals[i].claimed != totals[i].real)
            return status_set(st, LX_E_NO, "the plan claims %lld bytes of %s, but has %lld",
                              (long long)totals[i].claimed, totals[i].what, (long long)totals[i].real);
    if (p->answer.bound > objective)
        return status_set(st, LX_E_NO,
                          "the plan claims a bound of %lld bytes above its own objective of %lld",
                          (long long)p->answer.bound, (long long)objective);
    if (p->answer.status == LX_OPTIMAL && p->problem.objective != LX_FIT && p->answer.bound != objective)
        return status_set(st, LX_E_NO,
                          "the plan claims to be optimal, but its bound is %lld and its objective %lld",
                          (long long)p->answer.bound, (long long)objective);
    return true;
}
