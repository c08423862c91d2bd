/* Plans with nests, changed in memory, where no reader stands before the checker: a copy of what may be changed, and ways to
 * change it. */
#ifndef LX_TESTS_SUPPORT_NEST_FORGERY_H
#define LX_TESTS_SUPPORT_NEST_FORGERY_H

#include "unstable.h"
#include "base/memory.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

struct forgery {
    struct lx_plan plan;
    struct lx_divisions divisions;
    struct lx_nest *nests;
    signed char (*vars)[LX_MAX_LEVELS]; /* of the nest that is changed, an op more on both sides */
    struct lx_stay *stays;
    struct lx_access *accesses;
    struct lx_transfer *transfers;
    struct lx_buffer *buffers;
    int64_t *address;
    struct lx_op_launch *launches;
    struct lx_launch launch; /* of the op whose launch is changed */
    struct rng *rng;
};

void forge_begin(struct forgery *f, const struct lx_plan *p, struct rng *r);
void forge_end(struct forgery *f);

struct nest_forger {
    const char *name;
    bool (*act)(struct forgery *f);
    bool never; /* no plan is legal after it */
};

enum { FORGERIES = 20 };
extern const struct nest_forger forgeries[FORGERIES];

#endif
