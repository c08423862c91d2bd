/* Room by prices (Lagrange multipliers): a byte that is on chip while a step runs costs price >= 0 there,
 * and capacity times price is given back. What fits pays no more than before, so a bound holds for any
 * prices. They rise where an answer to these prices overfills the scratchpads. Roundings are downwards,
 * always. */
#ifndef LX_NETWORK_ROOM_PRICES_H
#define LX_NETWORK_ROOM_PRICES_H

#include "base/arena.h"
#include "base/checked.h"
#include "network/beam.h"

struct prices {
    int32_t steps;
    int bits; /* prices are in 2^-bits of a unit of cost */
    int64_t capacity;
    int64_t *price;  /* per step, of a byte */
    int64_t *before; /* per step and one more: the sum of those before it */
    int64_t *rest;   /* per step and one more: what the steps from there on cost at least, less messages */
};

void prices_make(struct prices *p, int32_t steps, int bits, int64_t capacity, struct arena *memory);
/* Sums the prices up. */
void prices_sum(struct prices *p);

/* From a sum of bytes times prices to cost, downwards also below zero. */
static inline int64_t prices_floor(const struct prices *p, int128 scaled)
{
    int128 cost = scaled >> p->bits;
    return cost > NETWORK_NEVER ? NETWORK_NEVER : cost < -NETWORK_NEVER ? -NETWORK_NEVER : (int64_t)cost;
}

static inline int64_t add_capped(int64_t a, int64_t b)
{
    return min_i64(a + b, NETWORK_NEVER);
}

/* What `bytes` pay from one step up to another. */
static inline int64_t prices_between(const struct prices *p, int64_t bytes, int32_t from, int32_t to)
{
    return prices_floor(p, (int128)bytes * (p->before[to] - p->before[from]));
}

/* What no completion from a step on costs less than: `ahead`, messages to the state; `load`, bytes on chip,
 * and `owed`, these times the prices up to where each one ends. */
static inline int64_t prices_ahead(const struct prices *p, int32_t step, int64_t ahead, int64_t load,
                                   int128 owed)
{
    int64_t end = p->before[p->steps], here = p->before[step];
    return ahead + p->rest[step] +
           prices_floor(p, owed - (int128)load * here - (int128)p->capacity * (end - here));
}

/* A model whose bound and answer follow from its prices. */
struct priced {
    void *model;
    int64_t (*bound)(void *model, int64_t *steps); /* messages anew, and the bound that they prove */
    void (*loads)(void *model, int64_t *load,
                  int64_t *steps); /* of an answer by the messages, per step and one more */
};

/* Rounds towards `target`, a cost that is known to be reachable; the prices of the best bound stay, with their
 * messages. Ends after `step_limit` steps of the model. */
int64_t prices_improve(struct prices *p, const struct priced *of, int64_t target, int rounds,
                       int64_t step_limit, int64_t *steps);

#endif
