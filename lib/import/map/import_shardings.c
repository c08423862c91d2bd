/* How devices share out the tensors of a model, as cuts of storages: what the file says of arguments and of what ops make. A
 * value that is said to lie otherwise than its storage does is copied. */
#include "import/map/import_names.h"
#include "import/map/import_together.h"
#include "import/devices/shardings.h"
#include "base/fail.h"

#include <string.h>

/* What each axis of the grid cuts a storage along, as in struct storage. */
struct cut_axes {
    int64_t from[LX_GRID_AXES], run[LX_GRID_AXES];
};

/* An argument that is said to be whole, or that an op takes the parts of. */
static bool is_whole(const struct model_attrs *attrs)
{
    const char *status = model_attr_word(attrs, "ttcore.shard_status", "");
    return strstr(status, "unsharded") != NULL;
}

/* How many for one reason, and where the first of them stands. */
static void note_lost(struct import *im, int line, const char *why)
{
    if (model_fact(&im->notes, "shardings not kept", why, 0) == 0)
        fact_add(&im->notes, "lines of the first not kept", why, line);
    fact_add(&im->notes, "shardings not kept", why, 1);
}

/* The axes along which a dimension of a value has parts: the run of its storage's digits that they cut, the next one where
 * that has no more. What the storage lacks (broadcast) is cut for nobody. */
static bool cut_dimension(const struct import *im, const struct view *v, int dim, struct device_group parts,
                          struct cut_axes *out)
{
    int first, count, at = v->first[dim], end = v->first[dim + 1];
    if (parts.size == 1 || at == end) return true;
    if (!model_group_axes(im->grid, im->grid_axes, parts, &first, &count)) return false;
    int64_t left = v->atom[at].extent;
    for (int a = first; a < first + count; a++) {
        if (left == 1 && at + 1 < end) left = v->atom[++at].extent;
        if (v->atom[at].low > 0) out->from[a] = atom_end(&v->atom[at]), out->run[a] = v->atom[at].extent;
        if (left % im->grid[a] != 0 && end - v->first[dim] > 1) return false;
        left = left % im->grid[a] == 0 ? left / im->grid[a] : left;
    }
    return true;
}

/* False: of a part of its storage, or in pieces that the parts are none of. */
static bool cut_view(const struct import *im, const struct import_value *v, const struct device_group *parts,
                     int dims, struct cut_axes *out)
{
    *out = (struct cut_axes){0};
    if (view_is_part(&v->view)) return false;
    for (int d = 0; d < dims; d++)
        if (!cut_dimension(im, &v->view, d, parts[d], out)) return false;
    return true;
}

static void state(struct storage *s, const struct cut_axes *cut)
{
    s->cut_stated = true;
    memcpy(s->cut_from, cut->from, sizeof s->cut_from);
    memcpy(s->cut_run, cut->run, sizeof s->cut_run);
}

void import_state_argument(struct import *im, const struct import_value *v, int leaf,
                           const struct model_value *of)
{
    const struct model_attrs *attrs = &of->attrs;
    struct device_group parts[MESH_MAX_AXES + 1];
    struct cut_axes cut = {0};
    char room[SHARDING_ROOM];
    const char *text = model_leaf_sharding(model_sharding_text(attrs), leaf, room, sizeof room);
    if (im->grid_axes == 0) {
        /* A team may take over a model of one device, which has nothing to keep. */
        if (text && !im->options.team)
            fact_add(&im->notes, "shardings not kept", "one device is planned: --team keeps them", 1);
        return;
    }
    const int64_t *dims = import_part_dims(im, of);
    for (int a = 0; dims && a < im->grid_axes; a++)
        if (dims[a] >= 0 && dims[a] < v->type->count) {
            cut.from[a] = import_from_dimension(v->type, (int)dims[a]);
            cut.run[a] = v->type->extent[dims[a]];
        }
    int n = text && !dims ? model_sharding(im->m, text, parts) : -1;
    bool whole = im->has_parts && model_same_shape(v->type, model_leaf_type(of->type, leaf));
    for (int d = 0; whole && d < n; d++)
        if (parts[d].size > 1) note_lost(im, of->line, "every device has all of what it takes no part of");
    if (dims || is_whole(attrs) || whole || n == 0 ||
        (n == v->type->count && cut_view(im, v, parts, n, &cut)))
        state(&im->storages.at[v->storage], &cut);
    else if (text)
        note_lost(im, of->line, model_sharding_lost(text));
}

/* A storage of its own, which lies as is said. */
static bool copy_value(struct import *im, const struct model_op *op, struct import_value *v)
{
    int dims[VIEW_MAX_RANK];
    struct sketch_operand in = {v->storage, v->view, v->via};
    struct import_value copy;
    struct label_place at = {im->sketches.count, im->storages.count, NULL};
    for (int d = 0; d < v->type->count; d++) dims[d] = d;
    im->whole_result = true;
    bool ok =
        import_sketch(im, "clone", op, v->type->count, v->type->extent, &in, 1, NULL, v->type, dims, &copy);
    im->whole_result = false;
    copy.name = v->name;
    if (ok) import_call_it(im, &at, v->name);
    if (ok) *v = copy;
    return ok;
}

static bool lies_so(const struct storage *s, const struct cut_axes *cut)
{
    return memcmp(s->cut_from, cut->from, sizeof s->cut_from) == 0;
}

/* Is there something for everybody? */
static bool has_so_many(const struct model_type *t, const struct device_group *parts)
{
    for (int d = 0; d < t->count; d++)
        if (parts[d].size > t->extent[d]) return false;
    return true;
}

static bool state_value(struct import *im, const struct model_op *op, struct import_value *v,
                        const char *text)
{
    struct device_group parts[MESH_MAX_AXES + 1];
    struct cut_axes cut;
    int n = model_sharding(im->m, text, parts);
    if (v->storage < 0 || im->storages.at[v->storage].constant) return true; /* all have it */
    if (n != 0 && (n != v->type->count || !has_so_many(v->type, parts))) {
        note_lost(im, op->line, model_sharding_lost(text));
        return true;
    }
    bool fits = cut_view(im, v, parts, n, &cut);
    const struct storage *s = &im->storages.at[v->storage];
    if (!fits || (s->cut_stated && !lies_so(s, &cut))) {
        if (!copy_value(im, op, v)) return false;
        fits = cut_view(im, v, parts, n, &cut);
    }
    if (fits)
        state(&im->storages.at[v->storage], &cut);
    else
        note_lost(im, op->line, model_sharding_lost(text));
    return true;
}

bool import_state_results(struct import *im, const struct model_op *op)
{
    const char *all = model_sharding_text(&op->attrs), *text;
    char room[SHARDING_ROOM];
    if (!all || im->grid_axes == 0 || im->by_device || op->result_count != 1 || op->results[0] < 0)
        return true;
    for (int i = 0; i < model_type_of(im->m, op->results[0])->leaves; i++) {
        struct import_value v = *import_leaf(im, op->results[0], i); /* the list may move */
        if (!(text = model_leaf_sharding(all, i, room, sizeof room))) continue;
        if (!state_value(im, op, &v, text)) return false;
        *import_leaf(im, op->results[0], i) = v;
    }
    return true;
}

/* Has every axis enough of what it cuts? An argument may be too short for its members; no op makes what is. */
static bool long_enough(const struct import *im, const struct cut_axes *cut)
{
    for (int a = 0; a < im->grid_axes; a++) {
        int64_t parts = 1;
        for (int b = 0; b < im->grid_axes; b++)
            if (cut->from[b] == cut->from[a]) parts *= im->grid[b];
        if (cut->from[a] && parts > cut->run[a]) return false;
    }
    return true;
}

void import_keep_cut(struct import *im, const struct import_value *was, const struct import_value *now)
{
    struct cut_axes cut = {0};
    if (was->storage < 0 || now->storage < 0 || was->storage == now->storage ||
        !im->storages.at[was->storage].cut_stated)
        return;
    for (int a = 0; a < im->grid_axes; a++)
        for (int d = 0; d < was->type->count; d++)
            for (int i = was->view.first[d]; i < was->view.first[d + 1]; i++)
                if (was->view.atom[i].low > 0 &&
                    atom_end(&was->view.atom[i]) == im->storages.at[was->storage].cut_from[a])
                    cut.from[a] = import_from_dimension(now->type, d), cut.run[a] = now->type->extent[d];
    if (long_enough(im, &cut)) state(&im->storages.at[now->storage], &cut);
}

int import_piece_from(const struct cuts *c, int64_t from)
{
    for (int k = 0; k + 1 < c->count; k++)
        if (c->at[k + 1] == from) return c->count - 2 - k;
    return -1;
}

/* Where the next axis goes on along a run of digits: the piece, and how often that can still be cut. */
struct cursor {
    int piece;
    int64_t left;
};

/* Axes that cut one run of digits do so in its first piece, while that has parts for them, then in the next. */
void import_cut_tensor(struct import *im, const struct storage *s, struct lx_tensor *t)
{
    struct cursor at[LX_GRID_AXES];
    bool kept = true;
    for (int a = 0; a < LX_GRID_AXES; a++) {
        t->cut[a] = -1;
        if (a >= im->grid_axes || !s->cut_from[a]) continue;
        at[a].piece = import_piece_from(&s->cuts, s->cut_from[a]);
        at[a].left = at[a].piece < 0 ? 0 : t->shape[at[a].piece];
        for (int b = 0; b < a; b++)
            if (s->cut_from[b] == s->cut_from[a]) at[a] = at[b];
        if (at[a].left == 1 && at[a].piece + 1 < t->rank) at[a].left = t->shape[++at[a].piece];
        t->cut[a] = (signed char)at[a].piece;
        if (at[a].left % im->grid[a] == 0)
            at[a].left /= im->grid[a];
        else
            kept = kept && at[a].piece >= 0 && t->shape[at[a].piece] == s->cut_run[a];
    }
    t->cut_stated = kept;
    if (!kept) note_lost(im, s->line, "parts end within what the model regroups: copy it there");
}
