#include "support/softmax_rows.h"

struct lx_plan *softmax_plan(const struct softmax_row *r, lx_status *st)
{
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/softmax_512x1024.json", st);
    if (!g) return NULL;
    struct lx_device device = g->device;
    device.cores = r->cores;
    const struct lx_graph *on = lx_graph_with_device(g, &device);
    lx_graph_free(g);
    if (!on) return NULL;
    struct lx_plan_options how = {.solver = lx_solver_find("auto"), .passes = {.stage = r->stage}};
    struct lx_plan *p = lx_plan_make(on, &how, st);
    lx_graph_free(on);
    return p;
}
