/* The time line of a team: what each member's plan says of its ops, and what links take (team/team_links.h). A member works on
 * while what it has sent travels, and waits where it receives. */
#ifndef LX_TEAM_RUN_TEAM_CLOCK_H
#define LX_TEAM_RUN_TEAM_CLOCK_H

#include "team_run/member_plans.h"

struct lx_team_clock {
    double us; /* when the last member is through */
    int members;
    struct lx_team_times {
        double us, busy_us, waited_us; /* at its end: what its ops took, and what it waited for others */
        double link_us;                /* that its exchanges took, hidden behind ops or not */
        int ops;
        double *begin, *end; /* per op of its plan; a receive begins when it is waited for */
    } * at;
    struct arena *memory;
};

/* NULL: memory is out. Free it. */
struct lx_team_clock *lx_team_clock_make(const struct lx_team_plans *p, lx_status *st);
void lx_team_clock_free(struct lx_team_clock *c);

#endif
