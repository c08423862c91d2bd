/* Rows of remedies tried as jobs of the worker. */
#include "tui/core/tries.h"
#include "tui/core/session.h"

/* Polls for a row, in its first round and in its second; or so many times those of the plan of now. */
static const struct {
    int64_t polls, times;
} limits[] = {{50000, 2}, {20 * 50000, 12}};
/* Seconds that a row may be expected to take; longer ones are tried when they are asked for. */
static const double LONGEST = 10;
enum { ROUNDS = sizeof limits / sizeof *limits, WITHOUT_LIMIT = ROUNDS };

struct try_job {
    struct tries *tries; /* of a view */
    struct session *session;
    struct pattern_source *source;
    uint64_t number;
    int round;
    struct remedies of;       /* the question without rows */
    struct remedy it, listed; /* present and previous state */
};

void tries_run(void *data, void *watch)
{
    struct try_job *j = data;
    struct remedy_watch until = {watch_stop, watch, 0};
    if (j->round < ROUNDS)
        until.polls = max_i64(limits[j->round].polls, limits[j->round].times * j->of.plan->polls);
    SCOPED(source_content_free) struct source_content from = source_read(j->source);
    if (from.graph) {
        remedy_try(&j->of, &j->it, from.graph, &until);
    } else
        j->it.state = REMEDY_STOPPED;
}

static void tries_post(struct tries *t, struct session *s, const struct remedy *it, int round)
{
    struct try_job *j = mem_zeroed(1, sizeof *j);
    *j = (struct try_job){.tries = t,
                          .session = s,
                          .source = s->patterns.at[s->current].source,
                          .number = t->number,
                          .round = round,
                          .of = {.plan = lx_plan_ref(t->list.plan),
                                 .asked = t->list.asked,
                                 .name = t->list.name ? mem_string(t->list.name) : NULL,
                                 .presence = t->list.presence,
                                 .keeps = t->list.keeps},
                          .it = *it,
                          .listed = *it};
    j->it.state = REMEDY_OPEN;
    j->it.made = j->listed.made = NULL;
    worker_post(s->worker, &t->work[round == WITHOUT_LIMIT], it->order, j);
}

void tries_sort(struct tries *t)
{
    if (!t->in_place) remedies_sort(&t->list);
    t->is_sorted = t->left == 0;
    t->moved = true;
}

void tries_done(void *data, bool stopped)
{
    struct try_job *j = data;
    struct tries *t = j->tries;
    struct remedy *row = NULL;
    const struct session *s = j->session;
    if (j->it.state <= REMEDY_CUT && s->current >= 0 && s->patterns.at[s->current].source == j->source)
        session_saw(j->session, &j->it);
    for (size_t i = 0; j->number == t->number && i < t->list.all.count; i++)
        if (t->list.all.at[i].order == j->it.order) row = &t->list.all.at[i];
    if (!row) return;
    bool had = row->state <= REMEDY_CUT, again = j->it.state == REMEDY_CUT || j->it.state == REMEDY_LARGE;
    if (!had || j->it.state <= REMEDY_CUT) {
        const struct lx_plan *old = row->made;
        *row = j->it;
        j->it.made = old; /* to be freed */
    }
    t->left -= t->left > 0 && j->round == 0;
    if (again && !stopped && j->round + 1 < ROUNDS) tries_post(t, j->session, &j->listed, j->round + 1);
    tries_sort(t);
}

void tries_free(void *data)
{
    OWNED struct try_job *j = data;
    lx_plan_free(j->it.made);
    remedies_free(&j->of);
}

void tries_begin(struct tries *t, struct session *s, int first)
{
    int count = (int)t->list.all.count;
    t->left = 0;
    for (int i = 0; i < count; i++) {
        struct remedy *it = &t->list.all.at[(first + i) % count];
        double plans = it->sort ? it->sort->plans * (t->in_place ? count : 1) : 0;
        if (it->state == REMEDY_OPEN && s->took * plans > LONGEST) it->state = REMEDY_LARGE;
        if (it->state != REMEDY_OPEN && it->state != REMEDY_CUT) continue;
        tries_post(t, s, it, it->state == REMEDY_CUT);
        t->left += it->state == REMEDY_OPEN;
    }
    tries_sort(t);
}

void tries_ask(struct tries *t, struct session *s, int row)
{
    struct remedy *it = &t->list.all.at[row];
    it->state = REMEDY_OPEN;
    tries_post(t, s, it, WITHOUT_LIMIT);
}

void tries_cancel(struct tries *t, struct session *s)
{
    worker_stop(s->worker, &t->work[0]);
    worker_stop(s->worker, &t->work[1]);
    for (size_t i = 0; i < t->list.all.count; i++)
        if (t->list.all.at[i].state == REMEDY_OPEN) t->list.all.at[i].state = REMEDY_STOPPED;
    t->left = 0;
    t->number++;
    tries_sort(t);
}

int tries_running(const struct tries *t, const struct session *s)
{
    return worker_busy(s->worker, &t->work[0]) + worker_busy(s->worker, &t->work[1]);
}

bool tries_row_runs(const struct tries *t, const struct session *s, const struct remedy *it)
{
    return worker_progress(s->worker, &t->work[0], it->order).running ||
           worker_progress(s->worker, &t->work[1], it->order).running;
}

void tries_forget(struct tries *t)
{
    remedies_free(&t->list);
    *t = (struct tries){.number = t->number + 1, .work = t->work, .in_place = t->in_place};
}
