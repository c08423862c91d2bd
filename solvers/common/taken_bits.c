/* Maps of taken sticks: see taken_bits.h. */
#include "common/taken_bits.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Sticks of the largest map; ranges from which on it may pay; words of the map that one of them makes up
 * for. */
enum { MOST_STICKS = 1 << 17, LEAST_RANGES = 24, WORDS_PER_RANGE = 12, WORD = 64 };

void taken_bits_init(struct taken_bits *m, const struct lx_problem *p, int64_t capacity)
{
    int64_t unit = p->alignment;
    *m = (struct taken_bits){0};
    if (p->pool_count || p->objective == LX_HEIGHT || unit <= 0 || (unit & (unit - 1)) != 0 ||
        capacity <= 0 || capacity / unit >= MOST_STICKS)
        return;
    /* Does every address that a buffer may have begin a stick of `unit` bytes? */
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (b->alignment % unit != 0 || (b->fixed >= 0 && b->fixed % unit != 0)) return;
    }
    taken_bits_of_units(m, capacity / unit);
    while ((int64_t)1 << m->shift < unit) m->shift++;
}

void taken_bits_of_units(struct taken_bits *m, int64_t units)
{
    *m = (struct taken_bits){0};
    if (units <= 0 || units >= MOST_STICKS) return;
    m->words = (size_t)units / WORD + 2;
    m->bits = mem_alloc(m->words * sizeof *m->bits);
}

void taken_bits_free(struct taken_bits *m)
{
    mem_free(m->bits);
}

/* Bits from..to - 1, at least one. */
static void taken_bits_mark(uint64_t *bits, size_t from, size_t to)
{
    size_t first = from / WORD, last = (to - 1) / WORD;
    uint64_t low = ~UINT64_C(0) << from % WORD, high = ~UINT64_C(0) >> (WORD - 1 - (to - 1) % WORD);
    if (first == last) {
        bits[first] |= low & high;
        return;
    }
    bits[first] |= low;
    for (size_t w = first + 1; w < last; w++) bits[w] = ~UINT64_C(0);
    bits[last] |= high;
}

/* The first stick from `at` on that is taken, or free; the end of the map, whose last word is free: none. */
static size_t next_stick(const struct taken_bits *m, size_t at, bool taken)
{
    uint64_t flip = taken ? 0 : ~UINT64_C(0);
    size_t w = at / WORD;
    uint64_t word = (m->bits[w] ^ flip) & ~UINT64_C(0) << at % WORD;
    while (!word && ++w < m->words) word = m->bits[w] ^ flip;
    return word ? w * WORD + (size_t)__builtin_ctzll(word) : m->words * WORD;
}

size_t taken_join(struct taken_bits *m, struct byte_range *at, size_t count)
{
    size_t joined = 0, end = m ? m->words * WORD : 0;
    if (end == 0 || count < LEAST_RANGES || count * WORDS_PER_RANGE < m->words) {
        range_sort(at, count);
        return count;
    }
    int64_t unit = (int64_t)1 << m->shift;
    memset(m->bits, 0, m->words * sizeof *m->bits);
    for (size_t i = 0; i < count; i++)
        if (at[i].from < at[i].to)
            taken_bits_mark(m->bits, (size_t)(at[i].from >> m->shift),
                            (size_t)((at[i].to + unit - 1) >> m->shift));
    for (size_t from = next_stick(m, 0, true), to; from < end; from = next_stick(m, to, true)) {
        to = next_stick(m, from, false);
        at[joined++] = (struct byte_range){(int64_t)from << m->shift, (int64_t)to << m->shift};
    }
    return joined;
}
