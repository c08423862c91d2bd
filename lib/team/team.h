/* The team stage: one graph over several devices, as one plan that every member runs (SPMD).
 *
 * Every tensor is cut along one dimension into contiguous blocks, or is whole on every member. Whoever owns a
 * block of an op's output computes it; what it reads and does not own comes by an exchange. The plan is a
 * list of steps, the same for all members, in which ranges differ by member:
 *
 *     start e      send what others need of a tensor, begin to receive what this member needs: a box
 *     compute o p  a piece of op o: the core (needs nothing from others), what lies before or after, or all
 *     wait e       the box of exchange e is complete
 *     combine o    partial results of all members become one, which all have: each adds up a share of it
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

/* Is the plan right, whoever made it? False: `st` says why not (LX_E_NO). */
bool lx_team_check(const struct lx_team_plan *plan, lx_status *st);

const char *lx_team_mode_word(enum lx_team_mode mode);
const char *lx_team_pattern_word(enum lx_team_pattern pattern);

/* The plan as JSON: malloc'ed, or NULL when memory is out. */
char *lx_team_to_json(const struct lx_team_plan *plan, size_t *length);
/* A part of a tensor of a member's graph that goes to another member or comes from one. Both sides have it,
 * with the same tag and bytes. */
struct lx_team_message {
    int32_t op;            /* of the member's graph: a send or a receive */
    int operand;           /* of a send: the input that is sent; -1: of a receive, its output */
    int peer;              /* the other member */
    int tag;               /* one message of a tag goes from one member to another */
    struct lx_team_box at; /* in that operand */
    int64_t bytes;
};

/* Where a graph input or output of a member belongs. */
struct lx_team_place {
    int32_t local;  /* tensor of the member's graph */
    int32_t tensor; /* of the team's graph; -1: zeros, for what nobody writes */
    struct lx_team_box box;
};

/* What one member does, with local shapes, as a graph for the stages after this one: the steps of the plan, with
 * ops piece by piece; ops of the kinds send and receive work on HBM. */
struct lx_team_member {
    const struct lx_graph *graph; /* NULL: it has nothing to do */
    const struct lx_team_message *messages;
    int32_t message_count;
    const struct lx_team_place *places;
    int32_t place_count;
    struct arena *memory;
};

struct lx_team_member *lx_team_member_make(const struct lx_team_plan *plan, int member, lx_status *st);
void lx_team_member_free(struct lx_team_member *m);

/* Tags of messages: exchanges from 1 on, then two for each combine, then outputs. Tag 0 is the agreement before data moves. */
int lx_team_tag_exchange(const struct lx_team_plan *plan, int32_t exchange);
int lx_team_tag_combine(const struct lx_team_plan *plan, int32_t op, int round);
int lx_team_tag_output(const struct lx_team_plan *plan, int32_t tensor);

#endif
