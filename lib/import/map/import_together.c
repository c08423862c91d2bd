/* Devices that share the work of a model. Without a team one device is planned: operands and results of
 * collectives go through HBM, and the bytes that it sends on links are counted. For a team each collective
 * names the grid axes along which devices work together, and the file's shardings of arguments and results
 * shard the tensors: a value whose sharding differs from its storage's is copied. */
#include "import/map/import_steps.h"
#include "graph/op_params.h"

/* The product of the extents from a dimension on, which identifies it. */
static int64_t shard_from(const struct model_type *t, int d)
{
    int64_t n = 1;
    for (; d < t->count; d++) n *= t->extent[d];
    return n;
}

/* Counts a reason and keeps the line of its first sharding. */
static void shard_note_lost(struct import *im, int line, const char *why)
{
    if (model_fact(&im->notes, "shardings not kept", why, 0) == 0)
        fact_add(&im->notes, "lines of the first not kept", why, line);
    fact_add(&im->notes, "shardings not kept", why, 1);
}

/* Finds the runs of the storage's digits that the axes of each dimension shard: the first run, or the next if
 * it has no more digits. Digits that the storage lacks (broadcast) are not sharded. False: the value is a
 * part of its storage, or its pieces do not fit the shards. */
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

/* TTIR: devices have their shards already, or keep them. */
static bool manual_is_identity(const struct model_op *op, const char *direction)
{
    return strcmp(op->kind, "mesh_shard") == 0 && op->operand_count == 1 && op->result_count == 1 &&
           strstr(model_attr_word(&op->attrs, "shard_type", ""), "identity") &&
           strstr(model_attr_word(&op->attrs, "shard_direction", ""), direction);
}

/* TTIR: the op that hands the shards of an argument to the devices; NULL: none. */
static const struct model_op *manual_sharder(const struct import *im, const struct model_value *argument)
{
    const struct model_body *b = &im->m->bodies.at[im->m->entry];
    for (int i = 0; i < b->op_count; i++) {
        const struct model_op *op = &b->ops[i];
        if (strcmp(op->kind, "mesh_shard") == 0 && op->operand_count == 1 &&
            &im->m->values.at[op->operands[0]] == argument &&
            strstr(model_attr_word(&op->attrs, "shard_direction", ""), "full_to_shard"))
            return op;
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
        /* A model without shardings to keep may still become a team's. */
        if (text && !im->options.team)
            fact_add(&im->notes, "shardings not kept", "one device is planned: --team keeps them", 1);
        return;
    }
    const struct model_op *sharder = manual_sharder(im, of);
    bool keeps = sharder && manual_is_identity(sharder, "");
    const char *status =
        model_attr_word(&of->attrs, "ttcore.shard_status", sharder && !keeps ? "unsharded" : "");
    int count = 0;
    const int64_t *dims = keeps ? model_attr_ints(&sharder->attrs, "shard_dims", &count) : NULL;
    if (count != im->grid_axes) dims = NULL; /* per grid axis the dimension that it shards */
    for (int a = 0; dims && a < im->grid_axes; a++)
        if (dims[a] >= 0 && dims[a] < v->type->count) {
            cut.from[a] = shard_from(v->type, (int)dims[a]);
            cut.run[a] = v->type->extent[dims[a]];
        }
    int n = text && !dims ? model_sharding(im->m, text, parts) : -1;
    bool whole = im->has_parts && model_same_shape(v->type, model_leaf_type(of->type, leaf));
    for (int d = 0; whole && d < n; d++)
        if (parts[d].size > 1)
            shard_note_lost(im, of->line, "every device has all of what it takes no part of");
    if (dims || strstr(status, "unsharded") || whole || n == 0 ||
        (n == v->type->count && shard_cut_view(im, v, parts, n, &cut)))
        shard_state(im, v->storage, &cut);
    else if (text)
        shard_note_lost(im, of->line, model_sharding_lost(text));
}

/* Constants are not sharded: all devices have them. */
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
            import_copy(im, v, op, true, true);
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

/* An argument may be too short for its devices; no op makes such a tensor. */
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
                    cut.from[a] = shard_from(now->type, d), cut.run[a] = now->type->extent[d];
    for (int a = 0; a < im->grid_axes; a++) {
        int64_t parts = 1;
        for (int b = 0; b < im->grid_axes; b++)
            if (cut.from[b] == cut.from[a]) parts *= im->grid[b];
        if (cut.from[a] && parts > cut.run[a]) return;
    }
    shard_state(im, now->storage, &cut);
}

/* Axes that shard one run of digits split its first piece as far as possible, then the next. */
void import_cut_tensor(struct import *im, const struct storage *s, struct lx_tensor *t)
{
    int piece[LX_GRID_AXES];
    int64_t left[LX_GRID_AXES]; /* how often the piece can still be split */
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

/* ---- programs of one device that slice whole tensors ---- */

enum { MOST_CALLS = 8 }; /* in a chain */

/* Is it a call from one tensor to one whose target has one of these words? */
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
    return manual_calls(op, "Sharding", "Sharding") &&
           (strcmp(target, "Sharding") == 0 || strcmp(target, "\"Sharding\"") == 0);
}

/* Does the program slice whole tensors? */
static bool manual_has_parts(const struct lx_model *m)
{
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++)
            if (manual_takes_part(&m->bodies.at[b].ops[i])) return true;
    return false;
}

/* Do the types match the sharding's shards? */
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

/* The type of the shards if a value is read only as shards; else NULL. */
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

/* Is the value only returned? */
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

/* ---- collectives ---- */

bool import_find_grid(struct import *im)
{
    if (!im->options.team) return true;
    int axes = model_device_grid(im->m, im->grid);
    int64_t devices = 1;
    for (int a = 0; a < axes; a++) devices *= im->grid[a] <= LX_GRID_DEVICES ? im->grid[a] : LX_GRID_DEVICES;
    if (axes < 0 || axes > LX_GRID_AXES || devices > LX_GRID_DEVICES)
        return status_set_at(im->st, LX_E_UNSUPPORTED, im->m->file, 0, 0,
                             "the devices of this model are no grid of at most %d axes and %d devices; plan "
                             "one of them: leave --team out",
                             LX_GRID_AXES, LX_GRID_DEVICES);
    im->grid_axes = devices > 1 ? axes : 0;
    im->by_device = model_has_op(im->m, model_is_collective);
    im->has_parts = im->grid_axes > 0 && manual_has_parts(im->m);
    return true;
}

/* Sets the axes of the last sketch. */
static struct lx_op_params *together_along(struct import *im, int first, int count)
{
    struct lx_op_params none = op_params_none(), *p = arena_copy_array(&im->memory, &none, 1, sizeof none);
    int64_t *group = arena_array(&im->memory, (size_t)count + 1, sizeof *group);
    for (int i = 0; i < count; i++) group[i] = first + i;
    p->group = group;
    p->group_count = count;
    im->sketches.at[im->sketches.count - 1].params = p;
    return p;
}

/* The dimension `n` times as long in one type as in the other; if types do not tell, the one that the op
 * states under one of the keys. 0: none; else the product of extents from it on. */
static int64_t together_longer(const struct model_op *op, const struct model_type *large,
                               const struct model_type *small, int64_t n, const char *const *keys)
{
    int count = 0, dim = -1;
    const int64_t *list = NULL;
    for (; *keys && count == 0; keys++) list = model_attr_ints(&op->attrs, *keys, &count);
    if (count > 0) dim = (int)list[0];
    for (int d = large->count - 1; d >= 0 && large->count == small->count; d--)
        if (large->extent[d] == n * small->extent[d] && n > 1) dim = d;
    return dim >= 0 && dim < large->count ? shard_from(large, dim) : 0;
}

/* The devices of an op as grid axes; a permutation sends to the device `by` further along one axis. */
struct together {
    struct device_group group;
    int first, count; /* axes; count 0: none */
    int64_t by;
    bool open; /* does not wrap around */
};

/* False: the team's grid has no axes for them (`st`). */
static bool together_find(struct import *im, const struct model_op *op, const char *kind, struct together *t)
{
    int64_t devices = 1;
    bool permutes = strcmp(kind, "device_permute") == 0, grid = im->grid_axes > 0,
         pairs = model_attr_find(&op->attrs, "source_target_pairs");
    *t = (struct together){.count = 0};
    for (int a = 0; a < im->grid_axes; a++) devices *= im->grid[a];
    if (!im->options.team) return true;
    bool known = pairs ? model_device_steps(im->m, op, im->grid, im->grid_axes, &t->first, &t->by, &t->open)
                       : model_device_group(im->m, op, &t->group);
    t->count = known && pairs && grid;
    if (known && pairs) return true;
    bool axes = known && model_group_axes(im->grid, im->grid_axes, t->group, &t->first, &t->count);
    if (!axes || permutes || !grid) t->count = 0;
    if (known &&
        (t->group.size == 1 || (!permutes && axes && (t->group.devices == 0 || t->group.devices == devices))))
        return true;
    return status_set_at(im->st, LX_E_UNSUPPORTED, im->m->file, op->line, op->column,
                         permutes ? "%s: these devices do not hand on to the one that is so many further "
                                    "along an axis of the grid of %lld devices; state such pairs for all of "
                                    "them, or leave --team out: one device is planned then"
                                  : "%s: no axis of the grid of %lld devices makes these groups; state "
                                    "groups of one size, of devices in order and equally far apart, with "
                                    "every device in one, or leave --team out: one device is planned then",
                         op->kind, (long long)devices);
}

/* Sets the devices of the last sketch, an op from `in` to `out`. */
static bool together_state(struct import *im, const struct model_op *op, const struct together *t,
                           const struct model_type *in, const struct model_type *out)
{
    static const char *const taken[] = {"dimensions", "split_dim", "scatter_dim", "axis", NULL},
                             *const put[] = {"dimensions", "concat_dim", "all_gather_dim", "axis", NULL};
    struct sketch *s = &im->sketches.at[im->sketches.count - 1];
    const struct reducer *r = strstr(s->kind, "reduce") ? import_reducer(im, op) : NULL;
    if (t->count == 0) return true;
    struct lx_op_params *p = together_along(im, t->first, t->count);
    if (strcmp(s->kind, "device_permute") == 0) {
        p->k = t->by > 0 ? t->by : im->grid[t->first]; /* once round the ring */
        p->exclusive = t->open;
        return true;
    }
    if (r) p->combine = r->combine;
    if (!r && strstr(s->kind, "reduce"))
        return status_set_at(
            im->st, LX_E_UNSUPPORTED, im->m->file, op->line, op->column,
            "%s: a team adds, multiplies, takes the largest or the least; state one of these, or "
            "leave --team out: one device is planned then",
            op->kind);
    bool swaps = strcmp(s->kind, "all_to_all") == 0;
    if (swaps || strcmp(s->kind, "reduce_scatter") == 0 || strcmp(s->kind, "device_part") == 0)
        s->axis_from[0] = together_longer(op, in, out, t->group.size, taken);
    if (swaps || strcmp(s->kind, "all_gather") == 0)
        s->axis_from[1] = together_longer(op, out, in, t->group.size, put);
    return true;
}

/* Maps one operand tensor to the result tensor at the same place. */
static bool together_exchange(struct import *im, const struct model_op *op, const char *ours,
                              const struct model_type *type, struct import_value *v)
{
    struct import_value in = *v;
    int64_t n = model_group_size(im->m, op), bytes = in.type->bytes;
    bool gathers = strcmp(ours, "all_gather") == 0;
    struct together t;
    if (!together_find(im, op, ours, &t)) return false;
    if (n == 1 && model_same_shape(in.type, type)) return true;
    if (strcmp(ours, "device_permute") != 0) { /* bytes on links of a group of n */
        int64_t moved = gathers ? type->bytes : bytes;
        bytes = n < 2 ? 0 : moved / n * (n - 1) + moved % n * (n - 1) / n;
        if (strcmp(ours, "all_reduce") == 0) bytes *= 2;
    }
    fact_add(&im->notes, "collectives", ours, 1);
    fact_add(&im->notes, "link_bytes", ours, bytes);
    *v = import_opaque_leaf(im, ours, op, in, type);
    return v->storage < 0 || together_state(im, op, &t, in.type, type);
}

/* Operands and results match, as tuples of equal depth; an asynchronous start also returns its operands. */
bool map_collective(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_type_out(im, op);
    int operands = 0, own = type->leaves;
    OWNED VEC(struct import_value) all = {0};
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] >= 0 && model_type_of(im->m, op->operands[i])->leaves == 1) operands++;
    bool begins = strstr(op->kind, "-start") && own > operands, ok = true;
    if (operands == 0 || own < (begins ? 2 : 1) * operands || !lx_kind_find(ours)) {
        if (!im->options.team || im->grid_axes == 0) return import_generic(im, op, "form");
        return status_set_at(
            im->st, LX_E_UNSUPPORTED, im->m->file, op->line, op->column,
            "%s: a team cannot do it in this form; leave --team out: one device is planned then", op->kind);
    }
    import_class(im, op, CLASS_MAPPED, NULL);
    for (int i = 0; ok && i < own; i++) {
        struct import_value v = *import_in(im, op, i % operands);
        if (v.type->elements > 0 && (begins ? i >= operands && i < 2 * operands : i < operands))
            ok = together_exchange(im, op, ours, model_leaf_type(type, i), &v);
        VEC_PUSH(&all, v);
    }
    if (ok) import_bind(im, op->results[0], all.at, own);
    return ok;
}

bool map_device_id(struct import *im, const struct model_op *op, const char *ours)
{
    bool replica = strcmp(op->kind, "replica-id") == 0;
    if (!import_is_tensor(im, op->results[0])) return import_generic(im, op, "form");
    if (im->grid_axes == 0 || (replica && model_attr_int(&im->m->attrs, "num_partitions", 1) > 1))
        return import_number(im, op, replica ? 0 : im->options.device);
    import_class(im, op, CLASS_MAPPED, NULL);
    import_opaque(im, ours, op);
    together_along(im, 0, im->grid_axes);
    return true;
}
