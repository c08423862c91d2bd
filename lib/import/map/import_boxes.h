/* What ops that take parts and ops that pad have in common. Private to the folder. */
#ifndef LX_IMPORT_IMPORT_BOXES_H
#define LX_IMPORT_IMPORT_BOXES_H

#include "import/map/import_steps.h"

/* An operand whose storage has all its elements, each once. */
bool box_laid_out(struct import *im, const struct model_op *op, struct import_value *v);
/* The first result is the elements begin, begin + 1, ... of each dimension of operand 0, as many as its type has. */
bool box_take(struct import *im, const struct model_op *op, const int64_t *begin);
/* The greatest common divisor. */
int64_t box_common(int64_t a, int64_t b);
/* The numbers of operand `i`; *out is NULL if it is left out. False: they are not known. */
bool box_known_list(struct import *im, const struct model_op *op, int i, const struct model_data **out);
/* Below 0: counted from the end. */
int64_t box_from_end(int64_t at, int64_t extent);

#endif
