/* A run of ops as the choice of their divisions sees it: ops with their menus, accesses with a label for
 * each way to see their tensor. Private to the stage. */
#ifndef LX_NESTS_NEST_BODY_H
#define LX_NESTS_NEST_BODY_H

#include "nests/nest_divide.h"

/* Accesses of a tensor that one stay could serve. */
struct body_part {
    int32_t tensor;
    int32_t last_access; /* so far */
    bool wanted;         /* on chip it would save something */
    bool
        stuck; /* no copy in another view: there is no ring, or it is made in a nest and there for all of it */
    int before, behind;   /* labels with which it comes from outside and goes on there; -1: it does not */
    int32_t from, until;  /* ops of the run while it is there */
    int64_t saved;        /* bytes, if it is on chip */
    int64_t least;        /* bytes of a core, however its ops are divided */
    int64_t fills;        /* how often it is filled */
    int64_t before_bytes; /* of a core, of what comes from outside */
};

struct body_access {
    int32_t of;           /* its part */
    int32_t op;           /* of the run */
    int32_t from, to;     /* ops of the run while it is there */
    int32_t previous;     /* access of the part; -1: the first */
    const int *label;     /* per choice of the op; -1: no buffer can be so */
    const int64_t *bytes; /* per choice: a core's part */
    int64_t lost;         /* of a core, if it cannot be on chip */
    int gives_way;        /* of an output: an input that it may be written over, by operand; -1: none */
};

/* A choice of the menu with what it takes; by memory: if all that is not wanted on chip goes through HBM. */
struct body_choice {
    int number;
    double us;
};

struct body {
    const struct draft *x;
    struct nest_views *views; /* whose numbers are labels */
    int32_t *last_part;       /* per tensor: 1 + its last part so far */
    int32_t first, op_count, part_count, access_count;
    struct nest_menu *menus;      /* per op */
    struct body_choice **choices; /* per op: those of its menu, the quickest first */
    double *times;                /* per op: iterations */
    int32_t *access_at;           /* per op, and one more */
    struct body_access *accesses; /* by op, operands in order */
    struct body_part *parts;
    int64_t *load; /* per op: of what else is there */
    int64_t capacity;
    bool by_memory;
};

void nest_body_make(const struct draft *x, int32_t first, int32_t last, struct nest_menus *menus,
                    struct arena *memory, struct body *out);

#endif
