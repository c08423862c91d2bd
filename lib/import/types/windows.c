/* Arithmetic of windows, without a loop over positions: files may state any extent. */
#include "import/types/windows.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 1 << 16 };

static int64_t window_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* How many p of 0..out-1 have 0 <= stride p + at <= last and hole divides it. */
static int64_t windows_positions(const struct model_window *w, int64_t at, int64_t last)
{
    int64_t first = at >= 0 ? 0 : -window_floor_div(at, w->stride),
            final = window_floor_div(last - at, w->stride);
    if (final > w->out - 1) final = w->out - 1;
    if (first > final) return 0;
    if (w->hole == 1) return final - first + 1;
    int64_t period = w->hole / gcd_i64(w->hole, w->stride % w->hole ? w->stride % w->hole : w->hole),
            p = first;
    if (period > MOST_STEPS) return final - first + 1;
    while (p < first + period && (w->stride * p + at) % w->hole != 0) p++;
    return p == first + period || p > final ? 0 : (final - p) / period + 1;
}

int64_t window_valid_taps(const struct model_window *w)
{
    int64_t sum = 0, all, last = 0;
    bool odd = w->size > MOST_STEPS || w->in < 1 || w->stride < 1 || w->hole < 1 || w->out > INT32_MAX ||
               !mul_i64(w->in - 1, w->hole, &last) || last > LX_INT_MAX;
    if (odd) return mul_i64(w->out, w->size, &all) ? all : INT64_MAX;
    for (int64_t k = 0; k < w->size; k++) sum += windows_positions(w, w->dilation * k - w->low, last);
    return sum;
}

int64_t window_out(const struct model_window *w, bool ceil)
{
    int64_t padded, reach;
    if (w->dilation < 0 || w->size < 0 || w->hole < 0) return 0;
    if (!mul_i64(w->in - 1, w->hole, &padded) || !mul_i64(w->dilation, w->size - 1, &reach)) return 0;
    reach++;
    if (!add_i64(padded, 1 + w->low + w->high, &padded) || padded < reach || w->stride < 1) return 0;
    int64_t out = (padded - reach) / w->stride + 1;
    if (ceil && (padded - reach) % w->stride != 0 && out * w->stride < w->in + w->low) out++;
    return out;
}

/* "3x3" or "1_1x1_1": the numbers of part `name` of the text, `per` for each dimension. */
static int window_part(const char *text, const char *name, int per, int64_t *out)
{
    size_t n = strlen(name);
    const char *p = text;
    while ((p = strstr(p, name)) && (p[n] != '=' || (p > text && !strchr("{ ", p[-1])))) p += n;
    if (!p) return 0;
    p += n + 1;
    for (int i = 0; i < MODEL_MAX_WINDOWS * per; i++) {
        char *end;
        out[i] = strtoll(p, &end, 10);
        if (end == p || out[i] > (1 << 30) || out[i] < -(1 << 30)) return -1;
        p = end + 1;
        if (*end != 'x' && *end != '_') return (i + 1) % per == 0 ? (i + 1) / per : -1;
    }
    return -1;
}

/* `window={...}` of HLO: one per number in it; -1: it cannot be read. */
static int hlo_windows(const struct model_op *op, struct model_window *w)
{
    const char *text = model_attr_word(&op->attrs, "window", "");
    int64_t size[MODEL_MAX_WINDOWS], pad[2 * MODEL_MAX_WINDOWS], stride[MODEL_MAX_WINDOWS],
        left[MODEL_MAX_WINDOWS], right[MODEL_MAX_WINDOWS], back[MODEL_MAX_WINDOWS];
    int count = window_part(text, "size", 1, size), has_pad = window_part(text, "pad", 2, pad);
    int has_stride = window_part(text, "stride", 1, stride),
        has_left = window_part(text, "lhs_dilate", 1, left);
    int has_right = window_part(text, "rhs_dilate", 1, right),
        has_back = window_part(text, "rhs_reversal", 1, back);
    if (count < 0) return -1;
    for (int i = 0; i < count; i++)
        w[i] = (struct model_window){.size = size[i],
                                     .stride = i < has_stride ? stride[i] : 1,
                                     .dilation = i < has_right ? right[i] : 1,
                                     .low = i < has_pad ? pad[2 * i] : 0,
                                     .high = i < has_pad ? pad[2 * i + 1] : 0,
                                     .hole = i < has_left ? left[i] : 1,
                                     .reversed = i < has_back && back[i]};
    return count;
}

/* Which dimension of operand `which` (0, 1, 2: the result) has this label in `dim_labels=b01f_01io->b01f`;
 * -1: none. */
static int hlo_label(const char *labels, int which, char label)
{
    for (; which > 0 && labels; which--) {
        const char *next = strpbrk(labels, "_>");
        labels = next ? next + 1 : NULL;
    }
    size_t n = labels ? strcspn(labels, "_-") : 0;
    const char *at = n ? memchr(labels, label, n) : NULL;
    return at ? (int)(at - labels) : -1;
}

/* ---- ONNX ---- */

static int64_t window_bounded(int64_t v)
{
    return v > LX_INT_MAX ? LX_INT_MAX : v < -LX_INT_MAX ? -LX_INT_MAX : v;
}

static int64_t window_nth(const struct model_op *op, const char *key, int i, int64_t otherwise)
{
    int n;
    const int64_t *list = model_attr_ints(&op->attrs, key, &n);
    return window_bounded(i < n ? list[i] : otherwise);
}

/* Dimension 2 + i of x slides under `size[i]` taps. SAME: the result has ceil(n / stride) positions, an
 * odd pad at the end (upper) or the begin. */
static int onnx_windows(const struct model_op *op, const struct model_type *x, const int64_t *size, int count,
                        struct model_window *w)
{
    const char *mode = model_attr_word(&op->attrs, "auto_pad", "NOTSET");
    bool ceil = model_attr_int(&op->attrs, "ceil_mode", 0) != 0;
    if (count < 1 || count > MODEL_MAX_WINDOWS || x->count != count + 2) return -1;
    for (int i = 0; i < count; i++) {
        w[i] = (struct model_window){.in = x->extent[2 + i],
                                     .size = size[i],
                                     .stride = window_nth(op, "strides", i, 1),
                                     .dilation = window_nth(op, "dilations", i, 1),
                                     .low = window_nth(op, "pads", i, 0),
                                     .high = window_nth(op, "pads", count + i, 0),
                                     .hole = 1};
        if (w[i].stride < 1 || w[i].dilation < 1 || w[i].size < 1 || w[i].size > (1 << 20) ||
            w[i].dilation > (1 << 20))
            return -1;
        if (strcmp(mode, "VALID") == 0) w[i].low = w[i].high = 0;
        if (strncmp(mode, "SAME", 4) == 0) {
            int64_t out = ceil_div_i64(w[i].in, w[i].stride);
            int64_t all = max_i64(0, (out - 1) * w[i].stride + w[i].dilation * (w[i].size - 1) + 1 - w[i].in);
            w[i].low = strcmp(mode, "SAME_UPPER") == 0 ? all / 2 : all - all / 2;
            w[i].high = all - w[i].low;
        }
        w[i].out = window_out(&w[i], ceil);
    }
    return count;
}

/* ---- TTIR ---- */

/* Number `i` of height and width, or of top, left, bottom, right; older files have a key for each side. */
static int64_t ttir_nth(const struct model_op *op, const char *key, const char *const sides[2], int i,
                        int64_t otherwise)
{
    int count;
    const int64_t *list = model_attr_ints(&op->attrs, key, &count);
    if (count == 0) return sides ? model_attr_int(&op->attrs, sides[i % 2], otherwise) : otherwise;
    return list[count == 4 ? i : i % (count > 2 ? 2 : count)];
}

static struct model_window ttir_window(const struct model_op *op, int i, int64_t in, int64_t size)
{
    static const char *const strides[] = {"stride_height", "stride_width"},
                             *const dilations[] = {"dilation_height", "dilation_width"},
                             *const pads[] = {"padding_top", "padding_left"};
    struct model_window w = {.in = in,
                             .size = size,
                             .stride = ttir_nth(op, "stride", strides, i, 1),
                             .dilation = ttir_nth(op, "dilation", dilations, i, 1),
                             .low = ttir_nth(op, "padding", pads, i, 0),
                             .high = ttir_nth(op, "padding", NULL, i + 2, 0),
                             .hole = 1};
    w.out = window_out(&w, model_attr_int(&op->attrs, "ceil_mode", 0) != 0);
    return w;
}

/* ---- all ---- */

int64_t conv_extent(const struct model_type *t, int d)
{
    return d >= 0 && d < t->count ? t->extent[d] : -1;
}

static bool ttir_conv(const struct model_op *op, const struct model_type *x, const struct model_type *w,
                      struct model_conv *c)
{
    static const char *const keys[] = {"batch_dim", "height_dim", "width_dim", "channel_dim"};
    int64_t at[4];
    unsigned seen = 0;
    if (x->count != 4 || w->count != 4) return false;
    for (int i = 0; i < 4; i++) {
        at[i] = model_attr_int(&op->attrs, keys[i], i);
        if (at[i] < 0 || at[i] > 3 || (seen >> at[i] & 1)) return false;
        seen |= 1u << at[i];
    }
    c->batch = c->y_batch = (int)at[0];
    c->channel = c->y_channel = (int)at[3];
    c->in_channel = 1;
    c->groups = model_attr_int(&op->attrs, "groups", 1);
    c->count = 2;
    for (int i = 0; i < 2; i++) {
        c->x[i] = c->y[i] = (int)at[1 + i];
        c->w[i] = 2 + i;
        c->window[i] = ttir_window(op, i, x->extent[at[1 + i]], w->extent[2 + i]);
    }
    return true;
}

static bool hlo_conv(const struct model_op *op, const struct model_type *x, const struct model_type *w,
                     struct model_conv *c)
{
    const char *labels = model_attr_word(&op->attrs, "dim_labels", NULL);
    if (!labels || (c->count = hlo_windows(op, c->window)) < 0) return false;
    c->batch = hlo_label(labels, 0, 'b');
    c->channel = hlo_label(labels, 0, 'f');
    c->out_channel = hlo_label(labels, 1, 'o');
    c->in_channel = hlo_label(labels, 1, 'i');
    c->y_batch = hlo_label(labels, 2, 'b');
    c->y_channel = hlo_label(labels, 2, 'f');
    c->groups = model_attr_int(&op->attrs, "feature_group_count", 1);
    c->batch_groups = model_attr_int(&op->attrs, "batch_group_count", 1);
    if (c->count == 0) /* no window is one tap each */
        for (c->count = 0; c->count < x->count - 2 && c->count < MODEL_MAX_WINDOWS; c->count++)
            c->window[c->count] = (struct model_window){.size = 1, .stride = 1, .dilation = 1, .hole = 1};
    for (int i = 0; i < c->count; i++) {
        c->x[i] = hlo_label(labels, 0, (char)('0' + i));
        c->w[i] = hlo_label(labels, 1, (char)('0' + i));
        c->y[i] = hlo_label(labels, 2, (char)('0' + i));
        c->window[i].in = conv_extent(x, c->x[i]);
        if (c->window[i].size != conv_extent(w, c->w[i])) return false;
        c->window[i].out = c->window[i].in > 0 ? window_out(&c->window[i], false) : 0;
    }
    return true;
}

bool op_conv(enum model_format dialect, const struct model_op *op, const struct model_type *x,
             const struct model_type *w, struct model_conv *c)
{
    *c = (struct model_conv){.batch_groups = 1};
    if (dialect == MODEL_TTIR) return ttir_conv(op, x, w, c);
    if (dialect == MODEL_HLO) return hlo_conv(op, x, w, c);
    c->channel = c->y_channel = c->in_channel = 1;
    c->groups = model_attr_int(&op->attrs, "group", 1);
    c->count = w->count == x->count ? onnx_windows(op, x, w->extent + 2, x->count - 2, c->window) : -1;
    for (int i = 0; i < c->count; i++) c->x[i] = c->w[i] = c->y[i] = 2 + i;
    return c->count > 0;
}

int op_pool(enum model_format dialect, const struct model_op *op, const struct model_type *x,
            struct model_window *w, int *at)
{
    static const char *const sizes[] = {"kernel_height", "kernel_width"};
    int count = 2, sized;
    const int64_t *size = model_attr_ints(&op->attrs, "kernel_shape", &sized);
    if (dialect == MODEL_ONNX) count = sized == x->count - 2 ? onnx_windows(op, x, size, sized, w) : -1;
    if (dialect == MODEL_HLO) count = hlo_windows(op, w);
    if (dialect == MODEL_TTIR && x->count != 4) return -1;
    if (dialect == MODEL_HLO && (count > x->count || (count > 0 && count != x->count))) return -1;
    for (int i = 0; i < count; i++) {
        at[i] = dialect == MODEL_HLO ? i : dialect == MODEL_TTIR ? 1 + i : 2 + i;
        if (dialect == MODEL_TTIR)
            w[i] = ttir_window(op, i, x->extent[at[i]], ttir_nth(op, "kernel", sizes, i, 0));
        if (dialect != MODEL_HLO) continue;
        w[i].in = x->extent[i];
        w[i].out = w[i].in > 0 ? window_out(&w[i], false) : 0;
    }
    return count;
}
