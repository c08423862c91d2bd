/* Kinds beyond those that are counted as known ahead, which make shapes in some files: whole numbers only. */
#include "model/onnx_fold.h"

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

/* Neg, Abs */
static bool turned(struct folding *f)
{
    const struct model_data *d = shaper_data(f->x, 0);
    bool only_below = f->x->op->kind[0] == 'A';
    if (f->real || model_element_row(f->y->element)->number != MODEL_SIGNED) return false;
    for (int64_t i = 0; i < f->y->elements; i++) {
        int64_t v = model_data_int(d, i);
        if (v == INT64_MIN) return false;
        f->ints[i] = only_below && v > 0 ? v : -v;
    }
    return true;
}

static bool copied(struct folding *f)
{
    for (int64_t i = 0; !f->real && i < f->y->elements; i++) fold_put(f, i, shaper_data(f->x, 0), i);
    return !f->real;
}

static bool tiled(struct folding *f)
{
    const struct model_data *d = shaper_data(f->x, 0);
    int64_t index[MOST] = {0}, from[MOST];
    for (int64_t i = 0; !f->real && i < f->y->elements; i++, fold_next(index, f->y)) {
        for (int k = 0; k < f->y->count; k++) from[k] = index[k] % d->type->extent[k];
        fold_put(f, i, d, fold_offset(from, d->type));
    }
    return !f->real;
}

/* Indices of what is not 0, those of one element in a column. */
static bool non_zero(struct folding *f)
{
    const struct model_data *d = shaper_data(f->x, 0);
    int64_t index[MOST] = {0}, column = 0, count = f->y->extent[1];
    for (int64_t i = 0; i < d->type->elements; i++, fold_next(index, d->type)) {
        if (d->reals ? fold_number(d, i) == 0 : model_data_int(d, i) == 0) continue;
        if (column == count) return false;
        for (int k = 0; k < d->type->count; k++) f->ints[k * count + column] = index[k];
        column++;
    }
    return column == count;
}

/* Of whole tensors; kept or not, the result is one number. */
static bool reduced(struct folding *f)
{
    const struct model_data *d = shaper_data(f->x, 0);
    bool sum = strcmp(f->x->op->kind, "ReduceSum") == 0;
    if (f->real || f->y->elements != 1 || d->type->elements < 1 || f->y->element == MODEL_U64) return false;
    f->ints[0] = model_data_int(d, 0);
    for (int64_t i = 1; i < d->type->elements; i++) {
        int64_t v = model_data_int(d, i);
        if (sum && __builtin_add_overflow(f->ints[0], v, &f->ints[0])) return false;
        if (!sum && v < f->ints[0]) f->ints[0] = v;
    }
    return true;
}

/* clang-format off */
const struct fold_row onnx_fold_more[] = {
    {"GreaterOrEqual", at_least}, {"LessOrEqual", at_least}, {"Neg", turned}, {"Abs", turned}, {"Flatten", copied},
    {"Tile", tiled}, {"NonZero", non_zero}, {"ReduceSum", reduced}, {"ReduceMin", reduced}, {NULL, NULL}};
/* clang-format on */
