/* Shapes of what moves elements: reshape, transpose, slice, concat, gather and their like; and of what makes them. */
#include "model/onnx.h"
#include "base/checked.h"

#include <math.h>
#include <string.h>

enum { MOST = MODEL_MAX_RANK };

static enum shaped reshape(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST], known = 1;
    int count, rest = -1;
    bool keep = !shaper_int(x, "allowzero", 0);
    if (!t || !shaper_ints(x, x->opset < 5 ? "shape" : NULL, 1, extent, MOST, &count) || count < 0)
        return SHAPE_UNKNOWN;
    for (int d = 0; d < count; d++) {
        if (extent[d] == 0 && keep) extent[d] = d < t->count ? t->extent[d] : -2;
        if (extent[d] < -1)
            return shaper_wrong(x, "extent %d of the new shape is %lld", d, (long long)extent[d]);
        if (extent[d] == -1 && rest >= 0) return shaper_wrong(x, "two extents of -1");
        if (extent[d] == -1)
            rest = d;
        else if (!mul_i64(known, extent[d], &known))
            return shaper_wrong(x, "too many elements");
    }
    if (rest >= 0) extent[rest] = known ? t->elements / known : 0;
    if (rest >= 0 ? extent[rest] * known != t->elements && known : known != t->elements)
        return shaper_wrong(x, "%lld elements do not fill the new shape", (long long)t->elements);
    return shaper_set(x, 0, t->element, count, extent);
}

static enum shaped flatten(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[2] = {1, 1}, axis = shaper_int(x, "axis", 1);
    if (!t) return SHAPE_UNKNOWN;
    if (axis < 0) axis += t->count;
    if (axis < 0 || axis > t->count) return shaper_wrong(x, "no such axis");
    for (int d = 0; d < t->count; d++) extent[d >= axis] *= t->extent[d];
    return shaper_set(x, 0, t->element, 2, extent);
}

static enum shaped squeeze(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t axes[MOST], extent[MOST];
    bool goes[MOST] = {false};
    int count, rank = 0;
    if (!t || !shaper_ints(x, "axes", 1, axes, MOST, &count)) return SHAPE_UNKNOWN;
    for (int d = 0; count < 0 && d < t->count; d++) goes[d] = t->extent[d] == 1;
    for (int i = 0; i < count; i++) {
        int axis = shaper_axis(axes[i], t->count);
        if (axis < 0 || t->extent[axis] != 1)
            return shaper_wrong(x, "axis %lld is not 1 long", (long long)axes[i]);
        goes[axis] = true;
    }
    for (int d = 0; d < t->count; d++)
        if (!goes[d]) extent[rank++] = t->extent[d];
    return shaper_set(x, 0, t->element, rank, extent);
}

static enum shaped unsqueeze(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t axes[MOST], extent[MOST];
    bool new[MOST] = {false};
    int count, next = 0;
    if (!t || !shaper_ints(x, "axes", 1, axes, MOST, &count) || count < 0) return SHAPE_UNKNOWN;
    int rank = t->count + count;
    if (rank > MOST) return shaper_wrong(x, "too many dimensions");
    for (int i = 0; i < count; i++) {
        int axis = shaper_axis(axes[i], rank);
        if (axis < 0 || new[axis])
            return shaper_wrong(x, "axis %lld is none of the result, or twice", (long long)axes[i]);
        new[axis] = true;
    }
    for (int d = 0; d < rank; d++) extent[d] = new[d] ? 1 : t->extent[next++];
    return shaper_set(x, 0, t->element, rank, extent);
}

static enum shaped transpose(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t perm[MOST], extent[MOST];
    bool seen[MOST] = {false};
    int count;
    if (!t || !shaper_ints(x, "perm", -1, perm, MOST, &count)) return SHAPE_UNKNOWN;
    if (count >= 0 && count != t->count)
        return shaper_wrong(x, "\"perm\" does not have the dimensions of its operand");
    for (int d = 0; d < t->count; d++) {
        int64_t from = count < 0 ? t->count - 1 - d : perm[d];
        if (from < 0 || from >= t->count || seen[from]) return shaper_wrong(x, "\"perm\" is no permutation");
        seen[from] = true;
        extent[d] = t->extent[from];
    }
    return shaper_set(x, 0, t->element, t->count, extent);
}

static enum shaped expand(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST];
    int count;
    if (!t || !shaper_ints(x, NULL, 1, extent, MOST, &count) || count < 0) return SHAPE_UNKNOWN;
    if (!shaper_broadcast(extent, &count, t))
        return shaper_wrong(x, "the operand does not broadcast to that shape");
    return shaper_set(x, 0, t->element, count, extent);
}

static enum shaped tile(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST];
    int count;
    if (!t || !shaper_ints(x, NULL, 1, extent, MOST, &count) || count < 0) return SHAPE_UNKNOWN;
    if (count != t->count) return shaper_wrong(x, "not one repetition for each dimension");
    for (int d = 0; d < count; d++)
        if (!mul_i64(extent[d], t->extent[d], &extent[d])) return shaper_wrong(x, "too many elements");
    return shaper_set(x, 0, t->element, count, extent);
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

bool onnx_slice(const struct shaper *x, int64_t *start, int64_t *step, int64_t *extent)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t starts[MOST], ends[MOST], axes[MOST], steps[MOST];
    int n, m, a, s;
    bool old = x->opset < 10;
    if (!shaper_ints(x, old ? "starts" : NULL, old ? -1 : 1, starts, MOST, &n) ||
        !shaper_ints(x, old ? "ends" : NULL, old ? -1 : 2, ends, MOST, &m) ||
        !shaper_ints(x, old ? "axes" : NULL, old ? -1 : 3, axes, MOST, &a) ||
        !shaper_ints(x, NULL, old ? -1 : 4, steps, MOST, &s) || n < 0 || n != m || (a >= 0 && a != n) ||
        (s >= 0 && s != n) || n > t->count)
        return false;
    for (int d = 0; d < t->count; d++) {
        start[d] = 0;
        step[d] = 1;
        extent[d] = t->extent[d];
    }
    for (int i = 0; i < n; i++) {
        int d = shaper_axis(a < 0 ? i : axes[i], t->count);
        int64_t by = s < 0 ? 1 : steps[i];
        if (d < 0 || by == 0) return false;
        int64_t length = t->extent[d], from = starts[i], to = ends[i];
        if (from < 0) from = from < -length ? -1 : from + length;
        if (to < 0) to = to < -length ? -1 : to + length;
        from = by > 0 ? clamp(from, 0, length) : clamp(from, -1, length - 1);
        to = by > 0 ? clamp(to, 0, length) : clamp(to, -1, length - 1);
        if (by > 0 && starts[i] < -length) from = 0;
        int64_t span = by > 0 ? to - from : from - to, size = by > 0 ? by : by == INT64_MIN ? INT64_MAX : -by;
        start[d] = from;
        step[d] = by;
        extent[d] = span > 0 ? ceil_div_i64(span, size) : 0;
    }
    return true;
}

static enum shaped slice(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t start[MOST], step[MOST], extent[MOST];
    if (!t || !onnx_slice(x, start, step, extent)) return SHAPE_UNKNOWN;
    return shaper_set(x, 0, t->element, t->count, extent);
}

bool onnx_split(const struct shaper *x, int *axis, int64_t *sizes)
{
    const struct model_type *t = shaper_in(x, 0);
    int count, parts = x->op->result_count;
    *axis = shaper_axis(shaper_int(x, "axis", 0), t->count);
    if (*axis < 0 || parts > MODEL_MAX_KNOWN || parts < 1) return false;
    if (!shaper_ints(x, "split", x->opset >= 13 ? 1 : -1, sizes, MODEL_MAX_KNOWN, &count)) return false;
    int64_t length = t->extent[*axis], sum = 0, each = ceil_div_i64(length, parts);
    for (int i = 0; i < parts; i++) {
        if (count < 0) sizes[i] = min_i64(each, length - sum);
        if (count >= 0 && i >= count) return false;
        if (sizes[i] < 0 || sizes[i] > length - sum) return false;
        sum += sizes[i];
    }
    return sum == length;
}

static enum shaped split(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t sizes[MODEL_MAX_KNOWN], extent[MOST];
    int axis;
    if (!t) return SHAPE_UNKNOWN;
    if (!onnx_split(x, &axis, sizes)) return shaper_wrong(x, "the parts do not make up the whole");
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    for (int r = 0; r < x->op->result_count; r++) {
        extent[axis] = sizes[r];
        if (shaper_set(x, r, t->element, t->count, extent) != SHAPED) return SHAPE_WRONG;
    }
    return SHAPED;
}

static enum shaped concat(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST], parts = x->op->operand_count;
    if (!t) return SHAPE_UNKNOWN;
    int axis = shaper_axis(shaper_int(x, "axis", x->opset < 4 ? 1 : 0), t->count);
    if (axis < 0) return shaper_wrong(x, "no such axis");
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    for (int i = 1; i < x->op->operand_count; i++) {
        const struct model_type *other = shaper_in(x, i);
        if (!other) return SHAPE_UNKNOWN;
        if (other->count != t->count) return shaper_wrong(x, "operand %d has another rank", i);
        for (int d = 0; d < t->count; d++)
            if (d != axis && other->extent[d] != t->extent[d])
                return shaper_wrong(x, "operand %d differs from the first in dimension %d", i, d);
        if (!add_i64(extent[axis], other->extent[axis], &extent[axis]))
            return shaper_wrong(x, "too many elements");
    }
    if (strchr(x->op->kind, ':') && shaper_set(x, 1, MODEL_I64, 1, &parts) != SHAPED) return SHAPE_WRONG;
    return shaper_set(x, 0, t->element, t->count, extent);
}

static enum shaped pad(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t pads[2 * MOST], axes[MOST], extent[MOST];
    int count, chosen;
    const char *key = x->opset >= 11 ? NULL : x->opset == 1 ? "paddings" : "pads";
    if (!t || !shaper_ints(x, key, 1, pads, 2 * MOST, &count) || count < 0) return SHAPE_UNKNOWN;
    if (!shaper_ints(x, NULL, 3, axes, MOST, &chosen)) return SHAPE_UNKNOWN;
    int n = chosen < 0 ? t->count : chosen;
    if (count != 2 * n) return shaper_wrong(x, "not two pads for each dimension");
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    for (int i = 0; i < n; i++) {
        int d = chosen < 0 ? i : shaper_axis(axes[i], t->count);
        if (d < 0) return shaper_wrong(x, "no such axis");
        extent[d] += clamp(pads[i], -LX_INT_MAX, LX_INT_MAX) + clamp(pads[i + n], -LX_INT_MAX, LX_INT_MAX);
    }
    return shaper_set(x, 0, t->element, t->count, extent);
}

static enum shaped gather(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *index = shaper_in(x, 1);
    int64_t extent[2 * MOST];
    int rank = 0;
    if (!t || !index) return SHAPE_UNKNOWN;
    int axis = shaper_axis(shaper_int(x, "axis", 0), t->count);
    if (axis < 0) return shaper_wrong(x, "no such axis");
    for (int d = 0; d < axis; d++) extent[rank++] = t->extent[d];
    for (int d = 0; d < index->count; d++) extent[rank++] = index->extent[d];
    for (int d = axis + 1; d < t->count; d++) extent[rank++] = t->extent[d];
    return shaper_set(x, 0, t->element, rank, extent);
}

static enum shaped gather_elements(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *index = shaper_in(x, 1);
    return t && index ? shaper_set(x, 0, t->element, index->count, index->extent) : SHAPE_UNKNOWN;
}

static enum shaped gather_nd(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *index = shaper_in(x, 1);
    int64_t extent[2 * MOST], batch = shaper_int(x, "batch_dims", 0);
    int rank = 0;
    if (!t || !index) return SHAPE_UNKNOWN;
    int64_t picks = index->count ? index->extent[index->count - 1] : 0;
    if (batch < 0 || picks < 0 || batch > t->count || picks > t->count - batch || index->count < 1)
        return shaper_wrong(x, "the index has more coordinates than the operand dimensions");
    for (int d = 0; d < index->count - 1; d++) extent[rank++] = index->extent[d];
    for (int64_t d = batch + picks; d < t->count; d++) extent[rank++] = t->extent[d];
    return shaper_set(x, 0, t->element, rank, extent);
}

/* floor(extent * scale), by an operand of numbers. */
static bool scaled(const struct shaper *x, int operand, int64_t *extent)
{
    const struct model_type *t = shaper_in(x, 0);
    const struct model_attr *a = model_attr_find(&x->op->attrs, "scales");
    const struct model_data *d = shaper_data(x, operand);
    bool given = a && a->form == ATTR_REALS && a->count == t->count;
    if (!given && (!d || !d->reals || d->type->elements != t->count)) return false;
    for (int i = 0; i < t->count; i++) {
        double scale = given ? a->reals[i] : d->reals[d->form == DATA_SPLAT ? 0 : i];
        double y = floor((double)t->extent[i] * scale);
        if (!(y >= 0 && y < 1e15)) return false;
        extent[i] = (int64_t)y;
    }
    return true;
}

static enum shaped resize(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST], sizes[MOST], axes[MOST];
    int count = -1, chosen;
    if (!t) return SHAPE_UNKNOWN;
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    bool upsample = strcmp(x->op->kind, "Upsample") == 0;
    if (!upsample && x->opset >= 11 && !shaper_ints(x, NULL, 3, sizes, MOST, &count)) return SHAPE_UNKNOWN;
    if (count > 0) {
        if (!shaper_ints(x, "axes", -1, axes, MOST, &chosen)) return SHAPE_UNKNOWN;
        if (count != (chosen < 0 ? t->count : chosen))
            return shaper_wrong(x, "not one size for each dimension");
        for (int i = 0; i < count; i++) {
            int d = chosen < 0 ? i : shaper_axis(axes[i], t->count);
            if (d < 0) return shaper_wrong(x, "no such axis");
            extent[d] = sizes[i];
        }
    } else if (!scaled(x, upsample || x->opset < 11 ? 1 : 2, extent)) {
        return SHAPE_UNKNOWN;
    }
    return shaper_set(x, 0, t->element, t->count, extent);
}

static enum shaped depth_space(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t b = shaper_int(x, "blocksize", 1);
    bool to_space = strcmp(x->op->kind, "DepthToSpace") == 0;
    if (!t) return SHAPE_UNKNOWN;
    if (t->count != 4 || b < 1 || b > 65536 || t->elements > (int64_t)1 << 40 || t->elements < 1 ||
        (to_space ? t->extent[1] % (b * b) : t->extent[2] % b || t->extent[3] % b))
        return shaper_wrong(x, "blocks of %lld do not divide its operand", (long long)b);
    int64_t up[] = {t->extent[0], t->extent[1] / (b * b), t->extent[2] * b, t->extent[3] * b};
    int64_t down[] = {t->extent[0], t->extent[1] * b * b, t->extent[2] / b, t->extent[3] / b};
    return shaper_set(x, 0, t->element, 4, to_space ? up : down);
}

static enum shaped crop(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t border[4], scale[2], extent[4];
    int n, m;
    if (!t || t->count != 4 || !shaper_ints(x, "border", -1, border, 4, &n) || n != 4 ||
        !shaper_ints(x, "scale", -1, scale, 2, &m))
        return SHAPE_UNKNOWN;
    memcpy(extent, t->extent, sizeof extent);
    for (int i = 0; i < 2; i++)
        extent[2 + i] = m == 2 ? scale[i] : t->extent[2 + i] - border[1 - i] - border[3 - i];
    return shaper_set(x, 0, t->element, 4, extent);
}

/* The attribute of a Constant that has its number, as data. */
static enum shaped constant(struct shaper *x)
{
    const struct model_attr *a = x->op->attrs.count ? &x->op->attrs.at[0] : NULL;
    struct model_data *d = arena_alloc(&x->m->memory, sizeof *d);
    for (int i = 0; i < x->op->attrs.count; i++)
        if (strncmp(x->op->attrs.at[i].key, "value", 5) == 0) a = &x->op->attrs.at[i];
    if (!d || !a || x->op->result_count < 1 || x->op->results[0] < 0) return SHAPE_UNKNOWN;
    struct model_value *v = &x->m->values.at[x->op->results[0]];
    if (a->form == ATTR_DATA) {
        v->type = a->data->type;
        v->data = a->data;
        return SHAPED;
    }
    bool list = a->form == ATTR_INTS || a->form == ATTR_REALS,
         whole = a->form == ATTR_INT || a->form == ATTR_INTS;
    if (!list && !whole && a->form != ATTR_REAL) return SHAPE_UNKNOWN;
    int64_t count = a->count;
    if (shaper_set(x, 0, whole ? MODEL_I64 : MODEL_F32, list, &count) != SHAPED) return SHAPE_WRONG;
    *d = (struct model_data){.form = DATA_LIST, .type = v->type};
    if (list && count > MODEL_MAX_KNOWN) return SHAPED;
    if (whole)
        d->ints = list ? a->ints : &a->number;
    else
        d->reals = list ? a->reals : &a->real;
    v->data = d;
    return SHAPED;
}

static enum shaped constant_of_shape(struct shaper *x)
{
    const struct model_attr *a = model_attr_find(&x->op->attrs, "value");
    int64_t extent[MOST];
    int count;
    if (!shaper_ints(x, NULL, 0, extent, MOST, &count) || count < 0) return SHAPE_UNKNOWN;
    return shaper_set(x, 0, a && a->form == ATTR_DATA ? a->data->type->element : MODEL_F32, count, extent);
}

static enum shaped range(struct shaper *x)
{
    const struct model_data *d[3] = {shaper_data(x, 0), shaper_data(x, 1), shaper_data(x, 2)};
    double v[3];
    for (int i = 0; i < 3; i++) {
        if (!d[i]) return SHAPE_UNKNOWN;
        v[i] = d[i]->reals ? d[i]->reals[0] : (double)d[i]->ints[0];
    }
    double n = v[2] == 0 ? -1 : ceil((v[1] - v[0]) / v[2]);
    if (!(n < 1e15) || v[2] == 0) return shaper_wrong(x, "a range without an end");
    int64_t count = n > 0 ? (int64_t)n : 0;
    return shaper_set(x, 0, d[0]->type->element, 1, &count);
}

static enum shaped shape(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    if (!t) return SHAPE_UNKNOWN;
    int64_t start = shaper_int(x, "start", 0), end = shaper_int(x, "end", t->count);
    start = clamp(start < 0 ? start + t->count : start, 0, t->count);
    end = clamp(end < 0 ? end + t->count : end, 0, t->count);
    int64_t count = end > start ? end - start : 0;
    return shaper_set(x, 0, MODEL_I64, 1, &count);
}

static enum shaped size(struct shaper *x)
{
    return shaper_in(x, 0) ? shaper_set(x, 0, MODEL_I64, 0, NULL) : SHAPE_UNKNOWN;
}

static enum shaped one_hot(struct shaper *x)
{
    const struct model_type *index = shaper_in(x, 0), *values = shaper_in(x, 2);
    const struct model_data *depth = shaper_data(x, 1);
    int64_t extent[MOST + 1];
    int next = 0;
    if (!index || !values || !depth || index->count >= MOST) return SHAPE_UNKNOWN;
    int axis = shaper_axis(shaper_int(x, "axis", -1), index->count + 1);
    if (axis < 0) return shaper_wrong(x, "no such axis");
    for (int d = 0; d <= index->count; d++)
        extent[d] = d == axis ? model_data_int(depth, 0) : index->extent[next++];
    return shaper_set(x, 0, values->element, index->count + 1, extent);
}

static enum shaped top_k(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST], k;
    int count = 1;
    if (!t) return SHAPE_UNKNOWN;
    k = shaper_int(x, "k", -1);
    if (k < 0 && (!shaper_ints(x, NULL, 1, &k, 1, &count) || count != 1)) return SHAPE_UNKNOWN;
    int axis = shaper_axis(shaper_int(x, "axis", -1), t->count);
    if (axis < 0 || k > t->extent[axis]) return shaper_wrong(x, "%lld of fewer elements", (long long)k);
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    extent[axis] = k;
    if (shaper_set(x, 1, MODEL_I64, t->count, extent) != SHAPED) return SHAPE_WRONG;
    return shaper_set(x, 0, t->element, t->count, extent);
}

static enum shaped like(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    enum model_element e = model_element_of_onnx(shaper_int(x, "dtype", 0));
    return t ? shaper_set(x, 0, e == MODEL_ELEMENT_COUNT ? t->element : e, t->count, t->extent)
             : SHAPE_UNKNOWN;
}

static enum shaped stated(struct shaper *x)
{
    int64_t extent[MOST];
    int count;
    enum model_element e = model_element_of_onnx(shaper_int(x, "dtype", 1));
    if (!shaper_ints(x, "shape", -1, extent, MOST, &count) || count < 0 || e == MODEL_ELEMENT_COUNT)
        return SHAPE_UNKNOWN;
    return shaper_set(x, 0, e, count, extent);
}

/* Parts of `lxplan_group` devices, joined. */
static enum shaped all_gather(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST], group = shaper_int(x, "lxplan_group", 0);
    int axis = t ? shaper_axis(shaper_int(x, "axis", 0), t->count) : -1;
    if (axis < 0 || group < 1 || group > 1 << 20) return SHAPE_UNKNOWN;
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    if (!mul_i64(extent[axis], group, &extent[axis])) return shaper_wrong(x, "too many elements");
    return shaper_set(x, 0, t->element, t->count, extent);
}

onnx_shape_of *onnx_shape_view(const char *kind)
{
    /* clang-format off */
    static const struct onnx_shape_row rows[] = {
        {"lxplan:AllGather", all_gather}, {"Reshape", reshape}, {"Flatten", flatten}, {"Squeeze", squeeze}, {"Unsqueeze", unsqueeze},
        {"Transpose", transpose}, {"Expand", expand}, {"Tile", tile}, {"Slice", slice}, {"Split", split},
        {"Concat", concat}, {"com.microsoft:ConcatTraining", concat}, {"Pad", pad}, {"Gather", gather},
        {"GatherElements", gather_elements}, {"GatherND", gather_nd}, {"Resize", resize}, {"Upsample", resize},
        {"DepthToSpace", depth_space}, {"SpaceToDepth", depth_space}, {"Crop", crop}, {"Constant", constant},
        {"ConstantOfShape", constant_of_shape}, {"Range", range}, {"Shape", shape}, {"Size", size},
        {"OneHot", one_hot}, {"TopK", top_k}, {"EyeLike", like}, {"RandomNormalLike", like},
        {"RandomUniformLike", like}, {"Bernoulli", like}, {"RandomNormal", stated}, {"RandomUniform", stated},
        {NULL, NULL}};
    /* clang-format on */
    return onnx_shape_find(rows, kind);
}
