/* Footprints: the sticks of a tensor in HBM that each core touches, in an op or in a copy, as one box per
 * core. A box covers all iterations of a nest: in a dimension that the nest's levels cut, each core has one
 * piece per tile. Private to the room. */
#pragma once

#include "clock/program.h"

struct footprint {
    const struct plan_program *program;
    int32_t op; /* its division, for `operand`, cuts the tensor */
    int operand;
    int hold; /* of a copy: the stay's; -1: the op itself touches the tensor */
    /* Of several cores with one stick, one stores it: the first core of a copy, the root of a split sum. */
    bool writes;
    bool anyone; /* the launch deals tiles to any core, so any core may touch any stick */
    bool plain;  /* the view alone gives the boxes */
    bool sole;   /* plain, and no two cores touch one stick */
    struct lx_core_view view;
};

struct footprint footprint_of_access(const struct plan_program *p, int32_t op, int operand);
struct footprint footprint_of_copy(const struct plan_program *p, const struct lx_transfer *t);
/* The parts of a stay; with `first_only` each part on its first core only. */
struct footprint footprint_of_holders(const struct plan_program *p, int32_t stay, bool first_only);

/* Do two different cores touch one stick, one of them by `a` and the other by `b`? */
bool footprints_cross(const struct footprint *a, const struct footprint *b);
/* Bytes from `begin` to `end` of a core's part; end 0: none. */
struct part_range {
    int64_t begin, end;
};
/* Sets pulled[core of `from`] to a range of that core's part around all sticks that other cores need for
 * their parts of `to`, and do not hold themselves. Not `exactly`: around all of the part, which is faster. */
void footprint_pulled(const struct footprint *from, const struct footprint *to, bool exactly,
                      struct part_range *pulled);
