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
struct cut_state {
    signed char at[LX_TEAM_AXES];
};

struct cut_way {
    struct cut_state var, out;
};

struct cut_cost {
    int64_t bytes;
    double us;
};

typedef VEC(struct cut_way) cut_ways;

static inline bool cut_same(struct cut_state a, struct cut_state b)
{
    for (int k = 0; k < LX_TEAM_AXES; k++)
        if (a.at[k] != b.at[k]) return false;
    return true;
}

/* shard_ways.c: which tensors some way of an op makes as parts that others can read. `joined`: those that
 * nobody is to have parts of; NULL: that is not known. */
void cut_find_parts(const struct lx_graph *g, const bool *joined, bool *may_be_parts);
/* How an op may be computed. `parts`: what was found so. */
bool cut_ways_of(const struct lx_graph *g, const struct lx_team_grid *grid, int32_t o, const bool *parts,
                 cut_ways *out);
/* The states in which what was made in one may be joined; that one itself where there is nothing to join. */
enum { CUT_JOINS = LX_MAX_RANK + 1 };
int cut_joins_of(const struct lx_tensor *t, const struct lx_team_grid *grid, struct cut_state made,
                 struct cut_state out[CUT_JOINS]);
bool cut_has_parts(struct cut_state s);
/* Has the joined state a dimension that some axis of the parts cuts, too? Then blocks of the parts are not
 * those of the default, and nobody reads them as such. */
bool cut_shares(struct cut_state made, struct cut_state joined);
/* May an op that is computed so read input `i`, made in that state, as parts; does it? */
bool cut_takes_parts(const struct lx_op *op, int i, struct cut_state var, struct cut_state made);
bool cut_reads_parts(const struct lx_op *op, int i, struct cut_state var);
/* The state in which a way reads just what is there. */
struct cut_state cut_need_of(const struct op_index *x, const struct lx_op *op, int input,
                             struct cut_state var);

/* shard_prices.c: bytes that input `i` (in state `in`) takes for a way, with a number that is the same where
 * the same is brought; what the op itself takes; what combining its results does. */
struct cut_price {
    struct cut_cost cost;
    uint32_t brings; /* 0: nothing */
};
struct cut_prices;
struct cut_least;
/* `least` (shard_least.h): bytes are those that no plan goes below, and times are 0; NULL: as they are
 * predicted. `spills`: as in struct lx_team_options. */
struct cut_prices *cut_prices_make(const struct lx_graph *g, const struct lx_team_grid *grid, bool spills,
                                   struct cut_least *least);
void cut_prices_free(struct cut_prices *p);
/* Per op: the first that has the same ways and prices. */
const int32_t *cut_classes(const struct cut_prices *p);
struct cut_price cut_price_read(struct cut_prices *p, int32_t o, int i, struct cut_state in,
                                struct cut_state var);
/* The same for what was not brought before; then it is. */
enum { CUT_BROUGHT = 2 };
struct cut_cost cut_price_bring(struct cut_prices *p, int32_t o, int i, struct cut_state in,
                                struct cut_state var, uint32_t brought[CUT_BROUGHT]);
struct cut_cost cut_price_op(struct cut_prices *p, int32_t o, const struct cut_way *way);
/* What op `o` wrote becomes one. */
struct cut_cost cut_price_join(struct cut_prices *p, int32_t o, struct cut_state made,
                               struct cut_state joined);

/* shard_improve.c. States of all tensors, as they are joined if they are, and ways of all ops; `fixed` has the
 * tensors whose state is not chosen. False: memory is out, or an op is stuck. */
struct cut_answer {
    struct cut_state *tensors;
    struct cut_way *ways;
    struct cut_cost cost;
    int32_t
        stuck; /* the first op that cannot be computed with what is fixed; -1: none, and it is an answer */
    int64_t searched; /* ops, without those of layers that were passed */
    bool uncut;       /* all is whole, as far as it can be, for want of time */
    bool beyond;      /* of a bound: some choice cost as much as was not to be looked at */
};
struct cut_question {
    const struct lx_graph *g;
    struct lx_team_grid grid;
    bool by_time, spills;
    const bool *fixed;
    const struct cut_state *state; /* of those that are fixed */
    /* A bound is asked for: states of what arrives and is not fixed are whatever suits, and so are those of
     * choices that do not go on; choices of `below` bytes or more are not looked at. */
    bool least;
    int64_t below;
    bool whole; /* ops are computed whole, if they can be: there is no search */
};
bool cut_search(const struct cut_question *q, struct cut_answer *out);

static inline bool cut_cheaper(const struct cut_question *q, struct cut_cost a, struct cut_cost b)
{
    if (q->by_time) return a.us != b.us ? a.us < b.us : a.bytes < b.bytes;
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.us < b.us;
}

/* One search op by op, in which all axes cut freely, all the same, or axis `along` alone; `most` choices go
 * on from op to op, and one more that cuts nothing. *dropped: some choices were. */
enum cut_along { CUT_FREELY = -1, CUT_TOGETHER = -2 };
bool cut_search_along(const struct cut_question *q, struct cut_prices *prices, enum cut_along along,
                      size_t most, struct cut_answer *out, bool *dropped);

#endif
