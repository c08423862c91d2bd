/* The layout that every map of a plan reads (terminal, text, SVG, page, traces): pools as bands of one
 * axis of addresses, lives in lanes, and the order of buffers off chip.
 *
 * * The first pool is on top, every band below a heading. A picture address is the address in the pool
 * plus the base of its band. A plan of one pool has one band at 0 without a heading, so that both are the
 * same there. Bands and headings follow each other without gaps from 0 to `top`. */
#pragma once

#include "base/base.h"
#include "plan/plan.h"

/* Picture addresses of a heading: any number that a row's cells can divide. */
enum { HEADING = 4 };

struct band {
    const char *name; /* NULL: the only pool, without a name */
    int64_t base;
    int64_t shown;    /* bytes shown in a full picture */
    int64_t height;   /* bytes of the pool, at least `shown` */
    int64_t capacity; /* LX_NO_LIMIT: none */
    int64_t peak;     /* most bytes in use at once */
};

struct bands {
    struct band *at; /* by pool */
    int32_t count;
    int64_t top;   /* the end of a full picture */
    int64_t limit; /* the end of the last pool: above `top` if most of a single pool is empty */
};

void bands_make(const struct lx_plan *p, struct bands *out);
void bands_free(struct bands *b);

/* [from, to) of something, in ticks, rows or cells, and its lane. */
struct laned {
    int64_t from, to;
    int32_t who;
    int lane; /* -1: none free */
};

/* Sorts by begin, longer ones first, and gives each the first free lane of `most`. Returns the lanes used.
 * O(count * lanes). */
int lanes_sweep(struct laned *all, size_t count, int most);

/* Lanes of the strip of buffers off chip below a map, the most expensive first. O(placed) per life. */
enum { MOST_LANES = 10, MOST_IN_LANES = 300 };

struct lanes {
    int most; /* at most MOST_LANES; other fields start as zeros */
    int used;
    int32_t left_over; /* lives without a lane */
    int32_t count;
    struct laned at[MOST_IN_LANES];
};

/* The lane of `who` during [from, to), or -1. */
int lanes_place(struct lanes *l, int32_t who, int64_t from, int64_t to);

/* Buffers off chip that could have been on chip, most expensive first, then buffers that must stay in HBM.
 * Allocated; `*count` buffers. */
int32_t *off_chip_by_cost(const struct lx_plan *p, int32_t *count);

/* The `most` largest buffers (0: all), by number; ties go to the first. Allocated. */
int32_t *largest_buffers(const struct lx_plan *p, int32_t most, int32_t *count);

/* plan_svg.c: the map as a self-contained drawing without scripts or fonts. Sizes of 0: the defaults. In a
 * page it has no XML head, and only the `most` largest buffers (0: all). */
void plan_svg(const struct lx_plan *p, int width, int height, bool in_page, int32_t most, struct text *out);
/* A name or text from a file, printable and escaped, shortened to `columns` (0: never). */
void text_xml_name(struct text *t, const char *s, int columns);
/* A name inside a rectangle of a drawing, if at least three letters fit. */
void svg_add_label(const char *name, double x, double y, double width, double height, struct text *t);
