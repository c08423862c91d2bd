/* Bitmaps of taken address units; see taken_bits.h. */
#include "common/taken_bits.h"

/* --- Sorting ranges. --- */

enum { SHORT = 16, DEEPEST = 64 };

static bool is_before(struct byte_range x, struct byte_range y)
{
    return x.from != y.from ? x.from < y.from : x.to < y.to;
}

static void insert_all(struct byte_range *at, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct byte_range moving = at[i];
        size_t k = i;
        for (; k > 0 && is_before(moving, at[k - 1]); k--) at[k] = at[k - 1];
        at[k] = moving;
    }
}

static void range_sort_swap(struct byte_range *x, struct byte_range *y)
{
    struct byte_range old = *x;
    *x = *y;
    *y = old;
}

static void range_sort_sift_down(struct byte_range *heap, size_t count, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_before(heap[child], heap[child + 1])) child++;
        if (!is_before(heap[at], heap[child])) return;
        range_sort_swap(&heap[at], &heap[child]);
    }
}

static void heap_sort(struct byte_range *at, size_t count)
{
    for (size_t i = count / 2; i-- > 0;) range_sort_sift_down(at, count, i);
    for (size_t left = count; left > 1; left--) {
        range_sort_swap(&at[0], &at[left - 1]);
        range_sort_sift_down(at, left - 1, 0);
    }
}

/* Partitions around the pivot; returns where the upper part begins. Neither part is empty. */
static size_t range_sort_split(struct byte_range *at, size_t count)
{
    /* The median of the first, central and last. */
    struct byte_range a = at[0], b = at[count / 2], c = at[count - 1];
    if (is_before(b, a)) range_sort_swap(&a, &b);
    if (is_before(c, b)) b = is_before(c, a) ? a : c;
    struct byte_range pivot = b;
    size_t low = 0, high = count - 1;
    for (;; low++, high--) {
        while (is_before(at[low], pivot)) low++;
        while (is_before(pivot, at[high])) high--;
        if (low >= high) return low > high ? low : low + (low == 0);
        range_sort_swap(&at[low], &at[high]);
    }
}

struct stretch {
    struct byte_range *at;
    size_t count;
    int left; /* splits until a heap takes over */
};

static void sort_by_splits(struct byte_range *at, size_t count)
{
    struct stretch open[DEEPEST], now = {at, count, 0};
    int depth = 0;
    for (size_t n = count; n; n /= 2) now.left += 2;
    for (;;) {
        while (now.count > SHORT && now.left-- > 0) {
            size_t first = range_sort_split(now.at, now.count);
            struct stretch low = {now.at, first, now.left},
                           high = {now.at + first, now.count - first, now.left};
            bool low_is_shorter =
                low.count < high.count; /* the longer one waits, which keeps the stack short */
            open[depth++] = low_is_shorter ? high : low;
            now = low_is_shorter ? low : high;
        }
        (now.count > SHORT ? heap_sort : insert_all)(now.at, now.count);
        if (depth == 0) return;
        now = open[--depth];
    }
}

/* Long arrays are split by the leading digit first, each range swapped to its digit's bucket, then by lower
 * digits. */
enum { MANY = 128, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

static size_t range_sort_digit_of(const struct byte_range *r, int64_t least, int shift)
{
    return (size_t)(((uint64_t)r->from - (uint64_t)least) >> shift);
}

/* Where each digit's bucket begins, and the number of bits below the digit; false: all equal. */
static bool range_sort_count_digits(const struct byte_range *at, size_t count, size_t *begin, int64_t *least,
                                    int *shift)
{
    int64_t most = at[0].from;
    *least = most;
    for (size_t i = 1; i < count; i++) {
        if (at[i].from < *least) *least = at[i].from;
        if (at[i].from > most) most = at[i].from;
    }
    for (*shift = 0; ((uint64_t)most - (uint64_t)*least) >> *shift >= DIGITS;) ++*shift;
    for (size_t d = 0; d <= DIGITS; d++) begin[d] = 0;
    for (size_t i = 0; i < count; i++) begin[range_sort_digit_of(&at[i], *least, *shift) + 1]++;
    for (size_t d = 0; d < DIGITS; d++) begin[d + 1] += begin[d];
    return most > *least;
}

void range_sort(struct byte_range *at, size_t count)
{
    size_t begin[DIGITS + 1], next[DIGITS];
    int64_t least;
    int shift;
    if (count < MANY || !range_sort_count_digits(at, count, begin, &least, &shift)) {
        sort_by_splits(at, count);
        return;
    }
    for (size_t d = 0; d < DIGITS; d++) next[d] = begin[d];
    for (size_t d = 0; d < DIGITS; d++)
        while (next[d] < begin[d + 1]) {
            size_t to = range_sort_digit_of(&at[next[d]], least, shift);
            if (to == d)
                next[d]++;
            else
                range_sort_swap(&at[next[d]], &at[next[to]++]);
        }
    for (size_t d = 0; d < DIGITS; d++)
        if (begin[d + 1] - begin[d] > 1) sort_by_splits(at + begin[d], begin[d + 1] - begin[d]);
}

size_t range_join(struct byte_range *at, size_t count, bool touching)
{
    size_t kept = 0;
    range_sort(at, count);
    for (size_t k = 0; k < count; k++) {
        struct byte_range *last = kept ? &at[kept - 1] : NULL;
        if (last && (touching ? at[k].from <= last->to : at[k].from < last->to))
            last->to = at[k].to > last->to ? at[k].to : last->to;
        else
            at[kept++] = at[k];
    }
    return kept;
}

/* --- Maps of taken sticks. --- */

/* Sticks of the largest map; the fewest ranges for which a map may pay; map words that one range pays for. */
enum { MOST_STICKS = 1 << 17, LEAST_RANGES = 24, WORDS_PER_RANGE = 12, WORD = 64 };

void taken_bits_init(struct taken_bits *m, const struct lx_problem *p, int64_t capacity)
{
    int64_t unit = p->alignment;
    *m = (struct taken_bits){0};
    if (p->pool_count || p->objective == LX_HEIGHT || unit <= 0 || (unit & (unit - 1)) != 0 ||
        capacity <= 0 || capacity / unit >= MOST_STICKS)
        return;
    /* Does every legal address of a buffer begin a stick of `unit` bytes? */
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

/* The first stick from `at` on that is taken (or free); none: the end of the map, whose last word is free. */
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
    for (size_t i = 0; i < count; i++) {
        if (at[i].from >= at[i].to) continue;
        size_t from = (size_t)(at[i].from >> m->shift), to = (size_t)((at[i].to + unit - 1) >> m->shift) - 1;
        uint64_t low = ~UINT64_C(0) << from % WORD, high = ~UINT64_C(0) >> (WORD - 1 - to % WORD);
        if (from / WORD == to / WORD) {
            m->bits[from / WORD] |= low & high;
            continue;
        }
        m->bits[from / WORD] |= low;
        for (size_t w = from / WORD + 1; w < to / WORD; w++) m->bits[w] = ~UINT64_C(0);
        m->bits[to / WORD] |= high;
    }
    for (size_t from = next_stick(m, 0, true), to; from < end; from = next_stick(m, to, true)) {
        to = next_stick(m, from, false);
        at[joined++] = (struct byte_range){(int64_t)from << m->shift, (int64_t)to << m->shift};
    }
    return joined;
}
