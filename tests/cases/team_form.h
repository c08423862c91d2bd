/* The form of teams: shared between its files. */
#ifndef LX_TESTS_CASES_TEAM_FORM_H
#define LX_TESTS_CASES_TEAM_FORM_H

#include "cases/cases.h"
#include "team/distribution.h"

/* Entry d of an array, or 0. */
int64_t team_item(const cJSON *array, int d);
/* `wanted` is an array of the very numbers. */
void team_expect_array(struct cases *c, const char *what, const cJSON *wanted, const int64_t *got, int rank);

/* Cases that are about a whole plan. */
void team_check_stencil(struct cases *c, const cJSON *json);
void team_check_coalesce(struct cases *c, const cJSON *json);

#endif
