/* What the kinds of ops compute, as functions of numbers in fp64: the reference that a device is judged by.
 * Written apart from the arithmetic of the device on purpose. */
#ifndef LX_DEVICE_REFERENCE_MEANING_H
#define LX_DEVICE_REFERENCE_MEANING_H

#include "device/memory/dtypes.h"

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
     * NULL: the kind only folds. Of a contraction: what is summed. */
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

#endif
