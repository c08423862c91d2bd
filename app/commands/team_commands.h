/* Teams on the command line: the plan of one, and a run of it. */
#ifndef LX_APP_COMMANDS_TEAM_COMMANDS_H
#define LX_APP_COMMANDS_TEAM_COMMANDS_H

#include "command.h"

extern const struct option_row team_rows[]; /* --team, of `plan --stage team` and `run` */
const char *transport_word(int k);
extern const struct option_row member_rows[]; /* --transport and --patience, of `run` */

/* The graph cut over --team members (default 2): for people or as JSON. Takes the graph over. */
int print_team(struct call *call, const struct lx_graph *g);
/* lxplan run FILE --team N: executes the team, compares with one device, shows what was exchanged. */
int run_team(struct call *call, const char *path);

#endif
