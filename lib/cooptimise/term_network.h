/* The question of terms.h as a network of whole-number tables, one variable a buffer. Private to the terms.
 *
 * Variables stand in the order in which they are decided: by the start of their lives, copies before all whom they serve. The
 * values of one are its choices off chip, then those of its choices on chip that may be. A table knows values only by classes:
 * values that no entry tells apart are one. Costs are whole numbers of 2^-shift, so that sums in any order are the same. */
#ifndef LX_COOPTIMISE_TERM_NETWORK_H
#define LX_COOPTIMISE_TERM_NETWORK_H

#include "base/arena.h"
#include "base/vec.h"
#include "cooptimise/terms.h"

/* What must not be. Finite costs stay far below in any sum of them. */
#define TERM_NEVER ((int64_t)1 << 60)

static inline bool term_is_never(int64_t cost)
{
    return cost >= TERM_NEVER / 2;
}

struct term_var {
    int32_t buffer, size; /* size: how many values */
    int32_t *choice;      /* per value */
    int64_t *bytes;       /* per value: whole units of the alignment; -1: off chip */
    int64_t start, end;
    bool may_be_on;
};

struct term_axis {
    int32_t var, size;
    const int32_t *class_of; /* per value */
};

struct term_table {
    struct term_axis *axes;   /* variables rising */
    int32_t axis_count, last; /* last: variable, -1: none */
    int64_t *values, count;
};

/* A child that may take its parent's place, and under which values: 1 or 0. */
struct term_handover {
    int32_t parent, child;
    struct term_table fits;
};

struct term_network {
    const struct lx_term_problem *p;
    struct term_var *vars;
    int32_t *var_of; /* per buffer */
    int32_t count;
    int64_t room; /* bytes that are taken at once, at most, in whole units */
    int shift;
    int64_t base; /* what terms without a variable add up to */
    VEC(struct term_table) tables;
    VEC(struct term_handover) handovers;
    struct arena memory;
};

bool term_network_make(struct term_network *n, const struct lx_term_problem *p, lx_status *st);
void term_network_free(struct term_network *n);

/* Classes of rows of `width` bytes by equality, in the order in which they come; returns how many. */
int32_t term_classes(const void *rows, size_t width, int32_t count, int32_t *class_of);
/* A table over these axes, sorted here, all 0; false: no memory. */
bool term_table_make(struct arena *memory, const struct term_axis *axes, int32_t count,
                     struct term_table *out);
/* The entry under these values, one per variable. */
int64_t term_table_at(const struct term_table *t, const int32_t *value);

/* term_rules.c: who agrees with whom, what copies need, who takes whose place. */
bool term_rules_add(struct term_network *n, lx_status *st);
/* Are all rules kept but those of addresses? */
bool term_is_legal(const struct lx_term_problem *p, const int32_t *choice, const bool *on);
/* May a child take the place of this parent under these choices? */
bool term_fits_parent(const struct lx_term_problem *p, const int32_t *choice, int32_t child, int32_t parent);

#endif
