/* Windows of an op, after its index string was parsed: convolutions, pools, neighbourhood sums.
 *
 * "nchw,ockl->nopq" with a window (h, p, k): h is not iterated, it is (stride * p + dilation * k - pad) /
 * hole. A tap without an operand gets its own variable here, of extent `size`; another letter without an
 * operand has extent 1. Windows name letters before this step, variables of the map after it. All products
 * in index computations are checked for overflow here, once. */
#include "graph/op_walks.h"

/* No window exceeds MOST, so that no index exceeds 2^62. */
static const int64_t MOST = INT64_C(1) << 30, MOST_INDEX = INT64_C(1) << 60;

static bool op_windows_wrong(const struct op_check *c, char letter, const char *why)
{
    return op_error(c, LX_E_EINSUM, ": window of '%c' in %s: %s", letter, c->op->einsum, why);
}

/* The variable of a letter, added with extent `size` if no operand has it; -1: too many variables. */
static int window_variable(struct lx_einsum *m, int letter, int64_t size)
{
    for (int v = 0; v < m->var_count; v++)
        if (m->letter[v] == letter) return v;
    if (m->var_count == LX_MAX_VARS) return -1;
    m->letter[m->var_count] = (char)letter;
    m->extent[m->var_count] = size;
    return m->var_count++;
}

/* Replaces letters by variables. Returns NULL, or the reason why it cannot. */
static const char *window_map(const struct op_check *c, struct lx_window *w)
{
    struct lx_einsum *m = c->map;
    int inputs = c->op->input_count, in = window_variable(m, w->in, 1), out = window_variable(m, w->out, 1);
    if (in < 0 || out < 0) return "there are too many letters";
    if (lx_einsum_dim(m, inputs, in) >= 0 || (inputs > 1 && lx_einsum_dim(m, 1, in) >= 0))
        return "its \"in\" is to be an index of the first input alone";
    for (int i = 0; i < inputs; i++)
        if (lx_einsum_dim(m, i, out) >= 0)
            return "an input has its \"out\", which is to be the output's alone";
    int known = m->var_count, tap = window_variable(m, w->tap, w->size);
    if (tap >= 0 && tap < known) {
        if (lx_einsum_dim(m, 0, tap) >= 0 || lx_einsum_dim(m, inputs, tap) >= 0)
            return "its tap is an index of the first input or of the output; use a letter of the second "
                   "input, "
                   "or one of its own with \"size\"";
        if (w->size && w->size != m->extent[tap])
            return "its \"size\" is not the extent of its tap; leave it out";
        w->size = m->extent[tap];
    }
    if (w->size < 1) return "no operand has its tap; give it a \"size\"";
    if (tap < 0) return "there are too many letters";
    int64_t far;
    if (w->stride < 1 || w->stride > MOST || w->dilation == 0 || w->dilation < -MOST || w->dilation > MOST ||
        w->hole < 1 || w->hole > MOST || w->pad < -MOST || w->pad > MOST || w->size > MOST ||
        !mul_i64(w->stride, m->extent[out], &far) || far > MOST_INDEX)
        return "stride and hole are at least 1, dilation is not 0, and none is above 2^30";
    w->in = (signed char)in;
    w->out = (signed char)out;
    w->tap = (signed char)tap;
    m->nature[in] = LX_WINDOWED;
    m->nature[tap] = LX_JOINED;
    return NULL;
}

bool op_map_windows(const struct op_check *c)
{
    static const enum lx_kind_id with[] = {LX_KIND_MATMUL, LX_KIND_SUM, LX_KIND_MEAN, LX_KIND_MAX,
                                           LX_KIND_MIN};
    struct lx_op *op = c->op;
    int count = op->window_count;
    bool may = !op->has_value && op->input_count == ((op->kind->traits & LX_CONTRACTS) ? 2 : 1),
         known = false;
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) known |= op->kind->id == with[i];
    if (count == 0) return true;
    if (!known || !may)
        return op_error(c, LX_E_EINSUM,
                        ": %s has no windows; matmul, sum, mean, max and min of one input have",
                        op->kind->name);
    struct lx_window *w = arena_copy_array(c->b->memory, op->windows, (size_t)count, sizeof *w);
    uint64_t seen = 0; /* set of variables: each has one role in one window */
    for (int i = 0; i < count; i++) {
        char letter = (char)w[i].in;
        const char *why = window_map(c, &w[i]);
        if (why) return op_windows_wrong(c, letter, why);
        uint64_t own = UINT64_C(1) << w[i].in | UINT64_C(1) << w[i].out | UINT64_C(1) << w[i].tap;
        if (__builtin_popcountll(own) != 3 || (seen & own))
            return op_windows_wrong(c, letter, "a letter has two parts; give each window three of its own");
        seen |= own;
    }
    op->windows = w;
    /* A file may state any number of taps: the number of iterations must fit an integer. */
    int64_t products = 1;
    for (int v = 0; v < c->map->var_count; v++)
        if (c->map->nature[v] != LX_WINDOWED &&
            (!mul_i64(products, c->map->extent[v], &products) || products > MOST_INDEX))
            return op_windows_wrong(c, c->map->letter[(int)w[0].in],
                                    "its terms are more than 2^60; make it smaller");
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
    for (int i = 0; op->map && i < op->window_count; i++) {
        w[i].in = (signed char)op->map->letter[(int)op->windows[i].in];
        w[i].out = (signed char)op->map->letter[(int)op->windows[i].out];
        w[i].tap = (signed char)op->map->letter[(int)op->windows[i].tap];
    }
    copy->windows = w;
}
