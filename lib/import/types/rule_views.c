/* Rules of result types: what moves elements, repeats or leaves them out. */
#include "import/types/rulings.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

static bool is_hlo(const struct ruling *r)
{
    return r->m->format == MODEL_HLO;
}

bool rule_permuted(struct ruling *r)
{
    bool seen[RULE_RANK] = {false};
    int count;
    const int64_t *perm = rule_ints(r, is_hlo(r) ? "dimensions" : "permutation", &count);
    if (count != r->in[0]->count) return rule_schema(r, "it needs a permutation of all dimensions");
    for (int d = 0; d < count; d++) {
        int from = rule_dim(perm[d], count);
        if (from < 0 || seen[from]) return rule_wrong(r, "its permutation is none");
        seen[from] = true;
        rule_want(r, r->in[0]->extent[from]);
    }
    return rule_as_wanted(r);
}

bool rule_swapped(struct ruling *r)
{
    int a = rule_dim(model_attr_int(&r->op->attrs, "dim0", 0), r->in[0]->count),
        b = rule_dim(model_attr_int(&r->op->attrs, "dim1", 0), r->in[0]->count);
    if (a < 0 || b < 0) return rule_schema(r, "it needs dim0 and dim1 within the rank");
    rule_like(r, r->in[0]);
    r->want[a] = r->in[0]->extent[b];
    r->want[b] = r->in[0]->extent[a];
    return rule_as_wanted(r);
}

/* x dim i is y dim d[i], of equal extent (or 1: older dumps) */
bool rule_placed(struct ruling *r)
{
    bool seen[RULE_RANK] = {false};
    int count;
    const int64_t *dims = rule_ints(r, "dimensions", &count);
    rule_like(r, r->y);
    if (count != r->in[0]->count)
        return rule_schema(r, "it needs a dimension of the result for each of its own");
    for (int d = 0; d < count; d++) {
        if (dims[d] < 0 || dims[d] >= r->rank)
            return rule_wrong(r, "its dimensions are outside of the result");
        if (seen[dims[d]]) return rule_wrong(r, "two of its dimensions are one of the result");
        seen[dims[d]] = true;
        r->want[dims[d]] = r->in[0]->extent[d];
    }
    return rule_as_wanted(r);
}

/* Each dimension is a multiple of the operand's, one of the two factors being 1. */
bool rule_repeated(struct ruling *r)
{
    rule_like(r, r->in[0]);
    if (r->in[0]->count != r->y->count) return false;
    bool fits = true;
    for (int d = 0; d < r->rank; d++)
        fits = fits && (r->y->extent[d] == r->want[d] || r->want[d] == 1 || r->y->extent[d] < 0);
    return fits;
}

bool rule_joined(struct ruling *r)
{
    const struct model_type *first = r->in[0];
    int count;
    const int64_t *dims = rule_ints(r, is_hlo(r) ? "dimensions" : "dim", &count);
    int dim = count == 1 ? rule_dim(dims[0], first->count) : -1;
    if (dim < 0) return rule_schema(r, "it needs the dimension along which parts are joined");
    rule_like(r, first);
    for (int i = 1; i < r->op->operand_count; i++) {
        const struct model_type *t = model_type_of(r->m, r->op->operands[i]);
        if (t->count != first->count) return false;
        for (int d = 0; d < t->count; d++)
            if (d == dim ? !add_i64(r->want[d], t->extent[d], &r->want[d]) : t->extent[d] != first->extent[d])
                return false;
    }
    return rule_as_wanted(r);
}

/* ceil((end - begin) / step), both within the extent. Steps back are not judged. */
static bool box(struct ruling *r, int d, int64_t begin, int64_t end, int64_t step)
{
    int64_t n = r->in[0]->extent[d];
    if (step < 0) return true;
    if (step == 0 || begin < -n || end < -n || begin > n || end > n)
        return rule_wrong(r, "its box is outside of the operand, or its step 0");
    begin += begin < 0 ? n : 0;
    end += end < 0 ? n : 0;
    r->want[d] = end > begin ? (end - begin - 1) / step + 1 : 0;
    return true;
}

static bool any_back(const int64_t *step, int count)
{
    bool back = false;
    for (int d = 0; d < count; d++) back |= step[d] < 0;
    return back;
}

bool rule_cut_out(struct ruling *r)
{
    static const char *const keys[] = {"begins", "ends", "step"};
    const int64_t *list[3];
    int counts[3];
    rule_like(r, r->in[0]);
    for (int i = 0; i < 3; i++) {
        list[i] = rule_ints(r, keys[i], &counts[i]);
        if (counts[i] != r->rank && !(i == 2 && counts[i] == 0))
            return rule_schema(r, "it needs begins, ends and step of all dimensions");
    }
    if (any_back(list[2], counts[2])) return true;
    for (int d = 0; d < r->rank; d++)
        if (!box(r, d, list[0][d], list[1][d], counts[2] ? list[2][d] : 1)) return false;
    return rule_as_wanted(r);
}

/* "{[0:2], [0:8:2]}": numbers behind each bracket; false: it is not so. */
static bool next_box(const char **at, int64_t *number)
{
    const char *p = strchr(*at, '[');
    char *end;
    number[2] = 1;
    for (int i = 0; p && i < 3; i++) {
        number[i] = strtoll(p + 1, &end, 10);
        if (end == p + 1) return false;
        p = end;
        if (*p == ']') return *at = p, i > 0;
        if (*p != ':') return false;
    }
    return false;
}

bool rule_hlo_slice(struct ruling *r)
{
    const char *at = model_attr_word(&r->op->attrs, "slice", NULL);
    int64_t n[3];
    if (!at) return rule_schema(r, "it needs slice={[begin:end], ...}");
    rule_like(r, r->in[0]);
    for (int d = 0; d < r->rank; d++) {
        if (!next_box(&at, n))
            return rule_schema(r, "it needs [begin:end] or [begin:end:step] for each dimension");
        if (n[0] < 0 || n[1] < n[0] || n[2] < 1) return rule_wrong(r, "its box is outside of the operand");
        if (!box(r, d, n[0], n[1], n[2])) return false;
    }
    return rule_as_wanted(r);
}

/* low + n + high, and `between` after each but the last. */
static bool padded(struct ruling *r, int d, int64_t low, int64_t high, int64_t between)
{
    int64_t n = r->in[0]->extent[d], inner;
    if (low > INT32_MAX || high > INT32_MAX || low < INT32_MIN || high < INT32_MIN || between < 0)
        return rule_wrong(r, "its padding is out of range");
    if (__builtin_mul_overflow(n > 0 ? n - 1 : 0, between, &inner) ||
        __builtin_add_overflow(n + low + high, inner, &r->want[d]) || r->want[d] < 0)
        return rule_wrong(r, "its padding leaves nothing, or too much");
    return true;
}

bool rule_ttir_pad(struct ruling *r)
{
    int count;
    const int64_t *list = rule_ints(r, "padding", &count);
    rule_like(r, r->in[0]);
    if (count != 2 * r->rank) return rule_schema(r, "it needs padding, two numbers for each dimension");
    for (int d = 0; d < r->rank; d++)
        if (!padded(r, d, list[2 * d], list[2 * d + 1], 0)) return false;
    return rule_as_wanted(r);
}

/* "0_0x3_3x1_1_1" */
bool rule_hlo_pad(struct ruling *r)
{
    const char *at = model_attr_word(&r->op->attrs, "padding", r->in[0]->count ? NULL : "");
    rule_like(r, r->in[0]);
    if (!at) return rule_schema(r, "it needs padding=low_high, for each dimension, x between");
    for (int d = 0; d < r->rank; d++) {
        int64_t n[3] = {0};
        char *end = NULL;
        for (int i = 0; i < 3; i++) {
            n[i] = strtoll(at, &end, 10);
            if (end == at) return rule_schema(r, "it needs padding=low_high, for each dimension, x between");
            at = end + (*end == '_');
            if (*end != '_') break;
        }
        if (*at == 'x') at++;
        if (!padded(r, d, n[0], n[1], n[2])) return false;
    }
    return rule_as_wanted(r);
}

bool rule_iota(struct ruling *r)
{
    int64_t dim = model_attr_int(&r->op->attrs, "iota_dimension", r->y->count == 1 ? 0 : -1);
    rule_like(r, r->y);
    return dim >= 0 && dim < r->y->count ? true
                                         : rule_schema(r, "it needs an iota_dimension within the rank");
}

bool rule_arange(struct ruling *r)
{
    const struct model_attrs *a = &r->op->attrs;
    int64_t start = model_attr_int(a, "start", 0), end = model_attr_int(a, "end", 0),
            step = model_attr_int(a, "step", 1), span;
    int dim = rule_dim(model_attr_int(a, "arange_dimension", 0), r->y->count);
    rule_like(r, r->y);
    if (dim < 0) return rule_schema(r, "it needs an arange_dimension within the rank");
    if (!model_attr_find(a, "end") || step < 1 || __builtin_sub_overflow(end, start, &span) || span < 0)
        return true;
    r->want[dim] = span > 0 ? (span - 1) / step + 1 : 0;
    return rule_as_wanted(r);
}

bool rule_squeezed(struct ruling *r)
{
    int dim = rule_dim(model_attr_int(&r->op->attrs, "dim", 0), r->in[0]->count);
    if (dim < 0 || r->in[0]->extent[dim] != 1) return rule_schema(r, "it needs a dim of extent 1");
    for (int d = 0; d < r->in[0]->count; d++)
        if (d != dim) rule_want(r, r->in[0]->extent[d]);
    return rule_as_wanted(r);
}

bool rule_unsqueezed(struct ruling *r)
{
    int dim = rule_dim(model_attr_int(&r->op->attrs, "dim", 0), r->in[0]->count + 1);
    if (dim < 0) return rule_schema(r, "it needs a dim within the rank of the result");
    for (int d = 0; d <= r->in[0]->count; d++) rule_want(r, d == dim ? 1 : r->in[0]->extent[d - (d > dim)]);
    return rule_as_wanted(r);
}

/* The shape that the op states once more is that of its result. */
bool rule_reshaped(struct ruling *r)
{
    int count;
    const int64_t *shape = rule_ints(r, "shape", &count);
    if (!rule_same_elements(r)) return false;
    if (count != r->y->count) return true;
    for (int d = 0; d < count; d++)
        if (shape[d] != r->y->extent[d] && shape[d] != -1)
            return rule_wrong(r, "its shape is another than that of its result");
    return true;
}

/* The value has the type of the result. */
bool rule_constant(struct ruling *r)
{
    const struct model_attr *a = model_attr_find(&r->op->attrs, "value");
    rule_like(r, r->y);
    if (!a) return rule_schema(r, "it needs a value");
    if (a->form != ATTR_DATA) return true;
    rule_like(r, a->data->type);
    return rule_as_wanted(r);
}

/* One dimension is that many times as long, as there are devices. */
bool rule_gathered_parts(struct ruling *r)
{
    int other = 0;
    rule_like(r, r->in[0]);
    if (r->rank != r->y->count) return false;
    for (int d = 0; d < r->rank; d++) other += r->want[d] != r->y->extent[d];
    return other <= 1;
}

bool rule_index(struct ruling *r)
{
    const struct model_attrs *a = &r->op->attrs;
    int dim = rule_dim(model_attr_int(a, "dim", 0), r->in[0]->count);
    int64_t step = model_attr_int(a, "step", 1);
    if (dim < 0) return rule_schema(r, "it needs a dim within the rank");
    rule_like(r, r->in[0]);
    if (!box(r, dim, model_attr_int(a, "begin", 0), model_attr_int(a, "end", r->want[dim]), step))
        return false;
    return step < 0 || rule_as_wanted(r);
}
