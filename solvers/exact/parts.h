/* A problem falls apart in time, as far as no charge or group ties the pieces together. */
#ifndef LX_SOLVERS_EXACT_PARTS_H
#define LX_SOLVERS_EXACT_PARTS_H

#include "exact/model.h"

struct parts {
    const struct lx_problem *p;
    int32_t count;
    int32_t *members, *first;  /* part k: members[first[k]] to members[first[k + 1] - 1], by start */
    struct lx_charge *charges; /* by part */
    struct lx_group *groups;
    int32_t *charge_first, *group_first;
    int64_t paid;  /* for buffers of no part */
    bool hopeless; /* a buffer that must be placed cannot be */
};

/* The problem with the bonds of one part only, and the buffers that belong to it. */
struct part {
    struct lx_problem p;
    const int32_t *members;
    int32_t count;
};

/* Buffers of no size that nothing is tied to get their addresses. */
void parts_find(struct parts *parts, const struct lx_problem *p, int64_t *address);
struct part parts_take(const struct parts *parts, int32_t k);
void parts_free(struct parts *parts);

#endif
