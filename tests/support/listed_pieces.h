/* The pieces of a launch, listed: every element of the output and every term of its sum counted by hand. */
#ifndef LX_TESTS_SUPPORT_LISTED_PIECES_H
#define LX_TESTS_SUPPORT_LISTED_PIECES_H

#include "unstable.h"
#include "base/memory.h"
#include "layout/op_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

int64_t all_points(const struct op_index *x);

/* Is every point computed exactly once by all cores together? False also where a piece is outside. */
bool listed_once(const struct lx_op_launch *o, const struct op_index *x, int64_t cores);

/* Are all pieces of a core inside its slice of the division? With each point once: they are exactly it. */
bool inside_slices(const struct lx_op_launch *o, const struct op_index *x, const struct lx_division *d);

#endif
