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
struct lx_plan *softmax_plan(const struct softmax_row *r, lx_status *st);

#endif
