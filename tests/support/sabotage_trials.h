/* Trials of damaged plan files: check and the device are asked about each.
 *
 * A change that check accepts must be harmless: the device runs the plan, all is verified, and every count is the plan's.
 * One that check refuses must be noticed by the device, unless it runs as before: the same results, the same bytes
 * moved. */
#ifndef LX_TESTS_SUPPORT_SABOTAGE_TRIALS_H
#define LX_TESTS_SUPPORT_SABOTAGE_TRIALS_H

#include "support/device_plans.h"
#include "base/memory.h"
#include "support/plan_sabotage.h"

enum { MOST_RUN_BYTES = 6 << 20 };

struct subject {
    char name[120];
    cJSON *plan;
    bool runs;                  /* small enough to be run each time */
    struct lx_run_result *good; /* of those that run */
    bool only_legal;            /* what check refuses is not run */
};

struct tally {
    int counted, unread, refused, harmless, run, unchanged, missed, unseen;
};

struct lx_run_result *run_it(const struct lx_plan *p);

/* Gives the plan back. */
void take_subject(struct subject *s, struct lx_plan *p);
void sabotage_judge(const struct subject *s, const struct sabotage *k, const char *text, struct tally *t);
bool sabotage_once(const struct subject *s, const struct sabotage *k, struct rng *r, struct tally *t);
void print_tally(const struct sabotage *table, int count, const struct tally *tally);

#endif
