/* What is said about a team: its exchanges, and each member's traffic, planned and counted. */
#ifndef LX_APP_COMMANDS_TEAM_REPORT_H
#define LX_APP_COMMANDS_TEAM_REPORT_H

#include "command.h"

/* One row per member; `ran`: what was counted stands beside it. */
void show_members(const struct lx_team_account *accounts, int members, bool ran, struct text *out);
void show_team_result(const struct lx_team_plan *p, const struct lx_transport *transport,
                      const struct lx_team_result *r, struct text *out);
void team_result_to_json(const struct lx_team_plan *p, const struct lx_team_result *r, struct text *out);

/* `why`: what is wrong; NULL: nothing. `p` NULL: it is so wrong that nothing follows from it. */
void show_team_check(const struct lx_team_plan *p, const char *file, const char *why, struct text *out);
void team_check_to_json(const struct lx_team_plan *p, const char *file, const char *why, struct text *out);

#endif
