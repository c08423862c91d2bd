/* Linked costs: the sums that follow each change against the definition, and the answers of the solvers that take them
 * against brute force. */
#include "anneal/decode.h"
#include "anneal/refill.h"
#include "common/first_answers.h"
#include "support/linked_problem.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static void assert_links(const struct items *it, const struct links *l, const int64_t *base)
{
    int64_t address[SMALL_MAX];
    items_answer(it, base, address);
    int64_t cost = linked_value(it->problem, address);
    assert_int_equal(cost == INT64_MAX, l->broken > 0);
    if (cost != INT64_MAX) assert_int_equal(cost, it->lost + items_spill(it, base) + l->value);
}

/* The decoder's links after each move, taken back or not. */
static void test_moves_keep_the_sums(void **state)
{
    (void)state;
    struct rng rng = rng_seed(41);
    const struct move_mix mix = {400, 400, 300, 300, 500, 500};
    for (int round = 0; round < OFTEN(200); round++) {
        struct linked s;
        struct items it;
        struct links links;
        struct decoder d;
        int64_t base[SMALL_MAX];
        linked_random(&s, &rng, (int32_t)rng_between(&rng, 2, 16));
        items_make(&it, &s.small.problem, 1000, NULL);
        links_make(&links, &it);
        decoder_make(&d, &it, true);
        decoder_link(&d, &links);
        start_by_score(&it, NULL, NULL, base);
        decoder_load(&d, base);
        decoder_decode_all(&d);
        for (int move = 0; it.count > 0 && move < 80; move++) {
            int64_t energy = d.penalty;
            d.ceiling = INT64_MAX;
            try_move(&d, &mix, &rng);
            if (rng_below(&rng, 2)) {
                decoder_undo(&d);
                assert_int_equal(d.penalty, energy);
            }
            decoder_save(&d, base);
            if (links.any) assert_links(&it, &links, base);
        }
        arena_free(&d.memory);
        arena_free(&links.memory);
        arena_free(&it.memory);
    }
}

/* What is on chip after trimming breaks no rule that leaving could mend, and nothing pays to leave. */
static void test_trim(void **state)
{
    (void)state;
    struct rng rng = rng_seed(42);
    for (int round = 0; round < OFTEN(300); round++) {
        struct linked s;
        struct items it;
        struct links links;
        int64_t base[SMALL_MAX];
        linked_random(&s, &rng, (int32_t)rng_between(&rng, 2, 16));
        items_make(&it, &s.small.problem, 1000, NULL);
        links_make(&links, &it);
        start_by_score(&it, NULL, NULL, base);
        links_trim(&links, base);
        if (links.any) assert_links(&it, &links, base);
        for (int32_t i = 0; links.any && i < it.count; i++)
            assert_true(base[i] < 0 || links_rise(&links, i) >= 0);
        arena_free(&links.memory);
        arena_free(&it.memory);
    }
}

/* After every step of refilling the placement is legal and the sums are those of the definition. */
static void test_refills_keep_the_sums(void **state)
{
    (void)state;
    struct rng rng = rng_seed(44);
    for (int round = 0; round < OFTEN(200); round++) {
        struct linked s;
        struct items it;
        struct links links;
        struct refiller f;
        lx_status st;
        int64_t base[SMALL_MAX], worth[SMALL_MAX], address[SMALL_MAX], objective;
        linked_random(&s, &rng, (int32_t)rng_between(&rng, 2, 16));
        if (round % 2) s.small.problem.bonds = (struct lx_bonds){0};
        items_make(&it, &s.small.problem, 1000, NULL);
        links_make(&links, &it);
        prices_find(&it, 97, NULL, worth);
        refiller_make(&f, &it, &links, worth);
        start_by_score(&it, NULL, NULL, base);
        refiller_load(&f, base);
        if (it.count > 2) refiller_window(&f, it.count / 3, it.count);
        for (int step = 0; it.count > 0 && step < 60; step++) {
            int64_t before = f.energy, allowance = rng_between(&rng, 0, 1) << 46;
            if (!refiller_step(&f, &rng, allowance)) break;
            assert_true(f.energy <= before + allowance);
            refiller_save(&f, base);
            if (links.any) assert_links(&it, &links, base);
            assert_int_equal(f.spilled, items_spill(&it, base));
            items_answer(&it, base, address);
            bool unbound = links.broken || lx_problem_check(&s.small.problem, address, &objective, &st);
            if (!unbound) fail_msg("%s", st.text);
        }
        arena_free(&f.memory);
        arena_free(&links.memory);
        arena_free(&it.memory);
    }
}

static void test_answers(void **state)
{
    (void)state;
    struct rng rng = rng_seed(43);
    static const char *const names[] = {"anneal", "auto"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        const struct lx_solver *solver = lx_solver_find(names[n]);
        int best = 0, rounds = OFTEN(250);
        for (int round = 0; round < rounds; round++) {
            struct linked s;
            int64_t address[SMALL_MAX];
            struct lx_answer a = {.address = address};
            lx_status st;
            struct lx_run run = {.seed = 5};
            linked_random(&s, &rng, (int32_t)rng_between(&rng, 1, 7));
            int64_t least = linked_optimum(&s.small.problem);
            bool legal = lx_problem_solve(&s.small.problem, solver, &run, &a, &st);
            int64_t cost = legal ? linked_value(&s.small.problem, address) : INT64_MAX;
            if (least == INT64_MAX) {
                assert_true(cost == INT64_MAX);
                best++;
                continue;
            }
            best += cost == least;
            assert_true(cost >= least);
            if (cost != INT64_MAX) assert_int_equal(a.objective, cost);
        }
        print_message("%s: %d of %d at the optimum\n", names[n], best, rounds);
        assert_true(best >= rounds * 98 / 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves_keep_the_sums),
        cmocka_unit_test(test_trim),
        cmocka_unit_test(test_refills_keep_the_sums),
        cmocka_unit_test(test_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
