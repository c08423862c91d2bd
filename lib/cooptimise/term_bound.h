/* Lower bounds by mini-buckets: what the variables that are not decided yet cost at least. Private to the terms. */
#ifndef LX_COOPTIMISE_TERM_BOUND_H
#define LX_COOPTIMISE_TERM_BOUND_H

#include "cooptimise/term_network.h"

/* What variable `from` and those behind it that were thrown into it cost at least, by variables before it. */
struct term_message {
    struct term_table table;
    int32_t from;
};

/* Behind variables 0 .. k - 1 the sum of all messages with from >= k and table.last < k is a lower bound. */
struct term_bound {
    VEC(struct term_message) messages;
    int64_t least; /* with nothing decided */
    bool exact;    /* nothing had to be taken apart: the bound is the optimum but for room */
    struct arena memory;
};

/* No table of more than `limit` entries is made but those that exist. */
bool term_bound_make(struct term_bound *b, const struct term_network *n, int64_t limit, int64_t *steps,
                     lx_status *st);
void term_bound_free(struct term_bound *b);

#endif
