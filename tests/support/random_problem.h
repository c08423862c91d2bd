/* Random placement problems that keep the data model: in-place chains, siblings, smaller children, fixed
 * and barred buffers, alignments, zero sizes, equal and long lives.
 * The same stream gives the same problem. */
#ifndef LX_TESTS_SUPPORT_RANDOM_PROBLEM_H
#define LX_TESTS_SUPPORT_RANDOM_PROBLEM_H

#include "unstable.h"
#include "base/arena.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>

struct problem_shape {
    int32_t count;
    int64_t ticks, size_units, capacity_units, alignment;
    int fixed_percent, barred_percent;
};

bool random_chance(struct rng *r, int percent);

/* `*memory` owns the result. */
struct lx_problem random_problem(struct rng *r, const struct problem_shape *s, enum lx_objective objective,
                                 struct arena *memory);
bool is_parent_of(const struct lx_problem *p, int32_t parent, int32_t child);
bool live_together(const struct lx_buffer *a, const struct lx_buffer *b);

/* The rule for two placed buffers, by the words of problem.h alone. */
bool pair_is_legal(const struct lx_problem *p, int32_t i, int64_t at_i, int32_t k, int64_t at_k);

/* Fixed addresses that exclude each other are let go, so that a complete placement exists. */
void reconcile_fixed(struct lx_problem *p, struct arena *memory);

/* As a list that can be planned; borrows the problem's buffers. */
char *problem_as_pattern(const struct lx_problem *p, size_t *length);
void print_problem(const struct lx_problem *p, uint64_t seed);

#endif
