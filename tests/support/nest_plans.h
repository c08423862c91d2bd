/* Plans with nests for tests: the cases of tests/data/cases/tiling.json, each planned with --tile auto. */
#ifndef LX_TESTS_SUPPORT_NEST_PLANS_H
#define LX_TESTS_SUPPORT_NEST_PLANS_H

#include "unstable.h"
#include "base/memory.h"

#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cJSON *tiling_cases(void);
const cJSON *case_array(const cJSON *all);
struct lx_plan *nest_plan(const struct lx_graph *g, enum lx_ask ask, lx_status *st);
struct lx_plan *plan_of_case(const cJSON *c, enum lx_ask ask, lx_status *st);

/* A transformer block of `seq` tokens, of which less than all fits: several nests, relayouts, sums. */
struct lx_plan *plan_of_block(int64_t seq, int64_t usable, enum lx_ask ask, lx_status *st);

#endif
