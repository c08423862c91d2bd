/* Files of team plans. Private to the library. */
#ifndef LX_TEAM_TEAM_FILE_H
#define LX_TEAM_TEAM_FILE_H

#include "team/team_fields.h"
#include "team/team_private.h"

enum { TEAM_FORMAT = 1 };
#define TEAM_PLAN_KIND "team plan"

extern const char *const team_mode_words[LX_TEAM_MODES], *const team_step_words[LX_TEAM_STEP_KINDS],
                                                             *const team_piece_words[LX_TEAM_PIECES];

/* Everything but the devices' plans and the closing brace. */
void team_write(const struct lx_team_plan *p, const char *kind, struct text *t);
/* The same without the pattern, whose hash is in it. */
void team_write_decided(const struct lx_team_plan *p, const char *kind, struct text *t);
/* team_read.c: the plan as the file states it. Whatever it says is safe to be used; whether it is right is
 * for lx_team_check. */
struct lx_team_plan *team_read(const struct json *j, const struct json_value *root, lx_status *st);
/* team_plan.c: bytes of all ops and exchanges, and `exact`, which come of the rest; then the hash of all. */
void team_sum_up(struct lx_team_plan *p, struct lx_team_op *ops);
void team_identify(struct lx_team_plan *p);
/* Bytes by device, and the pattern of an exchange whose box is set. */
void team_count_exchange(const struct lx_graph *g, const struct lx_team_grid *grid,
                         const struct lx_team_tensor *tensors, struct arena *memory,
                         struct lx_team_exchange *e);

#endif
