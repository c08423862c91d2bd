/* One job per row; its result replaces the row. */
#include "tui/views/why_rows.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Seconds of processor time for a row, in its first round and in its second. */
static const double limits[] = {0.25, 5};
enum { ROUNDS = sizeof limits / sizeof *limits };

struct why_job {
    struct why_rows *rows; /* of a view */
    struct session *session;
    struct pattern_source *source;
    uint64_t number;
    int round;
    struct remedies of;       /* the question without rows */
    struct remedy it, listed; /* present and previous state */
};

static void why_rows_run(void *data, void *watch)
{
    struct why_job *j = data;
    struct remedy_watch until = {watch_stop, watch, limits[j->round]};
    struct source_content from = source_read(j->source);
    if (from.graph) {
        remedy_try(&j->of, &j->it, from.graph, &until);
    } else
        j->it.state = REMEDY_STOPPED;
    source_content_free(&from);
}

static void why_rows_post(struct why_rows *w, struct session *s, const struct remedy *it, int round)
{
    struct why_job *j = mem_zeroed(1, sizeof *j);
    *j = (struct why_job){.rows = w,
                          .session = s,
                          .source = s->patterns.at[s->current].source,
                          .number = w->number,
                          .round = round,
                          .of = {.plan = lx_plan_ref(w->list.plan),
                                 .asked = w->list.asked,
                                 .name = w->list.name ? mem_string(w->list.name) : NULL,
                                 .presence = w->list.presence},
                          .it = *it,
                          .listed = *it};
    j->it.state = REMEDY_OPEN;
    worker_post(s->worker, &why_work, it->order, j);
}

static void why_rows_sort(struct why_rows *w)
{
    remedies_sort(&w->list);
    w->is_sorted = w->left == 0;
    w->moved = true;
}

static void why_rows_done(void *data, bool stopped)
{
    struct why_job *j = data;
    struct why_rows *w = j->rows;
    struct remedy *row = NULL;
    for (size_t i = 0; j->number == w->number && i < w->list.all.count; i++)
        if (w->list.all.at[i].order == j->it.order) row = &w->list.all.at[i];
    if (!row) return;
    bool had = row->state <= REMEDY_CUT, again = j->it.state == REMEDY_CUT || j->it.state == REMEDY_LARGE;
    if (!had || j->it.state <= REMEDY_CUT) *row = j->it;
    w->left -= j->round == 0;
    if (again && !stopped && j->round + 1 < ROUNDS) why_rows_post(w, j->session, &j->listed, j->round + 1);
    why_rows_sort(w);
}

static void why_rows_release(void *data)
{
    struct why_job *j = data;
    remedies_free(&j->of);
    mem_free(j);
}

const struct work why_work = {3, why_rows_run, why_rows_done, why_rows_release};

void why_ask(struct why_rows *w, struct session *s, int32_t buffer)
{
    if (!session_plan(s) || session_is_stale(s)) return;
    if (w->list.plan && w->of == s->got && w->buffer == buffer) return;
    worker_stop(s->worker, &why_work);
    const struct lx_plan *p = session_plan(s);
    remedies_free(&w->list);
    *w = (struct why_rows){.of = s->got, .buffer = buffer, .number = w->number + 1};
    remedies_list(p, &s->shown.how.options, buffer >= 0 ? p->problem.buffers[buffer].name : NULL, &w->list);
    for (size_t i = 0; i < w->list.all.count; i++) {
        if (w->list.all.at[i].state != REMEDY_OPEN) continue;
        why_rows_post(w, s, &w->list.all.at[i], 0);
        w->left++;
    }
    if (w->left == 0) why_rows_sort(w);
}

void why_stop(struct why_rows *w, struct session *s)
{
    worker_stop(s->worker, &why_work);
    for (size_t i = 0; i < w->list.all.count; i++)
        if (w->list.all.at[i].state == REMEDY_OPEN) w->list.all.at[i].state = REMEDY_STOPPED;
    w->left = 0;
    w->number++;
    why_rows_sort(w);
}
