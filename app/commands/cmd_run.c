/* lxplan run: a plan is executed on the simulated device, verified, and what it moved is printed. */
#include "planning/planning.h"
#include "interrupt.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/checked.h"
#include "base/memory.h"
#include "text/colour.h"
#include "planning/show_plan.h"
#include "commands/team_commands.h"
#include "text/format.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct option_row rows[] = {
    {"verify", 0, "WHAT",
     "compare with fp64 within a proved tolerance: full, every op and the outputs end to end (default); ops; "
     "outputs, the ops that write outputs, and the outputs end to end; none"},
    {"trace", 0, "FILE",
     "write the run as trace events (Chrome, Perfetto); for a team its predicted time line, a process per "
     "device"},
    {"data", 0, "N", "seed of the input data (default 0)"},
    {"threads", 'j', "N", "threads of this machine (default: as many as it has, at most 8)"},
    {"all", 'a', NULL, "list every op, not only the busiest"},
    {0},
};

static const struct option_words words[] = {
    {"verify", verify_word}, {"transport", transport_word}, {"team-by", team_aim_word}, {0}};

static void cmd_run_show_progress(void *context, int32_t done, int32_t ops)
{
    char line[100];
    if (!watch_wants_line(context)) return;
    snprintf(line, sizeof line, "op %d of %d", (int)done, (int)ops);
    paint_progress(line);
}

static struct lx_run_result *cmd_run_execute(struct call *call, const struct lx_plan *p)
{
    struct watch watch = {0};
    struct lx_device_options how = {.stop = watch_must_stop, .context = &watch};
    how.in_use = option_value(&call->line, "trace") != NULL;
    enum { MOST_BY_DEFAULT = 8, MOST = 256 };
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t seed = 0, threads = online < 1 ? 1 : online > MOST_BY_DEFAULT ? MOST_BY_DEFAULT : online;
    if (!option_int(call, "data", 0, LX_INT_MAX, &seed) || !option_int(call, "threads", 1, MOST, &threads))
        return NULL;
    how.seed = (uint64_t)seed;
    how.threads = (int)threads;
    int v = 0;
    if (!option_word(call, "verify", verify_word, &v)) return NULL;
    how.verify = (enum lx_verify)v;

    if (paint_progress_possible() && !is_quiet(call)) how.progress = cmd_run_show_progress;
    interrupted = 0; /* a plan that was cut short is executed all the same */
    watch_begin(&watch, 0);
    struct lx_run_result *r = lx_device_run(p, &how, &call->st);
    watch_end(&watch);
    return r;
}

static bool cmd_run_write_trace(struct call *call, const struct lx_plan *p, const struct lx_run_result *r)
{
    const char *path = option_value(&call->line, "trace");
    size_t length;
    if (!path) return true;
    char *trace = lx_run_trace(p, r, &length);
    bool ok = keep_file(call, path, trace, length);
    mem_free(trace);
    return ok;
}

/* Refuses options that would be ignored: some are for a team only, some for one device. */
static bool options_go_together(struct call *call, bool team)
{
    static const char *const of_team[] = {"team", "cut", "team-by", "transport", "patience"};
    static const char *const of_one[] = {"threads", "all"};
    for (size_t i = 0; !team && i < sizeof of_team / sizeof *of_team; i++)
        if (option_given(&call->line, of_team[i]))
            return status_set(&call->st, LX_E_USAGE,
                              "--%s goes with --team and a pattern, or with a team's plan", of_team[i]);
    for (size_t i = 0; team && i < sizeof of_one / sizeof *of_one; i++)
        if (option_given(&call->line, of_one[i]))
            return status_set(&call->st, LX_E_USAGE,
                              "--%s is of a run on one device and does not go with --team", of_one[i]);
    return true;
}

static int run_one(struct call *call, const char *file, const char *text, size_t length)
{
    enum { MOST_OPS = 30 };
    struct lx_plan *p = plan_of_text(call, file, text, length);
    struct lx_run_result *r = p ? cmd_run_execute(call, p) : NULL;
    int code = FAILED;
    if (r && cmd_run_write_trace(call, p, r)) {
        code = r->ok ? EXIT_YES : EXIT_NO;
        if (wants_json(call))
            run_to_json(p, r, &call->out);
        else if (!is_quiet(call))
            show_run(p, r, option_given(&call->line, "all") ? 0 : MOST_OPS, &call->out);
    }
    lx_run_result_free(r);
    lx_plan_free(p);
    return code;
}

static int cmd_run(struct call *call)
{
    const char *path = call->line.files.at[0], *file = strcmp(path, "-") == 0 ? "standard input" : path;
    size_t length;
    char *text = file_read(path, &length, &call->st);
    if (!text) return FAILED;
    bool team_plan = lx_is_team_plan(text, length), team = !lx_is_plan(text, length) && wants_team(call);
    int code = FAILED;
    if (options_go_together(call, team || team_plan))
        code = team_plan ? run_team_plan(call, file, text, length)
               : team    ? run_team(call, file, text, length)
                         : run_one(call, file, text, length);
    mem_free(text);
    return code;
}

static const struct option_row *const tables[] = {
    rows, team_rows, member_rows, planning_rows, json_rows, quiet_rows, help_rows, model_rows, NULL};

const struct command command_run = {
    .name = "run",
    .synopsis = "FILE|PLAN [--verify full|ops|outputs|none] [--trace FILE] [--team N] [options]",
    .summary = "Execute a plan on the simulated device, verify it, and count what it moves",
    .details =
        "A pattern is planned first. The device moves real bytes at the planned addresses and tracks the "
        "owner\n"
        "of each. Every op is compared with fp64 on the device's own inputs: each element must be within a\n"
        "tolerance that is proved for its arithmetic, and data that only moves must keep its bits. Counted\n"
        "bytes must equal the plan's. With --team N the devices' result is compared with one device's.\n"
        "Exit code 0: all agree; 1: a fault, a wrong result or a wrong count; 130: interrupted.\n",
    .options = tables,
    .words = words,
    .least_files = 1,
    .most_files = 1,
    .file_word = "FILE",
    .run = cmd_run,
    .more_help = device_help,
};
