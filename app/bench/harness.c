/* The runs of one process: begins them, watches them, judges them, and hands each row to the results file or,
 * in a process that shares the work of another, to that one. */
#include "bench/harness.h"
#include "text/colour.h"
#include "text/format.h"

#include <poll.h>

/* The order of the runs. Repeats and seeds are the outer loops, so that the runs of one cell are far apart
 * and a slow minute of the machine hits everyone; solvers alternate on each instance, beginning with another
 * one each time, so that none always runs on a warm or a cold machine. The order depends on nothing else. */

static bool run_order_answers(const struct lx_solver *s, enum lx_objective o)
{
    static const unsigned needed[] = {
        [LX_SPILL] = LX_CAN_SPILL, [LX_FIT] = LX_CAN_FIT, [LX_HEIGHT] = LX_CAN_HEIGHT};
    return s->caps & needed[o];
}

void schedule_make(struct call *call, const struct settings *s, const instances *list, schedule *out)
{
    int32_t count = (int32_t)s->solvers.count;
    for (int32_t k = 0; k < count; k++)
        for (int o = LX_SPILL; o <= LX_HEIGHT; o++) {
            int64_t skipped = 0;
            for (size_t i = 0; i < list->count; i++)
                skipped += !list->at[i].bad && list->at[i].objective == (enum lx_objective)o;
            if (skipped && !run_order_answers(s->solvers.at[k].solver, (enum lx_objective)o))
                note(call, "%s does not answer the %s question: not run on %lld instances",
                     s->solvers.at[k].solver->name, lx_objective_word((enum lx_objective)o),
                     (long long)skipped);
        }
    for (int32_t repeat = 0; repeat < s->repeats; repeat++)
        for (int32_t seed = 0; seed < s->seeds; seed++)
            for (int32_t i = 0; i < (int32_t)list->count; i++) {
                if (list->at[i].bad && seed + repeat == 0) VEC_PUSH(out, (struct planned){i, -1, 0, 0});
                for (int32_t k = 0; !list->at[i].bad && k < count; k++) {
                    int32_t solver = (k + i + seed + repeat) % count;
                    const struct lx_solver *l = s->solvers.at[solver].solver;
                    if (run_order_answers(l, list->at[i].objective) && (seed == 0 || l->caps & LX_IS_SEEDED))
                        VEC_PUSH(out, (struct planned){i, solver, seed, repeat});
                }
            }
}

const char *solver_name(const struct bench *b, const struct planned *p)
{
    return p->solver < 0 ? "" : b->settings.solvers.at[p->solver].solver->name;
}

const char *config_of(const struct bench *b, const struct planned *p)
{
    return p->solver < 0 ? "" : b->settings.solvers.at[p->solver].config;
}

int64_t seed_of(const struct bench *b, const struct planned *p)
{
    return p->solver < 0 ? 0 : b->settings.seed + p->seed_index;
}

static void harness_name_row(const struct bench *b, const struct planned *p, struct row *row)
{
    const struct instance *n = &b->list.at[p->instance];
    *row = (struct row){.instance = n->path,
                        .hash = n->hash,
                        .name = n->name,
                        .buffers = n->buffers,
                        .capacity = n->capacity,
                        .question = n->bad     ? ""
                                    : n->whole ? lx_ask_word(n->whole)
                                               : lx_objective_word(n->objective),
                        .solver = solver_name(b, p),
                        .config = config_of(b, p),
                        .seed = seed_of(b, p),
                        .repeat = p->repeat,
                        .status = "",
                        .claim = "",
                        .stats = "{}",
                        .message = "",
                        .class = n->class,
                        .known_status = n->known_status,
                        .answer = "",
                        .known = n->known,
                        .known_bound = n->known_bound,
                        .has_known = n->has_known,
                        .has_known_bound = n->has_known_bound,
                        .has_limit = n->class[0],
                        .time_limit = n->limit};
}

static bool keep_row(struct bench *b, const struct row *row)
{
    if (b->crew.rank > 0) return crew_send_row(b, row);
    b->done++;
    VEC_PUSH(&b->results.rows, *row);
    return results_append(&b->file, row, &b->call->st);
}

bool begin_run(struct bench *b, struct job *j, const struct planned *p, bool recorded)
{
    const struct instance *n = &b->list.at[p->instance];
    char words[1200];
    lx_status st = {0};
    if (!n->bad) {
        j->run = *p;
        j->recorded = recorded;
        if (!b->last || b->last->of != n) {
            instance_release(b->last);
            b->last = instance_load(n, &b->settings, &st);
        }
        if (b->last) b->last->users++;
        j->instance = b->last;
        if (j->instance && !interrupted && /* which makes its layouts less good */
            job_start(j, &b->settings, &b->settings.solvers.at[p->solver], (uint64_t)seed_of(b, p), &st)) {
            b->active++;
            return true;
        }
        instance_release(j->instance);
        j->instance = NULL;
    }
    if (!recorded || interrupted) return true;
    /* A run that cannot begin is a result too, and no reason to stop the others. */
    struct row row;
    harness_name_row(b, p, &row);
    row.outcome = n->bad ? OUTCOME_BAD_INPUT : OUTCOME_ERROR;
    row.message =
        arena_string(&b->results.memory, n->bad ? n->bad : lx_status_describe(&st, words, sizeof words));
    return keep_row(b, &row);
}

static bool harness_end_run(struct bench *b, struct job *j)
{
    struct row row;
    bool ok = true;
    harness_name_row(b, &j->run, &row);
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

static void harness_show_progress(struct bench *b)
{
    double now = clock_seconds(), spent = now - b->start;
    if (!b->show || now < b->next_progress) return;
    b->next_progress = now + 0.2;
    size_t fresh = b->done - b->done_at_start;
    char left[40] = "", line[300];
    if (fresh > 0) {
        double s = spent / (double)fresh * (double)(b->total - b->done);
        bool hours = s >= 3600, minutes = s >= 60;
        snprintf(left, sizeof left, ", %.*f %s to go", hours,
                 hours     ? s / 3600
                 : minutes ? s / 60
                           : s,
                 hours     ? "h"
                 : minutes ? "min"
                           : "s");
    }
    int n = snprintf(line, sizeof line, "%zu of %zu runs%s", b->done, b->total, left);
    for (int64_t i = 0; i < b->settings.jobs && n > 0 && n < 200; i++)
        if (b->jobs[i].active) {
            const struct job *j = &b->jobs[i];
            struct lx_progress so_far = {.objective = INT64_MAX};
            if (j->live)
                so_far = (struct lx_progress){
                    j->live->steps, j->live->objective, j->live->bound, NULL, NULL, NULL};
            OWNED char *name = printable(b->list.at[j->run.instance].name, 30);
            n += snprintf(line + n, sizeof line - (size_t)n, "; %.30s on %.60s (%s)", solver_name(b, &j->run),
                          name ? name : "?", progress_words(now - j->start, &so_far).at);
        }
    int helpers = 0;
    for (int r = 1; r < b->crew.count; r++) helpers += b->crew.mates[r].state == MATE_BUSY;
    if (helpers > 0 && n > 0 && n < 250)
        snprintf(line + n, sizeof line - (size_t)n, "; %d other ranks at work", helpers);
    paint_progress(line);
}

bool poll_jobs(struct bench *b)
{
    bool ok = true;
    /* Sleeps until a pipe has news; a process whose pipe is closed already ends within a blink. */
    struct pollfd fds[256];
    nfds_t n = 0;
    /* A rank without a run must not wait long for its next. */
    int patience = b->crew.count > 1 && (b->crew.rank == 0 || b->active == 0) ? 1 : 10;
    for (int64_t i = 0; i < b->settings.jobs; i++) {
        if (!b->jobs[i].active) continue;
        if (b->jobs[i].fd >= 0)
            fds[n++] = (struct pollfd){.fd = b->jobs[i].fd, .events = POLLIN};
        else
            patience = 1;
    }
    poll(fds, n, patience);
    for (int64_t i = 0; i < b->settings.jobs; i++)
        if (b->jobs[i].active && job_poll(&b->jobs[i], &b->settings))
            ok = harness_end_run(b, &b->jobs[i]) && ok;
    harness_show_progress(b);
    return ok;
}

void stop_jobs(struct bench *b)
{
    int was_interrupted = interrupted;
    for (int64_t i = 0; b->active > 0 && i < b->settings.jobs; i++)
        if (b->jobs[i].active) job_kill(&b->jobs[i]);
    while (b->active > 0) {
        interrupted = 1; /* nothing that was killed here is recorded */
        poll_jobs(b);
    }
    interrupted = was_interrupted;
}

bool run_list(struct bench *b, const schedule *list, bool recorded)
{
    bool ok = true;
    for (size_t next = 0; ok && !interrupted && (next < list->count || b->active > 0);) {
        for (int64_t i = 0; i < b->settings.jobs && ok && !interrupted && next < list->count; i++)
            if (!b->jobs[i].active) ok = begin_run(b, &b->jobs[i], &list->at[next++], recorded);
        if (ok && b->active > 0) ok = poll_jobs(b);
    }
    stop_jobs(b);
    return ok;
}

bool warm_up(struct bench *b)
{
    OWNED schedule warm = {0};
    for (int64_t k = 0; k < b->settings.warmup && b->todo.count > 0; k++)
        for (size_t i = 0; i < b->todo.count; i++) {
            const struct planned *p = &b->todo.at[i];
            if (p->instance == b->todo.at[0].instance && p->solver >= 0 && p->seed_index == 0 &&
                p->repeat == 0)
                VEC_PUSH(&warm, *p);
        }
    return run_list(b, &warm, false);
}
