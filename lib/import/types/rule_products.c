/* Rules of result types: contractions, windows that slide, reductions. */
#include "import/types/rulings.h"
#include "import/types/windows.h"

#include <string.h>

/* Batch, free of the left, free of the right; what is contracted is equally long. */
bool rule_contracts(struct ruling *r)
{
    static const char *const keys[2][4] = {
        {"batch_dims_lhs", "batch_dims_rhs", "contract_dims_lhs", "contract_dims_rhs"},
        {"lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims"}};
    bool used[2][RULE_RANK] = {{false}};
    const int64_t *list[4];
    int count[4];
    for (int i = 0; i < 4; i++) {
        list[i] = rule_ints(r, keys[r->m->format == MODEL_HLO][i], &count[i]);
        for (int k = 0; k < count[i]; k++) {
            if (list[i][k] < 0 || list[i][k] >= r->in[i % 2]->count || used[i % 2][list[i][k]])
                return rule_wrong(r, "its batch and contracted dimensions are none, or stand twice");
            used[i % 2][list[i][k]] = true;
        }
    }
    if (count[0] != count[1] || count[2] != count[3])
        return rule_schema(r, "as many dimensions of the left as of the right");
    for (int i = 0; i < 4; i += 2)
        for (int k = 0; k < count[i]; k++) {
            int64_t a = r->in[0]->extent[list[i][k]], b = r->in[1]->extent[list[i + 1][k]];
            if (i == 0) rule_want(r, a);
            if (a != b) return false;
        }
    for (int s = 0; s < 2; s++)
        for (int d = 0; d < r->in[s]->count; d++)
            if (!used[s][d]) rule_want(r, r->in[s]->extent[d]);
    return rule_as_wanted(r);
}

/* Leading dimensions, all but the last two, aligned at the right. */
static bool leading(struct ruling *r, const struct model_type *a, const struct model_type *b)
{
    int na = a->count > 2 ? a->count - 2 : 0, nb = b->count > 2 ? b->count - 2 : 0, n = na > nb ? na : nb;
    for (int d = 0; d < n; d++) {
        int64_t x = d < n - na ? 1 : a->extent[d - (n - na)], y = d < n - nb ? 1 : b->extent[d - (n - nb)];
        if (x != y && x != 1 && y != 1) return false;
        rule_want(r, x == 1 ? y : x);
    }
    return true;
}

/* A vector on the left is a row, on the right a column, that the result lacks. */
bool rule_multiplies(struct ruling *r)
{
    const struct model_type *a = r->in[0], *b = r->in[1];
    bool turn_a = model_attr_int(&r->op->attrs, "transpose_a", 0) && a->count > 1,
         turn_b = model_attr_int(&r->op->attrs, "transpose_b", 0) && b->count > 1;
    if (a->count < 1 || b->count < 1) return false;
    int64_t inner_a = a->extent[a->count - (turn_a ? 2 : 1)],
            inner_b = b->extent[b->count - (turn_b || b->count == 1 ? 1 : 2)];
    if (inner_a != inner_b || !leading(r, a, b)) return false;
    if (a->count > 1) rule_want(r, a->extent[a->count - (turn_a ? 1 : 2)]);
    if (b->count > 1) rule_want(r, b->extent[b->count - (turn_b ? 2 : 1)]);
    return rule_as_wanted(r);
}

/* Dimensions that go are 1 long if they are kept. */
static bool without(struct ruling *r, const int64_t *dims, int count, bool all, bool keep)
{
    bool goes[RULE_RANK] = {false};
    const struct model_type *x = r->in[0];
    for (int d = 0; d < x->count; d++) goes[d] = all;
    for (int i = 0; i < count; i++) {
        int d = rule_dim(dims[i], x->count);
        if (d < 0) return rule_wrong(r, "a dimension that goes is none of the operand's");
        goes[d] = true;
    }
    for (int d = 0; d < x->count; d++)
        if (!goes[d] || keep) rule_want(r, goes[d] ? 1 : x->extent[d]);
    return rule_as_wanted(r);
}

bool rule_reduces(struct ruling *r)
{
    int count;
    const int64_t *dims = rule_ints(r, "dim_arg", &count);
    return without(r, dims, count, count == 0, model_attr_int(&r->op->attrs, "keep_dim", 0) != 0);
}

bool rule_hlo_reduce(struct ruling *r)
{
    int count;
    const int64_t *dims = rule_ints(r, "dimensions", &count);
    if (r->op->operand_count != 2) return true;
    if (r->in[1]->elements != 1) return rule_wrong(r, "its second operand is the number it begins with");
    return without(r, dims, count, false, false);
}

/* ---- windows ---- */

static int64_t labelled(const struct model_type *t, const char *labels, int which, char label)
{
    int d = hlo_label(labels, which, label);
    return d >= 0 && d < t->count ? t->extent[d] : -1;
}

/* Extents that follow from groups and labels, result dimension by dimension. */
static bool conv_channels(struct ruling *r, const char *labels)
{
    int64_t groups = model_attr_int(&r->op->attrs, "feature_group_count", 1),
            batches = model_attr_int(&r->op->attrs, "batch_group_count", 1);
    int64_t b = labelled(r->in[0], labels, 0, 'b'), f = labelled(r->in[0], labels, 0, 'f'),
            i = labelled(r->in[1], labels, 1, 'i'), o = labelled(r->in[1], labels, 1, 'o'), all;
    int yb = hlo_label(labels, 2, 'b'), yf = hlo_label(labels, 2, 'f');
    if (b < 0 || f < 0 || i < 0 || o < 0 || yb < 0 || yf < 0 || yb >= r->rank || yf >= r->rank)
        return rule_schema(r, "dim_labels that name batch, feature, i and o once each");
    if (groups < 1 || batches < 1 || b % batches || o % groups || o % batches ||
        __builtin_mul_overflow(groups, i, &all) || all != f)
        return rule_wrong(r,
                          "features of the operand are group count times those of the kernel, and both are "
                          "divided by it");
    r->want[yb] = b / batches;
    r->want[yf] = o;
    return true;
}

bool rule_hlo_conv(struct ruling *r)
{
    const char *labels = model_attr_word(&r->op->attrs, "dim_labels", NULL);
    struct model_window w[MODEL_MAX_WINDOWS];
    int count = hlo_windows(r->op, w);
    if (!labels) return rule_schema(r, "it needs dim_labels");
    if (count < 0) return true;
    r->rank = r->in[0]->count;
    for (int d = 0; d < r->rank; d++) r->want[d] = 1;
    if (r->rank != r->in[1]->count || r->rank != r->y->count) return false;
    if (!conv_channels(r, labels)) return false;
    for (int i = 0; i < r->rank - 2 && i < MODEL_MAX_WINDOWS; i++) {
        char digit = (char)('0' + i);
        struct model_window one = {.size = 1, .stride = 1, .dilation = 1, .hole = 1},
                            *at = i < count ? &w[i] : &one;
        int yd = hlo_label(labels, 2, digit);
        at->in = labelled(r->in[0], labels, 0, digit);
        if (yd < 0 || yd >= r->rank || at->in < 0)
            return rule_schema(r, "dim_labels that name each dimension");
        if (at->size != labelled(r->in[1], labels, 1, digit)) return false;
        if (at->in > 0) r->want[yd] = window_out(at, false);
        if (at->in == 0) return true;
    }
    return rule_as_wanted(r);
}

bool rule_hlo_window(struct ruling *r)
{
    struct model_window w[MODEL_MAX_WINDOWS];
    int count = hlo_windows(r->op, w);
    r->rank = r->in[0]->count;
    if (r->op->operand_count != 2 || count < 0 || r->rank > MODEL_MAX_WINDOWS) return true;
    if (count != r->rank && count > 0) return rule_wrong(r, "its window has a size for each dimension");
    for (int d = 0; d < r->rank; d++) {
        r->want[d] = r->in[0]->extent[d];
        if (d >= count) continue;
        if (r->in[0]->extent[d] == 0) return true;
        w[d].in = r->in[0]->extent[d];
        r->want[d] = window_out(&w[d], false);
    }
    return rule_as_wanted(r);
}

/* Number `i` of two (height, width) or of four (top, left, bottom, right). */
static int64_t nth(const struct ruling *r, const char *key, int i, int64_t otherwise)
{
    int count;
    const int64_t *list = rule_ints(r, key, &count);
    int64_t n = count == 0 ? otherwise : list[count == 4 ? i : i % (count > 2 ? 2 : count)];
    return n < 0 || n > 1 << 30 ? 0 : n;
}

/* False: the attributes are of another age; nothing is said. */
static bool slides(const struct ruling *r)
{
    static const char *const other[] = {"flattened_compat_info", "kernel_height", "stride_height",
                                        "dilation_height",       "padding_left",  NULL};
    for (int i = 0; other[i]; i++)
        if (model_attr_find(&r->op->attrs, other[i])) return false;
    return true;
}

static int64_t slid(const struct ruling *r, int i, int64_t in, int64_t size)
{
    struct model_window w = {.in = in,
                             .size = size,
                             .stride = nth(r, "stride", i, 1),
                             .dilation = nth(r, "dilation", i, 1),
                             .low = nth(r, "padding", i, 0),
                             .high = nth(r, "padding", i + 2, 0),
                             .hole = 1};
    return window_out(&w, model_attr_int(&r->op->attrs, "ceil_mode", 0) != 0);
}

/* Weights are O, I / groups, height, width. */
bool rule_conv2d(struct ruling *r)
{
    static const char *const keys[] = {"batch_dim", "height_dim", "width_dim", "channel_dim"};
    const struct model_type *x = r->in[0], *w = r->in[1];
    int at[4];
    int64_t groups = model_attr_int(&r->op->attrs, "groups", 1), all;
    if (x->count != 4 || w->count != 4 || !slides(r)) return true;
    for (int i = 0; i < 4; i++) at[i] = rule_dim(model_attr_int(&r->op->attrs, keys[i], i), 4);
    for (int i = 0; i < 4; i++)
        if (at[i] < 0) return rule_wrong(r, "its batch, height, width and channel are dimensions 0 to 3");
    if (groups < 1 || w->extent[0] % groups || __builtin_mul_overflow(groups, w->extent[1], &all) ||
        all != x->extent[at[3]])
        return rule_wrong(r, "channels are groups times those of the weight, whose rows they divide");
    rule_like(r, x);
    r->want[at[3]] = w->extent[0];
    for (int i = 0; i < 2; i++) r->want[at[1 + i]] = slid(r, i, x->extent[at[1 + i]], w->extent[2 + i]);
    return rule_as_wanted(r);
}

bool rule_pool2d(struct ruling *r)
{
    int count;
    rule_ints(r, "kernel", &count);
    rule_like(r, r->in[0]);
    if (r->rank != 4 || count == 0 || !slides(r)) return true;
    for (int i = 0; i < 2; i++) r->want[1 + i] = slid(r, i, r->in[0]->extent[1 + i], nth(r, "kernel", i, 1));
    return rule_as_wanted(r);
}
