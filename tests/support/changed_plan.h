/* Whether a plan file is still taken after its tree was changed. */
#ifndef LX_TESTS_SUPPORT_CHANGED_PLAN_H
#define LX_TESTS_SUPPORT_CHANGED_PLAN_H

#include "unstable.h"
#include "base/memory.h"

#include <cjson/cJSON.h>
#include <string.h>

bool plan_accepted(const cJSON *plan);

#endif
