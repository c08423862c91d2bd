/* Models of other compilers as graphs: TTIR and HLO text, ONNX. The formats are rows of formats.c; this is the way in
 * for who has something to say about how, and wants to know what became of what. */
#ifndef LX_IMPORT_MODEL_IMPORT_H
#define LX_IMPORT_MODEL_IMPORT_H

#include "base/status.h"
#include "import/model_options.h"

#include <stdbool.h>
#include <stddef.h>

struct lx_graph;

struct lx_import_options {
    struct lx_model_options model;
    bool no_fold;    /* views are ops that copy */
    bool no_expand;  /* layers that are one op stay generic */
    bool strict;     /* refuse what would be generic */
    int64_t branch;  /* of conditionals that are not known; -1: the one with most bytes */
    int64_t trips;   /* of loops whose number is not known, or that would be too long; 0: 1 */
    int64_t max_ops; /* up to which loops that count are unrolled; 0: 100,000 */
    const struct lx_model_binding *roles; /* of arguments: enum lx_role */
    int role_count;
    bool weight_dtype; /* weights are stored as the file says they may be: in blocks */
    bool share_cache;  /* ONNX: past and present of one shape are one buffer */
    int64_t device;    /* of several that share the work: whose part it is */
    bool team;         /* what is said of devices that share the work is kept, for a team of them */
};

/* Is it a model? */
bool lx_model_sniff(const char *text, size_t length);
/* NULL: `st` says why. *report: what became of the ops, as JSON, malloc'ed; `report` may be NULL. */
const struct lx_graph *lx_model_import(const char *file, const char *text, size_t length,
                                       const struct lx_import_options *options, char **report, lx_status *st);

#endif
