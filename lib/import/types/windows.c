/* Arithmetic of windows, without a loop over positions: files may state any extent. */
#include "import/types/windows.h"
#include "import/types/typing.h"

enum { MOST_STEPS = 1 << 16, MOST_NUMBER = 1 << 30 };

/* How many p of 0..out-1 have 0 <= stride p + at <= last and hole divides it. */
static int64_t windows_positions(const struct model_window *w, int64_t at, int64_t last)
{
    int64_t first = at >= 0 ? 0 : -floor_div_i64(at, w->stride), final = floor_div_i64(last - at, w->stride);
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

/* floor((in + low + high - dilation (size - 1) - 1) / stride) + 1, with holes in between; 0 if none fits. */
static int64_t window_out(const struct model_window *w, bool ceil)
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

/* Number i of `name` in "{size=3x3 pad=1_1x1_1}". */
static bool window_hlo_number(const char *text, const char *name, int i, int64_t *out)
{
    size_t n = strlen(name);
    const char *p = text;
    char *end;
    while ((p = strstr(p, name)) && (p[n] != '=' || (p > text && !strchr("{ ", p[-1])))) p += n;
    for (p = p ? p + n + 1 : NULL; p; p = *end == 'x' || *end == '_' ? end + 1 : NULL) {
        *out = strtoll(p, &end, 10);
        if (end == p) return false;
        if (i-- == 0) return true;
    }
    return false;
}

/* Number i of a list, whatever the dialect. TTIR has one, two or four numbers for height and width. */
static int64_t window_number(enum model_format dialect, const struct model_op *op, const char *key, int i,
                             int64_t otherwise)
{
    int n;
    const int64_t *list = model_attr_ints(&op->attrs, key, &n);
    int64_t v = otherwise;
    if (dialect == MODEL_HLO && i >= n)
        window_hlo_number(model_attr_word(&op->attrs, "window", ""), key, i, &v);
    else if (dialect == MODEL_TTIR && n > 0 && n < 4)
        v = list[i % (n > 2 ? 2 : n)];
    else if (i < n)
        v = list[i];
    return v > MOST_NUMBER ? MOST_NUMBER : v < -MOST_NUMBER ? -MOST_NUMBER : v;
}

/* Window i of `count`; `size` 0: by the attributes. SAME: ceil(n / stride) positions, an odd pad at the end
 * (upper) or the begin. */
static struct model_window window_of(enum model_format dialect, const struct model_op *op, int i, int count,
                                     int64_t in, int64_t size)
{
    static const char *const keys[][4] = {[MODEL_TTIR] = {"kernel", "stride", "dilation", "padding"},
                                          [MODEL_HLO] = {"size", "stride", "rhs_dilate", "pad"},
                                          [MODEL_ONNX] = {"kernel_shape", "strides", "dilations", "pads"}};
    bool hlo = dialect == MODEL_HLO;
    const char *const *key = keys[dialect], *mode = model_attr_word(&op->attrs, "auto_pad", "");
    struct model_window w = {.in = in,
                             .size = size ? size : window_number(dialect, op, key[0], i, hlo),
                             .stride = window_number(dialect, op, key[1], i, 1),
                             .dilation = window_number(dialect, op, key[2], i, 1),
                             .low = window_number(dialect, op, key[3], hlo ? 2 * i : i, 0),
                             .high = window_number(dialect, op, key[3], hlo ? 2 * i + 1 : i + count, 0),
                             .hole = hlo ? window_number(dialect, op, "lhs_dilate", i, 1) : 1,
                             .reversed = hlo && window_number(dialect, op, "rhs_reversal", i, 0)};
    if (strcmp(mode, "VALID") == 0) w.low = w.high = 0;
    if (strncmp(mode, "SAME", 4) == 0 && w.stride > 0) {
        int64_t out = ceil_div_i64(in, w.stride);
        int64_t all = max_i64(0, (out - 1) * w.stride + w.dilation * (w.size - 1) + 1 - in);
        w.low = strcmp(mode, "SAME_UPPER") == 0 ? all / 2 : all - all / 2;
        w.high = all - w.low;
    }
    w.out = in > 0 ? window_out(&w, model_attr_int(&op->attrs, "ceil_mode", 0) != 0) : 0;
    return w;
}

/* Nothing is known of flattened images and of the keys of an older TTIR. */
static bool window_is_readable(const struct model_op *op, const struct model_window *w)
{
    return w->stride >= 1 && w->dilation >= 1 && w->size >= 1 &&
           !model_attr_find(&op->attrs, "flattened_compat_info") &&
           !model_attr_find(&op->attrs, "stride_height");
}

int64_t conv_extent(const struct model_type *t, int d)
{
    return d >= 0 && d < t->count ? t->extent[d] : -1;
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

bool op_conv(enum model_format dialect, const struct model_op *op, const struct model_type *x,
             const struct model_type *w, struct model_conv *c)
{
    static const char *const keys[] = {"batch_dim", "height_dim", "width_dim", "channel_dim"};
    static const char *const groups[] = {
        [MODEL_TTIR] = "groups", [MODEL_HLO] = "feature_group_count", [MODEL_ONNX] = "group"};
    const char *labels = model_attr_word(&op->attrs, "dim_labels", NULL);
    bool ttir = dialect == MODEL_TTIR, hlo = dialect == MODEL_HLO;
    int64_t at[4] = {0, 2, 3, 1};
    unsigned seen = 0;
    *c = (struct model_conv){.in_channel = 1, .count = x->count - 2};
    c->groups = model_attr_int(&op->attrs, groups[dialect], 1);
    c->batch_groups = hlo ? model_attr_int(&op->attrs, "batch_group_count", 1) : 1;
    if (c->count < !hlo || c->count > MODEL_MAX_WINDOWS || (!hlo && x->count != w->count)) return false;
    if ((ttir && x->count != 4) || (hlo && !labels)) return false;
    for (int i = 0; ttir && i < 4; i++) {
        at[i] = model_attr_int(&op->attrs, keys[i], i);
        if (at[i] < 0 || at[i] > 3 || (seen >> at[i] & 1)) return false;
        seen |= 1u << at[i];
    }
    c->batch = hlo ? hlo_label(labels, 0, 'b') : (int)at[0];
    c->channel = hlo ? hlo_label(labels, 0, 'f') : (int)at[3];
    c->y_batch = hlo ? hlo_label(labels, 2, 'b') : (int)at[0];
    c->y_channel = hlo ? hlo_label(labels, 2, 'f') : (int)at[3];
    if (hlo) c->out_channel = hlo_label(labels, 1, 'o');
    if (hlo) c->in_channel = hlo_label(labels, 1, 'i');
    for (int i = 0; i < c->count; i++) {
        int plain = ttir ? (int)at[1 + i] : 2 + i;
        c->x[i] = hlo ? hlo_label(labels, 0, (char)('0' + i)) : plain;
        c->w[i] = hlo ? hlo_label(labels, 1, (char)('0' + i)) : 2 + i;
        c->y[i] = hlo ? hlo_label(labels, 2, (char)('0' + i)) : plain;
        int64_t size = conv_extent(w, c->w[i]);
        bool stated = model_attr_find(&op->attrs, "window");
        c->window[i] = window_of(dialect, op, i, c->count, conv_extent(x, c->x[i]), stated ? 0 : size);
        if (c->window[i].size != size || !window_is_readable(op, &c->window[i])) return false;
    }
    return true;
}

int op_pool(enum model_format dialect, const struct model_op *op, const struct model_type *x,
            struct model_window *w, int *at)
{
    bool hlo = dialect == MODEL_HLO, ttir = dialect == MODEL_TTIR;
    const char *text = model_attr_word(&op->attrs, "window", "");
    int sizes, sized, first = hlo ? 0 : ttir ? 1 : 2;
    model_attr_ints(&op->attrs, "size", &sizes);
    int count = !hlo ? x->count - 2 : *text ? x->count : sizes;
    int64_t more;
    if (count > MODEL_MAX_WINDOWS || count < 0 || (ttir && x->count != 4)) return -1;
    if (hlo && (count > x->count || window_hlo_number(text, "size", count, &more))) return -1;
    model_attr_ints(&op->attrs, "kernel_shape", &sized);
    if (dialect == MODEL_ONNX && sized != count) return -1;
    for (int i = 0; i < count; i++) {
        at[i] = first + i;
        w[i] = window_of(dialect, op, i, count, x->extent[at[i]], 0);
        if (!window_is_readable(op, &w[i])) return -1;
    }
    return count;
}

/* ---- rules of result types ---- */

enum typed type_of_convolution(struct typing *t)
{
    const struct model_type *x = t->in[0], *w = t->in[1];
    struct model_conv c;
    int64_t all;
    int count;
    const int64_t *kernel = model_attr_ints(&t->op->attrs, "kernel_shape", &count);
    if (t->dialect == MODEL_HLO && !model_attr_find(&t->op->attrs, "dim_labels"))
        return typing_schema(t, "it needs dim_labels");
    if (!op_conv(t->dialect, t->op, x, w, &c))
        return t->dialect == MODEL_ONNX ? typing_wrong(t, "a window that does not fit its operand")
                                        : TYPE_OPEN;
    int64_t b = conv_extent(x, c.batch), f = conv_extent(x, c.channel), i = conv_extent(w, c.in_channel),
            o = conv_extent(w, c.out_channel);
    if (b < 0 || f < 0 || i < 0 || o < 0 || c.y_batch < 0 || c.y_channel < 0 || c.y_batch >= x->count ||
        c.y_channel >= x->count)
        return typing_schema(t, "dim_labels that name batch, feature, i and o once each");
    if (c.groups < 1 || c.batch_groups < 1 || b % c.batch_groups || o % c.groups || o % c.batch_groups ||
        __builtin_mul_overflow(c.groups, i, &all) || all != f)
        return typing_wrong(
            t, "channels of the operand are group count times those of the weight, whose outputs "
               "they divide");
    for (int k = 0; t->dialect == MODEL_ONNX && k < count; k++)
        if (count != c.count || kernel[k] != w->extent[2 + k])
            return typing_wrong(t, "\"kernel_shape\" is not that of the weight");
    typing_like(t, x);
    t->want[c.y_batch] = b / c.batch_groups;
    t->want[c.y_channel] = o;
    for (int k = 0; k < c.count; k++) {
        if (c.y[k] < 0 || c.y[k] >= t->rank || c.window[k].in < 0)
            return typing_schema(t, "dim_labels that name each dimension");
        if (c.window[k].in == 0) return TYPE_OPEN;
        t->want[c.y[k]] = c.window[k].out;
    }
    return TYPED;
}

enum typed type_of_pool(struct typing *t)
{
    struct model_window w[MODEL_MAX_WINDOWS];
    int at[MODEL_MAX_WINDOWS], count = op_pool(t->dialect, t->op, t->in[0], w, at);
    bool onnx = t->dialect == MODEL_ONNX;
    if (onnx && !model_attr_find(&t->op->attrs, "kernel_shape"))
        return typing_schema(t, "it needs \"kernel_shape\"");
    if (onnx && count < 1)
        return typing_wrong(t, "\"kernel_shape\" does not have the dimensions of its operand");
    if (count < 0 || (t->dialect == MODEL_HLO && t->op->operand_count != 2)) return TYPE_OPEN;
    typing_like(t, t->in[0]);
    for (int i = 0; i < count; i++) {
        if (w[i].in == 0) return TYPE_OPEN;
        t->want[at[i]] = w[i].out;
    }
    typing_result(t, 1, MODEL_I64, t->rank, t->want);
    return TYPED;
}

enum typed type_of_global_pool(struct typing *t)
{
    typing_like(t, t->in[0]);
    for (int d = 2; d < t->rank; d++) t->want[d] = 1;
    return TYPED;
}
