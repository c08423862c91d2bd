/* A draft: the placement problem of a divided graph under some decisions, and the traffic of a placement.
 * Private to the stage. */
#ifndef LX_STAYS_DRAFT_H
#define LX_STAYS_DRAFT_H

#include "base/arena.h"
#include "stays/stay.h"

/* A new stay of `tensor` begins with op `before`. */
struct cut {
    int32_t tensor, before;
};

/* For sorting: by tensor, then op. In decided.c. */
int cut_compare(const void *a, const void *b);
/* Is it one of these, which are in order? */
bool cut_among(const struct cut *cuts, int32_t count, struct cut c);

/* In a nest a tensor is held on chip with the slice that the levels up to `level` fix; 0: whole. */
struct hold {
    int32_t tensor, nest;
    int level;
};

/* All that a plan depends on besides the divided graph; a plan file records exactly this. It is a value:
 * trying something makes another draft. */
struct decisions {
    struct lx_passes passes;
    const int32_t *order; /* per tick: the op of the divided graph; NULL: as it stands there */
    /* Per op of the divided graph: how it is divided instead, NULL: as it is. NULL: all as they are. */
    const struct lx_division *const *divided;
    const struct cut *cuts; /* by tensor, then op; an op by its tick */
    int32_t cut_count;
    const struct cut *moves; /* likewise: the stay goes on at another address from `before` on */
    int32_t move_count;
    const int32_t *apart; /* tensors, ascending, whose views are each filled from HBM, not over the ring */
    int32_t apart_count;
    /* Relayouts, by tensor and first op of the copy; in order. `loaded`: the copy is filled from HBM. Else
     * its source stays on chip until the copy is made. A `lax` draft keeps only the sources in `kept`: its
     * answer is a bound, not a plan. */
    const struct cut *loaded, *kept;
    int32_t loaded_count, kept_count;
    bool lax;
    const struct lx_nest *nests; /* in order of time; ops by their ticks */
    int32_t nest_count;
    const struct hold *holds; /* what is not here is held with the smallest tile */
    int32_t hold_count;
    bool unlimited; /* as if the scratchpads had no end */
    const int32_t
        *borders; /* ops, ascending, that begin a bundle besides those at extern ops; NULL: by the rule */
    int32_t border_count;
};

/* How the nest of an op has one of its operands. */
struct nest_access {
    int32_t nest;              /* -1: none */
    struct nest_tensor tensor; /* in that nest */
    int level;                 /* of its hold */
};

struct draft {
    const struct lx_divisions *divided; /* what it was made of */
    struct decisions how;
    /* The same as decided: what nothing was decided about is shared. */
    const struct lx_divisions *divisions;
    const struct lx_layouts *layouts;
    const struct lx_graph *graph;
    struct lx_problem problem;
    struct lx_buffer *buffers; /* the problem's */
    struct lx_stay *stays;
    struct lx_access *accesses;
    int32_t *access_at;       /* per op, and one more */
    int32_t *access_op;       /* per access: its op */
    struct nest_access *held; /* per access; NULL: there are no nests */
    int32_t *tensor_access;   /* accesses by tensor, in order of time */
    int32_t *tensor_at;       /* per tensor, and one more: into tensor_access */
    int32_t *bundle_of;       /* per op; ascending from 0 */
    int32_t bundle_count;
    int64_t base_bytes;  /* traffic of any placement: this and the problem's cost */
    int64_t *copy_bytes; /* per stay: that it is loaded and stored for in any case, if it is on chip */
    int64_t least_bytes; /* traffic of the best placement where room is no matter */
    struct arena *memory;
};

/* All memory is `memory`, but for a reference to a graph that draft_free releases. */
bool draft_make(const struct lx_divisions *d, const struct decisions *how, struct arena *memory,
                struct draft *out, lx_status *st);
void draft_free(struct draft *x);

/* decided.c: the decisions copied, and the graph, layouts and divisions that they give. */
bool draft_decide(struct draft *x, const struct decisions *how, lx_status *st);

bool draft_bundles(struct draft *x, lx_status *st);

/* accesses.c: accesses of the draft and their order by tensor. */
void draft_accesses(struct draft *x);
/* Steps of `step` indices that the positions offset + stride * v, from <= v < to, touch inside [0, size). */
int64_t steps_touched(int64_t offset, int64_t stride, int64_t from, int64_t to, int64_t size, int64_t step);
/* Bytes of a whole tensor in HBM. */
int64_t tensor_bytes(const struct lx_layouts *l, int32_t tensor);

/* What operand `operand` of an op has in all iterations of its nest: its tile each time. */
int64_t operand_bytes(const struct lx_divisions *d, int32_t op, int operand);

void draft_holds(struct draft *x);
/* HBM bytes of an access off chip, over all iterations. */
int64_t held_access_bytes(const struct draft *x, int32_t access, int64_t bytes);
/* How often a stay is filled, and HBM bytes of that. */
int64_t stay_fills(const struct draft *x, int32_t stay);
int64_t stay_load_bytes(const struct draft *x, int32_t stay);
/* How often partial sums of the stay are stored (and all but the first time loaded); 1: it is complete. */
int64_t stay_parts(const struct draft *x, int32_t stay);
struct lx_core_view held_view(const struct draft *x, int32_t access);
/* Does the stay of an access cover the run of its nest? Then [*first, *last]. */
bool held_covers(const struct draft *x, int32_t access, int32_t *first, int32_t *last);
/* May one stay serve two accesses of a tensor, one after the other? */
bool held_together(const struct draft *x, int32_t before, int32_t access);

struct lx_core_view access_view(const struct draft *x, int32_t access);
struct lx_core_view stay_view(const struct draft *x, int32_t stay);
/* Can a stay have this view: equal boxes of the layout, whole values? */
bool view_holds(const struct lx_layout *l, const struct lx_core_view *v, bool sums_meet);
/* Bytes of one core's part. */
int64_t view_part_bytes(const struct lx_layouts *l, int32_t tensor, const struct lx_core_view *v);
/* Bytes that cores of `to` receive from others when a tensor with view `from` is laid out anew. */
int64_t view_ring_bytes(const struct lx_layouts *l, int32_t tensor, const struct lx_core_view *from,
                        const struct lx_core_view *to);
double view_ring_us(const struct lx_layouts *l, int32_t tensor, const struct lx_core_view *from,
                    const struct lx_core_view *to);
/* "m 4 x n 8" of an op's division. */
const char *splits_text(const struct lx_divisions *d, int32_t op, struct arena *memory);

/* move_stays.c: stays that change their addresses become several; the new ones stand last, in order. */
void draft_moves(struct draft *x);
/* Per stay: it cannot be moved, as it is part of a relayout or never on chip. */
void stays_find_fixed(const struct draft *x, bool *fixed);
int64_t view_all_bytes(const struct lx_layouts *l, int32_t tensor, const struct lx_core_view *v);

/* stay_prices.c: costs and linked costs of the problem, and what saves nothing is barred. */
void draft_prices(struct draft *x);

/* A relayout of a lax draft whose source would wait, and the buffers [first, last] that stand for it. */
struct wait {
    int32_t copy, source;
    int32_t tick; /* of the copy */
    int32_t first, last;
};
/* The problem of a lax draft: that of the stays, then the buffers above. */
struct waiting {
    struct lx_problem problem;
    const struct wait *waits;
    int32_t count;
};
void draft_waits(const struct draft *x, struct arena *memory, struct waiting *out);

void draft_parents(struct draft *x);
/* May `op` write its output over `tensor`, wherever it reads it, if both are cut alike? */
bool runs_in_place_of(const struct lx_layouts *l, const struct lx_op *op, int32_t tensor);

/* Why a tensor is never on chip, whatever its ops and their divisions are, or NONE; `*text` says it. */
enum lx_bar bar_of_tensor(const struct lx_layouts *l, const struct lx_passes *how, int32_t tensor,
                          const char **text);
/* May op o write its output over what it reads of `tensor`, if that is no longer needed? */
bool draft_runs_over(const struct draft *x, int32_t o, int32_t tensor);

/* traffic.c. What a placement moves; `address` NULL: nothing is on chip. */
struct traffic {
    struct lx_transfer *transfers; /* in `memory` of the draft's user; NULL when they were not asked for */
    int32_t transfer_count;
    int64_t hbm_bytes, ring_bytes;
};

bool traffic_count(const struct draft *x, const int64_t *address, int64_t *hbm_bytes);
/* All of it; HBM and ring of each op into `ops`. */
void traffic_list(const struct draft *x, const int64_t *address, struct arena *memory, struct traffic *out,
                  struct lx_op_traffic *ops);
/* What each op moves on chip, as divided, where the placement has its operands. */
void traffic_on_chip(const struct draft *x, const int64_t *address, struct lx_op_traffic *ops);

#endif
