/* Explains a tensor's shards: the cost of the best plan for every other shard that can be stated. */
#pragma once

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
    int shard[LX_TEAM_AXES]; /* as in lx_team_tensor */
    int64_t bytes;           /* received in all exchanges and combines */
    int64_t hbm_bytes;       /* planned, largest of all devices */
    double us;               /* predicted time */
    lx_status why;           /* not LX_OK: the reason why there is no such plan, or why it was not tried */
};

struct lx_shard_reasons {
    int32_t tensor; /* tensor of the team plan's graph */
    enum lx_shard_origin origin;
    struct lx_shard_price is;
    struct lx_shard_price *others; /* best first; ways without a plan last */
    int other_count;
};

struct lx_shard_question {
    const struct lx_graph *graph; /* graph and options of the plans */
    const struct lx_team_options *how;
    const struct lx_plan_options *plan;
    const struct lx_team_plans *plans;
    bool (*stop)(void *context); /* may be NULL; after true, remaining ways are not tried */
    void *context;
};

/* Plans each other way; other stated shards stay. */
void lx_shard_reasons_find(const struct lx_shard_question *q, int32_t tensor, struct lx_shard_reasons *out);
void lx_shard_reasons_free(struct lx_shard_reasons *r);
/* Whether cost `a` is better than `b`: by time or bytes, ties by the other. */
bool lx_shard_better(const struct lx_shard_price *a, const struct lx_shard_price *b, bool by_time);
/* Bytes received to combine an op's partial sums. */
int64_t lx_team_combined(const struct lx_team_plan *p, int32_t op);
