/* The parts of the joint search: what they share of its progress, and leaves, which are placed answers. */
#ifndef LX_COOPTIMISE_JOINT_SEARCH_H
#define LX_COOPTIMISE_JOINT_SEARCH_H

#include "cooptimise/joint_model.h"

struct joint_leaf {
    int32_t *choice;
    int64_t *address;
    int64_t objective;
    bool proved;      /* the solver proved that these choices cannot be placed better, by tolls */
    int64_t unpinned; /* bytes of all buffers that the solver left off chip: the published score */
};

struct joint_search {
    const struct lx_joint_problem *p;
    const struct lx_joint_options *how;
    struct joint_model model;
    struct joint_leaf best, trial;
    const struct joint_leaf *last; /* the one of them that was placed last */
    int64_t bound, steps, step_limit, leaves;
    double deadline; /* of the monotonic clock, in seconds; 0: none */
    bool stopped;
};

/* Places the choices of the leaf and completes it. */
bool joint_leaf_solve(const struct lx_joint_problem *p, const struct lx_joint_options *how,
                      struct joint_leaf *leaf, lx_status *st);
/* joint_flip.c: the published search, at most `leaf_cap` leaves. */
bool joint_flip(const struct lx_joint_problem *p, const struct lx_joint_options *how, int64_t leaf_cap,
                struct joint_leaf *best, int64_t *leaves, lx_status *st);
/* One beam with the model as it is, and the placement of what it found; better answers are kept. `*placed`:
 * the solver placed all that the beam had on chip. */
bool joint_try_beam(struct joint_search *s, int32_t width, int64_t capacity, struct joint_beam_result *r,
                    bool *placed, lx_status *st);
/* Places the choices of `trial`; better answers are kept. One step. */
bool joint_try_leaf(struct joint_search *s, lx_status *st);
/* joint_walk.c: of problems with tiles. */
bool joint_walk(struct joint_search *s, lx_status *st);
/* Bound and objective have met, or the work is used up. */
bool joint_finished(const struct joint_search *s);
/* joint_branch.c: raises the bound, and finds what beams alone do not, by deciding single buffers. */
bool joint_branch(struct joint_search *s, lx_status *st);

#endif
