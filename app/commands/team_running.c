/* lxplan run, of a team: a pattern cut and planned, or a team's plan, executed by its members. Under mpirun every process
 * runs this; only the one of member 0, which has the gathered results, says anything. */
#include "commands/team_commands.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "interrupt.h"
#include "planning/planning.h"
#include "planning/show_plan.h"

#include <string.h>

const struct option_row member_rows[] = {
    {"transport", MORE, "NAME",
     "transport between devices: threads of this process, or mpi, one process each (default under mpirun)"},
    {"patience", MORE, "SECONDS", "seconds until a device gives up waiting for another (default 5)"},
    {0},
};

const char *transport_word(int k)
{
    const struct lx_transport *const *t = lx_transports();
    while (k-- > 0 && *t) t++;
    return *t ? (*t)->name : NULL;
}

bool wants_team(const struct call *call)
{
    const struct lx_transport *usual = lx_transport_usual();
    return option_given(&call->line, "team") || option_given(&call->line, "transport") || usual->devices;
}

static bool team_running_read_run(struct call *call, struct lx_team_run_options *run)
{
    const char *name = option_value(&call->line, "transport"),
               *patience = option_value(&call->line, "patience");
    double seconds = 0;
    int64_t seed = 0;
    run->transport = name ? lx_transport_find(name, &call->st) : lx_transport_usual();
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

static bool write_team_trace(struct call *call, const struct lx_team_plans *p)
{
    const char *path = option_value(&call->line, "trace");
    size_t length = 0;
    if (!path) return true;
    char *trace = lx_team_trace(p, &length);
    bool ok = trace && keep_file(call, path, trace, length);
    mem_free(trace);
    return ok;
}

static int show_run_of_team(struct call *call, const struct lx_team_plan *p,
                            const struct lx_team_run_options *run, const struct lx_team_result *r)
{
    if (!r->compared) return EXIT_YES;
    if (!write_team_trace(call, run->plans)) return FAILED;
    if (wants_json(call))
        team_result_to_json(p, r, &call->out);
    else if (!is_quiet(call))
        show_team_result(p, run->transport, r, &call->out);
    return r->ok ? EXIT_YES : EXIT_NO;
}

/* Runs it; false: it could not be run to its end. */
static bool execute_team(struct call *call, const struct lx_team_plan *p, struct lx_team_run_options *run,
                         int *code)
{
    struct lx_team_result r = {0};
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    struct watch watch;
    run->plan = &plan;
    bool ok = read_plan_options(call, p->graph, &plan, values);
    if (ok && !run->transport->started) { /* processes of mpirun end together, by its hand */
        interrupted = 0;                  /* a plan that was cut short is executed all the same */
        run->stop = plan.run.stop = watch_must_stop;
        run->context = plan.run.context = &watch;
        watch_begin(&watch, 0);
        ok = lx_team_run(p, run, &r, &call->st);
        watch_end(&watch);
    } else
        ok = ok && lx_team_run(p, run, &r, &call->st);
    if (ok) *code = show_run_of_team(call, p, run, &r);
    lx_team_result_free(&r);
    return ok;
}

/* Other processes must not wait for this one: say it now, and end them. */
static int give_up_team(struct call *call, const struct lx_transport *transport)
{
    note(call, "%s", call->st.text);
    transport->end(false, &call->st);
    return EXIT_NO;
}

/* An error that all ranks see at once (bad input, wrong number of processes) needs no abort. */
static int leave_team(struct call *call, const struct lx_transport *transport, bool ran, int code)
{
    bool many = transport && transport->started;
    if (many && (call->st.code == LX_E_NO || (!ran && call->st.code != LX_E_USAGE)))
        return give_up_team(call, transport);
    if (transport && !transport->end(true, &call->st)) return give_up_team(call, transport);
    return code;
}

static bool asks_for_time(struct call *call, const struct lx_graph *g)
{
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    lx_status before = call->st;
    bool time = false;
    if (!read_plan_options(call, g, &plan, values) || !read_team_aim(call, plan.objective, &time))
        time = false;
    call->st = before; /* said where the options are used */
    return time;
}

static struct lx_team_plans *chosen_plans(struct call *call, const struct lx_graph *g,
                                          const struct lx_transport *transport,
                                          const struct lx_team_options *how)
{
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    if (!read_plan_options(call, g, &plan, values)) return NULL;
    if (transport->started && !how->by_time) { /* cuts that depend on no process's clock */
        struct lx_team_plan *team = lx_team_make(g, how, &call->st);
        return team ? lx_team_plans_make(team, &plan, &call->st) : NULL;
    }
    return transport->started ? lx_team_plans_choose(g, how, &plan, &call->st)
                              : plan_team_watched(call, g, how, &plan);
}

int run_team(struct call *call, const char *file, const char *text, size_t length)
{
    struct lx_team_options how;
    struct lx_team_run_options run = {0};
    int code = FAILED;
    bool ok = team_running_read_run(call, &run) && read_team(call, run.transport, &how);
    const struct lx_graph *g = ok ? pattern_of_text(call, file, text, length) : NULL;
    how.by_time = g && asks_for_time(call, g);
    if (g) {
        /* As many processes as the pattern's grid has devices are that grid. */
        struct lx_team_grid grid = {.axes = g->grid_axes};
        memcpy(grid.size, g->grid, sizeof grid.size);
        if (!option_given(&call->line, "team") && g->grid_axes > 0 &&
            lx_team_device_count(&grid) == how.devices)
            how.grid = grid;
    }
    /* Where time counts, plans of all members decide which cuts it has, and a trace shows them all; else each member
     * makes its own. */
    bool together = g && (how.by_time || option_given(&call->line, "trace"));
    struct lx_team_plans *plans = together ? chosen_plans(call, g, run.transport, &how) : NULL;
    struct lx_team_plan *own = g && !together ? lx_team_make(g, &how, &call->st) : NULL;
    const struct lx_team_plan *p = plans ? plans->team : own;
    run.plans = plans;
    bool ran = p && execute_team(call, p, &run, &code);
    ok = ok && p;
    lx_team_plans_free(plans);
    lx_team_free(own);
    lx_graph_free(g);
    /* Bad input is seen by all of them as well. */
    return leave_team(call, run.transport, ran || !ok, code);
}

int run_team_plan(struct call *call, const char *file, const char *text, size_t length)
{
    struct lx_team_run_options run = {0};
    struct lx_team_options asked = {0};
    int code = FAILED;
    struct lx_team_plans *p = no_planning_options(call, file) && team_running_read_run(call, &run)
                                  ? lx_team_plans_parse(file, text, length, &call->st)
                                  : NULL;
    bool ok = p && (!option_given(&call->line, "team") || read_team(call, NULL, &asked));
    if (ok && asked.devices && asked.devices != p->team->devices)
        ok = status_set_at(&call->st, LX_E_USAGE, file, 0, 0,
                           "this plan is of a team of %d; leave --team out", p->team->devices);
    run.plans = p;
    bool ran = ok && execute_team(call, p->team, &run, &code);
    lx_team_plans_free(p);
    return leave_team(call, run.transport, ran || !ok, code);
}
