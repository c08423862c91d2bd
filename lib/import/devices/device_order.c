/* The order of a model's devices in its grid.
 *
 * Compilers number devices as the machine does, and list them as their mesh has them:
 * `{devices=[2,2]0,1,3,2}`, groups {{0,3},{1,2}}, a ring 0 1 3 2. Devices of a team have no numbers of their
 * own, so that any order does: one is searched in which the lists of the file are along axes of a grid. Lists
 * that come first count first; at most ORDERS are tried. A program that asks for its own number computes with
 * it, and keeps the numbers of the file; so does a mesh that is stated. */
#include "import/devices/devices.h"
#include "base/memory.h"

#include <string.h>

enum { ORDERS = 16, OF_A_SHARDING = 1, OF_AN_OP = 1 << 12, OF_THE_GRID = 1 << 24 };

struct orders {
    struct lx_model *m;
    int64_t devices;
    int axes; /* at most */
    int count;
    int32_t *place[ORDERS];
};

bool model_asks_for_number(const struct lx_model *m)
{
    for (size_t b = 0; b < m->bodies.count; b++)
        for (int i = 0; i < m->bodies.at[b].op_count; i++)
            if (strcmp(m->bodies.at[b].ops[i].kind, "partition-id") == 0 ||
                strcmp(m->bodies.at[b].ops[i].kind, "replica-id") == 0)
                return true;
    return false;
}

/* The devices in that order, unless it is known. */
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

/* Who sends to whom, as rows: each begins with one to which nobody sends, or, round a ring, with the first of
 * the numbers. */
static void order_add_rows(struct orders *o, const struct device_list *pairs)
{
    struct device_list l = {.count = 0};
    int32_t *next = mem_zeroed((size_t)o->devices, 2 * sizeof *next), *before = next + o->devices;
    bool ok = pairs->group == 2;
    for (int64_t i = 0; ok && i + 1 < pairs->count; i += 2) { /* each number one more, 0: nobody */
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
        if (leaf == text) break; /* one for all */
    }
    return lost;
}

/* What is along no axes: ops that cannot be done then weigh more than shardings that are not kept. */
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
        model_asks_for_number(m) || (least = order_lost_with(&o, NULL)) == 0)
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
