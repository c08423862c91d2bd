/* Groups, permutations and shardings as files write them. At most LISTED devices are looked at one by one. */
#include "model/device_groups.h"

#include <stdlib.h>
#include <string.h>

enum { LISTED = 4096 };

struct id_list {
    int64_t count, group; /* all of them; of a group */
    int64_t id[LISTED];
};

/* Numbers between two places of a text. */
static int numbers_in(const char *from, const char *to, int64_t *out, int most)
{
    int n = 0;
    for (const char *p = from; p < to && n < most;) {
        char *end;
        long long v = strtoll(p, &end, 10);
        if (end == p) {
            p++;
            continue;
        }
        out[n++] = v;
        p = end;
    }
    return n;
}

/* `[2,4]<=[8]` or `[4,2]<=[2,4]T(1,0)`: numbers in order, seen in another order of their dimensions. */
static bool listed_by_shape(const char *text, struct id_list *l)
{
    const char *close = strchr(text, ']'), *from = close ? strstr(close, "<=[") : NULL,
               *end = from ? strchr(from, ']') : NULL;
    int64_t shape[MESH_MAX_AXES], of[MESH_MAX_AXES], order[MESH_MAX_AXES], stride[MESH_MAX_AXES], all = 1;
    if (!end) return false;
    int n = numbers_in(text, close, shape, MESH_MAX_AXES), k = numbers_in(from, end, of, MESH_MAX_AXES);
    for (int i = 0; i < k; i++) order[i] = i;
    if (end[1] == 'T' && numbers_in(end, strchr(end, ')') ? strchr(end, ')') : end, order, k) != k)
        return false;
    for (int i = k - 1; i >= 0; i--) {
        stride[i] = all;
        if (of[i] < 1 || of[i] > LISTED || (all *= of[i]) > LISTED) return false;
    }
    l->count = all;
    l->group = n > 0 ? shape[n - 1] : 0;
    for (int64_t i = 0; i < all; i++) {
        int64_t rest = i, id = 0;
        for (int d = k - 1; d >= 0; d--) {
            if (order[d] < 0 || order[d] >= k) return false;
            id += rest % of[order[d]] * stride[order[d]];
            rest /= of[order[d]];
        }
        l->id[i] = id;
    }
    return l->group > 0 && all % l->group == 0;
}

/* `{{0,1},{2,3}}`: all numbers; every group must have as many as the first. */
static bool listed_one_by_one(const char *text, struct id_list *l)
{
    l->count = l->group = 0;
    for (const char *open = text, *close; (close = strchr(open, '}')); open = close + 1) {
        int n = numbers_in(open, close, l->id + l->count, (int)(LISTED - l->count));
        if (l->count == 0) l->group = n;
        if (n > 0 && n != l->group) return false;
        l->count += n;
    }
    return l->group > 0;
}

/* Does the op name devices at all? Without numbers all are meant. */
static bool names_devices(const struct model_op *op, const char *key)
{
    const struct model_attr *a = model_attr_find(&op->attrs, key);
    if (a && a->form == ATTR_DATA) return a->data->type->elements > 0;
    const char *text = a ? model_attr_word(&op->attrs, key, NULL) : NULL;
    return text && strpbrk(text, "0123456789");
}

static bool listed(const struct model_op *op, const char *key, struct id_list *l)
{
    const struct model_attr *a = model_attr_find(&op->attrs, key);
    if (a && a->form == ATTR_DATA) {
        const struct model_type *t = a->data->type;
        if (t->count != 2 || t->elements < 1 || t->elements > LISTED) return false;
        l->count = t->elements;
        l->group = t->extent[1];
        for (int64_t i = 0; i < l->count; i++) l->id[i] = model_data_int(a->data, i);
        return true;
    }
    const char *text = a ? model_attr_word(&op->attrs, key, NULL) : NULL;
    text = text ? strpbrk(text, "[{") : NULL;
    if (!text) return false;
    return *text == '[' ? listed_by_shape(text, l) : listed_one_by_one(text, l);
}

/* Is every number below their count there once? */
static bool each_once(const struct id_list *l)
{
    unsigned char seen[LISTED] = {0};
    for (int64_t i = 0; i < l->count; i++)
        if (l->id[i] < 0 || l->id[i] >= l->count || seen[l->id[i]]++) return false;
    return true;
}

static bool in_steps(const struct id_list *l, struct device_group *out)
{
    out->size = l->group;
    out->stride = l->group > 1 ? l->id[1] - l->id[0] : 1;
    out->devices = l->count;
    if (!each_once(l)) return false;
    for (int64_t i = 0; i < l->count; i++)
        if (l->id[i] != l->id[i / l->group * l->group] + i % l->group * out->stride) return false;
    return out->stride > 0;
}

static int64_t devices_of(const struct lx_model *m)
{
    int64_t n = model_device_count(m), replicas = model_attr_int(&m->attrs, "replica_count", 1);
    return replicas > n && replicas <= LISTED ? replicas : n;
}

bool model_device_group(const struct lx_model *m, const struct model_op *op, struct device_group *out)
{
    int64_t extent[MESH_MAX_AXES], axis = model_attr_int(&op->attrs, "cluster_axis", -1);
    int axes = model_mesh(m, extent);
    struct id_list *l;
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
    *out = (struct device_group){1, devices_of(m), 0};
    if (!names_devices(op, "replica_groups")) return true;
    l = malloc(sizeof *l);
    bool ok = l && listed(op, "replica_groups", l) && in_steps(l, out);
    free(l);
    return ok;
}

/* Devices in the order of the parts: `<=[2,2]T(1,0)`, or one by one. */
static bool listed_parts(const char *text, const char *close, int64_t all, struct id_list *l)
{
    if (strncmp(close, "]<=[", 4) == 0) return listed_by_shape(text, l) && l->count == all;
    const char *end = close + 1 + strspn(close + 1, "0123456789,");
    l->count = numbers_in(close + 1, end, l->id, LISTED);
    return l->count == all;
}

/* Numbers that go on in steps along each dimension. */
static bool steps_of_parts(const struct id_list *l, const int64_t *parts, int n, int64_t *stride)
{
    int64_t behind = 1;
    for (int d = n - 1; d >= 0; behind *= parts[d--]) stride[d] = parts[d] > 1 ? l->id[behind] - l->id[0] : 1;
    for (int64_t i = 0; i < l->count; i++) {
        int64_t rest = i, id = l->id[0];
        for (int d = n - 1; d >= 0; rest /= parts[d--]) id += rest % parts[d] * stride[d];
        if (id != l->id[i]) return false;
    }
    return true;
}

int model_sharding(const char *text, struct device_group parts[MESH_MAX_AXES + 1])
{
    const char *devices = text ? strstr(text, "devices=[") : NULL,
               *close = devices ? strchr(devices, ']') : NULL;
    int64_t size[MESH_MAX_AXES + 1], stride[MESH_MAX_AXES + 1], all = 1;
    if (!text || !*text) return -1;
    if (strstr(text, "replicated}") && !devices) return 0;
    bool copies =
        close && (strstr(close, "last_tile_dim_replicate") || strstr(close, "last_tile_dims={replicated}"));
    if (!close || (strstr(text, "last_tile_dims") && !copies)) return -1;
    int n = numbers_in(devices, close, size, MESH_MAX_AXES + 1);
    for (int d = 0; d < n; d++)
        if (size[d] < 1 || (all *= size[d]) > LISTED) return -1;
    struct id_list *l = malloc(sizeof *l);
    bool ok = l && n > 0 && listed_parts(devices, close, all, l) && steps_of_parts(l, size, n, stride);
    free(l);
    for (int d = 0; ok && d < n; d++) {
        ok = stride[d] > 0;
        parts[d] = (struct device_group){stride[d], size[d], 0};
    }
    return !ok ? -1 : copies ? n - 1 : n;
}

const char *model_sharding_lost(const char *text)
{
    static const struct {
        const char *word, *why;
    } rows[] = {
        {"maximal", "all of it on one device: a team has no such state"},
        {"manual", "manual: the program itself says which device has what"},
        {"devices=[", "devices in an order that no axes of the grid have"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(text, rows[i].word)) return rows[i].why;
    return "of a form that nobody knows";
}

/* The braces that close what opens here. */
static const char *end_of_braces(const char *open)
{
    int depth = 0;
    for (const char *c = open; *c; c++) {
        depth += (*c == '{') - (*c == '}');
        if (depth == 0) return c + 1;
    }
    return NULL;
}

const char *model_leaf_sharding(const char *text, int leaf, char *room, size_t size)
{
    const char *at = text ? strchr(text, '{') : NULL;
    if (!at || at[1 + strspn(at + 1, " ")] != '{') return text;
    for (at = strchr(at + 1, '{'); at; at = strchr(at, '{')) {
        const char *end = end_of_braces(at);
        if (!end || (size_t)(end - at) >= size) return NULL;
        if (leaf-- == 0) return memcpy(room, at, (size_t)(end - at)), room[end - at] = 0, room;
        at = end;
    }
    return NULL;
}

/* Sizes of steps that an axis must begin or end with; each must divide the next. */
struct steps {
    int count;
    int64_t at[2 * MESH_MAX_AXES];
    bool failed;
};

static void add_step(struct steps *s, int64_t step)
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

static bool is_one_of(const char *kind, const char *const *kinds)
{
    for (; *kinds; kinds++)
        if (strcmp(kind, *kinds) == 0) return true;
    return false;
}

static bool is_collective(const char *kind)
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
                                        NULL};
    return is_one_of(kind, kinds);
}

static void steps_of_sharding(const struct model_attrs *attrs, struct steps *s)
{
    struct device_group parts[MESH_MAX_AXES + 1];
    int n = model_sharding(model_attr_word(attrs, "sharding", NULL), parts);
    for (int d = 0; d < n; d++) {
        if (parts[d].size == 1) continue;
        add_step(s, parts[d].stride);
        add_step(s, parts[d].stride * parts[d].size);
    }
}

int model_device_grid(const struct lx_model *m, int64_t extent[MESH_MAX_AXES])
{
    int axes = model_mesh(m, extent);
    struct steps s = {1, {1}, false};
    if (axes > 0) return axes;
    if (model_attr_int(&m->attrs, "num_partitions", 1) > 1 &&
        model_attr_int(&m->attrs, "replica_count", 1) > 1)
        return -1; /* numbers are of partitions in some ops and of replicas in others */
    for (size_t i = 0; i < m->values.count; i++) steps_of_sharding(&m->values.at[i].attrs, &s);
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            const struct model_op *op = &m->bodies.at[b].ops[i];
            struct device_group g;
            steps_of_sharding(&op->attrs, &s);
            if (!is_collective(op->kind) || strstr(op->kind, "permute") || !model_device_group(m, op, &g))
                continue;
            add_step(&s, g.stride);
            add_step(&s, g.stride * g.size);
            if (g.size > 1 && g.devices > 0) add_step(&s, g.devices);
        }
    add_step(&s, devices_of(m));
    if (s.failed || s.count > MESH_MAX_AXES) return -1;
    for (int i = s.count - 1; i > 0; i--) extent[axes++] = s.at[i] / s.at[i - 1];
    return axes;
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
static bool sources_differ(const struct id_list *l)
{
    unsigned char seen[LISTED] = {0};
    for (int64_t i = 0; i < l->count; i += 2)
        if (l->id[i] < 0 || l->id[i] >= LISTED || seen[l->id[i]]++) return false;
    return true;
}

/* The way from a source to a target along one axis; false: it is along others, too. */
static bool way_along(const int64_t *extent, int axes, int axis, int64_t source, int64_t target, int64_t *by)
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

static bool all_along(const struct id_list *l, const int64_t *extent, int axes, int axis, int64_t *by,
                      bool *open)
{
    int64_t devices = 1, wraps = 0, n = l->count / 2;
    for (int a = 0; a < axes; a++) devices *= extent[a];
    for (int64_t i = 0; i < n; i++) {
        int64_t way;
        if (!way_along(extent, axes, axis, l->id[2 * i], l->id[2 * i + 1], &way)) return false;
        wraps += way < 0;
        way = (way + extent[axis]) % extent[axis];
        if (i > 0 && way != *by) return false;
        *by = way;
    }
    *open = n > 0 && wraps == 0 && *by > 0 && n == devices / extent[axis] * (extent[axis] - *by);
    return n == devices || *open;
}

bool model_device_steps(const struct model_op *op, const int64_t *extent, int axes, int *axis, int64_t *by,
                        bool *open)
{
    struct id_list *l = malloc(sizeof *l);
    bool ok = l && listed(op, "source_target_pairs", l) && l->group == 2 && sources_differ(l), found = false;
    for (int a = 0; ok && !found && a < axes; a++)
        if (extent[a] > 1 && all_along(l, extent, axes, a, by, open)) {
            *axis = a;
            found = true;
        }
    free(l);
    return found;
}
