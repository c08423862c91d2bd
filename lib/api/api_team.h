/* What lx_plan gives with the option team: a plan per member, and with lx_run what they did. Private to the room. */
#ifndef LX_API_API_TEAM_H
#define LX_API_API_TEAM_H

#include "api/api_handles.h"
#include "team/run/team_plans.h"
#include "team/run/team_run.h"

struct team_result {
    struct lx_team_plans *plans; /* shared by a plan and its runs */
    int *shares;
    bool ran;
    struct lx_team_result run; /* where it ran */
};

/* A result of `plans`, which it takes over, also where this fails. */
lx_result *team_result_of(struct lx_team_plans *plans);
void team_result_free(struct team_result *t);

/* As the functions of lxplan.h, of such a result. */
lx_result *team_plan(const lx_graph *g, const lx_options *o, lx_status *st);
lx_result *team_run(const struct team_result *t, const lx_options *o, lx_status *st);
int32_t team_number(const struct team_result *t, const char *name, double *value);
const char *team_word(const struct team_result *t, const char *name);
int64_t team_count(const struct team_result *t, const char *list);
int32_t team_item_number(const struct team_result *t, const char *list, int64_t i, const char *name,
                         double *value);

#endif
