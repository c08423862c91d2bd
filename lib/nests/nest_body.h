/* The run of ops that nest_divide.c divides: menus, parts of tensors, labels of their views, and the load of
 * other buffers. A part is a tensor from one access to another between which one stay may serve it. Private
 * to the stage. */
#pragma once

#include "nests/nest_menus.h"

struct body_part {
    int32_t tensor;
    int32_t last_access;  /* last access so far */
    bool wanted;          /* it saves traffic on chip */
    bool stuck;           /* only one view possible: no ring, or made and held in a nest */
    int before, behind;   /* labels of its views before and after the run; -1: not on chip there */
    int32_t from, until;  /* ops of the run in which it lives */
    int64_t saved, on;    /* bytes saved on chip; bytes moved all the same */
    bool cheap;           /* its first read costs less than its load */
    int64_t least;        /* least bytes per core under any division, of all its accesses */
    int64_t smallest;     /* the same of one access */
    int64_t fills;        /* how often it is filled */
    int64_t before_bytes; /* bytes per core of view `before` */
};

struct body_access {
    int32_t of;           /* index of its part */
    int32_t op;           /* op of the run */
    int32_t from, to;     /* ops of the run in which its buffer lives */
    int32_t previous;     /* previous access of the part; -1: none */
    const int *label;     /* per choice of the op; -1: no buffer possible */
    const int64_t *bytes; /* per choice: bytes per core */
    int64_t off, lost;    /* bytes moved if off chip: HBM; per core */
    bool writes;
    bool over;     /* an output that may begin in the place of some input */
    int gives_way; /* of an output: operand number of an input whose place it may take; -1: none */
};

/* A choice of the menu and its time; by_memory: with HBM time of operands that are not wanted on chip. */
struct body_choice {
    int number;
    double us;
};

struct body {
    const struct draft *x;
    struct nest_views *views; /* gives the labels */
    int32_t *last_part;       /* per tensor: 1 + its last part so far; 0: none */
    int32_t first, last, op_count, part_count, access_count;
    struct nest_menu *menus;      /* per op */
    struct body_choice **choices; /* per op: the choices of its menu, fastest first */
    double *times;                /* per op: iterations */
    int32_t *access_at;           /* per op, and one more */
    struct body_access *accesses; /* by op, operands in order */
    struct body_part *parts;
    int64_t *load; /* per op: bytes of other buffers */
    int64_t capacity, nearly_full;
    bool by_memory;
};

/* The ops [first, last] of the draft; all memory is in `memory`. */
void nest_body_make(const struct draft *x, int32_t first, int32_t last, struct nest_menus *menus,
                    struct arena *memory, struct body *out);
/* The HBM bytes of the body if its tensors agree, as far as the smallest views fit together on every tick. A
 * part consists of pieces, from one access to the next; each piece may be off chip alone. */
int64_t nest_body_least(const struct body *b, struct arena *memory);
/* Drops parts that do not fit together, and sorts the choices: for the beam. */
void nest_body_settle(struct body *b, struct arena *memory);
/* Drops the part that saves least for its size among those of op `o`. False: there is none. */
bool nest_body_drop(struct body *b, int32_t o);
