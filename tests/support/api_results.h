/* Numbers of results behind the C interface. Comes after cmocka.h. */
#ifndef LX_TESTS_SUPPORT_API_RESULTS_H
#define LX_TESTS_SUPPORT_API_RESULTS_H

#include "lxplan.h"

#include <math.h>

static inline void same(double a, double b)
{
    if (a != b) fail_msg("%g is not %g", a, b);
}

static inline double number(const lx_result *r, const char *name)
{
    double value = NAN;
    if (lx_result_number(r, name, &value) != 0) fail_msg("no number %s", name);
    return value;
}

#endif
