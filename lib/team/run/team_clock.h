/* The time line of a team: op times by each device's plan, and times on links (team/team_links.c). A device
 * works on while its messages travel, and waits at a receive. */
#pragma once

#include "team/run/team_plans.h"

/* Data that a device receives under one tag: in an exchange, or a combine round. */
struct lx_team_trip {
    int tag;
    unsigned axes; /* bits of the axes used; 0: only from itself */
    int64_t bytes;
    int32_t first_message, end_message; /* range of the device's messages with this tag */
    double begin, end; /* on the links; two trips to one device over one axis do not overlap */
};

struct lx_team_clock {
    double us; /* when the last device ends */
    int devices;
    struct lx_team_times {
        double us, busy_us, waited_us; /* end, time in ops, time waiting for others */
        double link_us;                /* time of its exchanges on links, hidden behind ops or not */
        int ops;
        double *begin, *end; /* per op of its plan; a receive begins when its wait begins */
        double *works;       /* per op: when its wait ends */
        int32_t *trip;       /* per op: the trip of a receive; -1: none */
        int32_t *last_send;  /* per tag: the last op that sends; -1: none */
        struct lx_team_trip *trips;
        int trip_count;
    } * at; /* shared lists for devices that have one plan and send nothing */
    struct arena *memory;
};

/* The caller frees the result. */
struct lx_team_clock *lx_team_clock_make(const struct lx_team_plans *p);
void lx_team_clock_free(struct lx_team_clock *c);
