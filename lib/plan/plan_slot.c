/* Plans with a deadline, or with a way to interrupt them: a worker makes them and offers plans on the way. */
#include "plan/plan_slot.h"
#include "base/slot.h"
#include "plan/options.h"
#include "plan/plan_make.h"

/* Owned by the worker, except `asked`, which only the waiting thread reads. */
struct plan_job {
    const struct plan_task *task;
    const struct lx_graph *graph;
    struct lx_plan_options options;
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    void *more;
    const struct lx_run *asked;
};

struct plan_report {
    const struct lx_run *to;
    const struct lx_progress *so_far;
};

static void report_make(void *argument)
{
    const struct plan_report *report = argument;
    report->to->progress(report->to->context, report->so_far);
}

static void job_progress(void *context, const struct lx_progress *so_far)
{
    const struct plan_job *job = context;
    struct plan_report report = {job->asked, so_far};
    slot_call(report_make, &report);
}

static bool job_is_cancelled(void *context)
{
    (void)context;
    return cancel_requested();
}

static struct plan_job *job_new(const struct plan_task *task, const struct lx_graph *g,
                                const struct lx_plan_options *options, const void *more)
{
    struct plan_job *job = mem_alloc(sizeof *job);
    *job = (struct plan_job){
        .task = task, .graph = lx_graph_ref(g), .options = *options, .asked = &options->run};
    job->more = task->copy ? task->copy(more) : NULL;
    job->options.like = lx_plan_ref(options->like);
    job->options.run.context = job;
    job->options.run.stop = job_is_cancelled;
    if (options->run.progress) job->options.run.progress = job_progress;
    if (options->run.options && options->solver) {
        memcpy(job->values, options->run.options,
               (size_t)options->solver->option_count * sizeof *job->values);
        job->options.run.options = job->values;
    }
    return job;
}

static void *job_make(void *argument, lx_status *st)
{
    const struct plan_job *job = argument;
    return job->task->make(job->graph, &job->options, job->more, st);
}

static void job_end(void *argument)
{
    OWNED struct plan_job *job = argument;
    lx_graph_free(job->graph);
    lx_plan_free(job->options.like);
    mem_free(job->more);
}

void *plan_in_slot(const struct plan_task *task, const struct lx_graph *g,
                   const struct lx_plan_options *options, const void *more, lx_status *st)
{
    const struct lx_run *run = &options->run;
    if ((!run->stop && run->time_limit <= 0) || slot_is_here()) return task->make(g, options, more, st);
    struct border border;
    if (border_begin(&border) != 0) memory_out();
    struct plan_job *job = job_new(task, g, options, more);
    border_end_released(&border); /* the worker owns `job` now */
    struct slot_work work = {job_make, task->drop, job_end, job, run->stop, run->context, run->time_limit};
    return slot_run(&work, st);
}

struct lx_run plan_run_share(const struct lx_run *run, int plans)
{
    const double least = 1e-3; /* 0 would be no limit */
    struct lx_run share = *run;
    double left = cancel_seconds_left();
    if (!isinf(left)) share.time_limit = fmax(left / plans, least);
    share.quick |= cancel_requested() || lx_run_stopped(run);
    return share;
}

/* --- Plans of one device. --- */

/* A plan that was offered is ready, and never changed. */
static void make_ready(const struct lx_plan_options *options, struct lx_plan *p)
{
    if (p && !p->ready && options->make_ready) options->make_ready(p);
}

static void *make_best(const struct lx_graph *g, const struct lx_plan_options *options, const void *more,
                       lx_status *st)
{
    (void)more;
    struct lx_plan *p = options->objective == LX_ASK_BALANCED ? plan_balanced(g, options, st)
                        : options->objective == LX_ASK_TIME   ? plan_fastest(g, options, st)
                                                              : plan_best(g, options, st);
    make_ready(options, p);
    return p;
}

static void drop_plan(void *plan)
{
    lx_plan_free(plan);
}

static const struct plan_task one_plan = {make_best, drop_plan, NULL};

struct lx_plan *lx_plan_make(const struct lx_graph *g, const struct lx_plan_options *options, lx_status *st)
{
    return plan_in_slot(&one_plan, g, options, NULL, st);
}

bool plan_is_awaited(void)
{
    const struct plan_job *job = slot_job();
    return job && job->task == &one_plan;
}

bool plan_offer_is_wanted(void)
{
    return plan_is_awaited() && slot_wants_result();
}

void plan_offer(struct lx_plan *p)
{
    if (!plan_is_awaited()) {
        lx_plan_free(p);
        return;
    }
    make_ready(&((const struct plan_job *)slot_job())->options, p);
    slot_offer(p);
}

struct lx_plan *plan_offer_twin(struct lx_plan *p)
{
    if (!plan_is_awaited()) return p;
    struct lx_plan *twin = plan_twin(p);
    plan_offer(p);
    return twin;
}
