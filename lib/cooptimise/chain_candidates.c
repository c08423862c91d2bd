/* Candidates in order. They are large and many: keys of them are merged, in runs that are mostly in order already, and then each is
 * moved once. */
#include "cooptimise/chain_candidates.h"
#include "base/stop.h"

#include <string.h>

enum { EACH_KEY = 10 }; /* work of base/stop.h */

bool chain_before(const struct chain_candidate *a, const struct chain_candidate *b)
{
    if (a->then.rank != b->then.rank) return a->then.rank < b->then.rank;
    if (a->then.tie != b->then.tie) return a->then.tie < b->then.tie;
    if (a->then.load != b->then.load) return a->then.load < b->then.load;
    if (a->then.time != b->then.time) return a->then.time < b->then.time;
    if (a->then.cost != b->then.cost) return a->then.cost > b->then.cost; /* less of it is hope */
    if (a->from != b->from) return a->from < b->from;
    if (a->choice != b->choice) return a->choice < b->choice;
    return a->nexts < b->nexts;
}

static bool key_before(const struct chain_candidate *list, const struct chain_key *a,
                       const struct chain_key *b)
{
    if (a->rank != b->rank) return a->rank < b->rank;
    if (a->tie != b->tie) return a->tie < b->tie;
    return chain_before(&list[a->at], &list[b->at]);
}

static void insert_keys(const struct chain_candidate *list, struct chain_key *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct chain_key moving = keys[i];
        size_t k = i;
        for (; k > 0 && key_before(list, &moving, &keys[k - 1]); k--) keys[k] = keys[k - 1];
        keys[k] = moving;
    }
}

/* Two runs in order, one behind the other. */
static void merge_keys(const struct chain_candidate *list, struct chain_key *keys, size_t middle,
                       size_t count, struct chain_key *room)
{
    if (middle >= count || !key_before(list, &keys[middle], &keys[middle - 1])) return;
    size_t a = 0, b = middle, to = 0;
    stop_look(EACH_KEY * (int64_t)count);
    memcpy(room, keys, middle * sizeof *room);
    while (a < middle && b < count) keys[to++] = key_before(list, &keys[b], &room[a]) ? keys[b++] : room[a++];
    memcpy(&keys[to], &room[a], (middle - a) * sizeof *room);
}

/* `room`: for as many. */
static void merge_sort(const struct chain_candidate *list, struct chain_key *keys, size_t count,
                       struct chain_key *room)
{
    enum { SHORT = 12 };
    for (size_t i = 0; i < count; i += SHORT) {
        stop_look(EACH_KEY * 2 * SHORT);
        insert_keys(list, &keys[i], count - i < SHORT ? count - i : SHORT);
    }
    for (size_t run = SHORT; run < count; run *= 2)
        for (size_t i = 0; i + run < count; i += 2 * run)
            merge_keys(list, &keys[i], run, count - i < 2 * run ? count - i : 2 * run, room);
}

/* Many are dealt out by the leading digit of their ranks first. */
enum { MANY = 512, DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS };

static size_t chain_candidates_digit_of(const struct chain_key *k, int64_t least, int shift)
{
    return (size_t)(((uint64_t)k->rank - (uint64_t)least) >> shift);
}

/* Where each digit ends, and the number of bits behind it. */
static void chain_candidates_count_digits(const struct chain_key *keys, size_t count, size_t *end,
                                          int64_t *least, int *shift)
{
    int64_t most = *least = keys[0].rank;
    for (size_t i = 1; i < count; i++) {
        *least = min_i64(*least, keys[i].rank);
        most = max_i64(most, keys[i].rank);
    }
    for (*shift = 0; ((uint64_t)most - (uint64_t)*least) >> *shift >= DIGITS;) ++*shift;
    memset(end, 0, DIGITS * sizeof *end);
    for (size_t i = 0; i < count; i++) end[chain_candidates_digit_of(&keys[i], *least, *shift)]++;
    for (size_t d = 1; d < DIGITS; d++) end[d] += end[d - 1];
}

static void sort_keys(const struct chain_candidate *list, struct chain_key *keys, size_t count,
                      struct chain_key *room)
{
    size_t at[DIGITS], begin = 0;
    int64_t least;
    int shift;
    if (count < MANY) {
        merge_sort(list, keys, count, room);
        return;
    }
    chain_candidates_count_digits(keys, count, at, &least, &shift);
    stop_look(EACH_KEY * (int64_t)count);
    memcpy(room, keys, count * sizeof *room);
    for (size_t i = count; i-- > 0;) keys[--at[chain_candidates_digit_of(&room[i], least, shift)]] = room[i];
    for (size_t d = 0; d < DIGITS; d++) { /* by now `at` has where each digit begins */
        size_t end = d + 1 < DIGITS ? at[d + 1] : count;
        merge_sort(list, &keys[begin], end - begin, room);
        begin = end;
    }
}

void chain_sort(struct chain_candidate *list, size_t count, struct chain_key *keys)
{
    for (size_t i = 0; i < count; i++) keys[i] = (struct chain_key){list[i].then.rank, list[i].then.tie, i};
    sort_keys(list, keys, count, &keys[count]);
    for (size_t i = 0; i < count; i++) { /* round each cycle of the permutation */
        (void)stop_round((int64_t)i, EACH_KEY * 4);
        if (keys[i].at == i) continue;
        struct chain_candidate first = list[i];
        size_t to = i;
        for (size_t from; (from = keys[to].at) != i; to = from) {
            list[to] = list[from];
            keys[to].at = to;
        }
        list[to] = first;
        keys[to].at = to;
    }
}
