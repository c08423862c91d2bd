/* Layers that only TTIR has. */
#include "import/layers/layers.h"
#include "import/devices/devices.h"

/* One number everywhere: zeros, ones, full. */
static void mesh_filled(struct layer *l, double number)
{
    const struct model_type *y = model_type_of(l->m, l->op->results[0]);
    layer_result(l, 0, layer_expand_to(l, layer_number(l, y->element, number), y->count, y->extent));
}

void derive_zeros(struct layer *l)
{
    mesh_filled(l, 0);
}

void derive_ones(struct layer *l)
{
    mesh_filled(l, 1);
}

void derive_full(struct layer *l)
{
    if (!model_attr_find(&l->op->attrs, "fill_value")) {
        layer_fail(l);
        return;
    }
    mesh_filled(l, layer_real(l, "fill_value", 0));
}

void derive_clamp_scalar(struct layer *l)
{
    int32_t y = layer_by(l, "Max", layer_in(l, 0), layer_real(l, "min", 0));
    if (!model_attr_find(&l->op->attrs, "min") || !model_attr_find(&l->op->attrs, "max")) {
        layer_fail(l);
        return;
    }
    layer_result(l, 0, layer_by(l, "Min", y, layer_real(l, "max", 0)));
}

/* x, low, high */
void derive_clamp_tensor(struct layer *l)
{
    if (l->op->operand_count != 3) {
        layer_fail(l);
        return;
    }
    int32_t y = layer_two(l, "Max", layer_in(l, 0), layer_in(l, 1));
    layer_result(l, 0, layer_two(l, "Min", y, layer_in(l, 2)));
}

/* Where or how it is stored is not looked at; it may be of another type. */
void derive_to_layout(struct layer *l)
{
    layer_result(l, 0, layer_one(l, "Identity", layer_in(l, 0)));
}

/* x, scale, offset, mean, variance: (x - mean) / sqrt(variance + e) * scale + offset */
void derive_batch_norm_ttir(struct layer *l)
{
    int32_t x = layer_in(l, 0), in[5];
    int rank = layer_type(l, x)->count;
    int64_t f = layer_int(l, "dimension", 1);
    if (layer_int(l, "training", 0) || l->op->operand_count != 5 || f < 0 || f >= rank) {
        layer_fail(l);
        return;
    }
    for (int i = 1; i < 5; i++) in[i] = layer_channels(l, layer_in(l, i), rank, (int)f);
    int32_t a = layer_one(l, "lxplan:Rsqrt", layer_by(l, "Add", in[4], layer_real(l, "epsilon", 1e-5)));
    a = layer_two(l, "Mul", a, in[1]);
    int32_t b = layer_two(l, "Sub", in[2], layer_two(l, "Mul", in[3], a));
    layer_result(l, 0, layer_two(l, "Add", layer_two(l, "Mul", x, a), b));
}

/* One op more between whole tensors and parts of devices. */
static int32_t mesh_share(struct layer *l, const char *kind, int32_t x, int dim, int64_t devices,
                          int64_t stride)
{
    layer_put(l, "axis", dim);
    layer_put(l, "lxplan_group", devices);
    layer_put(l, "lxplan_stride", stride);
    return layer_one(l, kind, x);
}

/* What an axis of the mesh cuts: as the op says, else the dimension that has as many parts as it has
 * devices. */
static int mesh_dim_of_axis(struct layer *l, int axis, int64_t devices, const struct model_type *large,
                            const struct model_type *small)
{
    int count;
    int64_t own = layer_int(l, "cluster_axis", -1);
    const int64_t *dims = model_attr_ints(&l->op->attrs, "shard_dims", &count);
    if (axis < count) return dims[axis] < large->count ? (int)dims[axis] : -1;
    if (count > 0 || (own >= 0 && own != axis)) return -1;
    for (int d = 0; d < large->count; d++)
        if (large->extent[d] == devices * small->extent[d]) return d;
    return -1;
}

/* For a team: parts of devices along each axis of the mesh, the first of which has the larger ones. */
static void mesh_share_out(struct layer *l, bool takes)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *in = layer_type(l, x), *out = model_type_of(l->m, l->op->results[0]);
    const struct model_type *large = takes ? in : out, *small = takes ? out : in;
    int64_t extent[MESH_MAX_AXES];
    int axes = model_mesh(l->m, extent);
    for (int i = 0; i < axes; i++) {
        int axis = takes ? i : axes - 1 - i;
        int64_t stride = 1;
        for (int a = axes - 1; a > axis; a--) stride *= extent[a];
        int dim = extent[axis] > 1 ? mesh_dim_of_axis(l, axis, extent[axis], large, small) : -1;
        if (dim >= 0)
            x = mesh_share(l, takes ? "lxplan:DevicePart" : "lxplan:AllGather", x, dim, extent[axis], stride);
    }
    layer_result(l, 0, x == layer_in(l, 0) ? layer_one(l, "Identity", x) : x);
}

/* Its own part of what all devices have. */
void derive_mesh_partition(struct layer *l)
{
    if (l->limits->team) {
        mesh_share_out(l, true);
        return;
    }
    const struct model_type *x = layer_type(l, layer_in(l, 0)), *y = model_type_of(l->m, l->op->results[0]);
    int32_t part = layer_in(l, 0);
    int64_t axis = layer_int(l, "cluster_axis", -1);
    int64_t place = axis >= 0 && axis < MESH_MAX_AXES ? model_mesh_place(l->m, (int)axis, l->limits->device)
                                                      : l->limits->device;
    if (x->count != y->count) {
        layer_fail(l);
        return;
    }
    for (int d = 0; d < x->count; d++) {
        if (x->extent[d] == y->extent[d]) continue;
        int64_t parts = x->extent[d] / y->extent[d], at = parts ? place % parts : 0;
        part = layer_slice(l, part, d, at * y->extent[d], (at + 1) * y->extent[d]);
    }
    layer_result(l, 0, part == layer_in(l, 0) ? layer_one(l, "Identity", part) : part);
}

/* From the whole to one device's part; the other way all parts are brought together. */
void derive_mesh_shard(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *from = layer_type(l, x), *to = model_type_of(l->m, l->op->results[0]);
    if (to->elements <= from->elements || l->limits->team) {
        if (l->limits->team)
            mesh_share_out(l, to->elements <= from->elements);
        else
            derive_mesh_partition(l);
        return;
    }
    for (int d = 0; l->ok && d < from->count && from->count == to->count; d++) {
        if (to->extent[d] == from->extent[d]) continue;
        layer_put(l, "axis", d);
        layer_put(l, "lxplan_group", to->extent[d] / from->extent[d]);
        x = layer_one(l, "lxplan:AllGather", x);
    }
    layer_result(l, 0, x);
}
