/* A pattern cut over the members of a team, and what a screen asks about it.
 *
 * Made on a worker's thread from the pattern's file alone: solvers and scratchpads have no say in it; then
 * each member is planned with the usual options, for the traffic of its device. The
 * graph is the file's own, while other views show the one with layouts; what is selected is found by name. */
#ifndef LX_APP_TUI_TEAM_CUT_H
#define LX_APP_TUI_TEAM_CUT_H

#include "team/team_figures.h"
#include "tui/views/pattern_source.h"

/* A line of the list: an op, or an exchange before the first op that reads it. The other one is -1. */
struct team_row {
    int32_t op, exchange;
};

struct team_cut {
    int members;
    struct lx_team_grid grid;
    struct lx_team_plan *plan; /* NULL: `st` says why; of a file: that of `plans` */
    lx_status st;
    struct team_row *rows;
    int row_count;
    int32_t *row_of_op;
    struct lx_team_account
        *planned;                /* per member; NULL: they were not planned, because there is much of it */
    struct lx_team_plans *plans; /* with it; and what they say of times: figures.clock NULL, nothing */
    struct team_figures figures;
};

/* Over a grid; where that was not `chosen`, as the plan of a team has it that the file is, or over the one that the pattern
 * states, if it states any. */
void team_cut_make(const struct source_content *from, const struct lx_team_grid *grid, bool chosen,
                   struct team_cut *out);
/* The members' planned traffic; no more than that, where it cannot be had. */
void team_cut_plan(struct team_cut *c, const struct lx_plan_options *how);
void team_cut_free(struct team_cut *c);

/* By name; -1: there is none, or no plan. */
int32_t team_cut_op(const struct team_cut *c, const char *name);
int32_t team_cut_tensor(const struct team_cut *c, const char *name);
/* The exchange with which an op reads a tensor, else the next one of that tensor, else its last; -1: it is
 * never sent. `op` -1: the first. */
int32_t team_cut_exchange(const struct team_cut *c, int32_t tensor, int32_t op);

/* The dimension that the first axis cuts that cuts any; -1: the tensor is whole. */
int team_cut_along(const struct team_cut *c, int32_t tensor);
/* What a member has of a tensor along that dimension (the first, if it is whole): own, and what an
 * exchange brings around it. */
struct team_part {
    struct lx_team_range own, box; /* box: empty where nothing comes */
    int64_t extent;                /* of the tensor */
    int64_t left, right;           /* halos: of the box, what lies before and after the own part */
    bool apart; /* the box does not touch the own part: its elements are no halo, but a repartition */
};
struct team_part team_cut_part(const struct team_cut *c, int32_t tensor, int32_t exchange, int member);
/* The block of that dimension in which index `at` is; 0 where the tensor is whole. */
int team_cut_owner(const struct team_cut *c, int32_t tensor, int64_t at);
/* The values of its first loop that an op shares with its group and computes while data travels; false: no such. */
bool team_cut_core(const struct team_cut *c, int32_t op, int member, struct lx_team_range *core);

static inline int64_t range_size(struct lx_team_range r)
{
    return r.end > r.begin ? r.end - r.begin : 0;
}

#endif
