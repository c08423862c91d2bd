/* Resizing, padding by what is there, and cutting around the middle: which element of the operand each one
 * of the result is (or is made of) is known beforehand, dimension by dimension, so that they are lookups by
 * lists of numbers.
 *
 * Places are computed in fp32, as those who made the files do: where rounding decides on a neighbour, it
 * decides alike. */
#include "import/layers/layers.h"
#include "import/read/onnx.h"

#include <math.h>
#include <string.h>

enum { MOST_TAPS = 4 };

/* One dimension that is resized. */
struct resized {
    int64_t in, out;
    float scale, first, last; /* first, last: of tf_crop_and_resize */
};

/* How elements are found and weighed. */
struct resizing {
    const char *place, *way;
    int taps; /* 1: the nearest, 2: linear, 4: cubic */
    bool exclude_outside;
    double cubic;
};

static bool pad_is_word(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static int64_t pad_within(int64_t v, int64_t n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

/* ---- pads ---- */

/* Which element of n stands at place i before, among or behind them. */
static int64_t pad_padded_from(const char *mode, int64_t i, int64_t n)
{
    if (pad_is_word(mode, "edge")) return pad_within(i, n);
    if (pad_is_word(mode, "wrap")) return ((i % n) + n) % n;
    if (n == 1) return 0;
    int64_t turn = 2 * (n - 1), at = ((i % turn) + turn) % turn;
    return at < n ? at : turn - at;
}

/* Before and behind each dimension; below 11 they are an attribute. */
static bool pad_pads_of(const struct layer *l, int rank, int64_t *low, int64_t *high)
{
    int count;
    const int64_t *list = model_attr_ints(&l->op->attrs, "pads", &count);
    const struct model_data *d = layer_has(l, 1) ? l->m->values.at[layer_in(l, 1)].data : NULL,
                            *axes = layer_has(l, 3) ? l->m->values.at[layer_in(l, 3)].data : NULL;
    if ((layer_has(l, 1) && (!d || !d->ints)) || (layer_has(l, 3) && (!axes || !axes->ints))) return false;
    if (d) count = d->type->elements > 2 * MODEL_MAX_RANK ? 0 : (int)d->type->elements;
    for (int i = 0; i < rank; i++) low[i] = high[i] = 0;
    for (int i = 0; i < count / 2; i++) {
        int64_t at = axes ? model_data_int(axes, i) : i;
        if (at < 0) at += rank;
        if (at < 0 || at >= rank || (axes && i >= axes->type->elements)) return false;
        low[at] = d ? model_data_int(d, i) : list[i];
        high[at] = d ? model_data_int(d, i + count / 2) : list[i + count / 2];
    }
    return count > 0;
}

void derive_pad(struct layer *l)
{
    const char *mode = model_attr_word(&l->op->attrs, "mode", "constant");
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x);
    int64_t low[MODEL_MAX_RANK], high[MODEL_MAX_RANK], from[MODEL_MAX_KNOWN];
    bool known = pad_is_word(mode, "edge") || pad_is_word(mode, "wrap") || pad_is_word(mode, "reflect");
    if (l->m->format != MODEL_ONNX || !known || !pad_pads_of(l, t->count, low, high)) {
        layer_fail(l);
        return;
    }
    for (int d = 0; l->ok && d < t->count; d++) {
        int64_t n = t->extent[d], least = -low[d], out;
        if (low[d] == 0 && high[d] == 0) continue;
        bool odd = low[d] < 0 || high[d] < 0 || low[d] > MODEL_MAX_KNOWN || high[d] > MODEL_MAX_KNOWN;
        out = odd ? 0 : n + low[d] + high[d];
        if (odd || out > MODEL_MAX_KNOWN) layer_fail(l);
        for (int64_t i = 0; l->ok && i < out; i++) from[i] = pad_padded_from(mode, i + least, n);
        x = l->ok ? layer_gather(l, x, d, out, from) : -1;
    }
    layer_result(l, 0, x == layer_in(l, 0) ? layer_one(l, "Identity", x) : x);
}
