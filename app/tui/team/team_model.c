/* Asks the worker for cuts and runs of a team, and throws away answers to questions that are no longer asked.
 * */
#include "tui/core/session.h"
#include "base/memory.h"

/* A cut of the open pattern, and a run of it. */
struct team_job {
    struct session *session;
    struct pattern_source *source;
    uint64_t number;
    struct lx_team_grid grid;
    bool chosen;
    struct team_cut cut;
    bool ran; /* else `st` says why not */
    struct lx_team_result result;
    lx_status st;
};

static void make_cut(struct team_job *j)
{
    struct source_content from = source_read(j->source);
    team_cut_make(&from, &j->grid, j->chosen, &j->cut);
    source_content_free(&from);
}

/* How members are planned: as usual. */
static bool usual_plan(struct lx_plan_options *how, int64_t values[LX_MOST_SOLVER_OPTIONS], lx_status *st)
{
    struct lx_settings usual = {.solvers = lx_solvers()};
    return lx_settings_plan(&usual, LX_SPILL, how, values, st);
}

static void cut_and_plan(void *data, void *watch)
{
    struct team_job *j = data;
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    lx_status ignored = {0};
    (void)watch;
    make_cut(j);
    if (usual_plan(&plan, values, &ignored)) team_cut_plan(&j->cut, &plan);
}

static void cut_made(void *data, bool stopped)
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

static void team_model_run_team(void *data, void *watch)
{
    struct team_job *j = data;
    /* Members of a large team share few processors, and a person can stop them: patience costs nothing. */
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct lx_team_run_options how = {
        .progress = watch_steps, .stop = watch_stop, .context = watch, .plan = &plan, .timeout_ms = 60000};
    make_cut(j); /* of the same graph: the same cut */
    j->st = j->cut.st;
    how.plans = j->cut.plans;
    j->ran = j->cut.plan && usual_plan(&plan, values, &j->st) &&
             lx_team_run(j->cut.plan, &how, &j->result, &j->st);
}

static void team_ran(void *data, bool stopped)
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
    struct team_job *j = data;
    team_cut_free(&j->cut);
    lx_team_result_free(&j->result);
    mem_free(j);
}

const struct work team_work = {1, cut_and_plan, cut_made, team_job_free},
                  team_run_work = {3, team_model_run_team, team_ran, team_job_free};

static bool team_model_post(struct session *s, const struct work *work, uint64_t number)
{
    struct team_job *j = mem_zeroed(1, sizeof *j);
    if (j)
        *j = (struct team_job){.session = s,
                               .source = s->patterns.at[s->current].source,
                               .number = number,
                               .grid = s->team.grid,
                               .chosen = s->team.chosen};
    return worker_post(s->worker, work, s->team.members, j);
}

static void forget_run(struct session *s)
{
    worker_stop(s->worker, &team_run_work);
    s->team.run.known = false;
    s->team.run.number++;
}

static void team_model_ask(struct session *s)
{
    struct team_model *t = &s->team;
    forget_run(s);
    worker_stop(s->worker, &team_work);
    t->asked = team_model_post(s, &team_work, ++t->number);
}

void session_team_want(struct session *s)
{
    if (s->current >= 0 && !s->team.asked) team_model_ask(s);
}

bool session_team_resize(struct session *s, const struct lx_team_grid *grid)
{
    struct team_model *t = &s->team;
    int64_t members = 1;
    bool same = grid->axes == t->grid.axes;
    for (int a = 0; a < grid->axes; a++) {
        same = same && grid->size[a] == t->grid.size[a];
        members *= grid->size[a];
        if (grid->size[a] < 1 || members > LX_TEAM_MEMBERS) return false;
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
    forget_run(s);
    worker_stop(s->worker, &team_work);
    team_cut_free(&t->cut);
    lx_team_result_free(&t->run.result);
    t->asked = t->known = false;
    t->member = 0;
    t->number++;
}

void session_team_again(struct session *s)
{
    if (s->team.asked) team_model_ask(s);
}

bool session_team_run(struct session *s)
{
    struct team_model *t = &s->team;
    if (s->current < 0 || !t->known || !t->cut.plan || t->cut.members != t->members) return false;
    forget_run(s);
    return team_model_post(s, &team_run_work, t->run.number);
}
