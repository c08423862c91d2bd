/* Packings from the ground up on longer lists than brute force can do: chains and alignments included, nothing
 * overlaps, the excess told is the true one, and lists too large for the search come close to their load. What
 * `exact` tells on the way to a height is true. */
#include "base/checked.h"
#include "base/memory.h"
#include "base/rng.h"
#include "exact/fit/fit_core.h"
#include "exact/fit/fit.h"
#include "solvers.h"
#include "support/problem_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST_ITEMS = 5000, MOST_PIECES = 3 * MOST_ITEMS };

struct instance {
    struct fit_problem problem;
    struct fit_item items[MOST_ITEMS];
    struct fit_piece pieces[MOST_PIECES];
    int64_t base[MOST_ITEMS];
};

/* Chains of up to `links` pieces that never grow. */
static void random_list(struct rng *r, int32_t count, int64_t horizon, int64_t longest, int64_t links,
                        bool aligned, struct instance *in)
{
    int32_t pieces = 0;
    for (int32_t i = 0; i < count; i++) {
        in->items[i] = (struct fit_item){.first_piece = pieces, .alignment = 1, .fixed = -1};
        if (aligned) in->items[i].alignment = INT64_C(1) << rng_below(r, 4);
        int64_t at = rng_between(r, 0, horizon - 1), size = rng_between(r, 1, 60) * rng_between(r, 1, 60);
        for (int64_t k = rng_between(r, 1, links); k > 0; k--) {
            int64_t end = at + rng_between(r, 1, longest);
            in->pieces[pieces++] = (struct fit_piece){at, end, size};
            in->items[i].piece_count++;
            at = end;
            size = rng_between(r, 1, size);
        }
    }
    in->problem = (struct fit_problem){.capacity = INT64_C(1) << 40,
                                       .item_count = count,
                                       .piece_count = pieces,
                                       .items = in->items,
                                       .pieces = in->pieces};
}

static bool clash(const struct instance *in, int32_t a, int32_t b)
{
    const struct fit_item *x = &in->items[a], *y = &in->items[b];
    for (int32_t i = 0; i < x->piece_count; i++)
        for (int32_t k = 0; k < y->piece_count; k++) {
            const struct fit_piece *p = &in->pieces[x->first_piece + i], *q = &in->pieces[y->first_piece + k];
            if (p->start < q->end && q->start < p->end && in->base[a] < in->base[b] + q->size &&
                in->base[b] < in->base[a] + p->size)
                return true;
        }
    return false;
}

static void assert_legal(const struct instance *in)
{
    for (int32_t i = 0; i < in->problem.item_count; i++) {
        assert_true(in->base[i] >= 0 && in->base[i] % in->items[i].alignment == 0);
        for (int32_t k = 0; k < i; k++) assert_false(clash(in, i, k));
    }
}

/* Every part by the skyline alone; bases in the caller's bytes. */
static void pack_parts(struct instance *in)
{
    struct fit_scaled scaled;
    fit_scale(&in->problem, false, &scaled);
    for (int32_t k = 0; k < scaled.part_count; k++) {
        const struct fit_part *part = &scaled.parts[k];
        fit_unit *base = mem_zeroed((size_t)part->count, sizeof *base), excess, highest = -FIT_FAR;
        int64_t steps = 0;
        struct fit_heuristic_run run = {.enough = -FIT_FAR, .steps = &steps};
        assert_true(base);
        fit_skyline(part, &run, base, &excess);
        assert_true(steps >= part->count);
        for (int32_t i = 0; i < part->count; i++) {
            highest = max_i64(highest, base[i] - part->high[i]);
            in->base[part->origin[i]] = base[i] * scaled.unit;
        }
        assert_int_equal(highest, excess);
        mem_free(base);
    }
    arena_free(&scaled.memory);
}

static void packings_are_legal(void **state)
{
    (void)state;
    static struct instance in;
    struct rng r = rng_seed(5);
    for (int round = 0; round < 60; round++) {
        random_list(&r, (int32_t)rng_between(&r, 1, 200), 40, rng_between(&r, 1, 30), 1 + round % 3,
                    round % 2, &in);
        pack_parts(&in);
        assert_legal(&in);
    }
}

static void large_lists_come_close_to_their_load(void **state)
{
    (void)state;
    static struct instance in;
    struct rng r = rng_seed(6);
    random_list(&r, MOST_ITEMS, 5000, 4000, 1, false, &in);
    struct fit_scaled scaled;
    fit_scale(&in.problem, false, &scaled);
    assert_null(scaled.parts[0].near); /* not for the search */
    arena_free(&scaled.memory);
    struct fit_limits limits = {.nodes = 1000000};
    struct height_answer answer;
    enum height_result result = height_solve(&in.problem, &limits, NULL, in.base, &answer);
    assert_true(result == HEIGHT_OPTIMAL || result == HEIGHT_LIMIT);
    assert_true(answer.height >= answer.bound && answer.height <= answer.bound + answer.bound / 100);
    assert_legal(&in);
}

static bool at_once(void *context)
{
    return ++*(int *)context > 0;
}

static void a_stop_is_heard(void **state)
{
    (void)state;
    static struct instance in;
    struct rng r = rng_seed(7);
    random_list(&r, MOST_ITEMS, 5000, 4000, 1, false, &in);
    int asked = 0;
    struct fit_limits limits = {.stop = at_once, .context = &asked};
    struct height_answer answer;
    assert_int_equal(height_solve(&in.problem, &limits, NULL, in.base, &answer), HEIGHT_LIMIT);
    assert_in_range(asked, 1, 20);
    assert_legal(&in);
}

struct told {
    const struct lx_problem *p;
    int64_t objective, bound;
    int packings;
};

static void listen(void *context, const struct lx_progress *so_far)
{
    struct told *t = context;
    int64_t objective;
    lx_status st;
    assert_true(so_far->bound >= t->bound);
    t->bound = so_far->bound;
    if (!so_far->address) return;
    assert_true(lx_problem_check(t->p, so_far->address, &objective, &st));
    assert_int_equal(objective, so_far->objective);
    assert_true(objective < t->objective);
    t->objective = objective;
    t->packings++;
}

static void heights_on_the_way_are_true(void **state)
{
    (void)state;
    int64_t address[120];
    struct rng r = rng_seed(8);
    for (int round = 0; round < 20; round++) {
        struct problem_builder list = problem_begin(LX_HEIGHT, 0, 1);
        for (int32_t i = 0; i < 120; i++) {
            int64_t start = rng_between(&r, 0, 30), size = rng_between(&r, 1, 400);
            problem_add(&list, size, start, start + rng_between(&r, 1, 12), 0);
        }
        struct told told = {.p = &list.problem, .objective = INT64_MAX};
        struct lx_run run = {.work_limit = 30000, .progress = listen, .context = &told};
        struct lx_answer answer = {.address = address};
        lx_status st;
        assert_true(lx_problem_solve(&list.problem, &lx_solver_exact, &run, &answer, &st));
        assert_true(told.packings >= 1);
        assert_int_equal(told.objective, answer.objective);
        assert_true(told.bound <= answer.bound);
        problem_end(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packings_are_legal),
        cmocka_unit_test(large_lists_come_close_to_their_load),
        cmocka_unit_test(a_stop_is_heard),
        cmocka_unit_test(heights_on_the_way_are_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
