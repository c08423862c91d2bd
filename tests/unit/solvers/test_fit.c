/* The Fit engine against brute force on small random instances: plain rectangles, chains, alignments, fixed
 * bases, zero sizes; at the optimum (yes) and one below (no); answers checked by hand. */
#include "support/sampled.h"
#include "base/rng.h"
#include "exact/fit/fit.h"
#include "exact/fit/fit_core.h"
#include "exact/fit/fit_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_ITEMS = 8, MOST_PIECES = 3 * MOST_ITEMS };

struct instance {
    struct fit_problem problem;
    struct fit_item items[MOST_ITEMS];
    struct fit_piece pieces[MOST_PIECES];
};

enum flavour { PLAIN, TWINS, CHAINS, ALIGNED, MIXED_ALIGNMENT, FIXED, EVERYTHING, FLAVOUR_COUNT };

static bool clash(const struct instance *in, int32_t a, int64_t base_a, int32_t b, int64_t base_b)
{
    const struct fit_item *x = &in->items[a], *y = &in->items[b];
    for (int32_t i = 0; i < x->piece_count; i++)
        for (int32_t k = 0; k < y->piece_count; k++) {
            const struct fit_piece *p = &in->pieces[x->first_piece + i], *q = &in->pieces[y->first_piece + k];
            if (p->size && q->size && p->start < q->end && q->start < p->end && base_a < base_b + q->size &&
                base_b < base_a + p->size)
                return true;
        }
    return false;
}

static bool allowed(const struct instance *in, int32_t i, int64_t base)
{
    const struct fit_item *x = &in->items[i];
    if (base % x->alignment || (x->fixed >= 0 && base != x->fixed)) return false;
    for (int32_t k = 0; k < x->piece_count; k++)
        if (base + in->pieces[x->first_piece + k].size > in->problem.capacity) return false;
    return true;
}

static bool brute_force(const struct instance *in, int32_t i, int64_t *base)
{
    if (i == in->problem.item_count) return true;
    for (base[i] = 0; base[i] <= in->problem.capacity; base[i]++) {
        if (!allowed(in, i, base[i])) continue;
        bool free_there = true;
        for (int32_t k = 0; k < i && free_there; k++) free_there = !clash(in, i, base[i], k, base[k]);
        if (free_there && brute_force(in, i + 1, base)) return true;
    }
    return false;
}

static void random_instance(struct rng *r, enum flavour flavour, struct instance *in)
{
    bool all = flavour == EVERYTHING;
    int64_t horizon = rng_between(r, 2, 9), largest = rng_between(r, 1, 6);
    int64_t scale = all ? rng_between(r, 1, 3) : 1;
    int64_t alignment = flavour == ALIGNED ? rng_between(r, 2, 4) : 1;
    int32_t n = (int32_t)rng_between(r, 1, 7), pieces = 0;
    for (int32_t i = 0; i < n; i++) {
        struct fit_item *item = &in->items[i];
        *item = (struct fit_item){.first_piece = pieces, .alignment = alignment, .fixed = -1};
        if (flavour == MIXED_ALIGNMENT || all) item->alignment = INT64_C(1) << rng_below(r, 3);
        if (all && rng_below(r, 6) == 0) item->alignment = 3;
        if ((flavour == FIXED || all) && rng_below(r, 4) == 0)
            item->fixed = rng_between(r, 0, 8) / item->alignment * item->alignment;
        int64_t start = rng_between(r, 0, horizon - 1), size = rng_between(r, 1, largest) * scale;
        if (rng_below(r, 20) == 0) size = 0;
        int64_t most = flavour == CHAINS || all ? rng_between(r, 1, 3) : 1;
        for (int64_t k = 0; k < most && start < horizon; k++) {
            int64_t end = rng_between(r, start + 1, most > 1 && start + 3 < horizon ? start + 3 : horizon);
            in->pieces[pieces++] = (struct fit_piece){start, end, size};
            item->piece_count++;
            start = end;
            size = rng_between(r, size > 2 ? 1 : 0, size);
        }
        if (flavour == TWINS && i > 0 && rng_below(r, 2)) {
            struct fit_piece *mine = &in->pieces[pieces - 1], *other = &in->pieces[rng_below(r, (uint64_t)i)];
            mine->start = other->start;
            mine->end = other->end;
            if (rng_below(r, 2)) mine->size = other->size;
        }
    }
    in->problem = (struct fit_problem){rng_between(r, 1, 14), n, pieces, in->items, in->pieces};
}

static void check_against_brute_force(const struct instance *in, uint64_t seed)
{
    int64_t expected[MOST_ITEMS], base[MOST_ITEMS];
    struct fit_limits limits = {.seed = seed, .dense = seed % 3 == 0};
    struct fit_stats stats;
    bool fits = brute_force(in, 0, expected);
    enum fit_result result = fit_solve(&in->problem, &limits, base, &stats);
    assert_int_equal(result, fits ? FIT_YES : FIT_NO);
    if (!fits) return;
    for (int32_t i = 0; i < in->problem.item_count; i++) {
        assert_true(base[i] >= 0);
        assert_true(allowed(in, i, base[i]));
        for (int32_t k = 0; k < i; k++) assert_false(clash(in, i, base[i], k, base[k]));
    }
}

static int64_t rounds(int64_t usual)
{
    const char *wanted = getenv("FIT_ROUNDS");
    return wanted ? atoll(wanted) : SAMPLED ? usual / 3 : usual;
}

static void agrees_with_brute_force(void **state)
{
    (void)state;
    struct instance in;
    const char *seed = getenv("FIT_SEED");
    struct rng r = rng_seed(seed ? (uint64_t)atoll(seed) : 7);
    for (int64_t round = 0, all = rounds(15000); round < all; round++) {
        random_instance(&r, (enum flavour)(round % FLAVOUR_COUNT), &in);
        check_against_brute_force(&in, (uint64_t)round);
    }
}

/* Capacities around the optimum are where the pruning rules are tested hardest. */
static void is_exact_at_the_optimum(void **state)
{
    (void)state;
    struct instance in;
    const char *seed = getenv("FIT_SEED");
    struct rng r = rng_seed(seed ? (uint64_t)atoll(seed) + 1 : 11);
    for (int64_t round = 0, all = rounds(5000); round < all; round++) {
        random_instance(&r, (enum flavour)(round % FLAVOUR_COUNT), &in);
        int64_t base[MOST_ITEMS];
        in.problem.capacity = 0;
        while (in.problem.capacity < 14 && !brute_force(&in, 0, base)) in.problem.capacity++;
        for (int64_t step = 0; step < 3; step++, in.problem.capacity--) {
            if (in.problem.capacity < 0) break;
            check_against_brute_force(&in, (uint64_t)round);
        }
    }
}

/* The search without first fit before it, in runs that are cut off after 1, 2, 3 ... dead ends, so that
 * restarts and the refuted sets that outlive them are tested too. */
static void search_alone_is_exact(void **state)
{
    (void)state;
    struct instance in;
    const char *seed = getenv("FIT_SEED");
    struct rng r = rng_seed(seed ? (uint64_t)atoll(seed) + 2 : 17);
    for (int64_t round = 0, all = rounds(15000); round < all; round++) {
        random_instance(&r, (enum flavour)(round % FLAVOUR_COUNT), &in);
        int64_t expected[MOST_ITEMS], base[MOST_ITEMS] = {0};
        bool fits = brute_force(&in, 0, expected), found = true;
        struct fit_scaled scaled;
        fit_scale(&in.problem, false, &scaled);
        for (int32_t i = 0; i < in.problem.item_count; i++)
            base[i] = in.items[i].fixed >= 0 ? in.items[i].fixed : 0;
        for (int32_t i = 0; i < scaled.part_count && !scaled.impossible && found; i++) {
            struct fit_search s;
            fit_search_open(&s, &scaled.parts[i], (uint64_t)round);
            enum fit_result result = FIT_LIMIT;
            for (int64_t run = 0; result == FIT_LIMIT; run++) {
                fit_branch_prepare(&s, run);
                result = fit_search_run(&s, INT64_MAX / 4, run + 1, NULL, NULL);
            }
            found = result == FIT_YES;
            for (int32_t k = 0; k < s.part->count && found; k++)
                base[s.part->origin[k]] = s.base[k] * scaled.unit;
            fit_search_close(&s);
        }
        assert_int_equal(found && !scaled.impossible, fits);
        for (int32_t i = 0; i < in.problem.item_count && fits; i++) {
            assert_true(allowed(&in, i, base[i]));
            for (int32_t k = 0; k < i; k++) assert_false(clash(&in, i, base[i], k, base[k]));
        }
        arena_free(&scaled.memory);
    }
}

/* Boxes cut into rectangles by random cuts, some taken out: an answer exists, so "no" is never right. Larger
 * than brute force can judge, and tight: dead ends, conflicts and refuted sets by the thousand. */
static void packings_are_never_refuted(void **state)
{
    (void)state;
    enum { MOST = 48 };
    struct fit_item items[MOST];
    struct fit_piece pieces[MOST];
    int64_t base[MOST];
    const char *seed = getenv("FIT_SEED");
    struct rng r = rng_seed(seed ? (uint64_t)atoll(seed) + 3 : 23);
    for (int64_t round = 0, all = rounds(1500); round < all; round++) {
        int64_t height = rng_between(&r, 8, 120);
        int32_t wanted = (int32_t)rng_between(&r, 8, MOST), n = 1;
        pieces[0] = (struct fit_piece){0, rng_between(&r, 6, 40), height};
        for (int32_t tries = 0; n < wanted && tries < 1000; tries++) {
            struct fit_piece *cut = &pieces[rng_below(&r, (uint64_t)n)], *rest = &pieces[n];
            *rest = *cut;
            if (rng_below(&r, 2) && cut->end - cut->start > 1) {
                cut->end = rest->start = rng_between(&r, cut->start + 1, cut->end - 1);
                n++;
            } else if (cut->size > 1) {
                cut->size = rng_between(&r, 1, cut->size - 1);
                rest->size -= cut->size;
                n++;
            }
        }
        for (int32_t out = (int32_t)rng_below(&r, (uint64_t)(n / 6) + 1); out > 0; out--)
            pieces[rng_below(&r, (uint64_t)n)] = pieces[n - 1], n--;
        for (int32_t i = 0; i < n; i++) items[i] = (struct fit_item){i, 1, 1, -1};
        struct fit_problem p = {height, n, n, items, pieces};
        struct fit_limits limits = {.nodes = 20000, .seed = (uint64_t)round};
        struct fit_stats stats;
        assert_int_not_equal(fit_solve(&p, &limits, base, &stats), FIT_NO);
    }
}

enum { LOOSE = 24 };

static bool apart(const struct fit_piece *p, int64_t at, const struct fit_piece *q, int64_t other)
{
    return p->start >= q->end || q->start >= p->end || at >= other + q->size || other >= at + p->size;
}

/* Bases for the items that are not peeled: of each the first that is free, from a random one on. False: none is. */
static bool scatter(struct rng *r, const struct fit_scaled *s, const struct fit_piece *pieces,
                    int64_t capacity, int64_t *base)
{
    for (int32_t k = 0; k < s->loose_kept; k++) {
        const struct fit_piece *p = &pieces[s->loose[k].origin];
        int64_t count = (capacity - p->size) / s->unit + 1, first = rng_between(r, 0, count - 1), tries = 0;
        bool fine = false;
        for (; tries < count && !fine; tries++) {
            int64_t at = (first + tries) % count * s->unit;
            fine = true;
            for (int32_t o = 0; o < k && fine; o++)
                fine = apart(p, at, &pieces[s->loose[o].origin], base[s->loose[o].origin]);
            base[s->loose[k].origin] = at;
        }
        if (!fine) return false;
    }
    return true;
}

/* Wherever the others stand, what was peeled finds a place. */
static void peeled_items_find_a_place(void **state)
{
    (void)state;
    struct fit_item items[LOOSE];
    struct fit_piece pieces[LOOSE];
    int64_t base[LOOSE];
    struct rng r = rng_seed(31);
    int64_t peeled = 0, judged = 0;
    for (int64_t round = 0, all = rounds(4000); round < all; round++) {
        int64_t capacity = rng_between(&r, 20, 200), scale = rng_between(&r, 1, 3);
        for (int32_t i = 0; i < LOOSE; i++) {
            int64_t start = rng_between(&r, 0, 40), most = rng_below(&r, 3) ? 4 : capacity / 4;
            items[i] = (struct fit_item){i, 1, 1, -1};
            pieces[i] =
                (struct fit_piece){start, start + rng_between(&r, 1, 6), rng_between(&r, 1, most) * scale};
        }
        struct fit_problem p = {capacity, LOOSE, LOOSE, items, pieces};
        struct fit_scaled s;
        fit_scale(&p, true, &s);
        if (!s.impossible && s.loose && scatter(&r, &s, pieces, capacity, base)) {
            fit_place_peeled(&s, base);
            for (int32_t i = 0; i < LOOSE; i++) {
                assert_true(base[i] >= 0 && base[i] + pieces[i].size <= capacity);
                for (int32_t k = 0; k < i; k++) assert_true(apart(&pieces[i], base[i], &pieces[k], base[k]));
            }
            judged += s.loose_kept > 0;
            peeled += s.loose_count - s.loose_kept;
        }
        arena_free(&s.memory);
    }
    assert_true(judged > (SAMPLED ? 20 : 200));
    assert_true(peeled > (SAMPLED ? 100 : 1000));
}

static bool stop_at_once(void *context)
{
    ++*(int *)context;
    return true;
}

/* Sixty items of co-prime sizes in a tight box: no cheap order packs them. */
static void limits_are_kept(void **state)
{
    (void)state;
    enum { N = 60 };
    struct fit_item items[N];
    struct fit_piece pieces[N];
    int64_t base[N], again[N];
    struct rng r = rng_seed(5);
    for (int32_t i = 0; i < N; i++) {
        int64_t start = rng_between(&r, 0, 20);
        items[i] = (struct fit_item){i, 1, 1, -1};
        pieces[i] = (struct fit_piece){start, start + rng_between(&r, 1, 12), rng_between(&r, 10, 99)};
    }
    int64_t load = 0;
    for (int64_t tick = 0; tick < 33; tick++) {
        int64_t sum = 0;
        for (int32_t i = 0; i < N; i++)
            if (pieces[i].start <= tick && tick < pieces[i].end) sum += pieces[i].size;
        if (sum > load) load = sum;
    }
    struct fit_problem p = {load, N, N, items, pieces};
    struct fit_stats stats, same;
    int calls = 0;
    struct fit_limits limits = {.nodes = 500};
    enum fit_result result = fit_solve(&p, &limits, base, &stats);
    assert_true(stats.nodes <= 500 + 3 * N);
    assert_int_equal(fit_solve(&p, &limits, again, &same), result);
    assert_int_equal(stats.nodes, same.nodes);
    if (result == FIT_YES) assert_memory_equal(base, again, sizeof base);
    struct fit_limits stopped = {.stop = stop_at_once, .context = &calls};
    fit_solve(&p, &stopped, base, &stats);
    assert_true(calls > 0);
    p.capacity = load - 1;
    assert_int_equal(fit_solve(&p, &limits, base, &stats), FIT_NO);
}

static void height_is_least(void **state)
{
    (void)state;
    struct instance in;
    struct rng r = rng_seed(13);
    for (int64_t round = 0, all = rounds(3000); round < all; round++) {
        random_instance(&r, (enum flavour)(round % FLAVOUR_COUNT), &in);
        int64_t base[MOST_ITEMS];
        struct fit_limits limits = {.seed = (uint64_t)round};
        struct height_answer answer;
        in.problem.capacity = 0;
        while (in.problem.capacity < 14 && !brute_force(&in, 0, base)) in.problem.capacity++;
        if (!brute_force(&in, 0, base)) continue;
        assert_int_equal(height_solve(&in.problem, &limits, NULL, base, &answer), HEIGHT_OPTIMAL);
        assert_int_equal(answer.height, in.problem.capacity);
        assert_int_equal(answer.bound, in.problem.capacity);
        for (int32_t i = 0; i < in.problem.item_count; i++) {
            assert_true(allowed(&in, i, base[i]));
            for (int32_t k = 0; k < i; k++) assert_false(clash(&in, i, base[i], k, base[k]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_brute_force),   cmocka_unit_test(is_exact_at_the_optimum),
        cmocka_unit_test(search_alone_is_exact),     cmocka_unit_test(packings_are_never_refuted),
        cmocka_unit_test(peeled_items_find_a_place), cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(height_is_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
