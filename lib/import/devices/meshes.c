/* Sizes of groups of devices, from attributes as they stand. */
#include "import/devices/devices.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 1 << 20 };

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

/* `[2,4]<=[8]`: groups of the last extent; `{{0,1},{2,3}}`: as many as the first has. 0: all. */
static int64_t mesh_named_group(const char *text)
{
    const char *open = text ? strpbrk(text, "[{0123456789") : NULL, *close, *p;
    int64_t n = 0;
    if (!open) return 0;
    if (*open == '[') {
        close = strchr(open, ']');
        for (p = open; close && p < close; p++)
            if (p[0] == '[' || p[0] == ',') n = strtoll(p + 1, NULL, 10);
        return n > 0 && n <= MOST_DEVICES ? n : 0;
    }
    p = open + strspn(open, "{ ");
    for (close = p; *close && *close != '}'; close++) n += close == p || *close == ',';
    return n > MOST_DEVICES || *p == '}' || !*p ? 0 : n;
}

/* TTIR has them as a dense matrix: [groups, devices of each]. */
static int64_t mesh_dense_group(const struct model_attr *a)
{
    const struct model_type *t = a && a->form == ATTR_DATA ? a->data->type : NULL;
    return t && t->count == 2 && t->extent[1] > 0 && t->extent[1] <= MOST_DEVICES ? t->extent[1] : 0;
}

int64_t model_device_count(const struct lx_model *m)
{
    int64_t extent[MESH_MAX_AXES], n = 1, stated = model_attr_int(&m->attrs, "num_partitions", 0);
    int count = model_mesh(m, extent);
    if (stated > 0 && stated <= MOST_DEVICES) return stated;
    for (int i = 0; i < count && n <= MOST_DEVICES; i++) n *= extent[i];
    if (count) return n;
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++) {
            const char *text = model_attr_word(&m->bodies.at[b].ops[i].attrs, "replica_groups", NULL);
            int64_t size = text ? mesh_named_group(text) : 0;
            if (size > n) n = size;
        }
    return n;
}

int64_t model_group_size(const struct lx_model *m, const struct model_op *op)
{
    int64_t extent[MESH_MAX_AXES], axis = model_attr_int(&op->attrs, "cluster_axis", -1), n;
    int count = model_mesh(m, extent);
    if (model_attr_find(&op->attrs, "lxplan_group")) return model_attr_int(&op->attrs, "lxplan_group", 1);
    if (axis >= 0 && axis < count) return extent[axis];
    n = mesh_named_group(model_attr_word(&op->attrs, "replica_groups", NULL));
    if (n == 0) n = mesh_dense_group(model_attr_find(&op->attrs, "replica_groups"));
    return n > 0 ? n : model_device_count(m);
}
