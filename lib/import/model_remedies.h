/* What helps against an error of a model file. */
#ifndef LX_IMPORT_MODEL_REMEDIES_H
#define LX_IMPORT_MODEL_REMEDIES_H

#include "import/model_parts.h"

/* Adds to the message what helps, unless it says so. Always false. */
bool model_add_remedy(enum model_format format, lx_status *st);

#endif
