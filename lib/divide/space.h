/* The iteration space of an op: its axes in iteration order, and how operands index device memory. The
 * passes know nothing else about an op. Private to the stage; all memory is the arena's. */
#pragma once

#include "divide/divide.h"
#include "cost/op.h"
#include "layout/flat_index.h"

/* --- Sets of split factors, 1 to MAX_FACTOR: no device has more cores. --- */

enum { MAX_FACTOR = 1024, FACTOR_WORDS = MAX_FACTOR / 64 + 1 };

struct factor_set {
    uint64_t word[FACTOR_WORDS];
};

static inline void factor_add(struct factor_set *s, int64_t factor)
{
    if (factor >= 1 && factor <= MAX_FACTOR) s->word[factor / 64] |= UINT64_C(1) << (factor % 64);
}

static inline bool factor_in(const struct factor_set *s, int64_t factor)
{
    return factor >= 1 && factor <= MAX_FACTOR && (s->word[factor / 64] >> (factor % 64) & 1) != 0;
}

static inline struct factor_set factors_of_divisors(int64_t size)
{
    struct factor_set s = {{0}};
    for (int64_t f = 1; f <= MAX_FACTOR && f <= size / f; f++) { /* the smaller factor of each pair */
        if (size % f != 0) continue;
        factor_add(&s, f);
        if (size / f <= MAX_FACTOR) factor_add(&s, size / f);
    }
    return s;
}

static inline struct factor_set factors_common(const struct factor_set *a, const struct factor_set *b)
{
    struct factor_set s;
    for (int i = 0; i < FACTOR_WORDS; i++) s.word[i] = a->word[i] & b->word[i];
    return s;
}

/* The smallest member not below `low`, or 0. */
static inline int64_t factor_least(const struct factor_set *s, int64_t low)
{
    for (int64_t f = low < 1 ? 1 : low; f <= MAX_FACTOR; f++) {
        if (f % 64 == 0 && s->word[f / 64] == 0)
            f += 63;
        else if (factor_in(s, f))
            return f;
    }
    return 0;
}

/* The largest member not above `high`, or 0. */
static inline int64_t factor_most(const struct factor_set *s, int64_t high)
{
    for (int64_t f = high > MAX_FACTOR ? MAX_FACTOR : high; f >= 1; f--)
        if (factor_in(s, f)) return f;
    return 0;
}

/* --- Spaces. --- */

struct axis {
    const char *name;
    char letter;
    int64_t extent; /* elements of one tile */
    int64_t tiles;  /* tiles of a nest; 1: not tiled */
    int64_t unit;   /* elements that stay together */
    int64_t units;  /* ceil(extent / unit) */
    /* splits divide this: units, or the granularity of an extent that is known only at run time */
    int64_t basis;
    bool is_reduction, is_summed; /* as in struct lx_split */
    bool follows;                 /* the input variable of a window: not iterated over */
    int64_t floor;                /* split committed by the span pass, or 1 */
    struct factor_set legal;      /* divisors of basis, and add_uneven's, that constraints allow */
    bool blocked;
    bool apart;             /* legal, but a slice would not be a part of some operand on chip */
    const char *constraint; /* the first constraint that blocks or narrows it */
    enum lx_split_rule rule;
    int32_t bound_by;
    int64_t bound;
};

struct device_dim {
    int64_t size;
    int walk_count;
    struct coordinate_term *walks; /* `var` is the axis */
    int64_t picked;                /* length of a dynamic slice along this dimension; 0: none */
};

struct operand {
    const char *name;
    int32_t tensor;
    int rank; /* device dimensions, the inside of the stick last */
    struct device_dim *dims;
    int64_t stick_bytes;
};

struct space {
    const char *op_name, *file;
    int line;
    int axis_count, operand_count;
    int output; /* the operand that is the first result; it decides which axes are reductions */
    struct axis *axes;
    struct operand *operands; /* inputs, then results */
    int64_t cores, span_limit;
    struct arena *memory;
};

/* The space of op `op`, or of one tile with `tiles` per variable (NULL: untiled). Device sizes are the whole
 * tensor's. An op with an unknown index map has no axes. */
void space_of_op(const struct lx_layouts *l, int32_t op, int64_t cores, const int64_t *tiles,
                 struct arena *memory, struct space *out);
/* The space of op `op` within the nests of `d`. */
void space_of_division(const struct lx_divisions *d, int32_t op, struct arena *memory, struct space *out);
/* Tiles of an operand: its bytes are this multiple of one iteration's. */
int64_t operand_tiles(const struct space *s, const struct operand *o);
/* Fills units, basis and legal of an axis from extent and unit; sets floor to 1. */
void axis_settle(struct axis *a);
/* Elements of the largest slice. */
int64_t axis_per_core(const struct axis *a, int64_t split);
int64_t space_used(const struct space *s, const int64_t *splits);
/* By which share of the mean the largest part of a core exceeds it; 0: slices are equal. */
double space_imbalance(const struct space *s, const int64_t *splits);
int space_reductions_split(const struct space *s, const int64_t *splits);

/* span.c. Positions of one core along device dimension `d`. */
int64_t operand_extent(const struct space *s, const struct operand *o, int d, const int64_t *splits);
int64_t operand_span(const struct space *s, const struct operand *o, const int64_t *splits);
int64_t operand_core_bytes(const struct space *s, const struct operand *o, const int64_t *splits);
/* Pass 1: raises axis floors until every operand's span is within the limit. */
bool span_reduce(struct space *s, lx_status *st);
bool space_spans_fit(const struct space *s, const int64_t *splits);

/* Both may be called repeatedly; constraints accumulate. */
void axis_block(struct axis *a, const char *constraint);
/* False: no allowed factor is left. */
bool axis_allow(struct axis *a, const struct factor_set *allowed, const char *constraint);
/* Adds the constraints of einsums, views and restickifies. */
void constrain_op(const struct lx_layouts *l, int32_t op, const struct op_index *x, const int *axis_of_var,
                  struct space *s);
bool constraint_padded_reduction(int64_t extent, int64_t unit, bool is_reduction);
bool constraint_unaligned(int64_t extent, int64_t unit);
/* A convolution with a stride above 1 keeps both spatial dimensions whole. */
bool conv_blocks_spatial(const int64_t *stride, int count);

/* distribute.c. Pass 2: fills `splits` per axis; may raise floors. `outputs` and `reductions` list axes by
 * priority. */
bool distribute(struct space *s, const int *outputs, int output_count, const int *reductions,
                int reduction_count, int64_t *splits, lx_status *st);
/* Lists axes by priority: outputs by decreasing size, then reductions. */
void prioritize(const struct space *s, int *outputs, int *output_count, int *reductions,
                int *reduction_count);

enum matmul_role { MATMUL_BATCH, MATMUL_M, MATMUL_N, MATMUL_K };

/* Fills the role of each axis of a matmul, and its shape. False: the op does not have that form. */
bool matmul_roles(const struct lx_layouts *l, int32_t op, const struct space *s, enum matmul_role *role,
                  struct matmul_shape *shape);
/* The input with the axis along which the output's sticks run. */
int matmul_kernel(const struct lx_layouts *l, int32_t op);
struct matmul_split matmul_split_of(const struct space *s, const enum matmul_role *role,
                                    const int64_t *splits);
/* True: `splits` is the fastest division. False: the pass declines and changes nothing. */
bool matmul_divide(const struct lx_layouts *l, int32_t op, struct space *s, const int64_t *by_default,
                   int64_t *splits);

bool apply_hints(struct space *s, const struct lx_split_hint *hints, int count, int64_t *splits,
                 lx_status *st);

/* divide.c: an empty list of divisions, one per op. */
struct lx_divisions *divisions_new(const struct lx_layouts *l, int64_t cores);
/* division_time.c. Describes the op under these splits to the cost model. */
struct cost_work work_of(const struct lx_layouts *l, const struct lx_division *d, const struct space *s,
                         const int64_t *splits);

struct candidate_walk {
    const struct space *s;
    int64_t *splits;
    bool started;
};

/* Steps to the next legal division; false after the last. */
bool candidate_next(struct candidate_walk *w);
/* Whether the splits are in the axes' domains; and whether they also fit cores and spans. */
bool splits_admissible(const struct space *s, const int64_t *splits);
bool splits_legal(const struct space *s, const int64_t *splits);

/* Splits by index coefficient, on plain arrays. */

/* One variable: its range, coefficients in the write and first read index (0: none), and split. */
struct coeff_var {
    int64_t range, write, read, split;
};

void coeff_encode(const struct coeff_var *vars, int count, struct lx_coeff_splits *out);
/* Fills `split`, 1 where nothing is stored. Returns how many stored splits found their variable. */
int coeff_decode(const struct lx_coeff_splits *from, struct coeff_var *vars, int count);
