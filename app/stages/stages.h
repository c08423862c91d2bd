/* The result of one stage of the road, for people or as JSON. */
#ifndef LX_APP_STAGES_STAGES_H
#define LX_APP_STAGES_STAGES_H

#include "command.h"

int run_stage(struct call *call, const char *path, const char *stage);
bool is_stage(const char *name);
/* "graph, scratchpad" */
void add_stage_names(struct text *out);

#endif
