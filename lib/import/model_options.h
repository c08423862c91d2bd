/* What a user says about a model file before it is read. */
#ifndef LX_IMPORT_MODEL_OPTIONS_H
#define LX_IMPORT_MODEL_OPTIONS_H

#include <stdint.h>

struct lx_model_binding {
    const char *name;
    int64_t value;
};

struct lx_model_options {
    const char *function;                 /* NULL: the only one, or the only public one */
    const struct lx_model_binding *dims;  /* of extents */
    const struct lx_model_binding *fixed; /* of scalar inputs */
    int dim_count, fixed_count;
    int64_t branch; /* of an If that data decides on, counted from 1; 0: the one with most bytes */
    int64_t trips;  /* of loops that data ends; 0: 1 */
};

#endif
