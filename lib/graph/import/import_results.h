/* What a model takes and gives. */
#ifndef LX_GRAPH_IMPORT_IMPORT_RESULTS_H
#define LX_GRAPH_IMPORT_IMPORT_RESULTS_H

#include "graph/import/import.h"

/* The storages that are returned; `results` has room for all tensors of the results. */
bool import_gather_results(struct import *im, int32_t *results, int *count);
/* For the report: roles as they are in the pattern. */
void import_note_arguments(struct import *im);

#endif
