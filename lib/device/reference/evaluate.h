/* One op in fp64 on whole tensors, with a proved bound on the error of the device's fp32. Private to the
 * stage.
 *
 * Results are made block by block and handed on at once, so that nothing of the size of a tensor is kept: to
 * a judge that compares them with the device's stored elements, or to an array. Each block depends on the op
 * alone and not on the number of threads.
 *
 * The bound of the arithmetic (the *slack*), with u = 2^-24:
 *
 *     a sum of n terms, in any order      ((1 + u)^n - 1) * sum |terms|: each term goes through its own
 *     and grouping                        rounding and at most n - 1 additions, which multiply each
 *                                         by 1 + d, |d| <= u; a product that is too small loses at most
 *                                         half the least subnormal
 *     a mean                              one rounding more
 *     a sum over tiles, tile by tile      the sum of earlier tiles is one term more
 *     a function of elements              its row of kinds.def, times 2^-23 of the result or the operand
 *     integers up to 2^24, and sums       0, fp32 has them all
 *
 *     whole numbers                       0: wrapping is known as well
 *     ops in fp64                         the same with u = 2^-52, which covers the rounding of both sides
 *
 * and (1 + u)^n - 1 <= n u / (1 - n u). */
#pragma once

#include "device/reference/storing.h"
#include "kernels/thread_pool.h"

/* An operand of an op as a whole tensor in host order: stored items, or numbers of fp64. */

struct operand {
    const void *items;
    const struct number_type *type; /* of the items */
    const double *wide;             /* or NULL: the items */
    int64_t base; /* for a box: index of its first element; all places are counted from there */
};

/* Elements at, at + step, ... as fp64, exact but for 64-bit integers. */
void operand_row(const struct operand *o, int64_t at, int64_t step, int64_t count, double *to);
/* The same with all bits of 64-bit integers. */
void operand_wide_row(const struct operand *o, int64_t at, int64_t step, int64_t count, wide_number *to);
/* Elements at + offset[0], at + offset[1], ... */
void operand_gather(const struct operand *o, int64_t at, const int64_t *offset, int64_t count, double *to);

/* The kinds of ops as functions of numbers in fp64: the reference for judging a device. Written apart from
 * the arithmetic of the device on purpose. */

/* How a reduction folds elements into one. */
struct meaning_fold {
    double start;
    double (*in_double)(const double *v); /* of the fold so far and one more element */
    bool adds;                            /* a plain sum, for which callers have loops of their own */
    bool multiplies;
    bool divides; /* at the end: times 1 / the number of elements, rounded to the numbers of the op */
};

struct meaning {
    /* Of the elements of the operands at one place, a constant after the inputs; at most three. NULL: the
     * kind only folds. For a contraction: its terms. */
    double (*in_double)(const double *v);
    const struct meaning_fold *fold; /* NULL: the kind cannot reduce */
};

/* NULL: the meaning is unknown. Then the kind only mixes its operands (LX_MIXES), or it cannot be
 * evaluated. */
const struct meaning *meaning_of(const struct lx_kind *kind);
/* An op on whole numbers: of elements, or of the fold so far and one more. The caller brings the result into
 * the range of its type. `width`: bits of that type, 0 for a truth. */
typedef whole_number whole_function(whole_number a, whole_number b, whole_number c, int width);
struct whole_meaning {
    whole_function *element, *fold; /* NULL: none */
    whole_number start;             /* of a fold; from_first: the first term instead */
    bool from_first;
};
const struct whole_meaning *whole_meaning_of(const struct lx_kind *kind);
/* Can every op be evaluated? If not, `st` names the first that cannot. */
bool meanings_known(const struct lx_graph *g, lx_status *st);

/* Most operands of an evaluated op; elementwise functions have at most three. */
enum { EVALUATED_MOST = LX_MAX_INPUTS };

/* Receives elements at .. at + x->count - 1 of the result. Called from many threads at once. */
typedef void take_results(void *context, int worker, int64_t at, const struct expected *x);

struct evaluation {
    const struct lx_graph *g;
    const struct lx_op *op;
    struct operand in[EVALUATED_MOST];
    struct operand kept;   /* for an op that keeps elements that it does not write: the output before it */
    struct operand before; /* for a sum over tiles: the sum of earlier tiles; items NULL: none */
    int64_t divisor;       /* for a mean; 0: its own number of terms */
    bool bounded;          /* with slack; else results alone */
    take_results *take;
    void *context;

    /* From here on filled by evaluate. Variables of an einsum, outermost first: `kept_vars` of the output,
     * then summed ones; neighbours merge if every operand walks them as one. */
    const struct meaning *meaning;
    enum numbers numbers; /* that the device computes with */
    bool cuts;            /* a cast to integers: toward zero */
    bool integers;        /* all operands are integers */
    int vars, kept_vars;
    int64_t extent[LX_MAX_VARS], step[3][LX_MAX_VARS], out_step[LX_MAX_VARS];
    int64_t out_count;
    int64_t terms; /* of each sum */
    double growth; /* upper bound on the growth of a term by rounding, as a share of the term */
};

/* Does the op compute with elements? If not, bytes are mixed. */
bool op_is_shaped(const struct lx_graph *g, const struct lx_op *op);
void evaluate_op(struct evaluation *e, struct pool *pool);

/* Slack of a sum with absolute terms `absolute` in all, and of a function of elements. */
double slack_of_sum(const struct evaluation *e, double absolute, double value);
double slack_of_element(const struct evaluation *e, double operand, double value);

/* choose_reference.c: an op that chooses by indices. */
void evaluate_choice(struct evaluation *e);
/* An op that orders. */

void evaluate_ranking(struct evaluation *e);
/* evaluate_windows.c: ops with windows. */
void evaluate_windows(struct evaluation *e, struct pool *pool);
/* The same for whole numbers. */
void evaluate_whole_windows(struct evaluation *e, struct pool *pool);
/* 1 / the divisor of a mean, rounded in the op's numbers. */
double one_part_of(const struct evaluation *e);
/* Sets `growth` from `terms`, and the divisor of a mean that has none. */
void evaluate_growth(struct evaluation *e);
/* evaluate_integers.c: elements of an op on whole numbers. */
void integer_block(const struct evaluation *e, int worker, int64_t from, int64_t to);
/* 64-bit integers at other places, or as other numbers: rounded once, when they are stored. */
void long_move_block(const struct evaluation *e, int worker, int64_t from, int64_t to);

/* evaluate_views.c: slices, shifts, copies, inserts. */
void view_block(const struct evaluation *e, int worker, int64_t from, int64_t to);
/* The number of elements from n on in one row of the output, at most a block. */
int64_t run_from(int64_t n, int64_t to, int64_t row);

/* Places of the largest and the least. */
void pick_block(const struct evaluation *e, int worker, int64_t from, int64_t to);
/* evaluate_views.c: ops that put elements at other places. */
void placing_block(const struct evaluation *e, int worker, int64_t from, int64_t to);

/* contract.c */
void evaluate_contraction(struct evaluation *e, struct pool *pool);

/* Ops that make tensors as a whole: iota, constants, running sums. */

bool made_known(const struct lx_op *op);
/* Sets the elements of the result, in host order, and bounds on the errors of a sum in fp64; `slack` has the
 * same room. */
void made_values(const struct lx_graph *g, const struct lx_op *op, const struct operand *in,
                 wide_number *value, double *slack);
