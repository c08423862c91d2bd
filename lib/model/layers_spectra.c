/* Sound: windows, mel filters and Fourier transforms. A transform of n samples is a product with the matrix of cosines and one
 * with that of sines; those that slide along a signal are a convolution with both. Matrices are constants where they are
 * small, else made of counters: what is counted is taken modulo n first, so that angles stay below a turn. */
#include "model/layers.h"
#include "model/onnx.h"

#include <math.h>
#include <string.h>

#define TURN 6.28318530717958647692

static int64_t known_int(const struct layer *l, int operand, int64_t otherwise)
{
    const struct model_data *d = layer_has(l, operand) ? l->m->values.at[layer_in(l, operand)].data : NULL;
    return d && d->ints ? d->ints[0] : otherwise;
}

static double known_real(const struct layer *l, int operand)
{
    const struct model_data *d = layer_has(l, operand) ? l->m->values.at[layer_in(l, operand)].data : NULL;
    return d && (d->ints || d->reals) ? model_data_real(d, 0) : NAN;
}

/* 0, 1, .. n - 1 in int64 along one of two dimensions. */
static int32_t counter(struct layer *l, int64_t n, int axis)
{
    int32_t from = layer_number(l, MODEL_I64, 0), to = layer_number(l, MODEL_I64, (double)n),
            by = layer_number(l, MODEL_I64, 1);
    return layer_channels(l, layer_part(l, "Range", 3, (int32_t[]){from, to, by}), 2, axis);
}

/* ---- windows ---- */

/* a - b cos(turn i / period) + c cos(2 turn i / period) */
static void window(struct layer *l)
{
    static const struct {
        const char *kind;
        double a, b, c;
    } rows[] = {{"HannWindow", 0.5, 0.5, 0},
                {"HammingWindow", 25.0 / 46, 21.0 / 46, 0},
                {"BlackmanWindow", 0.42, 0.5, 0.08}};
    const struct model_type *y = model_type_of(l->m, l->op->results[0]);
    int64_t n = y->elements, period = layer_int(l, "periodic", 1) ? n : n - 1;
    double numbers[MODEL_MAX_KNOWN];
    size_t k = 0;
    while (k + 1 < sizeof rows / sizeof *rows && strcmp(rows[k].kind, l->op->kind) != 0) k++;
    if (period < 1) period = 1;
    if (n <= MODEL_MAX_KNOWN) {
        for (int64_t i = 0; i < n; i++)
            numbers[i] = rows[k].a - rows[k].b * cos(TURN * (double)i / (double)period) +
                         rows[k].c * cos(2 * TURN * (double)i / (double)period);
        layer_result(l, 0, layer_reals(l, MODEL_F32, 1, &n, numbers));
        return;
    }
    int32_t angle = layer_by(l, "Mul", layer_cast(l, counter(l, n, 1), MODEL_F32), TURN / (double)period);
    int32_t x = layer_by(l, "Add", layer_by(l, "Mul", layer_one(l, "Cos", angle), -rows[k].b), rows[k].a);
    int32_t twice = layer_one(l, "Cos", layer_by(l, "Mul", angle, 2));
    layer_result(l, 0, rows[k].c != 0 ? layer_two(l, "Add", x, layer_by(l, "Mul", twice, rows[k].c)) : x);
}

static double mel(double hertz)
{
    return 2595 * log10(1 + hertz / 700);
}

/* Triangles whose corners are evenly spaced on the scale of mels: bin, middle, bin of each. */
static void mel_row(double *row, int64_t bin, int64_t mels, const double *corner)
{
    for (int64_t m = 0; m < mels; m++) {
        double low = corner[m], middle = corner[m + 1], high = corner[m + 2], at = (double)bin;
        row[m] = middle == low ? at == middle : at >= low && at <= middle ? (at - low) / (middle - low) : 0;
        if (high != middle && at >= middle && at < high) row[m] = (high - at) / (high - middle);
    }
}

/* number of mels, length, rate, lowest and highest frequency: [length / 2 + 1, mels] */
static void mel_weights(struct layer *l)
{
    const struct model_type *y = model_type_of(l->m, l->op->results[0]);
    int64_t mels = known_int(l, 0, 0), length = known_int(l, 1, 0), rate = known_int(l, 2, 0);
    double low = known_real(l, 3), high = known_real(l, 4), corner[MODEL_MAX_KNOWN], numbers[MODEL_MAX_KNOWN];
    if (mels < 1 || mels + 2 > MODEL_MAX_KNOWN || length < 1 || rate < 1 || isnan(low) || isnan(high) ||
        y->count != 2 || y->extent[1] != mels || y->extent[0] > MODEL_MAX_KNOWN) {
        layer_fail(l);
        return;
    }
    double from = mel(low), step = (mel(high) - from) / (double)(mels + 2); /* as ONNX has it */
    for (int64_t i = 0; i < mels + 2; i++)
        corner[i] = floor((double)(length + 1) * 700 * (pow(10, (from + step * (double)i) / 2595) - 1) /
                          (double)rate);
    int32_t parts[MODEL_MAX_KNOWN];
    int64_t rows = MODEL_MAX_KNOWN / mels;
    int count = 0;
    for (int64_t b = 0; l->ok && b < y->extent[0]; b += rows) {
        int64_t n = y->extent[0] - b < rows ? y->extent[0] - b : rows;
        for (int64_t i = 0; i < n; i++) mel_row(numbers + i * mels, b + i, mels, corner);
        parts[count++] = layer_reals(l, MODEL_F32, 2, (int64_t[]){n, mels}, numbers);
    }
    layer_result(l, 0, layer_concat(l, 0, count, parts));
}

/* ---- transforms ---- */

/* [n, bins]: cosines, or sines, of i k turns / n. */
static int32_t waves(struct layer *l, const char *kind, int64_t n, int64_t bins, enum model_element e)
{
    double numbers[MODEL_MAX_KNOWN];
    if (n <= MODEL_MAX_KNOWN && n * bins <= MODEL_MAX_KNOWN) {
        for (int64_t i = 0; i < n * bins; i++) {
            double angle = TURN * (double)(i / bins * (i % bins) % n) / (double)n;
            numbers[i] = strcmp(kind, "Cos") == 0 ? cos(angle) : sin(angle);
        }
        return layer_reals(l, e, 2, (int64_t[]){n, bins}, numbers);
    }
    if (n > INT32_MAX) return layer_fail(l), -1;
    int32_t turns = layer_by(l, "Mod", layer_two(l, "Mul", counter(l, n, 0), counter(l, bins, 1)), (double)n);
    int32_t angle = layer_by(l, "Mul", layer_cast(l, turns, MODEL_F32), TURN / (double)n);
    return layer_cast(l, layer_one(l, kind, angle), e);
}

/* Real and imaginary parts of samples along the last dimension; `im` -1: they are real. */
struct spectrum {
    int32_t re, im;
};

static int32_t combined(struct layer *l, const char *kind, int32_t a, int32_t b)
{
    return a < 0   ? (strcmp(kind, "Sub") == 0 && b >= 0 ? layer_one(l, "Neg", b) : b)
           : b < 0 ? a
                   : layer_two(l, kind, a, b);
}

/* Forward: (re + i im) (cos - i sin); back: (re + i im) (cos + i sin) / n. */
static struct spectrum transformed(struct layer *l, struct spectrum x, int64_t n, int64_t bins, bool back)
{
    enum model_element e = layer_element(l, x.re);
    int32_t c = waves(l, "Cos", n, bins, e), s = waves(l, "Sin", n, bins, e);
    int32_t re_c = layer_two(l, "MatMul", x.re, c), re_s = layer_two(l, "MatMul", x.re, s);
    int32_t im_c = x.im < 0 ? -1 : layer_two(l, "MatMul", x.im, c),
            im_s = x.im < 0 ? -1 : layer_two(l, "MatMul", x.im, s);
    struct spectrum y = {combined(l, back ? "Sub" : "Add", re_c, im_s),
                         combined(l, back ? "Add" : "Sub", im_c, re_s)};
    if (!back) return y;
    y.re = layer_by(l, "Mul", y.re, 1 / (double)n);
    y.im = layer_by(l, "Mul", y.im, 1 / (double)n);
    return y;
}

/* Half of a spectrum back to `n` real samples: what is missing is the other half mirrored. */
static int32_t mirrored_back(struct layer *l, struct spectrum x, int64_t bins, int64_t n)
{
    double weight[MODEL_MAX_KNOWN];
    enum model_element e = layer_element(l, x.re);
    if (bins > MODEL_MAX_KNOWN || n < 1) return layer_fail(l), -1;
    for (int64_t k = 0; k < bins; k++) weight[k] = (k == 0 || 2 * k == n ? 1 : 2) / (double)n;
    int32_t w = layer_reals(l, e, 1, &bins, weight);
    /* [bins, n] is the turned [n, bins] of a transform of n samples. */
    int32_t c = layer_permute(l, waves(l, "Cos", n, bins, e), 2, (int64_t[]){1, 0}),
            s = layer_permute(l, waves(l, "Sin", n, bins, e), 2, (int64_t[]){1, 0});
    return layer_two(l, "Sub", layer_two(l, "MatMul", layer_two(l, "Mul", x.re, w), c),
                     layer_two(l, "MatMul", layer_two(l, "Mul", x.im, w), s));
}

/* `n` samples of the last dimension: cut, or zeros behind. */
static int32_t fitted(struct layer *l, int32_t x, int64_t n)
{
    const struct model_type *t = layer_type(l, x);
    int64_t pads[2 * MODEL_MAX_RANK] = {0};
    if (!l->ok || t->count < 1) return layer_fail(l), -1;
    int64_t have = t->extent[t->count - 1];
    if (have == n) return x;
    if (have > n) return layer_slice(l, x, t->count - 1, 0, n);
    pads[2 * t->count - 1] = n - have;
    return layer_two(l, "Pad", x, layer_list(l, 2 * t->count, pads));
}

/* The samples of [.., axis, .., 1 or 2] with `axis` last. */
static struct spectrum samples(struct layer *l, int32_t x, int axis, int64_t *perm)
{
    const struct model_type *t = layer_type(l, x);
    int rank = t->count - 1;
    struct spectrum y = {-1, -1};
    for (int d = 0; d < rank; d++) perm[d] = d < axis ? d : d + 1;
    perm[rank - 1] = axis;
    for (int i = 0; i < t->extent[rank]; i++) {
        int32_t part = layer_reshape(l, layer_slice(l, x, rank, i, i + 1), rank, t->extent);
        *(i ? &y.im : &y.re) = layer_permute(l, part, rank, perm);
    }
    return y;
}

/* Parts with the transformed dimension last, as pairs in the order of the result. */
static int32_t paired(struct layer *l, struct spectrum y, int axis, const struct model_type *like)
{
    int rank = layer_type(l, y.re)->count;
    int64_t back[MODEL_MAX_RANK], extent[MODEL_MAX_RANK];
    int32_t parts[2] = {y.re, y.im};
    for (int d = 0; d < rank; d++) back[d] = d < axis ? d : d == axis ? rank - 1 : d - 1;
    for (int d = 0; d < rank; d++) extent[d] = like->extent[d];
    extent[rank] = 1;
    for (int i = 0; i < 2 && parts[i] >= 0; i++)
        parts[i] = layer_reshape(l, layer_permute(l, parts[i], rank, back), rank + 1, extent);
    return layer_concat(l, rank, like->extent[rank] == 1 ? 1 : 2, parts);
}

/* x [.., n, .., 1 or 2], length?, axis? (an attribute before version 20) */
static void dft(struct layer *l)
{
    const struct model_type *x = layer_type(l, layer_in(l, 0)), *y = model_type_of(l->m, l->op->results[0]);
    bool back = layer_int(l, "inverse", 0) != 0, half = layer_int(l, "onesided", 0) != 0;
    const struct model_attr *said = model_attr_find(&l->op->attrs, "axis");
    int64_t axis = layer_has(l, 2)                      ? known_int(l, 2, INT64_MAX)
                   : said                               ? said->number
                   : onnx_opset(l->m, l->op->kind) < 20 ? 1
                                                        : -2;
    int64_t perm[MODEL_MAX_RANK];
    if (axis < 0) axis += x->count;
    if (x->count < 2 || x->count + 1 > MODEL_MAX_RANK || y->count != x->count || axis < 0 ||
        axis >= x->count - 1 || x->extent[x->count - 1] > 2 ||
        (back && half && x->extent[x->count - 1] != 2)) {
        layer_fail(l);
        return;
    }
    struct spectrum s = samples(l, layer_in(l, 0), (int)axis, perm);
    int64_t bins = y->extent[axis], n = layer_has(l, 1) ? known_int(l, 1, 0) : half ? 0 : bins;
    if (n == 0) n = back && half ? bins : x->extent[axis];
    if (n < 1 || !l->ok) {
        layer_fail(l);
        return;
    }
    if (back && half) {
        int64_t have = n / 2 + 1;
        s = (struct spectrum){
            mirrored_back(l, (struct spectrum){fitted(l, s.re, have), fitted(l, s.im, have)}, have, n), -1};
    } else {
        s.re = fitted(l, s.re, n);
        if (s.im >= 0) s.im = fitted(l, s.im, n);
        s = transformed(l, s, n, bins, back);
    }
    layer_result(l, 0, paired(l, s, (int)axis, y));
}

/* signal [B, n, 1], step, window?, length?: frames that slide along it */
static void stft(struct layer *l)
{
    const struct model_type *x = layer_type(l, layer_in(l, 0)), *y = model_type_of(l->m, l->op->results[0]);
    int64_t step = known_int(l, 1, 0),
            n = layer_has(l, 2) ? layer_type(l, layer_in(l, 2))->elements : known_int(l, 3, 0);
    bool plain = x->count == 2 || (x->count == 3 && x->extent[2] == 1);
    if (!plain || step < 1 || n < 1 || y->count != 4) {
        layer_fail(l);
        return;
    }
    int64_t bins = y->extent[2];
    enum model_element e = x->element;
    int32_t turned[2];
    for (int i = 0; i < 2; i++) {
        int32_t w = layer_permute(l, waves(l, i ? "Sin" : "Cos", n, bins, e), 2, (int64_t[]){1, 0});
        if (layer_has(l, 2)) w = layer_two(l, "Mul", w, layer_in(l, 2));
        turned[i] = layer_reshape(l, i ? layer_one(l, "Neg", w) : w, 3, (int64_t[]){bins, 1, n});
    }
    int32_t signal = layer_reshape(l, layer_in(l, 0), 3, (int64_t[]){x->extent[0], 1, x->extent[1]});
    int32_t both = layer_concat(l, 0, 2, turned);
    layer_put_list(l, "strides", 1, &step);
    int32_t all = layer_two(l, "Conv", signal, both); /* [B, 2 bins, frames] */
    all = layer_reshape(l, all, 4, (int64_t[]){x->extent[0], 2, bins, y->extent[1]});
    layer_result(l, 0, layer_permute(l, all, 4, (int64_t[]){0, 3, 2, 1}));
}

/* com.microsoft: x [.., n] to [.., n / 2 + 1, 2] along the last dimension, and back. */
static void real_fft(struct layer *l)
{
    bool back = strstr(l->op->kind, "Irfft") != NULL;
    const struct model_type *x = layer_type(l, layer_in(l, 0)), *y = model_type_of(l->m, l->op->results[0]);
    if (layer_int(l, "signal_ndim", 1) != 1 || layer_int(l, "normalized", 0) ||
        !layer_int(l, "onesided", 1) || x->count < 1 || x->count + 1 > MODEL_MAX_RANK ||
        (back && (x->count < 2 || x->extent[x->count - 1] != 2))) {
        layer_fail(l);
        return;
    }
    int64_t perm[MODEL_MAX_RANK], pair[MODEL_MAX_RANK];
    if (back) {
        struct spectrum s = samples(l, layer_in(l, 0), x->count - 2, perm);
        layer_result(l, 0, mirrored_back(l, s, x->extent[x->count - 2], y->extent[y->count - 1]));
        return;
    }
    struct spectrum s = transformed(l, (struct spectrum){layer_in(l, 0), -1}, x->extent[x->count - 1],
                                    y->extent[y->count - 2], false);
    for (int d = 0; d < x->count; d++) pair[d] = y->extent[d];
    pair[x->count] = 1;
    int32_t parts[] = {layer_reshape(l, s.re, x->count + 1, pair),
                       layer_reshape(l, s.im, x->count + 1, pair)};
    layer_result(l, 0, layer_concat(l, x->count, 2, parts));
}

/* clang-format off */
const struct layer_row layers_spectra[] = {
    {{NULL, NULL, "HannWindow"}, window},
    {{NULL, NULL, "HammingWindow"}, window},
    {{NULL, NULL, "BlackmanWindow"}, window},
    {{NULL, NULL, "MelWeightMatrix"}, mel_weights},
    {{NULL, NULL, "DFT"}, dft},
    {{NULL, NULL, "STFT"}, stft},
    {{NULL, NULL, "com.microsoft:Rfft"}, real_fft},
    {{NULL, NULL, "com.microsoft:Irfft"}, real_fft},
    {{NULL}, NULL},
};
/* clang-format on */
