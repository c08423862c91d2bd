/* Work division: splits the iteration space of each op into slices for the cores.
 *
 * Every tensor of an op is indexed by some of its variables. Variables along which sticks run count in
 * sticks, on a device of tiles in tiles. A division gives each variable a number of slices, which divides
 * its extent, or on an uneven device leaves a shorter last one. The product of these splits is the number of
 * cores used. Pass 1 splits until no core's span of any tensor exceeds the limit.
 * Pass 2 hands out the remaining cores, to output dimensions first. In between, a cost model may choose the
 * splits of a matmul. Every split has a reason. */
#pragma once

#include "divide/op_nest.h"

struct arena;
struct cost_parts;

/* The reason of a variable's split. The words are shown to people and written to JSON. */
#define LX_SPLIT_RULES(X)                                                                                    \
    X(LX_SPLIT_NONE, "none", "it has one slice only: an extent of 1, or of one stick")                       \
    X(LX_SPLIT_SPAN, "span", "so that one core's part of a tensor stays within the span limit")              \
    X(LX_SPLIT_COST, "cost", "the cheapest division of this matmul by the cost model")                       \
    X(LX_SPLIT_OUTPUT, "output", "an output dimension: the largest divisor for the cores that were left")    \
    X(LX_SPLIT_REDUCTION, "reduction", "the one reduction dimension that gets the cores left over")          \
    X(LX_SPLIT_HINT, "hint", "asked for")                                                                    \
    X(LX_SPLIT_CHOSEN, "chosen", "by a later stage, together with other ops and what is on chip")            \
    X(LX_SPLIT_DOMAIN, "domain", "the least that a constraint on this dimension allows")                     \
    X(LX_SPLIT_BLOCKED, "blocked", "a constraint keeps it whole")                                            \
    X(LX_SPLIT_APART, "apart", "slices of it would be no parts of an operand on chip: joined, or padded")    \
    X(LX_SPLIT_NO_CORES, "no cores", "no divisor fits the cores that were left")                             \
    X(LX_SPLIT_LATER, "one reduction", "a reduction dimension, and another one is split or fills the cores") \
    X(LX_SPLIT_UNASKED, "not asked", "a hint decides, and it does not name this dimension")

#define LX_SPLIT_ENUM(id, word, help) id,
enum lx_split_rule { LX_SPLIT_RULES(LX_SPLIT_ENUM) LX_SPLIT_RULE_COUNT };
#undef LX_SPLIT_ENUM

const char *lx_split_rule_word(enum lx_split_rule r);
const char *lx_split_rule_help(enum lx_split_rule r);

/* One variable of an op, in iteration order: the dimensions of the output, then the others. */
struct lx_split {
    char letter;       /* letter in the einsum; views use a, b, ... */
    bool is_reduction; /* no output coordinate outside the sticks uses it; split last */
    bool is_summed;    /* absent from the output */
    int64_t extent;    /* elements of one tile */
    int64_t unit;      /* elements that stay together: a stick's, a tile's, or 1 */
    int64_t units;     /* ceil(extent / unit): the units to split */
    int64_t split;
    int64_t per_core; /* elements of the largest slice */
    enum lx_split_rule rule;
    int32_t bound_by; /* LX_SPLIT_SPAN: the operand whose span forced the split; -1: none */
    /* span: bytes without this split; hint: the requested split; otherwise: cores left */
    int64_t bound;
    const char *constraint; /* the constraint that blocks or narrows it, or NULL */
    int64_t tiles;          /* tiles of the nest; extent counts one tile. 1: not tiled */
};

/* One operand: inputs in order, then the output. */
struct lx_operand_span {
    int32_t tensor;
    int64_t whole_bytes;                /* unsplit span in bytes */
    int64_t bytes;                      /* span of one core in bytes */
    int64_t core_bytes;                 /* bytes of one core's slice, in whole sticks */
    int64_t extent[LX_MAX_DEVICE_RANK]; /* positions of one core per device dimension */
};

enum lx_division_kind {
    LX_DIVIDED,
    LX_UNDIVIDED_EXTERN, /* runs on the host */
    LX_UNDIVIDED_OPAQUE, /* unknown index map: one core */
};

struct lx_division {
    int32_t op;
    enum lx_division_kind kind;
    int split_count;
    struct lx_split *splits;
    int operand_count;
    struct lx_operand_span *operands;
    int64_t cores;       /* cores allowed */
    int64_t cores_used;  /* product of the splits */
    bool by_cost;        /* the matmul cost pass decided */
    double predicted_us; /* predicted time of all tiles in microseconds, by lib/cost */
    int contiguous;      /* variable whose slices are on neighbouring cores; -1: the first split one */
};

struct lx_divide_options {
    int64_t cores; /* 0: all cores of the device */
    bool no_cost;  /* skip the matmul cost pass: split batch, M and N by decreasing size, K last */
    bool packs;    /* the host packs weights as ops want them */
    bool nests;    /* ops may be put into nests, and spans are those of a tile there */
};

struct lx_divisions {
    const struct lx_layouts *layouts; /* not owned */
    int64_t cores;
    int32_t count;
    struct lx_division *at;      /* per op of layouts->graph */
    const struct lx_nest *nests; /* nests of tiled ops; not owned */
    int32_t nest_count;
    double predicted_us;
    struct arena *memory;
};

/* Divides one op again by the rules of the stage, within the nests of `d`. Allocates from `memory`. */
bool lx_divide_again(const struct lx_divisions *d, int32_t op, bool no_cost, struct arena *memory,
                     struct lx_division *out, lx_status *st);
/* Reorders dimensions of large intermediates where no division of an op fits the span limit, and of packed
 * weights where it makes cores split a sum. With
 * options->nests, an op that still does not fit is divided as if there were no limit, and is legal in a nest
 * only. */
void lx_layouts_fit_spans(struct lx_layouts *l, const struct lx_divide_options *options);
/* Divides every op. NULL: `st` names op, tensor, sizes, limit and remedies. */
struct lx_divisions *lx_divide(const struct lx_layouts *l, const struct lx_divide_options *options,
                               lx_status *st);
void lx_divisions_free(struct lx_divisions *d);
/* JSON text from malloc, or NULL when out of memory. */
char *lx_divisions_to_json(const struct lx_divisions *d, size_t *length);

/* One iteration of an op as divided, in microseconds. Operands in HBM stream while the cores work. */
struct lx_op_work {
    double compute_us;                 /* of the cores, if streaming hides what it can */
    double port_us;                    /* of each scratchpad's port */
    double exposed_us;                 /* of computing, whatever streams */
    double fixed_us;                   /* part of exposed_us that is the same under every division */
    double sums_us;                    /* partial sums over the reduce ring, one way */
    double flops;                      /* of all cores; a multiply-add is two, a copy none */
    int operand_count, output;         /* output: the first result */
    double stream_us[LX_MAX_OPERANDS]; /* each operand through HBM */
    double bytes[LX_MAX_OPERANDS];     /* of the same */
    double bytes_per_us;               /* HBM's one-way rate, which no operand exceeds */
};
void lx_division_work(const struct lx_divisions *d, int32_t op, struct lx_op_work *out);

/* us = max(stream_us, work_us) + exposed_us + ring_us */
struct lx_op_time {
    double us, stream_us, work_us, exposed_us, ring_us;
};
/* hbm_share[i] is the share of operand i's bytes that goes through HBM; it exceeds 1 where an incomplete sum
 * is read back. `charged` is the share of these bytes that costs HBM time (cost_charged_bytes). */
struct lx_op_time lx_op_time_of(const struct lx_op_work *w, const double *hbm_share, double charged);
/* Time of op `op` in all iterations of its nest. With all shares 1 it is predicted_us. */
double lx_division_time(const struct lx_divisions *d, int32_t op, const double *hbm_share);

struct lx_alternative {
    int64_t splits[LX_MAX_VARS]; /* per variable, in iteration order */
    int64_t cores_used;
    double device_us; /* predicted, as in lx_op_time */
    bool present;     /* the op's current division */
    int agreeing;     /* neighbours that split the common tensor the same way */
};

/* Writes the `most` fastest legal divisions of an op to `out`; ties go to divisions that agree with more
 * neighbours (`*neighbours` is their number). The present division is always included. Returns the count; 0:
 * the op is not divided. */
int lx_division_alternatives(const struct lx_divisions *d, int32_t op, const double *hbm_share,
                             struct lx_alternative *out, int most, int *neighbours);

bool lx_cores_valid(const struct lx_device *device, int64_t cores, lx_status *st);

/* The slice of variable `split` on core `core`. The first variable (or `contiguous`) varies fastest. */
int64_t lx_division_slot(const struct lx_division *d, int split, int64_t core);
/* Core c works on slice (c / stride) mod the split. */
int64_t lx_division_stride(const struct lx_division *d, int split);
/* Elements [*from, *to) of that slice; empty if a padded last slice has none. */
void lx_division_slice(const struct lx_division *d, int split, int64_t core, int64_t *from, int64_t *to);

/* The cores' parts of one operand: slices per device dimension, and the core of each. */
struct lx_core_view {
    int64_t cores;
    int rank;
    int64_t slices[LX_MAX_DEVICE_RANK]; /* parts of the dimension; only the last may be shorter */
    int64_t stride[LX_MAX_DEVICE_RANK]; /* core c has part (c / stride) mod slices; 0 where slices is 1 */
    int64_t tiles[LX_MAX_DEVICE_RANK];  /* tiles of a nest; slices are parts of a tile */
    /* A buffer in a nest: tiles of an inner loop, each cut into slices. 1: the core's part is a box. */
    int64_t blocks[LX_MAX_DEVICE_RANK];
    /* Halo of windows: extra positions before and after a core's slice. */
    int32_t low[LX_MAX_DEVICE_RANK], high[LX_MAX_DEVICE_RANK];
    bool partial;       /* cores hold partial sums */
    bool representable; /* false: parts are not boxes of the device layout */
};

/* Positions [*lo, *hi) of device dimension `dim` of `size` that a core has in the first block. */
void core_view_reach(const struct lx_core_view *v, int dim, int64_t size, int64_t core, int64_t *lo,
                     int64_t *hi);
struct lx_core_view lx_division_view(const struct lx_divisions *d, int32_t op, int operand);
/* The view of a buffer that holds the slice fixed by the nest levels up to `hold`. */
struct lx_core_view lx_division_held(const struct lx_divisions *d, int32_t op, int operand, int hold);
struct lx_core_view core_view_held(const struct lx_layout *y, const struct lx_nest *n,
                                   const struct nest_tensor *t, int hold, struct lx_core_view v);
/* Whether a buffer can stay on chip between the two views: equal parts on equal cores, complete values. */
bool lx_core_views_match(const struct lx_core_view *a, const struct lx_core_view *b);
/* Whether cores have the same parts. */
bool views_equal(const struct lx_core_view *a, const struct lx_core_view *b);
/* Whether ops `a` and `b` divide `tensor` differently, so that it cannot stay on chip between them. */
bool lx_core_div_mismatch(const struct lx_divisions *d, int32_t a, int32_t b, int32_t tensor);

/* Divides the op by `splits` (per variable in iteration order) and checks the result. Allocates from
 * `memory`. */
bool lx_division_with(const struct lx_divisions *d, int32_t op, const int64_t *splits, struct arena *memory,
                      struct lx_division *out, lx_status *st);
/* The same with slices of variable `front` on neighbouring cores; -1: by the rule. Fails for split sums. */
bool lx_division_ordered(const struct lx_divisions *d, int32_t op, const int64_t *splits, int front,
                         struct arena *memory, struct lx_division *out, lx_status *st);
/* The variable that was put in front by choice, as lx_division_ordered takes it; -1: none. */
int lx_division_front(const struct lx_division *v);

/* Another division of an op: a split per variable in iteration order. */
struct lx_other_division {
    int64_t splits[LX_MAX_VARS];
    bool agrees;         /* it splits the operand as requested; otherwise a core holds less of the operand */
    double predicted_us; /* all operands through HBM */
};
struct lx_other_divisions {
    struct lx_other_division at[2];
    int count;
};
/* Writes the fastest division that splits the operand like `like` (may be NULL), and the fastest whose cores
 * hold less. */
void lx_divisions_for_operand(const struct lx_divisions *d, int32_t op, int operand,
                              const struct lx_core_view *like, struct lx_other_divisions *out);

/* Splits that survive renaming. The key is how many elements one step of the variable moves: in the write
 * index for output variables, in the first read index for the others. Splits of 1 are not stored. */
struct lx_coeff_split {
    int64_t coefficient, split;
};

struct lx_coeff_splits {
    int output_count, reduction_count;
    int64_t front; /* write coefficient of the variable with slices on neighbouring cores; 0: by the rule */
    struct lx_coeff_split output[LX_MAX_RANK], reduction[LX_MAX_RANK];
};

/* `splits` has one entry per variable in iteration order. False: the op's index map is unknown. */
bool lx_division_encode(const struct lx_layouts *l, int32_t op, const int64_t *splits,
                        struct lx_coeff_splits *out);
/* Encodes division `v`, including the variable in front. */
bool lx_division_state(const struct lx_layouts *l, const struct lx_division *v, struct lx_coeff_splits *out);
/* Writes one split per variable in iteration order. False: `st` names a key that matches no variable. */
bool lx_division_decode(const struct lx_layouts *l, int32_t op, const struct lx_coeff_splits *from,
                        int64_t *splits, lx_status *st);
/* Divides every op by splits[op], ops in nests as tiles. The caller keeps `nests`. NULL: see `st`; `*wrong`
 * is the op with illegal splits, or -1. */
struct lx_divisions *lx_divisions_stated(const struct lx_layouts *l, int64_t cores,
                                         const struct lx_nest *nests, int32_t nest_count,
                                         const struct lx_coeff_splits *splits, int32_t *wrong, lx_status *st);

/* --- Menus: every legal division of an op, with the figures that a later stage compares. --- */

struct division_menu {
    int split_count, operand_count; /* operand_count 0: the op cannot be divided */
    int output;                     /* the operand that is the first result */
    bool is_reduction[LX_MAX_VARS];
    int32_t count;
    int64_t *splits;    /* per choice, split_count each */
    signed char *front; /* per choice: the variable with slices on neighbouring cores; -1: by the rule */
    struct lx_core_view *views; /* per choice, operand_count each */
    int64_t *core_bytes;        /* per choice, operand_count each */
    struct cost_parts *parts;   /* per choice */
    double *memory_us;          /* per choice, operand_count each */
};

/* Lists the choices of an op. An undivided op gets one choice without splits and views. `orders` adds
 * choices with another variable in front. */
void division_menu_make(const struct lx_divisions *d, int32_t op, bool orders, struct arena *memory,
                        struct division_menu *out);

/* --- Cores and slices, on plain arrays. --- */

/* Slot of dimension `dim` on core `core`. The first dimension varies fastest, or `contiguous` unless -1. */
int64_t core_slot(const int64_t *splits, int count, int contiguous, int dim, int64_t core);
/* Distance in cores between two slots of the dimension. */
int64_t core_stride(const int64_t *splits, int count, int contiguous, int dim);
/* Whether `cores` is a multiple of the number of slices. */
bool core_count_fits(const int64_t *splits, int count, int64_t cores, lx_status *st);
/* Whether every slot of the table `slots[core * count + dim]` is within its split. */
bool core_slots_valid(const int64_t *slots, const int64_t *splits, int count, int64_t cores, lx_status *st);

/* Bytes from the first to the last that a core touches in a box of sticks with extent[d] positions along
 * d. */
int64_t physical_span(int rank, const int64_t *size, const int64_t *extent, int64_t stick_bytes);

/* lx_division_view for a division outside a list; `x` is the index map of its op. */
struct lx_core_view core_view_of(const struct lx_layouts *l, const struct op_index *x,
                                 const struct lx_division *d, int operand);
