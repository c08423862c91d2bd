/* Which cores touch which sticks of a tensor in HBM: the box of each core, by an op or by a copy. Boxes are of
 * all iterations of a nest: of a dimension that its levels cut every core has one piece per tile. Private to
 * the room. */
#ifndef LX_CLOCK_FOOTPRINT_H
#define LX_CLOCK_FOOTPRINT_H

#include "clock/program.h"

struct footprint {
    const struct plan_program *program;
    int32_t op; /* with the operand: whose division cuts the tensor */
    int operand;
    int hold; /* of a copy: the stay's; -1: the op itself touches it */
    bool
        writes; /* of a copy: only the first core that holds a stick stores it; a split sum: the root of a group */
    bool anyone; /* its tiles are dealt out anew: any core may touch any of it */
    bool plain;  /* the view says it all */
    bool sole;   /* plain, and no two cores touch one stick */
    struct lx_core_view view;
};

struct footprint footprint_of_access(const struct plan_program *p, int32_t op, int operand);
struct footprint footprint_of_copy(const struct plan_program *p, const struct lx_transfer *t);
/* Of the cores that hold a stay, what the first core with each part holds. */
struct footprint footprint_of_holders(const struct plan_program *p, int32_t stay, bool first_only);

/* Do two different cores touch one stick, one of them by `a` and the other by `b`? */
bool footprints_cross(const struct footprint *a, const struct footprint *b);
/* Per core of `from`: does another core, which does not hold it itself, take sticks of it for its part of `to`? */
void footprint_pulled(const struct footprint *from, const struct footprint *to, bool *pulled);

#endif
