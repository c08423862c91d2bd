/* Patterns read and planned in the background: the open one, and all of them. */
#include "tui/core/session.h"
#include "base/memory.h"
#include "text/format.h"

#include <stdio.h>
#include <stdlib.h>

/* Of a pattern that is not open only the facts are kept. */
static void forget_closed(struct session *s, int pattern)
{
    if (pattern != s->current) source_forget(s->patterns.at[pattern].source);
}

static void session_plans_remember(struct plan_job *r, bool stopped)
{
    struct last_plan *last = &r->session->patterns.at[r->slot].last;
    const struct lx_plan *p = r->outcome.plan;
    *last = (struct last_plan){.known = true, .failed = !p, .stopped = stopped};
    if (!p) return;
    last->failed = !r->outcome.is_legal;
    last->met = lx_plan_meets_target(p);
    last->proved = p->answer.status == LX_OPTIMAL;
    last->hbm_bytes = p->problem.objective == LX_HEIGHT ? p->figures.height_bytes : p->figures.hbm_bytes;
    last->saved_from = p->figures.baseline_hbm_bytes;
    last->seconds = p->seconds;
    snprintf(last->solver, sizeof last->solver, "%s", p->solver);
}

static void session_plans_filled(void *data, bool stopped)
{
    struct plan_job *p = data;
    session_plans_remember(p, stopped);
    forget_closed(p->session, p->slot);
}

const struct work fill_work = {6, plan_job_run, session_plans_filled, plan_job_free};

/* Does the selection stand where an interim first plan put it? Then the next one may choose better. */
static bool is_first_look(const struct session *s, uint64_t number)
{
    const struct selection *a = &s->selection, *b = &s->first_look;
    return s->shown.interim && s->first_look_for == number && a->buffer == b->buffer && a->op == b->op &&
           !a->pointed;
}

/* Puts an outcome on the screen; the job gets the old one, to be freed. */
static void session_plans_show(struct session *s, struct plan_job *r)
{
    struct outcome old = s->shown;
    bool again = s->shown_pattern == r->slot && is_first_look(s, r->number);
    bool fresh = s->shown_pattern != r->slot || !old.plan || again;
    bool followed = again && s->selection.moves != s->first_look.moves;
    s->shown = r->outcome;
    s->has_shown = true;
    s->shown_pattern = r->slot;
    s->shown_for = r->number;
    s->got++;
    session_keep_selection(s, fresh ? NULL : old.plan);
    if (followed) session_show_buffer(s);
    if (fresh) {
        s->first_look = s->selection;
        s->first_look_for = r->number;
    }
    r->outcome = old;
}

/* Is what is shown better than what a job that was stopped brings? */
static bool interim_is_better(const struct session *s, const struct plan_job *r)
{
    const struct lx_plan *now = s->shown_for == r->number && s->shown.interim ? s->shown.plan : NULL;
    const struct lx_plan *new = r->outcome.plan;
    if (!now || now->answer.status == LX_INFEASIBLE) return false;
    return !new ||
           (now->problem.objective == new->problem.objective &&lx_plan_value(now) < lx_plan_value(new));
}

static void session_plans_planned(void *data, bool stopped)
{
    struct plan_job *r = data;
    struct session *s = r->session;
    bool interim = r->outcome.interim;
    bool is_wanted = r->number == s->wanted && r->number != s->settled && r->slot == s->current;
    if (!interim && (is_wanted || !stopped)) session_plans_remember(r, stopped);
    if (!is_wanted) return;
    s->moved = NULL;
    if (!interim && stopped && interim_is_better(s, r))
        change_free(&r->change); /* of a plan that is not shown */
    else
        session_plans_show(s, r);
    if (!interim) {
        /* The plan of `wanted` is there: what it changed is told until the next key. */
        s->settled = r->number;
        s->shown.interim = false;
        s->shown.stopped = stopped;
        s->curve = r->curve;
        lx_plan_free(s->before);
        s->before = lx_plan_ref(s->shown.plan);
        change_free(&s->change);
        s->change = r->change;
        s->moved = s->change.marks;
        r->change = (struct change){0};
    }
    if (!interim && s->shown.unread && r->number == s->reread) {
        /* The error itself stands where the plan was. */
        text_free(&s->news);
        add_printable(&s->news, s->patterns.at[s->current].shown, 60);
        text_add(&s->news, " has changed and cannot be read");
    }
}

const struct work plan_work = {0, plan_job_run, session_plans_planned, plan_job_free};

void session_ask(struct session *s, bool as_it_is)
{
    if (s->current < 0) return;
    worker_stop(s->worker, &plan_work);
    struct plan_job what = {.number = ++s->wanted,
                            .slot = s->current,
                            .how = s->now,
                            .as_it_is = as_it_is,
                            .staged = true,
                            .before = s->before};
    plan_job_post(s, &plan_work, s->current, &what);
}

bool session_is_stale(const struct session *s)
{
    return s->wanted != s->settled;
}

bool session_shows_old(const struct session *s)
{
    return s->wanted != s->shown_for;
}

struct progress session_planning(const struct session *s)
{
    struct progress none = {.so_far = {.objective = INT64_MAX}};
    return session_is_stale(s) ? worker_progress(s->worker, &plan_work, s->current) : none;
}

void session_plan_all(struct session *s)
{
    worker_stop(s->worker, &fill_work);
    for (size_t i = 0; i < s->patterns.count; i++) {
        struct plan_job what = {.slot = (int)i, .how = s->now, .as_it_is = true};
        if (!s->patterns.at[i].facts.refused) plan_job_post(s, &fill_work, (int)i, &what);
    }
}

/* What the list says of a pattern. */
struct reading {
    struct session *session;
    struct pattern_source *source;
    int pattern;
    struct facts facts;
};

static void session_plans_read_run(void *data, void *watch)
{
    struct reading *r = data;
    (void)watch;
    struct source_content from = source_read(r->source);
    facts_of(&from, &r->facts);
    source_content_free(&from);
}

static void read_done(void *data, bool stopped)
{
    struct reading *r = data;
    struct pattern *p = &r->session->patterns.at[r->pattern];
    struct facts old = p->facts;
    (void)stopped;
    p->facts = r->facts;
    p->is_read = true;
    r->facts = old; /* to be freed */
    forget_closed(r->session, r->pattern);
}

static void read_free(void *data)
{
    struct reading *r = data;
    facts_free(&r->facts);
    mem_free(r);
}

const struct work read_work = {5, session_plans_read_run, read_done, read_free};

bool session_read(struct session *s, int pattern)
{
    struct reading *r = mem_zeroed(1, sizeof *r);
    if (r) *r = (struct reading){.session = s, .source = s->patterns.at[pattern].source, .pattern = pattern};
    return worker_post(s->worker, &read_work, pattern, r);
}
