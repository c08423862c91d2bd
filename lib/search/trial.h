/* State of one try. Private to try.c, relayouts.c and solve_draft.c. */
#pragma once

#include "search/plan_search.h"

struct trial {
    const struct search *search;
    struct effort effort;
    int64_t stop_at; /* lower bound on HBM bytes under the decisions: a solver ends there; 0: unknown */
    int64_t below;   /* plans that move more are of no use; INT64_MAX: all are of use */
    double most_us;  /* plans that take longer are of no use; INFINITY: all are of use */
};

/* try.c: makes and solves one draft under the decisions. `out` without memory: it takes longer than
 * `most_us`. */
bool trial_solve(const struct trial *trial, const struct decisions *decisions, struct attempt *out);
/* relayouts.c: solves at most `drafts` drafts that decide relayouts differently; keeps the best. `out` has no
 * memory if none is of use. */
bool trial_decide_relayouts(const struct trial *trial, const struct decisions *decisions, int drafts,
                            struct attempt *out);
/* Limit on solver steps for one draft of the graph. */
int64_t trial_draft_steps(const struct trial *trial);
/* solve_draft.c: solves the draft of an attempt; sets its bytes and bound. */
bool trial_solve_draft(const struct trial *trial, struct attempt *attempt);
/* True if a solver and a plan file can represent the draft's problem. */
bool draft_valid(const struct draft *x, lx_status *st);
