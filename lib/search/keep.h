/* Keeping: which tensor is on chip between which of its uses, by load alone.
 *
 * A tensor's accesses by one op are one use. Between two uses it is kept on chip or not; what that costs in HBM bytes
 * follows use by use: a read that finds nothing on chip goes to HBM or loads the whole, a value that is dropped and
 * still needed is stored once. On every tick what is on chip together must fit, wherever it lies: addresses are left
 * out, so that the least cost is one that no cuts of stays, no places and no moves go below. Several views of a tensor
 * count as the smallest of them. Sizes: up to some thousand ops, with a few uses each. Private to the stage. */
#ifndef LX_SEARCH_KEEP_H
#define LX_SEARCH_KEEP_H

#include "base/vec.h"
#include "search/plan_search.h"

/* Where a tensor is between two uses. */
enum keep_state {
    KEEP_HBM,   /* only there, or nowhere */
    KEEP_BOTH,  /* on chip, and HBM has the value */
    KEEP_CHIP,  /* on chip, and HBM lacks it */
    KEEP_NEVER, /* in HBM for the rest of its run: a stay that may not be cut is off chip */
    KEEP_STATES
};

struct keep_use {
    int32_t tensor, op;
    int64_t served, forced, written; /* HBM bytes: of reads that a stay may serve, of others, of the write */
    int64_t size;                    /* on chip at this tick */
    int64_t extra;                   /* and the view that it is laid out anew from, if it was there before */
    int64_t between;                 /* on chip until the next, in the order of the ops as they stand */
    int32_t version, leaves;         /* of the tensor: that it reads, and that it leaves */
    int32_t run;                     /* ops between two that wipe the scratchpads */
    int label;                       /* of its view among the tensor's; -1: none that can be on chip */
    bool reads_may, reads_hbm, writes, write_may;
    bool inserts; /* it keeps what it does not write */
    bool gives;   /* the op may write its output over this */
    bool takes;   /* the op may write this over an input */
    /* In the order of the model's ops: */
    bool may_keep; /* somebody could use it later on chip */
    bool needed;   /* somebody needs the value that it leaves */
    bool goes_on;  /* it is used again in this run */
};

struct keep_tensor {
    int32_t first, count; /* uses */
    int64_t whole;        /* HBM bytes */
    int64_t between;      /* bytes on chip while it is kept, in any order */
    bool many;            /* views */
    bool output, cuts;    /* cuts: it may be dropped and come back within a run */
};

struct keep_model {
    const struct draft *x;
    struct keep_use *uses; /* by tensor, then time */
    int32_t use_count;
    struct keep_tensor *tensors;
    int32_t tensor_count, op_count;
    int32_t *op_at, *op_use; /* per op: its uses, the output's last */
    int64_t capacity;        /* rounded up to the alignment, as all sizes are */
    int64_t grain;           /* every cost is a multiple of it */
    bool cuts;               /* stays may be cut */
    double *price,
        *sums;     /* per tick and byte, for the order in which the ops stand; and of those before a tick */
    double *ahead; /* per use and state: the least priced cost from it on */
};

/* keep_model.c. Of a draft without cuts; `cuts`: stays may be cut. In `memory` of the arena. */
void keep_model_make(const struct draft *x, bool cuts, struct arena *memory, struct keep_model *out);

static inline bool keep_on_chip(enum keep_state s)
{
    return s == KEEP_BOTH || s == KEEP_CHIP;
}
/* Does it read what was there before? Could a stay serve that? */
static inline bool keep_reads(const struct keep_use *u)
{
    return u->reads_may || u->reads_hbm || u->inserts;
}
static inline bool keep_serves(const struct keep_use *u)
{
    return u->reads_may || (u->inserts && u->write_may);
}

/* What may happen at a use. */
struct keep_outcome {
    int64_t cost;
    int64_t size; /* bytes at this tick */
    enum keep_state after;
    bool on;    /* it is there at this tick */
    bool fresh; /* and these may be an input's: it begins by being written */
};
struct keep_later {
    bool may_keep, needed, goes_on;
};
enum { KEEP_OUTCOMES = 12 };
int keep_outcomes(const struct keep_model *m, const struct keep_use *u, enum keep_state before,
                  struct keep_later later, struct keep_outcome out[KEEP_OUTCOMES]);

/* keep_prices.c: prices of ticks under which the tensors, each for itself, cost most: a bound below which no
 * choice is, in whole grains. `best`: the cost of a choice that is known. Fills price, sums and ahead. */
int64_t keep_price(struct keep_model *m, int64_t best);

/* The least priced cost behind a use that left its tensor so. */
double keep_from_then(const struct keep_model *m, int32_t use, enum keep_state after);

/* keep_search.c: choices from the cheapest on. */
struct keep_choice {
    int64_t cost;
    const int32_t *order; /* per tick: the op of the model; NULL: as they stand */
    struct cut *cuts;     /* by tensor, then op as it stands in that order */
    int32_t cut_count;
    const bool *kept; /* per use of the model: on chip until the next */
};
struct keep_found {
    struct keep_choice *at; /* by cost */
    int32_t count;
    int64_t bound; /* no choice costs less, those left out included */
    bool complete; /* all below `below` are listed */
};
struct keep_limits {
    int64_t below;            /* choices that cost as much are of no use */
    int32_t width;            /* partial choices at a time */
    int32_t choices;          /* at most so many are given */
    bool any_order;           /* ops may change places; at most 64 */
    bool no_history;          /* only the cost counts, not how it came about */
    const struct lx_run *run; /* it ends without choice and without bound when this is stopped */
};
/* How many partial choices are worth it for a graph of this size. */
int32_t keep_width(const struct draft *x);
void keep_search(const struct keep_model *m, const struct keep_limits *l, struct arena *memory,
                 struct keep_found *out);

enum { KEEP_ANY_ORDER = 64 }; /* ops of which all orders are looked at */
/* keep_bound.c: the choices of the model for the best attempt's decisions without cuts. To be freed, also where
 * it failed. */
struct keep_answer {
    struct arena memory;
    struct draft plain;
    struct keep_model model;
    int64_t bound; /* by prices; 0: ops may change places */
    struct keep_found found;
};
bool keep_ask(const struct search *search, bool cuts, int64_t choices, bool any_order,
              struct keep_answer *out);
void keep_answer_free(struct keep_answer *a);
/* HBM bytes that no plan with these divisions, passes and borders of bundles goes below. */
bool keep_bound(struct search *search, int64_t *bound);
/* HBM bytes that no plan under these decisions, which cut nothing, goes below, found in milliseconds: where an answer
 * reaches them nothing else has to be tried. 0: the graph is small, or there is no quick solver. */
bool keep_least(const struct search *search, const struct decisions *how, int64_t *least);
/* The same where a plan is known, and one that the quick solver makes. */
bool keep_least_below(const struct search *search, const struct decisions *how, int64_t known,
                      int64_t *least);
bool keep_quick(const struct search *search, const struct decisions *how, struct attempt *out);

/* An engine: the model's choices of what to keep, with moves where they need some. */
bool move_search(struct search *search);
/* A plan of the decisions with what the choice keeps on chip, stays changing their addresses where they must; it is offered.
 * `c->order`: per tick the op of the model, NULL: as they stand. */
bool move_try(struct search *search, const struct keep_model *m, const struct keep_choice *c,
              const struct decisions *how);

/* A scratchpad tick by tick, in which what is there may be moved to make room. Blocks stand by address and keep
 * their order, so that moves made one after the other never overwrite what is still to be moved. */
struct room_block {
    int32_t owner, heir; /* heir: who takes its place over at the next tick, or -1 */
    int64_t address, size;
    int64_t old; /* address before this tick; -1: it is new */
    bool fixed;  /* it stays where it is */
};

struct room {
    int64_t capacity;
    VEC(struct room_block) blocks;
};

/* A place for a new block: the tightest gap, else the one for which least is moved. False: there is none. */
bool room_insert(struct room *r, struct room_block new);

#endif
