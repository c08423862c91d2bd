/* lxplan plan FILE --team AxB --explain TENSOR: the team's plan as ever, then why its tensors are cut as they are. */
#include "commands/team_commands.h"
#include "base/fail.h"
#include "planning/planning.h"
#include "planning/show_plan.h"

#include <string.h>

/* Told as `plan` tells it: the plan is checked, and written if that is asked for. */
static int team_explain_answer(struct call *call, struct lx_cut_question *q, const char *output)
{
    lx_status why = {0};
    int code = EXIT_YES;
    if (output && !write_team(call, q->plans, output, false)) return FAILED;
    if (!lx_team_plans_check(q->plans, &why)) {
        code = lx_code_exit(why.code);
        note(call, "%s: %s", q->plans->team->graph->file, why.text);
    }
    return show_cut_reasons(call, q, &call->out) ? code : FAILED;
}

int explain_team(struct call *call, const char *path)
{
    const char *output = option_value(&call->line, "output");
    struct lx_team_options how;
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    if (output && strcmp(output, "-") == 0)
        return status_set(&call->st, LX_E_USAGE,
                          "--explain and -o - both write to standard output; give the plan a file"),
               FAILED;
    const struct lx_graph *g = read_pattern(call, path);
    bool ok = g && read_team(call, NULL, &how) && read_plan_options(call, g, &plan, values) &&
              read_team_aim(call, plan.objective, &how.by_time);
    struct lx_team_plans *p = ok ? plan_team_watched(call, g, &how, &plan) : NULL;
    struct lx_cut_question q = {.graph = g, .how = &how, .plan = &plan, .plans = p};
    int code = p ? team_explain_answer(call, &q, output) : FAILED;
    lx_team_plans_free(p);
    lx_graph_free(g);
    return code;
}
