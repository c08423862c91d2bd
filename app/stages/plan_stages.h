/* The stages that need a plan: what each op of it does on the cores. */
#ifndef LX_APP_STAGES_PLAN_STAGES_H
#define LX_APP_STAGES_PLAN_STAGES_H

#include "command.h"

/* Both plan first, so that the planning options apply; they take the graph over. */
int print_launch(struct call *call, const struct lx_graph *g);
int print_loops(struct call *call, const struct lx_graph *g);
/* Plans and launches every op; false with `call->st` where that is refused. Takes the graph over. */
bool try_launches(struct call *call, const struct lx_graph *g);

#endif
