/* Windows: a run of ops as a graph of its own, so that its nests are looked for at the cost of its size.
 *
 * What comes from outside is an input of it, what is used behind it an output. What is found is carried back and planned as a
 * whole: what goes on across the ends of windows is decided there. Windows that look the same op by op have the same nests. Some
 * dozen ops each. Private to the stage. */
#ifndef LX_SEARCH_NEST_WINDOW_H
#define LX_SEARCH_NEST_WINDOW_H

#include "search/nests/nest_edits.h"

struct nest_window {
    int32_t first, last;   /* ops of the draft */
    const int32_t *tensor; /* per tensor of the window: that of the draft */
    struct lx_graph graph;
    struct lx_layouts layouts;
    struct lx_divisions divided;
};

/* The ops of a draft without nests; all memory is the arena's, and what the draft has is shared. */
bool nest_window_make(const struct draft *x, int32_t first, int32_t last, struct arena *memory,
                      struct nest_window *out, lx_status *st);
/* Do both have the same ops on the same tensors? */
bool nest_windows_alike(const struct nest_window *a, const struct nest_window *b);
/* What was decided for the window (or one like it) goes into a set of the whole, behind what it has. `divided`: the set's. */
bool nest_window_carry(const struct nest_window *w, const struct draft *whole, const struct decisions *found,
                       struct arena *memory, struct nest_set *to, const struct lx_division **divided,
                       lx_status *st);
/* Where windows end: per window its last op. At most `most` ops each, where little crosses; the same for what repeats. */
bool nest_windows_cut(const struct draft *x, int32_t most, struct arena *memory, int32_t **last,
                      int32_t *count, lx_status *st);

#endif
