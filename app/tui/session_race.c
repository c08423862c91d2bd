/* Every solver on the open pattern, side by side in the background. */
#include "tui/session.h"

static void raced(void *data, bool stopped)
{
    struct plan_job *r = data;
    if (r->number != r->session->race) return; /* of another race, or of another pattern */
    struct racer *racer = &r->session->racers.at[r->slot];
    struct outcome old = racer->outcome;
    racer->outcome = r->outcome;
    r->outcome = old; /* to be freed */
    racer->state = !racer->outcome.plan ? RACE_FAILED : stopped ? RACE_STOPPED : RACE_DONE;
}

const struct work race_work = {4, plan_job_run, raced, plan_job_free};

void session_race(struct session *s)
{
    if (s->current < 0) return;
    session_stop(s);
    s->race++;
    s->race_is_old = false;
    for (size_t i = 0; i < s->racers.count; i++) {
        struct plan_job what = {.number = s->race, .slot = (int)i, .how = s->now};
        settings_take_solver(&what.how, (int)i);
        s->racers.at[i].state = RACE_RUNNING;
        outcome_free(&s->racers.at[i].outcome);
        plan_job_post(s, &race_work, s->current, &what);
    }
}

void session_race_forget(struct session *s)
{
    s->race++; /* what still runs comes too late */
    for (size_t i = 0; i < s->racers.count; i++) {
        outcome_free(&s->racers.at[i].outcome);
        s->racers.at[i].state = RACE_NONE;
    }
}

void session_stop(struct session *s)
{
    worker_stop(s->worker, &race_work);
    worker_stop(s->worker, &fill_work);
    for (size_t i = 0; i < s->racers.count; i++) {
        struct progress p = worker_progress(s->worker, &race_work, (int)i);
        struct racer *racer = &s->racers.at[i];
        if (racer->state == RACE_RUNNING && !p.running && !racer->outcome.plan) racer->state = RACE_NONE;
    }
}
