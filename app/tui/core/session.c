/* Patterns, settings with their history, plans to compare with, runs. Jobs run in the background; their
 * results are taken between two screens, so that no view sees half of one. */
#include "tui/core/session.h"
#include "base/file.h"
#include "text/format.h"

#include <sys/stat.h>

bool session_begin(struct session *s, const struct what_if *how)
{
    *s = (struct session){.current = -1, .shown_pattern = -1, .now = *how};
    session_select_nothing(s);
    s->team.members = TEAM_AT_FIRST;
    s->team.grid = (struct lx_team_grid){1, {TEAM_AT_FIRST}};
    s->worker = worker_start();
    for (const struct lx_solver *const *solver = lx_solvers(); s->worker && *solver; solver++)
        VEC_PUSH(&s->racers, (struct racer){.solver = *solver});
    return s->worker != NULL;
}

void session_forget_forced(struct session *s)
{
    tries_forget(&s->forced.tries);
    change_free(&s->forced.change);
    text_free(&s->forced.left);
    mem_free(s->forced.leaves);
    s->forced.leaves = NULL;
}

void session_end(struct session *s)
{
    worker_end(s->worker);
    s->worker = NULL;
    session_forget_forced(s);
    team_cut_free(&s->team.cut);
    lx_team_result_free(&s->team.run.result);
    for (size_t i = 0; i < s->patterns.count; i++) {
        source_free(s->patterns.at[i].source);
        mem_free(s->patterns.at[i].path);
        facts_free(&s->patterns.at[i].facts);
    }
    for (size_t i = 0; i < s->racers.count; i++) outcome_free(&s->racers.at[i].outcome);
    outcome_free(&s->shown);
    outcome_free(&s->pinned.outcome);
    for (size_t i = 0; i < s->files.count; i++) outcome_free(&s->files.at[i].outcome);
    VEC_FREE(&s->files);
    text_free(&s->news);
    change_free(&s->change);
    lx_plan_free(s->before);
    lx_run_result_free(s->run.result);
    lx_plan_free(s->run.plan);
    VEC_FREE(&s->patterns);
    VEC_FREE(&s->racers);
    VEC_FREE(&s->seen);
    VEC_FREE(&s->undo);
    VEC_FREE(&s->redo);
    *s = (struct session){0};
}

/* Takes the path over; shows it without its first `skip` bytes. Patterns that would look alike are shown
 * with as much of their paths as tells them apart. */
static void session_add_file(struct session *s, char *path, size_t skip)
{
    size_t new = s->patterns.count, n = 0;
    const char *shown = path + skip;
    VEC_PUSH(&s->patterns,
             (struct pattern){.path = path, .shown = shown, .source = source_new(path, s->models)});
    const char **paths = mem_alloc((new + 1) * sizeof *paths);
    for (size_t i = 0; i <= new; i++)
        if (strcmp(path_tail(s->patterns.at[i].path, NULL, 0), path_tail(shown, NULL, 0)) == 0)
            paths[n++] = s->patterns.at[i].path;
    for (size_t i = 0; n > 1 && i < new; i++)
        if (strcmp(s->patterns.at[i].shown, shown) == 0) {
            s->patterns.at[i].shown = path_tail(s->patterns.at[i].path, paths, n);
            s->patterns.at[new].shown = path_tail(s->patterns.at[new].path, paths, n);
        }
    mem_free(paths);
    session_read(s, (int)new);
}

bool session_add(struct session *s, const char *path, lx_status *st)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return status_set_at(st, LX_E_IO, path, 0, 0, "there is no such file or folder");
    if (!S_ISDIR(info.st_mode)) {
        const char *slash = strrchr(path, '/');
        session_add_file(s, mem_string(path), slash ? (size_t)(slash + 1 - path) : 0);
        return true;
    }
    OWNED struct paths found = {0};
    gather_patterns(path, &found);
    bool any = found.count > 0;
    for (size_t i = 0; i < found.count; i++) session_add_file(s, found.at[i], strlen(path) + 1);
    if (any) return true;
    SCOPED(text_free) struct text endings = {0};
    add_endings(&endings);
    status_set_at(st, LX_E_IO, path, 0, 0, "no pattern (%s) in this folder", endings.at);
    return false;
}

static void session_run_forget(struct session *s)
{
    worker_stop(s->worker, &run_work);
    lx_run_result_free(s->run.result);
    lx_plan_free(s->run.plan);
    s->run.plan = NULL;
    s->run.result = NULL;
    s->run.known = false;
    s->run.number++; /* jobs that still run are outdated */
}

void session_open(struct session *s, int pattern)
{
    if (pattern < 0 || (size_t)pattern >= s->patterns.count) return;
    if (pattern == s->current && s->has_shown) return;
    session_race_stop(s);
    if (s->current >= 0 && s->current != pattern) source_forget(s->patterns.at[s->current].source);
    s->current = pattern;
    s->seen.count = 0;
    s->opened++;
    session_select_nothing(s);
    s->has_shown = false;
    lx_plan_free(s->before); /* of another pattern */
    s->before = NULL;
    change_free(&s->change);
    s->moved = NULL;
    session_race_forget(s);
    session_run_forget(s);
    session_team_forget(s);
    session_ask(s, true);
}

void session_reload(struct session *s, int pattern)
{
    if (pattern < 0) return;
    source_forget(s->patterns.at[pattern].source);
    session_read(s, pattern);
    if (pattern != s->current) return;
    s->seen.count = 0;
    s->opened++;
    session_team_want(s, true);
    session_ask(s, true);
}

bool session_change(struct session *s, const struct what_if *how)
{
    if (settings_same(&s->now, how)) return false;
    VEC_PUSH(&s->undo, s->now);
    s->redo.count = 0;
    s->now = *how;
    session_ask(s, false);
    return true;
}

bool session_undo(struct session *s, bool redo)
{
    if ((redo ? s->redo.count : s->undo.count) == 0) return false;
    struct what_if now = s->now;
    if (redo) {
        s->now = s->redo.at[--s->redo.count];
        VEC_PUSH(&s->undo, now);
    } else {
        s->now = s->undo.at[--s->undo.count];
        VEC_PUSH(&s->redo, now);
    }
    session_ask(s, !redo && s->undo.count == 0);
    return true;
}

int64_t session_actual(const struct session *s, int setting)
{
    const struct lx_plan *p = session_plan(s);
    if (setting == SET_LEVEL) return 5;
    if (!p) return -1;
    return setting == SET_CORES ? p->graph->device.cores : setting == SET_LX ? p->problem.capacity : -1;
}

bool session_save(const struct session *s, const char *path, lx_status *st)
{
    const struct lx_plan *p = session_plan(s);
    if (!p) return status_set(st, LX_E_USAGE, "there is no plan to save: open a pattern first");
    if (session_is_stale(s)) return status_set(st, LX_E_USAGE, "the plan is not ready yet");
    size_t length = 0;
    OWNED char *json = lx_plan_to_json(p, &length);
    return file_write(path, json, length, st);
}

struct holding {
    struct session *session;
    const struct lx_plan *plan; /* a reference; NULL: to be read */
    char *path;                 /* NULL: it is pinned */
    struct what_if how;         /* settings of a pinned plan */
    struct held held;
};

static void holding_run(void *data, void *watch)
{
    struct holding *h = data;
    (void)watch;
    const struct lx_plan *plan = h->path ? lx_plan_read(h->path, &h->held.outcome.st) : lx_plan_ref(h->plan);
    lx_status st = h->held.outcome.st;
    if (plan) outcome_of_plan(plan, &h->held.outcome);
    h->held.outcome.how = h->how;
    if (!plan) h->held.outcome.st = st;
}

static void holding_done(void *data, bool stopped)
{
    struct holding *h = data;
    struct session *s = h->session;
    struct held *place = &s->pinned;
    (void)stopped;
    if (h->path && !h->held.outcome.plan) { /* nothing to compare with: it gets no row */
        char words[1200];
        text_free(&s->news);
        add_printable(&s->news, lx_status_describe(&h->held.outcome.st, words, sizeof words), 0);
        return;
    }
    if (h->path) {
        size_t i = 0;
        while (i < s->files.count && strcmp(s->files.at[i].name, h->held.name) != 0) i++;
        if (i == s->files.count) VEC_PUSH(&s->files, (struct held){0});
        s->file_last = (int)i;
        s->files_read++;
        place = &s->files.at[i];
    }
    struct held old = *place;
    *place = h->held;
    h->held = old; /* to be freed */
}

static void holding_free(void *data)
{
    OWNED struct holding *h = data;
    lx_plan_free(h->plan);
    outcome_free(&h->held.outcome);
    mem_free(h->path);
}

const struct work hold_work = {1, holding_run, holding_done, holding_free};

bool session_pin(struct session *s)
{
    if (!session_plan(s)) return false;
    struct holding *h = mem_zeroed(1, sizeof *h);
    *h = (struct holding){.session = s, .plan = lx_plan_ref(session_plan(s)), .how = s->shown.how};
    snprintf(h->held.name, sizeof h->held.name, "A");
    worker_post(s->worker, &hold_work, 0, h);
    return true;
}

void session_hold_file(struct session *s, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct holding *h = mem_zeroed(1, sizeof *h);
    *h = (struct holding){.session = s, .path = mem_string(path)};
    snprintf(h->held.name, sizeof h->held.name, "%s", slash ? slash + 1 : path);
    worker_post(s->worker, &hold_work, 1, h);
}

struct execution {
    struct session *session;
    uint64_t number, of;
    char machine[16]; /* empty: the simulated device */
    const struct lx_plan *plan;
    struct lx_run_result *result;
    lx_status st;
};

static void execution_run(void *data, void *watch)
{
    struct execution *e = data;
    struct lx_device_options how = {
        .progress = watch_run, .stop = watch_stop, .context = watch, .threads = 1};
    struct lx_program_options program = {.machine = e->machine, .judge = how, .launches = 200};
    struct lx_measured measured;
    e->result = *e->machine ? lx_program_run(e->plan, &program, &measured, &e->st)
                            : lx_device_run(e->plan, &how, &e->st);
}

static void execution_done(void *data, bool stopped)
{
    struct execution *e = data;
    struct session *s = e->session;
    (void)stopped;
    if (e->number != s->run.number) return;
    session_run_forget(s);
    s->run.known = true;
    s->run.number = e->number;
    s->run.of = e->of;
    s->run.plan = e->plan;
    s->run.result = e->result;
    s->run.st = e->st;
    e->plan = NULL;
    e->result = NULL;
}

static void execution_free(void *data)
{
    OWNED struct execution *e = data;
    lx_plan_free(e->plan);
    lx_run_result_free(e->result);
}

const struct work run_work = {2, execution_run, execution_done, execution_free};

void session_run(struct session *s, const char *machine)
{
    const struct lx_plan *plan = session_plan(s);
    if (!plan) return;
    struct execution *e = mem_zeroed(1, sizeof *e);
    worker_stop(s->worker, &run_work);
    *e = (struct execution){.session = s, .number = ++s->run.number, .of = s->got, .plan = lx_plan_ref(plan)};
    snprintf(e->machine, sizeof e->machine, "%s", machine ? machine : "");
    worker_post(s->worker, &run_work, 0, e);
}
