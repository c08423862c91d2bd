/* Jobs that shard the graph over a team and run it. Results of outdated requests are dropped. */
#include "tui/core/session.h"

struct team_job {
    struct session *session;
    struct pattern_source *source;
    uint64_t number;
    struct lx_team_grid grid;
    bool chosen;
    struct team_cut cut;
    bool ran; /* else see `st` */
    struct lx_team_result result;
    lx_status st;
};

/* Shards the graph, and gives the options for planning devices; false: there are none. */
static bool team_job_cut(struct team_job *j, struct lx_plan_options *plan,
                         int64_t values[LX_MOST_SOLVER_OPTIONS], lx_status *st)
{
    struct lx_settings usual = {.solvers = lx_solvers()};
    SCOPED(source_content_free) struct source_content from = source_read(j->source);
    team_cut_make(&from, &j->grid, j->chosen, &j->cut);
    return lx_settings_plan(&usual, NULL, plan, values, st);
}

static void team_job_plan(void *data, void *watch)
{
    struct team_job *j = data;
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    lx_status ignored = {0};
    (void)watch;
    if (team_job_cut(j, &plan, values, &ignored)) team_cut_plan(&j->cut, &plan);
}

static void team_job_planned(void *data, bool stopped)
{
    struct team_job *j = data;
    struct team_model *t = &j->session->team;
    (void)stopped;
    if (j->number != t->number) return;
    struct team_cut old = t->cut;
    t->cut = j->cut;
    t->known = true;
    if (!t->chosen && t->cut.plan) t->grid = t->cut.grid, t->members = t->cut.members;
    j->cut = old; /* to be freed */
}

/* Devices of a large team share few processors, and the user can cancel them: a long timeout costs
 * nothing. */
static void team_job_run(void *data, void *watch)
{
    struct team_job *j = data;
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    lx_status st = {0};
    bool ok = team_job_cut(j, &plan, values, &st);
    struct lx_team_run_options how = {.progress = watch_steps,
                                      .stop = watch_stop,
                                      .context = watch,
                                      .plan = &plan,
                                      .plans = j->cut.plans,
                                      .timeout_ms = 60000};
    j->st = ok || !j->cut.plan ? j->cut.st : st;
    j->ran = j->cut.plan && ok && lx_team_run(j->cut.plan, &how, &j->result, &j->st);
}

static void team_job_ran(void *data, bool stopped)
{
    struct team_job *j = data;
    struct team_model *t = &j->session->team;
    if (j->number != t->run.number) return;
    t->run.known = true;
    t->run.stopped = stopped && !j->ran;
    t->run.ok = j->ran;
    struct lx_team_result old = t->run.result;
    t->run.result = j->result;
    j->result = old; /* to be freed */
    t->run.st = j->st;
}

static void team_job_free(void *data)
{
    OWNED struct team_job *j = data;
    team_cut_free(&j->cut);
    lx_team_result_free(&j->result);
}

const struct work team_work = {1, team_job_plan, team_job_planned, team_job_free},
                  team_run_work = {3, team_job_run, team_job_ran, team_job_free};

static void team_model_post(struct session *s, const struct work *work, uint64_t number)
{
    struct team_job *j = mem_zeroed(1, sizeof *j);
    *j = (struct team_job){.session = s,
                           .source = s->patterns.at[s->current].source,
                           .number = number,
                           .grid = s->team.grid,
                           .chosen = s->team.chosen};
    worker_post(s->worker, work, s->team.members, j);
}

static void team_model_forget_run(struct session *s)
{
    worker_stop(s->worker, &team_run_work);
    s->team.run.known = false;
    s->team.run.number++;
}

static void team_model_ask(struct session *s)
{
    struct team_model *t = &s->team;
    team_model_forget_run(s);
    worker_stop(s->worker, &team_work);
    team_model_post(s, &team_work, ++t->number);
    t->asked = true;
}

void session_team_want(struct session *s, bool again)
{
    if (s->current >= 0 && s->team.asked == again) team_model_ask(s);
}

bool session_team_resize(struct session *s, const struct lx_team_grid *grid)
{
    struct team_model *t = &s->team;
    int64_t members = 1;
    bool same = grid->axes == t->grid.axes;
    for (int a = 0; a < grid->axes; a++) {
        same = same && grid->size[a] == t->grid.size[a];
        members *= grid->size[a];
        if (grid->size[a] < 1 || members > LX_TEAM_DEVICES) return false;
    }
    if (same) return false;
    t->grid = *grid;
    t->chosen = true;
    t->members = (int)members;
    if (t->member >= members) t->member = (int)members - 1;
    if (s->current >= 0) team_model_ask(s);
    return true;
}

void session_team_forget(struct session *s)
{
    struct team_model *t = &s->team;
    team_model_forget_run(s);
    worker_stop(s->worker, &team_work);
    team_cut_free(&t->cut);
    lx_team_result_free(&t->run.result);
    t->asked = t->known = false;
    t->member = 0;
    t->number++;
}

bool session_team_run(struct session *s)
{
    struct team_model *t = &s->team;
    if (s->current < 0 || !t->known || !t->cut.plan || t->cut.members != t->members) return false;
    team_model_forget_run(s);
    team_model_post(s, &team_run_work, t->run.number);
    return true;
}
