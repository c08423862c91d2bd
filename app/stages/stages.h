/* The result of one stage of the road, for people or as JSON. */
#ifndef LX_APP_STAGES_STAGES_H
#define LX_APP_STAGES_STAGES_H

#include "command.h"

int run_stage(struct call *call, const char *path, const char *stage);
/* Runs the pattern up to and including a stage, for the error in `call->st`. */
void try_stage(struct call *call, const struct lx_graph *g, const char *stage);
bool is_stage(const char *name);
/* Stage k, NULL behind the last. */
const char *stage_word(int k);

#endif
