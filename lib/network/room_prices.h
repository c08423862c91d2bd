/* Prices for room (Lagrange multipliers): a byte on chip during a step costs price >= 0; capacity times price
 * is paid back. An answer that fits pays no more than before, so any prices give a valid bound. Prices rise
 * where an answer under them overfills the scratchpads. Rounding is downwards. */
#pragma once

#include "network/beam.h"

struct prices {
    int32_t steps;
    int bits; /* prices are in 2^-bits of a unit of cost */
    int64_t capacity;
    int64_t *price;  /* per step, for one byte */
    int64_t *before; /* per step and one more: sum of the earlier prices */
    int64_t *rest;   /* per step and one more: least cost of this and later steps, without messages */
};

void prices_make(struct prices *p, int32_t steps, int bits, int64_t capacity, struct arena *memory);
void prices_sum(struct prices *p);

/* Converts bytes times prices to cost, rounded down, also below zero. */
static inline int64_t prices_floor(const struct prices *p, int128 scaled)
{
    int128 cost = scaled >> p->bits;
    return cost > NETWORK_NEVER ? NETWORK_NEVER : cost < -NETWORK_NEVER ? -NETWORK_NEVER : (int64_t)cost;
}

static inline int64_t add_capped(int64_t a, int64_t b)
{
    return min_i64(a + b, NETWORK_NEVER);
}

/* The price of `bytes` over steps [from, to). */
static inline int64_t prices_between(const struct prices *p, int64_t bytes, int32_t from, int32_t to)
{
    return prices_floor(p, (int128)bytes * (p->before[to] - p->before[from]));
}

/* A lower bound on any completion from a step on. `ahead`: messages to the state; `load`: bytes on chip;
 * `owed`: these bytes times the prices up to the end of each. */
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
    int64_t (*bound)(void *model, int64_t *steps); /* computes all messages again; returns the bound */
    /* Decodes an answer from the messages; sets its load per step, and one more. */
    void (*loads)(void *model, int64_t *load, int64_t *steps);
};

/* Improves prices in rounds, until the bound reaches `target`, a known cost, or `step_limit` steps are used;
 * the best prices stay. Returns their bound. */
int64_t prices_improve(struct prices *p, const struct priced *of, int64_t target, int rounds,
                       int64_t step_limit, int64_t *steps);
