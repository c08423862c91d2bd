/* lxplan plan: a pattern in, a plan out, for people or as a file. */
#include "planning/answer.h"
#include "planning/planning.h"
#include "interrupt.h"
#include "planning/show_plan.h"
#include "stages/stages.h"
#include "commands/team_commands.h"

static const struct option_row rows[] = {
    {"explain", 0, "BUFFER|NEST|TENSOR",
     "where a buffer is and why, with remedies tried; . for the whole plan; a nest by number (nest1) or "
     "by one of its ops, nests for all; with --team why a tensor is sharded so and what other shards cost; "
     "may be repeated"},
    {"all", 'a', NULL,
     "list every buffer and op, not only the costliest; with --explain try all remedies to their end, with "
     "--stage launch list every core's tiles, with --stage divide other splits"},
    {"output", 'o', "PLAN", "write the plan to this file, completely or not at all"},
    {"stage", MORE, "STAGE", "print the result of one stage instead: {}"},
    {"stages", MORE, NULL,
     "the traffic as the use of the scratchpad grows, and the gain of each step of the search"},
    {"log", 'l' | MORE, NULL,
     "log what passes and solvers try to standard error (needs a build with LXPLAN_LOGGING)"},
    {0},
};

static const struct option_words words[] = {{"stage", stage_word}, {"team-by", team_aim_word}, {0}};

static int make_and_show(struct call *call, const char *path, const char *explained)
{
    const char *output = option_value(&call->line, "output"),
               *certificate = option_value(&call->line, "certificate");
    bool json = wants_json(call) || (output && strcmp(output, "-") == 0);
    if (output && strcmp(output, "-") == 0) output = NULL;
    SCOPED(graph_free_at) const struct lx_graph *pattern = read_pattern_as_is(call, path);
    const struct lx_graph *g = pattern ? with_sizes(call, pattern) : NULL;
    answer_ask(!json && !explained && !is_quiet(call), option_given(&call->line, "all"), json || output,
               certificate);
    SCOPED(plan_free_at) struct lx_plan *p = g ? make_plan_ready(call, g) : NULL;
    lx_graph_free(g);
    int code = p ? answer_give(call, p->ready, p->graph->file, output, json) : FAILED;
    if (code != FAILED && certificate && p->certificate) {
        if (!keep_file(call, certificate, p->certificate, strlen(p->certificate))) code = FAILED;
    } else if (code != FAILED && certificate)
        note(call, "%s: no certificate: the proof of the bound is out of reach", p->graph->file);
    if (code != FAILED && !json) {
        if (explained && !show_explained(call, pattern, p, explained, &call->out)) code = FAILED;
        if (explained && interrupted && code == EXIT_YES) {
            note(call, "interrupted; not everything was tried");
            code = EXIT_INTERRUPTED;
        }
        if (!explained && !interrupted && !is_quiet(call)) show_faster(call, p, &call->out);
        if (!is_quiet(call) && output) text_format(&call->out, "\nwritten to %s\n", output);
    }
    return code;
}

static int cmd_plan_run(struct call *call)
{
    static const char *const of_team[] = {"team", "cut", "team-by"};
    const char *path = call->line.files.at[0], *stage = option_value(&call->line, "stage"),
               *explained = option_value(&call->line, "explain");
    bool team = option_given(&call->line, "team");
    for (size_t i = 0; i < sizeof of_team / sizeof *of_team; i++)
        if (option_given(&call->line, of_team[i]) && (stage ? strcmp(stage, "team") != 0 : !team))
            return status_set(&call->st, LX_E_USAGE, "--%s goes with --%s", of_team[i],
                              stage ? "stage team" : "team"),
                   FAILED;
    if (stage) return run_stage(call, path, stage);
    if (team && option_given(&call->line, "stages"))
        return status_set(&call->st, LX_E_USAGE,
                          "--stages is of one device's plan and does not go with --team"),
               FAILED;
    if (team) return explained ? explain_team(call, path) : plan_team(call, path);
    if (option_given(&call->line, "stages")) {
        struct text t = {0};
        if (goes_to_file(call)) paint_off();
        if (show_stages(call, path, &t)) return deliver(call, t.at, t.length) ? EXIT_YES : FAILED;
        text_free(&t);
        return FAILED;
    }
    if (explained && wants_json(call))
        return status_set(&call->st, LX_E_USAGE, "--explain is for people and has no JSON; leave --json out"),
               FAILED;
    return make_and_show(call, path, explained);
}

static const struct option_row *const tables[] = {planning_rows, rows,      team_rows,  json_rows,
                                                  quiet_rows,    help_rows, model_rows, NULL};

const struct command command_plan = {
    .balances = true,
    .name = "plan",
    .synopsis = "FILE [-s SOLVER] [options]",
    .summary = "Plan a pattern: which buffers are on chip, at which address, and what the others cost",
    .details = "Exit code 0: a legal plan (perhaps above the pattern's target, which is printed); 1: the "
               "solver found\n"
               "none; 130: interrupted, and this is the best so far. --json prints the plan file.\n",
    .options = tables,
    .words = words,
    .least_files = 1,
    .most_files = 1,
    .file_word = "FILE",
    .run = cmd_plan_run,
    .more_help = device_help,
};
