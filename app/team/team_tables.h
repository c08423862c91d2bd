/* A team's plan in tables, as `plan` and `run` show it. */
#ifndef LX_APP_TEAM_TEAM_TABLES_H
#define LX_APP_TEAM_TEAM_TABLES_H

#include "command.h"

/* All of it: cuts, ops, exchanges, totals, members. */
void show_team(const struct lx_team_plans *p, struct text *out);
void show_exchanges(const struct lx_team_plan *p, struct text *out);
void show_totals(const struct lx_team_plan *p, struct text *out);

#endif
