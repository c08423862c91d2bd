/* What of the variables that are decided still matters to those that are not. Private to the terms.
 *
 * While tables, room or handovers that a variable has part in are open, its values are told apart by their classes there; as
 * they close, classes join. A node of the sweep is the classes of the open variables and nothing else. */
#ifndef LX_COOPTIMISE_TERM_FRONTIER_H
#define LX_COOPTIMISE_TERM_FRONTIER_H

#include "cooptimise/term_bound.h"

/* The values of a variable while everything that closes at `until` or later is open. */
struct term_partition {
    int32_t until, size;
    const int32_t *class_of, *member; /* member: a value of each class */
};

/* An entry of a table by the classes of a node and the value that is decided now: the sum of the offsets. */
struct term_lookup {
    const int64_t *values;
    int64_t fixed;
    int32_t count;
    const int32_t *slots;
    const int64_t *const *offset; /* parallel: per class */
    const int64_t *own;           /* per value of the variable that is decided now; NULL: it has no part */
};

/* Who is alive at a tick, and whose bytes need not be counted as it takes another's place there. */
struct term_resident {
    int32_t slot;         /* -1: the variable that is decided now */
    const int64_t *bytes; /* per class, of -1: per value; negative: off chip */
    const struct term_lookup *handovers;
    int32_t handover_count;
};

struct term_tick {
    const struct term_resident *residents;
    int32_t count;
};

/* All that is needed to decide one variable. */
struct term_layer {
    int32_t slot_count, next_count;   /* of nodes before and behind it */
    const int32_t *from;              /* per slot behind it: the slot before, -1: the variable itself */
    const int32_t *const *class_map;  /* per slot behind it: class (or value) to class */
    const int64_t *const *next_bytes; /* per slot behind it and class: negative, off chip */
    const struct term_lookup *costs;  /* tables that are complete now */
    const struct term_lookup *least;  /* messages that hold behind it */
    const struct term_tick *ticks;
    int32_t cost_count, least_count, tick_count;
};

struct term_frontier {
    const struct term_network *n;
    struct term_partition **classes; /* per variable; rising in what is open */
    int32_t *class_count;
    struct arena memory;
};

bool term_frontier_make(struct term_frontier *f, const struct term_network *n, lx_status *st);
void term_frontier_free(struct term_frontier *f);
/* For one variable under one bound; from `memory`. */
bool term_layer_make(const struct term_frontier *f, const struct term_bound *b, int32_t var,
                     struct arena *memory, struct term_layer *out);

#endif
