/* The search for shards. Private to the stage.
 *
 * A state gives, for each axis, the dimension of a tensor that the axis shards. A way of an op gives the
 * variable that each axis shards, and the state of the result. Partial sums are joined once, into a state
 * without partial sums, as soon as an op needs the complete values. The cost of a choice is exchanged bytes
 * and predicted microseconds; the objective decides which comes first. */
#pragma once

#include "team/team_private.h"

/* Per axis: a dimension or a variable; -1: none; LX_TEAM_PARTIAL and below: partial sums, as in team.h. */
struct shard_state {
    int at[LX_TEAM_AXES];
};

static const struct shard_state shard_replicated = {{-1, -1, -1}};

struct shard_way {
    struct shard_state var, out;
};

struct shard_cost {
    int64_t bytes;
    double us;
};

typedef VEC(struct shard_way) shard_ways;

static inline bool shard_same(struct shard_state a, struct shard_state b)
{
    for (int k = 0; k < LX_TEAM_AXES; k++)
        if (a.at[k] != b.at[k]) return false;
    return true;
}

static inline struct shard_cost shard_cost_sum(struct shard_cost a, struct shard_cost b)
{
    return (struct shard_cost){a.bytes + b.bytes, a.us + b.us};
}

/* shard_ways.c: finds tensors that some way of an op makes as partial sums for other ops. `joined`: tensors
 * whose partial sums no op may read; NULL: none. */
void shard_find_partial(const struct lx_graph *g, const bool *joined, bool *may_be_partial);
/* Lists the ways of an op. `partial` comes from shard_find_partial. */
void shard_ways_of(const struct lx_graph *g, const struct lx_team_grid *grid, int32_t o, const bool *partial,
                   shard_ways *out);
/* Lists the states into which a tensor in state `made` can be joined; `made` itself if there are no partial
 * sums. Returns their number. */
enum { SHARD_JOINS = LX_MAX_RANK + 1 };
int shard_joins_of(const struct lx_tensor *t, const struct lx_team_grid *grid, struct shard_state made,
                   struct shard_state out[SHARD_JOINS]);
bool shard_is_partial(struct shard_state s);
/* Whether an axis of partial sums shards the same dimension of the joined state as another axis. Blocks of
 * the partial sums are then not the default ones, and no op reads them directly. */
bool shard_shares(struct shard_state made, struct shard_state joined);
/* Whether an op computed with `var` may read input `i`, made in state `made`, as partial sums. */
bool shard_takes_partial(const struct lx_op *op, int i, struct shard_state var, struct shard_state made);
/* The input state in which every device owns exactly the part that the way reads. */
struct shard_state shard_need_of(const struct op_index *x, const struct lx_op *op, int input,
                                 struct shard_state var);

/* shard_prices.c: the cost of an exchange of an input. Equal exchanges have equal `brings`. */
struct shard_price {
    struct shard_cost cost;
    uint32_t brings; /* 0: no exchange */
};
struct shard_prices;
struct shard_least;
/* `least` (shard_least.c): bytes are lower bounds, times 0; NULL: predictions. `spills`: see struct
 * lx_team_options. */
struct shard_prices *shard_prices_make(const struct lx_graph *g, const struct lx_team_grid *grid, bool spills,
                                       struct shard_least *least);
void shard_prices_free(struct shard_prices *p);
/* Per op: the first op with equal ways and prices. */
const int32_t *shard_classes(const struct shard_prices *p);
struct shard_price shard_price_read(struct shard_prices *p, int32_t o, int i, struct shard_state in,
                                    struct shard_state var);
/* The cost beyond the exchanges in `brought`; adds this one to `brought`. */
enum { SHARD_BROUGHT = 2 };
struct shard_cost shard_price_bring(struct shard_prices *p, int32_t o, int i, struct shard_state in,
                                    struct shard_state var, uint32_t brought[SHARD_BROUGHT]);
struct shard_cost shard_price_op(struct shard_prices *p, int32_t o, const struct shard_way *way);
/* The cost of joining the partial sums written by op `o`. */
struct shard_cost shard_price_join(struct shard_prices *p, int32_t o, struct shard_state made,
                                   struct shard_state joined);

/* shard_least.c: lower bounds on received bytes for given shards, for any block bounds and coalescing. */
struct shard_least *shard_least_make(const struct lx_graph *g, const struct lx_team_grid *grid);
void shard_least_free(struct shard_least *l);
/* Whether the tensor may have other blocks than the default ones. */
bool shard_least_loose(const struct shard_least *l, int32_t tensor);
/* A number for the exchange of input `i`, in state `in`, by a way of op `o` (equal for equal exchanges, 0:
 * none), and its bytes. shard_least_both: the larger of two exchanges per direction, and its bytes beyond
 * the first. */
uint32_t shard_least_read(struct shard_least *l, int32_t o, int i, struct shard_state in,
                          struct shard_state var, int64_t *bytes);
uint32_t shard_least_both(struct shard_least *l, int32_t tensor, uint32_t first, uint32_t second,
                          int64_t *more);
int64_t shard_least_join(const struct shard_least *l, int32_t o, struct shard_state made,
                         struct shard_state joined);

/* shard_bound.c: a lower bound on received bytes of plans with the fixed states, at most `below`. False:
 * cancelled. */
bool shard_bound_bytes(const struct lx_graph *g, const struct lx_team_grid *grid, const bool *fixed,
                       const struct shard_state *state, int64_t below, int64_t *bytes);

/* shard_improve.c. States of all tensors after joins, and ways of all ops. */
struct shard_answer {
    struct shard_state *tensors;
    struct shard_way *ways;
    struct shard_cost cost;
    int32_t stuck;    /* the first op that is impossible with the fixed states; -1: none */
    int64_t searched; /* searched ops, without skipped layers */
    bool unsharded;   /* out of time: replicated as far as possible */
    bool beyond;      /* for a bound: some choice reached the limit `below` */
};
struct shard_question {
    const struct lx_graph *g;
    struct lx_team_grid grid;
    bool by_time, spills;
    const bool *fixed;               /* per tensor: its state is given */
    const struct shard_state *state; /* states of fixed tensors */
    /* Computes a bound: inputs that are not fixed, and tensors of merged choices, suit every reader; choices
     * of `below` bytes or more are dropped. */
    bool least;
    int64_t below;
    bool replicated; /* replicate every op if possible, without a search */
};
/* False: an op is stuck. */
bool shard_search(const struct shard_question *q, struct shard_answer *out);

static inline bool shard_cheaper(const struct shard_question *q, struct shard_cost a, struct shard_cost b)
{
    if (q->by_time) return a.us != b.us ? a.us < b.us : a.bytes < b.bytes;
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.us < b.us;
}

/* shard_search.c: one search op by op. Axes shard freely, all alike, or axis `along` alone. `most` choices
 * continue from op to op, and one more that shards nothing. *dropped: some choices were dropped. False: an
 * op is stuck, or the search was cancelled. */
enum shard_along { SHARD_FREELY = -1, SHARD_TOGETHER = -2 };
bool shard_search_along(const struct shard_question *q, struct shard_prices *prices, enum shard_along along,
                        size_t most, struct shard_answer *out, bool *dropped);
