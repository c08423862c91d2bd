/* A run of the device, for people and for programs. */
#ifndef LX_APP_PLANNING_SHOW_RUN_H
#define LX_APP_PLANNING_SHOW_RUN_H

#include "unstable.h"
#include "base/text.h"

/* Ops in a table (`most` of them, the busiest; 0: all), totals, and what is wrong. */
void show_run(const struct lx_plan *p, const struct lx_run_result *r, int most, struct text *out);
void run_to_json(const struct lx_plan *p, const struct lx_run_result *r, struct text *out);

/* Word k of --verify; NULL: there is none. */
const char *verify_word(int k);

#endif
