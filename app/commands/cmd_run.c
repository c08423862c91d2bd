/* lxplan run: a plan is executed on the simulated device, verified, and what it moved is printed. */
#include "planning/planning.h"
#include "interrupt.h"
#include "planning/op_words.h"
#include "planning/show_plan.h"
#include "commands/team_commands.h"

#include <unistd.h>

static const struct option_row rows[] = {
    {"verify", 0, "WHAT",
     "compare with fp64 within a proved tolerance: full, every op and the outputs end to end (default); ops; "
     "outputs, the ops that write outputs, and the outputs end to end; none"},
    {"on", 0, "MACHINE",
     "where it runs: simulated (default); gpu, its program on an NVIDIA GPU; host, its program compiled by "
     "cc; list, "
     "which of them there are"},
    {"launches", 0, "N", "launches on a gpu that are timed (default 200)"},
    {"dram", 0, NULL, "bytes of DRAM as well, which ncu (Nsight Compute) counts"},
    {"trace", 0, "FILE",
     "write the run as trace events (Chrome, Perfetto); for a team its predicted time line, a process per "
     "device"},
    {"data", 0, "N", "seed of the input data (default 0)"},
    {"argument", 0, "NAME=N",
     "an input of one element, such as an offset that the pattern leaves open; may be repeated"},
    {"skew", 0, "N", "seed of the order in which cores run between two syncs (default 1); 0: all in step"},
    {"threads", 'j', "N", "threads of this machine (default: as many as it has, at most 8)"},
    {"all", 'a', NULL, "list every op, not only the busiest"},
    {0},
};

/* The simulated device, the machines that programs run on, and the list of them. */
enum { ON_SIMULATED };

static const char *machine_word(int k)
{
    const struct lx_machine_kind *kind = k > 0 ? lx_machine_kind_at(k - 1) : NULL;
    if (k == ON_SIMULATED) return "simulated";
    if (kind) return kind->name;
    return k == 1 || lx_machine_kind_at(k - 2) ? "list" : NULL;
}

static const struct option_words words[] = {{"on", machine_word},
                                            {"verify", verify_word},
                                            {"transport", transport_word},
                                            {"team-by", team_aim_word},
                                            {0}};

static void cmd_run_show_progress(void *context, const struct lx_run_progress *so_far)
{
    if (watch_wants_line(context)) paint_progress(run_progress_words(so_far).at);
}

/* This program runs the plan once more, beside ncu. */
static bool cmd_run_count_dram(const struct lx_plan *p, struct lx_measured *measured, lx_status *st)
{
    char own[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    if (n < 0) return status_set(st, LX_E_IO, "this program does not know where it stands");
    own[n] = 0;
    return lx_program_dram(p, own, measured, st);
}

/* The arguments of the run by name, in the order of the command line. */
static bool cmd_run_arguments(struct call *call, const struct lx_plan *p, struct lx_device_options *how,
                              struct lx_argument *out)
{
    enum { MOST = 1 << 24 };
    const struct lx_graph *g = p->graph->came_from ? p->graph->came_from : p->graph;
    how->arguments = out;
    for (size_t i = 0; i < call->line.options.count; i++) {
        const struct given_option *o = &call->line.options.at[i];
        if (strcmp(o->name, "argument") != 0) continue;
        const char *equals = strrchr(o->value, '=');
        size_t n = equals ? (size_t)(equals - o->value) : 0;
        int32_t t = 0;
        while (t < g->tensor_count &&
               (strncmp(g->tensors[t].name, o->value, n) != 0 || g->tensors[t].name[n]))
            t++;
        bool one = t < g->tensor_count && lx_role_arrives(g->tensors[t].role) && g->tensors[t].rank >= 0;
        for (int d = 0; one && d < g->tensors[t].rank; d++) one = g->tensors[t].shape[d] == 1;
        if (!one)
            return status_set(&call->st, LX_E_USAGE,
                              "--argument %s: it must be NAME=N, the name of an input of one element",
                              o->value);
        if (!lx_parse_int("--argument", equals + 1, -MOST, MOST, &out->value, &call->st)) return false;
        out++->tensor = t;
        how->argument_count++;
    }
    return true;
}

/* `machine` NULL: the simulated device. */
static struct lx_run_result *cmd_run_execute(struct call *call, const struct lx_plan *p, const char *machine,
                                             struct lx_measured *measured)
{
    struct watch watch = {0};
    struct lx_device_options how = {.stop = watch_must_stop, .context = &watch};
    how.in_use = option_value(&call->line, "trace") != NULL;
    enum { MOST_BY_DEFAULT = 8, MOST = 256 };
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t seed = 0, skew = 1, launches = 200,
            threads = online < 1                 ? 1
                      : online > MOST_BY_DEFAULT ? MOST_BY_DEFAULT
                                                 : online;
    if (!option_int(call, "data", 0, LX_INT_MAX, &seed) || !option_int(call, "skew", 0, LX_INT_MAX, &skew) ||
        !option_int(call, "launches", 0, LX_INT_MAX, &launches) ||
        !option_int(call, "threads", 1, MOST, &threads))
        return NULL;
    how.seed = (uint64_t)seed;
    how.skew = (uint64_t)skew;
    how.threads = (int)threads;
    int v = 0;
    if (!option_word(call, "verify", verify_word, &v)) return NULL;
    how.verify = (enum lx_verify)v;
    OWNED struct lx_argument *arguments = mem_zeroed(call->line.options.count + 1, sizeof *arguments);
    if (!cmd_run_arguments(call, p, &how, arguments)) return NULL;

    if (paint_progress_possible() && !is_quiet(call)) how.progress = cmd_run_show_progress;
    if (interrupted) {
        return status_set(&call->st, LX_E_STOPPED, "stopped while planning"), NULL;
    }
    interrupt_says = !is_quiet(call);
    watch_begin(&watch, 0);
    struct lx_program_options program = {
        .machine = machine, .judge = how, .launches = (int)min_i64(launches, 1 << 20)};
    struct lx_run_result *r =
        machine ? lx_program_run(p, &program, measured, &call->st) : lx_device_run(p, &how, &call->st);
    lx_status why = {0};
    if (r && machine && option_given(&call->line, "dram") && !cmd_run_count_dram(p, measured, &why))
        note(call, "%s", why.text);
    watch_end(&watch);
    return r;
}

static int run_one(struct call *call, const struct source *from)
{
    enum { MOST_OPS = 30 };
    const char *path = option_value(&call->line, "trace");
    SCOPED(plan_free_at) struct lx_plan *p = plan_of_text(call, from);
    struct lx_measured measured;
    int on = 0;
    bool known = option_word(call, "on", machine_word, &on);
    const char *machine = on > ON_SIMULATED ? machine_word(on) : NULL;
    struct lx_run_result *r = p && known ? cmd_run_execute(call, p, machine, &measured) : NULL;
    size_t length = 0;
    OWNED char *trace = r && path ? lx_run_trace(p, r, &length) : NULL;
    int code = FAILED;
    if (r && (!path || keep_file(call, path, trace, length))) {
        code = r->ok ? EXIT_YES : EXIT_NO;
        if (wants_json(call))
            run_to_json(p, r, machine ? &measured : NULL, &call->out);
        else if (!is_quiet(call))
            show_run(p, r, machine ? &measured : NULL, option_given(&call->line, "all") ? 0 : MOST_OPS,
                     &call->out);
    }
    lx_run_result_free(r);
    return code;
}

/* Lists the machines; for an absent one, the part that is missing. */
static int cmd_run_list(struct call *call)
{
    const struct lx_machine_kind *kind;
    text_format(&call->out, "%-10s the simulated device: any plan\n", machine_word(ON_SIMULATED));
    for (int i = 0; (kind = lx_machine_kind_at(i)); i++) {
        char found[200];
        lx_status st = {0};
        bool there = lx_machine_there(kind->name, found, sizeof found, &st);
        text_format(&call->out, "%-10s %s: %s%s\n", kind->name, kind->help,
                    there ? "" : "not here: ", there ? found : st.text);
    }
    return EXIT_YES;
}

static int cmd_run(struct call *call)
{
    /* Options that would be ignored are refused: some are for a team only, some for one device. */
    static const char *const of_team[] = {"team", "cut", "team-by", "transport", "patience", NULL};
    static const char *const of_one[] = {"threads",  "skew", "all",      "on",
                                         "launches", "dram", "argument", NULL};
    struct source from = {0};
    const char *on = option_value(&call->line, "on");
    if (on && strcmp(on, "list") == 0) return cmd_run_list(call);
    if (call->line.files.count == 0)
        return status_set(&call->st, LX_E_USAGE,
                          "run: FILE is missing; usage: lxplan run FILE|PLAN [--on MACHINE]"),
               FAILED;
    if (!read_source(call, 0, &from)) return FAILED;
    bool team_plan = lx_is_team_plan(from.text, from.length),
         team = !lx_is_plan(from.text, from.length) && wants_team(call), ok = true;
    for (const char *const *name = team || team_plan ? of_one : of_team; ok && *name; name++)
        if (option_given(&call->line, *name))
            ok = status_set(&call->st, LX_E_USAGE,
                            team || team_plan ? "--%s is of a run on one device and does not go with --team"
                                              : "--%s goes with --team and a pattern, or with a team's plan",
                            *name);
    int code = !ok         ? FAILED
               : team_plan ? run_team_plan(call, &from)
               : team      ? run_team(call, &from)
                           : run_one(call, &from);
    mem_free(from.text);
    return code;
}

static const struct option_row *const tables[] = {
    rows, team_rows, device_team_rows, planning_rows, json_rows, quiet_rows, help_rows, model_rows, NULL};

const struct command command_run = {
    .balances = true,
    .name = "run",
    .synopsis =
        "FILE|PLAN [--verify full|ops|outputs|none] [--on MACHINE] [--trace FILE] [--team N] [options]",
    .summary = "Execute a plan on the simulated device, verify it, and count what it moves",
    .details =
        "A pattern is planned first. The device moves real bytes at the planned addresses and tracks the "
        "owner\n"
        "of each. Every op is compared with fp64 on the device's own inputs: each element must be within a\n"
        "tolerance that is proved for its arithmetic, and data that only moves must keep its bits. Counted\n"
        "bytes must equal the plan's. With --on gpu the plan's program runs on a GPU, and its results are "
        "judged\n"
        "the same way; then it is timed. With --team N the devices' result is compared with one device's.\n"
        "Exit code 0: all agree; 1: a fault, a wrong result or a wrong count; 130: interrupted.\n",
    .options = tables,
    .words = words,
    .least_files = 0,
    .most_files = 1,
    .file_word = "FILE",
    .run = cmd_run,
    .more_help = device_help,
};
