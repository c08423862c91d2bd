/* Options as data: one row each. The same rows parse values, check ranges and make the help of solvers and
 * generators. */
#pragma once

#include "base/status.h"

#include <stdint.h>

struct lx_option {
    const char *name;
    int64_t def, low, high;
    const char *help;
};

/* Every option's default into `values`. */
void lx_values_default(const struct lx_option *rows, int count, int64_t *values);
/* Sets the option `name` of `owner` (named in errors) from text: an integer, with an optional k, m or g for
 * 2^10, 2^20, 2^30. */
bool lx_values_set(const char *owner, const struct lx_option *rows, int count, const char *name,
                   const char *text, int64_t *values, lx_status *st);
/* An integer from text, as above. `what` names it in errors. */
bool lx_parse_int(const char *what, const char *text, int64_t low, int64_t high, int64_t *out, lx_status *st);
/* Any finite number from text. */
bool lx_parse_number(const char *what, const char *text, double *out, lx_status *st);
