/* What came out of planning one pattern with some settings, and what every view wants to know about it.
 *
 * Made on a worker's thread, with everything that takes longer than a redraw may (orders, timelines, who
 * reads what), and only read afterwards. The views ask through these functions and not the plan's own fields,
 * so that they agree on what a tick, a tensor and an identity are. */
#ifndef LX_APP_TUI_PLANNED_H
#define LX_APP_TUI_PLANNED_H

#include "picture/picture.h"
#include "picture/plan_index.h"
#include "tui/views/pattern_source.h"
#include "tui/draw/rails.h"
#include "tui/views/what_if.h"

struct outcome {
    uint64_t number;            /* no two outcomes have the same */
    const struct lx_plan *plan; /* a reference; NULL: `st` says why */
    lx_status st;
    const struct lx_layouts *layouts;     /* the plan's; NULL for a list of buffers */
    const struct lx_divisions *divisions; /* the same */
    struct lx_occupancy time;
    struct plan_index index; /* for maps */
    int32_t *off_chip;       /* buffers, dearest first, then those that may not be on chip */
    int32_t off_chip_count;
    int64_t *moved;            /* per buffer: HBM bytes that it moves */
    struct lx_byte_sums bytes; /* and what for, together */
    struct lx_op_wait *waits;  /* per op; NULL for a list */
    struct lx_op_wait waits_sum;
    struct rails rails; /* tensors beside the ops that use them */
    int32_t *stay_at;   /* per tensor, and one more: into stays_by_tensor */
    int32_t *stays_by_tensor;
    int32_t *producer; /* per tensor: the op that writes it, or -1 */
    int32_t *readers;  /* ops that read tensor t: readers[reader_at[t]] up to reader_at[t + 1] */
    int32_t *reader_at;
    struct lx_repeat *repeats; /* layers that the graph has several times, in order */
    int32_t repeat_count;
    struct what_if how;
    bool unread;   /* there is no plan as the file cannot be read, whatever the settings */
    bool was_read; /* a plan file, shown as it is */
    bool is_legal; /* by the independent checker; else `check` says what is wrong */
    lx_status check;
    bool interim; /* a better one is being made: only its placement has been checked, and no bound is known */
    bool stopped; /* it is the best that was found when somebody said stop */
};

/* Plans what was read from a pattern (or a plan file). `as_it_is`: a plan file is not planned anew. `like`: a
 * plan that may have the same layouts and divisions, or NULL. `run` has the callbacks. Without a plan `out->st` has the reason. */
void outcome_make(const struct source_content *from, const struct what_if *how, const struct lx_run *run,
                  bool as_it_is, const struct lx_plan *like, struct outcome *out);
/* The same at once, by a heuristic, or, where `run` is not NULL, by the solver itself within its limits: interim. False
 * where there is none. */
bool outcome_make_hastily(const struct source_content *from, const struct what_if *how,
                          const struct lx_run *run, const struct lx_plan *like, struct outcome *out);
/* Of an answer that a solver tells of while it looks for a better one; lists only. */
bool outcome_of_answer(const struct source_content *from, const struct what_if *how,
                       const struct lx_progress *so_far, struct outcome *out);
/* Of a plan that is there; takes the reference over. */
void outcome_of_plan(const struct lx_plan *plan, struct outcome *out);
void outcome_free(struct outcome *o);

/* The graph whose ops are the ticks; NULL for a list of buffers. */
const struct lx_graph *outcome_graph(const struct outcome *o);
const struct lx_graph *plan_graph(const struct lx_plan *p);
/* Its tensor, or -1. */
int32_t outcome_tensor(const struct outcome *o, int32_t buffer);
/* The first buffer of a tensor, or -1. */
int32_t outcome_buffer(const struct outcome *o, int32_t tensor);
/* The run of repeated layers that an op is in; NULL: none. */
const struct lx_repeat *outcome_repeat(const struct outcome *o, int32_t op);
/* How op `op` is divided; NULL where nothing is known. */
const struct lx_division *outcome_division(const struct outcome *o, int32_t op);
/* Is the tensor on chip at a tick? */
bool outcome_holds(const struct outcome *o, int32_t tensor, int64_t tick);

#endif
