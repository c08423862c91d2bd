/* State, options and shared functions of the annealing. */
#pragma once

#include "anneal/eject.h"
#include "anneal/refill.h"

/* The cooling schedule. Temperatures are integers, so that a seed gives the same run everywhere. */

enum { LOG_TABLE_BITS = 8, LOG_FRACTION_BITS = 16, COOLING_STAGES = 1024 };

struct schedule {
    uint32_t log2_table[(1 << LOG_TABLE_BITS) + 1]; /* log2 of 1 + i / 256, 16 fraction bits */
    int64_t hot, cold;                              /* temperatures, in energy */
    uint64_t ratio;                                 /* the cooling factor of one stage, 32 fraction bits */
    int64_t now;                                    /* the temperature */
    int64_t left;                                   /* work to the end of the cycle */
    int64_t stage, next; /* work of a stage; the temperature falls when `left` reaches `next` */
};

void cooling_make(struct schedule *s);
/* Starts a cycle from `hot` down to `cold` that lasts for `work` (steps, or another measure). */
void schedule_heat(struct schedule *s, int64_t hot, int64_t cold, int64_t work);
/* The largest rise in energy that this step accepts: temperature * -ln(u), with u from 64 random bits. */
int64_t schedule_allowance(const struct schedule *s, uint64_t random);
/* Counts `work` of a step; false when the cycle is over. */
bool schedule_spend(struct schedule *s, int64_t work);

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
    struct links links[2]; /* one for the decoder, one for the ejector and all others */
    struct decoder decoder;
    struct ejector ejector;
    struct refiller refiller;
    int64_t *worth; /* per item, see prices_find; NULL: unknown */
    struct schedule schedule;
    struct move_mix mix;
    struct rng rng;
    int64_t option[OPTIONS];
    int64_t *best;        /* bases of the best answer */
    int64_t best_spilled; /* spill: cost of its items off chip, and of its links */
    int32_t best_broken;  /* rules that it breaks; legal only with 0 */
    int64_t best_height;
    int32_t best_off; /* its items off chip */
    int64_t steps;
    bool by_steps;            /* work is counted in steps, else in conflicts visited */
    double began;             /* by the clock */
    int64_t *shown, reported; /* the last answer that was reported, and its objective */
    double report_next;       /* earliest time of the next report */
    int64_t looked_at;        /* looks of decoder, ejector or refiller at the last poll for cancellation */
    bool stopped;
    struct arena memory;
};

/* anneal.c */
int64_t annealing_objective(const struct search *s);
/* Reports progress; true: end the search. */
bool annealing_must_stop(struct search *s);
/* The best answer meets the bound. */
bool annealing_is_done(const struct search *s);
void annealing_measure_best(struct search *s);

/* phases.c: each phase starts from the best answer and improves it. */
/* Alternates orders and ejections, each with a mild and a hot cycle. For height only orders. */
void phase_cycles(struct search *s, int64_t work);
/* Refills windows that overlap by half, each with its share of the work. */
void phase_refills(struct search *s, int64_t work, int64_t hot);

static inline int64_t share_of(int64_t mean, int64_t thousandths)
{
    return (int64_t)((int128)mean * thousandths / 1000);
}

/* Packs all items without handovers by the search of exact/fit, trying at most `nodes` placements; true:
 * `base` holds the packing. */
bool pack_all(const struct items *it, const struct lx_run *run, int64_t nodes, int64_t *base);
