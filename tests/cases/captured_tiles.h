/* Captured joint problems whose divisions have a `tiling`: tiles per choice, and the compiler's own objective as one number:
 * bytes of what is not on chip and of copies, then cuts, then cores that are not used, squares of the splits, tiles. */
#ifndef LX_TESTS_CASES_CAPTURED_TILES_H
#define LX_TESTS_CASES_CAPTURED_TILES_H

#include "support/captured_joint.h"

/* The product of what an object has under its keys. */
int64_t captured_product(const cJSON *object);

/* What each part of the objective weighs: more than all that stands behind it together. */
struct captured_weights {
    int64_t bytes, cut, core, square, most_cores;
};

bool captured_tiles(struct captured *c);

#endif
