/* Ops of devices that share the work: custom calls of HLO that take one device's part of a tensor, or put
 * the parts together. */
#include "base/fail.h"
#include "import/layers/layers.h"
#include "import/devices/devices.h"

#include <stdlib.h>
#include <string.h>

/* What is said of how the whole is shared out: of the call that makes it, or of where it comes from. */
static const char *reshard_said_of_whole(const struct layer *l, bool gathers)
{
    const struct model_value *v = &l->m->values.at[l->op->operands[0]];
    if (gathers) return model_sharding_text(&l->op->attrs);
    return model_sharding_text(v->from == FROM_OP ? &l->m->bodies.at[v->body].ops[v->op].attrs : &v->attrs);
}

/* How far devices with neighbouring parts are apart, per dimension of which there are so many parts: as is
 * said; else devices are counted along the dimensions, and those that have the same part stand together. */
static void reshard_strides_of_parts(const struct layer *l, const char *said, const int64_t *parts, int rank,
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

/* From the whole to one device's part, or all parts together: in each dimension as many as its extents
 * say. */
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
    reshard_strides_of_parts(l, reshard_said_of_whole(l, gathers), parts, from->count, stride);
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

/* ---- Collectives of HLO for a team in smaller ops ---- */

/* The attributes of the op, and along which dimension it goes. */
static struct model_attrs rows_along_first(struct layer *l)
{
    struct model_attrs all = {NULL, l->op->attrs.count + 1};
    struct model_attr *at = arena_array(&l->m->memory, (size_t)all.count, sizeof *at);
    int64_t *first = arena_array(&l->m->memory, 1, sizeof *first);
    *first = 0;
    memcpy(at, l->op->attrs.at, (size_t)l->op->attrs.count * sizeof *at);
    at[all.count - 1] =
        (struct model_attr){.key = "dimensions", .form = ATTR_INTS, .count = 1, .ints = first};
    all.at = at;
    return all;
}

/* For a team: as many operands as devices, one for each of them, are rows of one that is shared out. */
void derive_all_to_all(struct layer *l)
{
    int n = l->op->operand_count;
    const struct model_type *x = layer_type(l, layer_in(l, 0));
    int64_t row[] = {1, x->elements}, all[] = {n, x->elements};
    struct model_op like = *l->op;
    int32_t *rows = arena_array(&l->m->memory, (size_t)n + 1, sizeof *rows);
    if (!l->limits->team || n < 2 || l->result_count != n || n != model_group_size(l->m, l->op) || !rows) {
        layer_fail(l);
        return;
    }
    for (int i = 0; i < n; i++) rows[i] = layer_reshape(l, layer_in(l, i), 2, row);
    int32_t joined = layer_concat(l, 0, n, rows);
    like.native = true;
    like.attrs = rows_along_first(l);
    int32_t y = layer_like(l, &like, 1, &joined, model_type_make(l->m, x->element, 2, all, l->st));
    for (int i = 0; i < n; i++) layer_result(l, i, layer_slice(l, y, 0, i, i + 1));
}
