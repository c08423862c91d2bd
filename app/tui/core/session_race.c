/* Every solver on the open pattern, side by side in the background; and how all that runs is stopped. */
#include "tui/core/session.h"

static void raced(void *data, bool stopped)
{
    struct plan_job *r = data;
    if (r->number != r->session->race) return; /* of another race, or of another pattern */
    struct racer *racer = &r->session->racers.at[r->slot];
    struct outcome old = racer->outcome;
    racer->outcome = r->outcome;
    r->outcome = old; /* to be freed */
    racer->outcome.stopped = stopped;
    racer->curve = r->curve;
    racer->state = !racer->outcome.plan ? RACE_FAILED : stopped ? RACE_STOPPED : RACE_DONE;
}

const struct work race_work = {4, plan_job_run, raced, plan_job_free};

/* The settings of now, by whichever solver. */
static struct what_if by_any(const struct session *s)
{
    struct what_if how = s->now;
    settings_take_solver(&how, 0);
    return how;
}

void session_race(struct session *s)
{
    if (s->current < 0) return;
    session_race_stop(s);
    s->race++;
    s->race_by = by_any(s);
    for (size_t i = 0; i < s->racers.count; i++) {
        struct plan_job what = {.number = s->race, .slot = (int)i, .how = s->now};
        settings_take_solver(&what.how, (int)i);
        s->racers.at[i].state = RACE_RUNNING;
        s->racers.at[i].curve = (struct curve){0};
        outcome_free(&s->racers.at[i].outcome);
        plan_job_post(s, &race_work, s->current, &what);
    }
}

void session_race_forget(struct session *s)
{
    s->race++; /* what still runs comes too late */
    for (size_t i = 0; i < s->racers.count; i++) {
        outcome_free(&s->racers.at[i].outcome);
        s->racers.at[i].curve = (struct curve){0};
        s->racers.at[i].state = RACE_NONE;
    }
}

bool session_race_is_old(const struct session *s)
{
    struct what_if now = by_any(s);
    return !settings_same(&now, &s->race_by);
}

/* Less than 0: the first is better. A plan without an answer is worst. */
static int session_race_compare_values(const struct lx_plan *a, const struct lx_plan *b)
{
    bool a_fails = a->answer.status == LX_INFEASIBLE || a->answer.status == LX_ERROR;
    bool b_fails = b->answer.status == LX_INFEASIBLE || b->answer.status == LX_ERROR;
    double p = a->asks_time ? a->figures.end_to_end_us : (double)lx_plan_value(a);
    double q = b->asks_time ? b->figures.end_to_end_us : (double)lx_plan_value(b);
    if (a_fails != b_fails) return a_fails - b_fails;
    return (p > q) - (p < q);
}

/* The same; of equals one that is proved is better. */
static int compare_plans(const struct lx_plan *a, const struct lx_plan *b)
{
    int c = session_race_compare_values(a, b);
    return c ? c : (b->answer.status == LX_OPTIMAL) - (a->answer.status == LX_OPTIMAL);
}

int session_winner(const struct session *s)
{
    int best = -1;
    for (size_t i = 0; i < s->racers.count; i++) {
        const struct lx_plan *p = s->racers.at[i].outcome.plan;
        if (p && (best < 0 || compare_plans(p, s->racers.at[best].outcome.plan) <= 0)) best = (int)i;
    }
    return best;
}

bool session_wins(const struct session *s, int racer)
{
    int best = session_winner(s);
    const struct lx_plan *p = s->racers.at[racer].outcome.plan;
    return best >= 0 && p && session_race_compare_values(p, s->racers.at[best].outcome.plan) == 0;
}

/* Those that never came to run. */
static void forget_dropped(struct session *s)
{
    for (size_t i = 0; i < s->racers.count; i++) {
        struct progress p = worker_progress(s->worker, &race_work, (int)i);
        struct racer *racer = &s->racers.at[i];
        if (racer->state == RACE_RUNNING && !p.running && !racer->outcome.plan) racer->state = RACE_NONE;
    }
}

void session_race_stop(struct session *s)
{
    worker_stop(s->worker, &race_work);
    worker_stop(s->worker, &fill_work);
    forget_dropped(s);
}

bool session_stop(struct session *s)
{
    bool any = worker_busy(s->worker, NULL) > worker_busy(s->worker, &read_work);
    worker_hurry(s->worker, &read_work);
    forget_dropped(s);
    return any;
}
