/* What indices decide on: masks by counters, lookups and writes along a dimension in forms that the importer does not have. */
#include "import/layers/layers.h"

#include <string.h>

static int axis_of(const struct layer *l, int64_t usual, int rank)
{
    int64_t axis = layer_int(l, "axis", usual);
    if (axis < 0) axis += rank;
    return axis < 0 || axis >= rank ? -1 : (int)axis;
}

/* From a dimension of one element: that one, as often as there are indices. */
void derive_gather(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x), *i = layer_type(l, layer_in(l, 1));
    int64_t open[2 * MODEL_MAX_RANK], full[2 * MODEL_MAX_RANK];
    int axis = axis_of(l, 0, t->count), rank = 0;
    if (axis < 0 || t->extent[axis] != 1 || t->count + i->count > MODEL_MAX_RANK) {
        layer_fail(l);
        return;
    }
    for (int d = 0; d < t->count; d++) {
        for (int k = 0; d == axis && k < i->count; k++, rank++) open[rank] = 1, full[rank] = i->extent[k];
        if (d != axis) open[rank] = full[rank] = t->extent[d], rank++;
    }
    layer_result(l, 0, layer_expand_to(l, layer_reshape(l, x, rank, open), rank, full));
}
