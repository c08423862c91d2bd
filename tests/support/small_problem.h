/* Small random placement problems for the tests of solvers, and their answers by brute force. */
#ifndef LX_TESTS_SUPPORT_SMALL_PROBLEM_H
#define LX_TESTS_SUPPORT_SMALL_PROBLEM_H

#include "base/rng.h"
#include "placement/problem.h"

#include <stdio.h>
#include <string.h>

enum { SMALL_MAX = 32 };

struct small {
    struct lx_problem problem;
    struct lx_buffer buffer[SMALL_MAX];
    int64_t uses[SMALL_MAX][2];
    int32_t parents[SMALL_MAX][SMALL_MAX];
    char name[SMALL_MAX][16];
};

/* Of a given tightness, with everything the data model allows: empty, barred, fixed and aligned buffers,
 * in-place edges. */
void small_dense(struct small *s, struct rng *rng, int32_t count, enum lx_objective objective, int64_t ticks,
                 int64_t max_size, int64_t capacity);
bool small_chance(struct rng *r, uint64_t percent);

/* Few buffers of few sizes, so that brute force ends soon; the shape of the problem (alignment, fixed,
 * barred, edges) varies with the random numbers. */
void small_random(struct small *s, struct rng *r, int32_t n, enum lx_objective objective);

struct brute {
    const struct lx_problem *p;
    int64_t address[SMALL_MAX], best, limit;
};

/* A second child on a slot meets the first one on the tick of the handover, so pairs say it all. */
bool brute_clash(const struct brute *t, int32_t a, int32_t b);

/* The least spill, the least height (`limit` high at most), or 0 if everything fits;
 * INT64_MAX: impossible. */
int64_t brute_force(const struct lx_problem *p, int64_t limit);

/* The optimum: least spill, or least height (INT64_MAX when fixed addresses collide). For LX_FIT the
 * least number of buffers off chip among those that may be placed. */
int64_t small_optimum(const struct lx_problem *p);

#endif
