/* Synchronisation of a plan. An edge says that tasks of one tick must be over before tasks of a later tick
 * begin on other cores; the syncs are the least set that stabs all edges.
 *
 * A core runs its own tasks in order: the moves, loads and ring copies of a tick (the receiving core pulls),
 * then the op, then the stores. Between two syncs the cores run freely; the begin of a bundle orders all of
 * them. The cores of a split sum meet inside the op. An op or copy that needs other cores within its tick
 * waits for them itself.
 *
 * A sync stands before a tick. A nest has one point before it, and one before each op of its body, which
 * counts once per iteration. A sync in (t, u] stabs an edge from tick t to tick u. An edge that goes around a
 * nest, from t to u of the next iteration, is stabbed by a sync in the body after t or up to u. */
#pragma once

#include "clock/program.h"

struct arena;

struct sync_edge {
    int32_t from, to; /* ticks: from < to, unless it goes around */
    int32_t around;   /* the nest whose next iteration `to` is in; -1: none */
};

struct sync_edges {
    struct sync_edge *at; /* without edges that others imply */
    int32_t count;
};

struct lx_syncs {
    struct lx_sync *at; /* in order of time */
    int32_t count;
    int64_t times; /* the number of waits, over all iterations */
};

/* Syncs of the least number of times that stab all edges; of equals the latest. The nests are disjoint, in
 * order of time, and within `ops`. */
void syncs_stab(int32_t ops, const struct lx_nest *nests, int32_t nest_count, const struct sync_edges *edges,
                struct arena *memory, struct lx_syncs *out);

/* Both: the syncs of a program. */
void program_syncs(const struct plan_program *p, struct arena *memory, struct lx_syncs *out);
