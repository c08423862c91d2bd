/* The annealing as its files share it: the state, the options, what is asked of it again and again. */
#ifndef LX_SOLVERS_ANNEAL_ANNEALING_H
#define LX_SOLVERS_ANNEAL_ANNEALING_H

#include "anneal/eject.h"
#include "anneal/decode.h"
#include "anneal/refill.h"
#include "anneal/schedule.h"
#include "base/checked.h"
#include "common/items.h"

enum option {
    EFFORT,
    MAX_EFFORT,
    CYCLES,
    HOT,
    REHEAT,
    EJECT_HOT,
    EJECT_COOL,
    REFILL_SHARE,
    REFILL_HOT,
    REFILL_WARM,
    REFILL_COLD,
    WINDOW,
    COLD,
    GUIDE,
    PATIENCE,
    OFF,
    CRITICAL,
    MERGE,
    TURN,
    FAR,
    SWAP,
    MAX_PAIRS,
    OPTIONS
};

struct search {
    const struct lx_problem *problem;
    const struct lx_run *run;
    struct items items;
    struct links links[2]; /* of the decoder, and of the ejector and all others */
    struct decoder decoder;
    struct ejector ejector;
    struct refiller refiller;
    int64_t *worth; /* per item, see common/prices.h; NULL: unknown */
    struct schedule schedule;
    struct move_mix mix;
    struct rng rng;
    int64_t option[OPTIONS];
    int64_t *best;        /* bases of the best answer */
    int64_t best_spilled; /* spill: cost of the items off chip in it, and of its links */
    int32_t best_broken;  /* what must not happen and does, in it; with any it is no answer */
    int64_t best_height;
    int32_t best_off; /* items off chip in it */
    int64_t steps;
    bool by_steps;        /* work is counted in steps; otherwise in conflicts looked at */
    double began;         /* on the clock */
    int64_t *shown, told; /* the last answer that was reported, and its objective */
    double tell_next;     /* not before this time another */
    int64_t looked_at;    /* looks of decoder, ejector or refiller when it was last asked whether to stop */
    bool stopped;
};

/* anneal.c */
int64_t annealing_objective(const struct search *s);
/* Reports; true when it is to end. */
bool annealing_must_stop(struct search *s);
/* Nothing can be better than the best answer. */
bool annealing_is_done(const struct search *s);
void annealing_measure_best(struct search *s);

/* phases.c: each starts from the best answer, and improves it. */
/* Orders and ejections take turns, each with a mild and a hot cycle. Heights are a matter of orders alone. */
bool phase_cycles(struct search *s, int64_t work);
/* Windows that overlap by half, each with its share of the work. */
void phase_refills(struct search *s, int64_t work, int64_t hot);

static inline int64_t share_of(int64_t mean, int64_t thousandths)
{
    return (int64_t)((int128)mean * thousandths / 1000);
}

/* Where everything must be placed: orders guided by what did not fit before. */

/* Looks for a packing of all items, without handovers, with so many placements tried; `base` is written
 * when one is found. */
void pack_all(const struct items *it, const struct lx_run *run, int64_t nodes, int64_t *base, bool *found);

#endif
