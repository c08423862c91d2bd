/* Shapes of what works on images: resizing, cutting, sampling, and pictures of columns. */
#include "model/onnx.h"
#include "base/checked.h"

#include <math.h>
#include <string.h>

enum { MOST = MODEL_MAX_RANK };

/* floor(extent * scale), by an operand of numbers; `axes` are the dimensions that they are of. */
static bool scaled(const struct shaper *x, int operand, int count, const int *axes, int64_t *extent)
{
    const struct model_type *t = shaper_in(x, 0);
    const struct model_attr *a = model_attr_find(&x->op->attrs, "scales");
    const struct model_data *d = shaper_data(x, operand);
    const struct model_attr *high = model_attr_find(&x->op->attrs, "height_scale"),
                            *wide = model_attr_find(&x->op->attrs, "width_scale");
    if (high && wide && t->count == 4) { /* of the first version */
        extent[2] = (int64_t)floor((double)t->extent[2] * fmin(fabs(high->real), 1e6));
        extent[3] = (int64_t)floor((double)t->extent[3] * fmin(fabs(wide->real), 1e6));
        return t->extent[2] < INT32_MAX && t->extent[3] < INT32_MAX;
    }
    bool given = a && a->form == ATTR_REALS && a->count == count;
    if (!given && (!d || !d->reals || d->type->elements != count)) return false;
    for (int i = 0; i < count; i++) {
        double scale = given ? a->reals[i] : d->reals[d->form == DATA_SPLAT ? 0 : i];
        double y = floor((double)t->extent[axes[i]] * scale);
        if (!(y >= 0 && y < 1e15)) return false;
        extent[axes[i]] = (int64_t)y;
    }
    return true;
}

/* Where proportions are kept, one scale is that of all: the smallest or the largest that the sizes ask for. */
static void in_proportion(const struct shaper *x, int count, const int *axes, int64_t *extent)
{
    const char *policy = model_attr_word(&x->op->attrs, "keep_aspect_ratio_policy", "stretch");
    const struct model_type *t = shaper_in(x, 0);
    bool least = strcmp(policy, "not_larger") == 0;
    double scale = 0;
    if (!least && strcmp(policy, "not_smaller") != 0) return;
    for (int i = 0; i < count; i++) {
        double own = (double)extent[axes[i]] / (double)max_i64(1, t->extent[axes[i]]);
        if (i == 0 || (least ? own < scale : own > scale)) scale = own;
    }
    for (int i = 0; i < count; i++)
        extent[axes[i]] = (int64_t)floor(scale * (double)t->extent[axes[i]] + 0.5);
}

static enum shaped resize(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST], sizes[MOST], list[MOST];
    int count = -1, chosen, axes[MOST];
    if (!t || !shaper_ints(x, "axes", -1, list, MOST, &chosen)) return SHAPE_UNKNOWN;
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    for (int i = 0; i < (chosen < 0 ? t->count : chosen); i++) {
        axes[i] = chosen < 0 ? i : shaper_axis(list[i], t->count);
        if (axes[i] < 0) return shaper_wrong(x, "no such axis");
    }
    if (chosen < 0) chosen = t->count;
    bool old = strcmp(x->op->kind, "Upsample") == 0 || x->opset < 11;
    if (!old && !shaper_ints(x, NULL, 3, sizes, MOST, &count)) return SHAPE_UNKNOWN;
    if (count > 0) {
        if (count != chosen) return shaper_wrong(x, "not one size for each dimension");
        for (int i = 0; i < count; i++) extent[axes[i]] = sizes[i];
        in_proportion(x, count, axes, extent);
    } else if (!scaled(x, old ? 1 : 2, chosen, axes, extent)) {
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

/* As many images as the operand; height and width (and depth) of the grid, which counts its coordinates last. */
static enum shaped grid_sample(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *g = shaper_in(x, 1);
    int64_t extent[MOST];
    if (!t || !g) return SHAPE_UNKNOWN;
    if (t->count < 3 || g->count != t->count || g->extent[g->count - 1] != t->count - 2)
        return shaper_wrong(x, "the grid does not have the dimensions of its operand");
    for (int d = 0; d < t->count; d++) extent[d] = d < 2 ? t->extent[d] : g->extent[d - 1];
    return shaper_set(x, 0, t->element, t->count, extent);
}

static enum shaped affine_grid(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t size[MOST], extent[MOST];
    int count, rank = 0;
    if (!t || !shaper_ints(x, NULL, 1, size, MOST, &count) || count < 4 || count > 5) return SHAPE_UNKNOWN;
    extent[rank++] = size[0];
    for (int d = 2; d < count; d++) extent[rank++] = size[d];
    extent[rank++] = count - 2;
    return shaper_set(x, 0, t->element, rank, extent);
}

/* One picture for each region. */
static enum shaped regions(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *r = shaper_in(x, 1);
    int64_t size[2] = {shaper_int(x, "output_height", 1), shaper_int(x, "output_width", 1)};
    int count = 2;
    bool max = strcmp(x->op->kind, "MaxRoiPool") == 0;
    if (!t || !r || t->count != 4 || r->count != 2) return SHAPE_UNKNOWN;
    if (max && (!shaper_ints(x, "pooled_shape", -1, size, 2, &count) || count != 2)) return SHAPE_UNKNOWN;
    return shaper_set(x, 0, t->element, 4, (int64_t[]){r->extent[0], t->extent[1], size[0], size[1]});
}

static enum shaped col2im(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t image[MOST], block[MOST], extent[MOST], taps = 1;
    int n, m;
    if (!t || !shaper_ints(x, NULL, 1, image, MOST - 2, &n) ||
        !shaper_ints(x, NULL, 2, block, MOST - 2, &m) || n < 1)
        return SHAPE_UNKNOWN;
    for (int i = 0; i < m; i++)
        if (!mul_i64(taps, block[i], &taps)) return shaper_wrong(x, "too many elements");
    if (t->count != 3 || m != n || taps < 1 || t->extent[1] % taps != 0)
        return shaper_wrong(x, "the columns are not those of the block");
    extent[0] = t->extent[0];
    extent[1] = t->extent[1] / taps;
    memcpy(extent + 2, image, (size_t)n * sizeof *extent);
    return shaper_set(x, 0, t->element, n + 2, extent);
}

/* The extents that a MaxPool of these windows came from, or those of the third operand. */
static enum shaped unpool(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST], size[MOST], stride[MOST], pads[2 * MOST];
    int count, n, p;
    if (!t || t->count < 3) return SHAPE_UNKNOWN;
    if (shaper_has(x, 2)) {
        if (!shaper_ints(x, NULL, 2, extent, MOST, &count) || count != t->count) return SHAPE_UNKNOWN;
        return shaper_set(x, 0, t->element, count, extent);
    }
    if (!shaper_ints(x, "kernel_shape", -1, size, MOST, &count) || count != t->count - 2 ||
        !shaper_ints(x, "strides", -1, stride, MOST, &n) || !shaper_ints(x, "pads", -1, pads, 2 * MOST, &p))
        return SHAPE_UNKNOWN;
    memcpy(extent, t->extent, 2 * sizeof *extent);
    for (int i = 0; i < count; i++) {
        int64_t by = i < n ? stride[i] : 1;
        if (by > INT32_MAX || t->extent[2 + i] > INT32_MAX) return shaper_wrong(x, "too many elements");
        extent[2 + i] = (t->extent[2 + i] - 1) * by + size[i];
        if (p == 2 * count) extent[2 + i] -= pads[i] + pads[i + count];
    }
    return shaper_set(x, 0, t->element, t->count, extent);
}

/* A transform along an axis: two numbers an element; of a length that is told, half of it and one if one-sided. */
static enum shaped dft(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    int64_t extent[MOST], length, at = shaper_int(x, "axis", 1);
    int count;
    if (!t || t->count < 2 || t->count > MOST) return SHAPE_UNKNOWN;
    if (x->opset >= 20) at = -2;
    if (shaper_has(x, 2) && (!shaper_ints(x, NULL, 2, &at, 1, &count) || count != 1)) return SHAPE_UNKNOWN;
    int axis = shaper_axis(at, t->count);
    if (axis < 0) return shaper_wrong(x, "no such axis");
    memcpy(extent, t->extent, (size_t)t->count * sizeof *extent);
    if (shaper_has(x, 1)) {
        if (!shaper_ints(x, NULL, 1, &length, 1, &count) || count != 1) return SHAPE_UNKNOWN;
        extent[axis] = length;
    }
    bool half = shaper_int(x, "onesided", 0) != 0, back = half && shaper_int(x, "inverse", 0);
    if (back && !shaper_has(x, 1)) extent[axis] = 2 * (extent[axis] - 1);
    if (half && !back) extent[axis] = extent[axis] / 2 + 1;
    extent[t->count - 1] = back ? 1 : 2;
    return shaper_set(x, 0, t->element, t->count, extent);
}

/* signal [B,L,1], step, window?, length?: [B,frames,bins,2] */
static enum shaped stft(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0), *w = shaper_in(x, 2);
    int64_t step, length = -1;
    int n, m;
    if (!t || t->count < 2 || !shaper_ints(x, NULL, 1, &step, 1, &n) || n != 1 ||
        !shaper_ints(x, NULL, 3, &length, 1, &m))
        return SHAPE_UNKNOWN;
    if (m < 1 && w && w->count == 1) length = w->extent[0];
    if (length < 1 || step < 1) return SHAPE_UNKNOWN;
    if (length > t->extent[1]) return shaper_wrong(x, "a frame that is longer than the signal");
    int64_t bins = shaper_int(x, "onesided", 1) ? length / 2 + 1 : length;
    return shaper_set(x, 0, t->element, 4,
                      (int64_t[]){t->extent[0], (t->extent[1] - length) / step + 1, bins, 2});
}

static enum shaped det(struct shaper *x)
{
    const struct model_type *t = shaper_in(x, 0);
    if (!t) return SHAPE_UNKNOWN;
    if (t->count < 2) return shaper_wrong(x, "no matrix");
    return shaper_set(x, 0, t->element, t->count - 2, t->extent);
}

onnx_shape_of *onnx_shape_image(const char *kind)
{
    /* clang-format off */
    static const struct onnx_shape_row rows[] = {
        {"Resize", resize}, {"Upsample", resize}, {"DepthToSpace", depth_space}, {"SpaceToDepth", depth_space}, {"Crop", crop},
        {"GridSample", grid_sample}, {"com.microsoft:GridSample", grid_sample}, {"AffineGrid", affine_grid}, {"RoiAlign", regions}, {"MaxRoiPool", regions},
        {"Col2Im", col2im}, {"MaxUnpool", unpool}, {"DFT", dft}, {"STFT", stft}, {"Det", det}, {NULL, NULL}};
    /* clang-format on */
    return onnx_shape_find(rows, kind);
}
