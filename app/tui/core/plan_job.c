/* The job that makes a plan. Staged, it first hands over what a heuristic finds at once, then, of a list, the answers that
 * the solver finds on its way to the best, and of a graph, whose answers on the way are to drafts, what the same solver
 * finds with as many steps as it has made: never more often than a person can see, and for no more than a tenth of the
 * time. */
#include "tui/core/session.h"
#include "base/clock.h"
#include "base/memory.h"

#include <stdlib.h>

static const double EVERY = 0.2; /* seconds between two interim plans, at least */
enum { SHARE = 10 };             /* of the time may go into making them: one in so many */

bool plan_job_post(struct session *s, const struct work *work, int pattern, const struct plan_job *what)
{
    struct plan_job *p = mem_alloc(sizeof *p);
    if (p) {
        *p = *what;
        p->session = s;
        p->source = s->patterns.at[pattern].source;
        p->like = lx_plan_ref(session_plan(s));
        lx_plan_ref(p->before);
    }
    return worker_post(s->worker, work, what->slot, p);
}

void plan_job_free(void *data)
{
    struct plan_job *p = data;
    outcome_free(&p->outcome);
    change_free(&p->change);
    lx_plan_free(p->like);
    lx_plan_free(p->before);
    mem_free(p);
}

/* What the callbacks of a running solver look at. */
struct stage {
    struct plan_job *job;
    void *watch;
    const struct source_content *from;
    double next;   /* no interim plan before that time */
    int64_t shown; /* the least of those that were handed over; INT64_MAX: none */
};

static bool plan_job_must_stop(void *context)
{
    const struct stage *s = context;
    return watch_stop(s->watch);
}

/* An interim plan onto the screen; what was made of it is the screen's from then on. */
static void plan_job_hand_over(const struct stage *s, struct outcome *made)
{
    struct plan_job *p = mem_zeroed(1, sizeof *p);
    if (!p) {
        outcome_free(made);
        return;
    }
    *p = (struct plan_job){.session = s->job->session,
                           .number = s->job->number,
                           .slot = s->job->slot,
                           .how = s->job->how,
                           .outcome = *made};
    watch_hand_over(s->watch, p);
}

/* An interim plan that is better than those before, if there is one. */
static bool make_interim(struct stage *s, const struct lx_progress *so_far, struct outcome *made)
{
    const struct plan_job *p = s->job;
    struct lx_run again = {.work_limit = so_far->steps,
                           .time_limit = watch_seconds(s->watch),
                           .stop = plan_job_must_stop,
                           .context = s};
    if (so_far->address) return outcome_of_answer(s->from, &p->how, so_far, made);
    return outcome_make_hastily(s->from, &p->how, &again, p->like, made) &&
           lx_plan_value(made->plan) < s->shown;
}

/* Is there something to show of it? What is told of a graph counts where it is less than what is shown. */
static bool plan_job_is_due(const struct stage *s, const struct lx_progress *so_far, double now)
{
    if (!s->job->staged || now < s->next || watch_stop(s->watch)) return false;
    bool graph = s->from->graph && !s->from->graph->is_list;
    return graph ? so_far->steps > 0 && so_far->objective < s->shown : so_far->address != NULL;
}

static void plan_job_report(void *context, const struct lx_progress *so_far)
{
    struct stage *s = context;
    struct outcome made = {0};
    double began = clock_seconds();
    watch_progress(s->watch, so_far);
    if (!plan_job_is_due(s, so_far, began)) return;
    if (make_interim(s, so_far, &made)) {
        s->shown = lx_plan_value(made.plan);
        plan_job_hand_over(s, &made);
    } else
        outcome_free(&made);
    double took = clock_seconds() - began;
    s->next = began + took + (took * SHARE > EVERY ? took * SHARE : EVERY);
}

/* What a heuristic finds at once. A plan file that is shown as it is needs none. */
static void begin_hastily(struct stage *s)
{
    const struct plan_job *p = s->job;
    struct outcome made;
    if (!p->staged || !s->from->graph || (s->from->plan && p->as_it_is)) return;
    if (outcome_make_hastily(s->from, &p->how, NULL, p->like, &made)) {
        struct lx_progress best = {.objective = lx_plan_value(made.plan)};
        s->shown = best.objective;
        watch_progress(s->watch, &best);
        plan_job_hand_over(s, &made);
    } else
        outcome_free(&made);
    s->next = clock_seconds() + EVERY;
}

/* The curve ends with what the plan came to. */
static void plan_job_finish(struct plan_job *p, void *watch)
{
    const struct lx_plan *plan = p->outcome.plan;
    p->curve = watch_curve(watch);
    if (!plan || p->outcome.was_read) return;
    curve_add(&p->curve, watch_seconds(watch), lx_plan_value(plan),
              plan->asks_time ? 0 : lx_plan_least(plan));
    if (p->before && p->before->graph && !change_make(p->before, plan, &p->change)) change_free(&p->change);
}

void plan_job_run(void *data, void *watch)
{
    struct plan_job *p = data;
    struct source_content from = source_read(p->source);
    struct stage s = {p, watch, &from, 0, INT64_MAX};
    struct lx_run run = {.stop = plan_job_must_stop, .progress = plan_job_report, .context = &s};
    begin_hastily(&s);
    outcome_make(&from, &p->how, &run, p->as_it_is, p->like, &p->outcome);
    plan_job_finish(p, watch);
    source_content_free(&from);
}
