/* Layers of partial choices: in which order they stand, and which of them are the same. A table of hashes finds those
 * that hold the same in one walk over the layer. */
#include "search/keep_layers.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/stop.h"

#include <stdlib.h>

enum { EACH_NODE = 50, EACH_HELD = 2 }; /* work of base/stop.h */

static int by_promise(const void *a, const void *b)
{
    const struct keep_node *x = a, *y = b;
    if (x->least != y->least) return x->least < y->least ? -1 : 1;
    if (x->cost != y->cost) return x->cost > y->cost ? -1 : 1; /* more of it is sure */
    if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

void keep_sort_by_promise(struct keep_list *l)
{
    if (l->nodes.count) sort_in_full(l->nodes.at, l->nodes.count, sizeof *l->nodes.at, by_promise);
}

/* The same ops done and the same things held? */
static int compare_held(const struct keep_list *of, const struct keep_node *x, const struct keep_node *y)
{
    if (x->done != y->done) return x->done < y->done ? -1 : 1;
    if (x->count != y->count) return x->count < y->count ? -1 : 1;
    for (uint32_t k = 0; k < x->count; k++) {
        const struct keep_held *a = &of->pool.at[x->at + k], *b = &of->pool.at[y->at + k];
        if (a->tensor != b->tensor) return a->tensor < b->tensor ? -1 : 1;
        if (a->state != b->state) return a->state < b->state ? -1 : 1;
    }
    return 0;
}

static uint64_t keep_layers_hash_of(const struct keep_list *of, const struct keep_node *n)
{
    uint64_t h = n->done * 0x9e3779b97f4a7c15u;
    for (uint32_t k = 0; k < n->count; k++) {
        const struct keep_held *x = &of->pool.at[n->at + k];
        h = (h ^ ((uint64_t)x->tensor * 4 + (uint64_t)x->state)) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return h;
}

bool keep_merge_same(struct keep_list *l, bool *merged)
{
    size_t room = 16, kept = 0;
    while (room < 2 * l->nodes.count) room *= 2;
    uint32_t *table = mem_zeroed(room, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < l->nodes.count; i++) {
        const struct keep_node *n = &l->nodes.at[i];
        stop_look(EACH_NODE + EACH_HELD * (int64_t)n->count);
        size_t slot = (size_t)keep_layers_hash_of(l, n) & (room - 1);
        while (table[slot] && compare_held(l, &l->nodes.at[table[slot] - 1], n) != 0)
            slot = (slot + 1) & (room - 1);
        if (!table[slot]) {
            l->nodes.at[kept++] = *n;
            table[slot] = (uint32_t)kept;
        } else if (n->cost < l->nodes.at[table[slot] - 1].cost)
            l->nodes.at[table[slot] - 1] = *n;
    }
    *merged |= kept < l->nodes.count;
    l->nodes.count = kept;
    mem_free(table);
    return true;
}
