#include "support/other_sizes.h"

static const struct lx_graph *size_instead(const struct lx_graph *g, const struct lx_graph *other,
                                           const lx_status *st)
{
    if (!other) fail_msg("%s", st->text);
    lx_graph_free(g);
    return other;
}

bool is_of_real_size(const struct lx_graph *g)
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

const struct lx_graph *with_device(const struct lx_graph *g, const struct lx_device *device)
{
    lx_status st = {0};
    return size_instead(g, lx_graph_with_device(g, device), &st);
}

const struct lx_graph *with_cores(const struct lx_graph *g, int64_t cores)
{
    struct lx_device device = g->device;
    device.cores = cores;
    return with_device(g, &device);
}

const struct lx_graph *with_capacity(const struct lx_graph *g, int64_t usable_bytes)
{
    lx_status st = {0};
    return size_instead(g, lx_graph_with_capacity(g, usable_bytes, &st), &st);
}
