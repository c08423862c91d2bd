/* Views as numbers: what the choices of each menu make of each operand. */
#ifndef LX_COOPTIMISE_CHAIN_LABELS_H
#define LX_COOPTIMISE_CHAIN_LABELS_H

#include "cooptimise/cooptimise_menu.h"
#include "stays/draft.h"

struct chain_labels {
    int32_t count;
    const struct lx_core_view **view; /* per label */
    int32_t **of_menu; /* per menu: label per operand and choice, as op_menu.view; -1: it cannot be on chip */
};

void chain_labels_make(const struct draft *x, const struct op_menus *menus, struct arena *memory,
                       struct chain_labels *out);

#endif
