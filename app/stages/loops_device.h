/* A nest on the device's kernels, for loops --run. */
#ifndef LX_APP_STAGES_LOOPS_DEVICE_H
#define LX_APP_STAGES_LOOPS_DEVICE_H

#include "command.h"

/* Runs `nest`, compares with the scalar executor on `input` and reports, as JSON after a comma or as a line.
 * A nest that cannot be run is reported as such. False: its result is wrong. */
bool report_device(struct call *call, const struct lx_loops *nest, const struct lx_loops *input,
                   int64_t threads);

/* A whole tree, node by node with results handed on, compared with the scalar executor. False: wrong, or `call->st`. */
bool report_tree(struct call *call, const struct lx_tree *tree, const struct lx_loop_rules *rules,
                 int64_t threads);

#endif
