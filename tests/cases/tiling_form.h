/* What the files of the form of nests share. */
#ifndef LX_TESTS_CASES_TILING_FORM_H
#define LX_TESTS_CASES_TILING_FORM_H

#include "cases/cases.h"

/* The plan that the case has, as a plan file by another maker; `like` is a plan of ours, of which it has layouts. */
cJSON *tiling_plan_of(const cJSON *one, const cJSON *like);

#endif
