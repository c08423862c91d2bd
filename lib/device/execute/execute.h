/* One op on its cores. Private to the stage. */
#pragma once

#include "device/execute/arith.h"

#include "device/memory/machine.h"
#include "graph/choice.h"
#include "loops/nest_of_op.h"

/* Dense arrays of fp32 (or fp64) into which operands are packed, so that each tile is dense by itself.
 *
 * A layout is for a box of so many elements along each variable, in tiles. Its variables stand in the order
 * of loops/nest_of_op.h. Where a tile would not be dense in the array of the whole box, the tiles along a
 * variable are panels: arrays of their own, one behind the other. A narrower last panel has a whole panel's
 * room. */
struct dense {
    int count;                                     /* of variables */
    int order[LX_MAX_RANK];                        /* outermost first */
    int64_t width[LX_MAX_RANK], tile[LX_MAX_RANK]; /* of the box and of its tiles, by place in the order */
    bool panel[LX_MAX_RANK];
    int64_t floats; /* of the whole array */
};

/* Strides of a part of the box, per variable of the op: of elements within a tile, and of tiles. */
struct dense_strides {
    int64_t element[LX_MAX_VARS], tile[LX_MAX_VARS];
};

/* `width` and `tile` per variable. */
void dense_make(const int *order, int count, const int64_t *width, const int64_t *tile, struct dense *out);
/* Strides for tiles of `size` per variable: the layout's own tile, or the narrower last one. */
void dense_part(const struct dense *d, const int64_t *size, struct dense_strides *out);

/* Offset of the element with these indices, per variable, from the begin of the box. */
int64_t dense_offset(const struct dense *d, const int64_t *index);

/* A region of an operand, to be moved between device memory and its dense layout: as wide numbers if `wide`
 * is not NULL, else as fp32 in `numbers`. */
struct dense_operand {
    const struct lx_layout *l;
    const struct number_type *as; /* for wide numbers: the type of the elements */
    const struct region *region;
    void *at; /* the begin of the region's box */
    const struct op_index *x;
    int operand;
    const struct dense *layout;
    float *numbers;
    wide_number *wide;
};
void dense_gather(const struct dense_operand *o);
void dense_scatter(const struct dense_operand *o);

/* Tiles of a core put together.
 *
 * A core's persistent loop gives one tile after the other; thousands of them are as small as one row of a
 * stick. Tiles that follow each other and make up a box are kept as one strip: the box and the sides of its
 * tiles, which are all equal but for the last along each variable. A strip has only recovered tiles, each
 * once.
 *
 * Sizes: usually one strip per core, a few where a run of tiles begins inside a row; at worst one per
 * tile. */

struct strips {
    int vars;
    size_t count, room;
    int64_t *at; /* per strip: `vars` times from, to, and the side of a tile */
};

struct strip {
    const int64_t *from, *to, *tile;
};

static inline struct strip strip_at(const struct strips *s, size_t i)
{
    const int64_t *at = s->at + i * 3 * (size_t)s->vars;
    return (struct strip){at, at + s->vars, at + 2 * s->vars};
}

void strips_free(struct strips *s);

/* The work of one core, by its launch. */
struct core_work {
    struct place *place; /* per operand */
    struct strips strips;
    bool outside; /* its arguments lead outside the grid */
    bool endless; /* it has more turns than the op has elements */
};

/* One strip of one core. */
struct strip_work {
    int64_t core;
    struct strip strip;
    struct slice slice;    /* the same box, offset by the iteration */
    int32_t group;         /* its part of a split sum; 0: the first, which collects */
    uint64_t usable;       /* bit per operand: the core can reach it; else a fault, and zeros are read */
    bool writes;           /* false: another core of its group writes for it */
    struct region written; /* of the output */
    struct dense layout;   /* of `out` */
    float *out;            /* the computed output */
    wide_number *wide;     /* the same for ops in fp64 or whole numbers; else NULL */
};

/* The nest of a tile of one shape, through all passes. */
struct tile_nest {
    struct tile_nest *next;
    struct lx_op_nest made; /* by lx_nest_of_tile */
    struct lx_loops nest;   /* after the passes */
    int64_t size[LX_MAX_VARS];
};

struct op_work {
    struct machine *m;
    const struct lx_op *op;
    struct op_index x;           /* of the tile */
    int64_t offset[LX_MAX_VARS]; /* of the tile in the whole iteration space */
    int64_t terms;               /* terms of a whole sum */
    unsigned summed;             /* levels of its nest over which it sums: each iteration continues the sum */
    const struct lx_op_launch *launch;
    const struct arith *arith;
    const struct wide_arith *wide; /* for ops that do not compute in fp32; else NULL */
    enum op_class class;
    struct lx_choice choice; /* for ops that choose */
    row_function *row;       /* instead of the kind's own; NULL: the kind's */
    bool nests;              /* tiles are computed by loop nests: contractions and moves */
    int operands, out;       /* of all results; `out` is the result of this op_work */
    struct lx_op one;        /* the op with that result alone, if it has several */
    struct op_work *results; /* op_work of all results */
    int result_count;
    int64_t cores; /* of the device */
    struct core_work *core;
    size_t strip_count;
    struct strip_work *strip; /* core by core */
    int32_t groups;           /* groups of cores with parts of sums; 1: sums are whole */
    bool alone;               /* each tile is a strip of its own: groups dealt out their tiles differently */
    bool shared;              /* several cores write one element: a fault, and they must not write at once */
    struct tile_nest *shapes;
};

/* walk.c: do the arguments of the launch agree with each other? And is the launch right for an op that is one
 * piece, or runs off the device? */
void check_arguments(struct machine *m);
void check_whole(struct machine *m);
/* Walks the persistent loop of every core; sets the strips. */
void walk_launch(struct op_work *w);
/* coverage.c: is every element computed once per group? If not, adds faults. Sets groups. */
void check_coverage(struct op_work *w);
/* strip_compute.c: fills `out` of every strip from the operands. */
void compute_strips(struct op_work *w);
/* Allocates a strip's result; computes a part of the strip at once. */
void strip_prepare(struct op_work *w, struct strip_work *s);
void strip_chunk(struct op_work *w, size_t strip, const struct slice *part);
/* pick_rows.c: the same for ops that choose by indices; and the HBM bytes of the tensor that they choose
 * from. */
void compute_choice(struct op_work *w);
int64_t chosen_hbm_bytes(const struct op_work *w);
/* partial_sums.c: adds the groups' partial sums, over the reduce ring. */
void join_partials(struct op_work *w);
/* Adds the sums of earlier tiles. */
void add_to_sums(struct op_work *w);
/* Means are divided when all is added. */
void divide_means(struct op_work *w);
/* Counts the reduce-ring bytes of partial sums; after all writes, as it uses the marks of touched sticks. */
void count_partials(struct op_work *w);
/* Does each group have the same strips? If not, their parts cannot be added. */
bool partials_meet(struct op_work *w);

/* One chunk of a strip, for one thread. */
struct chunk {
    struct op_work *w;
    struct strip_work *strip;
    struct slice slice;
    struct dense layout[LX_MAX_INPUTS];
    float *operand[LX_MAX_INPUTS];    /* dense, in `layout` */
    wide_number *wide[LX_MAX_INPUTS]; /* the same for ops that do not compute in fp32 */
};

typedef void leaf_function(struct chunk *c);
/* row_leaves.c: rows of elements, and rows that become one number. nest_leaf.c: loop nests. */
/* pick_rows.c: rows in order. */
leaf_function leaf_ranking;
void compute_ranking(struct op_work *w);
/* pick_rows.c: choices in fp64 and whole numbers. */
leaf_function leaf_wide_choice;
leaf_function leaf_pointwise, leaf_reduction, leaf_nest, leaf_places;
/* window_leaf.c: terms of windows, multiplied and added or folded; a mean's divisor differs by element. */
leaf_function leaf_window_products, leaf_window_fold;
/* Narrows the input's variables to the reach of the slice's windows. */
void narrow_windows(const struct op_index *x, struct slice *s);
void divide_window_means(const struct op_work *w, const struct strip_work *s);
/* wide_leaves.c: the same in fp64 and whole numbers, and joining partial results. */
leaf_function leaf_wide, leaf_wide_windows;
void wide_join(const struct op_work *w, wide_number *to, const wide_number *from, int64_t count);
/* Is the op a reduction or contraction? */
bool work_folds(const struct op_work *w);
/* nest_leaf.c: makes the nests of all tile shapes of a strip. */
void prepare_nests(struct op_work *w, const struct strip_work *s);

/* execute_bytes.c: an op known by its operands only. */
void execute_bytes(struct machine *m);

/* Values that the op of this tick means: in an input; in a result; before it, in an output that it keeps. */
int32_t value_wanted(const struct machine *m, int input);
int32_t value_made(const struct machine *m, int operand);
/* Does the strip write its part of the output? */
bool work_writes(const struct op_work *w, const struct strip_work *s);
/* A region of an operand of the strip, to gather or scatter. */
struct dense_operand work_operand(const struct op_work *w, const struct strip_work *s, int operand,
                                  const struct region *r, const struct dense *layout, float *numbers,
                                  wide_number *wide);
/* Bytes of whole sticks; at most the tensor's bytes if it is known by its bytes. */
int64_t sticks_to_bytes(const struct machine *m, int32_t tensor, int64_t sticks);

/* Rows of the operands of a chunk, where an op has no nest. */

/* An odometer over some variables, with the offsets in several arrays: the output, then inputs. */
enum { MOST_ARRAYS = LX_MAX_OPERANDS };

struct odometer {
    int count, arrays;
    int64_t extent[LX_MAX_VARS], at[LX_MAX_VARS];
    int64_t step[MOST_ARRAYS][LX_MAX_VARS];
    int64_t offset[MOST_ARRAYS];
};

/* The state of a leaf for one chunk. */
struct rows {
    struct chunk *c;
    struct dense_strides strides[MOST_ARRAYS];
    int64_t first; /* offset of the chunk's first element in the strip's output */
    struct odometer odometer;
};

struct rows *rows_make(struct chunk *c);
int64_t rows_width(const struct chunk *c, int v);
/* Adds a variable, inside the earlier ones. */
void odometer_add(const struct rows *r, struct odometer *o, int v);
/* False: that was the last; the odometer begins again. */
bool odometer_next(struct odometer *o);
