#include "tui/views/sweep_jobs.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>

enum { MOST_SOLVERS = 16 };

struct sweep_job {
    struct swept *of;
    sweep_tasks tasks;
    struct sweep_value *values;
    const struct lx_plan *like; /* a reference */
    bool is_search;
};

static void sweep_jobs_run(void *data, void *watch)
{
    struct sweep_job *j = data;
    struct lx_run run = {.stop = watch_stop, .context = watch};
    for (size_t i = 0; i < j->tasks.count && !watch_stop(watch); i++) {
        sweep_do(&j->of->sweep, &j->tasks.at[i], &run, &j->like, &j->values[i]);
        if (watch_stop(watch)) j->values[i].state = SWEEP_UNKNOWN; /* not its best result */
    }
}

static void sweep_jobs_free(void *data)
{
    struct sweep_job *j = data;
    swept_release(j->of);
    VEC_FREE(&j->tasks);
    lx_plan_free(j->like);
    mem_free(j->values);
    mem_free(j);
}

/* Takes the tasks over. */
static void sweep_jobs_post(struct swept *w, sweep_tasks *tasks, const struct lx_plan *like, bool is_search)
{
    struct sweep_job *j = mem_zeroed(1, sizeof *j);
    *j = (struct sweep_job){w, *tasks, mem_zeroed(tasks->count + 1, sizeof *j->values), lx_plan_ref(like),
                            is_search};
    w->users++;
    worker_post(w->worker, &sweep_work, tasks->at[0].size, j);
}

static void sweep_jobs_done(void *data, bool stopped)
{
    struct sweep_job *j = data;
    struct swept *w = j->of;
    for (size_t i = 0; i < j->tasks.count; i++)
        if (j->values[i].state != SWEEP_UNKNOWN) sweep_keep(&w->sweep, &j->tasks.at[i], &j->values[i]);
    w->stopped |= stopped;
    if (!j->is_search && --w->left == 0 && !w->stopped) {
        sweep_tasks all = {0};
        sweep_searches(&w->sweep, &all);
        for (size_t i = 0; i < all.count; i++) {
            sweep_tasks one = {0};
            VEC_PUSH(&one, all.at[i]);
            sweep_jobs_post(w, &one, j->like, true);
        }
        VEC_FREE(&all);
    }
}

const struct work sweep_work = {5, sweep_jobs_run, sweep_jobs_done, sweep_jobs_free};

void swept_release(struct swept *w)
{
    if (!w || --w->users > 0) return;
    sweep_free(&w->sweep);
    mem_free(w);
}

static bool sweep_jobs_begin(struct swept *w, struct session *s, const char *range, lx_status *st)
{
    const struct lx_plan *p = session_plan(s);
    struct lx_settings solvers[MOST_SOLVERS];
    sweep_numbers sizes = {0}, none = {0};
    if (lx_graph_pools(p->graph))
        return status_set(st, LX_E_USAGE, "this list states pools with sizes of their own: nothing to sweep");
    enum lx_objective question = lx_asked(lx_settings_ask(&s->now.options), lx_graph_objective(p->graph));
    if (question == LX_HEIGHT)
        return status_set(st, LX_E_USAGE,
                          "the least height does not depend on the scratchpad: nothing to sweep");
    const struct lx_graph *own = p->graph->sharing ? p->graph->sharing : p->graph;
    bool ok = range ? sweep_sizes_read("range", range, SWEEP_STEPS, &sizes, st)
                    : sweep_sizes_own(own, sweep_need(p->graph, &s->now.options), SWEEP_STEPS, &sizes, st);
    /* The solver of the settings, and the quick ones that answer the question. */
    const struct lx_solver *wanted = lx_settings_solver(&s->now.options, question);
    int n = 0;
    solvers[n++] = s->now.options;
    for (int i = (int)s->racers.count - 1; i >= 0 && n < MOST_SOLVERS; i--) {
        const struct lx_solver *other = s->racers.at[i].solver;
        if (other == wanted || (other->caps & (LX_CAN_PROVE | LX_IS_SEEDED)) || !lx_can(other, question))
            continue;
        struct what_if how = s->now;
        settings_take_solver(&how, i);
        solvers[n++] = how.options;
    }
    ok = ok && sweep_begin(&w->sweep, p->graph, solvers, n, &sizes, &none, st);
    if (ok) w->sweep.by_time = p->asks_time;
    VEC_FREE(&sizes);
    return ok;
}

/* One job per size, of all lines. */
struct swept *sweep_start(struct session *s, const char *range, lx_status *st)
{
    struct swept *w = mem_zeroed(1, sizeof *w);
    sweep_tasks all = {0};
    worker_stop(s->worker, &sweep_work);
    *w = (struct swept){.worker = s->worker, .how = s->now, .pattern = s->shown_pattern, .users = 1};
    if (!sweep_jobs_begin(w, s, range, st)) {
        swept_release(w);
        return NULL;
    }
    sweep_points(&w->sweep, &all);
    w->left = (int)w->sweep.sizes.count;
    for (size_t i = 0; i < all.count; i += w->sweep.lines.count) {
        sweep_tasks some = {0};
        for (size_t l = 0; l < w->sweep.lines.count; l++) VEC_PUSH(&some, all.at[i + l]);
        sweep_jobs_post(w, &some, session_plan(s), false);
    }
    VEC_FREE(&all);
    return w;
}

bool swept_is_new(const struct swept *w, const struct session *s)
{
    struct what_if a = w->how, b = s->now;
    lx_settings_unset(&a.options, LX_OPTION_LX);
    lx_settings_unset(&b.options, LX_OPTION_LX);
    return w->pattern == s->shown_pattern && settings_same(&a, &b);
}
