/* Distinct slots and rows of numbers: open addressing, at most half full. */
#include "team/shard/shard_layers.h"

enum { WORDS = 2 + SHARD_BROUGHT, FIRST_ROOM = 64 };

static size_t shard_slots_start_of(const struct shard_index *x, const int32_t *row, size_t width)
{
    uint64_t h = HASH_START;
    for (size_t i = 0; i < width; i++)
        h = (h ^ (uint32_t)row[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 32;
    return (size_t)h & (x->room - 1);
}

static void shard_slots_grow(struct shard_index *x, const int32_t *rows, size_t count, size_t width)
{
    size_t room = x->room ? 4 * x->room : FIRST_ROOM;
    int32_t *table = mem_alloc(room * sizeof *table);
    mem_free(x->table);
    *x = (struct shard_index){table, room};
    shard_index_clear(x);
    for (size_t n = 0; n < count; n++) {
        size_t at = shard_slots_start_of(x, rows + n * width, width);
        while (table[at] >= 0) at = (at + 1) & (room - 1);
        table[at] = (int32_t)n;
    }
}

void shard_index_clear(struct shard_index *x)
{
    if (x->room) memset(x->table, 0xff, x->room * sizeof *x->table);
}

int32_t *shard_index_find(struct shard_index *x, const int32_t *rows, size_t count, size_t width,
                          const int32_t *row)
{
    if (2 * count >= x->room) shard_slots_grow(x, rows, count, width);
    size_t at = shard_slots_start_of(x, row, width);
    while (x->table[at] >= 0 && width > 0 &&
           memcmp(rows + (size_t)x->table[at] * width, row, width * sizeof *row) != 0)
        at = (at + 1) & (x->room - 1);
    return &x->table[at];
}

static int32_t shard_slots_word_of(struct shard_state s, bool flag)
{
    uint32_t word = flag;
    for (int a = 0; a < LX_TEAM_AXES; a++) word = word << 8 | (unsigned char)s.at[a];
    return (int32_t)word;
}

int32_t shard_slot_number(struct shard_slots *s, const struct slot *slot)
{
    int32_t row[WORDS] = {shard_slots_word_of(slot->made, slot->joined),
                          shard_slots_word_of(slot->state, slot->apart)};
    for (int b = 0; b < SHARD_BROUGHT; b++) row[2 + b] = (int32_t)slot->brought[b];
    int32_t *place = shard_index_find(&s->index, s->rows.at, s->all.count, WORDS, row);
    if (*place >= 0) return *place;
    for (int i = 0; i < WORDS; i++) VEC_PUSH(&s->rows, row[i]);
    VEC_PUSH(&s->all, *slot);
    return *place = (int32_t)s->all.count - 1;
}

void shard_slots_free(struct shard_slots *s)
{
    VEC_FREE(&s->all);
    VEC_FREE(&s->rows);
    mem_free(s->index.table);
}

void shard_layer_free(struct layer *l)
{
    if (!l->borrowed) {
        VEC_FREE(&l->all);
        VEC_FREE(&l->outcomes);
        VEC_FREE(&l->firsts);
        VEC_FREE(&l->joins);
    }
    VEC_FREE(&l->slots);
    mem_free(l->tensors);
    *l = (struct layer){0};
}

void shard_layer_keep(struct layer *l, const bool *goes)
{
    size_t live = (size_t)l->live, to = 0;
    for (size_t h = 0; h < l->all.count; h++) {
        if (!goes[h]) continue;
        l->all.at[to] = l->all.at[h];
        for (size_t k = 0; k < live; k++) l->slots.at[to * live + k] = l->slots.at[h * live + k];
        to++;
    }
    l->all.count = to;
    l->slots.count = to * live;
}
