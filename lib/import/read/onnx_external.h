/* Tensors of ONNX whose numbers stand in a file beside the model. */
#ifndef LX_IMPORT_ONNX_EXTERNAL_H
#define LX_IMPORT_ONNX_EXTERNAL_H

#include "import/read/onnx_wire.h"

/* What field 13 of a tensor says. */
struct onnx_external {
    const char *location; /* NULL: nothing yet */
    uint64_t offset, length;
    bool has_length;
};

/* One entry, a key and its word. False: failed; a location upwards or from the root is refused. */
bool onnx_external_entry(struct onnx_external *x, struct wire entry);
/* The bytes, `wanted` of them, malloc'ed; NULL: there is no such file, or it is too short. */
unsigned char *onnx_external_bytes(const struct onnx_external *x, const char *model, size_t wanted);
/* Is there a file that could have them? */
bool onnx_external_there(const struct onnx_external *x, const char *model);

#endif
