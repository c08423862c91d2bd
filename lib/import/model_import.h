/* Imports models of other compilers as graphs: TTIR and HLO text, ONNX. formats.c reads them too; this entry
 * has options and a report. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lx_graph;

struct lx_model_binding {
    const char *name;
    int64_t value;
};

/* Options for reading the file. */
struct lx_model_options {
    const char *function;                 /* NULL: the only one, or the only public one */
    const struct lx_model_binding *dims;  /* values of extents */
    const struct lx_model_binding *fixed; /* values of scalar inputs */
    int dim_count, fixed_count;
    int64_t branch; /* of an If that depends on data, counted from 1; 0: the one with most bytes */
};

struct lx_import_options {
    struct lx_model_options model;
    bool no_fold;                         /* views become copies */
    bool no_expand;                       /* single-op layers stay generic */
    bool strict;                          /* refuse a model with generic ops */
    int64_t branch;                       /* of unknown conditionals; -1: the one with most bytes */
    int64_t trips;                        /* of loops with unknown or too many trips; 0: 1 */
    int64_t max_ops;                      /* limit for unrolling counted loops; 0: 100,000 */
    const struct lx_model_binding *roles; /* of arguments: enum lx_role */
    int role_count;
    bool weight_dtype; /* stores weights in the block types that the file allows */
    bool share_cache;  /* ONNX: past and present of one shape share a buffer */
    int64_t device;    /* the device of several that is planned */
    bool team;         /* keeps meshes, groups and shardings, for a team */
};

/* Is it a model? */
bool lx_model_sniff(const char *text, size_t length);
/* NULL: `st` has the reason. *report: JSON, which the caller frees; `report` may be NULL. */
const struct lx_graph *lx_model_import(const char *file, const char *text, size_t length,
                                       const struct lx_import_options *options, char **report, lx_status *st);
