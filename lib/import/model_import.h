/* Models of other compilers as graphs: TTIR and HLO text, ONNX. formats.c reads them as well; this is the
 * way in with options and a report. */
#ifndef LX_IMPORT_MODEL_IMPORT_H
#define LX_IMPORT_MODEL_IMPORT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lx_graph;

struct lx_model_binding {
    const char *name;
    int64_t value;
};

/* Known before the file is read. */
struct lx_model_options {
    const char *function;                 /* NULL: the only one, or the only public one */
    const struct lx_model_binding *dims;  /* of extents */
    const struct lx_model_binding *fixed; /* of scalar inputs */
    int dim_count, fixed_count;
    int64_t branch; /* of an If that data decides on, counted from 1; 0: the one with most bytes */
};

struct lx_import_options {
    struct lx_model_options model;
    bool no_fold;    /* views are ops that copy */
    bool no_expand;  /* layers that are one op stay generic */
    bool strict;     /* refuse a model with generic ops */
    int64_t branch;  /* of conditionals that are not known; -1: the one with most bytes */
    int64_t trips;   /* of loops whose number is not known, or that would be too long; 0: 1 */
    int64_t max_ops; /* up to which counted loops are unrolled; 0: 100,000 */
    const struct lx_model_binding *roles; /* of arguments: enum lx_role */
    int role_count;
    bool weight_dtype; /* weights are stored in the blocks that the file allows */
    bool share_cache;  /* ONNX: past and present of one shape are one buffer */
    int64_t device;    /* of several that share the work */
    bool team;         /* meshes, groups and shardings are kept, for a team */
};

/* Is it a model? */
bool lx_model_sniff(const char *text, size_t length);
/* NULL: `st` has the reason. *report: JSON, to be freed by the caller; `report` may be NULL. */
const struct lx_graph *lx_model_import(const char *file, const char *text, size_t length,
                                       const struct lx_import_options *options, char **report, lx_status *st);

#endif
