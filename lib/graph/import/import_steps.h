/* What the op mapping and the expansions share. */
#ifndef LX_GRAPH_IMPORT_IMPORT_STEPS_H
#define LX_GRAPH_IMPORT_IMPORT_STEPS_H

#include "graph/import/import.h"

/* import_ops.c: a value as operand of an op of that many dimensions, aligned at their end. */
bool import_aligned(struct import *im, struct import_value v, int rank, struct sketch_operand *out);
/* Repetition within a dimension that goes would have to be counted: such an operand is laid out first. */
bool import_without_repeats(struct import *im, const struct model_op *op, struct import_value *v,
                            const bool *goes);
bool import_generic(struct import *im, const struct model_op *op, const char *why);
/* import_values.c: a type that the file does not have. */
const struct model_type *import_type(struct import *im, enum model_element e, int rank,
                                     const int64_t *extent);

/* import_expand.c: as the rows of import_ops.c want them. */
bool expand_softmax(struct import *im, const struct model_op *op, const char *ours);
bool expand_rms_norm(struct import *im, const struct model_op *op, const char *ours);
bool expand_layer_norm(struct import *im, const struct model_op *op, const char *ours);
bool expand_batch_norm(struct import *im, const struct model_op *op, const char *ours);
bool expand_chain(struct import *im, const struct model_op *op, const char *ours);

#endif
