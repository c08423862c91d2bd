#include "planning/planning.h"
#include "base/fail.h"
#include "base/arena.h"
#include "base/checked.h"
#include "base/file.h"
#include "text/colour.h"
#include "text/format.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct option_row planning_rows[] = {
    {"solver", 's', "NAME",
     "the solver (`lxplan solvers` lists them); without it the best all-rounder there is"},
    {"option", 'O', "NAME=VALUE",
     "an option of the solver (`lxplan solvers NAME` lists them); may be repeated"},
    {"level", ANY_DIGIT, "N",
     "effort of the solver `auto`: 0 heuristics only, 9 whatever can be tried (default 5)"},
    {"seed", 0, "N", "seed of solvers that draw lots (default 0)"},
    {"work", 0, "N",
     "work limit in the solver's steps: the same answer on every machine (default: the solver's own)"},
    {"time", 0, "SECONDS", "stop after this wall-clock time with the best plan so far"},
    {"objective", 0, "WHAT",
     "traffic (or spill): least HBM bytes; time: least predicted time (divisions too); fit: place "
     "everything; height: place everything in the least memory (default: the pattern's own)"},
    {"cores", 0, "N", "cores of the device (default: $SENCORES, else the pattern's)"},
    {"lx", 0, "BYTES", "usable scratchpad bytes of each core; k, m, g may follow a number"},
    {"device", 'D', "KEY=VALUE", "a parameter of the device, or preset=NAME; may be repeated"},
    {0},
};

/* The passes as options: the library's table, and --no-clone, which people try first. */
enum { PASS_ROWS = 20 };
struct option_row pass_rows[PASS_ROWS + 1];

void planning_begin(void)
{
    int n = 0;
    for (const struct lx_pass *row = lx_passes(); row->name && n < PASS_ROWS - 1; row++)
        pass_rows[n++] = (struct option_row){row->option, 0, row->words ? "WORD" : NULL, row->help};
    pass_rows[n] = (struct option_row){"no-clone", 0, NULL, "the same as --clone none"};
}

static bool has_row(const struct option_row *row, const char *name)
{
    for (; row->name; row++)
        if (strcmp(row->name, name) == 0) return true;
    return false;
}

static bool is_planning_option(const char *name)
{
    return has_row(planning_rows, name) || has_row(pass_rows, name);
}

bool read_passes(struct call *call, struct lx_passes *out)
{
    *out = (struct lx_passes){0};
    for (const struct lx_pass *row = lx_passes(); row->name; row++) {
        const char *value = option_value(&call->line, row->option);
        if (!option_given(&call->line, row->option)) continue;
        int n = 0;
        if (row->words) {
            while (row->words[n] && strcmp(row->words[n], value) != 0) n++;
            if (!row->words[n])
                return status_set(&call->st, LX_E_USAGE, "--%s %s: no such value; --help lists them",
                                  row->option, value);
        }
        lx_pass_set(out, row, row->words ? n : 1);
    }
    if (option_given(&call->line, "no-clone")) {
        if (out->clone == LX_CLONE_HEURISTIC)
            return status_set(&call->st, LX_E_USAGE, "--no-clone and --clone heuristic exclude each other");
        out->clone = LX_CLONE_NONE;
    }
    const char *objective = option_value(&call->line, "objective");
    if (objective && strcmp(objective, "time") == 0) out->by_time = true;
    if (out->by_time && !option_given(&call->line, "cooptimise")) out->cooptimise = LX_COOPTIMISE_FULL;
    return true;
}

static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const struct lx_graph *read_pattern(struct call *call, const char *path)
{
    const struct lx_graph *g = lx_graph_read(path, &call->st), *sized = g ? with_sizes(call, g) : NULL;
    lx_graph_free(g);
    return sized;
}

static bool read_objective(struct call *call, enum lx_ask *objective)
{
    const char *word = option_value(&call->line, "objective");
    *objective = word ? lx_ask_find(word) : LX_ASK_OWN;
    if (*objective < LX_ASK_COUNT) return true;
    return status_set(&call->st, LX_E_USAGE,
                      "--objective %s: it must be traffic (or spill), time, fit or height", word);
}

/* Without --solver: "auto" if there is one, else best-fit, else whoever answers the question. */
static const struct lx_solver *default_solver(enum lx_objective question)
{
    static const unsigned needed[] = {
        [LX_SPILL] = LX_CAN_SPILL, [LX_FIT] = LX_CAN_FIT, [LX_HEIGHT] = LX_CAN_HEIGHT};
    static const char *const preferred[] = {"auto", "bestfit"};
    for (size_t i = 0; i < sizeof preferred / sizeof *preferred; i++) {
        const struct lx_solver *s = lx_solver_find(preferred[i]);
        if (s && (s->caps & needed[question])) return s;
    }
    for (const struct lx_solver *const *s = lx_solvers(); *s; s++)
        if ((*s)->caps & needed[question]) return *s;
    return lx_solvers()[0];
}

static const struct lx_solver *choose_solver(struct call *call, enum lx_objective question)
{
    const char *name = option_value(&call->line, "solver"), *names[33] = {0};
    const struct lx_solver *s = name ? lx_solver_find(name) : default_solver(question);
    if (s) return s;
    if (!name) return status_set(&call->st, LX_E_INTERNAL, "this program was built without solvers"), NULL;
    for (int i = 0; i < 32 && lx_solvers()[i]; i++) names[i] = lx_solvers()[i]->name;
    const char *near = nearest(name, names);
    status_set(&call->st, LX_E_UNKNOWN_NAME, "there is no solver \"%s\"%s%s%s `lxplan solvers` lists them",
               name, near ? "; did you mean \"" : ";", near ? near : "", near ? "\"?" : "");
    return NULL;
}

static bool read_solver_options(struct call *call, const struct lx_solver *s, const int64_t **out)
{
    int64_t *values = arena_array(call->line.memory, (size_t)s->option_count, sizeof *values);
    if (!values) return status_no_memory(&call->st);
    lx_options_default(s->options, s->option_count, values);
    const char *level = option_value(&call->line, "level");
    if (level && !lx_options_set(s->name, s->options, s->option_count, "level", level, values, &call->st))
        return false;
    for (size_t i = 0; i < call->line.options.count; i++) {
        const struct given_option *o = &call->line.options.at[i];
        char *name;
        const char *value;
        if (strcmp(o->name, "option") != 0) continue;
        if (!split_pair(call, o->name, o->value, &name, &value) ||
            !lx_options_set(s->name, s->options, s->option_count, name, value, values, &call->st))
            return false;
    }
    *out = values;
    return true;
}

/* What the callbacks of a running solver look at. */
struct watch {
    double deadline, next_report; /* on the monotonic clock; deadline 0: none */
    const char *solver;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool must_stop(void *context)
{
    const struct watch *w = context;
    return interrupted || (w->deadline > 0 && now() > w->deadline);
}

static void show_progress(void *context, const struct lx_progress *so_far)
{
    struct watch *w = context;
    double t = now();
    if (t < w->next_report) return;
    w->next_report = t + 0.2;
    char line[400];
    snprintf(line, sizeof line, "%s: %s steps, objective %s, bound %s", w->solver, grouped(so_far->steps).at,
             grouped(so_far->objective).at, grouped(so_far->bound).at);
    paint_progress(line);
}

struct lx_plan *make_plan(struct call *call, const struct lx_graph *graph)
{
    struct lx_passes passes;
    return read_passes(call, &passes) ? make_plan_as(call, graph, &passes, NULL) : NULL;
}

struct lx_plan *make_plan_as(struct call *call, const struct lx_graph *graph, const struct lx_passes *passes,
                             const struct lx_solver *solver)
{
    struct watch watch = {0};
    struct lx_plan_options how = {.run = {.stop = must_stop, .context = &watch}};
    int64_t seed = 0;
    const char *seconds = option_value(&call->line, "time");
    how.passes = *passes;
    bool ok = read_objective(call, &how.objective) && option_int(call, "seed", 0, LX_INT_MAX, &seed) &&
              option_int(call, "work", 1, LX_INT_MAX, &how.run.work_limit) &&
              (!seconds || parse_number("--time", seconds, &how.run.time_limit, &call->st));
    if (ok && seconds && !(how.run.time_limit > 0))
        ok = status_set(&call->st, LX_E_USAGE, "--time %s: it must be above 0", seconds);
    enum lx_objective question = lx_asked(how.objective, graph->is_list ? graph->objective : LX_SPILL);
    ok = ok && (how.solver = solver ? solver : choose_solver(call, question)) &&
         (solver || read_solver_options(call, how.solver, &how.run.options));
    if (!ok) return NULL;
    how.run.seed = (uint64_t)seed;
    how.quick_solver = lx_solver_find("bestfit");
    watch.solver = how.solver->name;
    if (seconds) watch.deadline = now() + how.run.time_limit;
    if (paint_progress_possible() && !is_quiet(call)) {
        how.run.progress = show_progress;
        watch.next_report = now() + 0.5;
    }
    /* The first Ctrl-C asks for the best plan so far, the second ends the program. */
    struct sigaction stop = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}, before;
    sigaction(SIGINT, &stop, &before);
    struct lx_plan *plan = lx_plan_make(graph, &how, &call->st);
    sigaction(SIGINT, &before, NULL);
    paint_progress_end();
    return plan;
}

static bool place_nothing(const struct lx_problem *problem, const struct lx_run *run,
                          struct lx_answer *answer)
{
    (void)problem, (void)run;
    answer->status = LX_LIMIT;
    return true;
}

struct lx_plan *make_problem(struct call *call, const struct lx_graph *graph)
{
    static const struct lx_solver nothing = {.abi = LX_SOLVER_ABI,
                                             .name = "none",
                                             .summary = "places nothing",
                                             .caps = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT,
                                             .solve = place_nothing};
    struct lx_plan_options how = {.solver = &nothing};
    if (read_objective(call, &how.objective) && read_passes(call, &how.passes))
        return lx_plan_make(graph, &how, &call->st);
    return NULL;
}

static struct lx_plan *keep_plan(struct call *call, const char *path, const char *text, size_t length)
{
    for (size_t i = 0; i < call->line.options.count; i++)
        if (is_planning_option(call->line.options.at[i].name)) {
            status_set_at(&call->st, LX_E_USAGE, path, 0, 0,
                          "a plan is made already; --%s goes with a pattern", call->line.options.at[i].name);
            return NULL;
        }
    return lx_plan_parse(path, text, length, &call->st);
}

struct lx_plan *plan_of_text(struct call *call, const char *file, const char *text, size_t length)
{
    if (lx_is_plan(text, length)) return keep_plan(call, file, text, length);
    const struct lx_graph *g = lx_graph_parse(file, text, length, &call->st);
    const struct lx_graph *sized = g ? with_sizes(call, g) : NULL;
    struct lx_plan *plan = sized ? make_plan(call, sized) : NULL;
    lx_graph_free(sized);
    lx_graph_free(g);
    return plan;
}

struct lx_plan *read_or_make_plan(struct call *call, const char *path)
{
    size_t length;
    char *text = file_read(path, &length, &call->st);
    if (!text) return NULL;
    struct lx_plan *plan = plan_of_text(call, name_of(path), text, length);
    free(text);
    return plan;
}

struct lx_plan *read_plan_file(struct call *call, const char *path)
{
    size_t length;
    char *text = file_read(path, &length, &call->st);
    if (!text) return NULL;
    struct lx_plan *plan = NULL;
    if (lx_is_plan(text, length))
        plan = lx_plan_parse(name_of(path), text, length, &call->st);
    else
        status_set_at(&call->st, LX_E_USAGE, name_of(path), 0, 0,
                      "not a plan; `lxplan plan FILE -o PLAN` makes one of a pattern");
    free(text);
    return plan;
}
