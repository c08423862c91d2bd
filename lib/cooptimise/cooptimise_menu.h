/* Menus of choices for co-optimisation: one for all ops of the same shape, with labels for what cores see. */
#ifndef LX_COOPTIMISE_COOPTIMISE_MENU_H
#define LX_COOPTIMISE_COOPTIMISE_MENU_H

#include "base/arena.h"
#include "divide/divide.h"
#include "cooptimise/cooptimise.h"

/* Ops of one shape: the same kind of op on operands of the same layouts, divided alike. */
struct op_menu {
    int32_t op; /* the first of them */
    int operand_count;
    int32_t count, seed;
    int64_t *splits; /* per choice, split_count each */
    int split_count;
    bool *flip;
    int64_t *compute, *extra;  /* per choice, in picoseconds */
    int64_t *memory;           /* per operand and choice, count each */
    int32_t *label;            /* the same */
    struct lx_core_view *view; /* the same: what the cores see of it */
};

struct op_menus {
    struct op_menu *at;
    int32_t count;
    int32_t *of_op;
    int32_t label_count;
    int64_t *label_size;
};

bool op_menus_make(const struct lx_divisions *d, struct arena *memory, struct op_menus *out, lx_status *st);

#endif
