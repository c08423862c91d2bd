/* Walks the ops of every member's plan once, by the clock, and its messages once. */
#include "team/team_figures.h"
#include "base/fail.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

static unsigned team_figures_axes_between(const struct lx_team_grid *grid, int a, int b)
{
    unsigned axes = 0;
    for (int i = 0; i < grid->axes; i++)
        if (lx_team_coordinate(grid, a, i) != lx_team_coordinate(grid, b, i)) axes |= 1u << i;
    return axes;
}

/* The step of an op of a member's plan; -1: of none. An op that the layouts added belongs to the one behind it. */
static int32_t team_figures_step_of(const struct lx_team_plans *p, int member, int op)
{
    const struct lx_plan *plan = p->plans[member];
    int ops = plan->layouts->graph->op_count;
    while (op + 1 < ops && plan->layouts->op_origin[op] < 0) op++;
    int32_t of = plan->layouts->op_origin[op];
    return of < 0 ? -1 : p->members[member]->step[of];
}

int32_t team_op_at(const struct lx_team_plans *p, int member, int op)
{
    int32_t step = team_figures_step_of(p, member, op);
    if (step < 0) return -1;
    enum lx_team_step_kind kind = p->team->steps[step].kind;
    return kind == LX_TEAM_COMPUTE || kind == LX_TEAM_REDUCE ? p->team->steps[step].op : -1;
}

static void count_message(struct team_figures *f, int member, const struct lx_team_message *x)
{
    const struct lx_team_plan *team = f->plans->team;
    int32_t step = f->plans->members[member]->step[x->op];
    bool sent = x->operand >= 0;
    unsigned axes = team_figures_axes_between(&team->grid, member, x->peer);
    if (x->peer == member || step < 0) return;
    struct team_step_figures *s = &f->steps[step];
    s->axes |= axes;
    if (sent) f->members[member].sent_bytes += x->bytes;
    if (sent == (team->steps[step].kind == LX_TEAM_REDUCE)) return; /* each once */
    s->messages++;
    s->bytes += x->bytes;
    f->links[axes].messages++;
    f->links[axes].bytes += x->bytes;
}

/* The member that sends the last of what comes by a trip. */
static int last_sender(const struct team_figures *f, int member, const struct lx_team_trip *trip)
{
    int late = -1;
    double at = -1;
    for (int32_t i = trip->first_message; i < trip->end_message; i++) {
        const struct lx_team_message *x = &f->plans->members[member]->messages[i];
        if (x->tag != trip->tag || x->operand >= 0 || x->peer == member) continue;
        const struct lx_team_times *from = &f->clock->at[x->peer];
        int32_t o = from->last_send ? from->last_send[x->tag] : -1;
        if (o < 0 || from->end[o] <= at) continue;
        at = from->end[o];
        late = x->peer;
    }
    return late;
}

/* How long a stretch of ops, from the first that may overlap, is busy within [from, to). */
static double busy_within(const struct lx_team_times *t, double from, double to)
{
    int low = 0, high = t->ops;
    double busy = 0;
    while (low < high) {
        int middle = (low + high) / 2;
        if (t->end[middle] <= from)
            low = middle + 1;
        else
            high = middle;
    }
    for (int o = low; o < t->ops && t->begin[o] < to; o++)
        busy += fmax(0, fmin(to, t->end[o]) - fmax(from, t->works[o]));
    return busy;
}

static void time_links(struct team_figures *f, int m)
{
    const struct lx_team_times *t = &f->clock->at[m];
    double of[TEAM_LINK_SETS] = {0};
    for (int i = 0; i < t->trip_count; i++) {
        const struct lx_team_trip *trip = &t->trips[i];
        for (unsigned s = 1; s < TEAM_LINK_SETS; s++)
            if ((trip->axes & s) == s) of[s] += trip->end - trip->begin;
        f->members[m].beside += busy_within(t, trip->begin, trip->end);
    }
    for (unsigned s = 1; s < TEAM_LINK_SETS; s++)
        if (of[s] > f->links[s].us) f->links[s].us = of[s], f->links[s].busiest = m;
}

static void time_step(struct team_figures *f, int m, int o, double *longest)
{
    const struct lx_team_times *t = &f->clock->at[m];
    int32_t step = team_figures_step_of(f->plans, m, o);
    double wait = t->works[o] - t->begin[o];
    if (wait > *longest) {
        *longest = wait;
        f->members[m].longest_step = step;
        f->members[m].late = last_sender(f, m, &t->trips[t->trip[o]]);
    }
    if (step < 0) return;
    struct team_step_figures *s = &f->steps[step];
    if (s->from < 0 || t->begin[o] < s->from) s->from = t->begin[o];
    s->to = fmax(s->to, t->end[o]);
    if (wait > s->waited) s->waited = wait, s->waiter = m;
}

static void time_member(struct team_figures *f, int m)
{
    const struct lx_team_times *t = &f->clock->at[m];
    const struct lx_plan *plan = f->plans->plans[m];
    struct team_member_figures *x = &f->members[m];
    double longest = 0;
    x->ops = t->ops;
    x->busy = t->busy_us;
    x->waited = t->waited_us;
    x->links = t->link_us;
    x->us = t->us;
    if (!plan) return;
    x->hbm_bytes = plan->figures.hbm_bytes;
    for (int o = 0; o < t->ops; o++) time_step(f, m, o, &longest);
    time_links(f, m);
    const struct lx_team_member *does = f->plans->members[m];
    for (int32_t i = 0; i < does->message_count; i++) count_message(f, m, &does->messages[i]);
}

bool team_figures_make(const struct lx_team_plans *p, struct team_figures *out, lx_status *st)
{
    int members = p->team->members;
    int32_t steps = p->team->step_count;
    *out = (struct team_figures){.plans = p, .step_count = steps, .last = 0, .waiter = -1};
    out->steps = mem_alloc(((size_t)steps + 1) * sizeof *out->steps);
    out->members = mem_alloc((size_t)members * sizeof *out->members);
    out->clock = out->steps && out->members ? lx_team_clock_make(p, st) : NULL;
    if (!out->clock) {
        if (!out->steps || !out->members) status_no_memory(st);
        team_figures_free(out);
        return false;
    }
    for (int32_t s = 0; s < steps; s++)
        out->steps[s] = (struct team_step_figures){.plan = p->team, .step = s, .from = -1, .waiter = -1};
    for (int m = 0; m < members; m++)
        out->members[m] =
            (struct team_member_figures){.plans = p, .member = m, .longest_step = -1, .late = -1};
    for (int m = 0; m < members; m++) time_member(out, m);
    /* Only the sets that something goes over. */
    for (unsigned s = 1; s < TEAM_LINK_SETS; s++) {
        if (out->links[s].messages == 0) continue;
        out->links[s].axes = s;
        out->links[out->link_count++] = out->links[s];
    }
    for (int m = 0; m < members; m++) {
        const struct team_member_figures *x = &out->members[m];
        if (x->us > out->members[out->last].us) out->last = m;
        if (x->waited > (out->waiter < 0 ? 0 : out->members[out->waiter].waited)) out->waiter = m;
    }
    return true;
}

void team_figures_free(struct team_figures *f)
{
    lx_team_clock_free(f->clock);
    mem_free(f->steps);
    mem_free(f->members);
    *f = (struct team_figures){0};
}

const char *team_step_name(const struct lx_team_plan *p, int32_t step)
{
    const struct lx_team_step *s = &p->steps[step];
    bool travels = s->kind == LX_TEAM_START || s->kind == LX_TEAM_WAIT;
    return travels ? p->graph->tensors[p->exchanges[s->exchange].tensor].name : p->graph->ops[s->op].name;
}

void add_axes(unsigned axes, struct text *out)
{
    bool any = false;
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (axes >> a & 1) text_format(out, any ? " and %d" : "%d", a), any = true;
}

void add_coordinates(const struct lx_team_grid *grid, int member, struct text *out)
{
    for (int a = 0; a < grid->axes; a++)
        text_format(out, a ? ", %d" : "%d", lx_team_coordinate(grid, member, a));
}
