/* Kinds beyond those that are counted as known ahead, which make shapes in some files: whole numbers only. */
#include "import/types/onnx_fold.h"

#include <string.h>

enum { MOST = MODEL_MAX_RANK };

static bool at_least(struct folding *f)
{
    const struct model_data *a = shaper_data(f->x, 0), *b = shaper_data(f->x, 1);
    bool less = f->x->op->kind[0] == 'L';
    int64_t index[MOST] = {0};
    if (a->reals || b->reals) return false;
    for (int64_t i = 0; i < f->y->elements; i++, fold_next(index, f->y)) {
        int64_t p = model_data_int(a, fold_spread(index, f->y, a->type)),
                q = model_data_int(b, fold_spread(index, f->y, b->type));
        f->ints[i] = less ? p <= q : p >= q;
    }
    return a->type->element != MODEL_U64;
}

/* clang-format off */
const struct fold_row onnx_fold_more[] = {
    {"GreaterOrEqual", at_least}, {"LessOrEqual", at_least},
{NULL, NULL}};
/* clang-format on */
