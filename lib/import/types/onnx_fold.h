/* Values that are known before the model runs: what the files of onnx_fold*.c share. */
#ifndef LX_IMPORT_ONNX_FOLD_H
#define LX_IMPORT_ONNX_FOLD_H

#include "import/read/onnx.h"

/* One result under way. */
struct folding {
    struct shaper *x;
    const struct model_type *y;
    int result;
    bool real;
    int64_t *ints;
    double *reals;
};

/* False: it is not known after all. */
typedef bool fold_of(struct folding *f);

struct fold_row {
    const char *kind;
    fold_of *fold; /* NULL: the end of a table */
};

/* Kinds beyond those that are counted as known ahead. */
extern const struct fold_row onnx_fold_more[];

double fold_number(const struct model_data *d, int64_t i);
/* Element `at` of the result is element i of d, in the type of the result. */
void fold_put(struct folding *f, int64_t at, const struct model_data *d, int64_t i);
void fold_next(int64_t *index, const struct model_type *t);
int64_t fold_offset(const int64_t *index, const struct model_type *t);
/* Where the element of the result at `index` comes from, of an operand that is broadcast to it. */
int64_t fold_spread(const int64_t *index, const struct model_type *y, const struct model_type *t);

#endif
