/* From a file and the planning options to a graph, a problem or a plan: what most commands begin with. */
#pragma once

#include "planning/graph_files.h"

/* The options of a plan: the library's table (plan/options.h) as rows of a command line; filled by
 * planning_begin, which main calls first. */
extern struct option_row planning_rows[];
void planning_begin(void);
/* Row i of the library's table. */
struct option_row option_row_at(int i);
/* Word k of an option; NULL: none. */
const char *planning_word(const char *option, int k);

/* The options of the command line (and the environment); false with `call->st`. */
bool read_options(struct call *call, struct lx_settings *o);
/* The same without options that the table `but` has, which mean something else to their command. */
bool read_options_but(struct call *call, const struct option_row *but, struct lx_settings *o);
bool read_passes(struct call *call, struct lx_passes *out);

/* The pattern of a file as it stands there; NULL with `call->st`. */
const struct lx_graph *read_pattern_as_is(struct call *call, const char *path);
/* The same with the device options applied. */
const struct lx_graph *read_pattern(struct call *call, const char *path);
const struct lx_graph *pattern_of_text(struct call *call, const struct source *from);
/* A plan by the planning options. NULL with `call->st`. */
struct lx_plan *make_plan(struct call *call, const struct lx_graph *graph);
/* The same, with its answer (planning/answer.h). */
struct lx_plan *make_plan_ready(struct call *call, const struct lx_graph *graph);
/* The same with other passes; NULL: those of the options. */
struct lx_plan *make_plan_as(struct call *call, const struct lx_graph *graph, const struct lx_passes *passes);
/* The planning options; `values` must outlive `how`. */
bool read_plan_options(struct call *call, const struct lx_graph *graph, struct lx_plan_options *how,
                       int64_t values[LX_MOST_SOLVER_OPTIONS]);
/* lx_team_plans_choose with a clock for the time limit and an ear for Ctrl-C. */
struct lx_team_plans *plan_team_watched(struct call *call, const struct lx_graph *graph,
                                        const struct lx_team_options *how,
                                        const struct lx_plan_options *asked);
/* Only the placement problem, by the objective and the passes. NULL with `call->st`. */
struct lx_question *make_problem(struct call *call, const struct lx_graph *graph);
/* Is the file of this list a plan, as it has addresses? With a planning option but --lx it is a pattern. */
bool is_stated(const struct call *call, const struct lx_graph *g);
/* The best plan of a list that `auto` finds by its defaults. */
struct lx_plan *best_of_list(struct call *call, const struct lx_graph *list, enum lx_objective objective);
/* A plan file, a list with addresses (and no options but --lx), or a pattern planned. Planning options with a
 * plan file are an error. */
struct lx_plan *plan_of_text(struct call *call, const struct source *from);
/* False with `call->st` where planning options were given for a file that is a plan already. */
bool no_planning_options(struct call *call, const char *path);

/* Does the environment ask for another device ($SENCORES, $DXP_LX_FRAC_AVAIL)? */
bool environment_sizes(void);
/* The graph on the device that the options and the environment ask for: a reference, or NULL with `call->st`. */
const struct lx_graph *with_sizes(struct call *call, const struct lx_graph *g);

/* The device parameters, for the help. */
void device_help(const struct call *call, struct text *out);
