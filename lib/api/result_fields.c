/* What a result says about itself: named numbers and words, one row each. A name that is in no row is an error of the
 * caller, and so is one that this result does not have (times of a list of buffers, faults of what was not run). */
#include "api/joint_result.h"
#include "api/api_team.h"

#include <math.h>
#include <string.h>

/* What a result must be for a row to hold. */
enum has { ANY_PLAN, OF_GRAPH, OF_RUN };

static bool result_fields_has(const lx_result *r, enum has what)
{
    if (what == OF_RUN) return r->run != NULL;
    return r->plan && (what == ANY_PLAN || !r->plan->graph->list);
}

/* No legal answer was found, or none exists. */
static bool has_no_answer(const struct lx_plan *p)
{
    return p->answer.status == LX_INFEASIBLE || (p->graph->list && p->answer.objective == INT64_MAX);
}

static double objective(const lx_result *r)
{
    const struct lx_plan *p = r->plan;
    if (has_no_answer(p)) return INFINITY;
    if (p->asks_time) return p->figures.end_to_end_us;
    if (p->graph->list && p->problem.objective == LX_FIT)
        return lx_left_out(&p->problem, p->answer.address) ? INFINITY : 0;
    return (double)lx_plan_value(p);
}

static double bound(const lx_result *r)
{
    const struct lx_plan *p = r->plan;
    if (p->asks_time) return p->figures.bound_us;
    return p->graph->list && p->problem.objective == LX_FIT ? 0 : (double)lx_plan_least(p);
}

static double gap(const lx_result *r)
{
    return has_no_answer(r->plan) ? INFINITY : lx_plan_gap(r->plan);
}

static double steps(const lx_result *r)
{
    return (double)r->plan->answer.steps;
}

static double seconds(const lx_result *r)
{
    return r->run ? r->run->seconds : r->plan->seconds;
}

/* Figures of a plan, by its field. */
#define FIGURE(name, field)                                                                                  \
    static double name(const lx_result *r)                                                                   \
    {                                                                                                        \
        return (double)r->plan->figures.field;                                                               \
    }
FIGURE(hbm_bytes, hbm_bytes)
FIGURE(baseline_hbm_bytes, baseline_hbm_bytes)
FIGURE(spill_bytes, spill_bytes)
FIGURE(height, height_bytes)
FIGURE(ring_bytes, ring_bytes)
FIGURE(device_us, device_us)
FIGURE(us, end_to_end_us)

#define RUN_FIGURE(name, field)                                                                              \
    static double name(const lx_result *r)                                                                   \
    {                                                                                                        \
        return (double)r->run->field;                                                                        \
    }
RUN_FIGURE(run_ok, ok)
RUN_FIGURE(hbm_read, total.hbm_read)
RUN_FIGURE(hbm_written, total.hbm_written)
RUN_FIGURE(lx_read, total.lx_read)
RUN_FIGURE(lx_written, total.lx_written)
RUN_FIGURE(ring, total.ring)
RUN_FIGURE(reduce_ring, total.reduce_ring)
RUN_FIGURE(flops, total.flops)
RUN_FIGURE(faults, fault_count)
RUN_FIGURE(wrong_ops, wrong_ops)
RUN_FIGURE(unequal_ops, unequal_ops)
RUN_FIGURE(share, share)
RUN_FIGURE(relative_error, relative_error)

/* clang-format off */
static const struct {
    const char *name;
    enum has needs;
    double (*get)(const lx_result *r);
} numbers[] = {
    {"objective", ANY_PLAN, objective},
    {"bound", ANY_PLAN, bound},
    {"gap", ANY_PLAN, gap},
    {"steps", ANY_PLAN, steps},
    {"seconds", ANY_PLAN, seconds},
    {"hbm_bytes", ANY_PLAN, hbm_bytes},
    {"baseline_hbm_bytes", ANY_PLAN, baseline_hbm_bytes},
    {"spill_bytes", ANY_PLAN, spill_bytes},
    {"height", ANY_PLAN, height},
    {"ring_bytes", OF_GRAPH, ring_bytes},
    {"device_us", OF_GRAPH, device_us},
    {"us", OF_GRAPH, us},
    {"ok", OF_RUN, run_ok},
    {"hbm_read", OF_RUN, hbm_read},
    {"hbm_written", OF_RUN, hbm_written},
    {"lx_read", OF_RUN, lx_read},
    {"lx_written", OF_RUN, lx_written},
    {"ring", OF_RUN, ring},
    {"reduce_ring", OF_RUN, reduce_ring},
    {"flops", OF_RUN, flops},
    {"faults", OF_RUN, faults},
    {"wrong_ops", OF_RUN, wrong_ops},
    {"unequal_ops", OF_RUN, unequal_ops},
    {"share", OF_RUN, share},
    {"relative_error", OF_RUN, relative_error},
};
/* clang-format on */

/* What the solver counted, by the names of its own table. */
static bool find_stat(const struct lx_plan *p, const char *name, double *value)
{
    for (int i = 0; p && i < p->answer.stat_count; i++)
        if (strcmp(p->answer.stats[i].name, name) == 0)
            return *value = (double)p->answer.stats[i].value, true;
    return false;
}

static bool find_number(const lx_result *r, const char *name, double *value)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].name, name) == 0) {
            bool is = result_fields_has(r, numbers[i].needs);
            if (is) *value = numbers[i].get(r);
            return is;
        }
    return find_stat(r->plan, name, value);
}

int32_t lx_result_number(const lx_result *r, const char *name, double *value)
{
    double found = 0;
    if (!r || !name) return -1;
    if (r->joint) return joint_number(r->joint, name, value);
    if (r->team) return team_number(r->team, name, value);
    if (!find_number(r, name, &found)) return -1;
    if (value) *value = found;
    return 0;
}

static const char *run_status(const struct lx_run_result *run)
{
    return run->ok ? "ok" : run->fault_count ? "faults" : run->wrong_ops ? "wrong" : "unequal";
}

static const char *status(const lx_result *r)
{
    return r->run ? run_status(r->run) : lx_verdict_word(r->plan->answer.status);
}

static const char *solver(const lx_result *r)
{
    return r->plan->solver;
}

static const char *options(const lx_result *r)
{
    return r->plan->options;
}

static const char *graph_name(const lx_result *r)
{
    return r->plan->graph->name;
}

static const char *message(const lx_result *r)
{
    return r->plan->answer.message;
}

static const char *unproved(const lx_result *r)
{
    return r->plan->unproved ? r->plan->unproved : "";
}

static const char *result_fields_question(const lx_result *r)
{
    enum lx_objective asked = r->plan->problem.objective;
    if (r->plan->asks_time) return lx_ask_word(LX_ASK_TIME);
    return asked == LX_SPILL ? "cost" : lx_objective_word(asked);
}

static const struct {
    const char *name;
    const char *(*get)(const lx_result *r);
} words[] = {
    {"status", status},
    {"solver", solver},
    {"options", options},
    {"name", graph_name},
    {"message", message},
    {"unproved", unproved},
    {"objective", result_fields_question},
};

const char *lx_result_word(const lx_result *r, const char *name)
{
    if (r && name && strcmp(name, "notes") == 0) return r->notes ? r->notes : "";
    if (r && name && r->joint) return joint_word(r->joint, name);
    if (r && name && r->team) return team_word(r->team, name);
    if (!r || !name || !r->plan) return NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, name) == 0) return words[i].get(r);
    return NULL;
}

int32_t lx_result_check(const lx_result *r, lx_error *e)
{
    API_CALL(e, -LX_E_MEMORY);
    if (!r || (!r->plan && !r->team))
        return status_set(st, LX_E_USAGE, "there is no plan to check"), api_code(st);
    if (!r->team && has_no_answer(r->plan)) return status_set(st, LX_E_NO, "there is no legal answer"), 0;
    bool legal = r->team ? lx_team_plans_check(r->team->plans, st) : lx_plan_check(r->plan, st);
    if (legal) return 1;
    return st->code == LX_E_NO ? 0 : api_code(st);
}
