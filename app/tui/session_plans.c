/* Patterns read and planned in the background: the open one, and all of them. */
#include "tui/session.h"

#include <stdio.h>
#include <stdlib.h>

bool plan_job_post(struct session *s, const struct work *work, int pattern, const struct plan_job *what)
{
    struct plan_job *p = malloc(sizeof *p);
    if (p) {
        *p = *what;
        p->session = s;
        p->source = s->patterns.at[pattern].source;
        p->like = lx_plan_ref(session_plan(s));
    }
    return worker_post(s->worker, work, what->slot, p);
}

void plan_job_run(void *data, void *watch)
{
    struct plan_job *p = data;
    struct lx_run run = {.stop = watch_stop, .progress = watch_progress, .context = watch};
    struct source_content from = source_read(p->source);
    outcome_make(&from, &p->how, &run, p->as_it_is, p->like, &p->outcome);
    source_content_free(&from);
}

void plan_job_free(void *data)
{
    struct plan_job *p = data;
    outcome_free(&p->outcome);
    lx_plan_free(p->like);
    free(p);
}

/* Of a pattern that is not open only the facts are kept. */
static void forget_closed(struct session *s, int pattern)
{
    if (pattern != s->current) source_forget(s->patterns.at[pattern].source);
}

static void remember(struct plan_job *r, bool stopped)
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

static void filled(void *data, bool stopped)
{
    struct plan_job *p = data;
    remember(p, stopped);
    forget_closed(p->session, p->slot);
}

const struct work fill_work = {6, plan_job_run, filled, plan_job_free};

static void planned(void *data, bool stopped)
{
    struct plan_job *r = data;
    struct session *s = r->session;
    if (!stopped) remember(r, stopped);
    if (r->number != s->wanted || r->slot != s->current) return;
    struct outcome old = s->shown;
    bool same = s->shown_pattern == r->slot;
    s->shown = r->outcome;
    s->has_shown = true;
    s->shown_pattern = r->slot;
    s->got = r->number;
    session_keep_selection(s, same ? old.plan : NULL);
    r->outcome = old; /* to be freed */
}

const struct work plan_work = {0, plan_job_run, planned, plan_job_free};

void session_ask(struct session *s, bool as_it_is)
{
    if (s->current < 0) return;
    worker_stop(s->worker, &plan_work);
    struct plan_job what = {.number = ++s->wanted, .slot = s->current, .how = s->now, .as_it_is = as_it_is};
    plan_job_post(s, &plan_work, s->current, &what);
    s->race_is_old = true;
}

bool session_is_stale(const struct session *s)
{
    return s->wanted != s->got;
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

static void read_run(void *data, void *watch)
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
    free(r);
}

const struct work read_work = {5, read_run, read_done, read_free};

bool session_read(struct session *s, int pattern)
{
    struct reading *r = calloc(1, sizeof *r);
    if (r) *r = (struct reading){.session = s, .source = s->patterns.at[pattern].source, .pattern = pattern};
    return worker_post(s->worker, &read_work, pattern, r);
}
