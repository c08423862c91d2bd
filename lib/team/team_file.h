/* Files of team plans. Private to the library. */
#pragma once

#include "team/team_fields.h"
#include "team/team_private.h"

enum { TEAM_FORMAT = 1 };
#define TEAM_PLAN_KIND "team plan"

extern const char *const team_mode_words[LX_TEAM_MODES], *const team_step_words[LX_TEAM_STEP_KINDS],
                                                             *const team_piece_words[LX_TEAM_PIECES];

/* Writes everything but the devices' plans and the closing brace. */
void team_write(const struct lx_team_plan *p, const char *kind, struct text *t);
/* The same without the pattern; its hash is included. */
void team_write_decided(const struct lx_team_plan *p, const char *kind, struct text *t);
/* team_read.c: reads the plan as stated. The result is safe to use; lx_team_check decides whether it is
 * right. */
struct lx_team_plan *team_read(const struct json *j, const struct json_value *root, lx_status *st);
/* team_plan.c: computes the bytes of all ops and exchanges, and `exact`; then the hash. */
void team_sum_up(struct lx_team_plan *p, struct lx_team_op *ops);
void team_identify(struct lx_team_plan *p);
/* Computes bytes per device, and the pattern, of an exchange with its boxes set. */
void team_count_exchange(const struct lx_graph *g, const struct lx_team_grid *grid,
                         const struct lx_team_tensor *tensors, struct arena *memory,
                         struct lx_team_exchange *e);
