/* Whether a plan file is still taken after its tree was changed. */
#ifndef LX_TESTS_SUPPORT_CHANGED_PLAN_H
#define LX_TESTS_SUPPORT_CHANGED_PLAN_H

#include "unstable.h"
#include "base/memory.h"

#include <cjson/cJSON.h>
#include <string.h>

static inline bool accepted(const cJSON *plan)
{
    lx_status st = {0};
    char *text = cJSON_PrintUnformatted(plan);
    struct lx_plan *p = lx_plan_of_text("plan", text, strlen(text), &st);
    bool ok = p && lx_plan_check(p, &st);
    lx_plan_free(p);
    cJSON_free(text);
    return ok;
}

#endif
