/* Where an operand of an op begins for a core: the address of the first stick that the core touches of it in its first
 * turn. In LX the part of the core is stored row by row from the buffer's address on; in HBM all of the tensor is, from
 * its own. Private to the stage. */
#ifndef LX_EXPORT_OPERAND_STARTS_H
#define LX_EXPORT_OPERAND_STARTS_H

#include "layout/op_index.h"
#include "plan/plan.h"

struct op_starts {
    const struct lx_plan *plan;
    int32_t op;
    struct op_index x;          /* of its tile, in a nest */
    const struct lx_nest *nest; /* NULL: it is in none */
    const struct lx_op_launch *launch;
};

struct op_starts op_starts_of(const struct lx_plan *p, int32_t op);
/* Has the core anything to do? */
bool core_works(const struct op_starts *x, int64_t core);
/* In the first iteration of its nest, or (`level` >= 0) in that in which level `level` is one further. -1: the core touches
 * nothing of it. */
int64_t operand_start(const struct op_starts *x, int operand, int64_t core, int level);

#endif
