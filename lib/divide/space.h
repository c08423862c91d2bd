/* What is divided: the axes of an op and how its operands walk over device memory. Private to the stage.
 *
 * Everything the passes know of an op is in here, so that they serve einsums, views and made-up spaces alike.
 * Axes stand in iteration order. All memory is the arena's. */
#ifndef LX_DIVIDE_SPACE_H
#define LX_DIVIDE_SPACE_H

#include "base/arena.h"
#include "divide/divide.h"
#include "divide/factors.h"
#include "cost/op.h"
#include "layout/flat_index.h"
#include "layout/op_index.h"

struct axis {
    const char *name;
    char letter;
    int64_t extent; /* elements, of one tile */
    int64_t tiles;  /* of a nest; 1: it is whole */
    int64_t unit;   /* elements that stay together */
    int64_t units;  /* ceil(extent / unit) */
    int64_t basis;  /* splits divide this: units, or the granularity of an extent known at run time */
    bool is_reduction, is_summed; /* as in struct lx_split */
    bool follows;                 /* `in` of a window: not gone along */
    int64_t floor;                /* committed by the span pass, or 1 */
    struct factor_set legal;      /* divisors of basis that the constraints allow */
    bool blocked;
    bool
        apart; /* cut there, a core's slice would be no part of some operand on chip: legal, but not asked for */
    const char *constraint; /* the first that blocks or narrows it */
    enum lx_split_rule rule;
    int32_t bound_by;
    int64_t bound;
};

struct device_dim {
    int64_t size;
    int walk_count;
    struct coordinate_term *walks; /* `var` is the axis */
    int64_t picked; /* positions behind the start that a slice is picked at or put to; 0: it is none */
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
    int output; /* the operand that is the first result: it tells reductions from other axes */
    struct axis *axes;
    struct operand *operands; /* inputs, then results */
    int64_t cores, span_limit;
    struct arena *memory;
};

/* The space of op `op`, or of one tile: `tiles` per variable, NULL: whole. A tile is read in place: device sizes are
 * as they were. An op whose index map is not known has no axes. */
void space_of_op(const struct lx_layouts *l, int32_t op, int64_t cores, const int64_t *tiles,
                 struct arena *memory, struct space *out);
/* As the nests of the divisions have it. */
void space_of_division(const struct lx_divisions *d, int32_t op, struct arena *memory, struct space *out);
/* Tiles of an operand: it has so many times the bytes of what one iteration sees. */
int64_t operand_tiles(const struct space *s, const struct operand *o);
/* Fills units, basis and legal of an axis from extent and unit; floor 1. */
void axis_settle(struct axis *a);
/* Elements of the largest slice. */
int64_t axis_per_core(const struct axis *a, int64_t split);
int64_t space_used(const struct space *s, const int64_t *splits);
int space_reductions_split(const struct space *s, const int64_t *splits);

/* span.c. Positions of one core along device dimension d. */
int64_t operand_extent(const struct space *s, const struct operand *o, int d, const int64_t *splits);
int64_t operand_span(const struct space *s, const struct operand *o, const int64_t *splits);
int64_t operand_core_bytes(const struct space *s, const struct operand *o, const int64_t *splits);
/* Pass 1: raises the floors of the axes until every operand's span is within the limit. */
bool span_reduce(struct space *s, lx_status *st);
/* Every operand within the limit? */
bool space_spans_fit(const struct space *s, const int64_t *splits);

/* constrain.c. Both may be called again; constraints accumulate. */
void axis_block(struct axis *a, const char *constraint);
/* False: nothing is left that is allowed. */
bool axis_allow(struct axis *a, const struct factor_set *allowed, const char *constraint);
/* The constraints that einsums, views and restickifies have. */
void constrain_op(const struct lx_layouts *l, int32_t op, const struct op_index *x, const int *axis_of_var,
                  struct space *s);
bool constraint_padded_reduction(int64_t extent, int64_t unit, bool is_reduction);
bool constraint_unaligned(int64_t extent, int64_t unit);
/* A convolution with stride over 1 keeps both spatial dimensions whole; window dimensions always stay
 * whole. */
bool conv_blocks_spatial(const int64_t *stride, int count);

/* distribute.c. Pass 2: `splits` one per axis; floors may be raised, never lowered. The lists name axes in
 * order. */
bool distribute(struct space *s, const int *outputs, int output_count, const int *reductions,
                int reduction_count, int64_t *splits, lx_status *st);
/* The axes in order of priority: outputs by decreasing size, then reductions. */
void prioritize(const struct space *s, int *outputs, int *output_count, int *reductions,
                int *reduction_count);

/* True: `splits` is the cheapest division; false: it declines and changes nothing. */
bool matmul_roles(const struct lx_layouts *l, int32_t op, const struct space *s, int *n_axis, int *m_axis,
                  int *k_axis, struct matmul_shape *shape);
/* The input that has the axis along which the output's sticks run. */
int matmul_kernel(const struct lx_layouts *l, int32_t op);
struct matmul_split matmul_split_of(const struct space *s, int n_axis, int m_axis, int k_axis,
                                    const int64_t *splits);
bool matmul_divide(const struct lx_layouts *l, int32_t op, struct space *s, const int64_t *by_default,
                   int64_t *splits);

bool apply_hints(struct space *s, const struct lx_split_hint *hints, int count, int64_t *splits,
                 lx_status *st);

/* divide.c. What the cost model is told of an op under these splits. */
/* divide.c: divisions of all ops, none made yet. */
struct lx_divisions *divisions_new(const struct lx_layouts *l, int64_t cores);
struct cost_work work_of(const struct lx_layouts *l, const struct lx_division *d, const struct space *s,
                         const int64_t *splits);

/* candidates.c */
struct candidate_walk {
    const struct space *s;
    int64_t *splits;
    bool started;
};

/* Steps to the next legal division in order; false after the last. */
bool candidate_next(struct candidate_walk *w);
/* In the domains, whatever the cores and spans; and legal altogether. */
bool splits_admissible(const struct space *s, const int64_t *splits);
bool splits_legal(const struct space *s, const int64_t *splits);

/* Splits by index coefficient, on plain arrays. */

/* One variable: its range, its coefficients in the write and the first read index (0: not in it), its
 * split. */
struct coeff_var {
    int64_t range, write, read, split;
};

void coeff_encode(const struct coeff_var *vars, int count, struct lx_coeff_splits *out);
/* Fills `split`; what is not stored, and ranges of 1, get 1. Returns how many of the stored splits found
 * their variable. */
int coeff_decode(const struct lx_coeff_splits *from, struct coeff_var *vars, int count);

#endif
