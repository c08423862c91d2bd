/* Divisions of an op's tile that are not much slower than the fastest, with their views. Made once for each
 * op and its tiles. Up to some dozen an op. */
#pragma once

#include "stays/draft.h"

/* Numbered views of tensors: equal views have equal numbers, and the cost from one view to another is
 * computed once. Up to some hundred a tensor. */

/* Relayout cost from one view to the others of its tensor; below 0: not computed yet. */
struct view_row {
    double *us;
    int room;
};

struct tensor_views {
    VEC(struct lx_core_view) at;
    VEC(struct view_row) rows; /* per view, allocated on demand */
};

struct view_place {
    int32_t tensor;
    int number;
};

struct nest_views {
    VEC(struct tensor_views) of; /* per tensor */
    VEC(struct view_place) order;
    int32_t *slots; /* hash table of tensor and view: 1 + index in `order`; 0: free */
    size_t slot_count;
};

int nest_view_number(struct nest_views *n, int32_t tensor, const struct lx_core_view *v);
double nest_view_ring_us(struct nest_views *n, const struct lx_layouts *l, int32_t tensor, int from, int to);

/* Buffers of an operand, for each choice of its op. */
struct menu_labels {
    struct menu_labels *next;
    bool in_nest, sums_meet;
    int64_t tiles[LX_MAX_DEVICE_RANK];
    int *label;     /* per choice: the number of its view; -1: no buffer possible */
    int64_t *bytes; /* per choice: bytes per core */
    int64_t least;  /* least of `bytes` */
};

struct nest_menu {
    int count, split_count, operand_count; /* count 0: the op keeps its division */
    const int64_t *splits;                 /* per choice, split_count each */
    /* per choice: the variable whose slices are on neighbouring cores; -1: by the default rule */
    const signed char *front;
    const struct lx_core_view *views; /* per choice, operand_count each: views of a tile */
    const struct cost_parts *parts;   /* per choice */
    const double *memory_us;          /* per choice, operand_count each: HBM time if off chip */
    struct lx_division **made;        /* per choice: NULL until requested */
    struct menu_labels **labels;      /* per operand: list of the labels made so far */
};

struct menu_entry {
    const char *name; /* name and output identify the op: another op may write the same output */
    int32_t output;
    int64_t tiles[LX_MAX_VARS];
    struct nest_menu menu;
    size_t next; /* 1 + the previous entry of the same output; 0: none */
};

/* Lives as long as plans of one graph are compared. */
/* A set of nests that was planned, in the last round that came to it. */
struct nest_tried {
    uint64_t hash, divided; /* of its decisions; of the divisions that it began with */
    int64_t least, spent;   /* it moves no less, INT64_MAX: it has no plan; its effort */
    int round;
};

struct nest_menus {
    struct arena memory; /* owns the divisions */
    VEC(struct menu_entry) at;
    VEC(size_t) last; /* per output: 1 + its last entry; 0: none */
    struct nest_views views;
    struct arena choices; /* owns menus and labels, which the search alone needs */
    /* For the search: the nest sets planned so far, and the effort spent. In each round a set is tried once. */
    VEC(struct nest_tried) tried;
    int round;
    bool by_memory;         /* choices are also compared by HBM time of operands */
    bool overfull, sparing; /* a division had no room for all parts; the next one drops such parts */
    int64_t most_cores;     /* of a division; 0: all of the device */
    int64_t spent, news_at; /* news_at: effort when a set last moved less than all before */
    int64_t least;          /* bytes of that set; 0: none yet */
};

/* Finds or makes the menu of op `op`. `d`: divisions with the nest of the op. */
void nest_menu_of(struct nest_menus *m, const struct lx_divisions *d, int32_t op, struct nest_menu *out);
/* The division of a choice of the menu of op `op`; lives as long as the menus. */
const struct lx_division *nest_menu_division(struct nest_menus *m, const struct nest_menu *menu,
                                             const struct lx_divisions *d, int32_t op, int choice,
                                             lx_status *st);
/* Labels of an access of the draft, an operand of the op with this menu. They lie in `memory` if the op has
 * no choice. */
const struct menu_labels *nest_menu_labels(struct nest_menus *m, const struct nest_menu *menu,
                                           const struct draft *x, int32_t access, struct arena *memory);
/* Frees everything but the divisions, at the end of a search. Menus are made again on request. */
void nest_menus_forget(struct nest_menus *m);
void nest_menus_free(struct nest_menus *m);

/* nest_divide.c: chooses divisions of the ops in and around nests that agree with each other. The costs are
 * guesses; the caller plans the result in full. */

/* Sets divided[op] for the ops of [first, last], which contains whole nests. The divisions live as long as
 * the menus. `*useless`: they would move more than `below` bytes, whatever is chosen; then nothing is. */
bool nest_divide(const struct draft *x, int32_t first, int32_t last, struct nest_menus *menus, int64_t below,
                 const struct lx_division **divided, bool *useless, lx_status *st);
