/* Dense arrays of fp32 (or fp64) that operands are packed into, so that each tile is dense by itself.
 * Private to the stage.
 *
 * A layout is of a box of so many elements along each variable, in tiles. Its variables stand in the order
 * of tile_operands.h. Where a tile would not be dense in the array of the whole box, the tiles along a
 * variable are panels: arrays of their own, one behind the other. A last panel that is narrower has a whole
 * panel's room. */
#ifndef LX_DEVICE_EXECUTE_DENSE_H
#define LX_DEVICE_EXECUTE_DENSE_H

#include "device/memory/dtypes.h"
#include "device/memory/stick_box.h"

struct dense {
    int count;                                     /* of variables, */
    int order[LX_MAX_RANK];                        /* outermost first */
    int64_t width[LX_MAX_RANK], tile[LX_MAX_RANK]; /* of the box and of its tiles, by place in the order */
    bool panel[LX_MAX_RANK];
    int64_t floats; /* of all */
};

/* Strides of a part of the box: of elements within a tile, and of tiles; per variable of the op. */
struct dense_strides {
    int64_t element[LX_MAX_VARS], tile[LX_MAX_VARS];
};

/* `width` and `tile` per variable. */
void dense_make(const int *order, int count, const int64_t *width, const int64_t *tile, struct dense *out);
/* For tiles of `size` per variable: the layout's own, or narrower where it is the last. */
void dense_part(const struct dense *d, const int64_t *size, struct dense_strides *out);

/* The place of the element with these indices, per variable, from the begin of the box on. */
int64_t dense_offset(const struct dense *d, const int64_t *index);

/* All of a region of an operand, between device memory and its dense layout: as fp32 in `numbers`, or, where
 * that is not NULL, in `wide`. */
struct dense_operand {
    const struct lx_layout *l;
    const struct number_type *as; /* of wide numbers: the type that the elements are taken as */
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

#endif
