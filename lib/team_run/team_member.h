/* One member's run of a team plan. Private to the stage. */
#ifndef LX_TEAM_RUN_TEAM_MEMBER_H
#define LX_TEAM_RUN_TEAM_MEMBER_H

#include "team_run/team_eval.h"
#include "team_run/team_run.h"

struct team_counts {
    int64_t messages, bytes, combine_bytes;
};

struct team_member {
    const struct lx_team_plan *p;
    const struct lx_team_run_options *how;
    struct lx_link *link;
    bool fp32;
    struct team_block *own;       /* per tensor */
    struct team_block *box;       /* per exchange */
    struct lx_flight **flight;    /* per exchange */
    struct lx_message **received; /* per exchange: packed, per member */
    int32_t *last_own, *last_box; /* the last step that needs it */
    struct lx_message *out;       /* per member: what is being sent */
    int32_t step;
    bool short_message; /* the fault has happened */
    struct team_counts counts;
};

/* Is the run to end? Then `st` says so. */
bool team_stopped(const struct lx_team_run_options *how, lx_status *st);
bool team_member_begin(struct team_member *m, lx_status *st);
bool team_member_agree(struct team_member *m, lx_status *st);
bool team_member_steps(struct team_member *m, lx_status *st);
/* On member 0, `whole` (per tensor) becomes every output of the graph. */
bool team_member_gather(struct team_member *m, struct team_block *whole, lx_status *st);
void team_member_end(struct team_member *m);

/* Messages of a tag both ways, waited for at once. */
bool team_swap(struct team_member *m, int tag, const struct lx_message *out, const struct lx_message *in,
               lx_status *st);
bool team_messages_make(struct lx_message **list, int members, lx_status *st);
bool team_message_room(struct lx_message *one, int64_t elements, bool fp32, lx_status *st);
void team_messages_clear(struct lx_message *list, int members);
void team_messages_free(struct lx_message *list, int members);
/* team_combine.c */
bool team_combine(struct team_member *m, int32_t op, lx_status *st);
/* Tags: exchanges first, then two for each combine, then outputs. Tag 0 is the agreement. */
int team_tag_exchange(const struct lx_team_plan *p, int32_t exchange);
int team_tag_combine(const struct lx_team_plan *p, int32_t op, int round);
int team_tag_output(const struct lx_team_plan *p, int32_t tensor);

#endif
