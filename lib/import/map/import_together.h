/* Devices that share the work of a model, for a team. */
#ifndef LX_IMPORT_IMPORT_TOGETHER_H
#define LX_IMPORT_IMPORT_TOGETHER_H

#include "import/map/import.h"

/* The grid that the model is for; false: there is none that we can have (`st`). */
bool import_find_grid(struct import *im);
/* import_shardings.c. What the file says of how devices share an argument out, part `leaf` of a tuple.
 * What the grid has no state for is noted. */
void import_state_argument(struct import *im, const struct import_value *v, int leaf,
                           const struct model_value *of);
/* The same of what an op has made, once it is there. */
bool import_state_results(struct import *im, const struct model_op *op);
/* A copy of a value lies as the value does. */
void import_keep_cut(struct import *im, const struct import_value *was, const struct import_value *now);
void import_cut_tensor(struct import *im, const struct storage *s, struct lx_tensor *t);
/* The piece that begins a dimension, known by the product of the extents from it on; -1: none does. */
int import_piece_from(const struct cuts *c, int64_t from);
int64_t import_from_dimension(const struct model_type *t, int d);

/* import_manual.c: does the program take parts of whole tensors? The type of the parts that an argument is
 * only read as, NULL: there is none. Is the result of an op the part that its operand is? */
bool import_has_parts(const struct lx_model *m);
const struct model_type *import_part_type(const struct import *im, int32_t argument);
bool import_stays_part(struct import *im, const struct model_op *op);
/* The dimension of an argument that each axis of the grid has parts of, -1: none, where TTIR says so; else
 * NULL. */
const int64_t *import_part_dims(const struct import *im, const struct model_value *argument);

/* For a team: are the devices that an op brings together along axes of the grid? False: they are not
 * (`st`). */
bool import_know_group(struct import *im, const struct model_op *op, const char *kind);
/* Which devices do together what was sketched last; all of them. */
bool import_state_group(struct import *im, const struct model_op *op, const struct model_type *in,
                        const struct model_type *out);
bool import_state_all_devices(struct import *im);
const struct lx_op_params *import_parts_param(struct import *im, const struct sketch *s);

#endif
