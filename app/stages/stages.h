/* The result of one stage of the road, for people or as JSON. */
#pragma once

#include "command.h"

int run_stage(struct call *call, const char *path, const char *stage);
/* Runs the pattern up to and including a stage, for the error in `call->st`. */
void try_stage(struct call *call, const struct lx_graph *g, const char *stage);
bool is_stage(const char *name);
/* Stage k, NULL behind the last. */
const char *stage_word(int k);

/* stage_launch.c and stage_loops.c: launches, and loop nests, of every op of a plan. False with
 * `call->st`. */
bool write_launches(struct call *call, const struct lx_plan *p, struct text *out);
bool write_nests(struct call *call, const struct lx_plan *p, struct text *out);

/* Per tensor its device layout; then the restickifies that were added, and the padded rows. */
void show_layouts(const struct lx_layouts *l, struct text *out);
/* Per op: iteration space, splits, cores used, extents of one core, span of each tensor, and why. */
void show_divisions(const struct lx_divisions *d, struct text *out);
/* How else each op could be divided, the quickest ways. */
void show_alternatives(const struct lx_divisions *d, struct text *out);

/* Runs `nest`, compares with the scalar executor on `input` and reports, as JSON after a comma or as a line.
 * A nest that cannot be run is reported as such. False: its result is wrong. */
bool report_device(struct call *call, const struct lx_loops *nest, const struct lx_loops *input,
                   int64_t threads);

/* A whole tree, node by node with results handed on, compared with the scalar executor. False: wrong, or
 * `call->st`. */
bool report_tree(struct call *call, const struct lx_tree *tree, const struct lx_loop_rules *rules,
                 int64_t threads);
