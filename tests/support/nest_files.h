/* What every plan with nests must come through: its file read back, its figures counted anew, its times added up. */
#ifndef LX_TESTS_SUPPORT_NEST_FILES_H
#define LX_TESTS_SUPPORT_NEST_FILES_H

#include "unstable.h"
#include "planfile/plan_fields.h"
#include "base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cJSON.h>
#include <cmocka.h>

/* Written, read and written again: the same bytes. Returns how many nests it had. */
int32_t comes_back(struct lx_plan *p, const char *name);
void nest_file_near(double a, double b);

/* What a file leaves out is filled in as the planner counts it, in all iterations. */
void figures_follow(struct lx_plan *p, const char *name);

/* The waits of all ops are the end-to-end time, and ops have it among them. */
void adds_up(const struct lx_plan *p);

#endif
