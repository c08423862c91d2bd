/* The result of planning one pattern with some settings, with an index for views.
 *
 * A worker thread makes it, with everything too slow for a redraw (orders, timelines, readers), and it is
 * constant afterwards. Views use these functions and not the plan's own fields, so that they agree on ticks,
 * tensors and identities. */
#pragma once

#include "picture/picture.h"
#include "picture/plan_index.h"
#include "tui/views/pattern_source.h"
#include "tui/views/what_if.h"

/* Lanes beside a list: each thing that lives over several rows runs down a lane of its own, as commits do
 * in tig.
 *
 * Things begin in the leftmost free lane, longer ones first; a lane is free again behind the last row of a
 * thing. There are MOST_RAILS lanes; things without one are only counted. Made once for a list (some
 * 100,000 things); a lookup is a binary search in the lane. */
enum { MOST_RAILS = 48 };

struct rail {
    int32_t thing;
    int32_t first, last; /* rows, both included */
};

struct rails {
    int lanes;                       /* in use */
    struct rail *at;                 /* lane by lane, each from the top down */
    int32_t lane_at[MOST_RAILS + 1]; /* of lane k: from lane_at[k] up to lane_at[k + 1] */
    int32_t *live;                   /* per row: things that live there, in lanes or not */
    int32_t rows;
};

/* Things outside [0, rows) are not allowed. */
void rails_make(const struct rail *all, int32_t count, int32_t rows, struct rails *out);
void rails_free(struct rails *r);
/* The thing in a lane at a row; NULL: nothing. */
const struct rail *rails_at(const struct rails *r, int lane, int32_t row);
/* Things that live at a row and have none of the first `lanes` lanes. */
int32_t rails_folded(const struct rails *r, int lanes, int32_t row);

struct outcome {
    uint64_t number;            /* no two outcomes have the same */
    const struct lx_plan *plan; /* a reference; NULL: see `st` */
    lx_status st;
    const struct lx_layouts *layouts;     /* the plan's; NULL for a list of buffers */
    const struct lx_divisions *divisions; /* the same */
    struct lx_occupancy time;
    struct plan_index index; /* for maps */
    int32_t *off_chip;       /* most expensive first; buffers that must stay in HBM last */
    int32_t off_chip_count;
    int64_t *moved;            /* per buffer: HBM bytes that it moves */
    struct lx_byte_sums bytes; /* the same by purpose */
    struct lx_op_wait *waits;  /* per op; NULL for a list */
    struct lx_op_wait waits_sum;
    struct rails rails; /* tensors beside the ops that use them */
    int32_t *stay_at;   /* per tensor, and one more: into stays_by_tensor */
    int32_t *stays_by_tensor;
    int32_t *producer; /* per tensor: the op that writes it, or -1 */
    int32_t *readers;  /* ops that read tensor t: readers[reader_at[t]] up to reader_at[t + 1] */
    int32_t *reader_at;
    struct lx_repeat *repeats; /* repeated layers of the graph, in order */
    int32_t repeat_count;
    struct what_if how;
    bool unread;   /* the file cannot be read, with any settings */
    bool was_read; /* a plan file, shown unchanged */
    bool is_legal; /* by the independent checker; else see `check` */
    lx_status check;
    bool interim; /* a better one is being made: only its placement was checked, and no bound is known */
    bool stopped; /* the best plan when the user cancelled */
};

/* Plans the content of a pattern (or of a plan file). `as_it_is`: a plan file is not planned again.
 * `like`: a plan that may have the same layouts and divisions, or NULL. `run` has the callbacks. Without a
 * plan `out->st` has the reason. */
void outcome_make(const struct source_content *from, const struct what_if *how, const struct lx_run *run,
                  bool as_it_is, const struct lx_plan *like, struct outcome *out);
/* An interim plan by a heuristic, or, with `run`, by the solver itself within its limits. False: there is
 * none. */
bool outcome_make_hastily(const struct source_content *from, const struct what_if *how,
                          const struct lx_run *run, const struct lx_plan *like, struct outcome *out);
/* An interim plan of a solver's present answer; lists only. */
bool outcome_of_answer(const struct source_content *from, const struct what_if *how,
                       const struct lx_progress *so_far, struct outcome *out);
/* Of an existing plan; takes over the reference. */
void outcome_of_plan(const struct lx_plan *plan, struct outcome *out);
void outcome_free(struct outcome *o);

/* The graph whose ops are the ticks; NULL for a list of buffers. */
const struct lx_graph *outcome_graph(const struct outcome *o);
/* Its tensor, or -1. */
int32_t outcome_tensor(const struct outcome *o, int32_t buffer);
/* The first buffer of a tensor, or -1. */
int32_t outcome_buffer(const struct outcome *o, int32_t tensor);
/* The run of repeated layers that an op is in; NULL: none. */
const struct lx_repeat *outcome_repeat(const struct outcome *o, int32_t op);
/* How op `op` is divided; NULL where nothing is known. */
const struct lx_division *outcome_division(const struct outcome *o, int32_t op);
