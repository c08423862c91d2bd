/* What the plan of a team says of times and messages: step by step, per member, and per axis of the grid. All of it follows from
 * the members' plans and the team's clock (team/run/team_clock.h). Sizes: steps, members, and up to 7 sets of axes. */
#ifndef LX_APP_TEAM_TEAM_FIGURES_H
#define LX_APP_TEAM_TEAM_FIGURES_H

#include "command.h"

/* A step of the team's plan, over all members. */
struct team_step_figures {
    const struct lx_team_plan *plan;
    int32_t step;
    int64_t messages, bytes; /* between members: of a start what is sent, of a combine what is received */
    unsigned axes;           /* bits of those that they go over */
    double from,
        to; /* when the first member comes to it, and when the last is through; below 0: nobody does it */
    double waited; /* of the member that waits longest in it */
    int waiter;    /* that one; -1: nobody waits */
};

/* Messages that go over the same axes. */
struct team_link_figures {
    unsigned axes;
    int64_t messages, bytes;
    double us;   /* that trips over these axes, and others, take to the member that has most of it */
    int busiest; /* that one */
};

struct team_member_figures {
    const struct lx_team_plans *plans;
    int member;
    int64_t ops, hbm_bytes, sent_bytes; /* planned; sent: to others, in exchanges and combines */
    double busy, waited, links, beside; /* us; `beside`: of what its links take, while it computes */
    double us;                          /* when it is through */
    int32_t longest_step;               /* in which it waits longest; -1: it never waits */
    int late;                           /* the member that it then waits for; -1: nobody */
};

enum { TEAM_LINK_SETS = 1 << LX_TEAM_AXES };

struct team_figures {
    const struct lx_team_plans *plans;
    struct lx_team_clock *clock;
    struct team_step_figures *steps;
    int32_t step_count;
    struct team_member_figures *members;
    struct team_link_figures links[TEAM_LINK_SETS];
    int link_count;
    int last, waiter; /* the member that is through last, and the one that waits longest; -1: nobody waits */
};

/* False: memory is out. The plans are only looked at, and must outlive the figures. */
bool team_figures_make(const struct lx_team_plans *p, struct team_figures *out, lx_status *st);
void team_figures_free(struct team_figures *f);

/* The op of the team's graph that op `op` of a member's plan belongs to; -1: it sends, receives or joins. */
int32_t team_op_at(const struct lx_team_plans *p, int member, int op);
/* What a step is about: a tensor that travels, or an op. */
const char *team_step_name(const struct lx_team_plan *p, int32_t step);
/* "0", "0 and 1" */
void add_axes(unsigned axes, struct text *out);
/* "1, 0": where a member stands. */
void add_coordinates(const struct lx_team_grid *grid, int member, struct text *out);

#endif
