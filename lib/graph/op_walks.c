/* Walks: index maps of operands whose dimensions are not plain variables of the op.
 *
 *   views        dimension d of the input is offset + stride * v; a negative stride goes backwards
 *   slice        the same, with the op's own offset and stride, if it has an einsum
 *   concat       along the axis, input i is v - (extent of the inputs before it); nothing outside
 *   pad          a dimension of the input is (v - low) / (1 + interior); nothing outside and between
 *
 * Variables that go backwards or have holes are taken as a whole; others may be split. */
#include "graph/op_walks.h"

struct walk_arrays {
    int64_t offset[LX_MAX_RANK], stride[LX_MAX_RANK], first[LX_MAX_RANK], by[LX_MAX_RANK], hole[LX_MAX_RANK];
};

bool op_walks(const struct lx_op *op, int operand)
{
    if (operand >= op->input_count) return false;
    if (op->views && op->views[operand].offset) return true;
    return op->kind->id == LX_KIND_CONCAT ||
           (operand == 0 && (op->kind->id == LX_KIND_PAD || (op->kind->traits & LX_VIEW)));
}

/* The view of an operand; a slice has its own offset and stride. */
static struct lx_view walk_view_of(const struct lx_op *op, int operand)
{
    if (op->views) return op->views[operand];
    return (struct lx_view){op->offset, op->stride, NULL};
}

static bool outside(const struct op_check *c, const struct lx_tensor *t, int d, int64_t count, int64_t offset,
                    int64_t stride)
{
    return op_error(c, LX_E_SHAPE,
                    ": in dimension %d, %lld elements from offset %lld by %lld do not lie within %s (%lld)",
                    d, (long long)count, (long long)offset, (long long)stride, t->name,
                    (long long)t->shape[d]);
}

static bool tell_extents(const struct op_check *c, int operand)
{
    const struct lx_tensor *t = check_operand(c, operand);
    struct lx_view view = walk_view_of(c->op, operand);
    bool reduces = c->op->kind->traits & (LX_REDUCES | LX_CONTRACTS);
    for (int d = 0; view.offset && d < t->rank; d++) {
        int v = c->map->index[operand][d];
        int64_t *extent = &c->map->extent[v], stride = view.stride ? view.stride[d] : 1,
                from = view.offset[d];
        if (stride == 0) return outside(c, t, d, 1, from, stride);
        /* A variable in this box only has extent 1; if it is reduced, all from the offset on. An offset
         * outside is rejected later. */
        int64_t left = stride > 0 ? (t->shape[d] - 1 - from) / stride + 1 : from / -stride + 1;
        bool whole = reduces && from >= 0 && from < t->shape[d];
        if (*extent == 0) *extent = view.size ? view.size[d] : whole ? left : 1;
        if (view.size && view.size[d] != *extent)
            return op_error(c, LX_E_SHAPE,
                            ": the view of %s has %lld elements in dimension %d, but '%c' is %lld long",
                            t->name, (long long)view.size[d], d, c->map->letter[v], (long long)*extent);
    }
    return true;
}

static bool walk_view(const struct op_check *c, int operand, int d, struct walk_arrays *a)
{
    const struct lx_tensor *t = check_operand(c, operand);
    struct lx_view view = walk_view_of(c->op, operand);
    int64_t count = c->map->extent[(int)c->map->index[operand][d]], first = view.offset[d];
    int64_t by = view.stride ? view.stride[d] : 1, steps = by > 0 ? by : -by;
    int64_t room = by > 0 ? t->shape[d] - 1 - first : first;
    if (first < 0 || first >= t->shape[d] || count - 1 > room / steps)
        return outside(c, t, d, count, first, by);
    a->first[d] = first;
    a->by[d] = by;
    a->hole[d] = 1;
    a->offset[d] = by > 0 ? first : first - steps * (count - 1);
    a->stride[d] = steps;
    return true;
}

/* Elements along the joined variable before input `operand` of a concat. An input without the variable has
 * one. */
static int64_t walk_part_begin(const struct op_check *c, int operand, int joined)
{
    int64_t at = 0;
    for (int i = 0; i < operand; i++) {
        int d = lx_einsum_dim(c->map, i, joined);
        at += d >= 0 ? check_operand(c, i)->shape[d] : 1;
    }
    return at;
}

static int joined_var(const struct op_check *c)
{
    int out = c->op->input_count;
    int64_t axis = c->op->params ? c->op->params->axis : -1;
    return axis >= 0 && axis < c->map->rank[out] ? c->map->index[out][axis] : -1;
}

static bool walk_part(const struct op_check *c, int operand, int d, struct walk_arrays *a)
{
    const struct lx_tensor *t = check_operand(c, operand);
    int v = c->map->index[operand][d], joined = joined_var(c);
    if (v != joined && t->shape[d] != c->map->extent[v])
        return op_error(
            c, LX_E_SHAPE, ": '%c' is %lld long in %s but %lld elsewhere in %s; make the shapes agree",
            c->map->letter[v], (long long)t->shape[d], t->name, (long long)c->map->extent[v], c->op->einsum);
    a->first[d] = a->offset[d] = v == joined ? -walk_part_begin(c, operand, joined) : 0;
    a->by[d] = a->hole[d] = a->stride[d] = 1;
    return true;
}

static int64_t walk_amount(const int64_t *list, int d)
{
    return list ? list[d] : 0;
}

/* Checks output dimensions that the input lacks: repeated, or one element at `low`. */
static bool check_added(const struct op_check *c)
{
    const struct lx_op_params *p = c->op->params;
    int out = c->op->input_count;
    for (int d = 0; p && d < c->map->rank[out]; d++) {
        int64_t low = walk_amount(p->low, d), high = walk_amount(p->high, d),
                extent = c->map->extent[(int)c->map->index[out][d]];
        if (lx_einsum_dim(c->map, 0, c->map->index[out][d]) >= 0 || (!low && !high)) continue;
        if (low < 0 || high < 0 || low + 1 + high != extent)
            return op_error(c, LX_E_SHAPE, ": one element padded by %lld and %lld is not %lld long",
                            (long long)low, (long long)high, (long long)extent);
        /* the element's position depends on the index */
        c->map->nature[(int)c->map->index[out][d]] = LX_SHIFTED;
    }
    return true;
}

static bool walk_padded(const struct op_check *c, int operand, int d, struct walk_arrays *a)
{
    const struct lx_tensor *t = check_operand(c, operand);
    const struct lx_op_params *p = c->op->params;
    int v = c->map->index[operand][d], k = lx_einsum_dim(c->map, c->op->input_count, v);
    if (k < 0) /* rejected by the checks of the kind */
        return walk_part(c, operand, d, a);
    int64_t low = p ? walk_amount(p->low, k) : 0, high = p ? walk_amount(p->high, k) : 0;
    int64_t holes = p ? walk_amount(p->interior, k) : 0, inside;
    if (!mul_i64(t->shape[d] - 1, holes, &inside) || inside > LX_INT_MAX ||
        low + t->shape[d] + inside + high != c->map->extent[v])
        return op_error(
            c, LX_E_SHAPE, ": dimension %d of %s padded by %lld, %lld and %lld between is not %lld long", d,
            t->name, (long long)low, (long long)high, (long long)holes, (long long)c->map->extent[v]);
    a->first[d] = -low;
    a->by[d] = a->stride[d] = 1;
    a->hole[d] = 1 + holes;
    a->offset[d] = holes ? 0 : -low; /* with holes: all elements */
    return true;
}

static bool make_walk(const struct op_check *c, int operand, struct lx_walk *k)
{
    struct walk_arrays a = {.offset = {0}};
    for (int d = 0; d < c->map->rank[operand]; d++)
        if ((c->op->kind->id == LX_KIND_CONCAT) ? !walk_part(c, operand, d, &a)
            : (c->op->kind->id == LX_KIND_PAD)  ? !walk_padded(c, operand, d, &a)
                                                : !walk_view(c, operand, d, &a))
            return false;
    /* Natures of the operand's variables. */
    const struct lx_tensor *t = check_operand(c, operand);
    for (int d = 0; d < t->rank; d++) {
        int v = c->map->index[operand][d];
        bool whole = a.by[d] < 0 || a.hole[d] > 1;
        bool plain = a.first[d] == 0 && a.by[d] == 1 && t->shape[d] == c->map->extent[v];
        if (whole)
            c->map->nature[v] = LX_JOINED;
        else if (!plain && c->map->nature[v] == LX_ITERATED)
            c->map->nature[v] = LX_SHIFTED;
    }
    if ((c->op->kind->id == LX_KIND_CONCAT) &&
        c->map->nature[joined_var(c)] == LX_ITERATED) /* all parts may lack it, if each has one element */
        c->map->nature[joined_var(c)] = LX_SHIFTED;
    size_t rank = (size_t)c->map->rank[operand];
    k->offset = arena_copy_array(c->b->memory, a.offset, rank, sizeof(int64_t));
    k->stride = arena_copy_array(c->b->memory, a.stride, rank, sizeof(int64_t));
    k->first = arena_copy_array(c->b->memory, a.first, rank, sizeof(int64_t));
    k->by = arena_copy_array(c->b->memory, a.by, rank, sizeof(int64_t));
    k->hole = arena_copy_array(c->b->memory, a.hole, rank, sizeof(int64_t));
    return true;
}

/* Checks the axis of a concat and the sum of its parts; a list of a pad has one entry per dimension. */
static bool check_params(const struct op_check *c)
{
    const struct lx_op_params *p = c->op->params;
    int joined = joined_var(c), rank = c->map->rank[c->op->input_count];
    if ((c->op->kind->id == LX_KIND_CONCAT) && joined < 0)
        return op_error(c, LX_E_SHAPE, ": its output has no dimension %lld to join along",
                        (long long)(p ? p->axis : -1));
    if ((c->op->kind->id == LX_KIND_CONCAT) &&
        walk_part_begin(c, c->op->input_count, joined) != c->map->extent[joined])
        return op_error(c, LX_E_SHAPE,
                        ": its inputs have %lld elements along '%c', its output %lld; make them agree",
                        (long long)walk_part_begin(c, c->op->input_count, joined), c->map->letter[joined],
                        (long long)c->map->extent[joined]);
    if ((c->op->kind->id == LX_KIND_PAD) && p &&
        ((p->low && p->low_count != rank) || (p->high && p->high_count != rank) ||
         (p->interior && p->interior_count != rank)))
        return op_error(c, LX_E_SHAPE, ": low, high and interior have one entry for each of %d dimensions",
                        rank);
    return !(c->op->kind->id == LX_KIND_PAD) || check_added(c);
}

bool op_map_walks(const struct op_check *c)
{
    const struct lx_op *op = c->op;
    bool any = false, boxes = op->kind->id != LX_KIND_CONCAT && op->kind->id != LX_KIND_PAD;
    for (int i = 0; i < op->input_count; i++) any |= op_walks(op, i);
    if (!any) return true;
    for (int i = 0; boxes && i < op->input_count; i++)
        if (op_walks(op, i) && !tell_extents(c, i)) return false;
    struct lx_walk *walks = arena_array(c->b->memory, (size_t)op_operand_count(op), sizeof *walks);
    if (!check_params(c)) return false;
    for (int i = 0; i < op->input_count; i++)
        if (op_walks(op, i) && !make_walk(c, i, &walks[i])) return false;
    c->map->walks = walks;
    return true;
}

/* --- "views" of ops in patterns: one entry per input, null for a whole input. --- */

static bool view_read_numbers(const struct json *j, const struct json_value *view, const char *key, int rank,
                              const struct graph_builder *b, const int64_t **out, lx_status *st)
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
    return view_read_numbers(j, v, "offset", rank, b, &out->offset, st) &&
           view_read_numbers(j, v, "stride", rank, b, &out->stride, st) &&
           view_read_numbers(j, v, "size", rank, b, &out->size, st);
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
            SCOPED(text_free) struct text one = {0};
            text_json_ints(&one, "offset", v->offset, rank);
            if (v->stride) text_json_ints(&one, "stride", v->stride, rank);
            if (v->size) text_json_ints(&one, "size", v->size, rank);
            text_format(t, "{%s}", one.at + 2); /* skip ", " */
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

bool op_views_equal(const struct lx_op *a, const struct lx_op *b)
{
    if (!a->views || !b->views || !a->map) return a->views == b->views;
    bool same = true;
    for (int i = 0; i < a->input_count && same; i++) {
        const struct lx_view *p = &a->views[i], *q = &b->views[i];
        size_t bytes = (size_t)a->map->rank[i] * sizeof *p->offset;
        same = !p->offset == !q->offset && !p->stride == !q->stride &&
               (!p->offset || memcmp(p->offset, q->offset, bytes) == 0) &&
               (!p->stride || memcmp(p->stride, q->stride, bytes) == 0);
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
