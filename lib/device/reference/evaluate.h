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

#include "device/reference/storing.h"
#include "kernels/thread_pool.h"
#include "device/memory/dtypes.h"

/* An operand of an op as whole tensor in host order: stored items, or numbers of fp64. */

struct operand {
    const void *items;
    const struct number_type *type; /* of the items */
    const double *wide;             /* or NULL: the items */
    int64_t base; /* of a box: where its first element is; all places are counted from there */
};

/* Elements at, at + step, ... as fp64: what the device reads, to the bit. */
void operand_row(const struct operand *o, int64_t at, int64_t step, int64_t count, double *to);
/* The same with all bits of 64-bit integers. */
void operand_wide_row(const struct operand *o, int64_t at, int64_t step, int64_t count, wide_number *to);
/* Elements at + offset[0], at + offset[1], ... */
void operand_gather(const struct operand *o, int64_t at, const int64_t *offset, int64_t count, double *to);

/* What the kinds of ops compute, as functions of numbers in fp64: the reference that a device is judged by.
 * Written apart from the arithmetic of the device on purpose. */

/* How elements become one where indices go. */
struct meaning_fold {
    double start;
    double (*in_double)(const double *v); /* of what there is and one more */
    bool adds;                            /* it is a plain sum, for which callers have loops of their own */
    bool multiplies;
    bool divides; /* in the end: times 1 / the number of elements, rounded to the numbers of the op */
};

struct meaning {
    /* Of the elements of the operands at one place, a constant after the inputs; there is room for three.
     * NULL: the kind only folds. Of a contraction: its terms. */
    double (*in_double)(const double *v);
    const struct meaning_fold *fold; /* NULL: no index can go */
};

/* NULL: nobody knows what it computes. Then the kind is one of those that only mix their operands
 * (LX_MIXES), or it cannot be evaluated. */
const struct meaning *meaning_of(const struct lx_kind *kind);
/* What an op gives that computes with whole numbers: of elements, or of what there is and one more. The
 * result is brought into the range of its type by the caller. `width`: bits of that type, 0 of a truth. */
typedef whole_number whole_function(whole_number a, whole_number b, whole_number c, int width);
struct whole_meaning {
    whole_function *element, *fold; /* NULL: it has none */
    whole_number start;             /* of a fold; the first term where it has to be one */
    bool from_first;
};
const struct whole_meaning *whole_meaning_of(const struct lx_kind *kind);
/* Can every op be evaluated? If not, `st` names the first that cannot. */
bool meanings_known(const struct lx_graph *g, lx_status *st);

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

/* choose_reference.c: an op that chooses by indices. */
void evaluate_choice(struct evaluation *e);
/* An op that orders. */

void evaluate_ranking(struct evaluation *e);
/* evaluate_windows.c: ops with windows. */
void evaluate_windows(struct evaluation *e, struct pool *pool);
/* The same of whole numbers. */
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

/* Places of the largest and the least. */
void pick_block(const struct evaluation *e, int worker, int64_t from, int64_t to);
/* evaluate_views.c: ops that put elements at other places. */
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
