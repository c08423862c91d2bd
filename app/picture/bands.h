/* The pools of a plan on one axis of addresses: a band each, the first pool on top, every band below a heading.
 *
 * A picture address is the address in the pool plus the base of its band. A plan of one pool has one band at 0 without
 * a heading, so that both are the same there. Bands and headings follow each other without gaps from 0 to `top`. */
#ifndef LX_APP_PICTURE_BANDS_H
#define LX_APP_PICTURE_BANDS_H

#include "unstable.h"
#include "picture/axis.h"

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
/* The pool at a picture address; -1: a heading. `*address`: the address in it. */
int32_t bands_pool(const struct bands *b, int64_t place, int64_t *address);
/* The pool whose heading lies at a picture address; -1: none. */
int32_t bands_heading(const struct bands *b, int64_t place);
/* An axis of [from, to) in at most `cells` cells: headings take one row of `each` cells, bands the rest in proportion,
 * and a row at least. Events, in picture addresses, are sorted and cut at where they are few enough; NULL: to scale.
 * False when memory is out, or when there are not enough cells. */
bool bands_axis(const struct bands *b, int64_t from, int64_t to, int cells, int each, int64_t grain,
                int64_t *events, int count, struct axis *out);

#endif
