/* One try in the making. Private to try.c, relayouts.c and solve_draft.c. */
#ifndef LX_SEARCH_TRIAL_H
#define LX_SEARCH_TRIAL_H

#include "search/plan_search.h"

struct trial {
    const struct search *search;
    struct effort effort;
    int64_t
        stop_at; /* HBM bytes that nothing under the decisions goes below: a solver that is there ends; 0: not known */
};

/* try.c: one draft, under the decisions as they stand. */
bool trial_solve(const struct trial *trial, const struct decisions *decisions, struct attempt *out);
/* relayouts.c: the best of the ways to decide relayouts; at most `drafts` are solved. */
bool trial_decide_relayouts(const struct trial *trial, const struct decisions *decisions, int drafts,
                            struct attempt *out);
/* Steps that one draft of the graph is worth. */
int64_t trial_draft_steps(const struct trial *trial);
/* solve_draft.c: the draft of an attempt solved; its bytes and bound. */
bool trial_solve_draft(const struct trial *trial, struct attempt *attempt);
/* Is the problem of a draft one that a solver and a plan file can take? */
bool draft_valid(const struct draft *x, lx_status *st);

#endif
