/* First-fit and best-fit against a plain version that looks at every placed buffer, on lists with crowds: equal
 * lives, lives around one tick, weights beside temporaries, clusters; with alignments, fixed addresses and
 * handovers. The answers must be the same to the byte. */
#include "base/checked.h"
#include "base/rng.h"
#include "common/crowds.h"
#include "common/gap_fit.h"
#include "support/problem_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 900 };

enum shape { EQUAL, ONE_TICK, WEIGHTS, CLUSTERS, SHAPES };

static void random_life(struct rng *r, enum shape shape, struct lx_buffer *b)
{
    bool weight = rng_below(r, 2) == 0;
    int64_t middle = shape == CLUSTERS ? 100 * rng_between(r, 1, 4) : 200;
    switch (shape) {
    case EQUAL: b->start = 3, b->end = 9; break;
    case WEIGHTS:
        b->start = weight ? 0 : rng_between(r, 0, 400);
        b->end = weight ? 500 : b->start + rng_between(r, 1, 20);
        break;
    default:
        b->start = middle - rng_between(r, 0, 60);
        b->end = middle + rng_between(r, shape == CLUSTERS ? -20 : 1, 60);
        if (b->end <= b->start) b->end = b->start + 1;
    }
}

static struct problem_builder random_list(struct rng *r, enum shape shape)
{
    int64_t alignment = rng_below(r, 2) ? 1 : 8;
    bool odd = rng_below(r, 3) > 0, pins = rng_below(r, 3) > 0;
    enum lx_objective objective = rng_below(r, 2) ? LX_SPILL : LX_HEIGHT;
    struct problem_builder list = problem_begin(objective, rng_between(r, 2000, 40000), alignment);
    int32_t count = (int32_t)rng_between(r, 200, MOST);
    for (int32_t i = 0; i < count; i++) {
        struct lx_buffer *b = problem_add(&list, rng_between(r, 0, 150), 0, 0, 1);
        random_life(r, shape, b);
        if (odd && rng_below(r, 4) == 0) b->alignment = INT64_C(1) << rng_below(r, 6);
        int64_t own = b->alignment ? b->alignment : alignment;
        if (pins && rng_below(r, 12) == 0) b->fixed = rng_between(r, 0, 3000) / own * own;
        /* The buffer before hands its slot over where it dies as this one is born. */
        const struct lx_buffer *parent = i ? b - 1 : NULL;
        if (parent && parent->size >= b->size && parent->end == b->start + 1 && parent->start < b->start &&
            b->end > parent->end)
            problem_parent(&list, i, i - 1);
    }
    for (int32_t i = 1; i < count; i += 2) { /* some pairs that do */
        struct lx_buffer *b = &list.buffers[i], *parent = b - 1;
        if (shape == EQUAL || b->parent_count || parent->parent_count || rng_below(r, 3)) continue;
        if (b->end <= parent->end || parent->end - 1 <= parent->start) continue;
        b->start = parent->end - 1;
        if (b->size > parent->size) b->size = parent->size;
        problem_parent(&list, i, i - 1);
    }
    return list;
}

struct range {
    int64_t from, to;
};

static int by_from(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int32_t in_the_way(const struct lx_problem *p, const int64_t *address, int32_t i, bool parents,
                          struct range *out)
{
    const struct lx_buffer *b = &p->buffers[i];
    int32_t n = 0;
    for (int32_t k = 0; k < p->count; k++) {
        const struct lx_buffer *o = &p->buffers[k];
        if (k == i || address[k] < 0 || o->size == 0 || o->start >= b->end || b->start >= o->end) continue;
        if (!parents && b->parent_count && b->parents[0] == k) continue;
        out[n++] = (struct range){address[k], address[k] + o->size};
    }
    qsort(out, (size_t)n, sizeof *out, by_from);
    return n;
}

/* All gaps in turn. `slot`: the one that holds [slot, end) and has room; else the first or tightest. */
static int64_t plain_gap(const struct range *taken, int32_t n, int64_t capacity, int64_t size,
                         int64_t alignment, bool tightest, int64_t slot, int64_t slot_end)
{
    int64_t gap = 0, best = -1, least = INT64_MAX;
    for (int32_t i = 0; i <= n; i++) {
        int64_t end = i < n ? taken[i].from : capacity, at = round_up_i64(gap, alignment);
        if (slot >= 0 && gap <= slot && slot_end <= end) return at <= end - size ? slot : -1;
        if (slot < 0 && at <= end - size && end - at - size < least) {
            if (!tightest) return at;
            best = at;
            least = end - at - size;
        }
        if (i < n) gap = max_i64(gap, taken[i].to);
    }
    return best;
}

static int64_t plain_place(const struct lx_problem *p, const int64_t *address, int32_t i, int64_t capacity,
                           bool tightest)
{
    static struct range taken[MOST];
    const struct lx_buffer *b = &p->buffers[i];
    int64_t alignment = lx_alignment_of(p, b), at = -1;
    if (b->size == 0) return b->fixed <= capacity ? max_i64(b->fixed, 0) : -1;
    int64_t slot = b->parent_count ? address[b->parents[0]] : -1;
    if (slot >= 0 && slot % alignment == 0 && (b->fixed < 0 || b->fixed == slot)) {
        int64_t end = slot + (b->fixed < 0 ? p->buffers[b->parents[0]].size : b->size);
        at = plain_gap(taken, in_the_way(p, address, i, false, taken), capacity, b->size, alignment, false,
                       slot, end);
    }
    if (at >= 0) return at;
    int32_t n = in_the_way(p, address, i, true, taken);
    if (b->fixed < 0) return plain_gap(taken, n, capacity, b->size, alignment, tightest, -1, -1);
    return plain_gap(taken, n, capacity, b->size, 1, false, b->fixed, b->fixed + b->size);
}

static void plain(const struct lx_problem *p, const int32_t *order, bool tightest, int64_t *address)
{
    int64_t capacity = p->objective == LX_HEIGHT ? INT64_MAX / 2 : p->capacity;
    for (int32_t i = 0; i < p->count; i++) address[i] = LX_OFF_CHIP;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < p->count; k++) {
            const struct lx_buffer *b = &p->buffers[order[k]];
            if ((b->fixed >= 0) == (pass == 0) && lx_may_be_placed(p, b))
                address[order[k]] = plain_place(p, address, order[k], capacity, tightest);
        }
}

static void the_same_as_looking_at_all(void **state)
{
    (void)state;
    static int64_t want[MOST], got[MOST];
    static int32_t order[MOST];
    struct rng r = rng_seed(11);
    int crowded = 0;
    for (int round = 0; round < 160; round++) {
        struct problem_builder list = random_list(&r, (enum shape)(round % SHAPES));
        const struct lx_problem *p = &list.problem;
        bool tightest = round / SHAPES % 2;
        struct lx_run run = {0};
        struct lx_answer answer = {.address = got};
        struct crowds crowds;
        crowds_init(&crowds, p, p->capacity, tightest);
        crowded += crowds.count > 1;
        crowds_free(&crowds);
        worth_order(p, order);
        for (int32_t i = 0; i < p->count; i++) got[i] = LX_OFF_CHIP;
        gap_fit_place(p, order, p->count, tightest, &run, &answer);
        plain(p, order, tightest, want);
        for (int32_t i = 0; i < p->count; i++)
            if (got[i] != want[i])
                fail_msg("round %d, buffer %d: %lld for %lld", round, i, (long long)got[i],
                         (long long)want[i]);
        problem_end(&list);
    }
    assert_true(crowded >= 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_as_looking_at_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
