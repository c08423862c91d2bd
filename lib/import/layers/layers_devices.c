/* Ops of several devices: HLO custom calls and TTIR ops that take a device's shard or gather the shards, and
 * collectives in smaller ops. */
#include "import/layers/layers.h"
#include "import/devices/devices.h"

/* Slices the whole into shards for `parts` devices along a dimension, `stride` (0: not stated) apart, or
 * gathers these. One device takes its own shard; a team leaves the shard open. */
static int32_t share_along(struct layer *l, int32_t x, int dim, int64_t parts, int64_t stride, int64_t place,
                           bool gathers)
{
    int64_t size = layer_type(l, x)->extent[dim] / parts;
    if (!gathers && !l->limits->team) return layer_slice(l, x, dim, place * size, (place + 1) * size);
    layer_put(l, "axis", dim);
    layer_put(l, "lxplan_group", parts);
    if (stride) layer_put(l, "lxplan_stride", stride);
    return layer_one(l, gathers ? "lxplan:AllGather" : "lxplan:DevicePart", x);
}

/* The number of shards per dimension, from the extents of operand and result; false: they do not divide. */
static bool share_counts(const struct layer *l, bool gathers, int64_t *parts)
{
    const struct model_type *in = layer_type(l, layer_in(l, 0)), *out = layer_out(l);
    const struct model_type *large = gathers ? out : in, *small = gathers ? in : out;
    if (in->count != out->count || in->count > MESH_MAX_AXES || l->result_count != 1) return false;
    for (int d = 0; d < in->count; d++) {
        if (small->extent[d] < 1 || large->extent[d] % small->extent[d] != 0) return false;
        parts[d] = large->extent[d] / small->extent[d];
    }
    return true;
}

/* From the whole to one device's shard, or the reverse. Devices are counted along the dimensions as the
 * whole's sharding states: the sharding of the call that makes the whole, or its origin. Without a sharding,
 * devices with the same shard are adjacent. */
static bool share_call(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    int rank = layer_type(l, x)->count;
    bool gathers = layer_out(l)->elements > layer_type(l, x)->elements;
    struct device_group groups[MESH_MAX_AXES + 1];
    int64_t parts[MESH_MAX_AXES], all = model_device_count(l->m), product = 1;
    if (!share_counts(l, gathers, parts)) return false;
    for (int d = 0; d < rank; d++)
        if (parts[d] > 1 << 20 || (product *= parts[d]) > 1 << 20) return false;
    if (all % product != 0) return false;
    const struct model_value *v = &l->m->values.at[x];
    const struct model_attrs *of = gathers              ? &l->op->attrs
                                   : v->from == FROM_OP ? &l->m->bodies.at[v->body].ops[v->op].attrs
                                                        : &v->attrs;
    const char *text = model_sharding_text(of);
    bool known = text && model_sharding(l->m, text, groups) == rank;
    for (int d = 0; known && d < rank; d++) known = groups[d].size == parts[d];
    all /= product;
    for (int d = rank - 1; d >= 0; d--) {
        int64_t stride = known ? groups[d].stride : all;
        all *= parts[d];
        if (parts[d] > 1)
            x = share_along(l, x, d, parts[d], stride, l->limits->device / stride % parts[d], gathers);
    }
    return layer_result(l, 0, x);
}

bool derive_custom_call(struct layer *l)
{
    static const char *const targets[] = {"SPMDFullToShardShape", "SPMDShardToFullShape",
                                          "sdy.GlobalToLocalShape", "sdy.LocalToGlobalShape"};
    const char *target = model_attr_word(&l->op->attrs, "custom_call_target", "");
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strstr(target, targets[i])) return share_call(l);
    return false;
}

/* For a team: assigns shards to mesh axes, larger ones to the first axis. An axis shards the dimension that
 * the op states, else the one with as many shards as the axis has devices. */
static bool share_mesh(struct layer *l, bool gathers)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *in = layer_type(l, x), *out = layer_out(l);
    const struct model_type *large = gathers ? out : in, *small = gathers ? in : out;
    int64_t extent[MESH_MAX_AXES], own = layer_int(l, "cluster_axis", -1);
    int axes = model_mesh(l->m, extent), stated;
    const int64_t *dims = model_attr_ints(&l->op->attrs, "shard_dims", &stated);
    for (int i = 0; i < axes; i++) {
        int axis = gathers ? axes - 1 - i : i, dim = -1;
        int64_t stride = 1;
        for (int a = axes - 1; a > axis; a--) stride *= extent[a];
        if (axis < stated)
            dim = dims[axis] < large->count ? (int)dims[axis] : -1;
        else if (stated == 0 && (own < 0 || own == axis))
            for (int d = large->count - 1; d >= 0; d--)
                if (large->extent[d] == extent[axis] * small->extent[d]) dim = d;
        if (dim >= 0 && extent[axis] > 1) x = share_along(l, x, dim, extent[axis], stride, 0, gathers);
    }
    return layer_result(l, 0, x);
}

/* mesh_partition takes the device's shard of a tensor that all devices have. mesh_shard does the same or
 * gathers all shards. */
bool derive_mesh_shard(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    bool gathers = layer_out(l)->elements > layer_type(l, x)->elements;
    int64_t parts[MESH_MAX_AXES], axis = layer_int(l, "cluster_axis", -1), place = l->limits->device;
    if (l->limits->team) return share_mesh(l, gathers);
    if (!share_counts(l, gathers, parts)) return false;
    if (axis >= 0 && axis < MESH_MAX_AXES) place = model_mesh_place(l->m, (int)axis, place);
    for (int d = 0; d < layer_out(l)->count; d++)
        if (parts[d] > 1) x = share_along(l, x, d, parts[d], 0, place % parts[d], gathers);
    return layer_result(l, 0, x);
}

/* For a team: as many operands as devices become rows of one tensor, sharded along its first dimension. */
bool derive_all_to_all(struct layer *l)
{
    int n = l->op->operand_count;
    const struct model_type *x = layer_type(l, layer_in(l, 0));
    int64_t row[] = {1, x->elements}, all[] = {n, x->elements};
    struct model_op like = *l->op;
    if (!l->limits->team || n < 2 || l->result_count != n || n != model_group_size(l->m, l->op)) return false;
    int32_t *rows = arena_array(&l->m->memory, (size_t)n, sizeof *rows);
    for (int i = 0; i < n; i++) rows[i] = layer_reshape(l, layer_in(l, i), 2, row);
    int32_t joined = layer_concat(l, 0, n, rows);
    struct model_attr *attr = arena_array(&l->m->memory, (size_t)like.attrs.count + 1, sizeof *attr);
    if (like.attrs.count > 0) memcpy(attr, like.attrs.at, (size_t)like.attrs.count * sizeof *attr);
    attr[like.attrs.count] = (struct model_attr){.key = "dimensions", .form = ATTR_INTS, .count = 1};
    attr[like.attrs.count++].ints = arena_array(&l->m->memory, 1, sizeof *attr->ints); /* 0 */
    like.attrs.at = attr;
    like.native = true;
    int32_t y = layer_add(l, like, 1, &joined, model_type_make(l->m, x->element, 2, all, l->st), NULL);
    for (int i = 0; i < n; i++) layer_result(l, i, layer_slice(l, y, 0, i, i + 1));
    return l->ok;
}
