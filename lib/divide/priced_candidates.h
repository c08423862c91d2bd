/* Every legal division of an op with all that a later stage weighs it by: what each core sees and holds of
 * each operand, and the parts of its predicted time. For stages of the library; not a public header. */
#ifndef LX_DIVIDE_PRICED_CANDIDATES_H
#define LX_DIVIDE_PRICED_CANDIDATES_H

#include "base/arena.h"
#include "cost/op.h"
#include "divide/divide.h"

struct division_menu {
    int split_count, operand_count; /* operand_count 0: the op cannot be divided */
    int output;                     /* the operand that is the first result */
    bool is_reduction[LX_MAX_VARS];
    int32_t count;
    int64_t *splits;    /* per choice, split_count each */
    signed char *front; /* per choice: the variable whose slices are on neighbouring cores; -1: by the rule */
    struct lx_core_view *views; /* per choice, operand_count each */
    int64_t *core_bytes;        /* the same */
    struct cost_parts *parts;   /* per choice */
    double *memory_us;          /* per choice, operand_count each */
};

/* All memory from the arena. An op that is not divided gets one choice without splits and views. */
void division_menu_make(const struct lx_divisions *d, int32_t op, struct arena *memory,
                        struct division_menu *out);
/* The same, and behind them those with another variable in front. */
void division_menu_orders(const struct lx_divisions *d, int32_t op, struct arena *memory,
                          struct division_menu *out);

#endif
