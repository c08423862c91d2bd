/* Groups and permutations of devices, and the grid that has them as axes. */
#include "import/devices/devices.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool groups_in_steps(const struct device_list *l, struct device_group *out)
{
    *out = (struct device_group){.size = l->group, .stride = 1, .devices = l->count};
    if (!model_each_once(l)) return false;
    if (l->group > 1) out->stride = l->id[1] - l->id[0];
    for (int64_t i = 0; i < l->count; i++)
        if (l->id[i] != l->id[i / l->group * l->group] + i % l->group * out->stride) return false;
    return out->stride > 0;
}

int64_t model_all_devices(const struct lx_model *m)
{
    int64_t n = model_device_count(m), replicas = model_attr_int(&m->attrs, "replica_count", 1);
    return replicas > n && replicas <= LISTED_DEVICES ? replicas : n;
}

/* Does everybody get the same, in whatever order the group names them? */
static bool groups_sums_alike(const struct model_op *op)
{
    return strncmp(op->kind, "all_reduce", 10) == 0 || strncmp(op->kind, "all-reduce", 10) == 0;
}

static int groups_by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sort_groups(struct device_list *l)
{
    for (int64_t i = 0; i + l->group <= l->count; i += l->group)
        qsort(l->id + i, (size_t)l->group, sizeof *l->id, groups_by_number);
}

bool model_device_group(const struct lx_model *m, const struct model_op *op, struct device_group *out)
{
    int64_t extent[MESH_MAX_AXES], axis = model_attr_int(&op->attrs, "cluster_axis", -1);
    int axes = model_mesh(m, extent);
    struct device_list *l;
    if (model_attr_find(&op->attrs, "lxplan_stride")) {
        *out = (struct device_group){model_attr_int(&op->attrs, "lxplan_stride", 1),
                                     model_attr_int(&op->attrs, "lxplan_group", 1), 0};
        return true;
    }
    if (axes > 0 && axis >= axes) return false;
    if (axis >= 0 && axis < axes) {
        *out = (struct device_group){1, extent[axis], 0};
        for (int a = axes - 1; a > axis; a--) out->stride *= extent[a];
        return true;
    }
    *out = (struct device_group){1, model_all_devices(m), 0};
    if (!model_names_devices(op, "replica_groups")) return true;
    l = mem_alloc(sizeof *l);
    bool ok = l && model_device_list(op, "replica_groups", l);
    if (ok) model_place_devices(m, l);
    if (ok && groups_sums_alike(op)) sort_groups(l);
    ok = ok && groups_in_steps(l, out);
    mem_free(l);
    return ok;
}

/* Sizes of steps that an axis must begin or end with; each must divide the next. */
struct steps {
    int count;
    int64_t at[2 * MESH_MAX_AXES];
    bool failed;
};

static void groups_add_step(struct steps *s, int64_t step)
{
    int i = 0;
    while (i < s->count && s->at[i] < step) i++;
    if (i < s->count && s->at[i] == step) return;
    if (s->count == 2 * MESH_MAX_AXES || (i > 0 && step % s->at[i - 1]) ||
        (i < s->count && s->at[i] % step)) {
        s->failed = true;
        return;
    }
    memmove(s->at + i + 1, s->at + i, (size_t)(s->count - i) * sizeof *s->at);
    s->at[i] = step;
    s->count++;
}

static bool groups_is_one_of(const char *kind, const char *const *kinds)
{
    for (; *kinds; kinds++)
        if (strcmp(kind, *kinds) == 0) return true;
    return false;
}

bool model_is_collective(const char *kind)
{
    static const char *const kinds[] = {"all_reduce",
                                        "all-reduce",
                                        "all-reduce-start",
                                        "all_gather",
                                        "all-gather",
                                        "all-gather-start",
                                        "reduce_scatter",
                                        "reduce-scatter",
                                        "all_to_all",
                                        "all-to-all",
                                        "collective_permute",
                                        "collective-permute",
                                        "collective-permute-start",
                                        "mesh_shard",
                                        "mesh_partition",
                                        "distributed_rms_norm",
                                        "lxplan:AllGather",
                                        "lxplan:DevicePart",
                                        NULL};
    return groups_is_one_of(kind, kinds);
}

bool model_is_by_device(const struct lx_model *m)
{
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++)
            if (model_is_collective(m->bodies.at[b].ops[i].kind)) return true;
    return false;
}

static void groups_steps_of_sharding(const struct lx_model *m, const struct model_attrs *attrs,
                                     struct steps *s)
{
    struct device_group parts[MESH_MAX_AXES + 1];
    char room[SHARDING_ROOM];
    const char *text = model_sharding_text(attrs), *leaf;
    for (int i = 0; (leaf = model_leaf_sharding(text, i, room, sizeof room)); i++) {
        int n = model_sharding(m, leaf, parts);
        for (int d = 0; d < n; d++) {
            if (parts[d].size == 1) continue;
            groups_add_step(s, parts[d].stride);
            groups_add_step(s, parts[d].stride * parts[d].size);
        }
        if (leaf == text) break; /* one for all */
    }
}

/* Who comes behind a device; -1: nobody does. */
static int64_t groups_follower(const struct device_list *pairs, int64_t device)
{
    for (int64_t i = 0; i + 1 < pairs->count; i += 2)
        if (pairs->id[i] == device) return pairs->id[i + 1];
    return -1;
}

static int groups_axes_of(const struct steps *s, int64_t extent[MESH_MAX_AXES])
{
    int axes = 0;
    if (s->failed || s->count > MESH_MAX_AXES) return -1;
    for (int i = s->count - 1; i > 0; i--) extent[axes++] = s->at[i] / s->at[i - 1];
    return axes;
}

/* The row or ring that begins with the first device is an axis, where devices hand on along none that is
 * there. */
static void groups_steps_of_pairs(const struct lx_model *m, const struct model_op *op, struct steps *s)
{
    int64_t extent[MESH_MAX_AXES], by;
    int axes = groups_axes_of(s, extent), axis;
    bool open;
    if (axes < 0 || model_device_steps(m, op, extent, axes, &axis, &by, &open)) return;
    struct device_list *l = mem_alloc(sizeof *l);
    struct steps with = *s;
    if (l && model_device_list(op, "source_target_pairs", l) && l->group == 2) {
        model_place_devices(m, l);
        int64_t size = 1, stride = 0;
        for (int64_t at = groups_follower(l, 0); at > 0 && size < l->count;
             at = groups_follower(l, at), size++)
            stride = stride == 0 || at < stride ? at : stride;
        if (size > 1) {
            groups_add_step(&with, stride);
            groups_add_step(&with, stride * size);
            groups_add_step(&with, model_all_devices(m));
        }
        if (!with.failed) *s = with;
    }
    mem_free(l);
}

int model_device_grid(const struct lx_model *m, int64_t extent[MESH_MAX_AXES])
{
    int axes = model_mesh(m, extent);
    struct steps s = {1, {1}, false};
    if (axes > 0) return axes;
    if (model_attr_int(&m->attrs, "num_partitions", 1) > 1 &&
        model_attr_int(&m->attrs, "replica_count", 1) > 1)
        return -1; /* numbers are of partitions in some ops and of replicas in others */
    for (size_t i = 0; i < m->values.count; i++) groups_steps_of_sharding(m, &m->values.at[i].attrs, &s);
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            const struct model_op *op = &m->bodies.at[b].ops[i];
            struct device_group g;
            groups_steps_of_sharding(m, &op->attrs, &s);
            if (!model_is_collective(op->kind) || strstr(op->kind, "permute") ||
                !model_device_group(m, op, &g))
                continue;
            groups_add_step(&s, g.stride);
            groups_add_step(&s, g.stride * g.size);
            if (g.size > 1 && g.devices > 0) groups_add_step(&s, g.devices);
        }
    groups_add_step(&s, model_all_devices(m));
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++)
            if (strstr(m->bodies.at[b].ops[i].kind, "permute"))
                groups_steps_of_pairs(m, &m->bodies.at[b].ops[i], &s);
    return groups_axes_of(&s, extent);
}

bool model_group_axes(const int64_t *extent, int axes, struct device_group g, int *first, int *count)
{
    int64_t stride = 1;
    int a = axes - 1;
    while (a >= 0 && stride < g.stride) stride *= extent[a--];
    int last = a;
    int64_t size = 1;
    while (a >= 0 && size < g.size) size *= extent[a--];
    *first = a + 1;
    *count = last - a;
    return stride == g.stride && size == g.size;
}

/* No device sends twice. */
static bool groups_sources_differ(const struct device_list *l)
{
    unsigned char seen[LISTED_DEVICES] = {0};
    for (int64_t i = 0; i < l->count; i += 2)
        if (l->id[i] < 0 || l->id[i] >= LISTED_DEVICES || seen[l->id[i]]++) return false;
    return true;
}

/* The way from a source to a target along one axis; false: it is along others, too. */
static bool groups_way_along(const int64_t *extent, int axes, int axis, int64_t source, int64_t target,
                             int64_t *by)
{
    bool same = true;
    *by = 0;
    for (int a = axes - 1; a >= 0; a--) {
        if (a == axis)
            *by = target % extent[a] - source % extent[a];
        else
            same = same && source % extent[a] == target % extent[a];
        source /= extent[a];
        target /= extent[a];
    }
    return same && source == 0 && target == 0;
}

static bool groups_all_along(const struct device_list *l, const int64_t *extent, int axes, int axis,
                             int64_t *by, bool *open)
{
    int64_t devices = 1, wraps = 0, n = l->count / 2;
    for (int a = 0; a < axes; a++) devices *= extent[a];
    for (int64_t i = 0; i < n; i++) {
        int64_t way;
        if (!groups_way_along(extent, axes, axis, l->id[2 * i], l->id[2 * i + 1], &way)) return false;
        wraps += way < 0;
        way = (way + extent[axis]) % extent[axis];
        if (i > 0 && way != *by) return false;
        *by = way;
    }
    *open = n > 0 && wraps == 0 && *by > 0 && n == devices / extent[axis] * (extent[axis] - *by);
    return n == devices || *open;
}

bool model_device_steps(const struct lx_model *m, const struct model_op *op, const int64_t *extent, int axes,
                        int *axis, int64_t *by, bool *open)
{
    struct device_list *l = mem_alloc(sizeof *l);
    bool ok = l && model_device_list(op, "source_target_pairs", l) && l->group == 2, found = false;
    if (ok) model_place_devices(m, l);
    ok = ok && groups_sources_differ(l);
    for (int a = 0; ok && !found && a < axes; a++)
        if (extent[a] > 1 && groups_all_along(l, extent, axes, a, by, open)) {
            *axis = a;
            found = true;
        }
    mem_free(l);
    return found;
}
