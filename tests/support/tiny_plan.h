/* Tiny random graphs planned with some passes, and what brute force says of them. */
#ifndef LX_TESTS_SUPPORT_TINY_PLAN_H
#define LX_TESTS_SUPPORT_TINY_PLAN_H

#include "support/keep_oracle.h"
#include "base/rng.h"
#include "graph/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tiny_result {
    int64_t plain, plan, best,
        bound; /* HBM bytes: without the passes, with them, the least there is, claimed */
    bool legal;
};

struct tiny_sums {
    int graphs, gains, best, proved, wrong, worse;
};

struct lx_passes tiny_passes(const char *what);
struct lx_plan *tiny_plan(const struct lx_graph *g, struct lx_passes passes, const char *solver);

/* Tensors of 1 to 7 sticks: rows of 64 fp16 elements; 0 rows: a single one, without the dimension. */
struct tiny_tensor {
    int32_t number;
    int64_t rows;
};

bool tiny_tensor(struct graph_builder *b, struct tiny_tensor *t, int n, lx_status *st);
const struct lx_graph *tiny_graph(struct rng *r, int ops, bool reads, lx_status *st);

/* What brute force says of a graph with some passes; `plain`: its plan without any. False: it is too large for that. */
bool tiny_judge(const struct lx_graph *g, const struct lx_plan *plain, struct lx_passes passes,
                struct tiny_result *out);

/* False: there is no such graph, or it is too large for brute force. */
bool tiny_try(uint64_t seed, struct lx_passes passes, struct tiny_result *out);
void tiny_add(struct tiny_sums *s, const struct tiny_result *r);

#endif
