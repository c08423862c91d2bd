/* The search for shards. Private to the stage.
 *
 * A state has, for each axis, the dimension of a tensor that the axis shards. A way of an op has the
 * variable that each axis shards, and the state in which the result is made. Partial sums are joined once,
 * into a state without any, as soon as an op reads them that does not take partial sums. The cost of a
 * choice is exchanged bytes and predicted microseconds; `bytes` first or `us` first, as is asked. */
#ifndef LX_TEAM_SHARD_SHARD_SEARCH_H
#define LX_TEAM_SHARD_SHARD_SEARCH_H

#include "base/vec.h"
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

/* shard_ways.c: the tensors that some way of an op makes as partial sums that others can read. `joined`:
 * tensors whose partial sums nobody is to read; NULL: none is known. */
void shard_find_partial(const struct lx_graph *g, const bool *joined, bool *may_be_partial);
/* The ways of an op. `partial`: the tensors found so. */
void shard_ways_of(const struct lx_graph *g, const struct lx_team_grid *grid, int32_t o, const bool *partial,
                   shard_ways *out);
/* The states that a tensor made in one may be joined into; that one itself where there is nothing to join. */
enum { SHARD_JOINS = LX_MAX_RANK + 1 };
int shard_joins_of(const struct lx_tensor *t, const struct lx_team_grid *grid, struct shard_state made,
                   struct shard_state out[SHARD_JOINS]);
bool shard_is_partial(struct shard_state s);
/* Has the joined state a dimension that some axis of the partial sums shards, too? Then blocks of the
 * partial sums are not the default ones, and nobody reads them as such. */
bool shard_shares(struct shard_state made, struct shard_state joined);
/* May an op that is computed so read input `i`, made in that state, as partial sums? */
bool shard_takes_partial(const struct lx_op *op, int i, struct shard_state var, struct shard_state made);
/* The state of an input in which every device owns just the part that the way reads. */
struct shard_state shard_need_of(const struct op_index *x, const struct lx_op *op, int input,
                                 struct shard_state var);

/* shard_prices.c: the cost of bringing an input, with a number that is the same where the same is brought. */
struct shard_price {
    struct shard_cost cost;
    uint32_t brings; /* 0: nothing */
};
struct shard_prices;
struct shard_least;
/* `least` (shard_least.c): bytes that no plan goes below, and times of 0; NULL: predictions. `spills`: as
 * in struct lx_team_options. */
struct shard_prices *shard_prices_make(const struct lx_graph *g, const struct lx_team_grid *grid, bool spills,
                                       struct shard_least *least);
void shard_prices_free(struct shard_prices *p);
/* Per op: the first that has the same ways and prices. */
const int32_t *shard_classes(const struct shard_prices *p);
struct shard_price shard_price_read(struct shard_prices *p, int32_t o, int i, struct shard_state in,
                                    struct shard_state var);
/* The same unless it was brought before; then it is. */
enum { SHARD_BROUGHT = 2 };
struct shard_cost shard_price_bring(struct shard_prices *p, int32_t o, int i, struct shard_state in,
                                    struct shard_state var, uint32_t brought[SHARD_BROUGHT]);
struct shard_cost shard_price_op(struct shard_prices *p, int32_t o, const struct shard_way *way);
/* Joining the partial sums that op `o` wrote. */
struct shard_cost shard_price_join(struct shard_prices *p, int32_t o, struct shard_state made,
                                   struct shard_state joined);

/* shard_least.c: bytes that devices receive at least, with some shards, however blocks are settled and
 * reads are joined. */
struct shard_least *shard_least_make(const struct lx_graph *g, const struct lx_team_grid *grid);
void shard_least_free(struct shard_least *l);
/* May blocks of the tensor have other sizes than the default ones? */
bool shard_least_loose(const struct shard_least *l, int32_t tensor);
/* What input `i` of a way of an op, in state `in`, brings, as a number that is the same where the same is
 * brought (0: nothing), and its bytes. shard_least_both: the most that either of two brings, and its bytes
 * beyond the first. */
uint32_t shard_least_read(struct shard_least *l, int32_t o, int i, struct shard_state in,
                          struct shard_state var, int64_t *bytes);
uint32_t shard_least_both(struct shard_least *l, int32_t tensor, uint32_t first, uint32_t second,
                          int64_t *more);
int64_t shard_least_join(const struct shard_least *l, int32_t o, struct shard_state made,
                         struct shard_state joined);

/* shard_bound.c: no plan that keeps fixed states receives fewer bytes than these, or than `below`,
 * whichever is less. False: it was stopped. */
bool shard_bound_bytes(const struct lx_graph *g, const struct lx_team_grid *grid, const bool *fixed,
                       const struct shard_state *state, int64_t below, int64_t *bytes);

/* shard_improve.c. States of all tensors, after they are joined, and ways of all ops. */
struct shard_answer {
    struct shard_state *tensors;
    struct shard_way *ways;
    struct shard_cost cost;
    int32_t stuck;    /* the first op that cannot be computed with the fixed states; -1: none */
    int64_t searched; /* ops, without those of layers that were passed */
    bool unsharded;   /* everything is replicated, as far as it can be, for want of time */
    bool beyond;      /* of a bound: some choice cost as much as was not to be looked at */
};
struct shard_question {
    const struct lx_graph *g;
    struct lx_team_grid grid;
    bool by_time, spills;
    const bool *fixed;               /* per tensor: its state is not chosen */
    const struct shard_state *state; /* of fixed tensors */
    /* A bound is asked for: inputs that are not fixed, and tensors of choices that do not go on, have
     * whatever state suits; choices of `below` bytes or more are dropped. */
    bool least;
    int64_t below;
    bool replicated; /* ops are replicated, if they can be: there is no search */
};
/* False: an op is stuck. */
bool shard_search(const struct shard_question *q, struct shard_answer *out);

static inline bool shard_cheaper(const struct shard_question *q, struct shard_cost a, struct shard_cost b)
{
    if (q->by_time) return a.us != b.us ? a.us < b.us : a.bytes < b.bytes;
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.us < b.us;
}

/* shard_search.c: one search op by op, in which axes shard freely, all the same, or axis `along` alone;
 * `most` choices go on from op to op, and one more that shards nothing. *dropped: some choices were. False:
 * an op is stuck, or it was stopped. */
enum shard_along { SHARD_FREELY = -1, SHARD_TOGETHER = -2 };
bool shard_search_along(const struct shard_question *q, struct shard_prices *prices, enum shard_along along,
                        size_t most, struct shard_answer *out, bool *dropped);

#endif
