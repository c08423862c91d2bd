/* The Fit engine against brute force on small random instances: plain rectangles, chains, alignments, fixed
 * bases, zero sizes; at the optimum (yes) and one below (no); answers checked by hand. */
#include "base/rng.h"
#include "exact/fit.h"
#include "exact/height.h"

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
    int64_t horizon = rng_between(r, 2, 9), largest = rng_between(r, 1, 6),
            scale = all ? rng_between(r, 1, 3) : 1;
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
    struct fit_limits limits = {.seed = seed, .threads = 1};
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
    return wanted ? atoll(wanted) : usual;
}

static void agrees_with_brute_force(void **state)
{
    (void)state;
    struct instance in;
    const char *seed = getenv("FIT_SEED");
    struct rng r = rng_seed(seed ? (uint64_t)atoll(seed) : 7);
    for (int64_t round = 0, all = rounds(40000); round < all; round++) {
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
    for (int64_t round = 0, all = rounds(20000); round < all; round++) {
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

static void height_is_least(void **state)
{
    (void)state;
    struct instance in;
    struct rng r = rng_seed(13);
    for (int64_t round = 0, all = rounds(8000); round < all; round++) {
        random_instance(&r, (enum flavour)(round % FLAVOUR_COUNT), &in);
        int64_t base[MOST_ITEMS];
        struct fit_limits limits = {.seed = (uint64_t)round, .threads = 1};
        struct height_answer answer;
        in.problem.capacity = 0;
        while (in.problem.capacity < 14 && !brute_force(&in, 0, base)) in.problem.capacity++;
        if (!brute_force(&in, 0, base)) continue;
        assert_int_equal(height_solve(&in.problem, &limits, base, &answer), HEIGHT_OPTIMAL);
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
        cmocka_unit_test(agrees_with_brute_force),
        cmocka_unit_test(is_exact_at_the_optimum),
        cmocka_unit_test(height_is_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
