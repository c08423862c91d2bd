/* Windows of an op, after its index string was taken apart: convolutions, pools, sums over neighbourhoods.
 *
 * "nchw,ockl->nopq" with a window (h, p, k): h is not gone along, it is (stride * p + dilation * k - pad) /
 * hole. A tap that no operand has gets a variable of its own here, `size` long; another letter that none has
 * is one element long. Until then windows name letters; from then on variables of the map. All products that
 * an index is made of are bounded here, once. */
#include "graph/builder.h"
#include "graph/op_walks.h"
#include "base/checked.h"
#include "base/fail.h"

#include <string.h>

/* Beyond this nobody has a window, and no index leaves 2^62. */
static const int64_t MOST = INT64_C(1) << 30, MOST_INDEX = INT64_C(1) << 60;

static bool op_windows_wrong(const struct windows_context *c, char letter, const char *why)
{
    return builder_error(c->b, c->at, c->st, LX_E_EINSUM, "op %s: window of '%c' in %s: %s", c->op->name,
                         letter, c->op->einsum, why);
}

static bool operand_has(const struct windows_context *c, int operand, int v)
{
    for (int d = 0; d < c->rank[operand]; d++)
        if (c->index[operand][d] == v) return true;
    return false;
}

static int op_windows_find(const struct lx_einsum *m, int letter)
{
    for (int v = 0; v < m->var_count; v++)
        if (m->letter[v] == letter) return v;
    return -1;
}

/* A letter that no operand has is one element long. */
static bool op_windows_variable_of(const struct windows_context *c, const struct lx_window *w, int letter,
                                   int *v)
{
    struct lx_einsum *m = c->map;
    *v = op_windows_find(m, letter);
    if (*v >= 0) return true;
    if (m->var_count == LX_MAX_VARS) return op_windows_wrong(c, (char)w->in, "there are too many letters");
    *v = m->var_count++;
    m->letter[*v] = (char)letter;
    m->extent[*v] = 1;
    return true;
}

/* The tap: of the second input, or a variable of its own. */
static bool map_tap(const struct windows_context *c, struct lx_window *w, int *tap)
{
    struct lx_einsum *m = c->map;
    *tap = op_windows_find(m, w->tap);
    if (*tap >= 0) {
        if (operand_has(c, 0, *tap) || operand_has(c, c->op->input_count, *tap))
            return op_windows_wrong(c, (char)w->in,
                                    "its tap is an index of the first input or of the output; use a letter "
                                    "of the second input, or one of its own with \"size\"");
        if (w->size && w->size != m->extent[*tap])
            return op_windows_wrong(c, (char)w->in,
                                    "its \"size\" is not the extent of its tap; leave it out");
        w->size = m->extent[*tap];
        return true;
    }
    if (w->size < 1) return op_windows_wrong(c, (char)w->in, "no operand has its tap; give it a \"size\"");
    if (m->var_count == LX_MAX_VARS) return op_windows_wrong(c, (char)w->in, "there are too many letters");
    *tap = m->var_count++;
    m->letter[*tap] = (char)w->tap;
    m->extent[*tap] = w->size;
    return true;
}

static bool map_ends(const struct windows_context *c, struct lx_window *w, int *in, int *out)
{
    int inputs = c->op->input_count;
    if (!op_windows_variable_of(c, w, w->in, in) || !op_windows_variable_of(c, w, w->out, out)) return false;
    if (operand_has(c, inputs, *in) || (inputs > 1 && operand_has(c, 1, *in)))
        return op_windows_wrong(c, (char)w->in, "its \"in\" is to be an index of the first input alone");
    for (int i = 0; i < inputs; i++)
        if (operand_has(c, i, *out))
            return op_windows_wrong(c, (char)w->in,
                                    "an input has its \"out\", which is to be the output's alone");
    return true;
}

/* One letter has one part in one window. */
static bool op_windows_apart(const struct windows_context *c, const struct lx_window *w, int count,
                             char letter)
{
    uint64_t seen = 0;
    for (int i = 0; i < count; i++) {
        uint64_t own = UINT64_C(1) << w[i].in | UINT64_C(1) << w[i].out | UINT64_C(1) << w[i].tap;
        if (__builtin_popcountll(own) != 3 || (seen & own))
            return op_windows_wrong(c, letter, "a letter has two parts; give each window three of its own");
        seen |= own;
    }
    return true;
}

static bool kind_has_windows(const struct lx_kind *k)
{
    static const enum lx_kind_id with[] = {LX_KIND_MATMUL, LX_KIND_SUM, LX_KIND_MEAN, LX_KIND_MAX,
                                           LX_KIND_MIN};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (k->id == with[i]) return true;
    return false;
}

bool builder_map_windows(const struct windows_context *c, struct lx_op *op)
{
    int count = op->window_count;
    if (count == 0) return true;
    if (!kind_has_windows(op->kind) || op->has_value ||
        op->input_count != ((op->kind->traits & LX_CONTRACTS) ? 2 : 1))
        return builder_error(c->b, c->at, c->st, LX_E_EINSUM,
                             "op %s: %s has no windows; matmul, sum, mean, max and min of one input have",
                             op->name, op->kind->name);
    struct lx_window *w = arena_copy_array(c->b->memory, op->windows, (size_t)count, sizeof *w);
    for (int i = 0; i < count; i++) {
        int in, out, tap;
        char letter = (char)w[i].in;
        if (!map_ends(c, &w[i], &in, &out) || !map_tap(c, &w[i], &tap)) return false;
        int64_t far, size = c->map->extent[out];
        bool ok = w[i].stride >= 1 && w[i].stride <= MOST && w[i].dilation != 0 && w[i].dilation >= -MOST &&
                  w[i].dilation <= MOST && w[i].hole >= 1 && w[i].hole <= MOST && w[i].pad >= -MOST &&
                  w[i].pad <= MOST && w[i].size <= MOST && mul_i64(w[i].stride, size, &far) &&
                  far <= MOST_INDEX;
        if (!ok)
            return op_windows_wrong(
                c, (char)w[i].in,
                "stride and hole are at least 1, dilation is not 0, and none is above 2^30");
        w[i].in = (signed char)in;
        w[i].out = (signed char)out;
        w[i].tap = (signed char)tap;
        c->map->nature[in] = LX_WINDOWED;
        c->map->nature[tap] = LX_JOINED;
        if (!op_windows_apart(c, w, i + 1, letter)) return false;
    }
    op->windows = w;
    /* Taps that no operand has are as many as the file says: all that is gone along must still be a number. */
    char letter = c->map->letter[(int)w[0].in];
    int64_t products = 1;
    for (int v = 0; v < c->map->var_count; v++)
        if (c->map->nature[v] != LX_WINDOWED &&
            (!mul_i64(products, c->map->extent[v], &products) || products > MOST_INDEX))
            return op_windows_wrong(c, letter, "its terms are more than 2^60; make it smaller");
    return true;
}

const struct lx_window *lx_window_of(const struct lx_op *op, int v)
{
    for (int i = 0; i < op->window_count; i++)
        if (op->windows[i].in == v || op->windows[i].out == v || op->windows[i].tap == v)
            return &op->windows[i];
    return NULL;
}

int64_t lx_window_at(const struct lx_window *w, int64_t out, int64_t tap)
{
    int64_t at = w->stride * out + w->dilation * tap - w->pad;
    return at >= 0 && at % w->hole == 0 ? at / w->hole : -1;
}

bool lx_windows_equal(const struct lx_op *a, const struct lx_op *b)
{
    bool same = a->window_count == b->window_count;
    for (int i = 0; same && i < a->window_count; i++) {
        const struct lx_window *x = &a->windows[i], *y = &b->windows[i];
        same = x->in == y->in && x->out == y->out && x->tap == y->tap && x->size == y->size &&
               x->stride == y->stride && x->dilation == y->dilation && x->pad == y->pad &&
               x->hole == y->hole && x->count_all == y->count_all;
    }
    return same;
}

void builder_copy_windows(struct graph_builder *b, const struct lx_op *op, struct lx_op *copy)
{
    if (op->window_count == 0) return;
    struct lx_window *w = arena_copy_array(b->memory, op->windows, (size_t)op->window_count, sizeof *w);
    for (int i = 0; w && op->map && i < op->window_count; i++) {
        w[i].in = (signed char)op->map->letter[(int)op->windows[i].in];
        w[i].out = (signed char)op->map->letter[(int)op->windows[i].out];
        w[i].tap = (signed char)op->map->letter[(int)op->windows[i].tap];
    }
    copy->windows = w;
}
