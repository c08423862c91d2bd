/* "views" of ops in patterns: one entry per input, null where it is read as it is. */
#include "graph/op_walks.h"
#include "files/pattern.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/hash.h"

#include <string.h>

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
