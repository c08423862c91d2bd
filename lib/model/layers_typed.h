/* Ops on tensors whose types say what their numbers stand for. */
#ifndef LX_MODEL_LAYERS_TYPED_H
#define LX_MODEL_LAYERS_TYPED_H

#include "model/layers.h"

/* Has the op such a tensor? */
bool layer_is_typed(const struct lx_model *m, const struct model_op *op);
/* How it is done in smaller ops; NULL: as if there were nothing to say of the numbers. */
layer_expand *layer_typed(const struct lx_model *m, const struct model_op *op);

#endif
