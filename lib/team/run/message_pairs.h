/* Do the messages of all devices fit each other? Private to the stage. */
#ifndef LX_TEAM_RUN_MESSAGE_PAIRS_H
#define LX_TEAM_RUN_MESSAGE_PAIRS_H

#include "team/run/device_plans.h"

/* What one device sends to another by a tag the other receives, once and of the same size. False: `st` says what does not. */
bool team_check_messages(const struct lx_team_plans *p, lx_status *st);

#endif
