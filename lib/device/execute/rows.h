/* Rows of the operands of a chunk, where an op has no nest. Private to the stage. */
#ifndef LX_DEVICE_EXECUTE_ROWS_H
#define LX_DEVICE_EXECUTE_ROWS_H

#include "device/execute/execute.h"

/* An odometer over some variables, with the offsets that it means in several arrays: the output, then inputs. */
enum { MOST_ARRAYS = LX_MAX_OPERANDS };

struct odometer {
    int count, arrays;
    int64_t extent[LX_MAX_VARS], at[LX_MAX_VARS];
    int64_t step[MOST_ARRAYS][LX_MAX_VARS];
    int64_t offset[MOST_ARRAYS];
};

/* What a leaf needs beside the chunk. */
struct rows {
    struct chunk *c;
    struct dense_strides strides[MOST_ARRAYS];
    int64_t first; /* the first element of the chunk in the strip's output */
    struct odometer odometer;
};

/* NULL: memory is out. */
struct rows *rows_make(struct chunk *c);
int64_t rows_width(const struct chunk *c, int v);
/* One more variable, inside of those before. */
void odometer_add(const struct rows *r, struct odometer *o, int v);
/* False: that was the last; then all begins again. */
bool odometer_next(struct odometer *o);

#endif
