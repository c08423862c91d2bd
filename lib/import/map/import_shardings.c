/* How devices share out the tensors of a model, as cuts of storages: shardings that the file states for
 * arguments and results. A value whose sharding differs from its storage's is copied. */
#include "import/map/import.h"

#include <string.h>

/* Counts a reason, and keeps the line of its first sharding. */
static void shard_note_lost(struct import *im, int line, const char *why)
{
    if (model_fact(&im->notes, "shardings not kept", why, 0) == 0)
        fact_add(&im->notes, "lines of the first not kept", why, line);
    fact_add(&im->notes, "shardings not kept", why, 1);
}

/* The runs of the storage's digits that the axes of each dimension cut: the first one, or the next where
 * that has no more. Digits that the storage lacks (broadcast) are cut for nobody. False: the value is a part
 * of its storage, or in pieces that the parts are none of. */
static bool shard_cut_view(const struct import *im, const struct import_value *value,
                           const struct device_group *parts, int dims, struct shard *out)
{
    const struct view *v = &value->view;
    *out = (struct shard){0};
    if (view_is_part(v)) return false;
    for (int dim = 0; dim < dims; dim++) {
        int first, count, at = v->first[dim], end = v->first[dim + 1];
        if (parts[dim].size == 1 || at == end) continue;
        if (!model_group_axes(im->grid, im->grid_axes, parts[dim], &first, &count)) return false;
        int64_t left = v->atom[at].extent;
        for (int a = first; a < first + count; a++) {
            if (left == 1 && at + 1 < end) left = v->atom[++at].extent;
            if (v->atom[at].low > 0) out->from[a] = atom_end(&v->atom[at]), out->run[a] = v->atom[at].extent;
            if (left % im->grid[a] != 0 && end - v->first[dim] > 1) return false;
            left = left % im->grid[a] == 0 ? left / im->grid[a] : left;
        }
    }
    return true;
}

static void shard_state(struct import *im, int32_t storage, const struct shard *cut)
{
    im->storages.at[storage].cut_stated = true;
    im->storages.at[storage].cut = *cut;
}

/* Of TTIR: devices have their parts already, or keep them. */
static bool manual_is_identity(const struct model_op *op, const char *direction)
{
    return strcmp(op->kind, "mesh_shard") == 0 && op->operand_count == 1 && op->result_count == 1 &&
           strstr(model_attr_word(&op->attrs, "shard_type", ""), "identity") &&
           strstr(model_attr_word(&op->attrs, "shard_direction", ""), direction);
}

/* The dimension of an argument that each axis of the grid has parts of, -1: none, where TTIR states so; else
 * NULL. */
static const int64_t *manual_part_dims(const struct import *im, const struct model_value *argument)
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

void import_state_argument(struct import *im, const struct import_value *v, int leaf,
                           const struct model_value *of)
{
    struct device_group parts[MESH_MAX_AXES + 1];
    struct shard cut = {0};
    char room[SHARDING_ROOM];
    const char *text = model_leaf_sharding(model_sharding_text(&of->attrs), leaf, room, sizeof room);
    if (im->grid_axes == 0) {
        /* A team may take over a model of one device, which has nothing to keep. */
        if (text && !im->options.team)
            fact_add(&im->notes, "shardings not kept", "one device is planned: --team keeps them", 1);
        return;
    }
    const int64_t *dims = manual_part_dims(im, of);
    for (int a = 0; dims && a < im->grid_axes; a++)
        if (dims[a] >= 0 && dims[a] < v->type->count) {
            cut.from[a] = import_from_dimension(v->type, (int)dims[a]);
            cut.run[a] = v->type->extent[dims[a]];
        }
    int n = text && !dims ? model_sharding(im->m, text, parts) : -1;
    bool whole = im->has_parts && model_same_shape(v->type, model_leaf_type(of->type, leaf));
    bool unsharded = strstr(model_attr_word(&of->attrs, "ttcore.shard_status", ""), "unsharded");
    for (int d = 0; whole && d < n; d++)
        if (parts[d].size > 1)
            shard_note_lost(im, of->line, "every device has all of what it takes no part of");
    if (dims || unsharded || whole || n == 0 ||
        (n == v->type->count && shard_cut_view(im, v, parts, n, &cut)))
        shard_state(im, v->storage, &cut);
    else if (text)
        shard_note_lost(im, of->line, model_sharding_lost(text));
}

/* Constants are not cut: all devices have them. */
static void shard_state_value(struct import *im, const struct model_op *op, struct import_value *v,
                              const char *text)
{
    struct device_group parts[MESH_MAX_AXES + 1];
    struct shard cut;
    int n = model_sharding(im->m, text, parts);
    if (v->storage < 0 || im->storages.at[v->storage].constant) return;
    bool fits = n == 0 || n == v->type->count;
    for (int d = 0; fits && n && d < v->type->count; d++) fits = parts[d].size <= v->type->extent[d];
    if (fits) {
        fits = shard_cut_view(im, v, parts, n, &cut);
        const struct storage *s = &im->storages.at[v->storage];
        if (!fits || (s->cut_stated && memcmp(s->cut.from, cut.from, sizeof cut.from) != 0)) {
            import_copy_named(im, v, op, true);
            fits = shard_cut_view(im, v, parts, n, &cut);
        }
    }
    if (fits)
        shard_state(im, v->storage, &cut);
    else
        shard_note_lost(im, op->line, model_sharding_lost(text));
}

void import_state_results(struct import *im, const struct model_op *op)
{
    const char *all = model_sharding_text(&op->attrs), *text;
    char room[SHARDING_ROOM];
    if (!all || im->grid_axes == 0 || im->by_device || op->result_count != 1 || op->results[0] < 0) return;
    for (int i = 0; i < model_type_of(im->m, op->results[0])->leaves; i++) {
        struct import_value v = *import_leaf(im, op->results[0], i);
        if (!(text = model_leaf_sharding(all, i, room, sizeof room))) continue;
        shard_state_value(im, op, &v, text);
        *import_leaf(im, op->results[0], i) = v;
    }
}

/* An argument may be too short for its devices, but no op makes such a tensor. */
void import_keep_cut(struct import *im, const struct import_value *was, const struct import_value *now)
{
    struct shard cut = {0};
    if (was->storage < 0 || now->storage < 0 || was->storage == now->storage ||
        !im->storages.at[was->storage].cut_stated)
        return;
    for (int a = 0; a < im->grid_axes; a++)
        for (int d = 0; d < was->type->count; d++)
            for (int i = was->view.first[d]; i < was->view.first[d + 1]; i++)
                if (was->view.atom[i].low > 0 &&
                    atom_end(&was->view.atom[i]) == im->storages.at[was->storage].cut.from[a])
                    cut.from[a] = import_from_dimension(now->type, d), cut.run[a] = now->type->extent[d];
    for (int a = 0; a < im->grid_axes; a++) {
        int64_t parts = 1;
        for (int b = 0; b < im->grid_axes; b++)
            if (cut.from[b] == cut.from[a]) parts *= im->grid[b];
        if (cut.from[a] && parts > cut.run[a]) return;
    }
    shard_state(im, now->storage, &cut);
}

int import_piece_from(const struct cuts *c, int64_t from)
{
    for (int k = 0; k + 1 < c->count; k++)
        if (c->at[k + 1] == from) return c->count - 2 - k;
    return -1;
}

/* Axes that cut one run of digits do so in its first piece, while that has parts for them, then in the
 * next. */
void import_cut_tensor(struct import *im, const struct storage *s, struct lx_tensor *t)
{
    int piece[LX_GRID_AXES];
    int64_t left[LX_GRID_AXES]; /* how often the piece can still be cut */
    bool kept = true;
    for (int a = 0; a < LX_GRID_AXES; a++) {
        t->cut[a] = -1;
        if (a >= im->grid_axes || !s->cut.from[a]) continue;
        piece[a] = import_piece_from(&s->cuts, s->cut.from[a]);
        left[a] = piece[a] < 0 ? 0 : t->shape[piece[a]];
        for (int b = 0; b < a; b++)
            if (s->cut.from[b] == s->cut.from[a]) piece[a] = piece[b], left[a] = left[b];
        if (left[a] == 1 && piece[a] + 1 < t->rank) left[a] = t->shape[++piece[a]];
        t->cut[a] = (signed char)piece[a];
        if (left[a] % im->grid[a] == 0)
            left[a] /= im->grid[a];
        else
            kept = kept && piece[a] >= 0 && t->shape[piece[a]] == s->cut.run[a];
    }
    t->cut_stated = kept;
    if (!kept) shard_note_lost(im, s->line, "parts end within what the model regroups: copy it there");
}

/* ---- programs of one device that take their parts of whole tensors ---- */

enum { MOST_CALLS = 8 }; /* one behind the other */

/* Is it a call of one tensor to one whose target has one of these words? */
static bool manual_calls(const struct model_op *op, const char *word, const char *other)
{
    const char *target = model_attr_word(&op->attrs, "custom_call_target", "");
    bool one = strcmp(op->kind, "custom-call") == 0 && op->operand_count == 1 && op->result_count == 1;
    return one && (strstr(target, word) || strstr(target, other));
}

static bool manual_takes_part(const struct model_op *op)
{
    return manual_is_identity(op, "full_to_shard") ||
           manual_calls(op, "SPMDFullToShardShape", "sdy.GlobalToLocalShape");
}

static bool manual_is_annotation(const struct model_op *op)
{
    const char *target = model_attr_word(&op->attrs, "custom_call_target", "");
    target += *target == '"';
    return manual_calls(op, "Sharding", "Sharding") && strncmp(target, "Sharding", 8) == 0 &&
           strcspn(target, "\"") == 8;
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

/* The type of the parts if a value is read as parts only; else NULL. */
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

/* Is a value returned, and nothing else done with it? */
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
    const struct model_type *in = model_type_of(im->m, op->operands[0]),
                            *out = model_type_of(im->m, op->results[0]);
    if (manual_takes_part(op)) return model_same_shape(import_leaf(im, op->operands[0], 0)->type, out);
    bool joins = manual_is_identity(op, "shard_to_full") ||
                 manual_calls(op, "SPMDShardToFullShape", "sdy.LocalToGlobalShape");
    return joins && im->body == im->m->entry && manual_is_returned(im, op->results[0], 0) &&
           (manual_is_identity(op, "") || manual_are_parts(im, model_sharding_text(&op->attrs), out, in));
}
