/* One sweep over the variables: all partial answers side by side, the cheapest of each node. Private to the terms. */
#ifndef LX_COOPTIMISE_TERM_SWEEP_H
#define LX_COOPTIMISE_TERM_SWEEP_H

#include "cooptimise/term_frontier.h"

/* A way into a node: from a node of the layer before, by a value. */
struct term_arc {
    int32_t from, value, next; /* next: another way into the same node, or -1 */
    int64_t cost;
};

/* Nodes behind some variables; each knows its cheapest beginning. */
struct term_nodes {
    int32_t count;
    const int64_t *cost;
    const int32_t *first; /* arc */
};

struct term_sweep_options {
    int32_t width;      /* nodes of a layer that are kept; the rest raises no bound */
    int64_t below;      /* only answers that cost less */
    int64_t step_limit; /* of this sweep */
    const struct lx_run *run;
    double deadline; /* 0: none */
};

struct term_sweep {
    struct term_nodes *layers; /* behind 0, 1, ... all variables; the last has one node, or none */
    VEC(struct term_arc) arcs;
    int64_t dropped; /* no answer outside of these arcs costs less; TERM_NEVER: none that was asked for is */
    bool arcs_lost;  /* there were too many: only the cheapest way into each node is sure to be there */
    bool stopped;
    int64_t steps;
    struct arena memory;
};

bool term_sweep(struct term_sweep *s, const struct term_frontier *f, const struct term_bound *b,
                const struct term_sweep_options *how, lx_status *st);
void term_sweep_free(struct term_sweep *s);

#endif
