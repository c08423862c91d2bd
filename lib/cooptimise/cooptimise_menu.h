/* Menus of choices for co-optimisation: one per shape of op. A label is an interned pair of layout and
 * view. */
#pragma once

#include "base/base.h"
#include "cooptimise/cooptimise.h"

/* The menu of one shape: ops of the same kind on operands of the same layouts, divided alike. */
struct op_menu {
    int32_t op; /* the first op of this shape */
    int operand_count;
    int32_t count, seed;
    int64_t *splits; /* per choice: split_count numbers */
    int split_count;
    bool *flip;
    int64_t *compute, *extra;  /* per choice, in picoseconds */
    int64_t *memory;           /* per operand and choice: picoseconds, count numbers an operand */
    int32_t *label;            /* per operand and choice */
    struct lx_core_view *view; /* per operand and choice: the parts that each core sees */
};

struct op_menus {
    struct op_menu *at;
    int32_t count;
    int32_t *of_op;
    int32_t label_count;
    int64_t *label_size;
};

bool op_menus_make(const struct lx_divisions *d, struct arena *memory, struct op_menus *out, lx_status *st);
