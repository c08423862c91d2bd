/* One device's run of a team plan. Private to the stage. */
#ifndef LX_TEAM_RUN_TEAM_DEVICE_H
#define LX_TEAM_RUN_TEAM_DEVICE_H

#include "base/vec.h"
#include "team/run/team_plans.h"
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
    VEC(struct kept_message) kept; /* messages to itself */
    void **outputs;                /* per tensor of the team's graph: items of the own block; NULL: none */
    int32_t tick;
    bool spoilt; /* the fault has happened */
    struct lx_team_account account;
    lx_status st;
};

/* team_agree.c: finds its plan, and sees that all have the same. */
bool team_device_agree(struct team_device *m, lx_status *st);
/* team_run.c */
struct lx_counters team_planned_counters(const struct lx_plan *plan);
/* Runs the ops of its graph on its device. */
bool team_device_run(struct team_device *m, lx_status *st);
/* For tests: is this where the device stops? Then `st` is set. */
bool team_misbehave(struct team_device *m, enum lx_team_phase phase, lx_status *st);

/* team_message.c: a send or a receive of the device's graph, as the device's host does it. */
lx_host_op team_host_op;
/* Messages of a tag both ways, waited for at once. */
bool team_swap(struct team_device *m, int tag, lx_status *st);
/* Zeros; replaces the data it had. */
void team_message_room(struct lx_message *one, int64_t bytes);
void team_messages_clear(struct team_device *m);
/* Bytes of the items of a box, in host order. */
int64_t team_items_bytes(enum lx_dtype dtype, const struct lx_team_box *box);
/* A box of a tensor of `shape` (items in host order) from, or to, a row of items. */
void team_items_take(const void *items, const int64_t *shape, const struct lx_team_box *box,
                     enum lx_dtype dtype, void *row);
void team_items_put(void *items, const int64_t *shape, const struct lx_team_box *box, enum lx_dtype dtype,
                    const void *row);

/* On device 0, `whole` (per tensor) becomes the items of every output of the graph, and `accounts`
 * (per device) the accounts of all. */
bool team_gather_outputs(struct team_device *m, void **whole, lx_status *st);
bool team_gather_accounts(struct team_device *m, struct lx_team_account *accounts, lx_status *st);

/* team_compare.c: runs the whole graph on one device. */
bool team_compare(const struct lx_team_plan *p, const struct lx_team_run_options *how, void *const *whole,
                  struct lx_team_result *r, lx_status *st);

#endif
