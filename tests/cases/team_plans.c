/* Cases of the team form that are about a whole plan. */
#include "team_form.h"
void team_check_stencil(struct cases *c, const cJSON *json){(void)c;(void)json;}
void team_check_coalesce(struct cases *c, const cJSON *json){(void)c;(void)json;}
