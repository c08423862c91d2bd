/* lxplan plan and check, of a team: its plan made, written, shown; the file of one judged. */
#include "commands/team_commands.h"
#include "interrupt.h"
#include "planning/answer.h"
#include "planning/planning.h"
#include "team/team_show.h"
#include "planning/show_plan.h"

/* --team and --cut: the grid of a team, and what its axes are to cut. */

const struct option_row team_rows[] = {
    {"team", 0, "N|AxB",
     "shard the graph over N devices, or over a grid of devices, that exchange data (under mpirun: one per "
     "process)"},
    {"cut", MORE, "TENSOR=D[,D]",
     "each axis of the grid shards TENSOR along its dimension D, or not (-); may be repeated (default: "
     "chosen)"},
    {"team-by", MORE, "WORD",
     "choose shards for fewest exchanged {} predicted (default: time with --objective time, else bytes)"},
    {0},
};

WORD_LIST(team_aim_word, "bytes", "time")

bool read_team_aim(struct call *call, enum lx_ask objective, bool *by_time)
{
    int k = objective == LX_ASK_TIME;
    if (!option_word(call, "team-by", team_aim_word, &k)) return false;
    *by_time = k == 1;
    return true;
}

/* "0,-" after the equals sign; as many as there are axes. */
static bool read_axes(const char *text, int axes, int cut[LX_TEAM_AXES])
{
    for (int a = 0; a < LX_TEAM_AXES; a++) cut[a] = -1;
    for (int a = 0; a < axes; a++) {
        char *end = NULL;
        if (*text == '-' && (text[1] == ',' || text[1] == 0)) {
            text++;
        } else {
            cut[a] = (int)strtol(text, &end, 10);
            if (end == text || cut[a] < 0 || cut[a] >= LX_MAX_RANK) return false;
            text = end;
        }
        if (*text == 0) return true;
        if (*text++ != ',') return false;
    }
    return false;
}

static bool read_choices(struct call *call, struct lx_team_options *how)
{
    size_t count = call->line.options.count;
    struct lx_team_choice *list = arena_array(call->line.memory, count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        const struct given_option *o = &call->line.options.at[i];
        if (strcmp(o->name, "cut") != 0) continue;
        struct lx_team_choice *c = &list[how->choice_count];
        int axes = how->grid.axes;
        const char *equals = strrchr(o->value, '=');
        if (!equals || equals == o->value || !read_axes(equals + 1, axes, c->shard))
            return status_set(&call->st, LX_E_USAGE,
                              "--cut %s: write TENSOR=D for the dimension that is sharded, TENSOR=- for "
                              "none; with a comma between what the axes of a grid cut",
                              o->value);
        c->tensor = arena_copy(call->line.memory, o->value, (size_t)(equals - o->value));

        for (int k = 0; k < how->choice_count; k++)
            if (strcmp(list[k].tensor, c->tensor) == 0)
                return status_set(&call->st, LX_E_USAGE,
                                  "--cut %s: tensor %s has a --cut before; leave one out", o->value,
                                  c->tensor);
        how->choice_count++;
    }
    how->choices = list;
    return true;
}

/* As asked; else as many as there are processes; else two. */
bool read_team(struct call *call, const struct lx_transport *transport, struct lx_team_options *how)
{
    const char *text = option_value(&call->line, "team");
    *how = (struct lx_team_options){.grid = {1, {2}}};
    if (text && !lx_team_grid_of_text(text, &how->grid, &call->st)) return false;
    if (!text && transport && transport->devices) how->grid.size[0] = transport->devices(&call->st);
    how->devices = lx_team_device_count(&how->grid);
    return how->devices > 0 && read_choices(call, how);
}

/* Options of a team and of its plans; `how` and `plan` outlive the plans. */
struct team_asked {
    struct lx_team_options how;
    struct lx_plan_options plan;
    int64_t values[LX_MOST_SOLVER_OPTIONS];
};

/* NULL with `call->st`; `answered`: with its answer (planning/answer.h). */
static struct lx_team_plans *make_team(struct call *call, const struct lx_graph *g, struct team_asked *asked,
                                       bool answered)
{
    *asked = (struct team_asked){0};
    if (!read_team(call, NULL, &asked->how) || !read_plan_options(call, g, &asked->plan, asked->values) ||
        !read_team_aim(call, asked->plan.objective, &asked->how.by_time))
        return NULL;
    asked->how.make_ready = answered ? answer_of_team : NULL;
    return plan_team_watched(call, g, &asked->how, &asked->plan);
}

int print_team(struct call *call, const struct lx_graph *g)
{
    struct team_asked asked;
    struct lx_team_plans *p = make_team(call, g, &asked, false);
    struct text t = {0};
    size_t length = 0;
    if (!p) return FAILED;
    char *json = wants_json(call) ? lx_team_to_json(p->team, &length) : NULL;
    if (!json) show_team(p, &t);
    bool ok = json ? deliver(call, json, length) : deliver(call, t.at, t.length);
    if (ok && interrupted) note_interrupted(call, g->file);
    lx_team_plans_free(p);
    return !ok ? FAILED : interrupted ? EXIT_INTERRUPTED : EXIT_YES;
}

int plan_team(struct call *call, const char *path)
{
    const char *output = option_value(&call->line, "output");
    bool json = wants_json(call) || (output && strcmp(output, "-") == 0);
    if (output && strcmp(output, "-") == 0) output = NULL;
    struct team_asked asked;
    answer_ask(!json && !is_quiet(call), false, json || output, false);
    SCOPED(graph_free_at) const struct lx_graph *g = read_pattern(call, path);
    SCOPED(team_plans_free_at) struct lx_team_plans *p = g ? make_team(call, g, &asked, true) : NULL;
    int code = p ? answer_give(call, p->ready, p->team->graph->file, output, json) : FAILED;
    if (code != FAILED && !json && !is_quiet(call) && output)
        text_format(&call->out, "\nwritten to %s\n", output);
    return code;
}

int check_team(struct call *call, const struct source *from)
{
    lx_status why = {0};
    SCOPED(team_plans_free_at)
    struct lx_team_plans *p = lx_team_plans_parse(from->file, from->text, from->length, &why);
    bool ok = p && lx_team_plans_check(p, &why);
    if (!ok && why.code != LX_E_NO)
        call->st = why;
    else if (wants_json(call))
        team_check_to_json(p ? p->team : NULL, from->file, ok ? NULL : why.text, &call->out);
    else if (!is_quiet(call))
        show_team_check(p ? p->team : NULL, from->file, ok ? NULL : why.text, &call->out);
    return ok ? EXIT_YES : why.code == LX_E_NO ? EXIT_NO : FAILED;
}

int explain_team(struct call *call, const char *path)
{
    const char *output = option_value(&call->line, "output");
    struct team_asked asked;
    if (output && strcmp(output, "-") == 0)
        return status_set(&call->st, LX_E_USAGE,
                          "--explain and -o - both write to standard output; give the plan a file"),
               FAILED;
    const struct lx_graph *g = read_pattern(call, path);
    answer_ask(false, false, output, false);
    struct lx_team_plans *p = g ? make_team(call, g, &asked, true) : NULL;
    asked.how.make_ready = NULL; /* nobody reads the answers of other teams */
    struct lx_shard_question q = {.graph = g, .how = &asked.how, .plan = &asked.plan, .plans = p};
    int code = p ? answer_give(call, p->ready, g->file, output, false) : FAILED;
    if (code != FAILED && !show_cut_reasons(call, &q, &call->out)) code = FAILED;
    lx_team_plans_free(p);
    lx_graph_free(g);
    return code;
}
