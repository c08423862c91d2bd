/* Walks: how the elements of an operand are found where its dimensions are not just variables of the op.
 *
 *   views        dimension d of the input is offset + stride * v; a stride below 0 goes backwards
 *   slice        the same, by the offset and stride of the op itself, where it has an einsum
 *   concat       along the axis of the output input i is v - (what stands before it); outside there is nothing of it
 *   pad          a dimension of the input is (v - low) / (1 + interior); outside, and between, there is nothing of it
 *
 * Of these, variables that go backwards or have holes are taken as a whole; the others may be split. */
#include "graph/op_walks.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/hash.h"

#include <string.h>

struct walk_maker {
    const struct graph_builder *b;
    struct place at;
    const struct lx_op *op;
    struct lx_einsum *m;
    struct lx_walk *walks;
    lx_status *st;
};

struct walk_arrays {
    int64_t offset[LX_MAX_RANK], stride[LX_MAX_RANK], first[LX_MAX_RANK], by[LX_MAX_RANK], hole[LX_MAX_RANK];
};

static bool is_concat(const struct lx_op *op)
{
    return op->kind->id == LX_KIND_CONCAT;
}

static bool is_pad(const struct lx_op *op)
{
    return op->kind->id == LX_KIND_PAD;
}

bool op_walks(const struct lx_op *op, int operand)
{
    if (operand >= op->input_count) return false;
    if (op->views && op->views[operand].offset) return true;
    return is_concat(op) || (operand == 0 && (is_pad(op) || (op->kind->traits & LX_VIEW)));
}

static const struct lx_tensor *op_walks_tensor_of(const struct walk_maker *w, int operand)
{
    return &w->b->tensors.at[op_operand(w->op, operand)];
}

/* Of a view, or of a slice, which has its own. */
static struct lx_view op_walks_view_of(const struct lx_op *op, int operand)
{
    if (op->views) return op->views[operand];
    return (struct lx_view){op->offset, op->stride, NULL};
}

static bool outside(const struct walk_maker *w, const struct lx_tensor *t, int d, int64_t count,
                    int64_t offset, int64_t stride)
{
    return builder_error(
        w->b, w->at, w->st, LX_E_SHAPE,
        "op %s: in dimension %d, %lld elements from offset %lld by %lld do not lie within %s (%lld)",
        w->op->name, d, (long long)count, (long long)offset, (long long)stride, t->name,
        (long long)t->shape[d]);
}

/* How many elements are left from an offset on. */
static int64_t left_from(int64_t shape, int64_t offset, int64_t stride)
{
    if (offset < 0 || offset >= shape) return 1; /* refused when its place is looked at */
    return stride > 0 ? (shape - 1 - offset) / stride + 1 : offset / -stride + 1;
}

static bool tell_extents(struct walk_maker *w, int operand)
{
    const struct lx_tensor *t = op_walks_tensor_of(w, operand);
    struct lx_view view = op_walks_view_of(w->op, operand);
    bool reduces = w->op->kind->traits & (LX_REDUCES | LX_CONTRACTS);
    for (int d = 0; view.offset && d < t->rank; d++) {
        int64_t *extent = &w->m->extent[(int)w->m->index[operand][d]];
        int64_t stride = view.stride ? view.stride[d] : 1;
        if (stride == 0) return outside(w, t, d, 1, view.offset[d], stride);
        /* What only the box has is one element, unless it is reduced. */
        int64_t untold = reduces ? left_from(t->shape[d], view.offset[d], stride) : 1;
        if (*extent == 0) *extent = view.size ? view.size[d] : untold;
        if (view.size && view.size[d] != *extent)
            return builder_error(
                w->b, w->at, w->st, LX_E_SHAPE,
                "op %s: the view of %s has %lld elements in dimension %d, but '%c' is %lld long", w->op->name,
                t->name, (long long)view.size[d], d, w->m->letter[(int)w->m->index[operand][d]],
                (long long)*extent);
    }
    return true;
}

static bool walk_view(struct walk_maker *w, int operand, int d, struct walk_arrays *a)
{
    const struct lx_tensor *t = op_walks_tensor_of(w, operand);
    struct lx_view view = op_walks_view_of(w->op, operand);
    int64_t count = w->m->extent[(int)w->m->index[operand][d]], first = view.offset[d];
    int64_t by = view.stride ? view.stride[d] : 1, steps = by > 0 ? by : -by;
    int64_t room = by > 0 ? t->shape[d] - 1 - first : first;
    if (first < 0 || first >= t->shape[d] || count - 1 > room / steps)
        return outside(w, t, d, count, first, by);
    a->first[d] = first;
    a->by[d] = by;
    a->hole[d] = 1;
    a->offset[d] = by > 0 ? first : first - steps * (count - 1);
    a->stride[d] = steps;
    return true;
}

/* Elements of an input of a concat along the joined variable; one that lacks it is one element of it. */
static int64_t op_walks_part_length(const struct walk_maker *w, int operand, int joined)
{
    for (int d = 0; d < w->m->rank[operand]; d++)
        if (w->m->index[operand][d] == joined) return op_walks_tensor_of(w, operand)->shape[d];
    return 1;
}

static int64_t op_walks_part_begin(const struct walk_maker *w, int operand, int joined)
{
    int64_t at = 0;
    for (int i = 0; i < operand; i++) at += op_walks_part_length(w, i, joined);
    return at;
}

static int joined_var(const struct walk_maker *w)
{
    int out = w->op->input_count;
    int64_t axis = w->op->params ? w->op->params->axis : -1;
    return axis >= 0 && axis < w->m->rank[out] ? w->m->index[out][axis] : -1;
}

static bool walk_part(struct walk_maker *w, int operand, int d, struct walk_arrays *a)
{
    const struct lx_tensor *t = op_walks_tensor_of(w, operand);
    int v = w->m->index[operand][d], joined = joined_var(w);
    if (v != joined && t->shape[d] != w->m->extent[v])
        return builder_error(w->b, w->at, w->st, LX_E_SHAPE,
                             "op %s: '%c' is %lld long in %s but %lld elsewhere in %s; make the shapes agree",
                             w->op->name, w->m->letter[v], (long long)t->shape[d], t->name,
                             (long long)w->m->extent[v], w->op->einsum);
    a->first[d] = a->offset[d] = v == joined ? -op_walks_part_begin(w, operand, joined) : 0;
    a->by[d] = a->hole[d] = a->stride[d] = 1;
    return true;
}

static int64_t op_walks_amount(const int64_t *list, int d)
{
    return list ? list[d] : 0;
}

static int op_walks_dim_of(const struct walk_maker *w, int operand, int v)
{
    int d = w->m->rank[operand] - 1;
    while (d >= 0 && w->m->index[operand][d] != v) d--;
    return d;
}

/* Dimensions of the output that the input lacks: repeated, or one element at `low`. */
static bool check_added(const struct walk_maker *w)
{
    const struct lx_op_params *p = w->op->params;
    int out = w->op->input_count;
    for (int d = 0; p && d < w->m->rank[out]; d++) {
        int64_t low = op_walks_amount(p->low, d), high = op_walks_amount(p->high, d),
                extent = w->m->extent[(int)w->m->index[out][d]];
        if (op_walks_dim_of(w, 0, w->m->index[out][d]) >= 0 || (!low && !high)) continue;
        if (low < 0 || high < 0 || low + 1 + high != extent)
            return builder_error(w->b, w->at, w->st, LX_E_SHAPE,
                                 "op %s: one element padded by %lld and %lld is not %lld long", w->op->name,
                                 (long long)low, (long long)high, (long long)extent);
        w->m->nature[(int)w->m->index[out][d]] = LX_SHIFTED; /* where it is depends on the index itself */
    }
    return true;
}

static bool walk_padded(struct walk_maker *w, int operand, int d, struct walk_arrays *a)
{
    const struct lx_tensor *t = op_walks_tensor_of(w, operand);
    const struct lx_op_params *p = w->op->params;
    int v = w->m->index[operand][d], k = op_walks_dim_of(w, w->op->input_count, v);
    if (k < 0) /* refused with the rest of what a kind may not do */
        return walk_part(w, operand, d, a);
    int64_t low = p ? op_walks_amount(p->low, k) : 0, high = p ? op_walks_amount(p->high, k) : 0;
    int64_t holes = p ? op_walks_amount(p->interior, k) : 0, inside;
    if (!mul_i64(t->shape[d] - 1, holes, &inside) || inside > LX_INT_MAX ||
        low + t->shape[d] + inside + high != w->m->extent[v])
        return builder_error(
            w->b, w->at, w->st, LX_E_SHAPE,
            "op %s: dimension %d of %s padded by %lld, %lld and %lld between is not %lld long", w->op->name,
            d, t->name, (long long)low, (long long)high, (long long)holes, (long long)w->m->extent[v]);
    a->first[d] = -low;
    a->by[d] = a->stride[d] = 1;
    a->hole[d] = 1 + holes;
    a->offset[d] = holes ? 0 : -low; /* with holes: all that there is */
    return true;
}

static bool make_walk(struct walk_maker *w, int operand)
{
    struct walk_arrays a = {.offset = {0}};
    for (int d = 0; d < w->m->rank[operand]; d++)
        if (is_concat(w->op) ? !walk_part(w, operand, d, &a)
            : is_pad(w->op)  ? !walk_padded(w, operand, d, &a)
                             : !walk_view(w, operand, d, &a))
            return false;
    /* What may be done with the variables of an operand. */
    const struct lx_tensor *t = op_walks_tensor_of(w, operand);
    for (int d = 0; d < t->rank; d++) {
        int v = w->m->index[operand][d];
        bool whole = a.by[d] < 0 || a.hole[d] > 1;
        bool plain = a.first[d] == 0 && a.by[d] == 1 && t->shape[d] == w->m->extent[v];
        if (whole)
            w->m->nature[v] = LX_JOINED;
        else if (!plain && w->m->nature[v] == LX_ITERATED)
            w->m->nature[v] = LX_SHIFTED;
    }
    if (is_concat(w->op) &&
        w->m->nature[joined_var(w)] == LX_ITERATED) /* parts of one element may all lack it */
        w->m->nature[joined_var(w)] = LX_SHIFTED;
    size_t rank = (size_t)w->m->rank[operand];
    struct lx_walk *k = &w->walks[operand];
    k->offset = arena_copy_array(w->b->memory, a.offset, rank, sizeof(int64_t));
    k->stride = arena_copy_array(w->b->memory, a.stride, rank, sizeof(int64_t));
    k->first = arena_copy_array(w->b->memory, a.first, rank, sizeof(int64_t));
    k->by = arena_copy_array(w->b->memory, a.by, rank, sizeof(int64_t));
    k->hole = arena_copy_array(w->b->memory, a.hole, rank, sizeof(int64_t));
    return true;
}

/* The axis of a concat, and its parts together; a list of a pad has an entry per dimension. */
static bool check_params(const struct walk_maker *w)
{
    const struct lx_op_params *p = w->op->params;
    int joined = joined_var(w), rank = w->m->rank[w->op->input_count];
    if (is_concat(w->op) && joined < 0)
        return builder_error(w->b, w->at, w->st, LX_E_SHAPE,
                             "op %s: its output has no dimension %lld to join along", w->op->name,
                             (long long)(p ? p->axis : -1));
    if (is_concat(w->op) && op_walks_part_begin(w, w->op->input_count, joined) != w->m->extent[joined])
        return builder_error(
            w->b, w->at, w->st, LX_E_SHAPE,
            "op %s: its inputs have %lld elements along '%c', its output %lld; make them agree", w->op->name,
            (long long)op_walks_part_begin(w, w->op->input_count, joined), w->m->letter[joined],
            (long long)w->m->extent[joined]);
    if (is_pad(w->op) && p &&
        ((p->low && p->low_count != rank) || (p->high && p->high_count != rank) ||
         (p->interior && p->interior_count != rank)))
        return builder_error(w->b, w->at, w->st, LX_E_SHAPE,
                             "op %s: low, high and interior have one entry for each of %d dimensions",
                             w->op->name, rank);
    return !is_pad(w->op) || check_added(w);
}

bool builder_walk_op(const struct graph_builder *b, struct place at, const struct lx_op *op,
                     struct lx_einsum *m, lx_status *st)
{
    struct walk_maker w = {b, at, op, m, NULL, st};
    bool any = false, boxes = !is_concat(op) && !is_pad(op);
    for (int i = 0; i < op->input_count; i++) any |= op_walks(op, i);
    if (!any) return true;
    for (int i = 0; boxes && i < op->input_count; i++)
        if (op_walks(op, i) && !tell_extents(&w, i)) return false;
    w.walks = arena_array(b->memory, (size_t)op_operand_count(op), sizeof *w.walks);
    if (!check_params(&w)) return false;
    for (int i = 0; i < op->input_count; i++)
        if (op_walks(op, i) && !make_walk(&w, i)) return false;
    m->walks = w.walks;
    return true;
}

/* --- "views" of ops in patterns: one entry per input, null where it is read as it is. --- */

static bool op_views_read_numbers(const struct json *j, const struct json_value *view, const char *key,
                                  int rank, const struct graph_builder *b, const int64_t **out, lx_status *st)
{
    const struct json_value *array = NULL, *v;
    int i = 0;
    if (!json_opt_array(j, view, key, &array, st)) return false;
    if (!array) return true;
    if (json_count(array) != rank)
        return json_error(j, array, st, LX_E_SHAPE, "%s has %d entries, but the tensor has %d dimensions",
                          key, json_count(array), rank);
    int64_t *at = arena_array(b->memory, (size_t)rank, sizeof *at);
    int64_t low = strcmp(key, "stride") == 0 ? -LX_INT_MAX : strcmp(key, "size") == 0 ? 1 : 0;
    json_for_each(v, array)
        if (!json_int_value(j, v, key, low, LX_INT_MAX, &at[i++], st)) return false;
    *out = at;
    return true;
}

static bool read_one(const struct json *j, const struct json_value *v, int rank,
                     const struct graph_builder *b, struct lx_view *out, lx_status *st)
{
    static const char *const keys[] = {"offset", "stride", "size", NULL};
    if (json_is_null(v)) return true;
    if (!json_only_keys(j, v, "a view", keys, st)) return false;
    if (rank < 0)
        return json_error(j, v, st, LX_E_SHAPE,
                          "a view of a tensor that is known by its bytes only; give its shape");
    if (!json_find(v, "offset"))
        return json_error(j, v, st, LX_E_SCHEMA, "a view needs \"offset\"; add it, or say null");
    return op_views_read_numbers(j, v, "offset", rank, b, &out->offset, st) &&
           op_views_read_numbers(j, v, "stride", rank, b, &out->stride, st) &&
           op_views_read_numbers(j, v, "size", rank, b, &out->size, st);
}

bool op_views_read(const struct json *j, const struct json_value *op, const struct graph_builder *b,
                   struct lx_op *out, lx_status *st)
{
    const struct json_value *array = NULL, *v;
    int i = 0;
    if (!json_opt_array(j, op, "views", &array, st)) return false;
    if (!array) return true;
    if (!(out->kind->traits & (LX_POINTWISE | LX_REDUCES | LX_CONTRACTS)))
        return json_error(j, array, st, LX_E_SCHEMA,
                          "op %s: a %s has no views; only pointwise ops, reductions and contractions do",
                          out->name, out->kind->name);
    if (json_count(array) != out->input_count)
        return json_error(j, array, st, LX_E_SCHEMA, "op %s: %d views for %d inputs; give one each, or null",
                          out->name, json_count(array), out->input_count);
    struct lx_view *views = arena_array(b->memory, (size_t)out->input_count, sizeof *views);
    json_for_each(v, array) {
        int rank = b->tensors.at[out->inputs[i]].rank;
        if (!read_one(j, v, rank, b, &views[i++], st)) return false;
    }
    out->views = views;
    return true;
}

void op_views_write(const struct lx_graph *g, const struct lx_op *op, struct text *t)
{
    for (int i = 0; op->views && i < op->input_count; i++) {
        const struct lx_view *v = &op->views[i];
        int rank = g->tensors[op->inputs[i]].rank;
        text_add(t, i ? ", " : ", \"views\": [");
        if (!v->offset) text_add(t, "null");
        if (v->offset) {
            struct text one = {0};
            text_json_ints(&one, "offset", v->offset, rank);
            if (v->stride) text_json_ints(&one, "stride", v->stride, rank);
            if (v->size) text_json_ints(&one, "size", v->size, rank);
            text_format(t, "{%s}", one.at + 2); /* behind ", " */
            text_free(&one);
        }
        if (i + 1 == op->input_count) text_add(t, "]");
    }
}

void op_views_copy(const struct graph_builder *b, const struct lx_op *from, struct lx_op *to)
{
    if (!from->views) return;
    struct lx_view *views =
        arena_copy_array(b->memory, from->views, (size_t)from->input_count, sizeof *views);
    for (int i = 0; views && i < from->input_count; i++) {
        size_t rank = (size_t)max_i64(b->tensors.at[from->inputs[i]].rank, 0);
        const int64_t **lists[] = {&views[i].offset, &views[i].stride, &views[i].size};
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
            if (!*lists[k]) continue;
            *lists[k] = arena_copy_array(b->memory, *lists[k], rank, sizeof(int64_t));
        }
    }
    to->views = views;
}

static bool op_views_same_list(const int64_t *a, const int64_t *b, int rank)
{
    if (!a || !b) return a == b;
    return rank == 0 || memcmp(a, b, (size_t)rank * sizeof *a) == 0;
}

bool op_views_equal(const struct lx_op *a, const struct lx_op *b)
{
    if (!a->views || !b->views || !a->map) return a->views == b->views;
    bool same = true;
    for (int i = 0; i < a->input_count && same; i++) {
        const struct lx_view *p = &a->views[i], *q = &b->views[i];
        int rank = a->map->rank[i];
        same =
            op_views_same_list(p->offset, q->offset, rank) && op_views_same_list(p->stride, q->stride, rank);
    }
    return same;
}

uint64_t op_views_hash(uint64_t h, const struct lx_op *op)
{
    for (int i = 0; op->map && op->map->walks && i < op->input_count; i++) {
        const struct lx_walk *w = &op->map->walks[i];
        size_t bytes = (size_t)op->map->rank[i] * sizeof(int64_t);
        if (w->offset) h = hash_bytes(hash_bytes(h, w->first, bytes), w->by, bytes);
    }
    return h;
}
