/* Ops that several devices do together, and the grid of a team. One device is planned: operands and results
 * go through HBM, and the bytes that it sends on links are counted. For a team each op names the axes of the
 * grid along which devices work together. */
#include "import/map/import_steps.h"
#include "graph/op_params.h"
#include "base/fail.h"

#include <string.h>

bool import_find_grid(struct import *im)
{
    if (!im->options.team) return true;
    int axes = model_device_grid(im->m, im->grid);
    int64_t devices = 1;
    for (int a = 0; a < axes; a++) devices *= im->grid[a] <= LX_GRID_MEMBERS ? im->grid[a] : LX_GRID_MEMBERS;
    if (axes < 0 || axes > LX_GRID_AXES || devices > LX_GRID_MEMBERS)
        return status_set_at(im->st, LX_E_UNSUPPORTED, im->m->file, 0, 0,
                             "the devices of this model are no grid of at most %d axes and %d devices; plan "
                             "one of them: leave --team out",
                             LX_GRID_AXES, LX_GRID_MEMBERS);
    im->grid_axes = devices > 1 ? axes : 0;
    im->by_device = model_is_by_device(im->m);
    im->has_parts = im->grid_axes > 0 && import_has_parts(im->m);
    return true;
}

int64_t import_from_dimension(const struct model_type *t, int d)
{
    int64_t n = 1;
    for (; d < t->count; d++) n *= t->extent[d];
    return n;
}

/* Parameters of the last sketch: it is done along these axes of the grid. */
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

/* How the parts of several devices become one; false: as no kind of ours does it. */
static bool together_combine(const struct import *im, const struct model_op *op, enum lx_combine *out)
{
    static const struct {
        const char *word;
        enum lx_combine combine;
    } rows[] = {{"sum", LX_COMBINE_ADD},  {"max", LX_COMBINE_MAX}, {"min", LX_COMBINE_MIN},
                {"prod", LX_COMBINE_MUL}, {"any", LX_COMBINE_MAX}, {"all", LX_COMBINE_MIN}};
    const struct reducer *r = im->format == MODEL_HLO ? import_reducer(im, op) : NULL;
    const char *word = r ? r->ours : model_attr_word(&op->attrs, "reduce_type", "sum");
    for (size_t i = 0; (r || im->format != MODEL_HLO) && i < sizeof rows / sizeof *rows; i++)
        if (strstr(word, rows[i].word)) return *out = rows[i].combine, true;
    return false;
}

/* The dimension that is `n` times as long in one type as in the other; where types do not tell, the one that
 * the op states under one of the keys. 0: none; else the product of extents from it on. */
static int64_t together_longer(const struct model_op *op, const struct model_type *large,
                               const struct model_type *small, int64_t n, const char *const *keys)
{
    int count = 0, dim = -1;
    const int64_t *list = NULL;
    for (; *keys && count == 0; keys++) list = model_attr_ints(&op->attrs, *keys, &count);
    if (count > 0) dim = (int)list[0];
    for (int d = large->count - 1; d >= 0 && large->count == small->count; d--)
        if (large->extent[d] == n * small->extent[d] && n > 1) dim = d;
    return dim >= 0 && dim < large->count ? import_from_dimension(large, dim) : 0;
}

/* The devices of the last sketch, which is an op from `in` to `out`. */
static bool together_state_group(struct import *im, const struct model_op *op, const struct model_type *in,
                                 const struct model_type *out)
{
    static const char *const taken[] = {"dimensions", "split_dim", "scatter_dim", "axis", NULL},
                             *const put[] = {"dimensions", "concat_dim", "all_gather_dim", "axis", NULL};
    struct device_group g;
    int first, count;
    int64_t by;
    bool open;
    struct sketch *s = &im->sketches.at[im->sketches.count - 1];
    if (im->grid_axes == 0) return true;
    if (strcmp(s->kind, "device_permute") == 0) {
        if (!model_device_steps(im->m, op, im->grid, im->grid_axes, &first, &by, &open)) return true;
        struct lx_op_params *p = together_along(im, first, 1);
        p->k = by > 0 ? by : im->grid[first]; /* round the ring once */
        p->exclusive = open;
        return true;
    }
    if (!model_device_group(im->m, op, &g) || !model_group_axes(im->grid, im->grid_axes, g, &first, &count))
        return true;
    struct lx_op_params *p = together_along(im, first, count);
    if (strstr(s->kind, "reduce") && !together_combine(im, op, &p->combine))
        return status_set_at(
            im->st, LX_E_UNSUPPORTED, im->m->file, op->line, op->column,
            "%s: a team adds, multiplies, takes the largest or the least; state one of these, or "
            "leave --team out: one device is planned then",
            op->kind);
    bool swaps = strcmp(s->kind, "all_to_all") == 0;
    if (swaps || strcmp(s->kind, "reduce_scatter") == 0 || strcmp(s->kind, "device_part") == 0)
        s->parts_from[0] = together_longer(op, in, out, g.size, taken);
    if (swaps || strcmp(s->kind, "all_gather") == 0)
        s->parts_from[1] = together_longer(op, out, in, g.size, put);
    return true;
}

/* For a team: does the grid have axes for the devices that an op brings together? */
static bool together_know_group(struct import *im, const struct model_op *op, const char *kind)
{
    struct device_group g;
    int first, count;
    int64_t by, devices = 1;
    bool open, permutes = strcmp(kind, "device_permute") == 0,
               pairs = model_attr_find(&op->attrs, "source_target_pairs");
    if (!im->options.team) return true;
    for (int a = 0; a < im->grid_axes; a++) devices *= im->grid[a];
    if (pairs && model_device_steps(im->m, op, im->grid, im->grid_axes, &first, &by, &open)) return true;
    if (!pairs && model_device_group(im->m, op, &g) &&
        (g.size == 1 || (!permutes && (g.devices == 0 || g.devices == devices) &&
                         model_group_axes(im->grid, im->grid_axes, g, &first, &count))))
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

const struct lx_op_params *import_parts_param(struct import *im, const struct sketch *s)
{
    struct lx_op_params *p = arena_copy_array(&im->memory, s->params, 1, sizeof *p);
    int64_t *axes = arena_array(&im->memory, 2, sizeof *axes);
    for (int i = 0; i < 2; i++) {
        const struct cuts *c = &im->storages.at[s->operand[i].storage].cuts;
        axes[i] = s->parts_from[i] ? import_piece_from(c, s->parts_from[i]) : -1;
    }
    if (s->parts_from[0] && s->parts_from[1]) {
        p->axes = axes;
        p->axis_count = 2;
    } else
        p->axis = axes[s->parts_from[1] ? 1 : 0];
    return p;
}

/* One tensor of the operands to the tensor of the results at the same place. */
static bool together_exchange(struct import *im, const struct model_op *op, const char *ours,
                              const struct model_type *type, struct import_value *v)
{
    struct import_value in = *v;
    int64_t n = model_group_size(im->m, op), bytes = in.type->bytes;
    bool gathers = strcmp(ours, "all_gather") == 0;
    if (!together_know_group(im, op, ours)) return false;
    if (n == 1 && model_same_shape(in.type, type)) return true;
    if (strcmp(ours, "device_permute") != 0) { /* bytes on links of a group of n */
        int64_t moved = gathers ? type->bytes : bytes;
        bytes = n < 2 ? 0 : moved / n * (n - 1) + moved % n * (n - 1) / n;
        if (strcmp(ours, "all_reduce") == 0) bytes *= 2;
    }
    fact_add(&im->notes, "collectives", ours, 1);
    fact_add(&im->notes, "link_bytes", ours, bytes);
    *v = import_opaque_leaf(im, ours, op, in, type);
    return v->storage < 0 || together_state_group(im, op, in.type, type);
}

/* As many operands as results, in tuples of one depth; an asynchronous start returns its operands, too. */
bool map_collective(struct import *im, const struct model_op *op, const char *ours)
{
    const struct model_type *type = import_type_out(im, op);
    int operands = 0, own = type->leaves;
    VEC(struct import_value) all = {0};
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
    VEC_FREE(&all);
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
