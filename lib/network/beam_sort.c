/* Keys in order: they are many, and in runs that are mostly in order already. Many are dealt out by the
 * leading digit of their ranks first; runs are merged. */
#include "network/beam.h"
#include "base/checked.h"

#include <string.h>

enum { SHORT_RUN = 12, MANY = 512, DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS };

struct sorting {
    beam_key_before before;
    const void *context;
    struct beam_key *room;
};

static bool key_before(const struct sorting *s, const struct beam_key *a, const struct beam_key *b)
{
    if (a->rank != b->rank) return a->rank < b->rank;
    if (a->tie != b->tie) return a->tie < b->tie;
    return s->before(s->context, a->at, b->at);
}

static void key_insert_sort(const struct sorting *s, struct beam_key *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct beam_key moving = keys[i];
        size_t k = i;
        for (; k > 0 && key_before(s, &moving, &keys[k - 1]); k--) keys[k] = keys[k - 1];
        keys[k] = moving;
    }
}

/* Two runs in order, one behind the other. */
static void key_merge(const struct sorting *s, struct beam_key *keys, size_t middle, size_t count)
{
    if (middle >= count || !key_before(s, &keys[middle], &keys[middle - 1])) return;
    size_t a = 0, b = middle, to = 0;
    memcpy(s->room, keys, middle * sizeof *keys);
    while (a < middle && b < count)
        keys[to++] = key_before(s, &keys[b], &s->room[a]) ? keys[b++] : s->room[a++];
    memcpy(&keys[to], &s->room[a], (middle - a) * sizeof *keys);
}

static void key_merge_sort(const struct sorting *s, struct beam_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i += SHORT_RUN)
        key_insert_sort(s, &keys[i], count - i < SHORT_RUN ? count - i : SHORT_RUN);
    for (size_t run = SHORT_RUN; run < count; run *= 2)
        for (size_t i = 0; i + run < count; i += 2 * run)
            key_merge(s, &keys[i], run, count - i < 2 * run ? count - i : 2 * run);
}

static size_t key_digit(const struct beam_key *k, int64_t least, int shift)
{
    return (size_t)(((uint64_t)k->rank - (uint64_t)least) >> shift);
}

/* Where each digit ends, and the number of bits behind it. */
static void key_count_digits(const struct beam_key *keys, size_t count, size_t *end, int64_t *least,
                             int *shift)
{
    int64_t most = *least = keys[0].rank;
    for (size_t i = 1; i < count; i++) {
        *least = min_i64(*least, keys[i].rank);
        most = max_i64(most, keys[i].rank);
    }
    for (*shift = 0; ((uint64_t)most - (uint64_t)*least) >> *shift >= DIGITS;) ++*shift;
    memset(end, 0, DIGITS * sizeof *end);
    for (size_t i = 0; i < count; i++) end[key_digit(&keys[i], *least, *shift)]++;
    for (size_t d = 1; d < DIGITS; d++) end[d] += end[d - 1];
}

void beam_sort(struct beam_key *keys, size_t count, struct beam_key *room, beam_key_before before,
               const void *context)
{
    const struct sorting s = {before, context, room};
    size_t at[DIGITS], begin = 0;
    int64_t least;
    int shift;
    if (count < MANY) {
        key_merge_sort(&s, keys, count);
        return;
    }
    key_count_digits(keys, count, at, &least, &shift);
    memcpy(room, keys, count * sizeof *room);
    for (size_t i = count; i-- > 0;) keys[--at[key_digit(&room[i], least, shift)]] = room[i];
    for (size_t d = 0; d < DIGITS; d++) { /* by now `at` has where each digit begins */
        size_t end = d + 1 < DIGITS ? at[d + 1] : count;
        key_merge_sort(&s, &keys[begin], end - begin);
        begin = end;
    }
}
