/* lxplan bench: every solver on every instance, each run in a process of its own. */
#include "bench/harness.h"
#include "bench/suite.h"
#include "bench/summary.h"
#include "text/colour.h"

#include <unistd.h>

enum { SIGNALS = 3 };

static const int signals[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[SIGNALS];

static const char *cmd_bench_key_of(struct arena *memory, const char *instance, const char *hash,
                                    const char *solver, int64_t seed, int64_t repeat, const char *config)
{
    return arena_format(memory, "%s\n%s\n%s\n%lld\n%lld\n%s", instance, hash, solver, (long long)seed,
                        (long long)repeat, config);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Drops the runs from the schedule that the file has already. */
static void skip_finished(struct bench *b)
{
    SCOPED(arena_free) struct arena memory = {0};
    const rows *done = &b->results.rows;
    const char **keys = arena_array(&memory, done->count + 1, sizeof *keys);
    for (size_t i = 0; i < done->count; i++) {
        const struct row *r = &done->at[i];
        keys[i] = cmd_bench_key_of(&memory, r->instance, r->hash, r->solver, r->seed, r->repeat, r->config);
    }
    qsort(keys, done->count, sizeof *keys, compare_texts);
    size_t kept = 0;
    for (size_t i = 0; i < b->todo.count; i++) {
        const struct planned *p = &b->todo.at[i];
        const struct instance *n = &b->list.at[p->instance];
        const char *key = cmd_bench_key_of(&memory, n->path, n->hash, solver_name(b, p), seed_of(b, p),
                                           p->repeat, config_of(b, p));
        if (!bsearch(&key, keys, done->count, sizeof *keys, compare_texts)) b->todo.at[kept++] = *p;
    }
    b->done = b->done_at_start = b->todo.count - kept;
    b->total = b->todo.count;
    b->todo.count = kept;
}

static bool run_all(struct bench *b)
{
    if (b->settings.jobs > 1)
        note(b->call, "%lld runs at the same time disturb each other's times; use -j1 for figures to publish",
             (long long)b->settings.jobs);
    if (b->crew.count > 1)
        note(b->call,
             "%d ranks on %s: ranks on one machine disturb each other's times; use one per machine for "
             "figures to publish",
             b->crew.count, b->settings.hosts.at);
    double load;
    if (getloadavg(&load, 1) == 1 && load >= (double)sysconf(_SC_NPROCESSORS_ONLN))
        note(b->call, "this machine is busy (load %.1f); times will be longer than they need be", load);
    cancel_begin(&interrupting, 0);
    interrupt_catch(signals, SIGNALS, before); /* the first ends the bench in good order */
    b->show = paint_progress_possible() && !is_quiet(b->call);
    for (int64_t i = 0; b->show && i < b->settings.jobs; i++) job_watch(&b->jobs[i]);
    b->start = clock_seconds();
    bool ok = b->crew.ranks ? crew_lead(b) : warm_up(b) && run_list(b, &b->todo, true);
    interrupt_release(signals, SIGNALS, before);
    cancel_end(&interrupting);
    for (int64_t i = 0; i < b->settings.jobs; i++) job_unwatch(&b->jobs[i]);
    paint_progress_end();
    return ok;
}

/* Every rank makes the same list in the same order. */
static bool make_list(struct bench *b, struct text *header)
{
    struct call *call = b->call;
    if ((option_given(&call->line, "resume") || option_given(&call->line, "force")) &&
        !option_value(&call->line, "output"))
        return status_set(&call->st, LX_E_USAGE,
                          "--resume and --force go with a results file: add -o RESULTS");
    if (!settings_read(call, &b->settings)) return false;
    if (b->crew.ranks && b->settings.jobs > 1)
        return status_set(&call->st, LX_E_USAGE,
                          "-j %lld does not go with --transport mpi: each rank makes one run at a time; use "
                          "mpirun -n %lld for as many",
                          (long long)b->settings.jobs, (long long)b->settings.jobs);
    if (!instances_gather(call, &b->settings, &b->results.memory, &b->list)) return false;
    schedule_make(call, &b->settings, &b->list, &b->todo);
    b->jobs = mem_zeroed((size_t)b->settings.jobs, sizeof *b->jobs);
    provenance_write(&b->settings, &b->list, header);
    return true;
}

/* Opens the results file and drops the runs that it has already. */
static bool cmd_bench_prepare(struct bench *b)
{
    struct call *call = b->call;
    const char *path = option_value(&call->line, "output");
    struct text header = {0};
    bool ok = make_list(b, &header) && crew_gather(b, header.at);
    if (ok && b->crew.count > 1) { /* with all machines in it */
        text_free(&header);
        provenance_write(&b->settings, &b->list, &header);
    }
    if (ok && path) ok = results_open(call, &b->file, path, &header, &b->results.memory, &b->results.rows);
    if (ok) {
        VEC_PUSH(&b->results.headers, arena_string(&b->results.memory, header.at));
        VEC_PUSH(&b->results.files, path ? path : "this run");
        for (size_t i = 0; i < b->results.rows.count; i++)
            if (!b->results.rows.at[i].has_limit) b->results.rows.at[i].time_limit = b->settings.time;
        skip_finished(b);
    }
    text_free(&header);
    return ok;
}

/* This process alone, or rank 0. */
static int lead(struct bench *b)
{
    struct call *call = b->call;
    bool ok = cmd_bench_prepare(b) && run_all(b);
    bool was_interrupted = interrupted;
    crew_dismiss(b, ok);
    ok = ok && results_are_kept(&b->file, &call->st);
    if (ok && b->done_at_start > 0) note(call, "%zu runs were in the file already", b->done_at_start);
    if (ok && was_interrupted)
        note(call, "interrupted: %zu of %zu runs are done%s", b->done, b->total,
             b->file.fd >= 0 ? "; --resume goes on" : "");
    if (ok) mark_contradictions(&b->results);
    if (ok && !is_quiet(call)) ok = report_rows(call, &b->results, &call->out);
    if (ok && b->settings.suite) suite_add_news(&b->results, b->file.path, &call->out);
    bool bad = false;
    for (size_t i = 0; i < b->results.rows.count; i++) {
        enum outcome o = b->results.rows.at[i].outcome;
        bad |= o == OUTCOME_WRONG || o == OUTCOME_CRASH || o == OUTCOME_ERROR || o == OUTCOME_BAD_INPUT;
    }
    return !ok ? FAILED : was_interrupted ? EXIT_INTERRUPTED : bad ? EXIT_NO : EXIT_YES;
}

static int cmd_bench_run(struct call *call)
{
    struct bench b = {.call = call, .file = {.fd = -1}, .start = clock_seconds()};
    interrupted = 0;
    int code = FAILED;
    if (crew_join(&b) && b.crew.rank == 0)
        code = lead(&b);
    else if (b.crew.rank > 0) { /* makes the runs that rank 0 deals out; rank 0 reports errors */
        SCOPED(text_free) struct text header = {0};
        interrupt_catch(signals, SIGNALS, before);
        bool ok = make_list(&b, &header);
        crew_follow(&b, ok, ok ? header.at : "");
        interrupt_release(signals, SIGNALS, before);
        code = EXIT_YES;
    }
    results_close(&b.file);
    instance_release(b.last);
    mem_free(b.jobs);
    mem_free(b.crew.mates);
    VEC_FREE(&b.todo);
    VEC_FREE(&b.list);
    settings_free(&b.settings);
    results_free(&b.results);
    return code;
}

static const struct option_row *const tables[] = {bench_rows, bench_plan_rows, json_rows, quiet_rows,
                                                  help_rows,  model_rows,      NULL};

const struct command command_bench = {
    .name = "bench",
    .synopsis = "FILE|DIR ... | --suite [CLASS|INSTANCE ...] [-s A,B,...] [--seeds K] [--time S] [-j N | "
                "--transport mpi] [-o RESULTS "
                "[--resume]] [options]",
    .summary = "Run solvers on instances, each run in a process of its own, and compare them",
    .details =
        "All solvers answer one question: where to place the buffers of the graph with its usual work "
        "split,\n"
        "without nests. Every answer is checked again outside of the process that gave it. Outcomes: "
        "optimal,\n"
        "feasible, infeasible, none (gave up), timeout, memory, crash, error, wrong (refused by the "
        "checker,\n"
        "or contradicted by another answer), bad_input. Times are the solver's alone, without reading "
        "files.\n"
        "--suite takes the problems of patterns/suite instead of files (`lxplan suite` lists them), with a "
        "limit of\n"
        "1, 10 or 100 s of CPU by their size; whole plans are made by its classes graphs and time. What is "
        "better\n"
        "than all that is known is said at the end, with the command that records it.\n"
        "The memory limit counts what a run takes beyond the harness: allocations fail at it (RLIMIT_DATA),\n"
        "and a process whose resident set exceeds it is killed.\n"
        "Under mpirun, --transport mpi shares the runs among all ranks; rank 0 writes results and report.\n"
        "Exit code 0: all runs done; 1: some wrong, crashed, failed or unreadable; 130: interrupted "
        "(results\n"
        "so far are kept and reported).\n",
    .options = tables,
    .words = bench_words,
    .least_files = 0,
    .most_files = 1 << 20,
    .file_word = "FILE or DIR",
    .run = cmd_bench_run,
};
