/* Patterns, settings with their history, plans and races. Work is handed to the worker; what comes back is
 * taken over between two screens, so that no view sees half of it. */
#include "tui/core/session.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "planning/graph_files.h"
#include "text/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool session_begin(struct session *s, const struct what_if *how)
{
    *s = (struct session){.current = -1, .shown_pattern = -1, .now = *how};
    session_select_nothing(s);
    s->team.members = TEAM_AT_FIRST;
    s->team.grid = (struct lx_team_grid){1, {TEAM_AT_FIRST}};
    s->worker = worker_start();
    for (const struct lx_solver *const *solver = lx_solvers(); s->worker && *solver; solver++)
        if (!VEC_PUSH(&s->racers, (struct racer){.solver = *solver})) return false;
    return s->worker != NULL;
}

void session_end(struct session *s)
{
    worker_end(s->worker);
    s->worker = NULL;
    team_cut_free(&s->team.cut);
    lx_team_result_free(&s->team.run.result);
    for (size_t i = 0; i < s->patterns.count; i++) {
        source_free(s->patterns.at[i].source);
        mem_free(s->patterns.at[i].path);
        facts_free(&s->patterns.at[i].facts);
    }
    for (size_t i = 0; i < s->racers.count; i++) outcome_free(&s->racers.at[i].outcome);
    outcome_free(&s->shown);
    session_held_free(s);
    change_free(&s->change);
    lx_plan_free(s->before);
    lx_run_result_free(s->run.result);
    lx_plan_free(s->run.plan);
    VEC_FREE(&s->patterns);
    VEC_FREE(&s->racers);
    VEC_FREE(&s->undo);
    VEC_FREE(&s->redo);
    *s = (struct session){0};
}

static bool session_add_file(struct session *s, char *path, size_t skip, lx_status *st)
{
    int slot = (int)s->patterns.count;
    struct pattern p = {
        .path = path, .source = path ? source_new(path, s->models) : NULL, .models = s->models};
    if (p.source) p.shown = path + skip;
    if (!p.source || !VEC_PUSH(&s->patterns, p)) {
        source_free(p.source);
        mem_free(path);
        return status_no_memory(st);
    }
    /* Patterns that would be shown alike are shown with as much of their paths as tells them apart. */
    size_t new = (size_t)slot;
    const char *shown = s->patterns.at[new].shown;
    const char **paths = mem_alloc((s->patterns.count + 1) * sizeof *paths);
    size_t n = 0;
    for (size_t i = 0; paths && i < s->patterns.count; i++)
        if (strcmp(path_tail(s->patterns.at[i].path, NULL, 0), path_tail(shown, NULL, 0)) == 0)
            paths[n++] = s->patterns.at[i].path;
    for (size_t i = 0; n > 1 && i < s->patterns.count; i++)
        if (i != new &&strcmp(s->patterns.at[i].shown, shown) == 0) {
            s->patterns.at[i].shown = path_tail(s->patterns.at[i].path, paths, n);
            s->patterns.at[new].shown = path_tail(s->patterns.at[new].path, paths, n);
        }
    mem_free(paths);
    return session_read(s, slot) ? true : status_no_memory(st);
}

static bool nothing_in(const char *folder, lx_status *st)
{
    struct text endings = {0};
    add_endings(&endings);
    status_set_at(st, LX_E_IO, folder, 0, 0, "no pattern (%s) in this folder", endings.at ? endings.at : "");
    text_free(&endings);
    return false;
}

bool session_add(struct session *s, const char *path, lx_status *st)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return status_set_at(st, LX_E_IO, path, 0, 0, "there is no such file or folder");
    if (!S_ISDIR(info.st_mode)) {
        const char *slash = strrchr(path, '/');
        return session_add_file(s, mem_string(path), slash ? (size_t)(slash + 1 - path) : 0, st);
    }
    struct paths found = {0};
    gather_patterns(path, &found);
    bool ok = found.count > 0 ? true : nothing_in(path, st);
    for (size_t i = 0; i < found.count; i++) {
        if (ok)
            ok = session_add_file(s, found.at[i], strlen(path) + 1, st);
        else
            mem_free(found.at[i]);
    }
    VEC_FREE(&found);
    return ok;
}

void session_open(struct session *s, int pattern)
{
    if (pattern < 0 || (size_t)pattern >= s->patterns.count) return;
    if (pattern == s->current && s->has_shown) return;
    session_race_stop(s);
    if (s->current >= 0 && s->current != pattern) source_forget(s->patterns.at[s->current].source);
    s->current = pattern;
    session_select_nothing(s);
    s->has_shown = false;
    lx_plan_free(s->before); /* what was is of another pattern */
    s->before = NULL;
    session_seen(s);
    session_race_forget(s);
    session_run_forget(s);
    session_team_forget(s);
    session_ask(s, true);
}

void session_reload(struct session *s)
{
    if (s->current < 0) return;
    source_forget(s->patterns.at[s->current].source);
    session_read(s, s->current);
    session_team_again(s);
    session_ask(s, true);
}

void session_read_again(struct session *s, int pattern)
{
    source_forget(s->patterns.at[pattern].source);
    session_read(s, pattern);
}

bool session_change(struct session *s, const struct what_if *how)
{
    if (settings_same(&s->now, how)) return false;
    if (!VEC_PUSH(&s->undo, s->now)) return false;
    s->redo.count = 0;
    s->now = *how;
    session_ask(s, false);
    return true;
}

bool session_undo(struct session *s)
{
    if (s->undo.count == 0 || !VEC_PUSH(&s->redo, s->now)) return false;
    s->now = s->undo.at[--s->undo.count];
    session_ask(s, s->undo.count == 0);
    return true;
}

bool session_redo(struct session *s)
{
    if (s->redo.count == 0 || !VEC_PUSH(&s->undo, s->now)) return false;
    s->now = s->redo.at[--s->redo.count];
    session_ask(s, false);
    return true;
}

int64_t session_actual(const struct session *s, int setting)
{
    const struct lx_plan *p = session_plan(s);
    if (setting == SET_LEVEL) return 5;
    if (!p) return -1;
    return setting == SET_CORES ? p->graph->device.cores : setting == SET_LX ? p->problem.capacity : -1;
}

void session_seen(struct session *s)
{
    change_free(&s->change);
    s->moved = NULL;
}

bool session_take_results(struct session *s)
{
    return worker_take(s->worker);
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
    mem_free(json);
    return ok;
}
