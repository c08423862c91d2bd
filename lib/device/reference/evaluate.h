/* One op in fp64 on whole tensors, with a proved bound of the error that the device's fp32 makes. Private to the stage.
 *
 * Results are made block by block and handed on at once, so that nothing of the size of a tensor is kept: to a
 * judge, who compares them with what the device has stored, or to an array. Each block depends on the op alone and
 * not on the number of threads.
 *
 * The bound of the arithmetic (the *slack*), with u = 2^-24:
 *
 *     a sum of n terms, in any order and grouping    ((1 + u)^n - 1) * sum |terms|: each term goes through its own
 *                                                    rounding and at most n - 1 additions, each of which multiplies by
 *                                                    1 + d, |d| <= u; a product that is too small loses at most half
 *                                                    the least subnormal
 *     a mean                                         one rounding more
 *     a sum over tiles, tile by tile                 what it had before is one term more
 *     a function of elements                         its row of kinds.def, times 2^-23 of the result or the operand
 *     integers up to 2^24, sums of these             0, fp32 has them all
 *
 *     whole numbers                                  0: what wraps is known as well
 *     of ops in fp64                                 the same with u = 2^-52, which covers the rounding of both sides
 *
 * and (1 + u)^n - 1 <= n u / (1 - n u). */
#ifndef LX_DEVICE_REFERENCE_EVALUATE_H
#define LX_DEVICE_REFERENCE_EVALUATE_H

#include "device/reference/meaning.h"
#include "device/reference/wide_operand.h"
#include "device/reference/storing.h"
#include "kernels/thread_pool.h"

/* Operands that ops are evaluated with; elements are functions of at most three. */
enum { EVALUATED_MOST = LX_MAX_INPUTS };

/* Elements at .. at + x->count - 1 of the result. Called from many threads at once. */
typedef void take_results(void *context, int worker, int64_t at, const struct expected *x);

struct evaluation {
    const struct lx_graph *g;
    const struct lx_op *op;
    struct operand in[EVALUATED_MOST];
    struct operand kept;   /* of an op that keeps what it does not write: the output before it */
    struct operand before; /* of a sum over tiles: what it had before this one; items NULL: nothing */
    int64_t divisor;       /* of a mean; 0: its own number of terms */
    bool bounded;          /* slack is wanted; else results alone */
    take_results *take;
    void *context;

    /* From here on filled by evaluate. Variables of an einsum, outermost first: `kept_vars` of the output,
     * then those that are summed; neighbours that every operand walks as one are one. */
    const struct meaning *meaning;
    enum numbers numbers; /* that the device computes with */
    bool cuts;            /* a cast to integers: toward zero */
    bool integers;        /* all operands are */
    int vars, kept_vars;
    int64_t extent[LX_MAX_VARS], step[3][LX_MAX_VARS], out_step[LX_MAX_VARS];
    int64_t out_count;
    int64_t terms; /* of each sum */
    double growth; /* what rounding makes of a term, at most, as a share of it */
};

/* Does the op compute with elements? If not, bytes are mixed. */
bool op_is_shaped(const struct lx_graph *g, const struct lx_op *op);
void evaluate_op(struct evaluation *e, struct pool *pool);

/* For blocks: slack of a sum, whose terms are `absolute` together, and of a function of elements. */
double slack_of_sum(const struct evaluation *e, double absolute, double value);
double slack_of_element(const struct evaluation *e, double operand, double value);

/* blend_left.c: what of the sum before the tile of a blend is left, and the absolute terms of that; 1 of
 * other sums. */
void blend_left(const struct evaluation *e, int64_t at, int64_t count, double *left, double *size);

/* choose_reference.c: an op that chooses by indices. */
void evaluate_choice(struct evaluation *e);
/* rank_reference.c: an op that orders. */
void evaluate_ranking(struct evaluation *e);
/* evaluate_windows.c: ops with windows. */
void evaluate_windows(struct evaluation *e, struct pool *pool);
/* evaluate_whole_windows.c: the same of whole numbers. */
void evaluate_whole_windows(struct evaluation *e, struct pool *pool);
/* Of a mean: 1 / its divisor, rounded as the op computes. */
double one_part_of(const struct evaluation *e);
/* Sets `growth` from `terms`, and the divisor of a mean that has none yet. */
void evaluate_growth(struct evaluation *e);
/* evaluate_integers.c: elements of an op that computes with whole numbers. */
void integer_block(const struct evaluation *e, int worker, int64_t from, int64_t to);
/* Integers of 64 bits at other places, or as other numbers: rounded once, when they are stored. */
void long_move_block(const struct evaluation *e, int worker, int64_t from, int64_t to);

/* evaluate_views.c: slices, shifts, copies, inserts. */
void view_block(const struct evaluation *e, int worker, int64_t from, int64_t to);
/* Elements from n on that lie in one row of the output, at most a block of them. */
int64_t run_from(int64_t n, int64_t to, int64_t row);

/* evaluate_picks.c: places of the largest and the least. */
void pick_block(const struct evaluation *e, int worker, int64_t from, int64_t to);
/* placing.c: ops that put elements at other places. */
void placing_block(const struct evaluation *e, int worker, int64_t from, int64_t to);

/* contract.c */
void evaluate_contraction(struct evaluation *e, struct pool *pool);

/* Ops that make tensors as a whole: numbers that count, constants, running sums. */

bool made_known(const struct lx_op *op);
/* Elements of the result, in host order, and bounds of the errors that a sum in fp64 makes; `slack` has the
 * same room. */
void made_values(const struct lx_graph *g, const struct lx_op *op, const struct operand *in,
                 wide_number *value, double *slack);

#endif
