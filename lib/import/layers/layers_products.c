/* Gemm and linear in matmuls, convolutions of few channels, lookups of single elements, mirrored pads, and
 * quantised numbers. */
#include "import/layers/layers.h"
#include "import/types/typing.h"
#include "import/types/windows.h"

/* An operand of a product, transposed in its last two dimensions if the attribute is set. */
static int32_t product_operand(struct layer *l, int operand, const char *swap)
{
    int32_t a = layer_in(l, operand);
    int64_t perm[MODEL_MAX_RANK];
    int rank = layer_type(l, a)->count;
    if (!layer_int(l, swap, 0)) return a;
    if (rank < 2) return layer_fail(l);
    for (int d = 0; d < rank; d++) perm[d] = d < rank - 2 ? d : 2 * rank - 3 - d;
    return layer_permute(l, a, rank, perm);
}

/* alpha * A' B' + beta * C; linear of TTIR has no factors. */
bool derive_gemm(struct layer *l)
{
    bool linear = strcmp(l->op->kind, "linear") == 0;
    double alpha = layer_real(l, "alpha", 1), beta = layer_real(l, "beta", 1);
    int32_t a = product_operand(l, 0, linear ? "transpose_a" : "transA");
    int32_t b = product_operand(l, 1, linear ? "transpose_b" : "transB");
    int32_t y = layer_two(l, "MatMul", a, b), c = layer_in(l, 2);
    if (alpha != 1) y = layer_by(l, "Mul", y, alpha);
    if (c >= 0 && beta != 0) y = layer_two(l, "Add", y, beta == 1 ? c : layer_by(l, "Mul", c, beta));
    return layer_result(l, 0, y);
}

/* Slices that make blocks; channels in the end: a stick of fp32; an image with a stick at each position must be
 * larger than this, or it stays on chip anyway. */
enum { CONV_MOST_PARTS = 4, CONV_FEW = 32, CONV_STICK_BYTES = 128, CONV_ON_CHIP = 4 << 20 };

/* Along one dimension of a convolution: blocks of `stride` positions, and how the windows slide over them. */
struct conv_blocks {
    int64_t stride, rows, taps; /* blocks of the image and of the weight */
    int64_t front, back;        /* blocks of padding */
    int64_t shift;              /* zeros before the first tap, so that it begins a block */
};

/* False: the windows leave the blocks of the image. */
static bool conv_blocks_of(const struct model_window *w, int64_t out, struct conv_blocks *b)
{
    if (w->hole != 1 || w->reversed || w->dilation != 1 || w->low < 0 || w->low > w->in ||
        w->stride > CONV_MOST_PARTS || w->size > w->in + w->low)
        return false;
    b->stride = w->stride;
    b->rows = ceil_div_i64(w->in, w->stride);
    b->front = ceil_div_i64(w->low, w->stride);
    b->shift = b->front * w->stride - w->low;
    b->taps = ceil_div_i64(w->size + b->shift, w->stride);
    b->back = out - 1 + b->taps - b->front - b->rows;
    return b->back >= 0;
}

/* Pads the image or the weight to whole blocks, then makes positions within blocks channels. `of`: the
 * dimension of the batch, of the channels and of each window. */
static int32_t conv_in_blocks(struct layer *l, int32_t a, int count, const int64_t *of,
                              const struct conv_blocks *b, bool weight)
{
    int64_t pads[2 * MODEL_MAX_WINDOWS + 4] = {0}, from[MODEL_MAX_WINDOWS], to[MODEL_MAX_WINDOWS],
                                         step[MODEL_MAX_WINDOWS], all = 1;
    int32_t parts[CONV_MOST_PARTS];
    bool padded = false;
    for (int i = 0; i < count; i++) {
        int64_t low = weight ? b[i].shift : 0;
        step[i] = b[i].stride;
        to[i] = (weight ? b[i].taps : b[i].rows) * step[i];
        pads[of[2 + i]] = low;
        pads[count + 2 + of[2 + i]] = to[i] - low - layer_type(l, a)->extent[of[2 + i]];
        padded |= low || pads[count + 2 + of[2 + i]];
        all *= step[i];
    }
    if (padded) a = layer_two(l, "Pad", a, layer_list(l, 2 * (count + 2), pads));
    for (int64_t part = 0; part < all; part++) {
        int64_t rest = part;
        for (int i = 0; i < count; rest /= step[i++]) from[i] = rest % step[i];
        parts[part] = layer_part(l, "Slice", 5,
                                 (int32_t[]){a, layer_list(l, count, from), layer_list(l, count, to),
                                             layer_list(l, count, of + 2), layer_list(l, count, step)});
    }
    return layer_permute(l, layer_concat(l, (int)of[1], (int)all, parts), count + 2, of);
}

/* Whether the windows lie side by side, without padding. */
static bool conv_has_patches(const struct model_window *w, int64_t out)
{
    return w->hole == 1 && !w->reversed && w->dilation == 1 && w->low == 0 && w->size == w->stride &&
           w->in == w->stride * out;
}

/* A view of the image or the weight, in which positions within patches are channels. Not of the window over
 * the image's last dimension, `kept`: sticks run along it. */
static int32_t conv_in_patches(struct layer *l, int32_t a, const struct model_conv *k, const int64_t *of,
                               int kept, bool weight)
{
    int64_t shape[2 * MODEL_MAX_WINDOWS + 2], perm[2 * MODEL_MAX_WINDOWS + 2], last[MODEL_MAX_WINDOWS + 2];
    int rank = 2, front = 2;
    a = layer_permute(l, a, k->count + 2, of);
    for (int d = 0; d < 2; d++) perm[d] = d, last[d] = shape[d] = l->ok ? layer_type(l, a)->extent[d] : 1;
    for (int i = 0; i < k->count; i++) {
        const struct model_window *w = &k->window[i];
        last[2 + i] = weight ? (i == kept ? w->size : 1) : (i == kept ? w->in : w->in / w->stride);
        shape[rank++] = last[2 + i];
        if (i == kept) continue;
        last[1] *= shape[rank] = w->stride;
        perm[front++] = rank++;
    }
    for (int d = 2, i = 0; i < k->count; i++, d++) {
        perm[front++] = d;
        d += i != kept;
    }
    a = layer_permute(l, layer_reshape(l, a, rank, shape), rank, perm);
    return layer_reshape(l, a, 2 + k->count, last);
}

/* The convolution of image and weight with a list of attributes and the op's bias, in the order of its
 * result. */
static bool conv_result(struct layer *l, const struct model_conv *k, int32_t image, int32_t weight,
                        const char *key, int count, const int64_t *list)
{
    int64_t of[MODEL_MAX_WINDOWS + 2];
    int32_t bias = layer_in(l, 2), parts[3] = {image, weight};
    if (bias >= 0) parts[2] = layer_reshape(l, bias, 1, &(int64_t){layer_type(l, bias)->elements});
    layer_put_list(l, key, count, list);
    int32_t y = layer_part(l, "Conv", bias >= 0 ? 3 : 2, parts);
    of[k->y_batch] = 0, of[k->y_channel] = 1;
    for (int i = 0; i < k->count; i++) of[k->y[i]] = 2 + i;
    return layer_result(l, 0, layer_permute(l, y, k->count + 2, of));
}

/* A convolution with strides over a large image of few channels as one without most strides: the positions of
 * a patch or of a block of `stride` become channels. They share sticks, and cores may divide what strides give
 * to one. */
bool derive_convolution(struct layer *l)
{
    const struct model_type *x = layer_type(l, layer_in(l, 0)), *w = layer_type(l, layer_in(l, 1));
    bool onnx = strcmp(l->op->kind, "Conv") == 0, hlo = strcmp(l->op->kind, "convolution") == 0;
    struct conv_blocks blocks[MODEL_MAX_WINDOWS];
    struct model_conv k;
    if (layer_out(l)->element != x->element) return false; /* its sums are wider than a part's would be */
    if (!op_conv(onnx ? MODEL_ONNX : hlo ? MODEL_HLO : MODEL_TTIR, l->op, x, w, &k)) return false;
    int64_t of_x[MODEL_MAX_WINDOWS + 2] = {k.batch, k.channel}, pads[2 * MODEL_MAX_WINDOWS],
                                     of_w[MODEL_MAX_WINDOWS + 2] = {k.out_channel, k.in_channel},
                                     strides[MODEL_MAX_WINDOWS];
    int64_t channels = conv_extent(x, k.channel), all = 1, taps = 1;
    bool fits = true, patches = true;
    if (k.count < 1 || k.groups != 1 || k.batch_groups != 1 || channels < 1 || channels > CONV_FEW ||
        x->elements / channels <= CONV_ON_CHIP / CONV_STICK_BYTES)
        return false;
    int kept = -1;
    for (int i = 0; i < k.count; i++) {
        int64_t out = conv_extent(layer_out(l), k.y[i]);
        of_x[2 + i] = k.x[i], of_w[2 + i] = k.w[i];
        patches &= conv_has_patches(&k.window[i], out);
        fits = fits && conv_blocks_of(&k.window[i], out, &blocks[i]) &&
               (all *= blocks[i].stride) <= CONV_MOST_PARTS;
        if (k.x[i] == x->count - 1) kept = i;
        pads[i] = fits ? blocks[i].front : 0, pads[k.count + i] = fits ? blocks[i].back : 0;
        strides[i] = kept == i ? k.window[i].stride : 1;
        taps *= kept == i ? 1 : k.window[i].size;
    }
    if (fits && all > 1 && all * channels <= CONV_FEW) {
        int32_t image = conv_in_blocks(l, layer_in(l, 0), k.count, of_x, blocks, false);
        int32_t weight = conv_in_blocks(l, layer_in(l, 1), k.count, of_w, blocks, true);
        return conv_result(l, &k, image, weight, "pads", 2 * k.count, pads);
    }
    if (!patches || taps == 1) return false;
    int32_t image = conv_in_patches(l, layer_in(l, 0), &k, of_x, kept, false);
    int32_t weight = conv_in_patches(l, layer_in(l, 1), &k, of_w, kept, true);
    return conv_result(l, &k, image, weight, "strides", k.count, strides);
}

/* Gathers from a dimension of one element: repeats it for each index. */
bool derive_gather(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *t = layer_type(l, x), *i = layer_type(l, layer_in(l, 1));
    int64_t open[2 * MODEL_MAX_RANK], full[2 * MODEL_MAX_RANK];
    int axis = typing_dim(layer_int(l, "axis", 0), t->count), rank = 0;
    if (axis < 0 || t->extent[axis] != 1 || t->count + i->count > MODEL_MAX_RANK) return false;
    for (int d = 0; d < t->count; d++) {
        for (int k = 0; d == axis && k < i->count; k++, rank++) open[rank] = 1, full[rank] = i->extent[k];
        if (d != axis) open[rank] = full[rank] = t->extent[d], rank++;
    }
    return layer_result(l, 0, layer_expand_to(l, layer_reshape(l, x, rank, open), rank, full));
}

/* Pads by elements of the operand: a lookup by a list of positions in each growing dimension. */
bool derive_pad(struct layer *l)
{
    const char *mode = model_attr_word(&l->op->attrs, "mode", "constant");
    bool edge = strcmp(mode, "edge") == 0, wrap = strcmp(mode, "wrap") == 0;
    struct typing t = typing_open(l->m, l->op, MODEL_ONNX, l->opset);
    int64_t low[MODEL_MAX_RANK], high[MODEL_MAX_RANK], inner[MODEL_MAX_RANK], from[MODEL_MAX_KNOWN];
    int32_t x = layer_in(l, 0);
    if ((!edge && !wrap && strcmp(mode, "reflect") != 0) || typing_pads(&t, low, high, inner) != TYPED)
        return false;
    for (int d = 0; d < t.in[0]->count; d++) {
        int64_t n = t.in[0]->extent[d], turn = n == 1 || wrap ? n : 2 * (n - 1);
        if (low[d] == 0 && high[d] == 0) continue;
        if (low[d] < 0 || high[d] < 0 || low[d] > MODEL_MAX_KNOWN || high[d] > MODEL_MAX_KNOWN ||
            n + low[d] + high[d] > MODEL_MAX_KNOWN)
            return false;
        for (int64_t i = -low[d]; i < n + high[d]; i++) {
            int64_t at = (i % turn + turn) % turn;
            if (edge) at = i < 0 ? 0 : i < n ? i : n - 1;
            from[i + low[d]] = at < n ? at : turn - at;
        }
        int32_t index = layer_list(l, (int)(n + low[d] + high[d]), from);
        layer_put(l, "axis", d);
        x = layer_two(l, "Gather", x, index);
    }
    return layer_result(l, 0, x);
}

/* A scale or zero point: one number, or one per channel along `axis`; blocks leave the op generic. */
static int32_t quantised_spread(struct layer *l, int operand)
{
    int32_t s = layer_in(l, operand);
    const struct model_type *t = layer_type(l, layer_in(l, 0)), *has = layer_type(l, s);
    int axis = typing_dim(layer_int(l, "axis", 1), t->count);
    if (has->elements == 1 && has->count <= t->count) return s;
    if (axis < 0 || has->count != 1 || has->elements != t->extent[axis]) return layer_fail(l);
    return layer_channels(l, s, t->count, axis);
}

/* (x - z) * s */
bool derive_dequantize(struct layer *l)
{
    enum model_element f = layer_type(l, layer_in(l, 1))->element;
    int32_t y = layer_cast(l, layer_in(l, 0), f);
    if (layer_in(l, 2) >= 0) y = layer_two(l, "Sub", y, layer_cast(l, quantised_spread(l, 2), f));
    return layer_result(l, 0, layer_two(l, "Mul", y, quantised_spread(l, 1)));
}

/* clamp(round(x / s) + z) */
bool derive_quantize(struct layer *l)
{
    enum model_element f = layer_type(l, layer_in(l, 1))->element, to = layer_out(l)->element;
    const struct model_element_row *row = model_element_row(to);
    int32_t x = layer_cast(l, layer_in(l, 0), f), y = layer_two(l, "Div", x, quantised_spread(l, 1));
    if (row->number != MODEL_FLOAT) {
        bool is_signed = row->number == MODEL_SIGNED;
        double high = (double)((INT64_C(1) << (row->bits - is_signed)) - 1), low = is_signed ? -high - 1 : 0;
        y = layer_one(l, "Round", y);
        if (layer_in(l, 2) >= 0) y = layer_two(l, "Add", y, layer_cast(l, quantised_spread(l, 2), f));
        y = layer_by(l, "Min", layer_by(l, "Max", y, low), high);
    }
    return layer_result(l, 0, layer_cast(l, y, to));
}
