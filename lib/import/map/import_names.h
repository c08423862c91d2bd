/* What tensors and ops are called, in the words of the file: import_names.c says how. */
#ifndef LX_IMPORT_IMPORT_NAMES_H
#define LX_IMPORT_IMPORT_NAMES_H

#include "import/map/import.h"

/* Where the sketches and storages of an op begin. */
struct label_place {
    size_t sketch, storage;
    const char *label; /* what the op is called; NULL: as the one that it is part of */
};

/* What an op of the file is called. NULL: memory is out. */
const char *import_op_label(struct import *im, const struct model_op *op);
/* Around an op of a body; of a derived one the op that it stands for has the name. */
void import_label_begin(struct import *im, const struct model_op *op, struct label_place *at);
void import_label_end(struct import *im, const struct model_op *op, const struct label_place *at);
/* What is inlined of this op; the caller puts `im->path` back. */
void import_path_enter(struct import *im, const struct model_op *op);
/* NULL: the file has none of its own. */
const char *import_value_name(struct import *im, int32_t value);
/* All since then is a copy of something of that name; NULL: it has none. */
void import_call_it(struct import *im, const struct label_place *at, const char *name);
/* A tensor that is returned has the name that it is returned by; NULL: it keeps its own. */
void import_call_output(struct import *im, int32_t storage, const char *name);

/* Once all is sketched: arguments and outputs come first. */
bool import_names_first(struct import *im);
bool import_tensor_name(struct import *im, struct storage *s);
/* NULL: memory is out. */
const char *import_op_name(struct import *im, const struct sketch *s);

#endif
