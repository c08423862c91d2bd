/* Plans to try a later stage on: every bundled pattern, but those of real sizes, on several devices and with several passes, and graphs
 * written in a line. */
#ifndef LX_TESTS_SUPPORT_EACH_PLAN_H
#define LX_TESTS_SUPPORT_EACH_PLAN_H

#include "unstable.h"
#include "support/other_sizes.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef void plan_check(const struct lx_plan *p, void *totals);

/* Gives the reference to the graph back. */
struct lx_plan *plan_of(const struct lx_graph *g, const struct lx_passes *passes);
void each_plan(plan_check *check, void *totals);
struct lx_plan *plan_with(const char *tensors, const char *ops, const struct lx_passes *passes);
struct lx_plan *plan_text(const char *tensors, const char *ops);

#endif
