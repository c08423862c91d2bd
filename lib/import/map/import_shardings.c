/* How devices share out the tensors of a model, as cuts of storages: what the file says of arguments and
 * of what ops make. A value that is said to lie otherwise than its storage does is copied. */
#include "import/map/import.h"
#include "import/map/import_together.h"
#include "import/devices/devices.h"
#include "base/fail.h"

#include <string.h>

/* What each axis of the grid cuts a storage along, as in struct storage. */
struct cut_axes {
    int64_t from[LX_GRID_AXES], run[LX_GRID_AXES];
};

/* An argument that is said to be whole, or that an op takes the parts of. */
static bool shard_is_whole(const struct model_attrs *attrs)
{
    const char *status = model_attr_word(attrs, "ttcore.shard_status", "");
    return strstr(status, "unsharded") != NULL;
}

/* How many for one reason, and where the first of them stands. */
static void shard_note_lost(struct import *im, int line, const char *why)
{
    if (model_fact(&im->notes, "shardings not kept", why, 0) == 0)
        fact_add(&im->notes, "lines of the first not kept", why, line);
    fact_add(&im->notes, "shardings not kept", why, 1);
}

/* The axes along which a dimension of a value has parts: the run of its storage's digits that they cut,
 * the next one where that has no more. What the storage lacks (broadcast) is cut for nobody. */
static bool shard_cut_dimension(const struct import *im, const struct view *v, int dim,
                                struct device_group parts, struct cut_axes *out)
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
static bool shard_cut_view(const struct import *im, const struct import_value *v,
                           const struct device_group *parts, int dims, struct cut_axes *out)
{
    *out = (struct cut_axes){0};
    if (view_is_part(&v->view)) return false;
    for (int d = 0; d < dims; d++)
        if (!shard_cut_dimension(im, &v->view, d, parts[d], out)) return false;
    return true;
}

static void shard_state(struct storage *s, const struct cut_axes *cut)
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
        if (parts[d].size > 1)
            shard_note_lost(im, of->line, "every device has all of what it takes no part of");
    if (dims || shard_is_whole(attrs) || whole || n == 0 ||
        (n == v->type->count && shard_cut_view(im, v, parts, n, &cut)))
        shard_state(&im->storages.at[v->storage], &cut);
    else if (text)
        shard_note_lost(im, of->line, model_sharding_lost(text));
}

/* A storage of its own, which lies as is said. */
static bool shard_copy_value(struct import *im, const struct model_op *op, struct import_value *v)
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

static bool shard_lies_so(const struct storage *s, const struct cut_axes *cut)
{
    return memcmp(s->cut_from, cut->from, sizeof s->cut_from) == 0;
}

/* Is there something for everybody? */
static bool shard_has_so_many(const struct model_type *t, const struct device_group *parts)
{
    for (int d = 0; d < t->count; d++)
        if (parts[d].size > t->extent[d]) return false;
    return true;
}

static bool shard_state_value(struct import *im, const struct model_op *op, struct import_value *v,
                              const char *text)
{
    struct device_group parts[MESH_MAX_AXES + 1];
    struct cut_axes cut;
    int n = model_sharding(im->m, text, parts);
    if (v->storage < 0 || im->storages.at[v->storage].constant) return true; /* all have it */
    if (n != 0 && (n != v->type->count || !shard_has_so_many(v->type, parts))) {
        shard_note_lost(im, op->line, model_sharding_lost(text));
        return true;
    }
    bool fits = shard_cut_view(im, v, parts, n, &cut);
    const struct storage *s = &im->storages.at[v->storage];
    if (!fits || (s->cut_stated && !shard_lies_so(s, &cut))) {
        if (!shard_copy_value(im, op, v)) return false;
        fits = shard_cut_view(im, v, parts, n, &cut);
    }
    if (fits)
        shard_state(&im->storages.at[v->storage], &cut);
    else
        shard_note_lost(im, op->line, model_sharding_lost(text));
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
        if (!shard_state_value(im, op, &v, text)) return false;
        *import_leaf(im, op->results[0], i) = v;
    }
    return true;
}

/* Has every axis enough of what it cuts? An argument may be too short for its members; no op makes what
 * is. */
static bool shard_long_enough(const struct import *im, const struct cut_axes *cut)
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
    if (shard_long_enough(im, &cut)) shard_state(&im->storages.at[now->storage], &cut);
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

/* Axes that cut one run of digits do so in its first piece, while that has parts for them, then in the
 * next. */
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
    if (!kept) shard_note_lost(im, s->line, "parts end within what the model regroups: copy it there");
}

/* ---- programs of one device that take their parts of whole tensors ---- */

enum { MOST_CALLS = 8 }; /* one behind the other */

/* What a call of one tensor that makes one is of; "": it is none. */
static const char *manual_called(const struct model_op *op)
{
    const char *target = model_attr_word(&op->attrs, "custom_call_target", "");
    bool one = strcmp(op->kind, "custom-call") == 0 && op->operand_count == 1 && op->result_count == 1;
    return one ? target + (*target == '"') : "";
}

/* Of TTIR: devices have their parts already, or keep them. */
static bool manual_is_identity(const struct model_op *op, const char *direction)
{
    return strcmp(op->kind, "mesh_shard") == 0 && op->operand_count == 1 && op->result_count == 1 &&
           strstr(model_attr_word(&op->attrs, "shard_type", ""), "identity") &&
           strstr(model_attr_word(&op->attrs, "shard_direction", ""), direction);
}

static bool manual_takes_part(const struct model_op *op)
{
    return manual_is_identity(op, "full_to_shard") || strstr(manual_called(op), "SPMDFullToShardShape") ||
           strstr(manual_called(op), "sdy.GlobalToLocalShape");
}

static bool manual_puts_together(const struct model_op *op)
{
    return manual_is_identity(op, "shard_to_full") || strstr(manual_called(op), "SPMDShardToFullShape") ||
           strstr(manual_called(op), "sdy.LocalToGlobalShape");
}

static bool manual_is_annotation(const struct model_op *op)
{
    return strcspn(manual_called(op), "\"") == strlen("Sharding") &&
           strncmp(manual_called(op), "Sharding", 8) == 0;
}

bool import_has_parts(const struct lx_model *m)
{
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++)
            if (manual_takes_part(&m->bodies.at[b].ops[i])) return true;
    return false;
}

/* Are these the parts that the sharding has? */
static bool manual_are_parts(const struct import *im, const char *sharding, const struct model_type *whole,
                             const struct model_type *part)
{
    struct device_group groups[MESH_MAX_AXES + 1];
    int n = sharding ? model_sharding(im->m, sharding, groups) : -1;
    if (n == 0) return model_same_shape(whole, part);
    if (n != whole->count || part->count != n) return false;
    for (int d = 0; d < n; d++)
        if (whole->extent[d] != groups[d].size * part->extent[d]) return false;
    return true;
}

static bool manual_is_result(const struct model_body *b, int32_t value)
{
    for (int i = 0; i < b->result_count; i++)
        if (b->results[i] == value) return true;
    return false;
}

/* The type of the parts that are all that is read of a value; NULL: other things are, too. */
static const struct model_type *manual_part_of(const struct import *im, int32_t value, const char *sharding,
                                               int depth)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    const struct model_type *whole = model_type_of(im->m, value), *part = NULL;
    if (depth == MOST_CALLS || manual_is_result(b, value)) return NULL;
    for (int i = 0; i < b->op_count; i++)
        for (int k = 0; k < b->ops[i].operand_count; k++) {
            const struct model_op *op = &b->ops[i];
            const struct model_type *own = NULL;
            if (op->operands[k] != value) continue;
            if (manual_takes_part(op)) own = model_type_of(im->m, op->results[0]);
            if (manual_is_annotation(op))
                own = manual_part_of(im, op->results[0], model_sharding_text(&op->attrs), depth + 1);
            if (!own || !(manual_is_identity(op, "") || manual_are_parts(im, sharding, whole, own)) ||
                (part && !model_same_shape(part, own)))
                return NULL;
            part = own;
        }
    return part;
}

const struct model_type *import_part_type(const struct import *im, int32_t argument)
{
    const struct model_value *v = &im->m->values.at[argument];
    if (!im->has_parts || v->type->leaves != 1) return NULL;
    return manual_part_of(im, argument, model_sharding_text(&v->attrs), 0);
}

/* Is all that is done with a value that it is returned? */
static bool manual_is_returned(const struct import *im, int32_t value, int depth)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    bool returned = manual_is_result(b, value);
    for (int i = 0; depth < MOST_CALLS && i < b->op_count; i++)
        for (int k = 0; k < b->ops[i].operand_count; k++) {
            const struct model_op *op = &b->ops[i];
            if (op->operands[k] != value) continue;
            bool passes = manual_is_annotation(op) || strcmp(op->kind, "tuple") == 0;
            if (!passes || !manual_is_returned(im, op->results[0], depth + 1)) return false;
            returned = true;
        }
    return returned;
}

bool import_stays_part(struct import *im, const struct model_op *op)
{
    if (!im->has_parts || op->operand_count != 1 || op->result_count != 1) return false;
    if (manual_takes_part(op))
        return model_same_shape(import_leaf(im, op->operands[0], 0)->type,
                                model_type_of(im->m, op->results[0]));
    return manual_puts_together(op) && im->body == im->m->entry &&
           manual_is_returned(im, op->results[0], 0) &&
           (manual_is_identity(op, "") ||
            manual_are_parts(im, model_sharding_text(&op->attrs), model_type_of(im->m, op->results[0]),
                             model_type_of(im->m, op->operands[0])));
}

const int64_t *import_part_dims(const struct import *im, const struct model_value *argument)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    int count;
    for (int i = 0; im->has_parts && i < b->op_count; i++) {
        const struct model_op *op = &b->ops[i];
        if (!manual_is_identity(op, "full_to_shard") || &im->m->values.at[op->operands[0]] != argument)
            continue;
        const int64_t *dims = model_attr_ints(&op->attrs, "shard_dims", &count);
        return count == im->grid_axes ? dims : NULL;
    }
    return NULL;
}
