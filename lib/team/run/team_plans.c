/* The plans of a team: every device's graph is planned like any graph.
 *
 * A device that computes with a part of a replicated tensor slices it at its own offset. Graphs of devices
 * with equal sizes differ in nothing else. A plan depends on an offset only by the slice's position in its
 * stick, along the stick dimension of its layout. So the first of these devices is planned, and others with
 * the same positions use its plan with their own offsets. */
#include "team/run/team_plans.h"
#include "layout/op_index.h"
#include "plan/plan_slot.h"
#include "planfile/plan_file.h"
#include "team/run/team_clock.h"

struct lx_plan *plan_of_device(const struct lx_graph *does, const struct lx_plan_options *how, lx_status *st)
{
    struct lx_plan_options as_it_is = *how;
    as_it_is.passes.online = LX_ONLINE_NONE;
    return lx_plan_make(does, &as_it_is, st);
}

bool team_plans_add_device(struct lx_team_plans *p, int m, lx_status *st)
{
    p->devices[m] = m > 0 && p->alike ? p->devices[0] : lx_team_device_make(p->team, m, st);
    return p->devices[m];
}

/* Whether dimension `h` of an operand is the same part, moved by whole steps of all layout levels. */
static bool team_plans_moved_evenly(const struct lx_layout *y, const struct op_index *x,
                                    const struct op_index *other, int operand, int h)
{
    int64_t stride = op_index_stride(x, operand, h), last = x->extent[(int)x->var[operand][h]] - 1;
    int64_t a = op_index_offset(x, operand, h), b = op_index_offset(other, operand, h), reach;
    if (a == b) return true;
    /* all elements are inside: otherwise the missing parts would differ */
    if (a < 0 || b < 0 || stride < 1 || !mul_i64(stride, last, &reach) ||
        !add_i64(reach, max_i64(a, b), &reach) || reach >= y->host_shape[h])
        return false;
    for (int k = 0; k < y->rank; k++)
        if (y->host_dim[k] == h && a % y->step[k] != b % y->step[k]) return false;
    return true;
}

bool team_fits_twin(const struct lx_plan *plan, const struct lx_graph *does)
{
    const struct lx_layouts *l = plan->layouts;
    for (int32_t o = 0; plan->graph->hash != does->hash && o < l->graph->op_count; o++) {
        const struct lx_op *op = &l->graph->ops[o];
        struct op_index x, other;
        if (l->op_origin[o] < 0) continue;
        op_index_of(l->graph, op, &x);
        op_index_of(does, &does->ops[l->op_origin[o]], &other);
        if (memcmp(x.extent, other.extent, (size_t)x.var_count * sizeof *x.extent) != 0) return false;
        for (int i = 0; x.known && i < x.operand_count; i++)
            for (int h = 0; op_index_shifted(&x, i) && h < x.rank[i]; h++)
                if (!team_plans_moved_evenly(&l->layouts[op_operand(op, i)], &x, &other, i, h)) return false;
    }
    return true;
}

bool team_plans_fits(const struct lx_team_plans *p, int m, int of)
{
    return p->plans[of] && p->devices[of]->shape == p->devices[m]->shape &&
           team_fits_twin(p->plans[of], p->devices[m]->graph);
}

int team_plans_twin(const struct lx_team_plans *p, int m)
{
    for (int k = 0; k < m; k++) {
        bool again = false;
        for (int j = 0; j < k && !again; j++) again = p->plans[j] == p->plans[k];
        if (!again && team_plans_fits(p, m, k)) return k;
    }
    return m;
}

const struct lx_plan *lx_team_plan_of(const struct lx_team_plans *p, int m, lx_status *st)
{
    const struct lx_graph *does = p->devices[m]->graph;
    struct lx_plan moved = *p->plans[m], *made = NULL;
    size_t length = 0;
    struct json j;
    if (moved.graph->hash == does->hash) return lx_plan_ref(p->plans[m]);
    moved.graph = does;
    OWNED char *text = lx_plan_to_json(&moved, &length);
    if (json_parse(&j, does->file, text, length, st)) {
        made = plan_read_json(&j, j.root, st);
        json_free(&j);
    }
    return made;
}

/* Whether the device probably needs its own plan: no earlier device has the same `likely` hash. */
static bool team_plans_is_first(const struct lx_team_plans *p, int m)
{
    int first = 0;
    while (p->devices[first]->likely != p->devices[m]->likely) first++;
    return first == m && p->devices[m]->graph;
}

static bool team_plans_plan(struct lx_team_plans *p, int m, const struct lx_plan_options *how, lx_status *st)
{
    struct lx_plan_options one = *how;
    int left = 1; /* expected number of plans, including this one */
    if (!p->devices[m]->graph) return true;
    int twin = team_plans_twin(p, m);
    for (int k = m + 1; twin == m && k < p->team->devices; k++) left += team_plans_is_first(p, k);
    if (twin == m) one.run = plan_run_share(&how->run, left);
    one.run.quick |= p->quick;
    p->plans[m] = twin < m ? lx_plan_ref(p->plans[twin]) : plan_of_device(p->devices[m]->graph, &one, st);
    return p->plans[m] != NULL;
}

/* Whether `more` devices are done before the deadline plus `grace` seconds, at the pace of the `done`
 * devices. */
static bool team_plans_in_time(double done, double more, double grace)
{
    const struct cancel *token = cancel_current();
    if (!token || token->seconds <= 0) return true;
    double now = clock_seconds();
    return (now - token->began) / done * more <= token->deadline + grace - now;
}

/* Makes the missing graphs. With `late`, it stops when time is too short for the graphs and their plans. */
static bool team_plans_add_all(struct lx_team_plans *p, bool *late, lx_status *st)
{
    /* Costs in graphs: of a quick plan, and of a searched plan that is cancelled. */
    enum { PLAN = 4, SEARCH = 10 };
    const double late_by = 0.1; /* still in time: quick plans are better than no shards */
    int devices = p->team->devices, to_make = p->alike ? 1 : devices, plans = 0;
    for (int m = 0; m < devices && !(late && *late); m++) {
        bool made_before = p->devices[m];
        if (!made_before && !team_plans_add_device(p, m, st)) return false;
        plans += team_plans_is_first(p, m);
        if (made_before) continue;
        int made = m < to_make ? m + 1 : to_make;
        if (late)
            *late = (cancel_requested() && !cancel_is_late()) || /* not by the deadline */
                    !team_plans_in_time(made, to_make - made + PLAN * plans, late_by);
        p->quick = !team_plans_in_time(made, to_make - made + SEARCH * plans, 0);
    }
    return true;
}

struct lx_team_plans *team_plans_new(struct lx_team_plan *team)
{
    struct lx_team_plans *p = mem_zeroed(1, sizeof *p);
    p->team = team;
    p->alike = lx_team_all_replicated(team);
    p->devices = mem_zeroed((size_t)team->devices, sizeof *p->devices);
    p->plans = mem_zeroed((size_t)team->devices, sizeof *p->plans);
    return p;
}

double team_plans_us(const struct lx_team_plans *p)
{
    struct lx_team_clock *c = lx_team_clock_make(p);
    double us = c->us;
    lx_team_clock_free(c);
    return us;
}

struct lx_team_plans *team_plans_begin(struct lx_team_plan *team, const struct lx_plan_options *how,
                                       bool *late, lx_status *st)
{
    struct lx_team_plans *p = team_plans_new(team);
    struct cancel token;
    cancel_begin(&token, how->run.time_limit);
    bool ok = team_plans_add_all(p, late, st);
    cancel_end(&token);
    if (ok) return p;
    lx_team_plans_free(p);
    return NULL;
}

struct lx_team_plans *team_plans_finish(struct lx_team_plans *p, const struct lx_plan_options *how,
                                        lx_status *st)
{
    struct cancel token;
    cancel_begin(&token, how->run.time_limit); /* one limit for all plans */
    bool ok = team_plans_add_all(p, NULL, st);
    for (int m = 0; ok && m < p->team->devices; m++) ok = team_plans_plan(p, m, how, st);
    cancel_end(&token);
    if (!ok) {
        lx_team_plans_free(p);
        return NULL;
    }
    p->team->bound_bytes = lx_team_least_bytes(p->team);
    p->team->bound_us = lx_team_bound_us(p->team);
    p->team->predicted_us = team_plans_us(p);
    return p;
}

struct lx_team_plans *lx_team_plans_make(struct lx_team_plan *team, const struct lx_plan_options *how,
                                         lx_status *st)
{
    struct cancel token;
    cancel_begin(&token, how->run.time_limit); /* one limit for both parts */
    struct lx_team_plans *p = team_plans_begin(team, how, NULL, st);
    if (p) p = team_plans_finish(p, how, st);
    cancel_end(&token);
    return p;
}

void lx_team_plans_free(struct lx_team_plans *p)
{
    if (!p) return;
    for (int m = p->team->devices; m-- > 0;) {
        lx_plan_free(p->plans[m]);
        if (m == 0 || p->devices[m] != p->devices[0]) lx_team_device_free(p->devices[m]);
    }
    mem_free(p->plans);
    mem_free(p->devices);
    arena_free(&p->memory);
    lx_team_free(p->team);
    mem_free(p);
}
