/* lxplan plan and check, of a team: its plan made, written, shown; the file of one judged. */
#include "commands/team_commands.h"
#include "commands/team_report.h"
#include "base/fail.h"
#include "base/memory.h"
#include "interrupt.h"
#include "planning/planning.h"
#include "team/team_tables.h"

#include <stdlib.h>
#include <string.h>

/* The team cut, and each member planned by the planning options. */
static struct lx_team_plans *make_team(struct call *call, const struct lx_graph *g)
{
    struct lx_team_options how;
    struct lx_plan_options plan = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    if (!read_team(call, NULL, &how) || !read_plan_options(call, g, &plan, values) ||
        !read_team_aim(call, plan.objective, &how.by_time))
        return NULL;
    return plan_team_watched(call, g, &how, &plan);
}

/* Of a team whose plan is there. */
static int team_code(struct call *call, const struct lx_graph *g)
{
    if (interrupted) note(call, "%s: interrupted; this is the best plan so far", g->file);
    return interrupted ? EXIT_INTERRUPTED : EXIT_YES;
}

int print_team(struct call *call, const struct lx_graph *g)
{
    struct lx_team_plans *p = make_team(call, g);
    struct text t = {0};
    size_t length = 0;
    char *json = p && wants_json(call) ? lx_team_to_json(p->team, &length) : NULL;
    if (p && !wants_json(call)) show_team(p, &t);
    bool ok = p && deliver(call, wants_json(call) ? json : t.at, wants_json(call) ? length : t.length);
    lx_team_plans_free(p);
    return ok ? team_code(call, g) : FAILED;
}

bool write_team(struct call *call, const struct lx_team_plans *p, const char *path, bool to_screen)
{
    size_t length = 0;
    char *json = lx_team_plans_to_json(p, &length);
    bool ok = json ? true : status_no_memory(&call->st);
    if (ok && path) ok = keep_file(call, path, json, length);
    if (ok && to_screen) text_add_n(&call->out, json, length);
    mem_free(json);
    return ok;
}

int plan_team(struct call *call, const char *path)
{
    const char *output = option_value(&call->line, "output");
    bool json = wants_json(call) || (output && strcmp(output, "-") == 0);
    if (output && strcmp(output, "-") == 0) output = NULL;
    const struct lx_graph *g = read_pattern(call, path);
    struct lx_team_plans *p = g ? make_team(call, g) : NULL;
    lx_graph_free(g);
    if (!p) return FAILED;
    int code = FAILED;
    lx_status why = {0};
    if (!(json || output) || write_team(call, p, output, json)) {
        code = team_code(call, p->team->graph);
        if (!lx_team_plans_check(p, &why)) {
            code = lx_code_exit(why.code);
            note(call, "%s: %s", p->team->graph->file, why.text);
        }
        if (!json && !is_quiet(call)) show_team(p, &call->out);
        if (!json && !is_quiet(call) && output) text_format(&call->out, "\nwritten to %s\n", output);
    }
    lx_team_plans_free(p);
    return code;
}

int check_team(struct call *call, const char *file, const char *text, size_t length)
{
    lx_status why = {0};
    struct lx_team_plans *p = lx_team_plans_parse(file, text, length, &why);
    bool ok = p && lx_team_plans_check(p, &why);
    if (!ok && why.code != LX_E_NO)
        call->st = why;
    else if (wants_json(call))
        team_check_to_json(p ? p->team : NULL, file, ok ? NULL : why.text, &call->out);
    else if (!is_quiet(call))
        show_team_check(p ? p->team : NULL, file, ok ? NULL : why.text, &call->out);
    lx_team_plans_free(p);
    return ok ? EXIT_YES : why.code == LX_E_NO ? EXIT_NO : FAILED;
}
