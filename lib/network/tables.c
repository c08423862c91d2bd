/* Tables of a network, and their classes. */
#include "network/network.h"

#include <string.h>

int32_t net_classes(const void *rows, size_t width, int32_t count, int32_t *class_of)
{
    const unsigned char *row = rows;
    int32_t found = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t like = 0;
        while (like < i && memcmp(row + (size_t)like * width, row + (size_t)i * width, width) != 0) like++;
        class_of[i] = like < i ? class_of[like] : found++;
    }
    return found;
}

struct net_table net_table_make(struct arena *memory, const struct net_axis *axes, int32_t count)
{
    struct net_table t = {.axis_count = count, .last = -1, .count = 1};
    t.axes = arena_array(memory, (size_t)count, sizeof *t.axes);
    for (int32_t k = 0; k < count; k++) {
        int32_t at = k;
        for (; at > 0 && t.axes[at - 1].var > axes[k].var; at--) t.axes[at] = t.axes[at - 1];
        t.axes[at] = axes[k];
        t.count *= axes[k].size;
    }
    if (count) t.last = t.axes[count - 1].var;
    t.values = arena_array(memory, (size_t)t.count, sizeof *t.values);
    return t;
}

int64_t net_cost(const struct network *n, const int32_t *values)
{
    int64_t cost = n->base;
    for (size_t i = 0; i < n->tables.count && cost < NETWORK_HOPELESS; i++) {
        const struct net_table *t = &n->tables.at[i];
        int64_t at = 0;
        for (int32_t k = 0; k < t->axis_count; k++)
            at = at * t->axes[k].size + t->axes[k].class_of[values[t->axes[k].var]];
        cost = t->values[at] >= NETWORK_HOPELESS ? NETWORK_NEVER : cost + t->values[at];
    }
    return cost;
}

void network_free(struct network *n)
{
    VEC_FREE(&n->tables);
    VEC_FREE(&n->handovers);
    arena_free(&n->memory);
}
