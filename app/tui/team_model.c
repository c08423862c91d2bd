#include "tui/session.h"

static void forget_run(struct session *s)
{
    worker_stop(s->worker, JOB_TEAM_RUN);
    s->team.run.known = false;
    s->team.run.number++;
}

static void ask(struct session *s)
{
    struct team_model *t = &s->team;
    forget_run(s);
    worker_stop(s->worker, JOB_TEAM);
    t->asked = worker_post(s->worker, JOB_TEAM, ++t->number, t->members, s->patterns.at[s->current].path,
                           &s->now, true);
}

void session_team_want(struct session *s)
{
    if (s->current >= 0 && !s->team.asked) ask(s);
}

bool session_team_resize(struct session *s, int64_t members)
{
    if (members < 1 || members > LX_TEAM_MEMBERS || members == s->team.members) return false;
    s->team.members = (int)members;
    if (s->team.member >= members) s->team.member = (int)members - 1;
    if (s->current >= 0) ask(s);
    return true;
}

void session_team_forget(struct session *s)
{
    struct team_model *t = &s->team;
    forget_run(s);
    worker_stop(s->worker, JOB_TEAM);
    team_cut_free(&t->cut);
    t->asked = t->known = false;
    t->member = 0;
    t->number++;
}

void session_team_again(struct session *s)
{
    if (s->team.asked) ask(s);
}

bool session_team_run(struct session *s)
{
    struct team_model *t = &s->team;
    if (s->current < 0 || !t->known || !t->cut.plan || t->cut.members != t->members) return false;
    forget_run(s);
    return worker_post(s->worker, JOB_TEAM_RUN, t->run.number, t->members, s->patterns.at[s->current].path,
                       &s->now, true);
}

void session_team_take(struct session *s, struct result *r)
{
    struct team_model *t = &s->team;
    if (r->kind == JOB_TEAM && r->serial == t->number) {
        team_cut_free(&t->cut);
        t->cut = r->team;
        t->known = true;
        r->team = (struct team_cut){0};
    } else if (r->kind == JOB_TEAM_RUN && r->serial == t->run.number) {
        t->run.known = true;
        t->run.stopped = r->stopped && !r->team_ran;
        t->run.ok = r->team_ran;
        t->run.result = r->team_result;
        t->run.st = r->run_st;
    }
}
