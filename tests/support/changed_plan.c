#include "support/changed_plan.h"

bool plan_accepted(const cJSON *plan)
{
    lx_status st = {0};
    char *text = cJSON_PrintUnformatted(plan);
    struct lx_plan *p = lx_plan_of_text("plan", text, strlen(text), &st);
    bool ok = p && lx_plan_check(p, &st);
    lx_plan_free(p);
    cJSON_free(text);
    return ok;
}
