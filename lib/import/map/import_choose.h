/* Ops that choose by indices, on their way to sketches. Private to the folder. */
#ifndef LX_IMPORT_IMPORT_CHOOSE_H
#define LX_IMPORT_IMPORT_CHOOSE_H

#include "import/map/import_steps.h"

enum { CHOOSE_OPERANDS = 2 + LX_MAX_RANK };

/* An op under construction: its dimensions, its operands over them, and the dimensions along which it
 * chooses. */
struct choosing {
    const char *kind;
    int rank;
    int64_t extent[VIEW_MAX_RANK];
    int count;
    struct import_value operand[CHOOSE_OPERANDS];
    int dim[CHOOSE_OPERANDS][VIEW_MAX_RANK]; /* per operand and dimension: of the op; -1: of one element */
    int chosen_count;
    signed char chosen[LX_MAX_RANK];
    int64_t start[LX_MAX_RANK]; /* where no operand has it */
    bool starts;
    unsigned whole; /* dimensions that nothing may cut: chosen ones and others, a bit each */
    enum lx_combine combine;
    int64_t k; /* of an op that orders */
    bool descending;
    bool full; /* too many dimensions or operands: the op stays generic */
};

/* A new dimension; -1: there is no room. */
int choose_dim(struct choosing *c, int64_t extent);
void choose_operand(struct choosing *c, const struct import_value *v, const int *dim);
void choose_along(struct choosing *c, int dim);
/* The result is of `type` and its dimension i is dims[i]; too many dimensions leave the op generic. */
bool choose_finish(struct import *im, const struct model_op *op, struct choosing *c,
                   const struct model_type *type, const int *dims);

#endif
