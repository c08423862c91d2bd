/* Teams on the command line: plan, check and run. */
#pragma once

#include "command.h"

extern const struct option_row team_rows[]; /* --team and --cut, of `plan` and `run` */
/* Reads --team and its choices; without --team: the devices that the transport has, else two in a row. */
bool read_team(struct call *call, const struct lx_transport *transport, struct lx_team_options *how);
/* Least time or fewest bytes: by --team-by, else by the objective of the devices' plans. */
bool read_team_aim(struct call *call, enum lx_ask objective, bool *by_time);
const char *team_aim_word(int k);
const char *transport_word(int k);
extern const struct option_row device_team_rows[]; /* --transport and --patience, of `run` */

/* The graph cut over --team devices (default 2): for people or as JSON. Takes the graph over. */
int print_team(struct call *call, const struct lx_graph *g);
/* lxplan plan FILE --team N: the team's plan with each device's, shown and written. */
int plan_team(struct call *call, const char *path);
/* The same with --explain: why tensors are cut as they are. */
int explain_team(struct call *call, const char *path);
/* lxplan check PLAN, of a team's plan. */
int check_team(struct call *call, const struct source *from);
/* The arguments of a run by name, in the order of the command line; they live as long as that. */
bool read_arguments(struct call *call, const struct lx_graph *g, const struct lx_argument **list, int *count);
/* Is a pattern to be run by a team? By the options, or because this is one of several processes. */
bool wants_team(const struct call *call);
/* lxplan run, of a pattern or of a team's plan: executes the team, compares with one device, shows what was
 * exchanged. */
int run_team(struct call *call, const struct source *from);
int run_team_plan(struct call *call, const struct source *from);

/* One row per device; `ran`: what was counted stands beside it. */
void show_devices(const struct lx_team_account *accounts, int members, bool ran, struct text *out);
void show_team_result(const struct lx_team_plan *p, const struct lx_transport *transport,
                      const struct lx_team_result *r, struct text *out);
void team_result_to_json(const struct lx_team_plan *p, const struct lx_team_result *r, struct text *out);

/* `why`: the reason of a refusal; NULL: legal. `p` may be NULL if the file has no plan. */
void show_team_check(const struct lx_team_plan *p, const char *file, const char *why, struct text *out);
void team_check_to_json(const struct lx_team_plan *p, const char *file, const char *why, struct text *out);
