/* Gathers and scatters of HLO that move more than one position along a dimension that the index names, or less than all
 * along one that it does not: as slices, or with an index for each position. */
#include "model/layers.h"

#include <string.h>

struct dims {
    const int64_t *at;
    int count;
};

static struct dims dims_of(const struct layer *l, const char *key)
{
    struct dims d;
    d.at = model_attr_ints(&l->op->attrs, key, &d.count);
    return d;
}

static int place_in(const struct dims *d, int64_t dim)
{
    for (int i = 0; i < d->count; i++)
        if (d->at[i] == dim) return i;
    return -1;
}

/* What an op of either kind says. */
struct picking {
    struct dims map, gone, window, batch, sizes;
    int64_t vector;
    const struct model_type *x, *index;
    int rank,
        wide; /* dimensions of x; one that the index names and of which several positions move, -1: none, -2: more */
    int64_t size[MODEL_MAX_RANK];
};

/* The op of HLO with other operands and lists. */
static int32_t again(struct layer *l, const char *kind, int count, const int32_t *operands,
                     const struct model_attr *attrs, int attr_count, const struct model_type *type)
{
    struct model_op op = *l->op;
    op.kind = kind;
    op.native = true;
    op.instead = 0;
    if (attrs) {
        op.attrs.at = arena_copy_array(&l->m->memory, attrs, (size_t)attr_count, sizeof *attrs);
        op.attrs.count = attr_count;
        if (!op.attrs.at) return layer_fail(l), -1;
    }
    if (strcmp(kind, l->op->kind) != 0) op.body_count = 0;
    return type && l->ok ? layer_like(l, &op, count, operands, type) : -1;
}

static const struct model_type *typed(struct layer *l, enum model_element e, int rank, const int64_t *extent)
{
    return l->ok ? model_type_make(l->m, e, rank, extent, l->st) : NULL;
}

static bool find_wide(struct picking *p)
{
    p->wide = -1;
    for (int i = 0; i < p->map.count; i++) {
        int64_t d = p->map.at[i];
        if (d < 0 || d >= p->rank) return false;
        if (p->size[d] > 1 && p->size[d] < p->x->extent[d]) p->wide = p->wide == -1 ? (int)d : -2;
    }
    return true;
}

/* ---- gather ---- */

static bool gather_of(struct layer *l, struct picking *p)
{
    *p = (struct picking){.map = dims_of(l, "start_index_map"),
                          .gone = dims_of(l, "collapsed_slice_dims"),
                          .window = dims_of(l, "offset_dims"),
                          .batch = dims_of(l, "operand_batching_dims"),
                          .sizes = dims_of(l, "slice_sizes"),
                          .x = layer_type(l, layer_in(l, 0)),
                          .index = layer_type(l, layer_in(l, 1))};
    p->rank = p->x->count;
    p->vector = layer_int(l, "index_vector_dim", p->index->count);
    bool ok = l->op->operand_count == 2 && p->sizes.count == p->rank && p->map.count > 0;
    for (int d = 0; ok && d < p->rank; d++) {
        p->size[d] = p->sizes.at[d];
        ok = p->size[d] >= 1 && p->size[d] <= p->x->extent[d];
    }
    return ok && find_wide(p);
}

/* Starts by dimension: numbers of the only index there is, 0 where it names none. */
static void starts_of(struct layer *l, const struct picking *p, int32_t index, int32_t *start)
{
    enum model_element e = p->index->element;
    int32_t list = layer_reshape(l, index, 1, &p->index->elements);
    for (int d = 0; d < p->rank; d++) {
        int at = place_in(&p->map, d);
        start[d] =
            at < 0 ? layer_number(l, e, 0) : layer_reshape(l, layer_slice(l, list, 0, at, at + 1), 0, NULL);
    }
}

/* One index: a slice that begins there. */
static void gather_one(struct layer *l, const struct picking *p)
{
    int32_t in[1 + MODEL_MAX_RANK] = {layer_in(l, 0)};
    starts_of(l, p, layer_in(l, 1), in + 1);
    layer_result(
        l, 0, again(l, "dynamic-slice", 1 + p->rank, in, NULL, 0, typed(l, p->x->element, p->rank, p->size)));
}

static int32_t counter(struct layer *l, enum model_element e, int64_t n)
{
    int32_t parts[] = {layer_number(l, MODEL_I64, 0), layer_number(l, MODEL_I64, (double)n),
                       layer_number(l, MODEL_I64, 1)};
    return layer_cast(l, layer_part(l, "Range", 3, parts), e);
}

/* Shape of the index without the dimension that counts components, and one more behind it. */
static int open_shape(const struct picking *p, int64_t *shape)
{
    int n = 0;
    for (int d = 0; d < p->index->count; d++)
        if (d != p->vector) shape[n++] = p->index->extent[d];
    shape[n] = 1;
    return n;
}

/* Several indices of one dimension: each with all positions from there on, then rows of a table. */
static void gather_wide(struct layer *l, const struct picking *p)
{
    int64_t shape[MODEL_MAX_RANK + 1], perm[MODEL_MAX_RANK], size = p->size[p->wide];
    int n = open_shape(p, shape), next = 0, batch = 0;
    const struct model_type *y = model_type_of(l->m, l->op->results[0]);
    if (p->map.count != 1 || p->gone.count || p->batch.count || y->count != p->rank + n ||
        p->window.count != p->rank) {
        layer_fail(l);
        return;
    }
    int32_t i = layer_reshape(l, layer_in(l, 1), n + 1, shape);
    i = layer_by(l, "Min", layer_by(l, "Max", i, 0), (double)(p->x->extent[p->wide] - size));
    i = layer_two(l, "Add", i, counter(l, p->index->element, size));
    layer_put(l, "axis", p->wide);
    int32_t rows = layer_two(l, "Gather", layer_in(l, 0), i);
    for (int d = 0; d < y->count; d++) {
        bool of_table = place_in(&p->window, d) >= 0;
        int from = of_table ? next++ : batch++;
        perm[d] = of_table ? from + (from >= p->wide ? n : 0) : p->wide + from;
    }
    layer_result(l, 0, layer_permute(l, rows, y->count, perm));
}

static void gather(struct layer *l)
{
    struct picking p;
    int32_t x = layer_in(l, 0);
    bool cut = false;
    if (!gather_of(l, &p)) {
        layer_fail(l);
        return;
    }
    if (p.wide != -1 && p.index->elements == p.map.count && p.batch.count == 0) {
        gather_one(l, &p);
        return;
    }
    for (int d = 0; d < p.rank; d++)
        if (place_in(&p.map, d) < 0 && place_in(&p.batch, d) < 0 && p.size[d] < p.x->extent[d]) {
            x = layer_slice(l, x, d, 0, p.size[d]);
            cut = true;
        }
    if (p.wide >= 0 && !cut)
        gather_wide(l, &p);
    else if (cut)
        layer_result(l, 0,
                     again(l, "gather", 2, (int32_t[]){x, layer_in(l, 1)}, NULL, 0,
                           model_type_of(l->m, l->op->results[0])));
    else
        layer_fail(l);
}

/* ---- scatter ---- */

static bool scatter_of(struct layer *l, struct picking *p)
{
    const struct model_type *update = layer_type(l, layer_in(l, 2));
    *p = (struct picking){.map = dims_of(l, "scatter_dims_to_operand_dims"),
                          .gone = dims_of(l, "inserted_window_dims"),
                          .window = dims_of(l, "update_window_dims"),
                          .batch = dims_of(l, "input_batching_dims"),
                          .x = layer_type(l, layer_in(l, 0)),
                          .index = layer_type(l, layer_in(l, 1))};
    p->rank = p->x->count;
    p->vector = layer_int(l, "index_vector_dim", p->index->count);
    int next = 0;
    bool ok = l->op->operand_count == 3 && p->batch.count == 0 && p->map.count > 0 &&
              p->window.count + p->gone.count == p->rank;
    for (int d = 0; ok && d < p->rank; d++) {
        bool gone = place_in(&p->gone, d) >= 0;
        int64_t at = gone ? 0 : p->window.at[next++];
        ok = gone || (at >= 0 && at < update->count);
        p->size[d] = !ok || gone ? 1 : update->extent[at];
        ok = ok && p->size[d] >= 1 && p->size[d] <= p->x->extent[d] &&
             (place_in(&p->map, d) >= 0 || p->size[d] == p->x->extent[d]);
    }
    return ok && find_wide(p);
}

/* Just its second number? */
static bool replaces(const struct layer *l)
{
    const struct model_body *b = l->op->body_count == 1 ? &l->m->bodies.at[l->op->bodies[0]] : NULL;
    return b && b->argument_count == 2 && b->result_count == 1 && b->results[0] == b->arguments[1];
}

/* Is all of the box inside? One truth. */
static int32_t inside(struct layer *l, const struct picking *p, const int32_t *start)
{
    int32_t all = -1;
    for (int i = 0; i < p->map.count; i++) {
        int64_t d = p->map.at[i];
        int32_t low = layer_by(l, "GreaterOrEqual", start[d], 0),
                high = layer_by(l, "LessOrEqual", start[d], (double)(p->x->extent[d] - p->size[d]));
        int32_t both = layer_two(l, "And", low, high);
        all = all < 0 ? both : layer_two(l, "And", all, both);
    }
    return all;
}

/* One index: a part is replaced, if all of it is inside. */
static void scatter_one(struct layer *l, const struct picking *p)
{
    int32_t in[2 + MODEL_MAX_RANK] = {layer_in(l, 0)};
    in[1] = layer_reshape(l, layer_in(l, 2), p->rank, p->size);
    starts_of(l, p, layer_in(l, 1), in + 2);
    int32_t y = again(l, "dynamic-update-slice", 2 + p->rank, in, NULL, 0, p->x);
    int32_t parts[] = {inside(l, p, in + 2), y, layer_in(l, 0)};
    layer_result(l, 0, layer_part(l, "Where", 3, parts));
}

/* Several indices of one dimension: each position has its own; those of a box that is not all inside have none. */
static void scatter_wide(struct layer *l, const struct picking *p)
{
    int64_t shape[MODEL_MAX_RANK + 1], perm[MODEL_MAX_RANK], window[MODEL_MAX_RANK], size = p->size[p->wide];
    const struct model_type *update = layer_type(l, layer_in(l, 2));
    int n = open_shape(p, shape), k = 0, windows = 0, wide = -1;
    for (int d = 0, next = 0; d < p->rank; d++) {
        if (place_in(&p->gone, d) >= 0) continue;
        if (d == p->wide) wide = (int)p->window.at[next];
        next++;
    }
    if (p->map.count != 1 || p->gone.count || wide < 0 || update->count != p->rank + n) {
        layer_fail(l);
        return;
    }
    enum model_element e = p->index->element;
    int32_t i = layer_reshape(l, layer_in(l, 1), n + 1, shape);
    int32_t low = layer_by(l, "GreaterOrEqual", i, 0),
            high = layer_by(l, "LessOrEqual", i, (double)(p->x->extent[p->wide] - size));
    int32_t parts[] = {layer_two(l, "And", low, high), layer_two(l, "Add", i, counter(l, e, size)),
                       layer_number(l, e, -1)};
    i = layer_part(l, "Where", 3, parts);
    for (int d = 0; d < update->count; d++) /* indices first, then the position, then what moves with it */
        if (place_in(&p->window, d) < 0) perm[k++] = d;
    perm[k++] = wide;
    for (int d = 0; d < update->count; d++)
        if (place_in(&p->window, d) >= 0 && d != wide) window[windows++] = k, perm[k++] = d;
    const int64_t *kept = arena_copy_array(&l->m->memory, window, (size_t)windows + 1, sizeof *window),
                  *gone = arena_copy_array(&l->m->memory, &(int64_t){p->wide}, 1, sizeof *gone);
    if (!kept || !gone) {
        layer_fail(l);
        return;
    }
    struct model_attr attrs[] = {
        {.key = "update_window_dims", .form = ATTR_INTS, .count = windows, .ints = kept},
        {.key = "inserted_window_dims", .form = ATTR_INTS, .count = 1, .ints = gone},
        {.key = "scatter_dims_to_operand_dims", .form = ATTR_INTS, .count = 1, .ints = gone},
        {.key = "index_vector_dim", .form = ATTR_INT, .number = n + 1}};
    int32_t in[] = {layer_in(l, 0), i, layer_permute(l, layer_in(l, 2), update->count, perm)};
    layer_result(l, 0, again(l, "scatter", 3, in, attrs, 4, p->x));
}

static void scatter(struct layer *l)
{
    struct picking p;
    if (!scatter_of(l, &p) || p.wide == -1)
        layer_fail(l);
    else if (p.index->elements == p.map.count && replaces(l))
        scatter_one(l, &p);
    else if (p.wide >= 0)
        scatter_wide(l, &p);
    else
        layer_fail(l);
}

/* clang-format off */
const struct layer_row layers_hlo_picks[] = {
    {{NULL, "gather", NULL}, gather},
    {{NULL, "scatter", NULL}, scatter},
    {{NULL}, NULL},
};
/* clang-format on */
