/* The plans of a team: every device's graph goes down the road of any graph; and their file. */
#include "team/run/device_plans.h"
#include "team/run/device_twins.h"
#include "team/run/message_pairs.h"
#include "team/run/team_bound.h"
#include "team/run/team_clock.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "plan/plan_slot.h"
#include "planfile/plan_file.h"
#include "team/team_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lx_plan *plan_of_device(const struct lx_graph *does, const struct lx_plan_options *how, lx_status *st)
{
    struct lx_plan_options as_it_is = *how;
    as_it_is.passes.online = LX_ONLINE_NONE;
    return lx_plan_make(does, &as_it_is, st);
}

/* What the device does. */
static bool device_plans_make_device(struct lx_team_plans *p, int m, lx_status *st)
{
    p->devices[m] = m > 0 && p->alike ? p->devices[0] : lx_team_device_make(p->team, m, st);
    return p->devices[m];
}

static bool device_plans_is_twin(const struct lx_team_plans *p, int m, int of)
{
    return p->plans[of] && p->devices[of]->shape == p->devices[m]->shape &&
           team_fits_twin(p->plans[of], p->devices[m]->graph);
}

/* The first device whose plan fits this one; itself: none before. */
static int twin_of(const struct lx_team_plans *p, int m)
{
    for (int k = 0; k < m; k++) {
        bool again = false;
        for (int j = 0; j < k && !again; j++) again = p->plans[j] == p->plans[k];
        if (!again && device_plans_is_twin(p, m, k)) return k;
    }
    return m;
}

/* Is it likely that the device needs a plan of its own: does nobody before it do something alike? */
static bool is_first(const struct lx_team_plans *p, int m)
{
    int first = 0;
    while (p->devices[first]->likely != p->devices[m]->likely) first++;
    return first == m && p->devices[m]->graph;
}

/* How many plans are likely to come, with this one: those before `m` have theirs. */
static int plans_left(const struct lx_team_plans *p, int m)
{
    int count = 1;
    for (int k = m + 1; k < p->team->devices; k++) count += is_first(p, k);
    return count;
}

static bool plan_device(struct lx_team_plans *p, int m, const struct lx_plan_options *how, lx_status *st)
{
    struct lx_plan_options one = *how;
    if (!p->devices[m]->graph) return true;
    int twin = twin_of(p, m);
    if (twin == m) one.run = plan_run_share(&how->run, plans_left(p, m));
    one.run.hasty |= p->hasty;
    p->plans[m] = twin < m ? lx_plan_ref(p->plans[twin]) : plan_of_device(p->devices[m]->graph, &one, st);
    return p->plans[m] != NULL;
}

/* At the pace of the `done` devices: are as many `more` made before the deadline, or `grace` seconds later? */
static bool in_time_for(double done, double more, double grace)
{
    const struct cancel *token = cancel_current();
    if (!token || token->seconds <= 0) return true;
    double now = clock_seconds();
    return (now - token->began) / done * more <= token->deadline + grace - now;
}

/* What those do of whom it is not known yet; to the end, or as far as there is time for it and for the plans after it. */
static bool make_all(struct lx_team_plans *p, bool *late, lx_status *st)
{
    /* A plan in haste takes as long as to make so many devices, and so does one that is searched for and stopped. */
    enum { PLAN = 4, SEARCH = 10 };
    const double late_by = 0.1; /* and still called in time, as all in haste is better than nothing cut */
    int devices = p->team->devices, to_make = p->alike ? 1 : devices, plans = 0;
    for (int m = 0; m < devices && !(late && *late); m++) {
        bool made_before = p->devices[m];
        if (!made_before && !device_plans_make_device(p, m, st)) return false;
        plans += is_first(p, m);
        if (made_before) continue;
        int made = m < to_make ? m + 1 : to_make;
        if (late)
            *late = (cancel_requested() && !cancel_is_late()) || /* by a person, say */
                    !in_time_for(made, to_make - made + PLAN * plans, late_by);
        p->hasty = !in_time_for(made, to_make - made + SEARCH * plans, 0);
    }
    return true;
}

static bool plan_all(struct lx_team_plans *p, const struct lx_plan_options *how, lx_status *st)
{
    for (int m = 0; m < p->team->devices; m++)
        if (!plan_device(p, m, how, st)) return false;
    return true;
}

const struct lx_plan *lx_team_plan_of(const struct lx_team_plans *p, int m, lx_status *st)
{
    const struct lx_graph *does = p->devices[m]->graph;
    if (p->plans[m]->graph->hash == does->hash) return lx_plan_ref(p->plans[m]);
    return team_plan_of_twin(p->plans[m], does, st);
}

/* With room for the devices; takes the team over. */
static struct lx_team_plans *plans_of(struct lx_team_plan *team)
{
    size_t n = (size_t)team->devices;
    struct lx_team_plans *p = mem_zeroed(1, sizeof *p);
    p->team = team;
    p->alike = lx_team_all_replicated(team);
    p->devices = mem_zeroed(n, sizeof *p->devices);
    p->plans = mem_zeroed(n, sizeof *p->plans);
    return p;
}

static bool device_plans_time_of(const struct lx_team_plans *p, double *us, lx_status *st)
{
    struct lx_team_clock *c = lx_team_clock_make(p, st);
    if (!c) return false;
    *us = c->us;
    lx_team_clock_free(c);
    return true;
}

struct lx_team_plans *team_plans_begin(struct lx_team_plan *team, const struct lx_plan_options *how,
                                       bool *late, lx_status *st)
{
    struct lx_team_plans *p = plans_of(team);
    struct cancel token;
    cancel_begin(&token, how->run.time_limit);
    bool ok = make_all(p, late, st);
    cancel_end(&token);
    if (ok) return p;
    lx_team_plans_free(p);
    return NULL;
}

struct lx_team_plans *team_plans_finish(struct lx_team_plans *p, const struct lx_plan_options *how,
                                        lx_status *st)
{
    struct cancel token;
    cancel_begin(&token, how->run.time_limit); /* all in the time of one */
    bool ok = make_all(p, NULL, st) && plan_all(p, how, st);
    cancel_end(&token);
    if (ok) {
        p->team->bound_bytes = lx_team_least_bytes(p->team);
        p->team->bound_us = lx_team_bound_us(p->team);
    }
    if (ok && device_plans_time_of(p, &p->team->predicted_us, st)) return p;
    lx_team_plans_free(p);
    return NULL;
}

struct lx_team_plans *lx_team_plans_make(struct lx_team_plan *team, const struct lx_plan_options *how,
                                         lx_status *st)
{
    struct cancel token;
    cancel_begin(&token, how->run.time_limit); /* of both parts */
    struct lx_team_plans *p = team_plans_begin(team, how, NULL, st);
    if (p) p = team_plans_finish(p, how, st);
    cancel_end(&token);
    return p;
}

/* The plan, or the number of the first device that has the same one. */
static void device_plans_write_plan(const struct lx_team_plans *p, int m, struct text *t)
{
    size_t n = 4;
    int first = 0;
    while (p->plans[m] && p->plans[first] != p->plans[m]) first++;
    if (p->plans[m] && first < m) {
        text_format(t, "%d", first);
        return;
    }
    char *plan = p->plans[m] ? lx_plan_to_json(p->plans[m], &n) : NULL;
    text_add_n(t, plan ? plan : "null", n);
    mem_free(plan);
}

char *lx_team_plans_to_json(const struct lx_team_plans *p, size_t *length)
{
    struct text t = {0};
    team_write(p->team, TEAM_PLAN_KIND, &t);
    text_add(&t, ",\n  \"plans\": [\n");
    for (int m = 0; m < p->team->devices; m++) {
        device_plans_write_plan(p, m, &t);
        text_add(&t, m + 1 < p->team->devices ? ",\n" : "\n");
    }
    text_add(&t, "  ]\n}\n");
    *length = t.length;
    return t.at;
}

/* The plan of a device before this one that does the same. */
static bool read_twin(const struct json *j, const struct json_value *value, struct lx_team_plans *p, int m,
                      lx_status *st)
{
    int64_t first;
    if (!json_int_value(j, value, "a device before this one", 0, m - 1, &first, st)) return false;
    if (!device_plans_is_twin(p, m, (int)first))
        return json_error(j, value, st, LX_E_MISMATCH,
                          "device %d does not do the same as device %d; give it a plan of its own", m,
                          (int)first);
    p->plans[m] = lx_plan_ref(p->plans[first]);
    return true;
}

/* The device's plan must be one of what the team's plan has it do. */
static bool read_device(const struct json *j, const struct json_value *value, struct lx_team_plans *p, int m,
                        lx_status *st)
{
    if (!device_plans_make_device(p, m, st)) return false;
    const struct lx_graph *does = p->devices[m]->graph;
    if (json_is_null(value) != !does)
        return json_error(j, value, st, LX_E_MISMATCH, "device %d has %s to do", m,
                          does ? "something" : "nothing");
    if (!does) return true;
    if (json_is_number(value)) return read_twin(j, value, p, m, st);
    p->plans[m] = plan_read_json(j, value, st);
    if (!p->plans[m]) return false;
    if (p->plans[m]->graph->hash == does->hash) return true;
    return json_error(j, value, st, LX_E_MISMATCH,
                      "this is a plan of another graph than the one that the team's plan gives device %d", m);
}

static struct lx_team_plans *device_plans_read_plans(const struct json *j, lx_status *st)
{
    const struct json_value *array, *item;
    struct lx_team_plan *team = team_read(j, j->root, st);
    struct lx_team_plans *p = team ? plans_of(team) : NULL;
    /* What the devices do follows from the team's plan, if that is right. */
    bool ok = p && lx_team_check(p->team, st) && json_array(j, j->root, "plans", &array, st);
    if (ok && json_count(array) != p->team->devices)
        ok = json_error(j, array, st, LX_E_MISMATCH,
                        "a team of %d needs as many plans; null for one that has "
                        "nothing to do",
                        p->team->devices);
    int m = 0;
    if (ok)
        json_for_each(item, array) {
            ok = ok && read_device(j, item, p, m++, st);
        }
    if (ok) return p;
    lx_team_plans_free(p);
    return NULL;
}

struct lx_team_plans *lx_team_plans_parse(const char *file, const char *text, size_t length, lx_status *st)
{
    struct json j;
    if (!json_parse(&j, file, text, length, st)) return NULL;
    struct lx_team_plans *p = device_plans_read_plans(&j, st);
    json_free(&j);
    return p;
}

bool lx_is_team_plan(const char *text, size_t length)
{
    return json_is_kind(text, length, TEAM_PLAN_KIND);
}

static bool device_plans_near(double stated, double is)
{
    return stated < 0 || fabs(stated - is) <= 1e-6 * fabs(is) + 1e-9;
}

/* What is told of the plans: absent, or so. */
static bool device_plans_check_told(const struct lx_team_plans *p, lx_status *st)
{
    const struct lx_team_plan *t = p->team;
    double us, least = lx_team_bound_us(t);
    if (!device_plans_time_of(p, &us, st)) return false;
    if (!device_plans_near(t->predicted_us, us))
        return status_set(st, LX_E_NO, "predicted_us is %.9g; by the plans of the devices it is %.9g",
                          t->predicted_us, us);
    if (!device_plans_near(t->bound_us, least))
        return status_set(st, LX_E_NO, "bound_us is %.9g; what must be done at least takes %.9g", t->bound_us,
                          least);
    if (t->bound_bytes > 0 && t->bound_bytes != lx_team_least_bytes(t))
        return status_set(st, LX_E_NO, "bound_bytes is %lld; what is proved are %lld",
                          (long long)t->bound_bytes, (long long)lx_team_least_bytes(t));
    if (t->bound_us > us)
        return status_set(st, LX_E_NO, "the bound, %.9g us, is above the plan, %.9g us", t->bound_us, us);
    return true;
}

/* A plan, and what a device makes of it whose slices are at other places of what is on chip. */
static bool check_plan(const struct lx_team_plans *p, int m, lx_status *st)
{
    int twin = twin_of(p, m);
    if (twin == m || p->plans[twin] != p->plans[m]) return lx_plan_check(p->plans[m], st);
    if (!team_moves_on_chip(p->plans[m], p->devices[m]->graph)) return true;
    const struct lx_plan *own = lx_team_plan_of(p, m, st);
    bool ok = own && lx_plan_check(own, st);
    lx_plan_free(own);
    return ok;
}

bool lx_team_plans_check(const struct lx_team_plans *p, lx_status *st)
{
    if (!lx_team_check(p->team, st)) return false; /* of one that was read, once more */
    if (!team_check_messages(p, st)) return false;
    for (int m = 0; m < p->team->devices; m++) {
        lx_status why = {0};
        if (!p->plans[m] || check_plan(p, m, &why)) continue;
        return status_set(st, why.code, "device %d: %.600s", m, why.text);
    }
    return device_plans_check_told(p, st);
}

void lx_team_plans_free(struct lx_team_plans *p)
{
    if (!p) return;
    for (int m = p->team->devices; m-- > 0;) {
        if (p->plans) lx_plan_free(p->plans[m]);
        if (p->devices && (m == 0 || p->devices[m] != p->devices[0])) lx_team_device_free(p->devices[m]);
    }
    mem_free(p->plans);
    mem_free(p->devices);
    lx_team_free(p->team);
    mem_free(p);
}
