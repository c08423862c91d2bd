/* Rules of result types: ops that move, repeat or leave out elements, and constants. */
#include "import/types/typing.h"

enum { MOST = MODEL_MAX_RANK };

static int64_t type_clamped(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* ONNX: an operand has the shape; 0 keeps an extent, -1 is the rest. Text: the element counts must match. */
enum typed type_of_reshape(struct typing *t)
{
    const struct model_type *x = t->in[0];
    int64_t known = 1, *extent = t->want;
    int count, rest = -1;
    bool keep = !typing_int(t, "allowzero", 0), onnx = t->dialect == MODEL_ONNX;
    if (!onnx) {
        const int64_t *shape = model_attr_ints(&t->op->attrs, "shape", &count);
        if (x->elements != t->stated->elements) return typing_like(t, x), TYPE_WRONG;
        for (int d = 0; count == t->stated->count && d < count; d++)
            if (shape[d] != t->stated->extent[d] && shape[d] != -1)
                return typing_wrong(t, "its shape is another than that of its result");
        return TYPE_OPEN;
    }
    if (!typing_ints(t, t->opset < 5 ? "shape" : NULL, 1, extent, MOST, &count) || count < 0)
        return TYPE_OPEN;
    for (int d = 0; d < count; d++) {
        if (extent[d] == 0 && keep) extent[d] = d < x->count ? x->extent[d] : -2;
        if (extent[d] < -1 || (extent[d] == -1 && rest >= 0))
            return typing_wrong(t, "two extents of the new shape are -1, or one is less");
        if (extent[d] == -1)
            rest = d;
        else if (!mul_i64(known, extent[d], &known))
            return typing_wrong(t, "too many elements");
    }
    if (rest >= 0) extent[rest] = known ? x->elements / known : 0;
    if (rest >= 0 ? extent[rest] * known != x->elements && known : known != x->elements) return TYPE_WRONG;
    t->rank = count;
    return TYPED;
}

enum typed type_of_flatten(struct typing *t)
{
    int64_t extent[2] = {1, 1}, axis = typing_int(t, "axis", 1);
    if (t->dialect != MODEL_ONNX) return TYPE_OPEN;
    if (axis < 0) axis += t->in[0]->count;
    if (axis < 0 || axis > t->in[0]->count) return typing_wrong(t, "there is no such axis");
    for (int d = 0; d < t->in[0]->count; d++) extent[d >= axis] *= t->in[0]->extent[d];
    typing_want(t, extent[0]);
    typing_want(t, extent[1]);
    return TYPED;
}

enum typed type_of_squeeze(struct typing *t)
{
    const struct model_type *x = t->in[0];
    bool onnx = t->dialect == MODEL_ONNX, goes[MOST] = {false};
    int64_t axes[MOST] = {typing_int(t, "dim", 0)};
    int count = 1;
    if (onnx && !typing_ints(t, "axes", 1, axes, MOST, &count)) return TYPE_OPEN;
    for (int d = 0; count < 0 && d < x->count; d++) goes[d] = x->extent[d] == 1;
    for (int i = 0; i < count; i++) {
        int d = typing_dim(axes[i], x->count);
        if (d < 0 || x->extent[d] != 1) return typing_schema(t, "it needs a dim of extent 1");
        goes[d] = true;
    }
    for (int d = 0; d < x->count; d++)
        if (!goes[d]) typing_want(t, x->extent[d]);
    return TYPED;
}

enum typed type_of_unsqueeze(struct typing *t)
{
    const struct model_type *x = t->in[0];
    int64_t axes[MOST] = {typing_int(t, "dim", 0)};
    bool new[MOST] = {false};
    int count = 1, next = 0;
    if (t->dialect == MODEL_ONNX && (!typing_ints(t, "axes", 1, axes, MOST, &count) || count < 0))
        return TYPE_OPEN;
    int rank = x->count + count;
    if (rank > MOST) return typing_wrong(t, "too many dimensions");
    for (int i = 0; i < count; i++) {
        int d = typing_dim(axes[i], rank);
        if (d < 0 || new[d])
            return typing_schema(t, "it needs dimensions within the rank of the result, each once");
        new[d] = true;
    }
    for (int d = 0; d < rank; d++) typing_want(t, new[d] ? 1 : x->extent[next++]);
    return TYPED;
}

enum typed typing_permutation(struct typing *t, int64_t *perm)
{
    static const char *const keys[] = {
        [MODEL_TTIR] = "permutation", [MODEL_HLO] = "dimensions", [MODEL_ONNX] = "perm"};
    int rank = t->in[0]->count, count, a = typing_dim(typing_int(t, "dim0", 0), rank),
        b = typing_dim(typing_int(t, "dim1", 0), rank);
    bool seen[MOST] = {false}, swaps = model_attr_find(&t->op->attrs, "dim0") != NULL;
    if (swaps && (a < 0 || b < 0)) return typing_schema(t, "it needs dim0 and dim1 within the rank");
    if (!typing_ints(t, keys[t->dialect], -1, perm, MOST, &count) ||
        (count != rank && !swaps && !(count < 0 && (t->dialect == MODEL_ONNX || rank == 0))))
        return typing_schema(t, "it needs a permutation of all dimensions");
    for (int d = 0; d < rank; d++) {
        int from = swaps ? d == a ? b : d == b ? a : d : count < 0 ? rank - 1 - d : typing_dim(perm[d], rank);
        if (from < 0 || seen[from]) return typing_wrong(t, "its permutation is none");
        seen[from] = true;
        perm[d] = from;
    }
    return TYPED;
}

enum typed type_of_permute(struct typing *t)
{
    int64_t perm[MOST];
    enum typed typed = typing_permutation(t, perm);
    for (int d = 0; typed == TYPED && d < t->in[0]->count; d++) typing_want(t, t->in[0]->extent[perm[d]]);
    return typed;
}

/* TTIR repeats extents of 1; HLO maps dimensions of the result; ONNX broadcasts to the shape in an
 * operand. */
enum typed type_of_repeat(struct typing *t)
{
    const struct model_type *x = t->in[0], *y = t->stated;
    int64_t dims[MOST];
    bool seen[MOST] = {false};
    int count;
    if (t->dialect == MODEL_TTIR) {
        typing_like(t, x);
        for (int d = 0; d < x->count && x->count == y->count; d++)
            if (t->want[d] == 1 && y->extent[d] >= 0) t->want[d] = y->extent[d];
        return TYPED;
    }
    if (t->dialect == MODEL_ONNX) {
        if (!typing_ints(t, NULL, 1, dims, MOST, &count) || count < 0) return TYPE_OPEN;
        return typing_spread(t, x->count, x->extent) && typing_spread(t, count, dims)
                   ? TYPED
                   : typing_wrong(t, "the operand does not broadcast to that shape");
    }
    typing_like(t, y);
    if (!typing_ints(t, "dimensions", -1, dims, MOST, &count) || (count < 0 ? 0 : count) != x->count)
        return typing_schema(t, "it needs a dimension of the result for each of its own");
    for (int d = 0; d < count; d++) {
        if (dims[d] < 0 || dims[d] >= t->rank || seen[dims[d]])
            return typing_wrong(t, "its dimensions are outside of the result, or two of them are one");
        seen[dims[d]] = true;
        t->want[dims[d]] = x->extent[d];
    }
    return TYPED;
}

/* upsample2d: whole factors of height and width of NHWC. ONNX: sizes, or scales of all dimensions. */
enum typed type_of_resize(struct typing *t)
{
    const struct model_type *x = t->in[0];
    bool onnx = t->dialect == MODEL_ONNX, old = t->opset < 11;
    const struct model_attr *a = model_attr_find(&t->op->attrs, "scales");
    const struct model_data *d = typing_data(t, old ? 1 : 2);
    int64_t list[MOST];
    int count = -1;
    typing_like(t, x);
    if (!typing_ints(t, onnx ? NULL : "scale_factor", onnx && !old ? 3 : -1, list, MOST, &count))
        return TYPE_OPEN;
    if (!onnx && (x->count != 4 || count < 1))
        return typing_schema(t, "it needs an image and a scale_factor");
    for (int i = 0; !onnx && i < 2; i++)
        if (!mul_i64(x->extent[1 + i], list[i % count], &t->want[1 + i])) return TYPE_WRONG;
    if (!onnx) return TYPED;
    if (model_attr_find(&t->op->attrs, "axes") || model_attr_find(&t->op->attrs, "keep_aspect_ratio_policy"))
        return TYPE_OPEN;
    if (count > 0 && count != x->count) return typing_wrong(t, "not one size for each dimension");
    bool listed = a && a->form == ATTR_REALS && a->count == x->count,
         known = d && d->reals && d->type->elements == x->count;
    for (int i = 0; i < x->count; i++) {
        double scale = listed ? a->reals[i] : known ? model_data_real(d, i) : 0;
        double y = count > 0 ? (double)list[i] : floor((double)x->extent[i] * scale);
        if (!(y >= 1 && y < 1e15)) return TYPE_OPEN;
        t->want[i] = (int64_t)y;
    }
    return TYPED;
}

enum typed type_of_tile(struct typing *t)
{
    int64_t times[MOST];
    int count;
    typing_like(t, t->in[0]);
    if (!typing_ints(t, NULL, 1, times, MOST, &count)) return TYPE_OPEN;
    for (int d = 0; d < t->rank; d++)
        if (count != t->rank || !mul_i64(t->want[d], times[d], &t->want[d])) return TYPE_WRONG;
    return TYPED;
}

/* The k largest: k is an operand, or an attribute below opset 10. */
enum typed type_of_topk(struct typing *t)
{
    const struct model_type *x = t->in[0];
    int axis = typing_dim(typing_int(t, "axis", -1), x->count), count;
    int64_t k;
    if (!typing_ints(t, "k", 1, &k, 1, &count)) return TYPE_OPEN;
    if (axis < 0 || count != 1) return typing_schema(t, "it needs an axis of its operand, and k");
    if (k < 0 || k > x->extent[axis]) return TYPE_WRONG;
    typing_like(t, x);
    t->want[axis] = k;
    typing_result(t, 1, MODEL_I64, t->rank, t->want);
    return TYPED;
}

enum typed type_of_concat(struct typing *t)
{
    static const char *const keys[] = {
        [MODEL_TTIR] = "dim", [MODEL_HLO] = "dimensions", [MODEL_ONNX] = "axis"};
    const struct model_type *first = t->in[0];
    int64_t dims[1] = {1};
    int count;
    if (!typing_ints(t, keys[t->dialect], -1, dims, 1, &count) ||
        (count < 0 && !(t->dialect == MODEL_ONNX && t->opset < 4)))
        return typing_schema(t, t->dialect == MODEL_ONNX
                                    ? "it needs \"axis\""
                                    : "it needs the dimension along which parts are joined");
    int dim = typing_dim(dims[0], first->count);
    if (dim < 0) return typing_schema(t, "there is no such dimension");
    typing_like(t, first);
    for (int i = 1; i < t->op->operand_count; i++) {
        const struct model_type *x = model_type_of(t->m, t->op->operands[i]);
        if (x->count != first->count) return TYPE_WRONG;
        for (int d = 0; d < x->count; d++)
            if (d == dim ? !add_i64(t->want[d], x->extent[d], &t->want[d]) : x->extent[d] != first->extent[d])
                return TYPE_WRONG;
    }
    return TYPED;
}

/* ---- slices ---- */

/* ceil((end - begin) / step), both within the extent. Negative steps are not judged. */
static enum typed type_box(struct typing *t, int d, int64_t begin, int64_t end, int64_t step)
{
    int64_t n = t->in[0]->extent[d];
    if (step < 0) return TYPE_OPEN;
    if (step == 0 || begin < -n || end < -n || begin > n || end > n)
        return typing_wrong(t, "its box is outside of the operand, or its step 0");
    begin += begin < 0 ? n : 0;
    end += end < 0 ? n : 0;
    t->want[d] = end > begin ? (end - begin - 1) / step + 1 : 0;
    return TYPED;
}

/* Clamps bounds beyond the operand; steps may be negative. */
static enum typed type_onnx_slice(struct typing *t, int64_t *start, int64_t *step)
{
    static const char *const keys[] = {"starts", "ends", "axes", NULL};
    int64_t list[4][MOST];
    int n[4];
    bool old = t->opset < 10;
    if (!model_attr_find(&t->op->attrs, "starts") && !typing_has(t, 1))
        return typing_schema(t, "it needs \"starts\"");
    for (int i = 0; i < 4; i++)
        if (!typing_ints(t, old ? keys[i] : NULL, old ? -1 : i + 1, list[i], MOST, &n[i]) ||
            (n[i] != n[0] && (i < 2 || n[i] >= 0)))
            return TYPE_OPEN;
    if (n[0] < 0 || n[0] > t->rank) return TYPE_OPEN;
    for (int i = 0; i < n[0]; i++) {
        int d = typing_dim(n[2] < 0 ? i : list[2][i], t->rank);
        int64_t by = n[3] < 0 ? 1 : list[3][i], from = list[0][i], to = list[1][i];
        if (d < 0 || by == 0) return TYPE_OPEN;
        int64_t length = t->want[d], low = by > 0 ? 0 : -1, high = by > 0 ? length : length - 1;
        if (from < 0) from = from < -length ? low : from + length;
        if (to < 0) to = to < -length ? -1 : to + length;
        from = type_clamped(from, low, high);
        to = type_clamped(to, low, high);
        int64_t span = by > 0 ? to - from : from - to, size = by > 0 ? by : by == INT64_MIN ? INT64_MAX : -by;
        start[d] = from;
        step[d] = by;
        t->want[d] = span > 0 ? ceil_div_i64(span, size) : 0;
    }
    return TYPED;
}

/* Up to three numbers with a separator; returns how many. */
static int type_numbers(const char **at, char between, int64_t *out)
{
    char *end = NULL;
    int n = 0;
    while (*at && n < 3) {
        out[n] = strtoll(*at, &end, 10);
        if (end == *at) return n;
        n++;
        *at = end + (*end == between && n < 3);
        if (*end != between) break;
    }
    return n;
}

/* slice={[0:2], [0:8:2]} */
static enum typed type_hlo_slice(struct typing *t, int64_t *begin, int64_t *step)
{
    const char *at = model_attr_word(&t->op->attrs, "slice", NULL);
    if (!at) return typing_schema(t, "it needs slice={[begin:end], ...}");
    for (int d = 0; d < t->rank; d++) {
        int64_t n[3] = {0};
        at = strchr(at, '[');
        if (at) at++;
        int count = at ? type_numbers(&at, ':', n) : 0;
        if (count < 2 || *at != ']')
            return typing_schema(t, "it needs [begin:end] or [begin:end:step] for each dimension");
        begin[d] = n[0];
        step[d] = count == 3 ? n[2] : 1;
        if (n[0] < 0 || n[1] < n[0] || step[d] < 1)
            return typing_wrong(t, "its box is outside of the operand");
        if (type_box(t, d, n[0], n[1], step[d]) == TYPE_WRONG) return TYPE_WRONG;
    }
    return TYPED;
}

enum typed typing_slice(struct typing *t, int64_t *begin, int64_t *step)
{
    int64_t end[MOST], from[MOST];
    int counts[3];
    enum typed typed = TYPED;
    typing_like(t, t->in[0]);
    for (int d = 0; d < t->rank; d++) begin[d] = 0, step[d] = 1;
    bool listed = model_attr_find(&t->op->attrs, "begins"); /* StableHLO */
    if (t->dialect == MODEL_HLO && !listed) return type_hlo_slice(t, begin, step);
    if (t->dialect == MODEL_ONNX) return type_onnx_slice(t, begin, step);
    if (model_attr_find(&t->op->attrs, "dim")) { /* along one dimension */
        int dim = typing_dim(typing_int(t, "dim", 0), t->rank);
        if (dim < 0) return typing_schema(t, "it needs a dim within the rank");
        int64_t first = typing_int(t, "begin", 0), n = t->want[dim];
        begin[dim] = first < 0 ? first + n : first;
        step[dim] = typing_int(t, "step", 1);
        return type_box(t, dim, first, typing_int(t, "end", n), step[dim]);
    }
    if (!typing_ints(t, "begins", -1, from, MOST, &counts[0]) ||
        !typing_ints(t, "ends", -1, end, MOST, &counts[1]) ||
        !typing_ints(t, "step", -1, step, MOST, &counts[2]) || counts[0] != t->rank || counts[1] != t->rank ||
        (counts[2] > 0 && counts[2] != t->rank))
        return typing_schema(t, "it needs begins, ends and step of all dimensions");
    for (int d = 0; d < t->rank && typed != TYPE_WRONG; d++) {
        int64_t n = t->in[0]->extent[d];
        enum typed one = type_box(t, d, from[d], end[d], step[d]);
        begin[d] = type_clamped(from[d] < 0 ? from[d] + n : from[d], 0, n);
        if (one != TYPED) typed = one;
    }
    return typed;
}

enum typed type_of_slice(struct typing *t)
{
    int64_t begin[MOST], step[MOST];
    return typing_slice(t, begin, step);
}

bool onnx_split(const struct typing *t, int *axis, int64_t *sizes)
{
    const struct model_type *x = t->in[0];
    int count, parts = t->op->result_count;
    *axis = typing_dim(typing_int(t, "axis", 0), x->count);
    if (*axis < 0 || parts > MODEL_MAX_KNOWN || parts < 1) return false;
    if (!typing_ints(t, "split", t->opset >= 13 ? 1 : -1, sizes, MODEL_MAX_KNOWN, &count)) return false;
    int64_t length = x->extent[*axis], sum = 0, each = ceil_div_i64(length, parts);
    for (int i = 0; i < parts; i++) {
        if (count < 0) sizes[i] = min_i64(each, length - sum);
        if (count >= 0 && i >= count) return false;
        if (sizes[i] < 0 || sizes[i] > length - sum) return false;
        sum += sizes[i];
    }
    return sum == length;
}

enum typed type_of_split(struct typing *t)
{
    int64_t sizes[MODEL_MAX_KNOWN];
    int axis;
    if (!onnx_split(t, &axis, sizes)) return TYPE_WRONG;
    typing_like(t, t->in[0]);
    for (int r = t->op->result_count - 1; r >= 0; r--) {
        t->want[axis] = sizes[r];
        if (r > 0) typing_result(t, r, t->element, t->rank, t->want);
    }
    return TYPED;
}

/* ---- pads ---- */

/* padding=0_0x3_3x1_1_1 */
static enum typed type_hlo_pads(struct typing *t, int64_t *low, int64_t *high, int64_t *inner)
{
    const char *at = model_attr_word(&t->op->attrs, "padding", NULL);
    if (t->op->operand_count != 2) return typing_schema(t, "it takes 2 operands");
    if (model_attr_find(&t->op->attrs, "low")) { /* StableHLO: lists */
        int counts[3], rank = t->in[0]->count;
        if (typing_ints(t, "low", -1, low, MOST, &counts[0]) && counts[0] == rank &&
            typing_ints(t, "high", -1, high, MOST, &counts[1]) && counts[1] == rank &&
            typing_ints(t, "interior", -1, inner, MOST, &counts[2]) && counts[2] == rank)
            return TYPED;
        return typing_schema(t, "it needs low, high and interior of all dimensions");
    }
    for (int d = 0; d < t->in[0]->count; d++) {
        int64_t n[3] = {0};
        if (type_numbers(&at, '_', n) < 1)
            return typing_schema(t, "it needs padding=low_high, for each dimension, x between");
        if (*at == 'x') at++;
        low[d] = n[0], high[d] = n[1], inner[d] = n[2];
    }
    return TYPED;
}

enum typed typing_pads(struct typing *t, int64_t *low, int64_t *high, int64_t *inner)
{
    int64_t pads[2 * MOST], axes[MOST];
    bool onnx = t->dialect == MODEL_ONNX;
    int count, chosen = -1, rank = t->in[0]->count;
    const char *key = !onnx ? "padding" : t->opset >= 11 ? NULL : t->opset == 1 ? "paddings" : "pads";
    for (int d = 0; d < rank; d++) low[d] = high[d] = inner[d] = 0;
    if (t->dialect == MODEL_HLO) return type_hlo_pads(t, low, high, inner);
    if (!typing_ints(t, key, onnx ? 1 : -1, pads, 2 * MOST, &count)) return TYPE_OPEN;
    if (onnx && (count < 0 || !typing_ints(t, NULL, 3, axes, MOST, &chosen))) return TYPE_OPEN;
    int n = chosen < 0 ? rank : chosen;
    if (count != 2 * n) return typing_schema(t, "it needs padding, two numbers for each dimension");
    for (int i = 0; i < n; i++) { /* ONNX: all begins, then all ends */
        int d = chosen < 0 ? i : typing_dim(axes[i], rank);
        if (d < 0) return typing_wrong(t, "there is no such axis");
        low[d] = onnx ? pads[i] : pads[2 * i];
        high[d] = onnx ? pads[i + n] : pads[2 * i + 1];
    }
    return TYPED;
}

enum typed type_of_pad(struct typing *t)
{
    int64_t low[MOST], high[MOST], inner[MOST], between;
    enum typed typed = typing_pads(t, low, high, inner);
    typing_like(t, t->in[0]);
    for (int d = 0; typed == TYPED && d < t->rank; d++) {
        int64_t n = t->want[d];
        if (low[d] > INT32_MAX || high[d] > INT32_MAX || low[d] < INT32_MIN || high[d] < INT32_MIN ||
            inner[d] < 0)
            return typing_wrong(t, "its padding is out of range");
        if (__builtin_mul_overflow(n > 0 ? n - 1 : 0, inner[d], &between) ||
            __builtin_add_overflow(n + low[d] + high[d], between, &t->want[d]) || t->want[d] < 0)
            return typing_wrong(t, "its padding leaves nothing, or too much");
    }
    return typed;
}

/* ---- without operands, or from numbers alone ---- */

enum typed type_of_iota(struct typing *t)
{
    const struct model_attrs *a = &t->op->attrs;
    bool hlo = t->dialect == MODEL_HLO;
    int64_t start = typing_int(t, "start", 0), end = typing_int(t, "end", 0), step = typing_int(t, "step", 1),
            span;
    int dim = typing_dim(hlo ? typing_int(t, "iota_dimension", t->stated->count == 1 ? 0 : -100)
                             : typing_int(t, "arange_dimension", 0),
                         t->stated->count);
    typing_like(t, t->stated);
    if (dim < 0)
        return typing_schema(t, hlo ? "it needs an iota_dimension within the rank"
                                    : "it needs an arange_dimension within the rank");
    if (!model_attr_find(a, "end") || step < 1 || __builtin_sub_overflow(end, start, &span) || span < 0)
        return TYPE_OPEN;
    t->want[dim] = span > 0 ? (span - 1) / step + 1 : 0;
    return TYPED;
}

enum typed type_of_range(struct typing *t)
{
    double v[3];
    for (int i = 0; i < 3; i++) {
        const struct model_data *d = typing_data(t, i);
        if (!d) return TYPE_OPEN;
        v[i] = d->reals ? d->reals[0] : (double)d->ints[0];
    }
    double n = v[2] == 0 ? -1 : ceil((v[1] - v[0]) / v[2]);
    if (!(n < 1e15) || v[2] == 0) return typing_wrong(t, "a range without an end");
    typing_want(t, n > 0 ? (int64_t)n : 0);
    return TYPED;
}

/* Makes data of the attribute of an ONNX Constant. */
static enum typed type_onnx_constant(struct typing *t)
{
    const struct model_attr *a = t->op->attrs.count ? &t->op->attrs.at[0] : NULL;
    for (int i = 0; i < t->op->attrs.count; i++)
        if (strncmp(t->op->attrs.at[i].key, "value", 5) == 0) a = &t->op->attrs.at[i];
    if (!a || t->op->result_count < 1 || t->op->results[0] < 0) return TYPE_OPEN;
    struct model_value *v = &t->m->values.at[t->op->results[0]];
    bool list = a->form == ATTR_INTS || a->form == ATTR_REALS,
         whole = a->form == ATTR_INT || a->form == ATTR_INTS;
    if (a->form == ATTR_DATA) {
        v->type = a->data->type;
        v->data = a->data;
        t->element = v->type->element;
        return typing_like(t, v->type);
    }
    if (!list && !whole && a->form != ATTR_REAL) return TYPE_OPEN;
    t->element = whole ? MODEL_I64 : MODEL_F32;
    if (list) typing_want(t, a->count);
    typing_result(t, 0, t->element, t->rank, t->want);
    if (t->why || (list && a->count > MODEL_MAX_KNOWN)) return TYPED;
    struct model_data *d = arena_alloc(&t->m->memory, sizeof *d);
    *d = (struct model_data){.form = DATA_LIST, .type = v->type};
    if (whole)
        d->ints = list ? a->ints : &a->number;
    else
        d->reals = list ? a->reals : &a->real;
    v->data = d;
    return TYPED;
}

enum typed type_of_constant(struct typing *t)
{
    const struct model_attr *a = model_attr_find(&t->op->attrs, "value");
    if (t->dialect == MODEL_ONNX) return type_onnx_constant(t);
    if (t->dialect == MODEL_HLO) return TYPE_OPEN;
    if (!a) return typing_schema(t, "it needs a value");
    return a->form == ATTR_DATA ? typing_like(t, a->data->type) : TYPE_OPEN;
}

enum typed type_of_constant_of_shape(struct typing *t)
{
    const struct model_attr *a = model_attr_find(&t->op->attrs, "value");
    if (!typing_ints(t, NULL, 0, t->want, MOST, &t->rank) || t->rank < 0) return t->rank = 0, TYPE_OPEN;
    t->element = a && a->form == ATTR_DATA ? a->data->type->element : MODEL_F32;
    return TYPED;
}

/* Size is one number. */
enum typed type_of_shape(struct typing *t)
{
    int rank = t->in[0]->count;
    int64_t start = typing_int(t, "start", 0), end = typing_int(t, "end", rank);
    start = type_clamped(start < 0 ? start + rank : start, 0, rank);
    end = type_clamped(end < 0 ? end + rank : end, 0, rank);
    t->element = MODEL_I64;
    if (strcmp(t->op->kind, "Shape") == 0) typing_want(t, end > start ? end - start : 0);
    return TYPED;
}

/* ---- devices ---- */

/* One dimension is longer by the number of devices; for a device's shard, shorter. */
enum typed type_of_parts(struct typing *t)
{
    int64_t group = typing_int(t, "lxplan_group", 0);
    int other = 0, axis = typing_dim(typing_int(t, "axis", 0), t->in[0]->count);
    bool part = strcmp(t->op->kind, "lxplan:DevicePart") == 0;
    typing_like(t, t->in[0]);
    if (t->dialect == MODEL_ONNX) {
        if (axis < 0 || group < 1 || group > 1 << 20 || (part && t->want[axis] % group)) return TYPE_OPEN;
        if (part) t->want[axis] /= group;
        return part || mul_i64(t->want[axis], group, &t->want[axis]) ? TYPED : TYPE_WRONG;
    }
    if (t->rank != t->stated->count) return TYPE_WRONG;
    for (int d = 0; d < t->rank; d++) other += t->want[d] != t->stated->extent[d];
    return other <= 1 ? TYPE_OPEN : TYPE_WRONG;
}
