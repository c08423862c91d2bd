/* The plan that is shown, executed on the simulated device: that very plan, shared with the screen. */
#include "tui/core/session.h"
#include "base/memory.h"

#include <stdlib.h>

struct execution {
    struct session *session;
    uint64_t number, of;
    const struct lx_plan *plan;
    struct lx_run_result *result;
    lx_status st;
};

static void session_run_execute(void *data, void *watch)
{
    struct execution *e = data;
    struct lx_device_options how = {.progress = watch_steps,
                                    .iterating = watch_iteration,
                                    .stop = watch_stop,
                                    .context = watch,
                                    .threads = 1};
    e->result = lx_device_run(e->plan, &how, &e->st);
}

static void executed(void *data, bool stopped)
{
    struct execution *e = data;
    struct session *s = e->session;
    (void)stopped;
    if (e->number != s->run.number) return;
    session_run_forget(s);
    s->run.known = true;
    s->run.number = e->number;
    s->run.of = e->of;
    s->run.plan = e->plan;
    s->run.result = e->result;
    s->run.st = e->st;
    e->plan = NULL;
    e->result = NULL;
}

static void execution_free(void *data)
{
    struct execution *e = data;
    lx_plan_free(e->plan);
    lx_run_result_free(e->result);
    mem_free(e);
}

const struct work run_work = {2, session_run_execute, executed, execution_free};

void session_run(struct session *s)
{
    const struct lx_plan *plan = session_plan(s);
    struct execution *e = plan ? mem_zeroed(1, sizeof *e) : NULL;
    if (!e) return;
    worker_stop(s->worker, &run_work);
    *e = (struct execution){.session = s, .number = ++s->run.number, .of = s->got, .plan = lx_plan_ref(plan)};
    worker_post(s->worker, &run_work, 0, e);
}

void session_run_forget(struct session *s)
{
    worker_stop(s->worker, &run_work);
    lx_run_result_free(s->run.result);
    lx_plan_free(s->run.plan);
    s->run.plan = NULL;
    s->run.result = NULL;
    s->run.known = false;
    s->run.number++; /* what still runs comes too late */
}

bool session_run_is_old(const struct session *s)
{
    return s->run.of != s->got;
}
