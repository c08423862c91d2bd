/* The divisions of a tile that are worth a look, made once for each op and its tiles: those that are not
 * much slower than the quickest, each with what the cores see of every operand. Up to some dozen an op. */
#ifndef LX_NESTS_NEST_MENUS_H
#define LX_NESTS_NEST_MENUS_H

#include "base/vec.h"
#include "divide/divide.h"
#include "stays/draft.h"

/* Views of tensors by number: one that is equal to an earlier one of its tensor has that one's number, so
 * that they are compared once, and what it costs to come from one to another is worked out once. Up to
 * some hundred a tensor, and as long-lived as the menus of the same graph. */

/* What it takes to come from a view to the others of its tensor; below 0: not known yet. */
struct view_row {
    double *us;
    int room;
};

struct tensor_views {
    VEC(struct lx_core_view) at;
    VEC(struct view_row) rows; /* per view, as far as they were asked for */
};

struct view_place {
    int32_t tensor;
    int number;
};

struct nest_views {
    VEC(struct tensor_views) of; /* per tensor */
    VEC(struct view_place) order;
    int32_t *slots; /* by hash of tensor and view: 1 + its place in `order`; 0: free */
    size_t slot_count;
};

/* Its number among those of the tensor. */
int nest_view_number(struct nest_views *n, int32_t tensor, const struct lx_core_view *v);
/* Microseconds over the ring from a view to another. */
double nest_view_ring_us(struct nest_views *n, const struct lx_layouts *l, int32_t tensor, int from, int to);

/* What a buffer could have of an operand, for each choice of its op: held so that it has so many tiles of
 * each dimension. */
struct menu_labels {
    struct menu_labels *next;
    bool in_nest, sums_meet;
    int64_t tiles[LX_MAX_DEVICE_RANK];
    int *label;     /* per choice: the number of its view; -1: no buffer can be so */
    int64_t *bytes; /* per choice: a core's part */
    int64_t least;  /* of these */
};

struct nest_menu {
    int count, split_count, operand_count; /* count 0: it is divided as it is */
    const int64_t *splits;                 /* per choice, split_count each */
    const signed char *front; /* per choice: the variable whose slices are on neighbours; -1: by the rule */
    const struct lx_core_view *views; /* per choice, operand_count each: of a tile */
    const struct cost_parts *parts;   /* per choice */
    const double *memory_us;          /* per choice, operand_count each: of an operand that is not on chip */
    struct lx_division **made;        /* per choice: NULL until somebody asks */
    struct menu_labels **labels;      /* per operand: those that were asked for */
};

struct menu_entry {
    const char *name; /* the op by its name and by what it makes, which another may write, too */
    int32_t output;
    int64_t tiles[LX_MAX_VARS];
    struct nest_menu menu;
    size_t next; /* 1 + the one before of the same output; 0: none */
};

/* Kept for as long as plans of one graph are compared. */
struct nest_menus {
    struct arena memory; /* divisions */
    VEC(struct menu_entry) at;
    VEC(size_t) last; /* per output: 1 + its last entry; 0: none */
    struct nest_views views;
    struct arena choices; /* menus and labels: not needed when the search is over */
    /* Of those who ask: sets of nests that were planned, by hash, and effort that it took. */
    VEC(uint64_t) tried;
    bool by_memory; /* choices are weighed with the time of operands in HBM, too */
    int64_t spent;
};

/* `d`: with the nest of the op. */
void nest_menu_of(struct nest_menus *m, const struct lx_divisions *d, int32_t op, struct nest_menu *out);
/* A choice of the menu of op `op` as a division; as long-lived as the menus. */
const struct lx_division *nest_menu_division(struct nest_menus *m, const struct nest_menu *menu,
                                             const struct lx_divisions *d, int32_t op, int choice,
                                             lx_status *st);
/* Of an access of the draft, an operand of the op with this menu. As long-lived as the menus, or of
 * `memory` where the op is not up for choice. */
const struct menu_labels *nest_menu_labels(struct nest_menus *m, const struct nest_menu *menu,
                                           const struct draft *x, int32_t access, struct arena *memory);
/* All but the divisions that were made: a search is over. Menus that are asked for again are made again. */
void nest_menus_forget(struct nest_menus *m);
void nest_menus_free(struct nest_menus *m);

/* nest_divide.c: divisions of the ops in and around nests that agree. One op makes a tensor where the next reads it,
 * and the held parts fit each core. A guess, as rough as the greedy solver is quick: the caller plans with it. */

/* The ops of [first, last], of which nests are whole. `x`: a draft with the nests and holds. `divided`:
 * per op of the divided graph; those of the run are set, and live as long as the menus. */
bool nest_divide(const struct draft *x, int32_t first, int32_t last, struct nest_menus *menus,
                 const struct lx_division **divided, lx_status *st);

#endif
