/* Plans with nests that were not searched for: those of a case of tiling.json, and random ones with random holds. */
#ifndef LX_TESTS_SUPPORT_STATED_NESTS_H
#define LX_TESTS_SUPPORT_STATED_NESTS_H

#include "unstable.h"
#include "base/memory.h"
#include "base/rng.h"
#include "layout/op_index.h"
#include "plan/plan_make.h"
#include "search/plan_search.h"
#include "nests/axes.h"

#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

enum { STATED_NESTS = 16, STATED_OPS = 64, STATED_HOLDS = 256 };

struct stated_nests {
    struct lx_nest nests[STATED_NESTS];
    signed char var[STATED_NESTS][STATED_OPS][LX_MAX_LEVELS];
    int32_t nest_count;
    struct hold holds[STATED_HOLDS];
    int32_t hold_count;
    struct cut cuts[STATED_HOLDS];
    int32_t cut_count;
};

/* Says which, for the graph as it is laid out. */
typedef void state_nests(void *context, const struct lx_layouts *l, struct stated_nests *out);

/* The best placement under these nests as a plan, whole as any other; NULL: `st`, or they are none. */
struct lx_plan *plan_stated(const struct lx_graph *g, const struct lx_passes *passes, const char *solver,
                            state_nests *state, void *context, lx_status *st);

/* ---- those of a case ---- */

const cJSON *stated_get(const cJSON *o, const char *key);
int32_t stated_op(const struct lx_graph *g, const char *name);
void state_case(void *context, const struct lx_layouts *l, struct stated_nests *out);

/* ---- random ones ---- */

void state_random(void *context, const struct lx_layouts *l, struct stated_nests *out);

#endif
