/* A plan of a graph for people, beyond its buffers. */
#pragma once

#include "command.h"
#include "text/table.h"

/* plan_summary.c: the answer, its figures, its buffers, copies and ops; found in the time that `when` says.
 * `all`: every row. */
void show_summary(const struct lx_plan *p, const char *when, bool all, struct text *out);
/* Of a plan by bytes that is far from the least time: what time a plan by time would take, between its bound and a
 * plan that is made quickly. */
void show_faster(struct call *call, const struct lx_plan *p, struct text *out);
/* Op by op: how it is divided, what it moves, how long it takes (lx_plan_waits). `most` rows, the busiest; 0:
 * all. */
void show_ops(const struct lx_plan *p, const struct lx_op_wait *waits, int most, struct text *out);
/* Copies that the plan makes, and what shares HBM. */
void show_copies(const struct lx_plan *p, struct text *out);
/* The traffic as each step of the scratchpad's use is added: nothing, reductions, in place, clones, and the
 * passes that were asked for; then what each step of the search for the last plan saved. False with
 * `call->st`. */
bool show_stages(struct call *call, const char *path, struct text *out);
/* Where a buffer is and why, and what helps: every remedy, tried. WHOLE_PLAN instead of a name: what helps
 * the plan as a whole. `pattern`: before any option changed its sizes. */
#define WHOLE_PLAN "."
bool show_explained(struct call *call, const struct lx_graph *pattern, const struct lx_plan *p,
                    const char *name, struct text *out);
/* explain_cuts.c: how each tensor is cut that --explain names, and what it costs to cut it otherwise; with
 * --json so. The question has all but when to stop. False with `call->st`. */
bool show_cut_reasons(struct call *call, struct lx_shard_question *q, struct text *out);
/* Every remedy of a buffer (NULL: of the plan as a whole), tried, as a table that `add` writes. False with
 * `call->st`. */
bool add_remedies(struct call *call, const struct lx_graph *pattern, const struct lx_plan *p,
                  const char *name, void (*add)(const struct table *, struct text *), struct text *out);

/* Ops in a table (the `most` busiest; 0: all), totals, and faults. */
/* `measured` NULL: it ran on the simulated device. */
void show_run(const struct lx_plan *p, const struct lx_run_result *r, const struct lx_measured *measured,
              int most, struct text *out);
void run_to_json(const struct lx_plan *p, const struct lx_run_result *r, const struct lx_measured *measured,
                 struct text *out);

/* Word k of --verify; NULL: there is none. */
const char *verify_word(int k);
