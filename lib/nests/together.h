/* The least traffic of all tensors together, in nests or out of them, on scratchpads that they share.
 *
 * The model: an op is outside all nests or in one. A tensor is in HBM, or on chip whole, or, in a nest, with
 * the slice that its levels up to a hold fix; a hold of fewer than all levels covers all ops of the nest. On
 * every tick the bytes on chip fit in all scratchpads together, whatever the addresses, splits and views. So
 * the least cost of the model is a lower bound for every plan in this order of the ops. Some hundred ops with
 * three operands each. Private to the folder. */
#pragma once

#include "layout/op_index.h"
#include "network/room_prices.h"
#include "nests/nest_candidates.h"

/* Place of a tensor between two ops: HBM, or 1 + 2 * hold + dirty. Hold 0: whole; dirty: HBM lacks the
 * value. */
enum { PLACE_HBM, PLACE_WHOLE, PLACE_DIRTY, PLACES_WHOLE, PLACES = 3 + 2 * LX_MAX_LEVELS };

static inline int place_hold(int place)
{
    return (place - 1) / 2;
}

/* All accesses of a tensor by one op. */
struct together_use {
    int32_t tensor, op;
    int32_t before, next; /* other uses of the tensor; -1: none */
    int64_t whole, read, written;
    bool reads, writes, inserts; /* inserts: keeps elements that it does not write */
    bool barred;                 /* its accesses go to HBM */
    bool picked;                 /* read by indices: each iteration of a nest reads other elements */
    bool needed, may_keep;       /* a later use needs the value; the next use could have it on chip */
    bool gives, takes;           /* the op may write the taking operand over the giving one */
};

/* What the levels around an op do to one of its tensors; `tiles` from the least to the most. */
struct together_holds {
    int levels;
    bool is[LX_MAX_LEVELS + 1]; /* per hold */
    int64_t size[LX_MAX_LEVELS + 1], fills[LX_MAX_LEVELS + 1], parts[LX_MAX_LEVELS + 1];
    int64_t times; /* how often the op goes through the tensor */
};

/* One way to serve a use. */
struct together_way {
    int64_t cost, size;
    int after;
    bool begins;  /* the tensor comes on chip */
    bool covers;  /* held for more than an iteration: on chip in all ops of the nest */
    bool in_turn; /* begins by being written, so it may take the bytes of another operand */
};
enum { TOGETHER_WAYS = 4 * (LX_MAX_LEVELS + 2) };

struct together_nest {
    int32_t first, last;
    struct together_holds *holds; /* per use of its ops */
    int64_t *ahead;               /* per such use and place: least cost from this use on */
    int64_t *before;              /* sums of prices as in struct prices; higher in its ops */
};

struct together {
    const struct draft *x;
    int32_t op_count;
    int64_t room, grain;       /* grain: divides every cost */
    struct together_use *uses; /* by op */
    int32_t *use_at;           /* per op, and one more */
    int32_t use_count;
    struct op_index *index; /* per op */
    struct prices prices;
    int64_t *ahead;                  /* per use and place outside nests: least cost from this use on */
    int64_t *behind;                 /* per op, and one more: what nests before it save, at most; 0 or less */
    int64_t *beyond;                 /* the same for nests from it on */
    int64_t steps;                   /* work so far */
    VEC(struct together_nest) nests; /* that a cheaper plan may use, by first op */
    struct arena memory;
};

/* together.c */
struct together_holds together_plain(const struct together_use *u);
int together_ways(const struct together_use *u, const struct together_holds *y, bool within, int before,
                  struct together_way out[TOGETHER_WAYS]);
/* The price of `bytes` over ops [from, to), where nest `n` is the only one. */
int64_t together_room(const struct together *m, const struct together_nest *n, int64_t bytes, int32_t from,
                      int32_t to);
/* The cheapest way of a use, by priced cost; returns its least priced cost with all later uses. `n`: the
 * nest of the op; NULL: none. */
int64_t together_best(struct together *m, int32_t use, const struct together_holds *y,
                      const struct together_nest *n, int before, struct together_way *best);
/* The same after the use. */
int64_t together_then(const struct together *m, int32_t use, const struct together_nest *n,
                      const struct together_way *w);

/* together_nests.c: sets behind, beyond and nests; false: too much work. `bound`: without nests. */
bool together_find_nests(struct together *m, int64_t bound, int64_t below);

/* together_walk.c: the least cost of the model, or `below`. */
int64_t together_walk(struct together *m, int64_t below);
