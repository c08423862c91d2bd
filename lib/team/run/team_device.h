/* One device's run of a team plan. Private to the stage. */
#pragma once

#include "base/base.h"
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
    struct lx_team_device *own_does; /* if made here; otherwise NULL */
    const struct lx_plan *own_plan;
    struct pool *pool;
    VEC(struct lx_flight *) sent;  /* pending sends */
    struct lx_message *in, *out;   /* per device */
    VEC(struct kept_message) kept; /* messages to itself */
    void **outputs;                /* per tensor of the team's graph: elements of the own block; NULL: none */
    void **whole;                  /* per tensor of the team's graph, on device 0: the gathered elements */
    int32_t tick;
    bool spoilt; /* the fault has happened */
    struct lx_team_account account;
    lx_status st;
};

/* team_agree.c: finds the device's plan, and checks that all devices have the same. */
bool team_device_agree(struct team_device *m, lx_status *st);
/* team_run.c */
struct lx_counters team_planned_counters(const struct lx_plan *plan);
/* Runs the ops of the device's graph. */
bool team_device_run(struct team_device *m, lx_status *st);
/* For tests: whether the device fails here; sets `st` then. */
bool team_misbehave(struct team_device *m, enum lx_team_phase phase, lx_status *st);

/* team_message.c: host side of a send or receive in the device's graph. */
lx_host_op team_host_op;
/* Sends and receives messages of a tag, and waits for both. */
bool team_swap(struct team_device *m, int tag, lx_status *st);
/* Replaces the message's data by zeros. */
void team_message_room(struct lx_message *one, int64_t bytes);
void team_messages_clear(struct team_device *m);
/* Bytes of a box's elements, in host order. */
int64_t team_items_bytes(enum lx_dtype dtype, const struct lx_team_box *box);
/* Copies a box of a tensor of `shape` (elements in host order) to, or from, a packed row. */
void team_items_take(const void *items, const int64_t *shape, const struct lx_team_box *box,
                     enum lx_dtype dtype, void *row);

/* On device 0, fills `whole` (per tensor) with the elements of every graph output, and `accounts` (per
 * device) with all accounts. */
bool team_gather_outputs(struct team_device *m, lx_status *st);
bool team_gather_accounts(struct team_device *m, struct lx_team_account *accounts, lx_status *st);

/* team_compare.c: runs the whole graph on one device. */
bool team_compare(const struct lx_team_plan *p, const struct lx_team_run_options *how, void *const *whole,
                  struct lx_team_result *r, lx_status *st);
