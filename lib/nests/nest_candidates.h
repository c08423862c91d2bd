/* Candidates for nests: runs of ops, axes and tile counts, each with a guess of its traffic. The guess treats
 * all scratchpads as one, empty at the start of the run: each tensor of the run is in HBM, or held at one
 * level. It is rough: the caller plans the best few in full. Runs of some dozen ops, three axes. */
#pragma once

#include "nests/axes.h"
#include "stays/draft.h"

struct nest_candidate {
    struct lx_nest nest;
    const struct hold *holds; /* of nest 0: holds that differ from the default; by tensor */
    int32_t hold_count;
    int64_t gain; /* guess of the bytes saved, less those of the time that its iterations take */
};

struct nest_asks {
    const struct draft *now; /* with its nests */
    const int64_t *op_bytes; /* per op: HBM bytes that it moves in `now` */
    int64_t room;            /* bytes of all scratchpads */
    int32_t longest;         /* limit on the ops of a run */
    int levels;              /* limit on levels */
    int counts;              /* limit on tile counts per axis */
    int32_t most;            /* limit on candidates */
    int32_t most_runs;       /* limit on runs, each with its best candidate; 0: none */
    int64_t least_gain;      /* drops candidates below; may be negative, since guesses may be wrong */
    /* Bytes that HBM moves while an iteration begins, and while one of its ops does; by bytes 0. */
    int64_t loop_bytes, tick_bytes;
};

struct nest_list {
    struct nest_candidate *at;
    int32_t count, most;
};

/* Fills `all` with the best candidates and `runs` with the best one of each run: by gain, then fewer
 * iterations, fewer levels, the earlier run. */
void nest_candidates(const struct nest_asks *a, struct arena *memory, struct nest_list *all,
                     struct nest_list *runs);

/* Edits of a nest: more or fewer ops at either end, a level more or less. */

/* The same levels over [first, last], which shares an op with the nest's run; further ops get their axes
 * through shared tensors. False: an op has no such axis. nest_valid checks the rest. */
bool nest_over(const struct lx_layouts *l, const struct lx_nest *n, int32_t first, int32_t last,
               struct arena *memory, struct lx_nest *out);
/* Adds a level before level `at`: the axis of variable `var` of the first op. False: no such axis. */
bool nest_deeper(const struct lx_layouts *l, const struct lx_nest *n, int at, int var, int64_t tiles,
                 struct arena *memory, struct lx_nest *out);
/* Removes level `at`; swaps two levels. */
void nest_shallower(const struct lx_nest *n, int at, struct arena *memory, struct lx_nest *out);
void nest_swapped(const struct lx_nest *n, int one, int two, struct arena *memory, struct lx_nest *out);

/* alone.c: lower bounds on HBM bytes, with nests or without. */
struct alone_asks {
    int64_t room;   /* bytes of all scratchpads together */
    bool any_order; /* ops may be reordered */
};

/* Sum over all tensors of the least traffic of each alone on chip, under any nests and holds. `x`: a draft
 * without nests, in the order of the graph. */
int64_t alone_traffic(const struct draft *x, const struct alone_asks *asks);
/* together.c: the least traffic of all tensors together on shared scratchpads, in the order of the graph; at
 * most `below`. 0: unknown. */
enum { NESTS_TOGETHER = 200 }; /* ops; in larger graphs each tensor is judged alone */
int64_t together_traffic(const struct draft *x, int64_t room, int64_t below);
/* The same with unlimited room and any order: the compulsory traffic. */
int64_t crossing_traffic(const struct draft *x);
/* True if a plan with nests could move less than all plans without: some nest cuts a tensor that two of its
 * ops access, or one op twice. */
bool nests_help(const struct draft *x, bool any_order);
