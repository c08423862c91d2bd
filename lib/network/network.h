/* A network: variables with domains, and costs that are sums of tables over some of them.
 *
 * Variables are decided in their order. A table distinguishes the values of a variable by classes. A value
 * may take bytes of a room while its variable lives; no tick may use more than `room`. At the first tick of
 * its life a child may take the place of a parent, where a table allows it.
 *
 * Bounds come from mini-buckets (buckets.c), answers from a beam over the variables (sweep.c), the next best
 * answers from walking back over the beam. Some hundred variables of up to 2,000 values, tables of up to 2^20
 * entries. */
#pragma once

#include "network/beam.h"

struct net_var {
    int32_t size;   /* number of values */
    int64_t *bytes; /* per value; -1: not in the room */
    int64_t start, end;
    bool may_be_on; /* some value is in the room */
};

struct net_axis {
    int32_t var, size;
    const int32_t *class_of; /* per value */
};

struct net_table {
    struct net_axis *axes;    /* by ascending variable */
    int32_t axis_count, last; /* last: variable, -1: none */
    int64_t *values, count;   /* row-major; NETWORK_NEVER: impossible */
};

/* A child may take its parent's place under the values where `fits` is 1. */
struct net_handover {
    int32_t parent, child;
    struct net_table fits;
};

struct network {
    struct net_var *vars;
    int32_t count;
    int64_t room, base; /* base: cost of every answer */
    VEC(struct net_table) tables;
    VEC(struct net_handover) handovers;
    struct arena memory;
};

void network_free(struct network *n);
/* Numbers equal rows of `width` bytes alike, in order of appearance; returns the number of classes. */
int32_t net_classes(const void *rows, size_t width, int32_t count, int32_t *class_of);
/* A table over these axes, which are sorted by variable; all values 0. */
struct net_table net_table_make(struct arena *memory, const struct net_axis *axes, int32_t count);
/* The sum of all tables under these values, one per variable. */
int64_t net_cost(const struct network *n, const int32_t *values);

/* --- Bounds. --- */

/* A lower bound on the cost of variable `from` and later ones eliminated into it, as a table over earlier
 * variables. */
struct net_message {
    struct net_table table;
    int32_t from;
};

/* After variables 0 .. k - 1 are decided, the sum of all messages with from >= k and table.last < k is a
 * lower bound. */
struct net_bound {
    VEC(struct net_message) messages;
    int64_t least; /* lower bound with no variable decided */
    bool exact;    /* no bucket was split: the bound is the optimum, apart from room */
    struct arena memory;
};

/* Makes no table of more than `limit` entries, unless the network has one as large. */
void net_bound_make(struct net_bound *b, const struct network *n, int64_t limit, int64_t *steps);
void net_bound_free(struct net_bound *b);

/* --- The part of the decided variables that later ones depend on (frontier.c). --- */

/* Classes of the values of a variable, counting only tables, room and handovers open until `until` or
 * later. */
struct net_partition {
    int32_t until, size;
    const int32_t *class_of, *member; /* member: one value of each class */
};

/* The caller frees `memory`. */
struct net_frontier {
    const struct network *n;
    struct net_partition **classes; /* per variable; `until` falling, classes ever finer */
    int32_t *class_count, *slot;    /* per variable; slot: in the rows of the sweep */
    int32_t slot_count;
    struct arena memory;
};

void net_frontier_make(struct net_frontier *f, const struct network *n);

/* An entry of a table, for a row and the current variable's value: the sum of offsets. */
struct net_lookup {
    const int64_t *values;
    int64_t fixed;
    int32_t count;
    const int32_t *slots;
    const int64_t *const *offset; /* parallel to slots: per class */
    const int64_t *own; /* per value of the current variable; NULL: the table does not depend on it */
};

/* A variable alive at a tick. Its bytes do not count there if a handover holds. */
struct net_resident {
    int32_t slot;         /* -1: the current variable */
    const int64_t *bytes; /* per class; with slot -1 per value */
    const struct net_lookup *handovers;
    int32_t handover_count;
};

struct net_tick {
    const struct net_resident *residents;
    int32_t count;
};

struct net_layer {
    int32_t changed_count;
    int32_t *changed;          /* slots whose variable has other classes after this layer, or is closed */
    const int32_t **class_map; /* per changed slot: class to class; NULL: closed. For `own`: value to class */
    int32_t own;               /* index of the current variable's slot in `changed`, or -1 */
    const struct net_lookup *costs; /* tables whose last variable is the current one */
    const struct net_lookup *least; /* messages that hold after this layer */
    const struct net_tick *ticks;
    int32_t cost_count, least_count, tick_count;
    int32_t open_count; /* slots open after this layer; the bytes of their classes */
    const int32_t *open;
    const int64_t **open_bytes;
};

void net_layer_make(const struct net_frontier *f, const struct net_bound *b, int32_t var,
                    struct arena *memory, struct net_layer *out);

/* --- The sweep. --- */

struct net_sweep_options {
    int32_t width;      /* states kept per layer */
    int64_t below;      /* only answers that cost less */
    int64_t step_limit; /* of this sweep */
    bool (*cancelled)(const void *context);
    const void *context;
};

/* The caller ends it with beam_end(&sweep.beam). */
struct net_sweep {
    struct beam beam;
    int64_t **cost, **rank; /* per layer (after 0, 1, ... variables) and state */
    bool cancelled;         /* or out of steps */
    int64_t steps;
};

void net_sweep_make(struct net_sweep *s, const struct net_frontier *f, const struct net_bound *b,
                    const struct net_sweep_options *how);

/* --- The answers of a sweep, cheapest first. --- */

struct net_answers;
struct net_answers *net_answers_make(const struct net_sweep *s);
void net_answers_free(struct net_answers *a);
/* The next answer below this cost; false: none. */
bool net_answers_next(struct net_answers *a, int64_t below, int32_t *values, int64_t *cost);
/* A lower bound on the sweep's answers not yet returned. */
int64_t net_answers_least(const struct net_answers *a);
