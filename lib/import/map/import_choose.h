/* Ops of models that choose by indices, on their way to sketches. Private to the folder. */
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
    int64_t start[LX_MAX_RANK]; /* where no operand says it */
    bool starts;
    int whole[VIEW_MAX_RANK], whole_count; /* further dimensions that nobody may cut */
    enum lx_combine combine;
    int64_t k; /* of an op that orders */
    bool descending;
    bool full; /* too many dimensions or operands: the op stays generic */
};

int choose_dim(struct choosing *c, int64_t extent);
/* An operand with all its dimensions new; and one with these. */
void choose_operand(struct choosing *c, const struct import_value *v, const int *dim);
void choose_along(struct choosing *c, int dim);
/* Is each dimension of operand i that nobody may cut one piece of its storage? Else a copy of it is taken. */
bool choose_in_one_piece(const struct import *im, const struct choosing *c, int i);
/* The result is of `type`; its dimension i is dims[i]. `in_place`: it is the first operand, changed. */
bool choose_emit(struct import *im, const struct model_op *op, struct choosing *c,
                 const struct model_type *type, const int *dims, bool in_place, struct import_value *out);
/* The same, and the result of the op is that; too many dimensions leave it generic. */
bool choose_finish(struct import *im, const struct model_op *op, struct choosing *c,
                   const struct model_type *type, const int *dims);
/* Indices below 0 count from the end of `extent`, one for each element of their last dimension, or one for
 * all. */
bool choose_from_end(struct import *im, const struct model_op *op, struct import_value *index,
                     const int64_t *extent, int count);

#endif
