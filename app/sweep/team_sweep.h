/* lxplan sweep --team: what teams of several sizes would take. */
#ifndef LX_APP_SWEEP_TEAM_SWEEP_H
#define LX_APP_SWEEP_TEAM_SWEEP_H

#include "command.h"

/* The exit code; with --team given. */
int sweep_team(struct call *call);

#endif
