/* The model of keeping: between which uses each tensor is on chip, by load alone.
 *
 * All accesses of a tensor by one op are one use. Between two uses the tensor is kept or not; the HBM bytes
 * follow use by use. On every tick the kept bytes must fit, whatever the addresses, so the least cost is a
 * lower bound for all cuts, places and moves. Several views of a tensor count as the smallest. Some thousand
 * ops with a few uses each. Private to the stage. */
#pragma once

#include "search/plan_search.h"

/* State of a tensor between two uses. */
enum keep_state {
    KEEP_HBM,   /* not on chip */
    KEEP_BOTH,  /* on chip, and HBM has the value */
    KEEP_CHIP,  /* on chip, and HBM lacks it */
    KEEP_NEVER, /* off chip for the rest of its run: a stay that may not be cut is off chip */
    KEEP_STATES
};

struct keep_use {
    int32_t tensor, op;
    /* HBM bytes: of reads that a stay may serve; of other reads; of the write */
    int64_t served, forced, written;
    int64_t size;            /* bytes on chip at this tick */
    int64_t extra;           /* bytes of the view that a relayout reads, if the tensor was on chip before */
    int64_t between;         /* bytes on chip until the next use, in the present order of the ops */
    int32_t version, leaves; /* version of the tensor that it reads; version that it leaves */
    int32_t run;             /* number of its run: ops between two wipes of the scratchpads */
    int label;               /* of its view among the tensor's; -1: no view on chip */
    bool reads_may, reads_hbm, writes, write_may;
    bool inserts; /* writes a part; keeps the rest of the tensor */
    bool gives;   /* the op may write its output over this operand */
    bool takes;   /* the op may write this operand over an input */
    /* Valid in the present order of the ops: */
    bool may_keep; /* a later use of the run could read it on chip */
    bool needed;   /* a later use needs the value that it leaves */
    bool goes_on;  /* a later use is in the same run */
};

struct keep_tensor {
    int32_t first, count; /* uses */
    int64_t whole;        /* HBM bytes */
    int64_t between;      /* least bytes on chip while kept, in any order */
    bool many;            /* several views */
    bool output, cuts;    /* cuts: may be evicted and loaded again within a run */
};

struct keep_model {
    const struct draft *x;
    struct keep_use *uses; /* by tensor, then time */
    int32_t use_count;
    struct keep_tensor *tensors;
    int32_t tensor_count, op_count;
    int32_t *op_at, *op_use; /* per op: its uses, the output's last */
    int64_t capacity;        /* rounded up to the alignment, as all sizes */
    int64_t grain;           /* divides every cost */
    bool cuts;               /* stays may be cut */
    /* Per tick, for one byte, in the present order of the ops: its price; the sum of earlier prices. */
    double *price, *sums;
    double *ahead; /* per use and state: least priced cost from this use on */
};

/* keep_model.c. `x`: a draft without cuts; `cuts`: stays may be cut. All memory is in `memory`. */
void keep_model_make(const struct draft *x, bool cuts, struct arena *memory, struct keep_model *out);

static inline bool keep_on_chip(enum keep_state s)
{
    return s == KEEP_BOTH || s == KEEP_CHIP;
}
/* keep_reads: the use reads the earlier value. keep_serves: a stay could serve that read. */
static inline bool keep_reads(const struct keep_use *u)
{
    return u->reads_may || u->reads_hbm || u->inserts;
}
static inline bool keep_serves(const struct keep_use *u)
{
    return u->reads_may || (u->inserts && u->write_may);
}

/* One way to handle a use. */
struct keep_outcome {
    int64_t cost;
    int64_t size; /* bytes at this tick */
    enum keep_state after;
    bool on;    /* on chip at this tick */
    bool fresh; /* begins by being written, so it may take an input's bytes */
};
struct keep_later {
    bool may_keep, needed, goes_on;
};
enum { KEEP_OUTCOMES = 12 };
int keep_outcomes(const struct keep_model *m, const struct keep_use *u, enum keep_state before,
                  struct keep_later later, struct keep_outcome out[KEEP_OUTCOMES]);

/* keep_prices.c: finds prices of ticks that maximise the bound; returns the bound on the cost of any choice,
 * in whole grains. `best`: the cost of a known choice. Fills price, sums and ahead. */
int64_t keep_price(struct keep_model *m, int64_t best);

/* The least priced cost after a use that left its tensor in this state. */
double keep_from_then(const struct keep_model *m, int32_t use, enum keep_state after);

/* keep_search.c: choices, cheapest first. */
struct keep_choice {
    int64_t cost;
    const int32_t *order; /* per tick: the op of the model; NULL: unchanged */
    struct cut *cuts;     /* by tensor, then by op in the new order */
    int32_t cut_count;
    const bool *kept; /* per use of the model: on chip until the next use */
};
struct keep_found {
    struct keep_choice *at; /* by cost */
    int32_t count;
    int64_t bound; /* no choice costs less, listed or not */
    bool complete; /* every choice below `below` is listed */
};
struct keep_limits {
    int64_t below;            /* only choices that cost less */
    int32_t width;            /* partial choices kept per step */
    int32_t choices;          /* limit on the choices listed */
    bool any_order;           /* ops may be reordered; at most 64 ops */
    bool no_history;          /* merge partial choices with equal states */
    const struct lx_run *run; /* if stopped: no choices and no bound */
};
/* The width for a graph of this size. */
int32_t keep_width(const struct draft *x);
void keep_search(const struct keep_model *m, const struct keep_limits *l, struct arena *memory,
                 struct keep_found *out);

enum { KEEP_ANY_ORDER = 64 }; /* limit on ops for searching all orders */
/* keep_bound.c: the model's choices for the best attempt without its cuts. The caller frees it, also after a
 * failure. */
struct keep_answer {
    struct arena memory;
    struct draft plain;
    struct keep_model model;
    int64_t bound; /* by prices; 0 if ops may be reordered */
    struct keep_found found;
};
bool keep_ask(const struct search *search, bool cuts, int64_t choices, bool any_order,
              struct keep_answer *out);
void keep_answer_free(struct keep_answer *a);
/* A lower bound on HBM bytes of plans with these divisions, passes and borders of bundles. */
bool keep_bound(struct search *search, int64_t *bound);
/* A lower bound on HBM bytes under these decisions, found in milliseconds. 0: the graph is small, or there is
 * no quick solver. */
bool keep_least(const struct search *search, const struct decisions *how, int64_t *least);
/* The same, given the bytes of a known plan; and a plan made by the quick solver. */
bool keep_least_below(const struct search *search, const struct decisions *how, int64_t known,
                      int64_t *least);
bool keep_quick(const struct search *search, const struct decisions *how, struct attempt *out);

/* An engine: plans that keep the tensors that the model chooses, with moves where needed. */
bool move_search(struct search *search);
/* Offers a plan that keeps the tensors of the choice, moving stays where needed. `c->order`: per tick the op
 * of the model; NULL: unchanged. */
bool move_try(struct search *search, const struct keep_model *m, const struct keep_choice *c,
              const struct decisions *how);

/* The blocks of a scratchpad at one tick. They are sorted by address and keep their order, so a move never
 * overwrites a block that is moved later. */
struct room_block {
    int32_t owner, heir; /* heir: buffer that takes its place at the next tick, or -1 */
    int64_t address, size;
    int64_t old; /* address before this tick; -1: new */
    bool fixed;  /* cannot be moved */
};

struct room {
    int64_t capacity;
    VEC(struct room_block) blocks;
};

/* Places a new block: in the tightest gap, else where the fewest bytes are moved. False: no room. */
bool room_insert(struct room *r, struct room_block new);
