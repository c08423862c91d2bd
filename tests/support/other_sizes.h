/* Graphs of tests on other devices. Each function gives the reference to its graph back, so that a test has one
 * graph to free however often it is changed. */
#ifndef LX_TESTS_SUPPORT_OTHER_SIZES_H
#define LX_TESTS_SUPPORT_OTHER_SIZES_H

#include "graph/graph.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>

static inline const struct lx_graph *instead(const struct lx_graph *g, const struct lx_graph *other,
                                             const lx_status *st)
{
    if (!other) fail_msg("%s", st->text);
    lx_graph_free(g);
    return other;
}

/* By the products of all its ops: then a scaled copy stands beside the pattern. */
static inline bool is_of_real_size(const struct lx_graph *g)
{
    double all = 0;
    for (int32_t o = 0; o < g->op_count; o++) {
        double n = 1;
        for (int v = 0; g->ops[o].map && v < g->ops[o].map->var_count; v++)
            n *= (double)g->ops[o].map->extent[v];
        all += n;
    }
    return all > 5e10;
}

static inline const struct lx_graph *with_device(const struct lx_graph *g, const struct lx_device *device)
{
    lx_status st = {0};
    return instead(g, lx_graph_with_device(g, device), &st);
}

static inline const struct lx_graph *with_cores(const struct lx_graph *g, int64_t cores)
{
    struct lx_device device = g->device;
    device.cores = cores;
    return with_device(g, &device);
}

static inline const struct lx_graph *with_capacity(const struct lx_graph *g, int64_t usable_bytes)
{
    lx_status st = {0};
    return instead(g, lx_graph_with_capacity(g, usable_bytes, &st), &st);
}

#endif
