/* One member's run of a team plan, on a device of its own. Private to the stage. */
#ifndef LX_TEAM_RUN_TEAM_DEVICE_H
#define LX_TEAM_RUN_TEAM_DEVICE_H

#include "base/vec.h"
#include "team/run/device_plans.h"
#include "team/run/team_run.h"

struct kept_message {
    int tag;
    struct lx_message what;
};

struct team_member {
    const struct lx_team_plan *p;
    const struct lx_team_run_options *how;
    struct lx_link *link;
    const struct lx_team_member *does;
    const struct lx_plan *plan;
    struct lx_team_member *own_does; /* if it was made here */
    const struct lx_plan *own_plan;
    struct pool *pool;
    VEC(struct lx_flight *) sent;  /* sends under way */
    struct lx_message *in, *out;   /* per member */
    VEC(struct kept_message) kept; /* that the member has for itself */
    void **outputs;                /* per tensor of the team's graph: items of the own block; NULL: none */
    int32_t tick;
    bool spoilt; /* the fault has happened */
    struct lx_team_account account;
    lx_status st;
};

bool team_member_begin(struct team_member *m, lx_status *st);
/* team_agree.c: finds its plan, and sees that all have the same. */
bool team_member_agree(struct team_member *m, lx_status *st);
/* The ops of its graph on its device. */
bool team_member_run(struct team_member *m, lx_status *st);
void team_member_end(struct team_member *m);
/* For tests: is this where the member stops? Then `st` is set. */
bool team_misbehave(struct team_member *m, enum lx_team_phase phase, lx_status *st);

/* team_account.c */
struct lx_counters team_planned_counters(const struct lx_plan *plan);
void team_take_account(struct team_member *m, const struct lx_run_result *r);

/* team_message.c: a send or a receive of the member's graph, as the device's host does it. */
lx_host_op team_host_op;
/* Messages of a tag both ways, waited for at once. */
bool team_swap(struct team_member *m, int tag, lx_status *st);
bool team_message_room(struct lx_message *one, int64_t bytes,
                       lx_status *st); /* zeros; replaces what it had */
void team_messages_clear(struct team_member *m);

/* team_gather.c. On member 0, `whole` (per tensor) becomes the items of every output of the graph, and `accounts`
 * (per member) what everyone did. */
bool team_gather_outputs(struct team_member *m, void **whole, lx_status *st);
bool team_gather_accounts(struct team_member *m, struct lx_team_account *accounts, lx_status *st);

/* team_compare.c: runs the whole graph on one device. */
bool team_compare(const struct lx_team_plan *p, const struct lx_team_run_options *how, void *const *whole,
                  struct lx_team_result *r, lx_status *st);

#endif
