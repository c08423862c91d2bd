/* The road from a command line to a plan: options by the library's table, the pattern with its sizes changed,
 * the solver run under a watch that Ctrl-C and the time limit end. State: the rows of options, filled once at
 * the start. */
#include "planning/planning.h"
#include "planning/answer.h"
#include "interrupt.h"
#include "text/colour.h"
#include "export/plan_words.h"
#include "text/format.h"

/* The options of the library's table as they stand on a command line, and --no-clone, which people try first.
 * Filled by planning_begin, with room for a last row without a name. */
struct option_row planning_rows[LX_MOST_OPTIONS + 2];

const char *planning_word(const char *option, int k)
{
    struct lx_settings o = {.solvers = lx_solvers()};
    int i = lx_settings_find(option);
    if (i < 0 || (lx_settings_at(i).kind != LX_TAKES_WORD && i != LX_OPTION_ORDER)) return NULL;
    return lx_settings_word(&o, i, k + (i == LX_OPTION_OBJECTIVE)); /* the first is said by saying nothing */
}

struct option_row option_row_at(int i)
{
    static const char *const common[] = {"solver", "level", "objective", "device",
                                         "cores",  "lx",    "time",      "tile"};
    struct lx_option_row row = lx_settings_at(i);
    bool more = true;
    for (size_t k = 0; k < sizeof common / sizeof *common; k++) more &= strcmp(common[k], row.name) != 0;
    return (struct option_row){row.name, row.letter | (more ? MORE : 0), row.argument, row.help};
}

void planning_begin(void)
{
    int n = lx_settings_count();
    for (int i = 0; i < n; i++) planning_rows[i] = option_row_at(i);
    planning_rows[n] = (struct option_row){"no-clone", MORE, NULL, "the same as --clone none"};
}

static const char *planning_word_of(const char *variable)
{
    const char *text = getenv(variable);
    return text && *text ? text : NULL;
}

bool environment_sizes(void)
{
    return planning_word_of("SENCORES") || planning_word_of("DXP_LX_FRAC_AVAIL");
}

/* SENCORES, unless cores were set. */
static bool planning_set_cores(struct lx_settings *o, lx_status *st)
{
    const char *text = planning_word_of("SENCORES");
    int64_t cores;
    if (!text || lx_settings_is_set(o, LX_OPTION_CORES)) return true;
    return lx_parse_int("SENCORES in the environment", text, 1, 32, &cores, st) &&
           lx_settings_set_row(o, LX_OPTION_CORES, text, st);
}

/* DXP_LX_FRAC_AVAIL, unless the share was set, or the device is a file. */
static bool planning_set_reserve(struct lx_settings *o, lx_status *st)
{
    static const char parameter[] = "lx_reserved_fraction", what[] = "DXP_LX_FRAC_AVAIL in the environment";
    const char *text = planning_word_of("DXP_LX_FRAC_AVAIL");
    double share;
    char pair[80];
    bool given = o->device_given >> (lx_device_parameter_find(parameter) - lx_device_parameters()) & 1;
    if (!text || given || o->preset == LX_DEVICE_OF_FILE) return true;
    if (!lx_parse_number(what, text, &share, st)) return false;
    if (share < 0 || share > 1)
        return status_set(st, LX_E_USAGE, "%s is %.40s; it must be from 0 to 1", what, text);
    snprintf(pair, sizeof pair, "%s=%.40s", parameter, text);
    return lx_settings_set_row(o, LX_OPTION_DEVICE, pair, st);
}

bool read_options_but(struct call *call, const struct option_row *but, struct lx_settings *o)
{
    *o = (struct lx_settings){.solvers = lx_solvers(), .prefix = "--"};
    for (int i = 0; i < lx_settings_count(); i++) {
        const char *name = lx_settings_at(i).name;
        if (but && find_row(but, name)) continue;
        for (size_t k = 0; k < call->line.options.count; k++) { /* every time that it was given, in order */
            const struct given_option *g = &call->line.options.at[k];
            if (strcmp(g->name, name) == 0 && !lx_settings_set(o, name, g->value, &call->st)) return false;
        }
    }
    if (option_given(&call->line, "no-clone")) {
        if (lx_settings_passes(o).clone == LX_CLONE_HEURISTIC)
            return status_set(&call->st, LX_E_USAGE, "--no-clone and --clone heuristic exclude each other");
        if (!lx_settings_set(o, "clone", "none", &call->st)) return false;
    }
    return planning_set_reserve(o, &call->st) && planning_set_cores(o, &call->st);
}

bool read_options(struct call *call, struct lx_settings *o)
{
    if (!read_options_but(call, NULL, o)) return false;
    if (call->command->balances && !option_given(&call->line, "team")) o->usual = LX_ASK_BALANCED;
    return true;
}

bool read_passes(struct call *call, struct lx_passes *out)
{
    struct lx_settings o;
    if (!read_options(call, &o)) return false;
    *out = lx_settings_passes(&o);
    return true;
}

const struct lx_graph *with_sizes(struct call *call, const struct lx_graph *g)
{
    struct lx_settings o;
    return read_options(call, &o) ? lx_settings_graph(&o, g, &call->st) : NULL;
}

const struct lx_graph *read_pattern_as_is(struct call *call, const char *path)
{
    const struct lx_graph *g = read_graph(call, path);
    if (!g || expectations_known(g, &call->st)) return g;
    lx_graph_free(g);
    return NULL;
}

const struct lx_graph *read_pattern(struct call *call, const char *path)
{
    const struct lx_graph *g = read_pattern_as_is(call, path), *sized = g ? with_sizes(call, g) : NULL;
    lx_graph_free(g);
    return sized;
}

const struct lx_graph *pattern_of_text(struct call *call, const struct source *from)
{
    const struct lx_graph *g = parse_graph(call, from), *sized = NULL;
    if (g && expectations_known(g, &call->st)) sized = with_sizes(call, g);
    lx_graph_free(g);
    return sized;
}

/* Context of a running solver's callbacks. */
struct planning {
    struct watch watch; /* first: it is the context of watch_must_stop */
    const char *file, *solver;
    bool of_list;  /* the solver's reports are about the whole */
    int64_t least; /* bytes of the best plan so far */
};

/* "planning block.json: nests, 4.0 MiB so far, bound 3.2 MiB, 1.2 s"; of a list the solver's report. */
static void planning_add_progress(const struct planning *p, const struct lx_progress *so_far,
                                  struct text *out)
{
    double seconds = clock_seconds() - p->watch.began;
    if (p->of_list) {
        text_format(out, "%s: %s", p->solver, progress_words(seconds, so_far).at);
        return;
    }
    text_format(out, "planning %s: %s, ", p->file, so_far->step);
    if (p->least < INT64_MAX) text_format(out, "%s so far, ", in_short_bytes(p->least).at);
    if (so_far->bound > 0) text_format(out, "bound %s, ", in_short_bytes(so_far->bound).at);
    text_format(out, "%.1f s", seconds);
}

static void planning_show_progress(void *context, const struct lx_progress *so_far)
{
    struct planning *p = context;
    SCOPED(text_free) struct text line = {0};
    if (so_far->step) p->least = min_i64(p->least, so_far->objective);
    if (!(so_far->step || p->of_list) || !watch_wants_line(&p->watch)) return;
    planning_add_progress(p, so_far, &line);
    paint_progress(line.at);
}

/* lx_plan_make with a clock for the time limit, an ear for Ctrl-C and a line of progress. */
static struct lx_plan *plan_watched(struct call *call, const struct lx_graph *graph,
                                    const struct lx_plan_options *asked)
{
    struct planning work = {.file = path_tail(graph->file, NULL, 0),
                            .solver = asked->solver->name,
                            .of_list = graph->list != NULL,
                            .least = INT64_MAX};
    struct lx_plan_options how = *asked;
    how.run.stop = watch_must_stop;
    how.run.context = &work;
    if (paint_progress_possible() && !is_quiet(call)) how.run.progress = planning_show_progress;
    watch_begin(&work.watch, 0);
    struct lx_plan *plan = lx_plan_make(graph, &how, &call->st);
    paint_progress_end(); /* the first signal stays caught until the plan is written */
    return plan;
}

struct lx_team_plans *plan_team_watched(struct call *call, const struct lx_graph *graph,
                                        const struct lx_team_options *how,
                                        const struct lx_plan_options *asked)
{
    struct planning work = {.solver = asked->solver->name};
    struct lx_plan_options plan = *asked;
    plan.run.stop = watch_must_stop;
    plan.run.context = &work;
    watch_begin(&work.watch, 0);
    struct lx_team_plans *p = lx_team_plans_choose(graph, how, &plan, &call->st);
    paint_progress_end(); /* the first signal stays caught until the plan is written */
    if (p && p->team->unsharded) note(call, "%s: %s", graph->file, lx_team_unsharded_words());
    return p;
}

bool read_plan_options(struct call *call, const struct lx_graph *graph, struct lx_plan_options *how,
                       int64_t values[LX_MOST_SOLVER_OPTIONS])
{
    struct lx_settings o;
    return read_options(call, &o) && lx_settings_plan(&o, graph, how, values, &call->st);
}

struct lx_plan *make_plan(struct call *call, const struct lx_graph *graph)
{
    return make_plan_as(call, graph, NULL);
}

struct lx_plan *make_plan_ready(struct call *call, const struct lx_graph *graph)
{
    struct lx_plan_options how = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    if (!read_plan_options(call, graph, &how, values)) return NULL;
    how.make_ready = answer_of_plan;
    return plan_watched(call, graph, &how);
}

struct lx_plan *make_plan_as(struct call *call, const struct lx_graph *graph, const struct lx_passes *passes)
{
    struct lx_plan_options how = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    if (!read_plan_options(call, graph, &how, values)) return NULL;
    if (passes) how.passes = *passes;
    return plan_watched(call, graph, &how);
}

struct lx_question *make_problem(struct call *call, const struct lx_graph *graph)
{
    struct lx_settings o;
    if (!read_options(call, &o) || !lx_settings_take_passes(&o, graph, &call->st)) return NULL;
    struct lx_plan_options how = {.objective = lx_settings_ask(&o), .passes = lx_settings_passes(&o)};
    return lx_problem_of(graph, &how, &call->st);
}

bool no_planning_options(struct call *call, const char *path)
{
    for (size_t i = 0; i < call->line.options.count; i++)
        if ((find_row(planning_rows, call->line.options.at[i].name) &&
             strcmp(call->line.options.at[i].name, call->command->verifies ? "certificate" : "") != 0) ||
            find_row(model_rows, call->line.options.at[i].name))
            return status_set_at(&call->st, LX_E_USAGE, path, 0, 0,
                                 "a plan is made already; --%s goes with a pattern",
                                 call->line.options.at[i].name);
    return true;
}

bool is_stated(const struct call *call, const struct lx_graph *g)
{
    if (!g->list || !g->list->address) return false;
    for (size_t i = 0; i < call->line.options.count; i++)
        if (find_row(planning_rows, call->line.options.at[i].name) &&
            strcmp(call->line.options.at[i].name, "lx") != 0)
            return false;
    return true;
}

struct lx_plan *best_of_list(struct call *call, const struct lx_graph *list, enum lx_objective objective)
{
    static const enum lx_ask asks[] = {
        [LX_SPILL] = LX_ASK_TRAFFIC, [LX_FIT] = LX_ASK_FIT, [LX_HEIGHT] = LX_ASK_HEIGHT};
    struct lx_plan_options how = {.solver = lx_solver_find("auto"), .objective = asks[objective]};
    return plan_watched(call, list, &how);
}

struct lx_plan *plan_of_text(struct call *call, const struct source *from)
{
    if (lx_is_plan(from->text, from->length))
        return no_planning_options(call, from->file)
                   ? lx_plan_of_text(from->file, from->text, from->length, &call->st)
                   : NULL;
    SCOPED(graph_free_at) const struct lx_graph *g = pattern_of_text(call, from);
    struct lx_plan *plan = !g ? NULL : is_stated(call, g) ? lx_plan_stated(g, &call->st) : make_plan(call, g);
    return plan;
}
