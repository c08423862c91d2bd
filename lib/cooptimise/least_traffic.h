/* The search for the divisions under which a plan moves least, and a bound over all divisions: chains
 * (chain.h), bounded, searched and priced in rounds. The caller plans the divisions found by a round and
 * passes the best bytes to the next. */
#pragma once

#include "cooptimise/chain.h"

enum { LEAST_ANSWERS = 4 }; /* answers of a round, at most */

struct least_traffic {
    const struct lx_divisions *d;
    const struct lx_run *run;
    double deadline; /* seconds of the monotonic clock; 0: none */
    struct arena memory;
    struct op_menus menus;
    struct chain_model model;
    bool with_nests; /* plans may have nests, which the bound does not hold for */
    bool any_order;  /* ops may change places: `bound` then ignores the model's bound */
    int64_t bound;   /* no choice of divisions moves less */
    int64_t steps, step_limit;
    int64_t news_at; /* steps when a round last found or proved something */
    int round;
    bool solved;     /* the minimum of the chain model is known */
    bool done;       /* nothing more will be found or proved */
    int32_t *choice; /* per answer of the round and op */
    int64_t bytes[LEAST_ANSWERS];
    int32_t found;
};

/* `x`: a draft of the divided graph in its own order. The caller frees s->memory, also after a failure. */
bool least_traffic_open(struct least_traffic *s, const struct draft *x, const struct lx_run *run,
                        lx_status *st);
/* Runs one round: looks for plans that move less than `best` bytes. */
void least_traffic_round(struct least_traffic *s, int64_t best);
/* Sets *out to the divisions of answer k of the last round, per op; NULL: unchanged. They lie in `memory`. */
bool least_traffic_divisions(const struct least_traffic *s, int32_t k, struct arena *memory,
                             const struct lx_division ***out, int32_t *changed, lx_status *st);
