/* A plan as the program that the device runs: ticks in order, copies around each, nests as counted loops,
 * bundles as launches. The clock (replay.h) and the syncs (syncs.h) read it. It is a view: nothing in it is
 * owned. */
#pragma once

#include "stays/stay.h"

struct arena;
struct draft;

/* What other cores pull from the source's parts in the ring copy of a stay (footprint_pulled). */
struct ring_pull {
    int64_t cores;
    struct part_range *parts[2]; /* per core; [1]: exactly; NULL: not computed yet */
};

struct plan_program {
    const struct lx_layouts *layouts; /* layouts->graph has the ops as they run */
    const struct lx_divisions *divisions;
    const struct lx_op_work *work; /* per op; NULL: not computed yet */
    const struct lx_nest *nests;   /* in order of time */
    int32_t nest_count;
    const struct lx_stay *stays;
    const struct lx_buffer *buffers; /* per stay: sizes and lives */
    const int64_t *address;          /* per stay; -1: in HBM */
    int32_t stay_count;
    const struct lx_access *accesses; /* of op o: from access_at[o], its inputs in order, then its outputs */
    const int32_t *access_at;
    const struct lx_transfer *transfers; /* by tick */
    int32_t transfer_count;
    const int64_t *hbm_address; /* per tensor; NULL: not yet chosen */
    struct ring_pull *pulls;    /* per stay, kept for later programs of the draft; NULL: none are kept */
    struct arena *memory;       /* of `pulls` */
    const int32_t *bundle_of;   /* per op; ascending from 0 */
    int32_t bundle_count;
    const struct lx_sync *syncs; /* what the clock waits for (syncs.h) */
    int32_t sync_count;
};

/* Transfers that are issued before they are due, by the tick of the issue: of op o, from at[o] on. */
struct early_copies {
    const int32_t *at, *copy;
};
struct early_copies program_early_copies(const struct plan_program *p, struct arena *memory);

/* The program of a draft with its buffers at `address` and the transfers that this asks for. */
struct plan_program plan_program_of_draft(const struct draft *x, const int64_t *address,
                                          const struct lx_transfer *transfers, int32_t transfer_count);
