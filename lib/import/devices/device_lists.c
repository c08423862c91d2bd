/* Reads devices from attributes: meshes, lists `{{0,1},{2,3}}`, `[2,4]<=[8]T(1,0)` or dense numbers, and
 * shardings `{devices=[2,1,2]<=[4] last_tile_dim_replicate}`. At most LISTED_DEVICES are listed. */
#include "import/devices/devices.h"

enum { MOST_DEVICES = 1 << 20 };

/* ---- meshes ---- */

int model_mesh(const struct lx_model *m, int64_t *extent)
{
    const char *text = model_attr_word(&m->attrs, "ttcore.meshes", NULL);
    const char *p = text ? strchr(text, '=') : NULL;
    int count = 0;
    while (p && *p && count < MESH_MAX_AXES) {
        char *end;
        long n = strtol(p + 1, &end, 10);
        if (end == p + 1 || n < 1 || n > MOST_DEVICES) break;
        extent[count++] = n;
        p = *end == 'x' ? end : NULL;
    }
    return count;
}

int64_t model_mesh_place(const struct lx_model *m, int axis, int64_t device)
{
    int64_t extent[MESH_MAX_AXES];
    int count = model_mesh(m, extent);
    for (int i = count - 1; i > axis; i--) device /= extent[i];
    return axis >= 0 && axis < count ? device % extent[axis] : 0;
}

int64_t model_device_count(const struct lx_model *m)
{
    int64_t extent[MESH_MAX_AXES], n = 1, stated = model_attr_int(&m->attrs, "num_partitions", 0);
    int count = model_mesh(m, extent);
    struct device_list l;
    if (stated > 0 && stated <= MOST_DEVICES) return stated;
    for (int i = 0; i < count && n <= MOST_DEVICES; i++) n *= extent[i];
    for (size_t b = 0; count == 0 && b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            model_device_list(&m->bodies.at[b].ops[i], "replica_groups", &l);
            if (l.group > n && l.group <= MOST_DEVICES) n = l.group;
        }
    return n;
}

int64_t model_group_size(const struct lx_model *m, const struct model_op *op)
{
    int64_t extent[MESH_MAX_AXES], axis = model_attr_int(&op->attrs, "cluster_axis", -1);
    int count = model_mesh(m, extent);
    struct device_list l;
    if (model_attr_find(&op->attrs, "lxplan_group")) return model_attr_int(&op->attrs, "lxplan_group", 1);
    if (axis >= 0 && axis < count) return extent[axis];
    model_device_list(op, "replica_groups", &l);
    return l.group > 0 && l.group <= MOST_DEVICES ? l.group : model_device_count(m);
}

/* ---- lists ---- */

/* Reads at most `most` numbers between two places of a text; returns how many. */
static int lists_numbers(const char *from, const char *to, int64_t *out, int64_t most)
{
    int n = 0;
    while (from < to && n < most) {
        char *end;
        long long v = strtoll(from, &end, 10);
        if (end > from) out[n++] = v;
        from = end > from ? end : from + 1;
    }
    return n;
}

/* `[2,4]<=[8]` or `[4,2]<=[2,4]T(1,0)`: the numbers 0, 1, ... with their dimensions permuted. */
static bool lists_by_shape(const char *text, struct device_list *l)
{
    const char *close = strchr(text, ']'), *from = close ? strstr(close, "<=[") : NULL,
               *end = from ? strchr(from, ']') : NULL, *last = end ? strchr(end, ')') : NULL;
    int64_t shape[MESH_MAX_AXES], of[MESH_MAX_AXES], order[MESH_MAX_AXES], stride[MESH_MAX_AXES], all = 1;
    int n = close ? lists_numbers(text, close, shape, MESH_MAX_AXES) : 0;
    l->group = n > 0 ? shape[n - 1] : 0;
    if (!end || l->group < 1) return false;
    int k = lists_numbers(from, end, of, MESH_MAX_AXES);
    for (int i = 0; i < k; i++) order[i] = i;
    if (end[1] == 'T' && lists_numbers(end, last ? last : end, order, k) != k) return false;
    for (int i = k - 1; i >= 0; i--) {
        stride[i] = all;
        if (order[i] < 0 || order[i] >= k || of[i] < 1 || of[i] > LISTED_DEVICES ||
            (all *= of[i]) > LISTED_DEVICES)
            return false;
    }
    l->count = all;
    for (int64_t i = 0; i < all; i++) {
        int64_t rest = i;
        l->id[i] = 0;
        for (int d = k - 1; d >= 0; rest /= of[order[d--]])
            l->id[i] += rest % of[order[d]] * stride[order[d]];
    }
    return all % l->group == 0;
}

bool model_device_list(const struct model_op *op, const char *key, struct device_list *l)
{
    const struct model_attr *a = model_attr_find(&op->attrs, key);
    const struct model_type *t = a && a->form == ATTR_DATA ? a->data->type : NULL;
    const char *text = a && a->text ? strpbrk(a->text, "[{") : NULL;
    l->count = l->group = 0;
    if (t) { /* a matrix: groups by devices per group */
        l->group = t->elements > 0 ? -1 : 0;
        if (t->count != 2 || t->elements < 1 || t->elements > LISTED_DEVICES) return false;
        l->count = t->elements;
        l->group = t->extent[1];
        for (int64_t i = 0; i < l->count; i++) l->id[i] = model_data_int(a->data, i);
        return true;
    }
    if (text && *text == '[') return lists_by_shape(text, l);
    bool alike = true;
    for (const char *open = text, *close; open && alike && (close = strchr(open, '}')); open = close + 1) {
        int n = lists_numbers(open, close, l->id + l->count, LISTED_DEVICES - l->count);
        if (l->count == 0) l->group = n;
        alike = n == 0 || n == l->group;
        l->count += n;
    }
    return alike && l->group > 0;
}

bool model_parts_list(const char *open, const char *close, int64_t all, struct device_list *l)
{
    if (strncmp(close, "]<=[", 4) == 0) return lists_by_shape(open, l) && l->count == all;
    const char *end = close + 1 + strspn(close + 1, "0123456789,");
    l->count = lists_numbers(close + 1, end, l->id, LISTED_DEVICES);
    return l->count == all;
}

bool model_each_once(const struct device_list *l)
{
    unsigned char seen[LISTED_DEVICES] = {0};
    for (int64_t i = 0; i < l->count; i++)
        if (l->id[i] < 0 || l->id[i] >= l->count || seen[l->id[i]]++) return false;
    return true;
}

void model_place_devices(const struct lx_model *m, struct device_list *l)
{
    for (int64_t i = 0; m->place && i < l->count; i++)
        if (l->id[i] >= 0 && l->id[i] < m->places) l->id[i] = m->place[l->id[i]];
}

/* ---- shardings ---- */

const char *model_sharding_text(const struct model_attrs *attrs)
{
    return model_attr_word(attrs, "sharding", model_attr_word(attrs, "mhlo.sharding", NULL));
}

int model_sharding(const struct lx_model *m, const char *text, struct device_group parts[MESH_MAX_AXES + 1])
{
    const char *devices = text ? strstr(text, "devices=[") : NULL,
               *close = devices ? strchr(devices, ']') : NULL;
    int64_t size[MESH_MAX_AXES + 1], all = 1, behind = 1;
    struct device_list l;
    if (!text || !*text) return -1;
    if (strstr(text, "replicated}") && !devices) return 0;
    bool copies =
        close && (strstr(close, "last_tile_dim_replicate") || strstr(close, "last_tile_dims={replicated}"));
    if (!close || (strstr(text, "last_tile_dims") && !copies)) return -1;
    int n = lists_numbers(devices, close, size, MESH_MAX_AXES + 1);
    for (int d = 0; d < n; d++)
        if (size[d] < 1 || (all *= size[d]) > LISTED_DEVICES) return -1;
    if (n < 1 || !model_parts_list(devices, close, all, &l)) return -1;
    model_place_devices(m, &l);
    if (!model_each_once(&l)) return -1;
    for (int d = n - 1; d >= 0; behind *= size[d--]) { /* equal steps along each dimension */
        parts[d] = (struct device_group){size[d] > 1 ? l.id[behind] - l.id[0] : 1, size[d], 0};
        if (parts[d].stride < 1) return -1;
    }
    for (int64_t i = 0; i < l.count; i++) {
        int64_t rest = i, id = l.id[0];
        for (int d = n - 1; d >= 0; rest /= size[d--]) id += rest % size[d] * parts[d].stride;
        if (id != l.id[i]) return -1;
    }
    return copies ? n - 1 : n;
}

const char *model_sharding_lost(const char *text)
{
    static const struct {
        const char *word, *why;
    } rows[] = {
        {"maximal", "all of it on one device: a team has no such state"},
        {"manual", "manual: the program itself says which device has what"},
        {"devices=[", "no axes of the grid have these devices in this order"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(text, rows[i].word)) return rows[i].why;
    return "of a form that nobody knows";
}

const char *model_leaf_sharding(const char *text, int leaf, char *room, size_t size)
{
    const char *at = text ? strchr(text, '{') : NULL, *end;
    if (!at || at[1 + strspn(at + 1, " ")] != '{') return text;
    for (at = strchr(at + 1, '{'); at; at = strchr(end, '{')) {
        int depth = 0;
        for (end = at; *end && (depth += (*end == '{') - (*end == '}')) > 0;) end++;
        end += *end == '}';
        if (depth || (size_t)(end - at) >= size) return NULL;
        if (leaf-- == 0) return memcpy(room, at, (size_t)(end - at)), room[end - at] = 0, room;
    }
    return NULL;
}
