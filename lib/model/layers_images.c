/* Resizing, padding by what is there, and cutting around the middle: which element of the operand each one of the result is
 * (or is made of) is known beforehand, dimension by dimension, so that they are lookups by lists of numbers.
 *
 * Places are computed in fp32, as those who made the files do: where rounding decides on a neighbour, it decides alike. */
#include "model/layers.h"
#include "model/onnx.h"

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

static bool is_word(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Where element i of the result is in the operand. False: a rule that we do not have. */
static bool place_of(const struct resizing *r, const struct resized *a, int64_t i, float *x)
{
    float at = (float)i, middle = (at + 0.5f) / a->scale - 0.5f;
    if (is_word(r->place, "half_pixel")) return *x = middle, true;
    if (is_word(r->place, "pytorch_half_pixel")) return *x = a->out > 1 ? middle : 0, true;
    if (is_word(r->place, "asymmetric")) return *x = at / a->scale, true;
    if (is_word(r->place, "align_corners"))
        return *x = a->out > 1 ? at * (float)(a->in - 1) / (float)(a->out - 1) : 0, true;
    if (is_word(r->place, "half_pixel_symmetric")) {
        float moved = (float)a->in / 2 * (1 - (float)a->out / (a->scale * (float)a->in));
        return *x = moved + middle, true;
    }
    return false;
}

static int64_t within(int64_t v, int64_t n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

static bool nearest_of(const char *way, float x, int64_t *out)
{
    if (is_word(way, "floor"))
        *out = (int64_t)floorf(x);
    else if (is_word(way, "ceil"))
        *out = (int64_t)ceilf(x);
    else if (is_word(way, "round_prefer_floor"))
        *out = (int64_t)(x == truncf(x) + 0.5f ? floorf(x) : roundf(x));
    else if (is_word(way, "round_prefer_ceil"))
        *out = (int64_t)roundf(x);
    else
        return false;
    return true;
}

static void cubic_weights(double a, double s, double *w)
{
    w[0] = ((a * (s + 1) - 5 * a) * (s + 1) + 8 * a) * (s + 1) - 4 * a;
    w[1] = ((a + 2) * s - (a + 3)) * s * s + 1;
    w[2] = ((a + 2) * (1 - s) - (a + 3)) * (1 - s) * (1 - s) + 1;
    w[3] = ((a * (2 - s) - 5 * a) * (2 - s) + 8 * a) * (2 - s) - 4 * a;
}

/* What is outside does not count, the others more. */
static void only_inside(int64_t low, int64_t n, double *w)
{
    double sum = 0;
    for (int k = 0; k < MOST_TAPS; k++) {
        if (low + k < 0 || low + k >= n) w[k] = 0;
        sum += w[k];
    }
    for (int k = 0; k < MOST_TAPS; k++) w[k] /= sum;
}

/* The elements that element i of the result is made of, and how much each counts. */
static bool taps_of(const struct resizing *r, const struct resized *a, int64_t i, int64_t *from, double *w)
{
    float x;
    if (!place_of(r, a, i, &x) || !(fabsf(x) < 1e9f)) return false;
    if (r->taps == 1) {
        w[0] = 1;
        if (!nearest_of(r->way, x, &from[0])) return false;
    } else if (r->taps == 2) {
        x = x < 0 ? 0 : x > (float)(a->in - 1) ? (float)(a->in - 1) : x;
        from[0] = (int64_t)x;
        from[1] = from[0] + 1;
        w[1] = (double)(x - (float)from[0]);
        w[0] = 1 - w[1];
    } else {
        int64_t low = (int64_t)floorf(x) - 1;
        for (int k = 0; k < MOST_TAPS; k++) from[k] = low + k;
        cubic_weights(r->cubic, (double)(x - floorf(x)), w);
        if (r->exclude_outside) only_inside(low, a->in, w);
    }
    for (int k = 0; k < r->taps; k++) from[k] = within(from[k], a->in);
    return true;
}

/* One dimension: for each tap a lookup, weighed and added up. */
static int32_t resize_along(struct layer *l, int32_t x, int axis, const struct resizing *r,
                            const struct resized *a)
{
    int64_t *from, one[MOST_TAPS];
    double *w, part[MOST_TAPS];
    int rank = layer_type(l, x)->count;
    int32_t y = -1;
    if (a->out > MODEL_MAX_KNOWN || a->out < 1) return layer_fail(l), -1;
    from = arena_array(&l->m->memory, MOST_TAPS * (size_t)a->out, sizeof *from);
    w = arena_array(&l->m->memory, MOST_TAPS * (size_t)a->out, sizeof *w);
    if (!from || !w) return layer_fail(l), -1;
    for (int64_t i = 0; i < a->out; i++) {
        if (!taps_of(r, a, i, one, part)) return layer_fail(l), -1;
        for (int k = 0; k < r->taps; k++) {
            from[k * a->out + i] = one[k];
            w[k * a->out + i] = (double)(float)part[k];
        }
    }
    for (int k = 0; k < r->taps; k++) {
        int32_t picked = layer_gather(l, x, axis, a->out, from + k * a->out);
        if (r->taps == 1) return picked;
        int32_t weight = layer_reals(l, layer_element(l, x), 1, &a->out, w + k * a->out);
        picked = layer_two(l, "Mul", picked, layer_channels(l, weight, rank, axis));
        y = y < 0 ? picked : layer_two(l, "Add", y, picked);
    }
    return y;
}

/* The factor of a dimension: stated, or that of the extents. */
static float scale_of(const struct layer *l, int dim, int64_t in, int64_t out)
{
    bool old = is_word(l->op->kind, "Upsample") || onnx_opset(l->m, "") < 11;
    int operand = old ? 1 : 2, count;
    const int64_t *axes = model_attr_ints(&l->op->attrs, "axes", &count);
    const struct model_attr *a = model_attr_find(&l->op->attrs, "scales");
    const struct model_data *d = layer_has(l, operand) ? l->m->values.at[layer_in(l, operand)].data : NULL;
    int rank = layer_type(l, layer_in(l, 0))->count, at = dim;
    for (int i = 0; i < count; i++)
        if ((axes[i] < 0 ? axes[i] + rank : axes[i]) == dim) at = i;
    if (a && a->form == ATTR_REALS && at < a->count) return (float)a->reals[at];
    if (d && d->reals && d->type->elements > 0 && at < d->type->elements)
        return (float)d->reals[d->form == DATA_SPLAT ? 0 : at];
    return (float)out / (float)in;
}

static bool resizing_of(const struct layer *l, struct resizing *r)
{
    const char *mode = model_attr_word(&l->op->attrs, "mode", "nearest");
    bool old = is_word(l->op->kind, "Upsample") || onnx_opset(l->m, "") < 11;
    *r = (struct resizing){
        .place = model_attr_word(&l->op->attrs, "coordinate_transformation_mode",
                                 old ? "asymmetric" : "half_pixel"),
        .way = model_attr_word(&l->op->attrs, "nearest_mode", old ? "floor" : "round_prefer_floor"),
        .exclude_outside = layer_int(l, "exclude_outside", 0) != 0,
        .cubic = layer_real(l, "cubic_coeff_a", -0.75)};
    r->taps = is_word(mode, "nearest")                               ? 1
              : is_word(mode, "linear") || is_word(mode, "bilinear") ? 2
              : is_word(mode, "cubic")                               ? 4
                                                                     : 0;
    return r->taps > 0;
}

/* Whole factors with the nearest element are a view, which the importer has. */
static bool is_view(const struct layer *l, const struct resizing *r, const struct model_type *x,
                    const struct model_type *y)
{
    bool plain = is_word(r->place, "asymmetric") && is_word(r->way, "floor");
    bool middle = is_word(r->place, "half_pixel") || is_word(r->place, "pytorch_half_pixel");
    bool repeats = r->taps == 1 && (plain || (middle && strncmp(r->way, "round_prefer", 12) == 0));
    for (int d = 0; repeats && d < x->count; d++) {
        struct resized a = {x->extent[d], y->extent[d], scale_of(l, d, x->extent[d], y->extent[d]), 0, 0};
        int64_t times = a.out / a.in, from[MOST_TAPS];
        double w[MOST_TAPS];
        repeats = a.out % a.in == 0 && a.out <= MODEL_MAX_KNOWN;
        for (int64_t i = 0; repeats && i < a.out; i++)
            repeats = taps_of(r, &a, i, from, w) && from[0] == i / times;
    }
    return repeats;
}

static void resize(struct layer *l)
{
    const struct model_type *x = layer_type(l, layer_in(l, 0)), *y = model_type_of(l->m, l->op->results[0]);
    enum model_element e = x->element;
    bool real = model_element_row(e)->number == MODEL_FLOAT;
    bool old = is_word(l->op->kind, "Upsample") || onnx_opset(l->m, "") < 11;
    struct resizing r;
    if (l->m->format != MODEL_ONNX || !resizing_of(l, &r) || x->count != y->count || (r.taps > 1 && !real)) {
        layer_fail(l);
        return;
    }
    bool view = is_view(l, &r, x, y);
    int32_t v = r.taps > 1 && model_element_row(e)->bits < 32 ? layer_cast(l, layer_in(l, 0), MODEL_F32)
                                                              : layer_in(l, 0);
    for (int d = 0; d < x->count; d++) {
        struct resized a = {x->extent[d], y->extent[d], scale_of(l, d, x->extent[d], y->extent[d]), 0, 0};
        bool smaller = a.scale < 1 && ((old && r.taps == 1) || layer_int(l, "antialias", 0) != 0);
        if (view || smaller || !(a.scale > 0)) layer_fail(l);
        if (a.scale != 1 || a.in != a.out) v = resize_along(l, v, d, &r, &a);
    }
    layer_result(l, 0, v == layer_in(l, 0) ? layer_one(l, "Identity", v) : v);
}

/* TTIR has images as [N,H,W,C]; the nearest pixel is a view, which the importer has. */
static void upsample(struct layer *l)
{
    const struct model_type *x = layer_type(l, layer_in(l, 0)), *y = model_type_of(l->m, l->op->results[0]);
    struct resizing r = {.place = "half_pixel", .taps = 2};
    bool linear = is_word(model_attr_word(&l->op->attrs, "mode", "nearest"), "bilinear");
    int32_t v = layer_in(l, 0);
    if (!linear || x->count != 4 || y->count != 4 || model_element_row(x->element)->number != MODEL_FLOAT) {
        layer_fail(l);
        return;
    }
    if (model_element_row(x->element)->bits < 32) v = layer_cast(l, v, MODEL_F32);
    for (int d = 1; d < 3; d++) {
        struct resized a = {x->extent[d], y->extent[d], (float)y->extent[d] / (float)x->extent[d], 0, 0};
        if (a.in != a.out) v = resize_along(l, v, d, &r, &a);
    }
    layer_result(l, 0, v == layer_in(l, 0) ? layer_one(l, "Identity", v) : v);
}

/* ---- pads ---- */

/* Which element of n stands at place i before, among or behind them. */
static int64_t padded_from(const char *mode, int64_t i, int64_t n)
{
    if (is_word(mode, "edge")) return within(i, n);
    if (is_word(mode, "wrap")) return ((i % n) + n) % n;
    if (n == 1) return 0;
    int64_t turn = 2 * (n - 1), at = ((i % turn) + turn) % turn;
    return at < n ? at : turn - at;
}

/* Before and behind each dimension; below 11 they are an attribute. */
static bool pads_of(const struct layer *l, int rank, int64_t *low, int64_t *high)
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

static void pad(struct layer *l)
{
    const char *mode = model_attr_word(&l->op->attrs, "mode", "constant");
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x);
    int64_t low[MODEL_MAX_RANK], high[MODEL_MAX_RANK], from[MODEL_MAX_KNOWN];
    bool known = is_word(mode, "edge") || is_word(mode, "wrap") || is_word(mode, "reflect");
    if (l->m->format != MODEL_ONNX || !known || !pads_of(l, t->count, low, high)) {
        layer_fail(l);
        return;
    }
    for (int d = 0; l->ok && d < t->count; d++) {
        int64_t n = t->extent[d], least = -low[d], out;
        if (low[d] == 0 && high[d] == 0) continue;
        bool odd = low[d] < 0 || high[d] < 0 || low[d] > MODEL_MAX_KNOWN || high[d] > MODEL_MAX_KNOWN;
        out = odd ? 0 : n + low[d] + high[d];
        if (odd || out > MODEL_MAX_KNOWN) layer_fail(l);
        for (int64_t i = 0; l->ok && i < out; i++) from[i] = padded_from(mode, i + least, n);
        x = l->ok ? layer_gather(l, x, d, out, from) : -1;
    }
    layer_result(l, 0, x == layer_in(l, 0) ? layer_one(l, "Identity", x) : x);
}

/* Cut or padded with 0 by half at each side, what is odd at the end. */
static void centre(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x), *y = model_type_of(l->m, l->op->results[0]);
    int64_t pads[2 * MODEL_MAX_RANK];
    if (t->count != y->count) {
        layer_fail(l);
        return;
    }
    for (int d = 0; d < t->count; d++) {
        int64_t less = t->extent[d] - y->extent[d], more = -less;
        pads[d] = more > 0 ? more / 2 : 0;
        pads[t->count + d] = more > 0 ? more - more / 2 : 0;
        if (less > 0) x = layer_slice(l, x, d, less / 2, less / 2 + y->extent[d]);
    }
    layer_result(l, 0, layer_two(l, "Pad", x, layer_list(l, 2 * t->count, pads)));
}

/* clang-format off */
const struct layer_row layers_images[] = {
    {{NULL, NULL, "Resize"}, resize},
    {{NULL, NULL, "Upsample"}, resize},
    {{"upsample2d", NULL, NULL}, upsample},
    {{NULL, NULL, "Pad"}, pad},
    {{NULL, NULL, "CenterCropPad"}, centre},
    {{NULL}, NULL},
};
/* clang-format on */
