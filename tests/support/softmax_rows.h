/* The five measured softmax kernels (512x1024, fp16, over the first axis; medians of 1,000 runs) and how each is
 * planned: torch-spyre's scratchpad document. */
#ifndef LX_TESTS_SUPPORT_SOFTMAX_ROWS_H
#define LX_TESTS_SUPPORT_SOFTMAX_ROWS_H

#include "unstable.h"

struct softmax_row {
    const char *name;
    int64_t cores;
    int stage; /* enum lx_stage */
    double measured_us;
};

static const struct softmax_row softmax_rows[] = {
    {"baseline", 1, LX_STAGE_BASELINE, 32.51}, {"stage 2", 1, LX_STAGE_REDUCTIONS, 27.66},
    {"stage 3", 1, LX_STAGE_IN_PLACE, 23.93},  {"stage 4", 1, LX_STAGE_ALL, 23.67},
    {"4-core", 4, LX_STAGE_ALL, 32.17},
};
enum { SOFTMAX_ROWS = sizeof softmax_rows / sizeof *softmax_rows };

/* NULL with `st`. */
static inline struct lx_plan *softmax_plan(const struct softmax_row *r, lx_status *st)
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

#endif
