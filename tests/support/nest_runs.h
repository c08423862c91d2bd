/* Running plans with nests, and counting what of nests there was in them. */
#ifndef LX_TESTS_SUPPORT_NEST_RUNS_H
#define LX_TESTS_SUPPORT_NEST_RUNS_H

#include "support/device_plans.h"
#include "support/nest_plans.h"
#include "support/random_graph.h"
#include "support/stated_nests.h"

/* What there was of each kind. */
struct nests_seen {
    int plans, nests, levels[LX_MAX_LEVELS];
    int tiles, held, whole, blocked, in_place; /* stays */
    int sums, on_chip, come_and_go, reduced;
    int rings;
};

void see_nests(const struct lx_plan *p, struct nests_seen *s);
void say_nests(const struct nests_seen *s);

/* 1: the run is not ok, and what is wrong was said. */
int run_nests(const char *name, const struct lx_plan *p, enum lx_verify verify);

/* A random graph on some cores with some room, under random nests; NULL where there is none. */
struct lx_plan *random_nest_plan(struct rng *r, lx_status *st);

#endif
