/* Generated graphs of any size: the same options and seed give the same graph on every machine. */
#pragma once

#include "base/option.h"
#include "graph/graph.h"

/* One row of the table in gen_common.c. */
struct lx_generator {
    const char *name, *summary;
    const struct lx_option *options;
    int option_count;
    /* `values`: one per option. NULL: `st` has the error. */
    const struct lx_graph *(*build)(const int64_t *values, lx_status *st);
};

/* The same with other usable bytes (-1: its own), and of a list another objective; it takes over `g`. NULL: `st`. */
const struct lx_graph *lx_generated_for(const struct lx_graph *g, int64_t bytes, enum lx_objective objective,
                                        lx_status *st);
/* Ends with a row without a name. */
const struct lx_generator *lx_generators(void);
const struct lx_generator *lx_generator_find(const char *name);
