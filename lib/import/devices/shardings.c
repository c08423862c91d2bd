/* Shardings as files write them: `{devices=[2,1,2]<=[4] last_tile_dim_replicate}`. */
#include "import/devices/devices.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

const char *model_sharding_text(const struct model_attrs *attrs)
{
    return model_attr_word(attrs, "sharding", model_attr_word(attrs, "mhlo.sharding", NULL));
}

/* Numbers that go on in steps along each dimension. */
static bool sharding_steps_of_parts(const struct device_list *l, const int64_t *parts, int n, int64_t *stride)
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

int model_sharding(const struct lx_model *m, const char *text, struct device_group parts[MESH_MAX_AXES + 1])
{
    const char *devices = text ? strstr(text, "devices=[") : NULL,
               *close = devices ? strchr(devices, ']') : NULL;
    int64_t size[MESH_MAX_AXES + 1], stride[MESH_MAX_AXES + 1], all = 1;
    if (!text || !*text) return -1;
    if (strstr(text, "replicated}") && !devices) return 0;
    bool copies =
        close && (strstr(close, "last_tile_dim_replicate") || strstr(close, "last_tile_dims={replicated}"));
    if (!close || (strstr(text, "last_tile_dims") && !copies)) return -1;
    int n = model_numbers_in(devices, close, size, MESH_MAX_AXES + 1);
    for (int d = 0; d < n; d++)
        if (size[d] < 1 || (all *= size[d]) > LISTED_DEVICES) return -1;
    struct device_list *l = mem_alloc(sizeof *l);
    bool ok = l && n > 0 && model_parts_list(devices, close, all, l);
    if (ok) model_place_devices(m, l);
    ok = ok && model_each_once(l) && sharding_steps_of_parts(l, size, n, stride);
    mem_free(l);
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
        {"devices=[", "no axes of the grid have these devices in this order"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(text, rows[i].word)) return rows[i].why;
    return "of a form that nobody knows";
}

/* The braces that close what opens here. */
static const char *sharding_end_of_braces(const char *open)
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
        const char *end = sharding_end_of_braces(at);
        if (!end || (size_t)(end - at) >= size) return NULL;
        if (leaf-- == 0) return memcpy(room, at, (size_t)(end - at)), room[end - at] = 0, room;
        at = end;
    }
    return NULL;
}
