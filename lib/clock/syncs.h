/* Synchronisation of a plan: which tasks of which cores must be over before others begin (edges), and the
 * least set of syncs that stabs them.
 *
 * A core runs its own tasks one after the other: of a tick moves, loads and ring copies (which the receiving
 * core pulls), then the op, then stores. Two cores run as they like between two syncs; the begin of a bundle
 * orders all. A split sum is a rendezvous of its group inside the op, and what an op or a copy of a tick needs
 * of other cores within that tick is its own to wait for.
 *
 * A sync stands before a tick. A nest has one point before it, and one before each op of its body, which
 * counts once per iteration. An edge from tick t to tick u is stabbed by a sync in (t, u]; one that goes
 * around a nest, from t to u of the next iteration, by a sync in the body behind t or up to u. */
#ifndef LX_CLOCK_SYNCS_H
#define LX_CLOCK_SYNCS_H

#include "clock/program.h"

struct arena;

struct sync_edge {
    int32_t from, to; /* ticks: from < to, unless it goes around */
    int32_t around;   /* the nest whose next iteration `to` is in; -1: none */
};

struct sync_edges {
    struct sync_edge *at; /* what others imply is left out */
    int32_t count;
};

struct lx_syncs {
    struct lx_sync *at; /* in order of time */
    int32_t count;
    int64_t times; /* that the cores wait, in all iterations */
};

/* Edges that no begin of a bundle stabs. With `hbm_address` also those of addresses that tensors share. */
void program_edges(const struct plan_program *p, struct arena *memory, struct sync_edges *out);

/* Syncs of the least number of times that stab all edges; of equals the latest. The nests are disjoint, in
 * order of time, and within `ops`. */
void syncs_stab(int32_t ops, const struct lx_nest *nests, int32_t nest_count, const struct sync_edges *edges,
                struct arena *memory, struct lx_syncs *out);

/* Both: the syncs of a program. */
void program_syncs(const struct plan_program *p, struct arena *memory, struct lx_syncs *out);

#endif
