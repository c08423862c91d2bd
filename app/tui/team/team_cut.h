/* A pattern sharded over the devices of a team, and lookups for the screen.
 *
 * It is made on a worker's thread from the pattern's file; solvers and scratchpads do not matter. Then
 * each device is planned with the default options, for its traffic. The graph is the file's own, while
 * other views show the one with layouts; the selection is found by name. */
#pragma once

#include "team/team_figures.h"
#include "tui/views/pattern_source.h"

/* A line of the list: an op, or an exchange before the first op that reads it. The other one is -1. */
struct team_row {
    int32_t op, exchange;
};

struct team_cut {
    int members;
    struct lx_team_grid grid;
    struct lx_team_plan *plan; /* NULL: see `st`; of a file: part of `plans` */
    lx_status st;
    struct team_row *rows;
    int row_count;
    int32_t *row_of_op;
    struct lx_team_account *planned; /* per device; NULL: the graph is too large to plan */
    struct lx_team_plans *plans;     /* the plans of devices; without times figures.clock is NULL */
    struct team_figures figures;
};

/* Over a grid. If it was not `chosen` by the user, the grid of the file's team plan or of the pattern goes
 * before it. */
void team_cut_make(const struct source_content *from, const struct lx_team_grid *grid, bool chosen,
                   struct team_cut *out);
/* Plans the devices, if the graph is small enough. */
void team_cut_plan(struct team_cut *c, const struct lx_plan_options *how);
void team_cut_free(struct team_cut *c);

/* By name; -1: there is none, or no plan. */
int32_t team_cut_op(const struct team_cut *c, const char *name);
int32_t team_cut_tensor(const struct team_cut *c, const char *name);
/* The exchange with which an op reads a tensor, else the next one of that tensor, else its last; -1: none.
 * `op` -1: the first. */
int32_t team_cut_exchange(const struct team_cut *c, int32_t tensor, int32_t op);

/* The dimension that is sharded by the first axis that shards any; -1: the tensor is replicated. */
int team_cut_along(const struct team_cut *c, int32_t tensor);
/* The part of a device along that dimension (the first, if it is replicated): its own, and the box that an
 * exchange brings. */
struct team_part {
    struct lx_team_range own, box; /* box: empty if nothing comes */
    int64_t extent;                /* of the tensor */
    int64_t left, right;           /* halos: the box before and after the own part */
    bool apart;                    /* the box does not touch the own part: it is no halo, but a repartition */
};
struct team_part team_cut_part(const struct team_cut *c, int32_t tensor, int32_t exchange, int member);
/* The block of that dimension with index `at`; 0 if the tensor is replicated. */
int team_cut_owner(const struct team_cut *c, int32_t tensor, int64_t at);
/* The values of its first loop that an op computes while data travels; false: none. */
bool team_cut_core(const struct team_cut *c, int32_t op, int member, struct lx_team_range *core);

static inline int64_t range_size(struct lx_team_range r)
{
    return r.end > r.begin ? r.end - r.begin : 0;
}
