/* What is launched at once: of a bundle each run of ops between nests, and in a nest every op by itself, once per
 * iteration. Private to the stage. */
#ifndef LX_SEARCH_KERNEL_RUNS_H
#define LX_SEARCH_KERNEL_RUNS_H

#include "divide/op_nest.h"

struct kernel_run {
    int32_t first, end; /* ops [first, end) */
    int64_t times;      /* that it is launched */
};

/* The run that begins with op `first` of a bundle whose ops end before `end`. */
struct kernel_run kernel_run_at(const struct lx_nest *nests, int32_t nest_count, int32_t first, int32_t end);

#endif
