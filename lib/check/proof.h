/* Proofs that no plan of a graph moves fewer bytes: facts of the graph, prices, and a search over what may be
 * on chip. Private to the room; lib/certificates.md has the model and the file.
 *
 * The facts follow from the graph, its layouts and the device, not from a plan's decisions. Every price of
 * room per tick gives a valid bound; the search closes what the prices leave open. Some hundred ops. */
#pragma once

#include "check/check.h"

struct proof_tensor {
    int64_t whole; /* HBM bytes */
    int64_t size;  /* bytes on chip, of all scratchpads together */
    bool leaves;   /* wanted in HBM at the end */
    bool cuts;     /* it may leave the chip and come back */
};

struct proof_op {
    bool walks;   /* it may be in a nest */
    bool wipes;   /* it wipes the scratchpads */
    bool running; /* its sums over levels may be read before they are complete */
    int var_count;
    int64_t divides[LX_MAX_VARS]; /* the tiles of a level along the variable divide this; 1: no level */
};

struct proof_access {
    int32_t op, tensor;
    bool reads, writes;
    bool barred; /* goes to HBM, whatever is on chip */
    bool picked; /* other elements in every iteration */
    bool gives;  /* the op may write its output over this operand */
    int64_t bytes;
    int rank;
    signed char var[LX_MAX_RANK]; /* that index its dimensions */
};

struct proof_facts {
    int64_t room;  /* of all scratchpads together */
    int64_t grain; /* divides every cost */
    bool nests;
    int32_t tensor_count, op_count, access_count;
    struct proof_tensor *tensors;
    struct proof_op *ops;
    struct proof_access *accesses; /* by op */
};

/* proof_facts.c: of a graph, and of a plain list: a buffer is a tensor, a tick at which some begin is an op.
 * False: the list is not plain or too long. */
void proof_facts_find(const struct checker *c, struct proof_facts *out);
bool proof_facts_of_list(const struct lx_problem *q, struct arena *memory, struct proof_facts *out);
/* The members of the certificate that hold the facts. */
void proof_facts_write(const struct proof_facts *f, struct text *t);

/* --- The model: on each tick a tensor is in HBM or on chip, whole or as the slice of a nest. --- */

enum {
    PROOF_BITS = 20, /* prices are in 2^-20 of a byte */
    PROOF_HOLDS = LX_MAX_LEVELS + 1,
    PROOF_NEVER = 3, /* of a tensor without cuts: off chip until its last use */
    PROOF_PLACES = 1 + 2 * PROOF_HOLDS
};

/* All accesses of a tensor by one op. */
struct proof_use {
    int32_t tensor, op, before, next; /* other uses of the tensor; -1: none */
    const struct proof_tensor *of;
    int64_t read, written;
    bool reads, writes, inserts, barred, picked, gives, takes;
    bool needed, stays; /* the value is read later; the next use may find it on chip */
};

/* What the levels of a nest do to the tensor of a use. Hold 0: whole. */
struct proof_holds {
    int levels;
    bool is[PROOF_HOLDS];
    int64_t size[PROOF_HOLDS], fills[PROOF_HOLDS];
    int64_t times; /* how often the op goes through the tensor */
};

/* One way to serve a use. Places: 0 is HBM, 1 + 2 * hold is on chip, one more: and HBM lacks the value. */
struct proof_way {
    int128 cost;
    int64_t size;
    int after;
    bool begins, covers; /* it comes on chip; it is there in all ops of the nest */
    bool in_turn;        /* it may take the bytes of another operand */
};
enum { PROOF_WAYS = 1 + 3 * PROOF_HOLDS };

struct proof_nest {
    int32_t first, last;
    struct proof_holds *holds; /* per use of its ops */
    int128 *ahead;             /* per such use and place: the least priced cost from there on */
    int128 *sums;              /* as those of the proof, with higher prices in the nest */
};

struct proof {
    const struct proof_facts *f;
    struct proof_use *uses; /* by op */
    int32_t *use_at, use_count;
    int128 *sums;            /* per tick: of the earlier prices */
    int128 *ahead;           /* per use and place, outside of nests */
    int128 *behind, *beyond; /* per op: what nests before it, or from it on, save at most; 0 or less */
    int128 bound, top;       /* without nests; plans of more do not matter */
    int64_t steps;           /* of work so far */
    bool gives_up;
    VEC(struct proof_nest) nests; /* that a plan of at most `top` may have */
    struct arena memory;
};

/* Counts work; the proof gives up after about a second. */
static inline void proof_work(struct proof *p, int64_t steps)
{
    p->steps += steps;
    p->gives_up |= p->steps > 40 * 1000 * 1000;
}

/* proof_room.c */
void proof_begin(struct proof *p, const struct proof_facts *f);
void proof_end(struct proof *p);
void proof_set_prices(struct proof *p, const int64_t *prices);
struct proof_holds proof_plain(const struct proof_use *u);
int proof_ways(const struct proof_use *u, const struct proof_holds *y, bool within, int place,
               struct proof_way out[PROOF_WAYS]);
/* The least priced cost of a use and all later ones of its tensor. `whole`: a tensor that covers the nest pays
 * for the ops before this one, too. */
int128 proof_best(const struct proof *p, int32_t use, const struct proof_holds *y, const struct proof_nest *n,
                  int place, bool whole, struct proof_way *best);
/* Prices that come close to the best bound without nests. */
void proof_find_prices(struct proof *p, int64_t least, int64_t *prices);

/* proof_nests.c: sets behind, beyond and nests. */
void proof_find_nests(struct proof *p);
/* proof_walk.c: does every plan move more than `top`? */
bool proof_walk(struct proof *p);

/* Does every plan of these facts move `least` bytes or more? `*searched`: the prices alone did not say so. */
bool proof_holds_under(struct proof *p, const int64_t *prices, int64_t least, bool *searched);

/* The bound of the prices, and each price times its number, modulo 2^53: a changed price changes it. */
static inline int64_t proof_sum(const struct proof *p)
{
    uint64_t sum = (uint64_t)p->bound;
    for (int32_t o = 0; o < p->f->op_count; o++)
        sum += (uint64_t)(p->sums[o + 1] - p->sums[o]) * (uint64_t)(o + 1);
    return (int64_t)(sum & (uint64_t)(LX_INT_MAX - 1));
}

/* --- certificate.c --- */

/* What a certificate is about. */
struct proof_claim {
    const struct checker *c; /* NULL: a list */
    struct lx_problem list;  /* the buffers of a list */
    const int64_t *must;     /* per tensor: bytes that it moves in any case */
    int64_t compulsory;      /* their sum */
    int64_t least;           /* claimed, on bytes or height */
    struct arena *memory;
    lx_status *st;
};

/* The text of a certificate of the claim; NULL: it is out of reach. `*class`: its class. */
const char *certificate_make(const struct proof_claim *q, const char **class);
/* Does the text prove the claim? `*class`: how; false: `st` says why not. */
bool certificate_check(const struct proof_claim *q, const char *text, const char **class);
