/* What indices decide on: masks by counters, lookups and writes along a dimension in forms that the importer does not have. */
#include "model/layers.h"

#include <string.h>

/* 0, 1, .. n - 1 */
static int32_t counter(struct layer *l, int64_t n)
{
    int32_t zero = layer_number(l, MODEL_I64, 0), one = layer_number(l, MODEL_I64, 1);
    return layer_part(l, "Range", 3, (int32_t[]){zero, layer_number(l, MODEL_I64, (double)n), one});
}

static const struct model_data *known(const struct layer *l, int operand)
{
    const struct model_data *d = layer_has(l, operand) ? l->m->values.at[layer_in(l, operand)].data : NULL;
    return d && d->ints ? d : NULL;
}

/* Row + k against column, of a matrix of these extents. */
static int32_t compared(struct layer *l, const char *kind, int64_t k, int32_t later, const int64_t *extent)
{
    int32_t r = layer_reshape(l, counter(l, extent[0]), 2, (int64_t[]){extent[0], 1});
    int32_t c = layer_reshape(l, counter(l, extent[1]), 2, (int64_t[]){1, extent[1]});
    return layer_two(l, kind, later < 0 ? layer_by(l, "Add", r, (double)k) : layer_two(l, "Add", r, later),
                     c);
}

/* Rows at or above (below) a diagonal are kept: a comparison of two counters. */
static void trilu(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x);
    const struct model_data *k = layer_has(l, 1) ? l->m->values.at[layer_in(l, 1)].data : NULL;
    bool upper = layer_int(l, "upper", 1) != 0, later = layer_has(l, 1) && (!k || !k->ints);
    if (t->count < 2) {
        layer_fail(l);
        return;
    }
    int64_t by = k && k->ints ? k->ints[0] : 0;
    int32_t from = later ? layer_cast(l, layer_reshape(l, layer_in(l, 1), 0, NULL), MODEL_I64) : -1;
    int32_t stays = compared(l, upper ? "LessOrEqual" : "GreaterOrEqual", by, from, t->extent + t->count - 2);
    int32_t other = layer_number(l, t->element, 0);
    layer_result(l, 0, layer_part(l, "Where", 3, (int32_t[]){stays, x, other}));
}

/* A counter along a new axis, compared with the indices; those below 0 count from the end. */
static void one_hot(struct layer *l)
{
    const struct model_type *y = model_type_of(l->m, l->op->results[0]), *t = layer_type(l, layer_in(l, 0));
    int64_t axis = layer_int(l, "axis", -1), shape[MODEL_MAX_RANK];
    if (axis < 0) axis += y->count;
    if (l->op->operand_count < 3 || axis < 0 || axis >= y->count || t->count + 1 != y->count) {
        layer_fail(l);
        return;
    }
    int32_t count = counter(l, y->extent[axis]), n = layer_number(l, MODEL_I64, (double)y->extent[axis]);
    for (int d = 0; d < y->count; d++) shape[d] = d == axis ? 1 : y->extent[d];
    int32_t ids = layer_reshape(l, layer_cast(l, layer_in(l, 0), MODEL_I64), y->count, shape);
    int32_t from_end = layer_two(l, "Add", ids, n), below = layer_by(l, "Less", ids, 0);
    ids = layer_part(l, "Where", 3, (int32_t[]){below, from_end, ids});
    int32_t is = layer_two(l, "Equal", ids, layer_channels(l, count, y->count, (int)axis));
    int32_t off = layer_slice(l, layer_in(l, 2), 0, 0, 1), on = layer_slice(l, layer_in(l, 2), 0, 1, 2);
    layer_result(l, 0, layer_part(l, "Where", 3, (int32_t[]){is, on, off}));
}

static void eye_like(struct layer *l)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0));
    if (t->count != 2) {
        layer_fail(l);
        return;
    }
    layer_result(l, 0, compared(l, "Equal", layer_int(l, "k", 0), -1, t->extent));
}

static int axis_of(const struct layer *l, int64_t usual, int rank)
{
    int64_t axis = layer_int(l, "axis", usual);
    if (axis < 0) axis += rank;
    return axis < 0 || axis >= rank ? -1 : (int)axis;
}

/* From a dimension of one element: that one, as often as there are indices. */
static void gather_one(struct layer *l)
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

/* Beside the axis only as much of x as there are indices. */
static int32_t as_wide(struct layer *l, int32_t x, const struct model_type *index, int axis, bool *cut)
{
    const struct model_type *t = layer_type(l, x);
    *cut = false;
    if (axis < 0 || index->count != t->count) return layer_fail(l), -1;
    for (int d = 0; d < t->count; d++) {
        if (d == axis || index->extent[d] == t->extent[d]) continue;
        x = layer_slice(l, x, d, 0, index->extent[d]);
        *cut = true;
    }
    return x;
}

static void gather_elements(struct layer *l)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0)), *i = layer_type(l, layer_in(l, 1));
    int axis = axis_of(l, 0, t->count);
    bool cut;
    int32_t x = as_wide(l, layer_in(l, 0), i, axis, &cut);
    if (!l->ok || !cut) {
        layer_fail(l);
        return;
    }
    layer_put(l, "axis", axis);
    layer_result(l, 0, layer_two(l, "GatherElements", x, layer_in(l, 1)));
}

static void scatter_elements(struct layer *l)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0)), *i = layer_type(l, layer_in(l, 1));
    const struct model_attr *how = model_attr_find(&l->op->attrs, "reduction");
    int axis = axis_of(l, 0, t->count);
    int32_t all[2 + MODEL_MAX_RANK];
    bool cut;
    int32_t part = as_wide(l, layer_in(l, 0), i, axis, &cut);
    if (!l->ok || !cut || l->op->operand_count != 3) {
        layer_fail(l);
        return;
    }
    layer_put(l, "axis", axis);
    if (how) l->attr[l->attr_count++] = *how;
    all[0] = layer_in(l, 0);
    all[1] = layer_part(l, "ScatterElements", 3, (int32_t[]){part, layer_in(l, 1), layer_in(l, 2)});
    int32_t zero = layer_number(l, MODEL_I64, 0);
    for (int d = 0; d < t->count; d++) all[2 + d] = zero;
    layer_result(l, 0, layer_part(l, "lxplan:DynamicInsert", 2 + t->count, all));
}

/* Elements where a known condition is true. */
static void compress(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_data *d = known(l, 1);
    bool flat = !model_attr_find(&l->op->attrs, "axis");
    if (flat) x = layer_reshape(l, x, 1, &layer_type(l, x)->elements);
    int axis = flat ? 0 : axis_of(l, 0, layer_type(l, x)->count);
    int64_t from[MODEL_MAX_KNOWN], count = 0;
    if (!d || !l->ok || axis < 0 || d->type->elements > MODEL_MAX_KNOWN) {
        layer_fail(l);
        return;
    }
    for (int64_t i = 0; i < d->type->elements && i < layer_type(l, x)->extent[axis]; i++)
        if (model_data_int(d, i)) from[count++] = i;
    layer_result(l, 0, layer_gather(l, x, axis, count, from));
}

/* Within its length a sequence runs backwards: step length - 1 - t. */
static void reverse_sequence(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x);
    int64_t time = layer_int(l, "time_axis", 0), batch = layer_int(l, "batch_axis", 1);
    if (t->count < 2 || time < 0 || time > 1 || batch < 0 || batch > 1 || time == batch) {
        layer_fail(l);
        return;
    }
    int32_t now = layer_channels(l, counter(l, t->extent[time]), t->count, (int)time);
    int32_t length = layer_channels(l, layer_cast(l, layer_in(l, 1), MODEL_I64), t->count, (int)batch);
    int32_t back = layer_two(l, "Sub", layer_by(l, "Sub", length, 1), now);
    int32_t in = layer_two(l, "Less", now, length);
    int32_t at = layer_part(l, "Where", 3, (int32_t[]){in, back, now});
    int32_t index = layer_expand_to(l, at, t->count, t->extent);
    layer_put(l, "axis", time);
    layer_result(l, 0, layer_two(l, "GatherElements", x, index));
}

/* clang-format off */
const struct layer_row layers_picks[] = {
    {{NULL, NULL, "Trilu"}, trilu},
    {{NULL, NULL, "EyeLike"}, eye_like},
    {{NULL, NULL, "OneHot"}, one_hot},
    {{NULL, NULL, "Gather"}, gather_one},
    {{NULL, NULL, "GatherElements"}, gather_elements},
    {{NULL, NULL, "ScatterElements"}, scatter_elements},
    {{NULL, NULL, "Compress"}, compress},
    {{NULL, NULL, "ReverseSequence"}, reverse_sequence},
    {{NULL}, NULL},
};
/* clang-format on */
