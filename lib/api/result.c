/* Numbers, words and lists of a result, by name. A number is a row: a field of a struct by type and offset;
 * functions compute the other few. An unknown name is the caller's error, and so is one that this result
 * lacks (times of a list of buffers, faults of a plan that was not run). */
#include "api/joint_question.h"
#include "api/api_handles.h"

struct number_row {
    const char *name;
    enum { NUMBER_BOOL, NUMBER_INT32, NUMBER_INT64, NUMBER_DOUBLE } type;
    size_t offset;
};

#define NUMBER(name, type, member)                                                                           \
    {                                                                                                        \
        name,                                                                                                \
            _Generic(((type *)0)->member, bool                                                               \
                     : NUMBER_BOOL, int32_t                                                                  \
                     : NUMBER_INT32, int64_t                                                                 \
                     : NUMBER_INT64, double                                                                  \
                     : NUMBER_DOUBLE),                                                                       \
            offsetof(type, member)                                                                           \
    }

/* clang-format off */
static const struct number_row plan_numbers[] = {
    NUMBER("steps", struct lx_plan, answer.steps),
    NUMBER("seconds", struct lx_plan, seconds),
    NUMBER("hbm_bytes", struct lx_plan, figures.hbm_bytes),
    NUMBER("baseline_hbm_bytes", struct lx_plan, figures.baseline_hbm_bytes),
    NUMBER("spill_bytes", struct lx_plan, figures.spill_bytes),
    NUMBER("height", struct lx_plan, figures.height_bytes),
    {0}};
static const struct number_row graph_numbers[] = { /* only for graphs */
    NUMBER("ring_bytes", struct lx_plan, figures.ring_bytes),
    NUMBER("sync_times", struct lx_plan, figures.sync_times),
    NUMBER("device_us", struct lx_plan, figures.device_us),
    NUMBER("us", struct lx_plan, figures.end_to_end_us),
    {0}};
static const struct number_row run_numbers[] = {
    NUMBER("ok", struct lx_run_result, ok),
    NUMBER("seconds", struct lx_run_result, seconds),
    NUMBER("hbm_read", struct lx_run_result, total.hbm_read),
    NUMBER("hbm_written", struct lx_run_result, total.hbm_written),
    NUMBER("lx_read", struct lx_run_result, total.lx_read),
    NUMBER("lx_written", struct lx_run_result, total.lx_written),
    NUMBER("ring", struct lx_run_result, total.ring),
    NUMBER("reduce_ring", struct lx_run_result, total.reduce_ring),
    NUMBER("flops", struct lx_run_result, total.flops),
    NUMBER("faults", struct lx_run_result, fault_count),
    NUMBER("wrong_ops", struct lx_run_result, wrong_ops),
    NUMBER("unequal_ops", struct lx_run_result, unequal_ops),
    NUMBER("share", struct lx_run_result, share),
    NUMBER("relative_error", struct lx_run_result, relative_error),
    {0}};
static const struct number_row joint_numbers[] = {
    NUMBER("objective", struct joint_result, objective),
    NUMBER("bound", struct joint_result, bound),
    NUMBER("cores", struct joint_result, cores),
    NUMBER("squares", struct joint_result, squares),
    NUMBER("steps", struct joint_result, steps),
    {0}};
static const struct number_row team_numbers[] = {
    NUMBER("members", struct lx_team_plan, devices),
    NUMBER("exchanged_bytes", struct lx_team_plan, bytes),
    NUMBER("combined_bytes", struct lx_team_plan, combine_bytes),
    {0}};
static const struct number_row team_run_numbers[] = {
    NUMBER("ok", struct lx_team_result, ok),
    NUMBER("differing", struct lx_team_result, differing),
    NUMBER("worst", struct lx_team_result, worst),
    {0}};
static const struct number_row buffer_numbers[] = {
    NUMBER("size", struct lx_buffer, size),
    NUMBER("start", struct lx_buffer, start),
    NUMBER("end", struct lx_buffer, end),
    NUMBER("cost", struct lx_buffer, spill_cost),
    {0}};
static const struct number_row op_numbers[] = {
    NUMBER("cores", struct lx_op_traffic, cores),
    NUMBER("hbm_read", struct lx_op_traffic, hbm_read),
    NUMBER("hbm_written", struct lx_op_traffic, hbm_written),
    NUMBER("ring", struct lx_op_traffic, ring),
    NUMBER("reduce_ring", struct lx_op_traffic, reduce_ring),
    NUMBER("device_us", struct lx_op_traffic, device_us),
    NUMBER("us", struct lx_op_traffic, end_to_end_us),
    {0}};
static const struct number_row transfer_numbers[] = {
    NUMBER("tick", struct lx_transfer, tick),
    NUMBER("bytes", struct lx_transfer, bytes),
    NUMBER("buffer", struct lx_transfer, stay),
    NUMBER("source", struct lx_transfer, source),
    NUMBER("ahead", struct lx_transfer, ahead),
    {0}};
static const struct number_row fault_numbers[] = {
    NUMBER("tick", struct lx_fault, tick),
    NUMBER("core", struct lx_fault, core),
    NUMBER("address", struct lx_fault, address),
    NUMBER("sticks", struct lx_fault, sticks),
    {0}};
static const struct number_row joint_item_numbers[] = {
    NUMBER("address", struct joint_item, address),
    NUMBER("size", struct joint_item, size),
    NUMBER("start", struct joint_item, start),
    NUMBER("end", struct joint_item, end),
    NUMBER("cost", struct joint_item, cost),
    NUMBER("choice", struct joint_item, choice),
    {0}};
/* clang-format on */

static bool result_field(const struct number_row *rows, const void *of, const char *name, double *value)
{
    while (rows->name && strcmp(rows->name, name) != 0) rows++;
    if (!of || !rows->name) return false;
    const void *at = (const char *)of + rows->offset;
    *value = rows->type == NUMBER_BOOL    ? *(const bool *)at
             : rows->type == NUMBER_INT32 ? *(const int32_t *)at
             : rows->type == NUMBER_INT64 ? (double)*(const int64_t *)at
                                          : *(const double *)at;
    return true;
}

/* No legal answer was found, or none exists. */
static bool result_has_no_answer(const struct lx_plan *p)
{
    return p->answer.status == LX_INFEASIBLE || (p->graph->list && p->answer.objective == INT64_MAX);
}

/* Objective, bound and gap; else the solver's statistics, by their names. */
static bool result_plan_number(const struct lx_plan *p, const char *name, double *value)
{
    bool fit = p->graph->list && p->problem.objective == LX_FIT, none = result_has_no_answer(p);
    if (strcmp(name, "objective") == 0)
        *value = none                                          ? INFINITY
                 : p->asks_time                                ? p->figures.end_to_end_us
                 : !fit                                        ? (double)lx_plan_value(p)
                 : lx_left_out(&p->problem, p->answer.address) ? INFINITY
                                                               : 0;
    else if (strcmp(name, "bound") == 0)
        *value = p->asks_time ? p->figures.bound_us : fit ? 0 : (double)lx_plan_least(p);
    else if (strcmp(name, "gap") == 0)
        *value = none ? INFINITY : lx_plan_gap(p);
    else {
        int i = 0;
        while (i < p->answer.stat_count && strcmp(p->answer.stats[i].name, name) != 0) i++;
        if (i == p->answer.stat_count) return false;
        *value = (double)p->answer.stats[i].value;
    }
    return true;
}

static double result_member_hbm(const struct team_result *t, int member)
{
    struct lx_team_account a = lx_team_planned(t->plans, member);
    return (double)(a.planned.hbm_read + a.planned.hbm_written);
}

static bool result_team_number(const struct team_result *t, const char *name, double *value)
{
    const struct lx_team_plan *p = t->plans->team;
    if (result_field(team_numbers, p, name, value)) return true;
    if (t->ran && result_field(team_run_numbers, &t->run, name, value)) return true;
    *value = 0;
    if (strcmp(name, "exchange_bound") == 0) return *value = (double)max_i64(p->bound_bytes, 0), true;
    for (int m = 0; m < p->devices; m++) *value += result_member_hbm(t, m);
    return strcmp(name, "hbm_bytes") == 0;
}

int32_t lx_result_number(const lx_result *r, const char *name, double *value)
{
    double found = 0;
    bool known = false;
    if (!r || !name) return -1;
    if (r->joint) {
        const struct joint_result *j = r->joint;
        known = result_field(joint_numbers, j, name, &found);
        if (strcmp(name, "gap") == 0) { /* as lx_gap, but costs of terms may be fractional or negative */
            found = j->objective <= j->bound ? 0
                    : j->bound == 0          ? INFINITY
                                             : (j->objective - j->bound) / fabs(j->bound);
            known = true;
        }
    } else if (r->team)
        known = result_team_number(r->team, name, &found);
    else
        known = result_field(run_numbers, r->run, name, &found) ||
                (r->plan && (result_field(plan_numbers, r->plan, name, &found) ||
                             (!r->plan->graph->list && result_field(graph_numbers, r->plan, name, &found)) ||
                             result_plan_number(r->plan, name, &found)));
    if (known && value) *value = found;
    return known ? 0 : -1;
}

const char *lx_result_word(const lx_result *r, const char *name)
{
    if (!r || !name) return NULL;
    if (strcmp(name, "notes") == 0) return r->notes ? r->notes : "";
    if (r->joint) {
        if (strcmp(name, "status") == 0) return lx_verdict_word(r->joint->status);
        return strcmp(name, "solver") == 0 ? r->joint->solver : NULL;
    }
    if (r->team) {
        if (strcmp(name, "status") == 0) return !r->team->ran ? "feasible" : r->team->run.ok ? "ok" : "wrong";
        return strcmp(name, "name") == 0 ? r->team->plans->team->graph->name : NULL;
    }
    const struct lx_plan *p = r->plan;
    if (!p) return NULL;
    if (strcmp(name, "status") == 0)
        return !r->run               ? lx_verdict_word(p->answer.status)
               : r->run->ok          ? "ok"
               : r->run->fault_count ? "faults"
               : r->run->wrong_ops   ? "wrong"
                                     : "unequal";
    if (strcmp(name, "objective") == 0)
        return p->asks_time                       ? lx_ask_word(LX_ASK_TIME)
               : p->problem.objective == LX_SPILL ? "cost"
                                                  : lx_objective_word(p->problem.objective);
    if (strcmp(name, "solver") == 0) return p->solver;
    if (strcmp(name, "options") == 0) return p->options;
    if (strcmp(name, "name") == 0) return p->graph->name;
    if (strcmp(name, "message") == 0) return p->answer.message;
    return strcmp(name, "unproved") == 0 ? p->unproved ? p->unproved : "" : NULL;
}

int32_t lx_result_check(const lx_result *r, lx_error *e)
{
    API_CALL(e, -LX_E_MEMORY);
    if (!r || (!r->plan && !r->team))
        return status_set(st, LX_E_USAGE, "there is no plan to check"), api_code(st);
    if (!r->team && result_has_no_answer(r->plan))
        return status_set(st, LX_E_NO, "there is no legal answer"), 0;
    bool legal = r->team ? lx_team_plans_check(r->team->plans, st) : lx_plan_check(r->plan, st);
    if (legal) return 1;
    return st->code == LX_E_NO ? 0 : api_code(st);
}

static int32_t result_pool_of(const struct lx_plan *p, int64_t i)
{
    if (p->answer.address[i] < 0) return -1;
    return p->answer.pool ? p->answer.pool[i] : 0;
}

static bool buffer_number(const lx_result *r, int64_t i, const char *name, double *value)
{
    const struct lx_plan *p = r->plan;
    if (strcmp(name, "pool") == 0)
        *value = result_pool_of(p, i);
    else if (strcmp(name, "address") == 0)
        *value = (double)p->answer.address[i];
    else if (strcmp(name, "in_place_of") == 0)
        *value = p->took_slot_of ? p->took_slot_of[i] : -1;
    else if (strcmp(name, "id") == 0) /* as in the caller's file */
        *value = (double)lx_graph_buffer_id(p->graph, (int32_t)i, i);
    else
        return false;
    return true;
}

static const char *buffer_word(const lx_result *r, int64_t i, const char *name)
{
    const struct lx_plan *p = r->plan;
    if (strcmp(name, "name") == 0) return p->problem.buffers[i].name;
    if (strcmp(name, "reason") == 0) return p->reason && p->reason[i] ? p->reason[i] : "";
    if (strcmp(name, "in_place_of") == 0) {
        int32_t parent = p->took_slot_of ? p->took_slot_of[i] : -1;
        return parent >= 0 ? p->problem.buffers[parent].name : "";
    }
    if (strcmp(name, "pool") != 0) return NULL;
    int32_t pool = result_pool_of(p, i);
    return pool < 0                ? ""
           : p->problem.pool_count ? p->problem.pools[pool].name
           : r->pool_name          ? r->pool_name
                                   : "LX";
}

static bool op_number(const lx_result *r, int64_t i, const char *name, double *value)
{
    const struct lx_op_traffic *t = &r->plan->traffic[i];
    *value = (double)t->hbm_read + (double)t->hbm_written;
    return strcmp(name, "traffic") == 0;
}

static const char *op_word(const lx_result *r, int64_t i, const char *name)
{
    const struct lx_op *op = &r->plan->layouts->graph->ops[i];
    if (strcmp(name, "name") == 0) return op->name;
    if (strcmp(name, "kind") == 0) return op->kind->name;
    return strcmp(name, "splits") == 0 ? r->splits[i] : NULL;
}

static const char *transfer_word(const lx_result *r, int64_t i, const char *name)
{
    const struct lx_transfer *t = &r->plan->transfers[i];
    if (strcmp(name, "kind") == 0) return lx_transfer_word(t->kind);
    return strcmp(name, "buffer") == 0 ? r->plan->problem.buffers[t->stay].name : NULL;
}

static const char *fault_word(const lx_result *r, int64_t i, const char *name)
{
    const struct lx_fault *f = &r->run->faults[i];
    if (strcmp(name, "kind") == 0) return lx_fault_word(f->kind);
    return strcmp(name, "text") == 0 ? f->text : NULL;
}

static bool joint_item_number(const lx_result *r, int64_t i, const char *name, double *value)
{
    *value = r->joint->items[i].address >= 0 ? 0 : -1;
    return strcmp(name, "pool") == 0;
}

static const char *joint_item_word(const lx_result *r, int64_t i, const char *name)
{
    if (strcmp(name, "name") == 0) return r->joint->items[i].name;
    return strcmp(name, "reason") == 0 ? r->joint->items[i].reason : NULL;
}

static bool member_number(const lx_result *r, int64_t i, const char *name, double *value)
{
    struct lx_team_account a = lx_team_planned(r->team->plans, (int)i);
    if (strcmp(name, "ops") == 0)
        *value = (double)a.ops;
    else if (strcmp(name, "height") == 0)
        *value = (double)a.height_bytes;
    else
        *value = result_member_hbm(r->team, (int)i);
    return strcmp(name, "ops") == 0 || strcmp(name, "height") == 0 || strcmp(name, "hbm_bytes") == 0;
}

struct result_list {
    int64_t count;
    const void *items; /* NULL: all numbers are computed */
    size_t size;       /* of an item */
    const struct number_row *numbers;
    bool (*number)(const lx_result *r, int64_t i, const char *name, double *value);
    const char *(*word)(const lx_result *r, int64_t i, const char *name);
};

/* False: the result has no list of that name. */
static bool result_list(const lx_result *r, const char *name, struct result_list *out)
{
    if (!r || !name) return false;
    if (r->joint || r->team) {
        bool known = strcmp(name, r->joint ? "buffers" : "members") == 0;
        if (known && r->joint)
            *out = (struct result_list){r->joint->count,    r->joint->items,   sizeof *r->joint->items,
                                        joint_item_numbers, joint_item_number, joint_item_word};
        else if (known)
            *out = (struct result_list){.count = r->team->plans->team->devices, .number = member_number};
        return known;
    }
    const struct lx_plan *p = r->plan;
    const struct lx_run_result *run = r->run;
    if (p && strcmp(name, "buffers") == 0)
        *out = (struct result_list){p->problem.count, p->problem.buffers, sizeof *p->problem.buffers,
                                    buffer_numbers,   buffer_number,      buffer_word};
    else if (p && strcmp(name, "ops") == 0)
        *out = (struct result_list){p->layouts ? p->layouts->graph->op_count : 0,
                                    p->traffic,
                                    sizeof *p->traffic,
                                    op_numbers,
                                    op_number,
                                    op_word};
    else if (p && strcmp(name, "transfers") == 0)
        *out = (struct result_list){p->transfer_count, p->transfers, sizeof *p->transfers,
                                    transfer_numbers,  NULL,         transfer_word};
    else if (p && strcmp(name, "faults") == 0) /* the recorded ones */
        *out = (struct result_list){run ? min_i64(run->fault_count, LX_MAX_FAULTS) : 0,
                                    run ? run->faults : NULL,
                                    sizeof *run->faults,
                                    fault_numbers,
                                    NULL,
                                    fault_word};
    else
        return false;
    return true;
}

int64_t lx_result_count(const lx_result *r, const char *list)
{
    struct result_list l;
    return result_list(r, list, &l) ? l.count : -1;
}

int32_t lx_result_item_number(const lx_result *r, const char *list, int64_t i, const char *name,
                              double *value)
{
    struct result_list l;
    double found;
    if (!name || !result_list(r, list, &l) || i < 0 || i >= l.count) return -1;
    bool known =
        (l.items && result_field(l.numbers, (const char *)l.items + (size_t)i * l.size, name, &found)) ||
        (l.number && l.number(r, i, name, &found));
    if (known && value) *value = found;
    return known ? 0 : -1;
}

const char *lx_result_item_word(const lx_result *r, const char *list, int64_t i, const char *name)
{
    struct result_list l;
    if (!name || !result_list(r, list, &l) || i < 0 || i >= l.count) return NULL;
    return l.word ? l.word(r, i, name) : NULL;
}

int32_t lx_result_places(const lx_result *r, int32_t *pools, int64_t *addresses, int32_t count)
{
    if (!r || (!r->joint && !r->plan)) return -1;
    int32_t all = r->joint ? r->joint->count : r->plan->problem.count;
    for (int32_t i = 0; i < count && i < all; i++) {
        int64_t address = r->joint ? r->joint->items[i].address : r->plan->answer.address[i];
        if (pools) pools[i] = !r->joint ? result_pool_of(r->plan, i) : address >= 0 ? 0 : -1;
        if (addresses) addresses[i] = address;
    }
    return all;
}
