/* Results as texts. */
#include "api/api_handles.h"

#include <string.h>

lx_text *lx_result_write(const lx_result *r, const char *format, const lx_result *other, lx_error *e)
{
    lx_status nowhere = {0}, *st = api_status(e, &nowhere);
    size_t length = 0;
    (void)other;
    if (!r || !r->plan) return status_set(st, LX_E_USAGE, "there is no plan to write"), NULL;
    if (format && strcmp(format, "plan") != 0)
        return status_set(st, LX_E_UNKNOWN_NAME, "there is no format \"%.60s\" of a result; there is: plan",
                          format),
               NULL;
    char *text = lx_plan_to_json(r->plan, &length);
    if (!text) status_no_memory(st);
    return api_text(text, length, st);
}
