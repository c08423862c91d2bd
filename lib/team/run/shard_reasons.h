/* Why a tensor of a team is sharded as it is: the cost of the best plan for every other shard that can be
 * stated. */
#ifndef LX_TEAM_RUN_SHARD_REASONS_H
#define LX_TEAM_RUN_SHARD_REASONS_H

#include "team/run/team_plans.h"

/*     X(id, word, help) */
#define LX_SHARD_ORIGINS(X)                                                                                  \
    X(LX_SHARD_FOUND, "found", "the search found it")                                                        \
    X(LX_SHARD_ARRIVES, "arrives", "inputs arrive sharded along their first dimensions where bytes count")   \
    X(LX_SHARD_LEFT, "left", "no time was left for shards")                                                  \
    X(LX_SHARD_IN_PATTERN, "pattern", "the pattern states it")                                               \
    X(LX_SHARD_ASKED, "asked", "--cut states it")

#define LX_SHARD_ORIGIN_ENUM(id, word, help) id,
enum lx_shard_origin { LX_SHARD_ORIGINS(LX_SHARD_ORIGIN_ENUM) LX_SHARD_ORIGIN_COUNT };
#undef LX_SHARD_ORIGIN_ENUM
const char *lx_shard_origin_word(enum lx_shard_origin origin);
const char *lx_shard_origin_help(enum lx_shard_origin origin);

/* A way to shard the tensor, and the cost of the team's plan with it. */
struct lx_shard_price {
    int shard[LX_TEAM_AXES]; /* as of lx_team_tensor */
    int64_t bytes;           /* received in all exchanges, and to combine */
    int64_t hbm_bytes;       /* planned, of the device with most */
    double us;               /* predicted */
    lx_status why;           /* not LX_OK: there is no such plan, or it was not tried, and this says why */
};

struct lx_shard_reasons {
    int32_t tensor; /* of the graph of the team's plan */
    enum lx_shard_origin origin;
    struct lx_shard_price is;
    struct lx_shard_price *others; /* the best first, those without a plan last */
    int other_count;
};

struct lx_shard_question {
    const struct lx_graph *graph; /* and with which options the plans were made of it */
    const struct lx_team_options *how;
    const struct lx_plan_options *plan;
    const struct lx_team_plans *plans;
    bool (*stop)(void *context); /* may be NULL; what is left then was not tried */
    void *context;
};

/* Searches anew for each other way; other stated shards are kept. */
void lx_shard_reasons_find(const struct lx_shard_question *q, int32_t tensor, struct lx_shard_reasons *out);
void lx_shard_reasons_free(struct lx_shard_reasons *r);
/* Is a plan of the first cost better than one of the second? By what is asked for, of equals by the other. */
bool lx_shard_better(const struct lx_shard_price *a, const struct lx_shard_price *b, bool by_time);
/* Bytes received to combine partial sums of an op. */
int64_t lx_team_combined(const struct lx_team_plan *p, int32_t op);

#endif
