/* Graphs of tests on other devices. Each function gives the reference to its graph back, so that a test has one
 * graph to free however often it is changed. */
#ifndef LX_TESTS_SUPPORT_OTHER_SIZES_H
#define LX_TESTS_SUPPORT_OTHER_SIZES_H

#include "graph/graph.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>

/* By the products of all its ops: then a scaled copy stands beside the pattern. */
bool is_of_real_size(const struct lx_graph *g);
const struct lx_graph *with_device(const struct lx_graph *g, const struct lx_device *device);
const struct lx_graph *with_cores(const struct lx_graph *g, int64_t cores);
const struct lx_graph *with_capacity(const struct lx_graph *g, int64_t usable_bytes);

#endif
