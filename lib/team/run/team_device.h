/* One device's run of a team plan, on a device of its own. Private to the stage. */
#ifndef LX_TEAM_RUN_TEAM_DEVICE_H
#define LX_TEAM_RUN_TEAM_DEVICE_H

#include "base/vec.h"
#include "team/run/device_plans.h"
#include "team/run/team_run.h"

struct kept_message {
    int tag;
    struct lx_message what;
};

struct team_device {
    const struct lx_team_plan *p;
    const struct lx_team_run_options *how;
    struct lx_link *link;
    const struct lx_team_device *does;
    const struct lx_plan *plan;
    struct lx_team_device *own_does; /* if it was made here */
    const struct lx_plan *own_plan;
    struct pool *pool;
    VEC(struct lx_flight *) sent;  /* sends under way */
    struct lx_message *in, *out;   /* per device */
    VEC(struct kept_message) kept; /* that the device has for itself */
    void **outputs;                /* per tensor of the team's graph: items of the own block; NULL: none */
    int32_t tick;
    bool spoilt; /* the fault has happened */
    struct lx_team_account account;
    lx_status st;
};

bool team_device_begin(struct team_device *m, lx_status *st);
/* team_agree.c: finds its plan, and sees that all have the same. */
bool team_device_agree(struct team_device *m, lx_status *st);
/* The ops of its graph on its device. */
bool team_device_run(struct team_device *m, lx_status *st);
void team_device_end(struct team_device *m);
/* For tests: is this where the device stops? Then `st` is set. */
bool team_misbehave(struct team_device *m, enum lx_team_phase phase, lx_status *st);

/* team_account.c */
struct lx_counters team_planned_counters(const struct lx_plan *plan);
void team_take_account(struct team_device *m, const struct lx_run_result *r);

/* team_message.c: a send or a receive of the device's graph, as the device's host does it. */
lx_host_op team_host_op;
/* Messages of a tag both ways, waited for at once. */
bool team_swap(struct team_device *m, int tag, lx_status *st);
bool team_message_room(struct lx_message *one, int64_t bytes,
                       lx_status *st); /* zeros; replaces what it had */
void team_messages_clear(struct team_device *m);

/* team_gather.c. On device 0, `whole` (per tensor) becomes the items of every output of the graph, and `accounts`
 * (per device) what everyone did. */
bool team_gather_outputs(struct team_device *m, void **whole, lx_status *st);
bool team_gather_accounts(struct team_device *m, struct lx_team_account *accounts, lx_status *st);

/* team_compare.c: runs the whole graph on one device. */
bool team_compare(const struct lx_team_plan *p, const struct lx_team_run_options *how, void *const *whole,
                  struct lx_team_result *r, lx_status *st);

#endif
