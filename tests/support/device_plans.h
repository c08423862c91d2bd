/* Plans for the tests of the device. */
#ifndef LX_TESTS_SUPPORT_DEVICE_PLANS_H
#define LX_TESTS_SUPPORT_DEVICE_PLANS_H

#include "unstable.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "support/other_sizes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pattern of the project by its path below patterns/. The vocabulary of lm_head is cut to what takes a
 * fraction of a second; everything else in it stays. */
const struct lx_graph *device_test_graph(const char *path);

/* Gives the reference to the graph back. */
struct lx_plan *plan_graph(const struct lx_graph *g, const char *solver, const struct lx_passes *passes);
const char *what_is_wrong(const struct lx_run_result *r);

#endif
