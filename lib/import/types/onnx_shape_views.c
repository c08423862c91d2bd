/* Shapes of what moves elements: reshape, transpose, slice, concat, pad and their like. */
#include "import/read/onnx.h"
#include "base/checked.h"

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
    bool plain = !strchr(x->op->kind, ':');
    const char *key = x->opset >= 11 || !plain ? NULL : x->opset == 1 ? "paddings" : "pads";
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

/* One of `lxplan_group` parts. */
static enum shaped device_part(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST], group = shaper_int(x, "lxplan_group", 0);
    int axis = t ? shaper_axis(shaper_int(x, "axis", 0), t->count) : -1;
    if (axis < 0 || group < 1 || t->extent[axis] % group != 0) return SHAPE_UNKNOWN;
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    extent[axis] /= group;
    return shaper_set(x, 0, t->element, t->count, extent);
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

onnx_shape_of *onnx_shape_view(const char *kind)
{
    /* clang-format off */
    static const struct onnx_shape_row rows[] = {{"Gather", gather}, 
        {"lxplan:AllGather", all_gather}, {"lxplan:DevicePart", device_part}, {"Reshape", reshape}, {"Flatten", flatten}, {"Squeeze", squeeze}, {"Unsqueeze", unsqueeze},
        {"Transpose", transpose}, {"Expand", expand},{"Slice", slice}, {"Split", split},
        {"Concat", concat}, {"com.microsoft:ConcatTraining", concat}, {"Pad", pad}, {"com.microsoft:Pad", pad},{NULL, NULL}};
    /* clang-format on */
    return onnx_shape_find(rows, kind);
}
