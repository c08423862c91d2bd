/* What the files of the plan format share. Private to the stage. */
#ifndef LX_PLAN_PLAN_FILE_H
#define LX_PLAN_PLAN_FILE_H

#include "base/json.h"
#include "base/text.h"
#include "graph/pattern.h"
#include "plan/planner.h"

/* A derived value in the file must be what we derive. */
bool plan_same(const struct json *j, const cJSON *v, const char *key, int64_t ours, lx_status *st);

/* plan_file_graph.c: what a plan of a graph has besides its buffers. */
void plan_write_graph(const struct lx_plan *p, struct text *t);
/* Layouts, divisions, order and draft, all off chip. */
bool plan_read_graph(const struct json *j, const cJSON *root, struct lx_plan *p, int objective,
                     lx_status *st);
/* Addresses in HBM, and the traffic of each op, of a plan that is complete otherwise. */
bool plan_read_places(const struct json *j, const cJSON *root, struct lx_plan *p, lx_status *st);

#endif
