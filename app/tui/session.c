#include "tui/session.h"
#include "base/fail.h"
#include "base/file.h"
#include "planning/bundled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool session_begin(struct session *s, const struct what_if *how)
{
    *s = (struct session){.current = -1, .shown_pattern = -1, .now = *how};
    session_select_nothing(s);
    s->team.members = TEAM_AT_FIRST;
    s->worker = worker_start();
    for (const struct lx_solver *const *solver = lx_solvers(); s->worker && *solver; solver++)
        if (!VEC_PUSH(&s->racers, (struct racer){.solver = *solver})) return false;
    return s->worker != NULL;
}

void session_end(struct session *s)
{
    worker_end(s->worker);
    team_cut_free(&s->team.cut);
    for (size_t i = 0; i < s->patterns.count; i++) {
        free(s->patterns.at[i].path);
        facts_free(&s->patterns.at[i].facts);
    }
    for (size_t i = 0; i < s->racers.count; i++) outcome_free(&s->racers.at[i].outcome);
    outcome_free(&s->shown);
    lx_run_result_free(s->run.result);
    outcome_free(&s->run.outcome);
    VEC_FREE(&s->patterns);
    VEC_FREE(&s->racers);
    VEC_FREE(&s->undo);
    VEC_FREE(&s->redo);
    *s = (struct session){0};
}

static bool add_file(struct session *s, char *path, size_t skip, lx_status *st)
{
    int slot = (int)s->patterns.count;
    if (!path || !VEC_PUSH(&s->patterns, (struct pattern){.path = path, .shown = path + skip})) {
        free(path);
        return status_no_memory(st);
    }
    return worker_post(s->worker, JOB_READ, 0, slot, path, &s->now, true) ? true : status_no_memory(st);
}

bool session_add(struct session *s, const char *path, lx_status *st)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return status_set_at(st, LX_E_IO, path, 0, 0, "there is no such file or folder");
    if (!S_ISDIR(info.st_mode)) {
        const char *slash = strrchr(path, '/');
        return add_file(s, strdup(path), slash ? (size_t)(slash + 1 - path) : 0, st);
    }
    struct paths found = {0};
    gather_patterns(path, &found);
    bool ok =
        found.count > 0 ? true : status_set_at(st, LX_E_IO, path, 0, 0, "no pattern (.json) in this folder");
    for (size_t i = 0; i < found.count; i++) {
        if (ok)
            ok = add_file(s, found.at[i], strlen(path) + 1, st);
        else
            free(found.at[i]);
    }
    VEC_FREE(&found);
    return ok;
}

/* Asks for the plan of the open pattern. What is shown stays until the new one is there. */
static void ask(struct session *s, bool as_it_is)
{
    if (s->current < 0) return;
    worker_stop(s->worker, JOB_PLAN);
    worker_post(s->worker, JOB_PLAN, ++s->wanted, s->current, s->patterns.at[s->current].path, &s->now,
                as_it_is);
    s->race_is_old = s->run.is_old = true;
}

static void forget_run(struct session *s)
{
    lx_run_result_free(s->run.result);
    outcome_free(&s->run.outcome);
    s->run.result = NULL;
    s->run.known = false;
}

void session_run(struct session *s)
{
    if (s->current < 0) return;
    worker_stop(s->worker, JOB_RUN);
    s->run.is_old = false;
    worker_post(s->worker, JOB_RUN, ++s->run.number, 0, s->patterns.at[s->current].path, &s->now,
                s->shown.was_read);
}

void session_open(struct session *s, int pattern)
{
    if (pattern < 0 || (size_t)pattern >= s->patterns.count) return;
    if (pattern == s->current && s->has_shown) return;
    session_stop(s);
    s->current = pattern;
    session_select_nothing(s);
    s->has_shown = false;
    for (size_t i = 0; i < s->racers.count; i++) {
        outcome_free(&s->racers.at[i].outcome);
        s->racers.at[i].state = RACE_NONE;
    }
    s->race++; /* results of a race or run on another pattern come too late */
    s->run.number++;
    worker_stop(s->worker, JOB_RUN);
    forget_run(s);
    session_team_forget(s);
    ask(s, true);
}

void session_reload(struct session *s)
{
    if (s->current < 0) return;
    worker_post(s->worker, JOB_READ, 0, s->current, s->patterns.at[s->current].path, &s->now, true);
    session_team_again(s);
    ask(s, true);
}

bool session_change(struct session *s, const struct what_if *how)
{
    if (settings_same(&s->now, how)) return false;
    if (!VEC_PUSH(&s->undo, s->now)) return false;
    s->redo.count = 0;
    s->now = *how;
    ask(s, false);
    return true;
}

bool session_undo(struct session *s)
{
    if (s->undo.count == 0 || !VEC_PUSH(&s->redo, s->now)) return false;
    s->now = s->undo.at[--s->undo.count];
    ask(s, s->undo.count == 0);
    return true;
}

bool session_redo(struct session *s)
{
    if (s->redo.count == 0 || !VEC_PUSH(&s->undo, s->now)) return false;
    s->now = s->redo.at[--s->redo.count];
    ask(s, false);
    return true;
}

int64_t session_actual(const struct session *s, int setting)
{
    const struct lx_plan *p = session_plan(s);
    if (setting == SET_LEVEL) return 5;
    if (!p) return -1;
    return setting == SET_CORES ? p->graph->device.cores : setting == SET_LX ? p->problem.capacity : -1;
}

bool session_is_stale(const struct session *s)
{
    return s->wanted != s->got;
}

static void remember(struct session *s, const struct result *r)
{
    if (r->slot < 0 || (size_t)r->slot >= s->patterns.count) return;
    struct last_plan *last = &s->patterns.at[r->slot].last;
    const struct lx_plan *p = r->outcome.plan;
    *last = (struct last_plan){.known = true, .failed = !p, .stopped = r->stopped};
    if (!p) return;
    last->failed = !r->outcome.is_legal;
    last->met = lx_plan_meets_target(p);
    last->proved = p->answer.status == LX_OPTIMAL;
    last->hbm_bytes = p->problem.objective == LX_HEIGHT ? p->height_bytes : p->hbm_bytes;
    last->saved_from = p->baseline_hbm_bytes;
    last->seconds = p->seconds;
    snprintf(last->solver, sizeof last->solver, "%s", p->solver);
}

static void take_plan(struct session *s, struct result *r)
{
    if (r->serial != s->wanted || r->slot != s->current) return;
    struct outcome old = s->shown;
    bool same = s->shown_pattern == r->slot;
    s->shown = r->outcome;
    r->outcome = (struct outcome){0};
    s->has_shown = true;
    s->shown_pattern = r->slot;
    s->got = r->serial;
    session_keep_selection(s, same ? old.plan : NULL);
    outcome_free(&old);
}

static void take_racer(struct session *s, struct result *r)
{
    if (r->serial != s->race || r->slot < 0 || (size_t)r->slot >= s->racers.count) return;
    struct racer *racer = &s->racers.at[r->slot];
    outcome_free(&racer->outcome);
    racer->outcome = r->outcome;
    r->outcome = (struct outcome){0};
    racer->state = !racer->outcome.plan ? RACE_FAILED : r->stopped ? RACE_STOPPED : RACE_DONE;
}

static void take_run(struct session *s, struct result *r)
{
    if (r->serial != s->run.number) return;
    forget_run(s);
    s->run.known = true;
    s->run.result = r->run;
    s->run.st = r->run_st;
    s->run.outcome = r->outcome;
    r->run = NULL;
    r->outcome = (struct outcome){0};
}

bool session_take_results(struct session *s)
{
    bool any = false;
    for (struct result *r; (r = worker_take(s->worker)); any = true) {
        if (r->kind == JOB_READ) {
            struct pattern *p = &s->patterns.at[r->slot];
            facts_free(&p->facts);
            p->facts = r->facts;
            p->is_read = true;
            r->facts = (struct facts){0};
        } else if (r->kind == JOB_RACE)
            take_racer(s, r);
        else if (r->kind == JOB_RUN)
            take_run(s, r);
        else if (r->kind == JOB_TEAM || r->kind == JOB_TEAM_RUN)
            session_team_take(s, r);
        else {
            if (!r->stopped || r->kind == JOB_FILL) remember(s, r);
            if (r->kind == JOB_PLAN) take_plan(s, r);
        }
        result_free(r);
    }
    return any;
}

void session_plan_all(struct session *s)
{
    worker_stop(s->worker, JOB_FILL);
    for (size_t i = 0; i < s->patterns.count; i++)
        if (!s->patterns.at[i].facts.refused)
            worker_post(s->worker, JOB_FILL, 0, (int)i, s->patterns.at[i].path, &s->now, true);
}

void session_race(struct session *s)
{
    if (s->current < 0) return;
    session_stop(s);
    s->race++;
    s->race_how = s->now;
    s->race_is_old = false;
    for (size_t i = 0; i < s->racers.count; i++) {
        struct what_if how = s->now;
        settings_take_solver(&how, (int)i);
        s->racers.at[i].state = RACE_RUNNING;
        outcome_free(&s->racers.at[i].outcome);
        worker_post(s->worker, JOB_RACE, s->race, (int)i, s->patterns.at[s->current].path, &how, false);
    }
}

void session_stop(struct session *s)
{
    worker_stop(s->worker, JOB_RACE);
    worker_stop(s->worker, JOB_FILL);
    for (size_t i = 0; i < s->racers.count; i++) {
        struct progress p = worker_progress(s->worker, JOB_RACE, (int)i);
        struct racer *racer = &s->racers.at[i];
        if (racer->state == RACE_RUNNING && !p.running && !racer->outcome.plan) racer->state = RACE_NONE;
    }
}

bool session_save(const struct session *s, const char *path, lx_status *st)
{
    const struct lx_plan *p = session_plan(s);
    if (!p) return status_set(st, LX_E_USAGE, "there is no plan to save: open a pattern first");
    if (session_is_stale(s))
        return status_set(st, LX_E_USAGE, "the plan is being made; save it when it is there");
    size_t length = 0;
    char *json = lx_plan_to_json(p, &length);
    bool ok = json ? file_write(path, json, length, st) : status_no_memory(st);
    free(json);
    return ok;
}
