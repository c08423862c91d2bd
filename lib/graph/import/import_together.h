/* Devices that share the work of a model, for a team. */
#ifndef LX_GRAPH_IMPORT_IMPORT_TOGETHER_H
#define LX_GRAPH_IMPORT_IMPORT_TOGETHER_H

#include "graph/import/import.h"

/* The grid that the model is for; false: there is none that we can have (`st`). */
bool import_find_grid(struct import *im);
/* What the file says of how devices share a tensor out, part `leaf` of a tuple. What the grid has no state for is noted. */
void import_state_cut(struct import *im, int32_t storage, const struct model_type *type, int leaf,
                      const struct model_attrs *attrs);
/* The same said of what an op makes is noted; only that of arguments is kept. */
void import_note_sharding(struct import *im, const struct model_op *op);
void import_cut_tensor(const struct import *im, const struct storage *s, struct lx_tensor *t);
/* For a team: are the devices that an op brings together along axes of the grid? False: they are not (`st`). */
bool import_know_group(struct import *im, const struct model_op *op, const char *kind);
/* Which devices do together what was sketched last; all of them. */
bool import_state_group(struct import *im, const struct model_op *op, const struct model_type *in,
                        const struct model_type *out);
bool import_state_all_devices(struct import *im);
const struct lx_op_params *import_parts_param(struct import *im, const struct sketch *s);

#endif
