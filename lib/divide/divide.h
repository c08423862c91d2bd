/* The fourth stage: cuts the iteration space of each op into slices for the cores.
 *
 * Every tensor of an op is indexed by some of its variables. Variables along which sticks run count in
 * sticks. A division gives each variable a number of slices that divides its extent; their product is the
 * number of cores used. The first pass splits until no core addresses more than the span limit of any tensor;
 * the second hands out the other cores, to the dimensions of the output first. Between them a cost model may
 * choose for a matmul. Every choice carries its reason. */
#ifndef LX_DIVIDE_DIVIDE_H
#define LX_DIVIDE_DIVIDE_H

#include "divide/op_nest.h"

struct arena;
struct cost_parts;

/* Why a variable has the split it has. The words are shown to people and written in JSON. */
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
    char letter;       /* of the einsum; views number theirs a, b, ... */
    bool is_reduction; /* no coordinate of the output outside its sticks has it: it is split last */
    bool is_summed;    /* the output does not have it at all */
    int64_t extent;    /* elements, of one tile */
    int64_t unit;      /* elements that stay together: those of a stick, or 1 */
    int64_t units;     /* ceil(extent / unit): what is split */
    int64_t split;
    int64_t per_core; /* elements of the largest slice */
    enum lx_split_rule rule;
    int32_t bound_by;       /* operand whose span (LX_SPLIT_SPAN) decided; -1: none */
    int64_t bound;          /* span: bytes without this split; hint: the wanted split; else: cores left */
    const char *constraint; /* the one that blocks or narrows it, or NULL */
    int64_t tiles;          /* of a nest; one of them is divided. 1: it is whole */
};

/* One operand: inputs in order, then the output. */
struct lx_operand_span {
    int32_t tensor;
    int64_t whole_bytes;                /* span with nothing split */
    int64_t bytes;                      /* span of one core */
    int64_t core_bytes;                 /* what one core holds of it: its slice, whole sticks */
    int64_t extent[LX_MAX_DEVICE_RANK]; /* per device dimension: positions of one core */
};

enum lx_division_kind {
    LX_DIVIDED,
    LX_UNDIVIDED_EXTERN, /* runs off the device */
    LX_UNDIVIDED_OPAQUE, /* its index map is not known: one core */
};

struct lx_division {
    int32_t op;
    enum lx_division_kind kind;
    int split_count;
    struct lx_split *splits;
    int operand_count;
    struct lx_operand_span *operands;
    int64_t cores;       /* allowed */
    int64_t cores_used;  /* product of the splits */
    bool by_cost;        /* the matmul cost pass decided */
    double predicted_us; /* of this division, by lib/cost; of all tiles */
    int contiguous; /* the variable whose slices are on neighbouring cores; -1: the first that is split */
};

struct lx_divide_options {
    int64_t cores; /* 0: all of the device */
    bool no_cost;  /* leave the matmul cost pass out: batch, M and N by decreasing size, K last */
};

struct lx_divisions {
    const struct lx_layouts *layouts; /* not owned */
    int64_t cores;
    int32_t count;
    struct lx_division *at;      /* per op of layouts->graph */
    const struct lx_nest *nests; /* of the ops that work on tiles; not owned */
    int32_t nest_count;
    double predicted_us;
    struct arena *memory;
};

/* One op by the rules of the stage, as the nests of `d` have it. What it has of its own is in `memory`. */
bool lx_divide_again(const struct lx_divisions *d, int32_t op, bool no_cost, struct arena *memory,
                     struct lx_division *out, lx_status *st);
/* Other orders of dimensions for large intermediates of ops that no division brings within the span limit. */
void lx_layouts_fit_spans(struct lx_layouts *l, const struct lx_divide_options *options);
/* Every op of the graph. NULL: `st` names op, tensor, sizes, the limit and what would help. */
struct lx_divisions *lx_divide(const struct lx_layouts *l, const struct lx_divide_options *options,
                               lx_status *st);
void lx_divisions_free(struct lx_divisions *d);
/* As JSON: malloc'ed, or NULL when memory is out. */
char *lx_divisions_to_json(const struct lx_divisions *d, size_t *length);

/* What is predicted of an op as it is divided, in all iterations of its nest. */
struct lx_op_time {
    double device_us;
    double busy_us; /* the same without the limit of HBM's own rate */
    /* What device_us is made of: of what goes on at once only the longest counts. */
    double hbm_us, lx_us, ring_us, compute_us;
    double flops; /* of all cores; a multiply-add is two, a copy none */
};

/* `hbm_share`: per operand the share of its bytes in all iterations that goes through HBM; above 1 where an
 * incomplete sum comes back. With all shares 1 it is predicted_us. */
struct lx_op_time lx_division_time(const struct lx_divisions *d, int32_t op, const double *hbm_share);
/* The least time, wherever the operands are; and, unless NULL, per operand the time through HBM, in all and
 * beyond HBM's own rate. */
double lx_division_least(const struct lx_divisions *d, int32_t op, double *memory_us, double *slow_us);

struct lx_alternative {
    int64_t splits[LX_MAX_VARS]; /* per variable in iteration order */
    int64_t cores_used;
    double device_us; /* predicted as lx_division_time does */
    bool present;     /* it is how the op is divided */
    int agreeing;     /* neighbours that cut the common tensor the same way */
};

/* The `most` quickest legal divisions of an op, of equals those that agree with most of its `*neighbours`;
 * the present one is always among them. Returns the count; 0: the op is not divided. */
int lx_division_alternatives(const struct lx_divisions *d, int32_t op, const double *hbm_share,
                             struct lx_alternative *out, int most, int *neighbours);

bool lx_cores_valid(const struct lx_device *device, int64_t cores, lx_status *st);

/* Which slice of variable `split` core `core` works on: first variable (or `contiguous`) fastest. */
int64_t lx_division_slot(const struct lx_division *d, int split, int64_t core);
/* Core c works on slice (c / stride) mod split. */
int64_t lx_division_stride(const struct lx_division *d, int split);
/* Its elements [*from, *to); they may be none where a padded last slice is empty. */
void lx_division_slice(const struct lx_division *d, int split, int64_t core, int64_t *from, int64_t *to);

/* What the cores see of one operand: slices per device dimension and which core has which. */
struct lx_core_view {
    int64_t cores;
    int rank;
    int64_t slices[LX_MAX_DEVICE_RANK]; /* parts of equal size that the dimension is cut into */
    int64_t stride[LX_MAX_DEVICE_RANK]; /* core c has part (c / stride) mod slices; 0 where slices is 1 */
    int64_t tiles[LX_MAX_DEVICE_RANK];  /* of a nest; the slices are those of a tile */
    /* Of a buffer in a nest: tiles of an inner loop, each cut in slices; 1: it is a box. */
    int64_t blocks[LX_MAX_DEVICE_RANK];
    /* Halo of windows: positions before and after its slice that a core has as well. */
    int32_t low[LX_MAX_DEVICE_RANK], high[LX_MAX_DEVICE_RANK];
    bool partial;       /* each core holds a part of a sum only */
    bool representable; /* false: the parts are no boxes of the device layout */
};

/* Positions [*lo, *hi) of device dimension `dim` of `size` that a core has of the first block. */
void core_view_reach(const struct lx_core_view *v, int dim, int64_t size, int64_t core, int64_t *lo,
                     int64_t *hi);
struct lx_core_view lx_division_view(const struct lx_divisions *d, int32_t op, int operand);
/* The same of a buffer that has the slice which the levels up to `hold` of the op's nest fix. */
struct lx_core_view lx_division_held(const struct lx_divisions *d, int32_t op, int operand, int hold);
struct lx_core_view core_view_held(const struct lx_layout *y, const struct lx_nest *n,
                                   const struct nest_tensor *t, int hold, struct lx_core_view v);
/* May a buffer stay on chip between the two: the same parts on the same cores, and whole values? */
bool lx_core_views_match(const struct lx_core_view *a, const struct lx_core_view *b);
/* The same parts on the same cores. */
bool views_equal(const struct lx_core_view *a, const struct lx_core_view *b);
/* Do ops `a` and `b` see tensor `tensor` differently (then it cannot be handed over on chip)? */
bool lx_core_div_mismatch(const struct lx_divisions *d, int32_t a, int32_t b, int32_t tensor);

/* The op with these splits (per variable in iteration order), checked. Allocates from `memory`. */
bool lx_division_with(const struct lx_divisions *d, int32_t op, const int64_t *splits, struct arena *memory,
                      struct lx_division *out, lx_status *st);
/* The same with the slices of variable `front` on neighbouring cores; -1: by the rule. Not for split sums. */
bool lx_division_ordered(const struct lx_divisions *d, int32_t op, const int64_t *splits, int front,
                         struct arena *memory, struct lx_division *out, lx_status *st);
/* The variable of its own choice that `v` has in front, for that; -1: none. */
int lx_division_front(const struct lx_division *v);

/* Another division of an op: a split per variable in iteration order. */
struct lx_other_division {
    int64_t splits[LX_MAX_VARS];
    bool agrees;         /* it cuts the operand as was asked for; else a core holds less of it */
    double predicted_us; /* all operands through HBM */
};
struct lx_other_divisions {
    struct lx_other_division at[2];
    int count;
};
/* The quickest that cuts the operand like `like` (may be NULL), and the quickest whose cores hold less of
 * it. */
void lx_divisions_for_operand(const struct lx_divisions *d, int32_t op, int operand,
                              const struct lx_core_view *like, struct lx_other_divisions *out);

/* Splits that survive renaming: keyed by how far one step of the variable moves, in elements: in the write
 * index for variables of the output, in the first read index for the others. Ones are not stored. */
struct lx_coeff_split {
    int64_t coefficient, split;
};

struct lx_coeff_splits {
    int output_count, reduction_count;
    int64_t front; /* of the output: the variable whose slices are on neighbouring cores; 0: by the rule */
    struct lx_coeff_split output[LX_MAX_RANK], reduction[LX_MAX_RANK];
};

/* `splits`, one per variable in iteration order; false: the op's index map is not known. */
bool lx_division_encode(const struct lx_layouts *l, int32_t op, const int64_t *splits,
                        struct lx_coeff_splits *out);
/* The same of a division, with the variable that it has in front. */
bool lx_division_state(const struct lx_layouts *l, const struct lx_division *v, struct lx_coeff_splits *out);
/* The splits per variable in iteration order. False: `st` names a key that no variable has. */
bool lx_division_decode(const struct lx_layouts *l, int32_t op, const struct lx_coeff_splits *from,
                        int64_t *splits, lx_status *st);
/* Every op divided as `splits` (one per op) say, ops of nests as tiles. The nests stay the caller's. NULL:
 * `st`; `*wrong` is the op whose splits are not legal, or -1. */
struct lx_divisions *lx_divisions_stated(const struct lx_layouts *l, int64_t cores,
                                         const struct lx_nest *nests, int32_t nest_count,
                                         const struct lx_coeff_splits *splits, int32_t *wrong, lx_status *st);

/* --- Menus: every legal division of an op with the figures that a later stage weighs it by. --- */

struct division_menu {
    int split_count, operand_count; /* operand_count 0: the op cannot be divided */
    int output;                     /* the operand that is the first result */
    bool is_reduction[LX_MAX_VARS];
    int32_t count;
    int64_t *splits;    /* per choice, split_count each */
    signed char *front; /* per choice: the variable whose slices are on neighbouring cores; -1: by the rule */
    struct lx_core_view *views; /* per choice, operand_count each */
    int64_t *core_bytes;        /* the same */
    struct cost_parts *parts;   /* per choice */
    double *memory_us;          /* per choice, operand_count each */
};

/* An op that is not divided gets one choice without splits and views. `orders`: also those with another
 * variable in front. */
void division_menu_make(const struct lx_divisions *d, int32_t op, bool orders, struct arena *memory,
                        struct division_menu *out);

/* --- Cores and slices, on plain arrays. --- */

/* Slot of dimension `dim` on core `core`: the first dimension fastest; `contiguous` (or -1) before all. */
int64_t core_slot(const int64_t *splits, int count, int contiguous, int dim, int64_t core);
/* Cores between two slots of the dimension. */
int64_t core_stride(const int64_t *splits, int count, int contiguous, int dim);
/* The cores of an op fall into whole groups of its slices? */
bool core_count_fits(const int64_t *splits, int count, int64_t cores, lx_status *st);
/* Ownership given as a table, `slots[core * count + dim]`: every slot within its split? */
bool core_slots_valid(const int64_t *slots, const int64_t *splits, int count, int64_t cores, lx_status *st);

/* First to last byte that a core touches of a box of sticks with extent[d] positions along dimension d. */
int64_t physical_span(int rank, const int64_t *size, const int64_t *extent, int64_t stick_bytes);

/* lx_division_view for a division that need not be one of a list; `x` is the index map of its op. */
struct lx_core_view core_view_of(const struct lx_layouts *l, const struct op_index *x,
                                 const struct lx_division *d, int operand);

#endif
