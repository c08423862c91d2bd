/* The reference of a pattern, evaluated by so many threads; runs of several plans share it. */
#ifndef LX_TESTS_MADE_REFERENCE_H
#define LX_TESTS_MADE_REFERENCE_H

#include "device/reference/reference.h"
#include "kernels/thread_pool.h"

static inline struct lx_reference *made_reference(const struct lx_graph *pattern, uint64_t seed, int threads,
                                                  lx_status *st)
{
    struct pool *pool = pool_create(threads);
    struct lx_reference *r = reference_make(pattern, seed, pool, NULL, NULL, st);
    pool_destroy(pool);
    return r;
}

#endif
