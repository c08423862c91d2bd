/* The time line of a team: times of ops by each device's plan, and times on links (team/team_links.c). A
 * device works on while its messages travel, and waits where it receives. */
#ifndef LX_TEAM_RUN_TEAM_CLOCK_H
#define LX_TEAM_RUN_TEAM_CLOCK_H

#include "team/run/team_plans.h"

/* What a device receives by one tag: of an exchange, or of a round of combining. */
struct lx_team_trip {
    int tag;
    unsigned axes; /* bits of those that it goes over; none: it comes from nobody else */
    int64_t bytes;
    int32_t first_message, end_message; /* the device's of this tag lie between these */
    double begin, end; /* on the links; two trips to one device over one axis are one after the other */
};

struct lx_team_clock {
    double us; /* when the last device is through */
    int devices;
    struct lx_team_times {
        double us, busy_us, waited_us; /* at its end: what its ops took, and what it waited for others */
        double link_us;                /* that its exchanges took, hidden behind ops or not */
        int ops;
        double *begin, *end; /* per op of its plan; a receive begins when it is waited for */
        double *works;       /* per op: when it has what it waits for */
        int32_t *trip;       /* per op: of a receive, which one; -1: none */
        int32_t *last_send;  /* per tag: the op that sends the last of it; -1: none */
        struct lx_team_trip *trips;
        int trip_count;
    } * at; /* the same lists for devices that have one plan and send nothing */
    struct arena *memory;
};

/* Free it. */
struct lx_team_clock *lx_team_clock_make(const struct lx_team_plans *p);
void lx_team_clock_free(struct lx_team_clock *c);

#endif
