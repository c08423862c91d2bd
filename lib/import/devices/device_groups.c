/* Groups and permutations of devices, and the grid whose axes they follow. */
#include "import/devices/devices.h"

int64_t model_all_devices(const struct lx_model *m)
{
    int64_t n = model_device_count(m), replicas = model_attr_int(&m->attrs, "replica_count", 1);
    return replicas > n && replicas <= LISTED_DEVICES ? replicas : n;
}

bool model_is_collective(const char *kind)
{
    static const char *const kinds[] = {
        "all_reduce",       "all-reduce",       "all-reduce-start",     "all_gather",
        "all-gather",       "all-gather-start", "reduce_scatter",       "reduce-scatter",
        "all_to_all",       "all-to-all",       "collective_permute",   "collective-permute",
        "mesh_shard",       "mesh_partition",   "distributed_rms_norm", "collective-permute-start",
        "lxplan:AllGather", "lxplan:DevicePart"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0) return true;
    return false;
}

bool model_asks_for_number(const char *kind)
{
    return strcmp(kind, "partition-id") == 0 || strcmp(kind, "replica-id") == 0;
}

bool model_has_op(const struct lx_model *m, bool (*is)(const char *kind))
{
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++)
            if (is(m->bodies.at[b].ops[i].kind)) return true;
    return false;
}

bool model_device_group(const struct lx_model *m, const struct model_op *op, struct device_group *out)
{
    int64_t extent[MESH_MAX_AXES], axis = model_attr_int(&op->attrs, "cluster_axis", -1);
    int axes = model_mesh(m, extent);
    struct device_list l;
    if (model_attr_find(&op->attrs, "lxplan_stride")) {
        *out = (struct device_group){model_attr_int(&op->attrs, "lxplan_stride", 1),
                                     model_attr_int(&op->attrs, "lxplan_group", 1), 0};
        return true;
    }
    *out = (struct device_group){1, model_all_devices(m), 0};
    if (axes > 0 && axis >= axes) return false;
    if (axis >= 0 && axis < axes) {
        out->size = extent[axis];
        for (int a = axes - 1; a > axis; a--) out->stride *= extent[a];
        return true;
    }
    bool listed = model_device_list(op, "replica_groups", &l);
    if (!listed && l.group == 0) return true; /* no list: one group of all */
    if (!listed) return false;
    model_place_devices(m, &l);
    if (strncmp(op->kind, "all_reduce", 10) == 0 || strncmp(op->kind, "all-reduce", 10) == 0)
        for (int64_t i = 0; i + l.group <= l.count; i += l.group) /* all groups alike, in any order */
            qsort(l.id + i, (size_t)l.group, sizeof *l.id, order_i64);
    *out = (struct device_group){.size = l.group, .stride = 1, .devices = l.count};
    if (l.group > 1) out->stride = l.id[1] - l.id[0];
    bool steps = model_each_once(&l) && out->stride > 0;
    for (int64_t i = 0; steps && i < l.count; i++)
        steps = l.id[i] == l.id[i / l.group * l.group] + i % l.group * out->stride;
    return steps;
}

/* Strides at which a grid axis must begin or end; each divides the next. */
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

static void groups_add_axis(struct steps *s, int64_t stride, int64_t size)
{
    groups_add_step(s, stride);
    groups_add_step(s, stride * size);
}

static void groups_steps_of_sharding(const struct lx_model *m, const struct model_attrs *attrs,
                                     struct steps *s)
{
    struct device_group parts[MESH_MAX_AXES + 1];
    char room[SHARDING_ROOM];
    const char *text = model_sharding_text(attrs), *leaf;
    for (int i = 0; (leaf = model_leaf_sharding(text, i, room, sizeof room)); i++) {
        int n = model_sharding(m, leaf, parts);
        for (int d = 0; d < n; d++)
            if (parts[d].size > 1) groups_add_axis(s, parts[d].stride, parts[d].size);
        if (leaf == text) break; /* one sharding for all parts */
    }
}

/* The device that `device` sends to; -1: none. */
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

/* If no axis fits the pairs of devices, the row or ring from the first device becomes a new axis. */
static void groups_steps_of_pairs(const struct lx_model *m, const struct model_op *op, struct steps *s)
{
    int64_t extent[MESH_MAX_AXES], by, size = 1, stride = 0;
    int axes = groups_axes_of(s, extent), axis;
    bool open;
    struct device_list l;
    struct steps with = *s;
    if (axes < 0 || model_device_steps(m, op, extent, axes, &axis, &by, &open) ||
        !model_device_list(op, "source_target_pairs", &l) || l.group != 2)
        return;
    model_place_devices(m, &l);
    for (int64_t at = groups_follower(&l, 0); at > 0 && size < l.count; at = groups_follower(&l, at), size++)
        stride = stride == 0 || at < stride ? at : stride;
    if (size < 2) return;
    groups_add_axis(&with, stride, size);
    groups_add_step(&with, model_all_devices(m));
    if (!with.failed) *s = with;
}

int model_device_grid(const struct lx_model *m, int64_t extent[MESH_MAX_AXES])
{
    int axes = model_mesh(m, extent);
    struct steps s = {1, {1}, false};
    if (axes > 0) return axes;
    if (model_attr_int(&m->attrs, "num_partitions", 1) > 1 &&
        model_attr_int(&m->attrs, "replica_count", 1) > 1)
        return -1; /* the numbers mean partitions in some ops and replicas in others */
    for (size_t i = 0; i < m->values.count; i++) groups_steps_of_sharding(m, &m->values.at[i].attrs, &s);
    for (int pairs = 0; pairs < 2; pairs++) {
        for (size_t b = 0; b < m->bodies.count; b++)
            for (int i = 0; i < m->bodies.at[b].op_count; i++) {
                const struct model_op *op = &m->bodies.at[b].ops[i];
                bool permutes = strstr(op->kind, "permute") != NULL;
                struct device_group g;
                if (pairs && permutes) groups_steps_of_pairs(m, op, &s);
                if (pairs) continue;
                groups_steps_of_sharding(m, &op->attrs, &s);
                if (permutes || !model_is_collective(op->kind) || !model_device_group(m, op, &g)) continue;
                groups_add_axis(&s, g.stride, g.size);
                if (g.size > 1 && g.devices > 0) groups_add_step(&s, g.devices);
            }
        if (!pairs) groups_add_step(&s, model_all_devices(m));
    }
    return groups_axes_of(&s, extent);
}

bool model_group_axes(const int64_t *extent, int axes, struct device_group g, int *first, int *count)
{
    int64_t stride = 1, size = 1;
    int a = axes - 1;
    while (a >= 0 && stride < g.stride) stride *= extent[a--];
    int last = a;
    while (a >= 0 && size < g.size) size *= extent[a--];
    *first = a + 1;
    *count = last - a;
    return stride == g.stride && size == g.size;
}

/* ---- permutations ---- */

/* Do all pairs move by the same step along this axis and no other? */
static bool groups_all_along(const struct device_list *l, const int64_t *extent, int axes, int axis,
                             int64_t *by, bool *open)
{
    int64_t devices = 1, wraps = 0, n = l->count / 2;
    for (int a = 0; a < axes; a++) devices *= extent[a];
    for (int64_t i = 0; i < n; i++) {
        int64_t source = l->id[2 * i], target = l->id[2 * i + 1], way = 0;
        for (int a = axes - 1; a >= 0; a--) {
            int64_t step = target % extent[a] - source % extent[a];
            if (a == axis)
                way = step;
            else if (step != 0)
                return false;
            source /= extent[a];
            target /= extent[a];
        }
        if (source != 0 || target != 0) return false;
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
    unsigned char seen[LISTED_DEVICES] = {0};
    struct device_list l;
    if (!model_device_list(op, "source_target_pairs", &l) || l.group != 2) return false;
    model_place_devices(m, &l);
    for (int64_t i = 0; i < l.count; i += 2) /* no device sends twice */
        if (l.id[i] < 0 || l.id[i] >= LISTED_DEVICES || seen[l.id[i]]++) return false;
    for (*axis = 0; *axis < axes; ++*axis)
        if (extent[*axis] > 1 && groups_all_along(&l, extent, axes, *axis, by, open)) return true;
    return false;
}

/* ---- the order of a model's devices in its grid ---- */

/* Compilers number devices as the machine does, but list them in mesh order: `{devices=[2,2]0,1,3,2}`, groups
 * {{0,3},{1,2}}, a ring 0 1 3 2. A team's devices have no numbers: searches an order of devices, among at
 * most ORDERS, in which the file's lists follow axes of a grid. A program that asks for its device number, or
 * a file with a mesh, keeps the file's numbers. */

enum { ORDERS = 16, OF_A_SHARDING = 1, OF_AN_OP = 1 << 12, OF_THE_GRID = 1 << 24 };

struct orders {
    struct lx_model *m;
    int64_t devices;
    int axes; /* limit on axes */
    int count;
    int32_t *place[ORDERS];
};

/* Adds the order of the list unless it is known. */
static void order_add(struct orders *o, const struct device_list *l)
{
    if (o->count == ORDERS || l->count != o->devices || !model_each_once(l)) return;
    int32_t *place = arena_array(&o->m->memory, (size_t)o->devices, sizeof *place);
    for (int64_t i = 0; i < l->count; i++) place[l->id[i]] = (int32_t)i;
    for (int k = 0; k < o->count; k++)
        if (memcmp(o->place[k], place, (size_t)o->devices * sizeof *place) == 0) return;
    o->place[o->count++] = place;
}

static void order_add_sharding(struct orders *o, const struct model_attrs *attrs)
{
    const char *devices = model_sharding_text(attrs);
    struct device_list l;
    while (devices && (devices = strstr(devices, "devices=["))) {
        const char *close = strchr(devices, ']');
        if (close && model_parts_list(devices, close, o->devices, &l)) order_add(o, &l);
        devices++;
    }
}

/* Adds senders and receivers as rows: each begins with a device without a sender or, for a ring, with the
 * first. */
static void order_add_rows(struct orders *o, const struct device_list *pairs)
{
    struct device_list l = {.count = 0};
    int32_t *next = mem_zeroed((size_t)o->devices, 2 * sizeof *next), *before = next + o->devices;
    bool ok = pairs->group == 2;
    for (int64_t i = 0; ok && i + 1 < pairs->count; i += 2) { /* numbers plus one; 0: none */
        int64_t from = pairs->id[i], to = pairs->id[i + 1];
        ok = from >= 0 && to >= 0 && from < o->devices && to < o->devices && !next[from] && !before[to];
        if (ok) next[from] = (int32_t)to + 1, before[to] = (int32_t)from + 1;
    }
    for (int rings = 0; ok && rings < 2; rings++)
        for (int64_t d = 0; d < o->devices; d++)
            for (int64_t at = rings || !before[d] ? d : -1; at >= 0 && before[at] >= 0; at = next[at] - 1) {
                l.id[l.count++] = at;
                before[at] = -1;
            }
    if (ok) order_add(o, &l);
    mem_free(next);
}

static int64_t order_lost_sharding(const struct lx_model *m, const struct model_attrs *attrs)
{
    struct device_group parts[MESH_MAX_AXES + 1];
    char room[SHARDING_ROOM];
    const char *text = model_sharding_text(attrs), *leaf;
    int64_t lost = 0;
    for (int i = 0; text && (leaf = model_leaf_sharding(text, i, room, sizeof room)); i++) {
        if (strstr(leaf, "devices=[") && model_sharding(m, leaf, parts) < 0) lost += OF_A_SHARDING;
        if (leaf == text) break; /* one sharding for all parts */
    }
    return lost;
}

/* Counts groups and shardings that follow no axis of the grid. A lost op weighs more than a lost sharding. */
static int64_t order_lost_with(const struct orders *o, const int32_t *place)
{
    struct lx_model *m = o->m;
    int64_t extent[MESH_MAX_AXES], lost = 0, by;
    m->place = place;
    m->places = o->devices;
    int axes = model_device_grid(m, extent), axis;
    if (axes < 0 || axes > o->axes) return OF_THE_GRID;
    for (size_t i = 0; i < m->values.count; i++) lost += order_lost_sharding(m, &m->values.at[i].attrs);
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            const struct model_op *op = &m->bodies.at[b].ops[i];
            struct device_group g;
            bool open, pairs = model_attr_find(&op->attrs, "source_target_pairs") != NULL;
            lost += order_lost_sharding(m, &op->attrs);
            if (!model_is_collective(op->kind)) continue;
            bool kept = pairs ? model_device_steps(m, op, extent, axes, &axis, &by, &open)
                              : model_device_group(m, op, &g);
            lost += kept ? 0 : OF_AN_OP;
        }
    return lost;
}

void model_order_devices(struct lx_model *m, int axes)
{
    int64_t extent[MESH_MAX_AXES], least;
    struct orders o = {.m = m, .devices = model_all_devices(m), .axes = axes};
    const int32_t *best = NULL;
    struct device_list l;
    if (o.devices < 2 || o.devices > LISTED_DEVICES || model_mesh(m, extent) > 0 ||
        model_has_op(m, model_asks_for_number) || (least = order_lost_with(&o, NULL)) == 0)
        return;
    for (size_t i = 0; i < m->values.count; i++) order_add_sharding(&o, &m->values.at[i].attrs);
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            const struct model_op *op = &m->bodies.at[b].ops[i];
            order_add_sharding(&o, &op->attrs);
            if (!model_is_collective(op->kind)) continue;
            if (model_device_list(op, "source_target_pairs", &l))
                order_add_rows(&o, &l);
            else if (!model_attr_find(&op->attrs, "source_target_pairs") &&
                     model_device_list(op, "replica_groups", &l))
                order_add(&o, &l);
        }
    for (int i = 0; i < o.count; i++) {
        int64_t lost = order_lost_with(&o, o.place[i]);
        if (lost < least) least = lost, best = o.place[i];
    }
    m->place = best;
}
