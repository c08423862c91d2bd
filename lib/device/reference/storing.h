/* Rounding when a result is stored, and the judgement of stored elements: is each within the a-priori bound
 * of its exact value? Private to the stage.
 *
 * An op computes in fp32 (unit roundoff u = 2^-24) and stores one element at a time. With r the exact result
 * and e (its *slack*) a proved bound on the error of the fp32 arithmetic, the element is right if it differs
 * from r by at most
 *
 *     bound = e + max(v * (|r| + e), half the least subnormal)
 *
 * where v is the unit roundoff of the stored type: rounding to nearest moves a number f, |f - r| <= e, by no
 * more than that. Storing fp32 moves nothing, integers move by at most one half. Where that does not decide
 * (infinities, saturation, 0 and 1 for truth) the element must lie between the stored forms of r - e and r +
 * e: storing is monotonous. */
#pragma once

#include "device/memory/dtypes.h"

/* The verdict on one element or many: sums and maxima, so that threads can judge in any order. */
struct judged {
    int64_t wrong;  /* elements beyond their bound */
    double error;   /* largest absolute difference of finite numbers */
    double bound;   /* largest bound of any element */
    double share;   /* largest difference as a share of its own bound; infinite: an exact element is wrong */
    double largest; /* absolute value of the reference */
};

void judged_add(struct judged *to, const struct judged *more);

/* The expected elements. */
struct expected {
    int64_t count;
    const double *value;
    const wide_number *exact; /* instead of value: whole numbers of all bits, and elements that only move */
    const double *slack;      /* NULL: nothing was rounded, the stored bits are determined */
    const double
        *peak;     /* bound on partial results, or NULL: beyond the range of fp32 any order may overflow */
    bool signless; /* the sign of a zero does not count */
};

/* `items` in host order, from the first expected element on. At most JUDGED_MOST elements. */
enum { JUDGED_MOST = 1024 };
void judge_elements(const struct expected *x, enum lx_dtype dtype, const void *items, struct judged *to);

/* Element i as a double. */
double expected_number(const struct expected *x, int64_t i);
/* A number after storing and reading it back. */
double stored_number(enum lx_dtype dtype, double x);
