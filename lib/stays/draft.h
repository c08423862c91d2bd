/* A draft: the placement problem of a divided graph under some decisions, and the traffic of a placement.
 * Private to the stage. */
#pragma once

#include "base/base.h"
#include "stays/stay.h"

/* A new stay of `tensor` begins with op `before`. */
struct cut {
    int32_t tensor, before;
};

/* For sorting: by tensor, then op. In decided.c. */
int cut_compare(const void *a, const void *b);
/* Is `c` in `cuts`, which are sorted by cut_compare? */
bool cut_among(const struct cut *cuts, int32_t count, struct cut c);

/* In a nest a tensor is on chip with the slice that the levels up to `level` fix; 0: whole. */
struct hold {
    int32_t tensor, nest;
    int level;
};

/* The load of a stay of `tensor` that begins with op `due` is issued at tick `issue` if the stay is placed; a
 * slice that a nest loads has so many stages. */
struct early {
    int32_t tensor, due, issue;
    int stages;
    bool streamed; /* on chip it saves no bytes, and has a place only to be loaded early */
};

/* All decisions behind a plan, besides the divided graph; a plan file records exactly this. It is a value:
 * trying something makes another draft. */
struct decisions {
    struct lx_passes passes;
    const int32_t *order; /* per tick: the op of the divided graph; NULL: no reordering */
    /* divided[op] overrides the division of an op of the divided graph; NULL keeps it. May be NULL as a
     * whole. */
    const struct lx_division *const *divided;
    const struct cut *cuts; /* sorted by tensor, then op; ops are ticks */
    int32_t cut_count;
    const struct cut *moves; /* sorted likewise: the stay has another address from `before` on */
    int32_t move_count;
    const int32_t *apart; /* tensors, ascending: each view is filled from HBM, not over the ring */
    int32_t apart_count;
    /* Relayouts, sorted by tensor and first op of the copy. A copy in `loaded` is filled from HBM. For
     * others, the source stays on chip until the copy is made. A `lax` draft keeps only the sources in
     * `kept`: its answer is a bound, not a plan. */
    const struct cut *loaded, *kept;
    int32_t loaded_count, kept_count;
    bool lax;
    const struct lx_nest *nests; /* in order of time; ops are ticks */
    int32_t nest_count;
    const struct hold *holds; /* tensors without a hold are held with the smallest tile */
    int32_t hold_count;
    bool unlimited; /* no limit of the scratchpads */
    const int32_t
        *borders; /* ops, ascending, that begin bundles besides extern ops; NULL: by the device's limit */
    int32_t border_count;
    const struct early *early; /* sorted by tensor, then op */
    int32_t early_count;
};

/* How the nest of an op holds one of its operands. */
struct nest_access {
    int32_t nest;              /* -1: none */
    struct nest_tensor tensor; /* in that nest */
    int level;                 /* of its hold */
};

struct draft {
    const struct lx_divisions *divided; /* the divided graph that it was made of */
    struct decisions how;
    /* The graph under the decisions; unchanged parts are shared with `divided`. */
    const struct lx_divisions *divisions;
    const struct lx_layouts *layouts;
    const struct lx_graph *graph;
    struct lx_problem problem;
    struct lx_buffer *buffers; /* of `problem` */
    struct lx_stay *stays;
    struct lx_access *accesses;
    int32_t *access_at;       /* per op: its first access; and one more */
    int32_t *access_op;       /* per access */
    struct nest_access *held; /* per access; NULL: there are no nests */
    int32_t *tensor_access;   /* accesses by tensor, in order of time */
    int32_t *tensor_at;       /* per tensor, and one more: into tensor_access */
    int32_t *bundle_of;       /* per op, ascending from 0 */
    int32_t bundle_count;
    int32_t *wipes_before;   /* per op: how often bundles have wiped the scratchpads so far */
    int64_t base_bytes;      /* traffic of a placement = base_bytes + the problem's cost */
    int64_t *copy_bytes;     /* per stay: bytes loaded and stored whenever it is on chip */
    int64_t least_bytes;     /* traffic of the best placement with unlimited room */
    struct lx_op_work *work; /* per op, for the clock; NULL: not computed yet (draft_weigh) */
    int64_t *ring_bytes;     /* per stay: of a fill over the ring; NULL: not computed yet (draft_rings) */
    struct ring_pull *pulls; /* per stay, for the clock; NULL: not kept (draft_weigh) */
    struct arena *memory;
};

/* Memory comes from `memory`, except a reference to a graph that draft_free releases. */
bool draft_make(const struct lx_divisions *d, const struct decisions *how, struct arena *memory,
                struct draft *out, lx_status *st);
void draft_free(struct draft *x);

/* decided.c: copies the decisions and makes the graph, layouts and divisions from them. */
bool draft_decide(struct draft *x, const struct decisions *how, lx_status *st);

bool draft_bundles(struct draft *x, lx_status *st);

/* accesses.c: sets the draft's accesses and their order by tensor. */
void draft_accesses(struct draft *x);
/* Steps of `step` indices that the positions offset + stride * v, from <= v < to, touch inside [0, size). */
int64_t steps_touched(int64_t offset, int64_t stride, int64_t from, int64_t to, int64_t size, int64_t step);
/* Bytes of a whole tensor in HBM. */
int64_t tensor_bytes(const struct lx_layouts *l, int32_t tensor);

/* Bytes of operand `operand` of an op in all iterations of its nest: its tile each time. */
int64_t operand_bytes(const struct lx_divisions *d, int32_t op, int operand);

void draft_holds(struct draft *x);
/* Whether the op reads the operand where indices point. */
bool access_is_picked(const struct draft *x, int32_t access);
/* HBM bytes of an operand off chip outside of nests. */
int64_t access_once_bytes(const struct lx_layouts *l, int32_t op, int operand);
/* How often a stay is filled, and the HBM bytes of its loads. */
int64_t stay_fills(const struct draft *x, int32_t stay);
int64_t stay_load_bytes(const struct draft *x, int32_t stay);
/* How often partial sums of the stay are stored (and loaded, but for the first time); 1: complete sums. */
int64_t stay_parts(const struct draft *x, int32_t stay);
struct lx_core_view held_view(const struct draft *x, int32_t access);
/* Does the stay of an access cover the run of its nest? If so, sets [*first, *last]. */
bool held_covers(const struct draft *x, int32_t access, int32_t *first, int32_t *last);
/* May one stay serve two accesses of a tensor, one after the other? */
bool held_together(const struct draft *x, int32_t before, int32_t access);

struct lx_core_view access_view(const struct draft *x, int32_t access);
struct lx_core_view stay_view(const struct draft *x, int32_t stay);
/* Can a stay have this view: boxes of the layout, none of them empty, and complete values unless `sums_meet`? */
bool view_holds(const struct lx_layout *l, const struct lx_core_view *v, bool sums_meet);
/* Bytes of the largest part of a core. */
int64_t view_part_bytes(const struct lx_layouts *l, int32_t tensor, const struct lx_core_view *v);
/* Bytes that cores receive from others in a relayout from view `from` to view `to`. */
int64_t view_ring_bytes(const struct lx_layouts *l, int32_t tensor, const struct lx_core_view *from,
                        const struct lx_core_view *to);
/* Bytes of one fill of the stay from its ring source; computes those of all, for many placements. */
int64_t stay_ring_bytes(const struct draft *x, int32_t stay);
void draft_rings(struct draft *x);
double view_ring_us(const struct lx_layouts *l, int32_t tensor, const struct lx_core_view *from,
                    const struct lx_core_view *to);
/* The splits of an op in words: "m/4 n/8". */
const char *splits_text(const struct lx_divisions *d, int32_t op, struct arena *memory);

/* move_stays.c: divides stays that change their addresses; the new ones stand last, in order. */
void draft_moves(struct draft *x);
/* stays/early_stays.c: lengthens the lives of stays whose loads are issued early; of one such stay. */
void draft_early(struct draft *x);
void draft_early_stay(struct draft *x, int32_t stay);
int early_compare(const void *a, const void *b);
/* The entry of a load; NULL: none. */
const struct early *early_find(const struct decisions *how, int32_t tensor, int32_t due);
/* Ticks from the issue of the load of this stay to its due tick. */
int32_t stay_ahead(const struct draft *x, int32_t stay);
/* fixed[i]: stay i cannot be moved, as part of a relayout or never on chip. */
void stays_find_fixed(const struct draft *x, bool *fixed);
int64_t view_all_bytes(const struct lx_layouts *l, int32_t tensor, const struct lx_core_view *v);

/* stay_prices.c: sets costs and linked costs of the problem; bars stays that save nothing. */
void draft_prices(struct draft *x);

/* A relayout of a lax draft whose source would wait, and the buffers [first, last] for the wait. */
struct wait {
    int32_t copy, source;
    int32_t tick; /* of the copy */
    int32_t first, last;
};
/* The problem of a lax draft: its stays, then the buffers of `waits`. */
struct waiting {
    struct lx_problem problem;
    const struct wait *waits;
    int32_t count;
};
void draft_waits(const struct draft *x, struct arena *memory, struct waiting *out);

void draft_parents(struct draft *x);
/* May `op` write its output over `tensor`, wherever it reads it, if both are split alike? */
bool runs_in_place_of(const struct lx_layouts *l, const struct lx_op *op, int32_t tensor);

/* Why a tensor is never on chip, whatever its ops and their divisions, or LX_EXCLUDED_NONE; `*text` is the
 * reason. */
enum lx_exclusion exclusion_of_tensor(const struct lx_layouts *l, const struct lx_passes *how, int32_t tensor,
                                      const char **text);
/* May op `o` write its output over `tensor`, if no later op needs the tensor? */
bool draft_runs_over(const struct draft *x, int32_t o, int32_t tensor);

/* traffic.c: traffic of a placement; `address` NULL: nothing is on chip. */
struct traffic {
    struct lx_transfer *transfers; /* in the arena of the caller */
    int32_t transfer_count;
    int64_t hbm_bytes, ring_bytes;
};

bool traffic_count(const struct draft *x, const int64_t *address, int64_t *hbm_bytes);
/* Lists all transfers; adds the HBM and ring bytes of each op to `ops`. */
void traffic_list(const struct draft *x, const int64_t *address, struct arena *memory, struct traffic *out,
                  struct lx_op_traffic *ops);
/* Adds the scratchpad and reduce-ring bytes of each op to `ops`. */
void traffic_on_chip(const struct draft *x, const int64_t *address, struct lx_op_traffic *ops);
