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
/* team_read.c: the plan as the file states it. Whatever it says is safe to be used; whether it is right is for
 * lx_team_check. */
struct lx_team_plan *team_read(const struct json *j, const struct json_value *root, lx_status *st);
/* grid_lists.c: parts of a file in the making of a plan. Ranges of the variables that `from` has, or NULL; what each axis cuts
 * of `count` things; the bounds of one dimension, from place `at` of their list on; the grid; is a core where ops run? */
const struct lx_team_space *team_take_ranges(const struct lx_team_plan *p, const struct int_list *list,
                                             const struct lx_team_space *from, const int64_t *extent);
bool team_take_axes(const struct lx_team_plan *p, int64_t one, const struct int_list *all, int count,
                    int parts, int cut[LX_TEAM_AXES]);
bool team_take_bounds(const struct lx_tensor *tensor, int dim, int blocks, const struct int_list *list,
                      int32_t *at, struct lx_team_tensor *out);
bool team_take_grid(struct lx_team_plan *p, const struct int_list *sizes);
bool team_lies_in(const struct lx_team_plan *p, const struct lx_team_space *core,
                  const struct lx_team_space *all);
/* team_plan.c: bytes of all ops and exchanges, and `exact`, which come of the rest; then the hash of all. */
void team_sum_up(struct lx_team_plan *p, struct lx_team_op *ops);
bool team_identify(struct lx_team_plan *p, lx_status *st);
/* Bytes by device, and the pattern of an exchange whose box is set. */
bool team_count_exchange(const struct lx_graph *g, const struct lx_team_grid *grid,
                         const struct lx_team_tensor *tensors, struct arena *memory,
                         struct lx_team_exchange *e, lx_status *st);

#endif
