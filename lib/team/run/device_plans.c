/* The plans of a team: every member's graph goes down the road of any graph; and their file. */
#include "team/run/device_plans.h"
#include "team/run/device_twins.h"
#include "team/run/message_pairs.h"
#include "team/run/team_bound.h"
#include "team/run/team_clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/stop.h"
#include "plan/fuse.h"
#include "planfile/plan_file.h"
#include "team/team_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lx_plan *plan_of_member(const struct lx_graph *does, const struct lx_plan_options *how, lx_status *st)
{
    struct lx_plan_options as_it_is = *how;
    as_it_is.passes.online = LX_ONLINE_NONE;
    return lx_plan_make(does, &as_it_is, st);
}

/* What the member does. */
static bool make_member(struct lx_team_plans *p, int m, lx_status *st)
{
    p->members[m] = m > 0 && p->alike ? p->members[0] : lx_team_member_make(p->team, m, st);
    return p->members[m];
}

static bool member_plans_is_twin(const struct lx_team_plans *p, int m, int of)
{
    return p->plans[of] && p->members[of]->shape == p->members[m]->shape &&
           team_fits_twin(p->plans[of], p->members[m]->graph);
}

/* The first member whose plan fits this one; itself: none before. */
static int twin_of(const struct lx_team_plans *p, int m)
{
    for (int k = 0; k < m; k++) {
        bool again = false;
        for (int j = 0; j < k && !again; j++) again = p->plans[j] == p->plans[k];
        if (!again && member_plans_is_twin(p, m, k)) return k;
    }
    return m;
}

/* Is it likely that the member needs a plan of its own: does nobody before it do something alike? */
static bool is_first(const struct lx_team_plans *p, int m)
{
    int first = 0;
    while (p->members[first]->likely != p->members[m]->likely) first++;
    return first == m && p->members[m]->graph;
}

/* How many plans are likely to come, with this one: those before `m` have theirs. */
static int plans_left(const struct lx_team_plans *p, int m)
{
    int count = 1;
    for (int k = m + 1; k < p->team->members; k++) count += is_first(p, k);
    return count;
}

static bool plan_member(struct lx_team_plans *p, int m, const struct lx_plan_options *how, lx_status *st)
{
    struct lx_plan_options one = *how;
    if (!p->members[m]->graph) return true;
    int twin = twin_of(p, m);
    if (twin == m) one.run = fuse_share(&how->run, plans_left(p, m));
    one.run.hasty |= p->hasty;
    p->plans[m] = twin < m ? lx_plan_ref(p->plans[twin]) : plan_of_member(p->members[m]->graph, &one, st);
    return p->plans[m] != NULL;
}

/* What those do of whom it is not known yet; to the end, or as far as there is time for it and for the plans after it. */
static bool make_all(struct lx_team_plans *p, const struct lx_run *lit, bool *late, lx_status *st)
{
    /* A plan in haste takes as long as to make so many members, and so does one that is searched for and stopped. */
    enum { PLAN = 4, SEARCH = 10 };
    const double late_by = 0.1; /* and still called in time, as all in haste is better than nothing cut */
    int members = p->team->members, to_make = p->alike ? 1 : members, plans = 0;
    for (int m = 0; m < members && !(late && *late); m++) {
        bool made_before = p->members[m];
        if (!made_before && !make_member(p, m, st)) return false;
        plans += is_first(p, m);
        if (made_before) continue;
        int made = m < to_make ? m + 1 : to_make;
        if (late)
            *late = (lx_run_stopped(lit) && !fuse_is_out(lit)) || /* by a person, say */
                    !fuse_suffices(lit, made, to_make - made + PLAN * plans, late_by);
        p->hasty = !fuse_suffices(lit, made, to_make - made + SEARCH * plans, 0);
    }
    return true;
}

static bool plan_all(struct lx_team_plans *p, const struct lx_plan_options *lit, lx_status *st)
{
    for (int m = 0; m < p->team->members; m++)
        if (!plan_member(p, m, lit, st)) return false;
    return true;
}

/* What no plan goes below, as long as there is time to find it. */
static void find_bounds(struct lx_team_plans *p, const struct lx_run *run)
{
    struct stop stop;
    if (run->stop) stop_begin(&stop, run->stop, run->context);
    p->team->bound_bytes = lx_team_least_bytes(p->team);
    p->team->bound_us = lx_team_bound_us(p->team);
    if (run->stop) stop_end(&stop);
}

const struct lx_plan *lx_team_plan_of(const struct lx_team_plans *p, int m, lx_status *st)
{
    const struct lx_graph *does = p->members[m]->graph;
    if (p->plans[m]->graph->hash == does->hash) return lx_plan_ref(p->plans[m]);
    return team_plan_of_twin(p->plans[m], does, st);
}

/* With room for the members; takes the team over. */
static struct lx_team_plans *plans_of(struct lx_team_plan *team)
{
    size_t n = (size_t)team->members;
    struct lx_team_plans *p = mem_zeroed(1, sizeof *p);
    p->team = team;
    p->alike = lx_team_all_whole(team);
    p->members = mem_zeroed(n, sizeof *p->members);
    p->plans = mem_zeroed(n, sizeof *p->plans);
    return p;
}

static bool member_plans_time_of(const struct lx_team_plans *p, double *us, lx_status *st)
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
    struct fuse fuse;
    struct lx_team_plans *p = plans_of(team);
    const struct lx_run lit = fuse_light(&fuse, &how->run);
    if (p && make_all(p, &lit, late, st)) return p;
    lx_team_plans_free(p);
    return NULL;
}

struct lx_team_plans *team_plans_finish(struct lx_team_plans *p, const struct lx_plan_options *how,
                                        lx_status *st)
{
    struct lx_plan_options lit = *how;
    struct fuse fuse;
    lit.run = fuse_light(&fuse, &how->run); /* all in the time of one */
    bool ok = make_all(p, &lit.run, NULL, st) && plan_all(p, &lit, st);
    if (ok) find_bounds(p, &how->run);
    if (ok && member_plans_time_of(p, &p->team->predicted_us, st)) return p;
    lx_team_plans_free(p);
    return NULL;
}

struct lx_team_plans *lx_team_plans_make(struct lx_team_plan *team, const struct lx_plan_options *how,
                                         lx_status *st)
{
    struct lx_plan_options lit = *how;
    struct fuse fuse;
    lit.run = fuse_light(&fuse, &how->run); /* of both parts */
    struct lx_team_plans *p = team_plans_begin(team, &lit, NULL, st);
    return p ? team_plans_finish(p, &lit, st) : NULL;
}

/* The plan, or the number of the first member that has the same one. */
static void member_plans_write_plan(const struct lx_team_plans *p, int m, struct text *t)
{
    size_t n = 4;
    int first = 0;
    while (p->plans[m] && p->plans[first] != p->plans[m]) first++;
    if (p->plans[m] && first < m) {
        text_format(t, "%d", first);
        return;
    }
    char *plan = p->plans[m] ? lx_plan_to_json(p->plans[m], &n) : NULL;
    t->failed |= p->plans[m] && !plan;
    text_add_n(t, plan ? plan : "null", n);
    mem_free(plan);
}

char *lx_team_plans_to_json(const struct lx_team_plans *p, size_t *length)
{
    struct text t = {0};
    team_write(p->team, TEAM_PLAN_KIND, &t);
    text_add(&t, ",\n  \"plans\": [\n");
    for (int m = 0; m < p->team->members && !t.failed; m++) {
        member_plans_write_plan(p, m, &t);
        text_add(&t, m + 1 < p->team->members ? ",\n" : "\n");
    }
    text_add(&t, "  ]\n}\n");
    if (t.failed) {
        text_free(&t);
        return NULL;
    }
    *length = t.length;
    return t.at;
}

/* The plan of a member before this one that does the same. */
static bool read_twin(const struct json *j, const struct json_value *value, struct lx_team_plans *p, int m,
                      lx_status *st)
{
    int64_t first;
    if (!json_int_value(j, value, "a member before this one", 0, m - 1, &first, st)) return false;
    if (!member_plans_is_twin(p, m, (int)first))
        return json_error(j, value, st, LX_E_MISMATCH,
                          "member %d does not do the same as member %d; give it a plan of its own", m,
                          (int)first);
    p->plans[m] = lx_plan_ref(p->plans[first]);
    return true;
}

/* The member's plan must be one of what the team's plan has it do. */
static bool read_member(const struct json *j, const struct json_value *value, struct lx_team_plans *p, int m,
                        lx_status *st)
{
    if (!make_member(p, m, st)) return false;
    const struct lx_graph *does = p->members[m]->graph;
    if (json_is_null(value) != !does)
        return json_error(j, value, st, LX_E_MISMATCH, "member %d has %s to do", m,
                          does ? "something" : "nothing");
    if (!does) return true;
    if (json_is_number(value)) return read_twin(j, value, p, m, st);
    p->plans[m] = plan_read_json(j, value, st);
    if (!p->plans[m]) return false;
    if (p->plans[m]->graph->hash == does->hash) return true;
    return json_error(j, value, st, LX_E_MISMATCH,
                      "this is a plan of another graph than the one that the team's plan gives member %d", m);
}

static struct lx_team_plans *member_plans_read_plans(const struct json *j, lx_status *st)
{
    const struct json_value *array, *item;
    struct lx_team_plan *team = team_read(j, j->root, st);
    struct lx_team_plans *p = team ? plans_of(team) : NULL;
    /* What the members do follows from the team's plan, if that is right. */
    bool ok = p && lx_team_check(p->team, st) && json_array(j, j->root, "plans", &array, st);
    if (ok && json_count(array) != p->team->members)
        ok = json_error(j, array, st, LX_E_MISMATCH,
                        "a team of %d needs as many plans; null for one that has "
                        "nothing to do",
                        p->team->members);
    int m = 0;
    if (ok)
        json_for_each(item, array) {
            ok = ok && read_member(j, item, p, m++, st);
        }
    if (ok) return p;
    lx_team_plans_free(p);
    return NULL;
}

struct lx_team_plans *lx_team_plans_parse(const char *file, const char *text, size_t length, lx_status *st)
{
    struct json j;
    if (!json_parse(&j, file, text, length, st)) return NULL;
    struct lx_team_plans *p = member_plans_read_plans(&j, st);
    json_free(&j);
    return p;
}

bool lx_is_team_plan(const char *text, size_t length)
{
    return json_is_kind(text, length, TEAM_PLAN_KIND);
}

static bool member_plans_near(double stated, double is)
{
    return stated < 0 || fabs(stated - is) <= 1e-6 * fabs(is) + 1e-9;
}

/* What is told of the plans: absent, or so. */
static bool member_plans_check_told(const struct lx_team_plans *p, lx_status *st)
{
    const struct lx_team_plan *t = p->team;
    double us, least = lx_team_bound_us(t);
    if (!member_plans_time_of(p, &us, st)) return false;
    if (!member_plans_near(t->predicted_us, us))
        return status_set(st, LX_E_NO, "predicted_us is %.9g; by the plans of the members it is %.9g",
                          t->predicted_us, us);
    if (!member_plans_near(t->bound_us, least))
        return status_set(st, LX_E_NO, "bound_us is %.9g; what must be done at least takes %.9g", t->bound_us,
                          least);
    if (t->bound_bytes > 0 && t->bound_bytes != lx_team_least_bytes(t))
        return status_set(st, LX_E_NO, "bound_bytes is %lld; what is proved are %lld",
                          (long long)t->bound_bytes, (long long)lx_team_least_bytes(t));
    if (t->bound_us > us)
        return status_set(st, LX_E_NO, "the bound, %.9g us, is above the plan, %.9g us", t->bound_us, us);
    return true;
}

/* A plan, and what a member makes of it whose slices are at other places of what is on chip. */
static bool check_plan(const struct lx_team_plans *p, int m, lx_status *st)
{
    int twin = twin_of(p, m);
    if (twin == m || p->plans[twin] != p->plans[m]) return lx_plan_check(p->plans[m], st);
    if (!team_moves_on_chip(p->plans[m], p->members[m]->graph)) return true;
    const struct lx_plan *own = lx_team_plan_of(p, m, st);
    bool ok = own && lx_plan_check(own, st);
    lx_plan_free(own);
    return ok;
}

bool lx_team_plans_check(const struct lx_team_plans *p, lx_status *st)
{
    if (!lx_team_check(p->team, st)) return false; /* of one that was read, once more */
    if (!team_check_messages(p, st)) return false;
    for (int m = 0; m < p->team->members; m++) {
        lx_status why = {0};
        if (!p->plans[m] || check_plan(p, m, &why)) continue;
        return status_set(st, why.code, "member %d: %.600s", m, why.text);
    }
    return member_plans_check_told(p, st);
}

void lx_team_plans_free(struct lx_team_plans *p)
{
    if (!p) return;
    for (int m = p->team->members; m-- > 0;) {
        if (p->plans) lx_plan_free(p->plans[m]);
        if (p->members && (m == 0 || p->members[m] != p->members[0])) lx_team_member_free(p->members[m]);
    }
    mem_free(p->plans);
    mem_free(p->members);
    lx_team_free(p->team);
    mem_free(p);
}
