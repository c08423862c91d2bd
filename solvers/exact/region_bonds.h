/* The charges and groups of a part of a model, as those of a problem of its own. */
#ifndef LX_SOLVERS_EXACT_REGION_BONDS_H
#define LX_SOLVERS_EXACT_REGION_BONDS_H

#include "exact/model.h"

struct region_bonds {
    struct lx_bonds bonds; /* points into the arrays below */
    struct lx_charge *charges;
    struct lx_group *groups;
    int32_t *numbers;
};

/* Room for all charges and groups of the model. False when memory is out. */
void region_bonds_new(struct region_bonds *r, const struct model *m);
void region_bonds_free(struct region_bonds *r);

/* Those of the free items, which are buffers index[i] of the part; the others stay as `address` says. A group
 * is free as a whole or not at all. */
void region_bonds_fill(struct region_bonds *r, const struct model *m, const bool *free_item,
                       const int32_t *index, const int64_t *address);

#endif
