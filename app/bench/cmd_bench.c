/* lxplan bench: every solver on every instance, each run in a process of its own. */
#include "bench/run_child.h"
#include "base/fail.h"
#include "bench/summary.h"
#include "paint.h"
#include "words.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_INTERRUPTED = 130 };

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

struct bench {
    struct call *call;
    struct settings settings;
    instances list;
    schedule todo;
    size_t next, total, done; /* of todo; of all runs, with those of a resumed file */
    struct job *jobs;
    int active;
    struct results_file file;
    struct results results; /* what is reported at the end */
    struct loaded *last;    /* the next run is most often on the same instance */
    double start, next_progress;
    size_t done_at_start;
    bool show;
};

static const char *key_of(struct arena *memory, const char *instance, const char *hash, const char *solver,
                          int64_t seed, int64_t repeat, const char *config)
{
    return arena_format(memory, "%s\n%s\n%s\n%lld\n%lld\n%s", instance, hash, solver, (long long)seed,
                        (long long)repeat, config);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *solver_name(const struct bench *b, const struct planned *p)
{
    return p->solver < 0 ? "" : b->settings.solvers.at[p->solver].solver->name;
}

static const char *config_of(const struct bench *b, const struct planned *p)
{
    return p->solver < 0 ? "" : b->settings.solvers.at[p->solver].config;
}

static int64_t seed_of(const struct bench *b, const struct planned *p)
{
    return p->solver < 0 ? 0 : b->settings.seed + p->seed_index;
}

/* Takes out of the schedule what the file has already. */
static bool skip_finished(struct bench *b)
{
    struct arena memory = {0};
    const rows *done = &b->results.rows;
    const char **keys = arena_array(&memory, done->count + 1, sizeof *keys);
    bool ok = keys != NULL;
    for (size_t i = 0; ok && i < done->count; i++) {
        const struct row *r = &done->at[i];
        keys[i] = key_of(&memory, r->instance, r->hash, r->solver, r->seed, r->repeat, r->config);
        ok = keys[i];
    }
    if (ok) qsort(keys, done->count, sizeof *keys, compare_texts);
    size_t kept = 0;
    for (size_t i = 0; ok && i < b->todo.count; i++) {
        const struct planned *p = &b->todo.at[i];
        const struct instance *n = &b->list.at[p->instance];
        const char *key =
            key_of(&memory, n->path, n->hash, solver_name(b, p), seed_of(b, p), p->repeat, config_of(b, p));
        ok = key;
        if (ok && !bsearch(&key, keys, done->count, sizeof *keys, compare_texts)) b->todo.at[kept++] = *p;
    }
    b->done = b->done_at_start = b->todo.count - kept;
    b->total = b->todo.count;
    b->todo.count = kept;
    arena_free(&memory);
    return ok ? true : status_no_memory(&b->call->st);
}

static void name_row(const struct bench *b, const struct planned *p, struct row *row)
{
    const struct instance *n = &b->list.at[p->instance];
    *row = (struct row){.instance = n->path,
                        .hash = n->hash,
                        .name = n->name,
                        .buffers = n->buffers,
                        .capacity = n->capacity,
                        .question = n->bad ? "" : lx_objective_word(n->objective),
                        .solver = solver_name(b, p),
                        .config = config_of(b, p),
                        .seed = seed_of(b, p),
                        .repeat = p->repeat,
                        .status = "",
                        .claim = "",
                        .stats = "{}",
                        .message = "",
                        .time_limit = b->settings.time};
}

static bool keep_row(struct bench *b, const struct row *row)
{
    b->done++;
    if (!VEC_PUSH(&b->results.rows, *row)) return status_no_memory(&b->call->st);
    return results_append(&b->file, row, &b->call->st);
}

/* A run that cannot begin is a result too, and no reason to stop the others. */
static bool keep_failure(struct bench *b, const struct planned *p, enum outcome outcome, const char *why)
{
    struct row row;
    name_row(b, p, &row);
    row.outcome = outcome;
    row.message = arena_string(&b->results.memory, why);
    return row.message ? keep_row(b, &row) : status_no_memory(&b->call->st);
}

static struct loaded *borrow(struct bench *b, const struct instance *n, lx_status *st)
{
    if (!b->last || b->last->of != n) {
        instance_release(b->last);
        b->last = instance_load(n, &b->settings, st);
    }
    if (b->last) b->last->users++;
    return b->last;
}

static bool begin_run(struct bench *b, struct job *j, const struct planned *p, bool recorded)
{
    const struct instance *n = &b->list.at[p->instance];
    char words[1200];
    lx_status st = {0};
    if (n->bad) return !recorded || keep_failure(b, p, OUTCOME_BAD_INPUT, n->bad);
    j->run = *p;
    j->recorded = recorded;
    j->instance = borrow(b, n, &st);
    if (j->instance &&
        job_start(j, &b->settings, &b->settings.solvers.at[p->solver], (uint64_t)seed_of(b, p), &st)) {
        b->active++;
        return true;
    }
    instance_release(j->instance);
    j->instance = NULL;
    lx_status_describe(&st, words, sizeof words);
    return !recorded || keep_failure(b, p, OUTCOME_ERROR, words);
}

static bool end_run(struct bench *b, struct job *j)
{
    struct row row;
    bool ok = true;
    name_row(b, &j->run, &row);
    if (j->recorded && !interrupted) {
        judge_result(&b->settings, &b->settings.solvers.at[j->run.solver], j->instance, &j->result,
                     &b->results.memory, &row);
        ok = keep_row(b, &row);
    }
    job_reset(j);
    instance_release(j->instance);
    j->instance = NULL;
    b->active--;
    return ok;
}

static void show_progress(struct bench *b)
{
    double now = monotonic_seconds(), spent = now - b->start;
    if (!b->show || now < b->next_progress) return;
    b->next_progress = now + 0.2;
    size_t fresh = b->done - b->done_at_start;
    char left[40] = "", line[300];
    if (fresh > 0) {
        double s = spent / (double)fresh * (double)(b->total - b->done);
        if (s >= 3600)
            snprintf(left, sizeof left, ", %.1f h to go", s / 3600);
        else if (s >= 60)
            snprintf(left, sizeof left, ", %.0f min to go", s / 60);
        else
            snprintf(left, sizeof left, ", %.0f s to go", s);
    }
    int n = snprintf(line, sizeof line, "%zu of %zu runs%s", b->done, b->total, left);
    for (int64_t i = 0; i < b->settings.jobs && n > 0 && n < 200; i++)
        if (b->jobs[i].active) {
            char *name = printable(b->list.at[b->jobs[i].run.instance].name, 30);
            n += snprintf(line + n, sizeof line - (size_t)n, "; %.30s on %.60s (%.0f s)",
                          solver_name(b, &b->jobs[i].run), name ? name : "?", now - b->jobs[i].start);
            free(name);
        }
    paint_progress(line);
}

/* Sleeps until a pipe has news; a process whose pipe is closed already ends within a blink. */
static void wait_for_news(const struct bench *b)
{
    struct pollfd fds[256];
    nfds_t n = 0;
    int patience = 10;
    for (int64_t i = 0; i < b->settings.jobs; i++) {
        if (!b->jobs[i].active) continue;
        if (b->jobs[i].fd >= 0)
            fds[n++] = (struct pollfd){.fd = b->jobs[i].fd, .events = POLLIN};
        else
            patience = 1;
    }
    poll(fds, n, patience);
}

static bool poll_jobs(struct bench *b)
{
    bool ok = true;
    wait_for_news(b);
    for (int64_t i = 0; i < b->settings.jobs; i++)
        if (b->jobs[i].active && job_poll(&b->jobs[i], &b->settings)) ok = end_run(b, &b->jobs[i]) && ok;
    show_progress(b);
    return ok;
}

static void kill_all(struct bench *b)
{
    for (int64_t i = 0; i < b->settings.jobs; i++)
        if (b->jobs[i].active) job_kill(&b->jobs[i]);
    while (b->active > 0) {
        interrupted = 1; /* nothing that was killed here is recorded */
        poll_jobs(b);
    }
}

static bool run_list(struct bench *b, const schedule *list, bool recorded)
{
    bool ok = true;
    for (size_t next = 0; ok && !interrupted && (next < list->count || b->active > 0);) {
        for (int64_t i = 0; i < b->settings.jobs && ok && !interrupted && next < list->count; i++)
            if (!b->jobs[i].active) ok = begin_run(b, &b->jobs[i], &list->at[next++], recorded);
        if (ok && b->active > 0) ok = poll_jobs(b);
    }
    int was_interrupted = interrupted;
    if (b->active > 0) kill_all(b);
    interrupted = was_interrupted;
    return ok;
}

static bool warm_up(struct bench *b)
{
    schedule warm = {0};
    bool ok = true;
    for (int64_t k = 0; k < b->settings.warmup && b->todo.count > 0; k++)
        for (size_t i = 0; ok && i < b->todo.count; i++) {
            const struct planned *p = &b->todo.at[i];
            if (p->instance != b->todo.at[0].instance || p->solver < 0 || p->seed_index > 0 || p->repeat > 0)
                continue;
            ok = VEC_PUSH(&warm, *p) ? true : status_no_memory(&b->call->st);
        }
    ok = ok && run_list(b, &warm, false);
    VEC_FREE(&warm);
    return ok;
}

static bool run_all(struct bench *b)
{
    struct sigaction stop = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}, before[3];
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    b->jobs = calloc((size_t)b->settings.jobs, sizeof *b->jobs);
    if (!b->jobs) return status_no_memory(&b->call->st);
    if (b->settings.jobs > 1)
        note(b->call,
             "%lld runs at the same time disturb each other's times; use -j1 for figures that you show",
             (long long)b->settings.jobs);
    double load;
    if (getloadavg(&load, 1) == 1 && load >= (double)sysconf(_SC_NPROCESSORS_ONLN))
        note(b->call, "this machine is busy (load %.1f); times will be longer than they need be", load);
    /* The first signal ends the bench in good order, the second at once. */
    for (int i = 0; i < 3; i++) sigaction(signals[i], &stop, &before[i]);
    b->show = paint_progress_possible() && !is_quiet(b->call);
    b->start = monotonic_seconds();
    bool ok = warm_up(b) && run_list(b, &b->todo, true);
    for (int i = 0; i < 3; i++) sigaction(signals[i], &before[i], NULL);
    paint_progress_end();
    return ok;
}

static bool prepare(struct bench *b)
{
    struct call *call = b->call;
    const char *path = option_value(&call->line, "output");
    struct text header = {0};
    if ((option_given(&call->line, "resume") || option_given(&call->line, "force")) && !path)
        return status_set(&call->st, LX_E_USAGE,
                          "--resume and --force go with a results file: add -o RESULTS");
    if (!settings_read(call, &b->settings) ||
        !instances_gather(call, &b->settings, &b->results.memory, &b->list) ||
        !schedule_make(call, &b->settings, &b->list, &b->todo))
        return false;
    provenance_write(&b->settings, &b->list, &header);
    bool ok = header.failed ? status_no_memory(&call->st) : true;
    if (ok && path) ok = results_open(call, &b->file, path, &header, &b->results.memory, &b->results.rows);
    if (ok) {
        const char *copy = arena_string(&b->results.memory, header.at);
        ok = copy && VEC_PUSH(&b->results.headers, copy) &&
                     VEC_PUSH(&b->results.files, path ? path : "this run")
                 ? true
                 : status_no_memory(&call->st);
    }
    for (size_t i = 0; i < b->results.rows.count; i++) b->results.rows.at[i].time_limit = b->settings.time;
    text_free(&header);
    return ok && skip_finished(b);
}

static bool has_bad_end(const struct results *r)
{
    for (size_t i = 0; i < r->rows.count; i++) {
        enum outcome o = r->rows.at[i].outcome;
        if (o == OUTCOME_WRONG || o == OUTCOME_CRASH || o == OUTCOME_ERROR || o == OUTCOME_BAD_INPUT)
            return true;
    }
    return false;
}

static int run(struct call *call)
{
    struct bench b = {.call = call, .file = {.fd = -1}};
    interrupted = 0;
    bool ok = prepare(&b) && run_all(&b);
    bool was_interrupted = interrupted;
    if (ok && b.done_at_start > 0) note(call, "%zu runs were in the file already", b.done_at_start);
    if (ok && was_interrupted)
        note(call, "interrupted: %zu of %zu runs are done%s", b.done, b.total,
             b.file.fd >= 0 ? "; --resume goes on" : "");
    if (ok && !mark_contradictions(&b.results)) ok = status_no_memory(&call->st);
    if (ok && !is_quiet(call)) ok = report_rows(call, &b.results, &call->out);
    int code = !ok                       ? FAILED
               : was_interrupted         ? EXIT_INTERRUPTED
               : has_bad_end(&b.results) ? EXIT_NO
                                         : EXIT_YES;
    results_close(&b.file);
    instance_release(b.last);
    free(b.jobs);
    VEC_FREE(&b.todo);
    VEC_FREE(&b.list);
    settings_free(&b.settings);
    results_free(&b.results);
    return code;
}

static const struct option_row *const tables[] = {bench_rows, json_rows, quiet_rows, help_rows, NULL};

const struct command command_bench = {
    .name = "bench",
    .synopsis = "FILE|DIR ... [-s A,B,...] [--seeds K] [--time S] [-j N] [-o RESULTS [--resume]] [options]",
    .summary = "Run solvers on instances, each run in a process of its own, and compare them",
    .details = "Every answer is checked again here, apart from the process that gave it. Outcomes: optimal, "
               "feasible,\n"
               "infeasible, none (gave up), timeout, memory, crash, error, wrong (refused by the checker, or "
               "contradicted by\n"
               "another answer), bad_input. Times are those of the solver alone, without reading the file.\n"
               "The memory limit counts what a run takes beyond the harness: allocations fail at it "
               "(RLIMIT_DATA), and a\n"
               "process whose resident set goes beyond it is killed.\n"
               "Exit code: 0 all runs done, 1 and some wrong, crashed, failed or unreadable, 130 interrupted "
               "(what is done\n"
               "is kept and reported).\n",
    .options = tables,
    .least_files = 1,
    .most_files = 1 << 20,
    .file_word = "FILE or DIR",
    .run = run,
};
