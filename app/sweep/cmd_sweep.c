/* lxplan sweep: HBM bytes or time against the size of the scratchpad, and where the knee is. */
#include "sweep/crowd.h"
#include "sweep/sweep_out.h"
#include "commands/team_commands.h"
#include "bench/bench.h"
#include "interrupt.h"

#include <langinfo.h>
#include <unistd.h>

/* Default solvers: of a list also the quick one, which for a graph takes as long as the usual one. */
#define USUAL_SOLVERS "auto"
#define LIST_SOLVERS  "auto,bestfit"

enum { MOST_JOBS = 256, ENDS = 2 };

static const int ends[ENDS] = {SIGTERM, SIGHUP};

static const struct option_row rows_of_sweep[] = {
    {"lx", 0, "RANGE",
     "sizes of the scratchpad: 16k..2m, or a list like 64k,100k,1m (default: a 64th of the pattern's own up "
     "to all of it, and beyond where something still spills)"},
    {"cores", 0, "RANGE",
     "the same for several numbers of cores: 1..32 (doubled from one to the next) or 8,12,32"},
    {"steps", 0, "N", "sizes of a range, in equal proportions (default 40)"},
    {"solver", 's', "A,B,...",
     "the solvers, one line each (default " USUAL_SOLVERS "; of a list " LIST_SOLVERS ")"},
    {"option", 'O' | MORE, "SOLVER.NAME=VALUE", "an option of one solver; may be repeated"},
    {"value", 0, "WHAT", "the value that is shown: {} (default: time with --objective time, else hbm)"},
    {"format", 'f', "WHAT", "{default}"},
    {"svg", MORE, NULL, "the same as --format svg"},
    {"html", 0, NULL, "the same as --format html: one file with everything in it, for a browser"},
    {"width", MORE, "N", "width of the chart in characters, of the drawing in pixels"},
    {"height", MORE, "N", "rows of the chart, height of the drawing in pixels"},
    {"ascii", MORE, NULL, "no characters beyond ASCII in the chart"},
    {"team", 0, "RANGE",
     "predict teams instead: 1..256 (doubled from one to the next), or a list of numbers, each with its best "
     "grid, and of grids: 1,8,2x4"},
    {"team-by", MORE, "WORD",
     "choose shards of a team for fewest {} (default: time with --objective time, else bytes)"},
    {"jobs", 'j', "N", "processes that plan at the same time (default: one per processor)"},
    {"transport", MORE, "NAME", "{}: mpi plans with all processes of mpirun (default local)"},
    {0},
};

/* The library's options but for those above. */
static struct option_row sweep_plan_rows[LX_MOST_OPTIONS + 2];

void sweep_rows_begin(void)
{
    int n = 0;
    for (const struct option_row *r = planning_rows; r->name; r++)
        if (!find_row(rows_of_sweep, r->name)) sweep_plan_rows[n++] = *r;
}

static WORD_LIST(cmd_sweep_value_word, "hbm", "time")

    static const char *form_word(int k)
{
    return sweep_forms[k].name;
}

static const struct option_words words[] = {{"value", cmd_sweep_value_word},
                                            {"format", form_word},
                                            {"transport", ranks_transport_word},
                                            {"team-by", team_aim_word},
                                            {0}};

/* One of --format, --json, --svg and --html, the last word --format's; its size; and the processes. */
static bool read_output(struct call *call, struct crowd *c, const struct sweep_form **form,
                        struct sweep_paper *paper)
{
    static const char *const switches[] = {"json", "svg", "html"};
    int k = 0, given = 0;
    int64_t width = 0, height = 0;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (option_given(&call->line, switches[i]))
            for (k = 0, given++; strcmp(sweep_forms[k].name, switches[i]) != 0;) k++;
    if (given > 1)
        return status_set(&call->st, LX_E_USAGE,
                          "two forms of one answer; choose one of --json, --svg and --html");
    if (!option_word(call, "format", form_word, &k)) return false;
    bool text = k == 0;
    *form = &sweep_forms[k];
    if (!option_int(call, "width", text ? 40 : 300, text ? 400 : 20000, &width) ||
        !option_int(call, "height", text ? 8 : 200, text ? 200 : 20000, &height))
        return false;
    *paper = (struct sweep_paper){.width = (int)width, .height = (int)height};
    paper->ascii = option_given(&call->line, "ascii") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    if (goes_to_file(call) || !text) paint_off();
    c->jobs = processors < 1 ? 1 : processors > 16 ? 16 : processors;
    if (!option_int(call, "jobs", 1, MOST_JOBS, &c->jobs)) return false;
    return !c->ranks || !option_given(&call->line, "jobs") ||
           status_set(
               &call->st, LX_E_USAGE,
               "-j does not go with --transport mpi: each rank plans one size at a time; mpirun -n %lld "
               "for as many",
               (long long)c->jobs);
}

/* Sizes, cores, solvers and value of the sweep. */
static bool read_lines(struct call *call, const struct lx_graph *g, struct sweep *s)
{
    SCOPED(settings_free) struct settings how = {0};
    OWNED sweep_numbers sizes = {0}, cores = {0};
    int64_t steps = SWEEP_STEPS;
    const char *lx = option_value(&call->line, "lx"), *many = option_value(&call->line, "cores");
    OWNED struct lx_settings *solvers = NULL;
    bool ok = option_int(call, "steps", 1, SWEEP_MOST_STEPS, &steps) &&
              read_options_but(call, rows_of_sweep, &how.options) && settings_solvers(call, &how) &&
              (lx ? sweep_sizes_read("--lx", lx, steps, &sizes, &call->st)
                  : sweep_sizes_own(g, sweep_need(g, &how.options), steps, &sizes, &call->st));
    if (ok && lx_graph_pools(g))
        ok = status_set(&call->st, LX_E_USAGE,
                        "this list states pools with sizes of their own; state \"capacity\" instead of "
                        "\"pools\" to sweep it");
    if (ok && many && g->list)
        ok = status_set(&call->st, LX_E_USAGE,
                        "--cores: a list of buffers is of one scratchpad; leave it out");
    if (ok && many) ok = sweep_cores_read("--cores", many, &cores, &call->st);
    if (ok && lx_asked(lx_settings_ask(&how.options), lx_graph_objective(g)) == LX_HEIGHT)
        ok = status_set(&call->st, LX_E_USAGE,
                        "the least height does not depend on the size of the scratchpad; add --objective "
                        "traffic or --objective fit");
    solvers = mem_zeroed(how.solvers.count + 1, sizeof *solvers);
    for (size_t i = 0; ok && i < how.solvers.count; i++) solvers[i] = how.solvers.at[i].how;
    ok = ok && sweep_begin(s, g, solvers, (int)how.solvers.count, &sizes, &cores, &call->st);
    int value = lx_settings_ask(&how.options) == LX_ASK_TIME;
    const char *asked = NULL; /* the last one; NAME=N is about a model */
    for (size_t i = 0; i < call->line.options.count; i++) {
        const struct given_option *o = &call->line.options.at[i];
        if (strcmp(o->name, "value") == 0 && !strchr(o->value, '=')) asked = o->value;
    }
    bool known = ok && word_given(call, "value", asked, cmd_sweep_value_word, &value);
    if (ok && !known) sweep_free(s);
    s->by_time = value;
    if (known && s->by_time && g->list) {
        sweep_free(s);
        known = status_set(&call->st, LX_E_USAGE, "a list of buffers has no time; leave --value time out");
    }
    return known;
}

/* Context of the sweep's processes. */
struct hand_work {
    const struct sweep *sweep;
    const struct lx_plan *like;
    struct watch watch;
    pid_t parent; /* of the processes */
    bool show;
};

static bool cmd_sweep_stop_now(void *context)
{
    const struct hand_work *w = context;
    return interrupted || crowd_is_orphan(w->parent);
}

static void do_task(void *context, const void *task, void *result)
{
    struct hand_work *w = context;
    struct lx_run run = {.stop = cmd_sweep_stop_now, .context = w};
    sweep_do(w->sweep, task, &run, &w->like, result);
}

static void task_lost(void *context, const void *task, void *result)
{
    const struct sweep_task *t = task;
    struct sweep_value *v = result;
    (void)context;
    *v = (struct sweep_value){.lx = t->lx, .state = SWEEP_LOST};
    snprintf(v->why, sizeof v->why, "the process that planned it died");
}

static void show_done(void *context, size_t done, size_t all)
{
    struct hand_work *w = context;
    char line[80];
    if (!w->show || !watch_wants_line(&w->watch)) return;
    snprintf(line, sizeof line, "sweep: %zu of %zu plans", done, all);
    paint_progress(line);
}

/* Does the tasks, keeps the results, and empties the list. */
static bool sweep_tasks_do(struct call *call, struct crowd *c, struct sweep *s, sweep_tasks *tasks)
{
    OWNED struct sweep_value *values = mem_zeroed(tasks->count + 1, sizeof *values);
    bool ok = crowd_do(c, tasks->at, tasks->count, values, &call->st);
    for (size_t i = 0; ok && i < tasks->count; i++)
        if (values[i].state != SWEEP_UNKNOWN) sweep_keep(s, &tasks->at[i], &values[i]);
    VEC_FREE(tasks);
    return ok;
}

/* First the points, coarse to fine, then the searches. */
static bool sweep_all(struct call *call, struct crowd *c, struct sweep *s)
{
    sweep_tasks tasks = {0};
    bool ok = true;
    for (sweep_next(s, &tasks); ok && tasks.count > 0 && !interrupted; sweep_next(s, &tasks))
        ok = sweep_tasks_do(call, c, s, &tasks);
    VEC_FREE(&tasks);
    if (ok) sweep_searches(s, &tasks);
    return ok && sweep_tasks_do(call, c, s, &tasks);
}

/* Where nothing could be planned, the reason is the answer. */
static int cmd_sweep_answer(struct call *call, const struct sweep *s, const struct sweep_form *form,
                            const struct sweep_paper *paper)
{
    struct text out = {0};
    const struct sweep_value *last = NULL;
    bool any = false;
    for (size_t i = 0; i < s->lines.count * s->sizes.count; i++) {
        last = &s->lines.at[i / s->sizes.count].at[i % s->sizes.count];
        any |= last->state != SWEEP_REFUSED;
    }
    if (!any && last)
        status_set_at(&call->st, (enum lx_code)last->code, s->graph->file, 0, 0,
                      "no size gives a plan: %.150s", last->why);
    if (!any) return FAILED;
    form->write(s, paper, &out);
    if (is_quiet(call) && form == sweep_forms && !goes_to_file(call))
        text_free(&out);
    else if (!deliver(call, out.at, out.length))
        return FAILED;
    if (interrupted) note(call, "%s: interrupted; this is what was planned so far", s->graph->file);
    return interrupted ? EXIT_INTERRUPTED : EXIT_YES;
}

static int cmd_sweep_run(struct call *call)
{
    if (option_given(&call->line, "team")) return interrupted = 0, sweep_team(call);
    struct sweep s = {0};
    struct hand_work work = {
        .sweep = &s, .parent = getpid(), .show = paint_progress_possible() && !is_quiet(call)};
    struct crowd c = {.task_size = sizeof(struct sweep_task),
                      .result_size = sizeof(struct sweep_value),
                      .context = &work,
                      .work = do_task,
                      .lost = task_lost,
                      .done = show_done};
    const struct sweep_form *form = NULL;
    struct sweep_paper paper;
    int code = FAILED;
    interrupted = 0;
    if (!ranks_join(call, &c.ranks, &c.rank, &c.count)) return FAILED;
    bool ok = read_output(call, &c, &form, &paper);
    const struct lx_graph *g = ok ? read_graph(call, call->line.files.at[0]) : NULL;
    if (!option_given(&call->line, "solver"))
        VEC_PUSH(&call->line.options,
                 (struct given_option){"solver", g && g->list ? LIST_SOLVERS : USUAL_SOLVERS});
    ok = g && read_lines(call, g, &s);
    lx_graph_free(g);
    struct sigaction before[ENDS];
    watch_begin(&work.watch, 0);
    interrupt_catch(ends, ENDS, before); /* they end it in order: no process is left behind */
    if (c.rank > 0)
        crowd_serve(&c, ok), code = EXIT_YES;
    else {
        ok = ok && sweep_all(call, &c, &s);
        crowd_dismiss(&c);
    }
    interrupt_release(ends, ENDS, before);
    watch_end(&work.watch);
    if (ok && c.rank == 0) code = cmd_sweep_answer(call, &s, form, &paper);
    lx_plan_free(work.like);
    sweep_free(&s);
    return code;
}

static const struct option_row *const tables[] = {rows_of_sweep, sweep_plan_rows, output_rows, json_rows,
                                                  quiet_rows,    help_rows,       model_rows,  NULL};

const struct command command_sweep = {
    .name = "sweep",
    .synopsis = "FILE [--lx 16k..2m] [--cores 1..32] [-s A,B,...] [--steps N] [--value hbm|time] [options]",
    .summary = "Plan a pattern with many sizes of scratchpad, and find the size from which on nothing spills",
    .details =
        "One line per solver (and number of cores), and the proven lower bound. The size from which on "
        "nothing\n"
        "spills, and the size below which there is no plan, are found to the byte. Lists of buffers are "
        "swept\n"
        "over their capacity. With --team the pattern is planned for teams of several sizes, each on its "
        "best\n"
        "grid: predicted time and its lower bound, exchanged bytes, HBM bytes per device and efficiency;\n"
        "nothing is executed. The answer does not depend on -j. Under mpirun, --transport mpi shares the\n"
        "plans among all ranks.\n",
    .options = tables,
    .words = words,
    .least_files = 1,
    .most_files = 1,
    .file_word = "FILE",
    .run = cmd_sweep_run,
    .more_help = device_help,
};
