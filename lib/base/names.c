/* Open addressing with linear probing over a power of two of slots, at most half full; nothing is ever
 * removed. */
#include "base/names.h"
#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

/* The slot of `key`, or the empty one where it would go. The table is never full. */
static uint32_t names_slot_of(const struct names *n, const char *key)
{
    uint64_t h = hash_bytes(HASH_START, key, strlen(key));
    uint32_t i = (uint32_t)(h ^ (h >> 32)) & (n->room - 1);
    while (n->key[i] && strcmp(n->key[i], key) != 0) i = (i + 1) & (n->room - 1);
    return i;
}

static void names_grow(struct names *n)
{
    struct names bigger = {.room = n->room ? n->room * 2 : 64};
    bigger.key = mem_zeroed(bigger.room, sizeof *bigger.key + sizeof *bigger.value);
    bigger.value = (int32_t *)(bigger.key + bigger.room);
    for (uint32_t i = 0; i < n->room; i++) {
        if (!n->key[i]) continue;
        uint32_t to = names_slot_of(&bigger, n->key[i]);
        bigger.key[to] = n->key[i];
        bigger.value[to] = n->value[i];
    }
    bigger.count = n->count;
    names_free(n);
    *n = bigger;
}

bool names_reserve(struct names *n, uint32_t more)
{
    while ((n->count + more) * 2 > n->room) names_grow(n);
    return true;
}

enum names_result names_add(struct names *n, const char *key, int32_t value)
{
    if (n->count * 2 >= n->room) names_grow(n);
    uint32_t i = names_slot_of(n, key);
    if (n->key[i]) return NAMES_KNOWN;
    n->key[i] = key;
    n->value[i] = value;
    n->count++;
    return NAMES_ADDED;
}

int32_t names_find(const struct names *n, const char *key)
{
    if (n->room == 0) return -1;
    uint32_t i = names_slot_of(n, key);
    return n->key[i] ? n->value[i] : -1;
}

void names_free(struct names *n)
{
    mem_free(n->key);
    *n = (struct names){0};
}
