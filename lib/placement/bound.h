/* Shared by the files of the bound: the overfull sections of a problem, without addresses. */
#pragma once

#include "base/base.h"
#include "placement/problem.h"

/* A buffer that may be placed, in units; a child is left out of its handover tick. */
struct bound_item {
    int64_t start, end, units, cost;
    int32_t buffer;      /* breaks ties */
    int32_t first, last; /* overfull sections that hold it; first > last: none */
};

/* A tick whose live items exceed the capacity; no later section contains all of them. */
struct bound_section {
    int64_t tick, oldest; /* oldest: least start of a live item */
    int64_t need;         /* units that must go, > 0 */
    int64_t forced;       /* cost that this section alone forces */
};

struct bound_sections {
    struct bound_item *items; /* cheapest per unit first */
    struct bound_section *sections;
    int32_t item_count, section_count;
    int64_t capacity;  /* in units */
    int64_t cost_step; /* divides every cost */
};

/* The bound by multipliers on all sections at once; certified in integers. */
int64_t bound_multipliers(const struct bound_sections *s);

int64_t bound_plain(const struct lx_problem *p);
/* bound_relax.c: the bound of a problem that is not a plain list; INT64_MAX: no legal answer exists. */
int64_t bound_parts(const struct lx_problem *p);
