/* Layouts of packed operands: see dense.h. */
#include "device/execute/dense.h"
#include "base/checked.h"

#include <string.h>

void dense_make(const int *order, int count, const int64_t *width, const int64_t *tile, struct dense *out)
{
    bool wide_outside = false; /* a variable further out has more than one position in a tile */
    *out = (struct dense){.count = count, .floats = 1};
    for (int i = 0; i < count; i++) {
        int v = order[i];
        out->order[i] = v;
        out->width[i] = width[v];
        out->tile[i] = min_i64(tile[v], width[v]);
        out->panel[i] = wide_outside && out->tile[i] < width[v];
        out->floats *= out->panel[i] ? round_up_i64(width[v], out->tile[i]) : width[v];
        wide_outside |= out->tile[i] > 1;
    }
}

void dense_part(const struct dense *d, const int64_t *size, struct dense_strides *out)
{
    int64_t step = 1, slot = 1;
    memset(out, 0, sizeof *out);
    for (int i = d->count - 1; i >= 0; i--) {
        int v = d->order[i];
        out->element[v] = step;
        step *= d->panel[i] ? size[v] : d->width[i];
        slot *= d->panel[i] ? d->tile[i] : d->width[i];
        out->tile[v] = out->element[v] * d->tile[i];
    }
    for (int i = d->count - 1; i >= 0; i--) {
        if (!d->panel[i]) continue;
        out->tile[d->order[i]] = slot;
        slot *= ceil_div_i64(d->width[i], d->tile[i]);
    }
}

int64_t dense_offset(const struct dense *d, const int64_t *index)
{
    struct dense_strides s;
    int64_t size[LX_MAX_VARS] = {0}, offset = 0;
    for (int i = 0; i < d->count; i++) {
        int64_t first = index[d->order[i]] / d->tile[i] * d->tile[i];
        size[d->order[i]] = min_i64(d->tile[i], d->width[i] - first);
    }
    dense_part(d, size, &s);
    for (int i = 0; i < d->count; i++) {
        int v = d->order[i];
        offset += d->panel[i] ? index[v] / d->tile[i] * s.tile[v] + index[v] % d->tile[i] * s.element[v]
                              : index[v] * s.element[v];
    }
    return offset;
}
