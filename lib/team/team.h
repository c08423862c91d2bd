/* The team stage: one graph over several devices, as one plan that every member runs (SPMD).
 *
 * Every tensor is cut along one dimension into contiguous blocks, or is whole on every member. Whoever owns a
 * block of an op's output computes it; what it reads and does not own comes by an exchange. The plan is a
 * list of steps, the same for all members, in which ranges differ by member:
 *
 *     start e      send what others need of a tensor, begin to receive what this member needs: a box
 *     compute o p  a piece of op o: the core (needs nothing from others), what lies before or after, or all
 *     wait e       the box of exchange e is complete
 *     combine o    partial results of all members become one, which all have
 *
 * Between two writes of a tensor its exchanges are coalesced: reads share one bounding box per member unless
 * what lies between two boxes costs more than another message. An exchange starts as soon as its tensor is
 * written and is awaited as late as possible; ops that can share loop bounds form a group with one core,
 * computed while data travels.
 *
 * A plan holds a reference to its graph. Sizes: up to LX_TEAM_MEMBERS members. */
#ifndef LX_TEAM_TEAM_H
#define LX_TEAM_TEAM_H

#include "team/distribution.h"

/* The wish that a tensor be cut along a dimension (-1: whole on every member). */
struct lx_team_choice {
    const char *tensor;
    int cut;
};

struct lx_team_options {
    int members;
    const struct lx_team_choice *choices; /* for tensors not named here the planner decides */
    int choice_count;
    bool plain; /* default partitions, one exchange per read, no cores: what the passes improve on */
};

struct lx_team_tensor {
    int cut;              /* -1: whole on every member */
    const int64_t *bound; /* members + 1 of them: member m owns [bound[m], bound[m + 1]); NULL if whole */
};

enum lx_team_mode {
    LX_TEAM_WHOLE,   /* every member computes all of it */
    LX_TEAM_SPLIT,   /* a variable of the output is cut */
    LX_TEAM_COMBINE, /* a variable that is summed (maximised, ...) away is cut; then a combine */
    LX_TEAM_MODES
};

struct lx_team_op {
    enum lx_team_mode mode;
    int var;                           /* the variable that is cut, -1: none */
    const struct lx_team_range *range; /* per member: its values of that variable */
    const int32_t *exchange;           /* per input: the exchange whose box it reads; -1: what is owned */
    int32_t group;
    int64_t bytes; /* received by all members because of this op */
};

enum lx_team_pattern {
    LX_TEAM_HALO,    /* every box overlaps what its member owns, and only neighbours send */
    LX_TEAM_GATHER,  /* every member that reads at all gets the whole tensor */
    LX_TEAM_RESHAPE, /* any other: a repartition */
    LX_TEAM_PATTERNS
};

struct lx_team_exchange {
    int32_t tensor;
    int32_t after;        /* the op that wrote what is sent; -1: it is an input */
    int32_t first_reader; /* op */
    int reads;            /* operands served */
    enum lx_team_pattern pattern;
    const struct lx_team_box *box;  /* per member, what it then has; empty: it needs nothing */
    const int64_t *sent, *received; /* bytes, per member */
    int64_t bytes;                  /* received by all */
    int64_t separate_bytes;         /* the same had each read been served on its own */
};

/* Consecutive ops that share loop bounds. */
struct lx_team_group {
    int32_t first, last;
    const struct lx_team_range *core; /* per member; NULL: not split, because nothing is awaited */
};

enum lx_team_step_kind { LX_TEAM_START, LX_TEAM_WAIT, LX_TEAM_COMPUTE, LX_TEAM_REDUCE, LX_TEAM_STEP_KINDS };

enum lx_team_piece { LX_TEAM_ALL, LX_TEAM_CORE, LX_TEAM_BEFORE, LX_TEAM_AFTER, LX_TEAM_PIECES };

struct lx_team_step {
    enum lx_team_step_kind kind;
    int32_t op;       /* compute, reduce */
    int32_t exchange; /* start, wait */
    enum lx_team_piece piece;
};

struct arena;

struct lx_team_plan {
    const struct lx_graph *graph;
    int members;
    const struct lx_team_tensor *tensors; /* as many as the graph's */
    const struct lx_team_op *ops;         /* as many as the graph's */
    const struct lx_team_exchange *exchanges;
    int32_t exchange_count;
    const struct lx_team_group *groups;
    int32_t group_count;
    const struct lx_team_step *steps;
    int32_t step_count;
    int64_t bytes;         /* received by all members in all exchanges */
    int64_t combine_bytes; /* and in combining partial results */
    int64_t plain_bytes;   /* what `bytes` would be without the passes */
    bool exact;            /* no sum is cut: results equal one device's bit for bit */
    uint64_t hash;         /* of graph, members and everything above; members compare it before data moves */
    struct arena *memory;
};

/* NULL: `st` says why the graph cannot be distributed. */
struct lx_team_plan *lx_team_make(const struct lx_graph *g, const struct lx_team_options *how, lx_status *st);
void lx_team_free(struct lx_team_plan *plan);

/* What a member owns of a tensor. */
struct lx_team_box lx_team_own(const struct lx_team_plan *plan, int32_t tensor, int member);
/* The same as an array with its parts; with an exchange (else -1), with the halos that it brings. */
struct lx_team_array lx_team_array_of(const struct lx_team_plan *plan, int32_t tensor, int32_t exchange,
                                      int member);
/* The values of its op's variable that a compute step runs over on a member; {0, 1} if none is cut. */
struct lx_team_range lx_team_step_range(const struct lx_team_plan *plan, const struct lx_team_step *step,
                                        int member);
/* What an op needs of an input while its cut variable runs over `range`. */
struct lx_team_box lx_team_need(const struct lx_graph *g, const struct lx_op *op, int input, int var,
                                struct lx_team_range range);

const char *lx_team_mode_word(enum lx_team_mode mode);
const char *lx_team_pattern_word(enum lx_team_pattern pattern);
const char *lx_team_step_word(enum lx_team_step_kind kind);
const char *lx_team_piece_word(enum lx_team_piece piece);

/* The plan as JSON: malloc'ed, or NULL when memory is out. */
char *lx_team_to_json(const struct lx_team_plan *plan, size_t *length);
/* The graph of one member, with local shapes, for the stages after this one: boxes come from ops of kind
 * extern, and what an op reads of a box is a slice. Ops that have nothing to do on the member are left out;
 * NULL with LX_E_NO if that leaves none. */
const struct lx_graph *lx_team_member_graph(const struct lx_team_plan *plan, int member, lx_status *st);

#endif
