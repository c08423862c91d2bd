/* The pools of a plan on one axis of addresses: a band each, the first pool on top, every band below a heading.
 *
 * A picture address is the address in the pool plus the base of its band. A plan of one pool has one band at 0 without
 * a heading, so that both are the same there. Bands and headings follow each other without gaps from 0 to `top`. */
#ifndef LX_EXPORT_POOL_BANDS_H
#define LX_EXPORT_POOL_BANDS_H

#include "plan/plan.h"

/* Picture addresses that a heading takes: any number that can be cut into the cells of one row. */
enum { HEADING = 4 };

struct band {
    const char *name; /* NULL: the only pool, without a name */
    int64_t base;
    int64_t shown;    /* bytes that a picture of everything shows */
    int64_t height;   /* bytes that there are, at least `shown` */
    int64_t capacity; /* LX_NO_LIMIT: none */
    int64_t peak;     /* the most that is in use at a time */
};

struct bands {
    struct band *at; /* by pool */
    int32_t count;
    int64_t top;   /* the end of what a picture of everything shows */
    int64_t limit; /* the end of what there is: more than `top` where most of a single pool is empty */
};

/* False when memory is out. */
bool bands_make(const struct lx_plan *p, struct bands *out);
void bands_free(struct bands *b);

struct life_lane {
    int64_t start, end;
    int32_t buffer, lane;
};

struct life_lanes {
    struct life_lane *at; /* by start */
    size_t count;
    int32_t lanes;
};

bool life_lanes_make(const struct lx_plan *p, struct life_lanes *out);
void life_lanes_free(struct life_lanes *l);

#endif
