/* What a model takes and gives. */
#ifndef LX_IMPORT_IMPORT_RESULTS_H
#define LX_IMPORT_IMPORT_RESULTS_H

#include "import/map/import.h"

/* Tensors of the results, counted through tuples. */
int64_t import_result_count(const struct lx_model *m);
/* The storages that are returned; `results` has room for all tensors of the results. */
bool import_gather_results(struct import *im, int32_t *results, int *count);
/* That tensor of the results; NULL: there is none. */
struct import_value *import_result(struct import *im, int64_t tensor);
/* For the report: roles as they are in the pattern. */
void import_note_arguments(struct import *im);

#endif
