/* lxplan run, of a team: a pattern cut and planned, or a team's plan, executed by its members. Under mpirun
 * every process runs this; only the one of member 0, which has the gathered results, says anything. */
#include "commands/team_commands.h"
#include "interrupt.h"
#include "planning/planning.h"
#include "planning/show_plan.h"

const struct option_row device_team_rows[] = {
    {"transport", MORE, "NAME",
     "transport between devices: threads of this process, or mpi, one process each (default under mpirun)"},
    {"patience", MORE, "SECONDS", "seconds until a device gives up waiting for another (default 5)"},
    {0},
};

WORD_LIST(transport_word, "threads", "mpi")

bool wants_team(const struct call *call)
{
    return option_given(&call->line, "team") || option_given(&call->line, "transport") || lx_started_by_mpi();
}

static bool team_running_read_run(struct call *call, struct lx_team_run_options *run)
{
    const char *name = option_value(&call->line, "transport"),
               *patience = option_value(&call->line, "patience");
    double seconds = 0;
    int64_t seed = 0;
    run->transport = name ? lx_transport_find(name, &call->st) : lx_transport_usual(&call->st);
    if (!run->transport || !option_int(call, "data", 0, LX_INT_MAX, &seed) ||
        (patience && !lx_parse_number("--patience", patience, &seconds, &call->st)))
        return false;
    if (patience && !(seconds > 0 && seconds <= 86400))
        return status_set(&call->st, LX_E_USAGE, "--patience %s: it must be above 0, and at most 86400",
                          patience);
    int verify = 0;
    if (!option_word(call, "verify", verify_word, &verify)) return false;
    run->verify = (enum lx_verify)verify;
    run->seed = (uint64_t)seed;
    run->timeout_ms = (int)(seconds * 1000);
    return true;
}

/* Runs it; false: it could not be run to its end. */
static bool execute_team(struct call *call, const struct lx_team_plan *p, struct lx_team_run_options *run,
                         int *code)
{
    SCOPED(lx_team_result_free) struct lx_team_result r = {0};
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct watch watch;
    const char *path = option_value(&call->line, "trace");
    run->plan = &plan;
    bool ok = read_plan_options(call, p->graph, &plan, values);
    if (ok && interrupted) ok = status_set(&call->st, LX_E_STOPPED, "stopped while planning");
    if (ok && !run->transport->devices) { /* processes of mpirun end together, by its hand */
        run->stop = plan.run.stop = watch_must_stop;
        run->context = plan.run.context = &watch;
        watch_begin(&watch, 0);
        ok = lx_team_run(p, run, &r, &call->st);
        watch_end(&watch);
    } else
        ok = ok && lx_team_run(p, run, &r, &call->st);
    if (ok && !r.compared)
        *code = EXIT_YES;
    else if (ok) {
        size_t length = 0;
        OWNED char *trace = path ? lx_team_trace(run->plans, &length) : NULL;
        bool kept = !path || (trace && keep_file(call, path, trace, length));
        if (kept && wants_json(call))
            team_result_to_json(p, &r, &call->out);
        else if (kept && !is_quiet(call))
            show_team_result(p, run->transport, &r, &call->out);
        *code = !kept ? FAILED : r.ok ? EXIT_YES : EXIT_NO;
    }
    return ok;
}

/* Other processes must not wait for this one: where it fails, it says so now, and ends them. An error that
 * all ranks see at once (bad input, wrong number of processes) needs no abort. */
static int leave_team(struct call *call, const struct lx_transport *transport, bool ran, int code)
{
    bool many = transport && transport->devices,
         fails = many && (call->st.code == LX_E_NO || (!ran && call->st.code != LX_E_USAGE));
    if (!fails && (!transport || transport->end(true, &call->st))) return code;
    note(call, "%s", call->st.text);
    transport->end(false, &call->st);
    return EXIT_NO;
}

int run_team(struct call *call, const struct source *from)
{
    struct lx_team_options how = {0};
    struct lx_team_run_options run = {0};
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    int code = FAILED;
    bool ok = team_running_read_run(call, &run) && read_team(call, run.transport, &how);
    SCOPED(graph_free_at) const struct lx_graph *g = ok ? pattern_of_text(call, from) : NULL;
    lx_status before = call->st;
    bool planned = g && read_plan_options(call, g, &plan, values);
    if (!planned || !read_team_aim(call, plan.objective, &how.by_time)) how.by_time = false;
    call->st = before; /* said where the options are used */
    if (g) {
        /* As many processes as the pattern's grid has devices are that grid. */
        struct lx_team_grid grid = {.axes = g->grid_axes};
        memcpy(grid.size, g->grid, sizeof grid.size);
        if (!option_given(&call->line, "team") && g->grid_axes > 0 &&
            lx_team_device_count(&grid) == how.devices)
            how.grid = grid;
    }
    /* Where time counts, plans of all members decide which cuts it has, and a trace shows them all; else each
     * member makes its own. */
    bool together = g && (how.by_time || option_given(&call->line, "trace")),
         many = g && run.transport->devices;
    struct lx_team_plans *plans = NULL;
    struct lx_team_plan *own = NULL;
    if (together && !planned)
        (void)read_plan_options(call, g, &plan, values);
    else if (together && many && !how.by_time) { /* cuts that depend on no process's clock */
        struct lx_team_plan *team = lx_team_make(g, &how, &call->st);
        plans = team ? lx_team_plans_make(team, &plan, &call->st) : NULL;
    } else if (together)
        plans =
            many ? lx_team_plans_choose(g, &how, &plan, &call->st) : plan_team_watched(call, g, &how, &plan);
    else if (g)
        own = lx_team_make(g, &how, &call->st);
    const struct lx_team_plan *p = plans ? plans->team : own;
    run.plans = plans;
    bool ran = p && execute_team(call, p, &run, &code);
    ok = ok && p;
    lx_team_plans_free(plans);
    lx_team_free(own);
    /* Bad input is seen by all ranks. */
    return leave_team(call, run.transport, ran || !ok, code);
}

int run_team_plan(struct call *call, const struct source *from)
{
    struct lx_team_run_options run = {0};
    struct lx_team_options asked = {0};
    int code = FAILED;
    struct lx_team_plans *p = no_planning_options(call, from->file) && team_running_read_run(call, &run)
                                  ? lx_team_plans_parse(from->file, from->text, from->length, &call->st)
                                  : NULL;
    bool ok = p && (!option_given(&call->line, "team") || read_team(call, NULL, &asked));
    if (ok && asked.devices && asked.devices != p->team->devices)
        ok = status_set_at(&call->st, LX_E_USAGE, from->file, 0, 0,
                           "this plan is of a team of %d; leave --team out", p->team->devices);
    run.plans = p;
    bool ran = ok && execute_team(call, p->team, &run, &code);
    lx_team_plans_free(p);
    return leave_team(call, run.transport, ran || !ok, code);
}
