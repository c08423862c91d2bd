/* Runs by qsort, merged two by two. The left one of two is copied out and merged back: wherever that ends, what is left of the
 * copy has its place in front of what is left of the right one. Lists in order already are only looked through. */
#include "base/sort.h"
#include "base/stop.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { RUN = 4096 };

struct sorting {
    char *at, *copy; /* copy: room for half of the elements */
    size_t count, size;
    sort_compare compare;
    bool in_full;
};

/* So many elements were compared and moved, so many times. */
static bool sort_ends(const struct sorting *s, size_t elements, size_t times)
{
    return stop_work((int64_t)(elements * times * (8 + s->size / 4))) && !s->in_full;
}

static char *sort_element(const struct sorting *s, size_t i)
{
    return s->at + i * s->size;
}

static bool is_in_order(const struct sorting *s)
{
    size_t i = 1;
    while (i < s->count && s->compare(sort_element(s, i - 1), sort_element(s, i)) <= 0)
        if (++i % RUN == 0) sort_ends(s, RUN, 1);
    return i == s->count;
}

/* [from, middle) with [middle, to). */
static bool sort_merge(const struct sorting *s, size_t from, size_t middle, size_t to)
{
    size_t size = s->size;
    if (s->compare(sort_element(s, middle - 1), sort_element(s, middle)) <= 0) return true;
    memcpy(s->copy, sort_element(s, from), (middle - from) * size);
    char *left = s->copy, *left_end = left + (middle - from) * size, *right = sort_element(s, middle),
         *right_end = sort_element(s, to), *out = sort_element(s, from);
    bool stopped = sort_ends(s, middle - from, 1);
    while (left < left_end && right < right_end && !stopped) {
        size_t k = 0;
        for (; k < RUN && left < left_end && right < right_end; k++, out += size) {
            bool take_right = s->compare(left, right) > 0;
            memcpy(out, take_right ? right : left, size);
            right += take_right ? size : 0;
            left += take_right ? 0 : size;
        }
        stopped = sort_ends(s, k, 2);
    }
    memcpy(out, left, (size_t)(left_end - left));
    return !stopped;
}

static bool merge_runs(const struct sorting *s)
{
    bool ok = true;
    for (size_t run = RUN; ok && run < s->count; run *= 2)
        for (size_t from = 0; ok && from + run < s->count; from += 2 * run) {
            size_t to = s->count - from < 2 * run ? s->count : from + 2 * run;
            ok = sort_merge(s, from, from + run, to);
        }
    return ok;
}

static bool sort_range(struct sorting *s)
{
    enum { LEVELS = 12 }; /* of a run */
    if (s->count <= RUN) {
        if (s->count > 1) qsort(s->at, s->count, s->size, s->compare);
        (void)sort_ends(s, s->count, LEVELS);
        return true;
    }
    if (is_in_order(s)) return true;
    size_t half = RUN;
    while (2 * half < s->count) half *= 2;
    s->copy = mem_alloc(half * s->size);
    if (!s->copy) {
        qsort(s->at, s->count, s->size, s->compare);
        return true;
    }
    bool ok = true;
    for (size_t from = 0; ok && from < s->count; from += RUN) {
        size_t count = s->count - from < RUN ? s->count - from : RUN;
        qsort(sort_element(s, from), count, s->size, s->compare);
        ok = !sort_ends(s, count, LEVELS);
    }
    ok = ok && merge_runs(s);
    mem_free(s->copy);
    return ok;
}

bool sort_or_stop(void *at, size_t count, size_t size, sort_compare compare)
{
    struct sorting s = {.at = at, .count = count, .size = size, .compare = compare};
    return sort_range(&s);
}

void sort_in_full(void *at, size_t count, size_t size, sort_compare compare)
{
    struct sorting s = {.at = at, .count = count, .size = size, .compare = compare, .in_full = true};
    sort_range(&s);
}
