/* From a graph to a plan: buffers with lives, costs and reasons make a problem; a solver's checked answer
 * makes the plan, with everything that is needed to check it again elsewhere. */
#ifndef LX_SCRATCHPAD_PLAN_H
#define LX_SCRATCHPAD_PLAN_H

#include "graph/graph.h"
#include "scratchpad/problem.h"

struct lx_plan_options {
    const struct lx_solver *solver;
    struct lx_run run;
    int objective; /* an lx_objective, or -1: the pattern's own */
};

struct lx_plan {
    struct lx_graph *graph;    /* owned */
    struct lx_problem problem; /* one buffer a tensor, in the order of the tensors; or the list's own */
    struct lx_answer answer;
    const char **reason;   /* per buffer: why it is off chip; NULL where it is on chip */
    int32_t *took_slot_of; /* per buffer: the parent in whose place it stands, or -1 */

    int64_t hbm_bytes;          /* traffic of the plan: operands off chip, over all ops */
    int64_t baseline_hbm_bytes; /* the same with everything off chip */
    int64_t spill_bytes;        /* the part of it that a perfect scratchpad would have saved */
    int64_t height_bytes;       /* the highest end of a placed buffer */

    const char *solver; /* by name: a plan that was read may name one we do not have */
    uint64_t seed;
    int64_t work_limit;
    const char *options; /* "name=value ..." of those that differ from their defaults */
    double seconds;      /* of the solver; not written, plans are reproducible */
    struct arena *memory;
};

/* Takes the graph over, also when it fails. NULL: `st` says why. */
struct lx_plan *lx_plan_make(struct lx_graph *g, const struct lx_plan_options *options, lx_status *st);
void lx_plan_free(struct lx_plan *p);

/* Has the pattern a target, and does the plan reach it? Without one: true. */
bool lx_plan_meets_target(const struct lx_plan *p);
/* Everything again from scratch: legality of every placement, objective, traffic, the plan's own claims. */
bool lx_plan_check(const struct lx_plan *p, lx_status *st);

/* The plan as JSON: malloc'ed, or NULL when memory is out. Same plan, same bytes. */
char *lx_plan_to_json(const struct lx_plan *p, size_t *length);
struct lx_plan *lx_plan_read(const char *path, lx_status *st);
struct lx_plan *lx_plan_parse(const char *file, const char *text, size_t length, lx_status *st);

/* Is this text a plan file (and not a pattern)? Only its `kind` is looked at, wherever it stands. */
bool lx_is_plan(const char *text, size_t length);

#endif
