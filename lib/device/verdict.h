/* Private to the stage. */
#ifndef LX_DEVICE_VERDICT_H
#define LX_DEVICE_VERDICT_H

#include "device/device.h"

/* Sums up, compares with the plan and decides. `ops` are those of the result. False: memory is out. */
bool judge(const struct lx_plan *p, struct lx_run_result *r, struct lx_op_run *ops);

#endif
