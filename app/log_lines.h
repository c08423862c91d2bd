/* The log of a build with LXPLAN_LOGGING (base/log.h), on standard error. */
#ifndef LX_APP_LOG_LINES_H
#define LX_APP_LOG_LINES_H

#include "command.h"

/* If --log or $LXPLAN_LOG asks for it. False with `call->st`: the option does, but this build has no log. */
bool begin_log(struct call *call);

#endif
