/* Arithmetic of windows, without a loop over positions: files may state any extent. */
#include "import/types/windows.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 1 << 16 };

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* How many p of 0..out-1 have 0 <= stride p + at <= last and hole divides it. */
static int64_t positions(const struct model_window *w, int64_t at, int64_t last)
{
    int64_t first = at >= 0 ? 0 : -floor_div(at, w->stride), final = floor_div(last - at, w->stride);
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
    for (int64_t k = 0; k < w->size; k++) sum += positions(w, w->dilation * k - w->low, last);
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
static int part(const char *text, const char *name, int per, int64_t *out)
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

int hlo_windows(const struct model_op *op, struct model_window *w)
{
    const char *text = model_attr_word(&op->attrs, "window", "");
    int64_t size[MODEL_MAX_WINDOWS], pad[2 * MODEL_MAX_WINDOWS], stride[MODEL_MAX_WINDOWS],
        left[MODEL_MAX_WINDOWS], right[MODEL_MAX_WINDOWS], back[MODEL_MAX_WINDOWS];
    int count = part(text, "size", 1, size), has_pad = part(text, "pad", 2, pad);
    int has_stride = part(text, "stride", 1, stride), has_left = part(text, "lhs_dilate", 1, left);
    int has_right = part(text, "rhs_dilate", 1, right), has_back = part(text, "rhs_reversal", 1, back);
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

int hlo_label(const char *labels, int which, char label)
{
    for (; which > 0 && labels; which--) {
        const char *next = strpbrk(labels, "_>");
        labels = next ? next + 1 : NULL;
    }
    size_t n = labels ? strcspn(labels, "_-") : 0;
    const char *at = n ? memchr(labels, label, n) : NULL;
    return at ? (int)(at - labels) : -1;
}
