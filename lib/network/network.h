/* A network: variables with domains, and costs that are sums of tables over some of them.
 *
 * Variables stand in the order in which they are decided. A table knows the values of a variable by classes:
 * values that no entry tells apart are one. A value may also take bytes of a room while its variable lives;
 * at no tick may there be more than `room`. At the first tick of its life a child may take the place of a
 * parent, where a table says so.
 *
 * Bounds come from mini-buckets (buckets.c), answers from a beam over the variables (sweep.c), the next best
 * ones from walking back over it. Sizes: some hundred variables of up to 2,000 values, tables
 * of up to 2^20 entries. */
#ifndef LX_NETWORK_NETWORK_H
#define LX_NETWORK_NETWORK_H

#include "network/beam.h"

struct net_var {
    int32_t size;   /* how many values */
    int64_t *bytes; /* per value; -1: none, and it is not in the room */
    int64_t start, end;
    bool may_be_on; /* some value is in the room */
};

struct net_axis {
    int32_t var, size;
    const int32_t *class_of; /* per value */
};

struct net_table {
    struct net_axis *axes;    /* variables rising */
    int32_t axis_count, last; /* last: variable, -1: none */
    int64_t *values, count;   /* row-major; NETWORK_NEVER: it must not be */
};

/* A child that may take its parent's place, and under which values: 1 or 0. */
struct net_handover {
    int32_t parent, child;
    struct net_table fits;
};

struct network {
    struct net_var *vars;
    int32_t count;
    int64_t room, base; /* base: a cost that all answers have */
    VEC(struct net_table) tables;
    VEC(struct net_handover) handovers;
    struct arena memory;
};

void network_free(struct network *n);
/* Classes of rows of `width` bytes by equality, in the order in which they come; returns how many. */
int32_t net_classes(const void *rows, size_t width, int32_t count, int32_t *class_of);
/* A table over these axes, sorted here, all 0. */
struct net_table net_table_make(struct arena *memory, const struct net_axis *axes, int32_t count);
/* The sum of all tables under these values, one per variable. */
int64_t net_cost(const struct network *n, const int32_t *values);

/* --- Bounds. --- */

/* What variable `from` and those behind it that were thrown into it cost at least, by variables before it. */
struct net_message {
    struct net_table table;
    int32_t from;
};

/* Behind variables 0 .. k - 1 the sum of all messages with from >= k and table.last < k is a lower bound. */
struct net_bound {
    VEC(struct net_message) messages;
    int64_t least; /* with nothing decided */
    bool exact;    /* nothing had to be taken apart: the bound is the optimum but for room */
    struct arena memory;
};

/* No table of more than `limit` entries is made but those that exist. */
void net_bound_make(struct net_bound *b, const struct network *n, int64_t limit, int64_t *steps);
void net_bound_free(struct net_bound *b);

/* --- What of the variables that are decided still matters to those that are not (frontier.c). --- */

/* The values of a variable while everything that closes at `until` or later is open. */
struct net_partition {
    int32_t until, size;
    const int32_t *class_of, *member; /* member: a value of each class */
};

struct net_frontier {
    const struct network *n;
    struct net_partition **classes; /* per variable; rising in what is open */
    int32_t *class_count, *slot;    /* per variable; slot: in the rows of the sweep */
    int32_t slot_count;
    struct arena memory;
};

void net_frontier_make(struct net_frontier *f, const struct network *n);
void net_frontier_free(struct net_frontier *f);

/* An entry of a table by a row and the value that is decided now: the sum of the offsets. */
struct net_lookup {
    const int64_t *values;
    int64_t fixed;
    int32_t count;
    const int32_t *slots;
    const int64_t *const *offset; /* parallel: per class */
    const int64_t *own;           /* per value of the variable that is decided now; NULL: it has no part */
};

/* Who is alive at a tick, and whose bytes need not be counted as it takes another's place there. */
struct net_resident {
    int32_t slot;         /* -1: the variable that is decided now */
    const int64_t *bytes; /* per class, of -1: per value */
    const struct net_lookup *handovers;
    int32_t handover_count;
};

struct net_tick {
    const struct net_resident *residents;
    int32_t count;
};

/* All that is needed to decide one variable. */
struct net_layer {
    int32_t changed_count;
    int32_t *changed;               /* slots whose variable has other classes behind it, or is closed */
    const int32_t **class_map;      /* per changed slot: class to class; NULL: closed. Own: value to class */
    int32_t own;                    /* the changed slot that is the variable's, or -1 */
    const struct net_lookup *costs; /* tables that are complete now */
    const struct net_lookup *least; /* messages that hold behind it */
    const struct net_tick *ticks;
    int32_t cost_count, least_count, tick_count;
    int32_t open_count; /* slots that are open behind it, and the bytes of their classes */
    const int32_t *open;
    const int64_t **open_bytes;
};

/* For one variable under one bound; from `memory`. */
void net_layer_make(const struct net_frontier *f, const struct net_bound *b, int32_t var,
                    struct arena *memory, struct net_layer *out);

/* --- The sweep. --- */

struct net_sweep_options {
    int32_t width;      /* states of a layer that are kept; the rest raises no bound */
    int64_t below;      /* only answers that cost less */
    int64_t step_limit; /* of this sweep */
    bool (*cancelled)(const void *context);
    const void *context;
};

struct net_sweep {
    struct beam beam;
    int64_t **cost, **rank; /* per layer, behind 0, 1, ... variables, and state */
    bool cancelled;         /* or out of steps */
    int64_t steps;
};

void net_sweep_make(struct net_sweep *s, const struct net_frontier *f, const struct net_bound *b,
                    const struct net_sweep_options *how);
void net_sweep_free(struct net_sweep *s);

/* --- The answers of a sweep in the order of their costs. --- */

struct net_answers;
struct net_answers *net_answers_make(const struct net_sweep *s);
void net_answers_free(struct net_answers *a);
/* The next one below this cost; false: there is none. */
bool net_answers_next(struct net_answers *a, int64_t below, int32_t *values, int64_t *cost);
/* What no answer of the sweep costs less than that was not handed out. */
int64_t net_answers_least(const struct net_answers *a);

#endif
