/* The search for cuts. Private to the stage.
 *
 * A state says of a tensor what each axis does to it, a way of an op which variable each axis cuts and what
 * state the result is made in. Where that has parts of sums, it is joined once, into a state without any, as
 * soon as somebody reads it who does not take parts. What a choice costs is exchanged bytes and predicted
 * microseconds; `bytes` first or `us` first, as is asked. */
#ifndef LX_TEAM_SHARD_SHARD_SEARCH_H
#define LX_TEAM_SHARD_SHARD_SEARCH_H

#include "base/vec.h"
#include "team/team_private.h"

/* Per axis: a dimension or a variable; -1: none; LX_TEAM_PARTIAL and below: parts, as in team.h. */
struct shard_state {
    signed char at[LX_TEAM_AXES];
};

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

/* shard_ways.c: which tensors some way of an op makes as parts that others can read. `joined`: those that
 * nobody is to have parts of; NULL: that is not known. */
void shard_find_partial(const struct lx_graph *g, const bool *joined, bool *may_be_parts);
/* How an op may be computed. `parts`: what was found so. */
bool shard_ways_of(const struct lx_graph *g, const struct lx_team_grid *grid, int32_t o, const bool *parts,
                   shard_ways *out);
/* The states in which what was made in one may be joined; that one itself where there is nothing to join. */
enum { SHARD_JOINS = LX_MAX_RANK + 1 };
int shard_joins_of(const struct lx_tensor *t, const struct lx_team_grid *grid, struct shard_state made,
                   struct shard_state out[SHARD_JOINS]);
bool shard_is_partial(struct shard_state s);
/* Has the joined state a dimension that some axis of the parts cuts, too? Then blocks of the parts are not
 * those of the default, and nobody reads them as such. */
bool shard_shares(struct shard_state made, struct shard_state joined);
/* May an op that is computed so read input `i`, made in that state, as parts; does it? */
bool shard_takes_partial(const struct lx_op *op, int i, struct shard_state var, struct shard_state made);
bool shard_reads_partial(const struct lx_op *op, int i, struct shard_state var);
/* The state in which a way reads just what is there. */
struct shard_state shard_need_of(const struct op_index *x, const struct lx_op *op, int input,
                                 struct shard_state var);

/* shard_prices.c: bytes that input `i` (in state `in`) takes for a way, with a number that is the same where
 * the same is brought; what the op itself takes; what combining its results does. */
struct shard_price {
    struct shard_cost cost;
    uint32_t brings; /* 0: nothing */
};
struct shard_prices;
struct shard_least;
/* `least` (shard_least.h): bytes are those that no plan goes below, and times are 0; NULL: as they are
 * predicted. `spills`: as in struct lx_team_options. */
struct shard_prices *shard_prices_make(const struct lx_graph *g, const struct lx_team_grid *grid, bool spills,
                                       struct shard_least *least);
void shard_prices_free(struct shard_prices *p);
/* Per op: the first that has the same ways and prices. */
const int32_t *shard_classes(const struct shard_prices *p);
struct shard_price shard_price_read(struct shard_prices *p, int32_t o, int i, struct shard_state in,
                                    struct shard_state var);
/* The same for what was not brought before; then it is. */
enum { SHARD_BROUGHT = 2 };
struct shard_cost shard_price_bring(struct shard_prices *p, int32_t o, int i, struct shard_state in,
                                    struct shard_state var, uint32_t brought[SHARD_BROUGHT]);
struct shard_cost shard_price_op(struct shard_prices *p, int32_t o, const struct shard_way *way);
/* What op `o` wrote becomes one. */
struct shard_cost shard_price_join(struct shard_prices *p, int32_t o, struct shard_state made,
                                   struct shard_state joined);

/* shard_improve.c. States of all tensors, as they are joined if they are, and ways of all ops; `fixed` has the
 * tensors whose state is not chosen. False: memory is out, or an op is stuck. */
struct shard_answer {
    struct shard_state *tensors;
    struct shard_way *ways;
    struct shard_cost cost;
    int32_t
        stuck; /* the first op that cannot be computed with what is fixed; -1: none, and it is an answer */
    int64_t searched; /* ops, without those of layers that were passed */
    bool unsharded;   /* all is whole, as far as it can be, for want of time */
    bool beyond;      /* of a bound: some choice cost as much as was not to be looked at */
};
struct shard_question {
    const struct lx_graph *g;
    struct lx_team_grid grid;
    bool by_time, spills;
    const bool *fixed;
    const struct shard_state *state; /* of those that are fixed */
    /* A bound is asked for: states of what arrives and is not fixed are whatever suits, and so are those of
     * choices that do not go on; choices of `below` bytes or more are not looked at. */
    bool least;
    int64_t below;
    bool replicated; /* ops are computed whole, if they can be: there is no search */
};
bool shard_search(const struct shard_question *q, struct shard_answer *out);

static inline bool shard_cheaper(const struct shard_question *q, struct shard_cost a, struct shard_cost b)
{
    if (q->by_time) return a.us != b.us ? a.us < b.us : a.bytes < b.bytes;
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.us < b.us;
}

/* One search op by op, in which all axes cut freely, all the same, or axis `along` alone; `most` choices go
 * on from op to op, and one more that cuts nothing. *dropped: some choices were. */
enum shard_along { SHARD_FREELY = -1, SHARD_TOGETHER = -2 };
bool shard_search_along(const struct shard_question *q, struct shard_prices *prices, enum shard_along along,
                        size_t most, struct shard_answer *out, bool *dropped);

#endif
