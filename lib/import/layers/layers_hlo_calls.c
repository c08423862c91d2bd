/* Custom calls of HLO that take one device's part of a tensor, or put the parts together. */
#include "import/layers/layers.h"
#include "import/devices/shardings.h"

#include <stdlib.h>
#include <string.h>

/* What is said of how the whole is shared out: of the call that makes it, or of where it comes from. */
static const char *said_of_whole(const struct layer *l, bool gathers)
{
    const struct model_value *v = &l->m->values.at[l->op->operands[0]];
    if (gathers) return model_sharding_text(&l->op->attrs);
    return model_sharding_text(v->from == FROM_OP ? &l->m->bodies.at[v->body].ops[v->op].attrs : &v->attrs);
}

/* How far devices with neighbouring parts are apart, per dimension of which there are so many parts: as is said; else devices
 * are counted along the dimensions, and those that have the same part stand together. */
static void strides_of_parts(const struct layer *l, const char *said, const int64_t *parts, int rank,
                             int64_t *stride)
{
    struct device_group groups[MESH_MAX_AXES + 1];
    int64_t all = model_device_count(l->m);
    bool known = said && model_sharding(l->m, said, groups) == rank;
    for (int d = 0; d < rank; d++) all /= parts[d];
    for (int d = 0; known && d < rank; d++) known = groups[d].size == parts[d];
    for (int d = rank - 1; d >= 0; d--) {
        stride[d] = known ? groups[d].stride : all;
        all *= parts[d];
    }
}

/* From the whole to one device's part, or all parts together: in each dimension as many as its extents say. */
static void reshard(struct layer *l)
{
    int32_t x = layer_in(l, 0);
    const struct model_type *from = layer_type(l, x), *to = model_type_of(l->m, l->op->results[0]);
    bool gathers = to->elements > from->elements;
    int64_t parts[MESH_MAX_AXES], stride[MESH_MAX_AXES], all = model_device_count(l->m), product = 1;
    bool ok = from->count == to->count && from->count <= MESH_MAX_AXES && l->result_count == 1;
    for (int d = 0; ok && d < from->count; d++) {
        int64_t large = gathers ? to->extent[d] : from->extent[d],
                small = gathers ? from->extent[d] : to->extent[d];
        ok = small > 0 && large % small == 0 && (product *= parts[d] = large / small) <= 1 << 20;
    }
    if (!ok || all % product != 0) {
        layer_fail(l);
        return;
    }
    strides_of_parts(l, said_of_whole(l, gathers), parts, from->count, stride);
    for (int d = from->count - 1; d >= 0 && l->ok; d--) {
        if (parts[d] == 1) continue;
        if (!gathers && !l->limits->team) {
            int64_t at = l->limits->device / stride[d] % parts[d];
            x = layer_slice(l, x, d, at * to->extent[d], (at + 1) * to->extent[d]);
            continue;
        }
        layer_put(l, "axis", d);
        layer_put(l, "lxplan_group", parts[d]);
        layer_put(l, "lxplan_stride", stride[d]);
        x = layer_one(l, gathers ? "lxplan:AllGather" : "lxplan:DevicePart", x);
    }
    layer_result(l, 0, x == layer_in(l, 0) ? layer_one(l, "Identity", x) : x);
}

void derive_custom_call(struct layer *l)
{
    const char *target = model_attr_word(&l->op->attrs, "custom_call_target", "");
    target += *target == '"';
    size_t length = strcspn(target, "\"");
    char word[64] = {0};
    if (length < sizeof word) memcpy(word, target, length);
    if (strcmp(word, "SPMDFullToShardShape") == 0 || strcmp(word, "SPMDShardToFullShape") == 0 ||
        strstr(word, "sdy.GlobalToLocalShape") || strstr(word, "sdy.LocalToGlobalShape"))
        reshard(l);
    else
        layer_fail(l);
}
